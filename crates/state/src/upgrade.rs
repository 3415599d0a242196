//! States of format versions 1 to 3, from before Terraform 0.12, to what they would be today. Their attributes stay
//! flat: only the provider can bring them to its schema.

mod attributes;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use groma_model::address::{
    AbsResource, DeposedKey, InstanceKey, ModuleInstance, ModuleStep, Resource, ResourceMode, is_identifier,
};
use groma_model::codec::json::{self, Json};
use groma_model::text::Str;
use groma_model::ty::Type;

use crate::fields::{At, Decoded, Text};
use crate::{Attributes, DecodeError, InstanceState, ObjectState, ObjectStatus, OutputState, ResourceState, State, v4};

/// The oldest version that says which keys of a flat map count maps.
const TELLS_MAPS_FROM_LISTS: u64 = 3;

/// Reads a document of version 1, 2 or 3.
pub(crate) fn decode(root: &At<'_, '_>, from: u64) -> Decoded<State> {
    let serial = match root.get("serial") {
        Some(Json::Number(text)) if text.starts_with('-') => {
            return Err(refused(from, "state has serial less than zero, which is invalid".to_owned()));
        }
        _ => root.number("serial")?.unwrap_or_default(),
    };
    // Version 1 has neither of the two, and version 2 need not say who wrote it.
    let described = from > 1;
    let text = |name: &str| if described { root.text(name) } else { Ok(None) };
    let mut state = State {
        tool_version: text("terraform_version")?.filter(|text| !text.is_empty()).unwrap_or("0.0.0".into()).into_owned(),
        serial,
        lineage: text("lineage")?.unwrap_or_default().into_owned(),
        ..State::default()
    };
    for module in root.list("modules")? {
        decode_module(&module, from, &mut state)?;
    }
    Ok(state)
}

fn refused(from: u64, why: String) -> DecodeError {
    DecodeError::Upgrade { from, why }
}

fn decode_module(at: &At<'_, '_>, from: u64, state: &mut State) -> Decoded<()> {
    let mut path = at.texts("path")?;
    if path.is_empty() && from == 1 {
        // Some states of version 1 have none, and mean the root.
        path.push("root".into());
    }
    if path.first().is_none_or(|first| first != "root") {
        return Err(refused(from, format!("state contains invalid module path {path:?}")));
    }
    if let Some(name) = path.iter().skip(1).find(|name| !is_identifier(name)) {
        let why = format!(
            "state contains invalid module path {path:?}: {name:?} is not a valid identifier; \
             rename it in Terraform 0.11 before upgrading to Terraform 0.12"
        );
        return Err(refused(from, why));
    }
    let steps = path.iter().skip(1).map(|name| ModuleStep { name: name.as_ref().into(), key: InstanceKey::None });
    let module = ModuleInstance::new(steps);
    // By name, so that the same document always gives the same state.
    let resources: BTreeMap<Text<'_>, At<'_, '_>> = members(at, "resources")?.into_iter().collect();
    for (name, resource) in resources {
        decode_instance(&name, &resource, &module, from, state)?;
    }
    if module.is_root() {
        for (name, output) in members(at, "outputs")? {
            let output = decode_output(&name, &output, from)?;
            state.outputs.insert(Str::from(name.as_ref()), output);
        }
    }
    Ok(())
}

/// The members of an object that is a member itself.
fn members<'j, 't>(at: &At<'j, 't>, name: &str) -> Decoded<Vec<(Text<'t>, At<'j, 't>)>> {
    match at.get(name) {
        None => Ok(Vec::new()),
        Some(Json::Object(members)) => {
            let place = at.path_to(name);
            let member = |(name, json): &'j (Text<'t>, Json<'t>)| {
                (name.clone(), At { json, place: format!("{place}[{name:?}]") })
            };
            Ok(members.iter().map(member).collect())
        }
        Some(_) => Err(at.wrong(name, "an object")),
    }
}

/// Outputs are typed by their values: the type that these versions have only tells strings, lists and maps apart.
fn decode_output(name: &str, at: &At<'_, '_>, from: u64) -> Decoded<OutputState> {
    let (json, sensitive) =
        if from == 1 { (at.json, false) } else { (at.json.get("value").unwrap_or(&Json::Null), at.flag("sensitive")?) };
    if from == 1 && !matches!(json, Json::String(_)) {
        return Err(DecodeError::Shape { at: at.place.clone(), expected: "a string" });
    }
    let invalid = |source| DecodeError::Value { at: format!("outputs.{name}"), source };
    let ty = collection_type(&json::implied_type(json).map_err(invalid)?);
    let value = json::from_json(json, &ty).map_err(invalid)?;
    Ok(OutputState { value, sensitive, deprecated: None })
}

/// Structures whose parts all have one type are taken for collections, the only kind that there was then.
fn collection_type(ty: &Type) -> Type {
    fn common<'t>(mut types: impl Iterator<Item = &'t Type>) -> Option<Type> {
        let first = types.next()?;
        types.all(|other| other == first).then(|| collection_type(first))
    }
    match ty {
        Type::Tuple(items) => common(items.iter()).map_or_else(|| ty.clone(), Type::list),
        Type::Object(object) => {
            common(object.iter().map(|(_, attribute)| &attribute.ty)).map_or_else(|| ty.clone(), Type::map)
        }
        _ => ty.clone(),
    }
}

/// What these versions call a resource is an instance.
fn decode_instance(name: &str, at: &At<'_, '_>, module: &ModuleInstance, from: u64, state: &mut State) -> Decoded<()> {
    let (resource, key) = legacy_address(name).map_err(|why| refused(from, why))?;
    let mut instance = InstanceState::default();
    if at.get("primary").is_some() {
        instance.current = Some(decode_object(&child(at, "primary"), from)?);
    }
    for (number, deposed) in (1..).zip(at.list("deposed")?) {
        instance.deposed.insert(DeposedKey::new(number), decode_object(&deposed, from)?);
    }
    let address = resource.absolute(module.clone());
    if !state.resources.contains_key(&address) {
        // The first instance speaks for all: configuration never could tell them apart.
        let provider = legacy_provider(at, &address, from)?;
        state.resources.insert(address.clone(), ResourceState { provider, instances: BTreeMap::new() });
    }
    if let Some(entry) = state.resources.get_mut(&address)
        && instance != InstanceState::default()
    {
        entry.instances.insert(key, instance);
    }
    Ok(())
}

fn child<'j, 't>(at: &At<'j, 't>, name: &str) -> At<'j, 't> {
    At { json: at.json.get(name).unwrap_or(&Json::Null), place: at.path_to(name) }
}

/// An address like `aws_instance.web.0` or `data.aws_ami.x`.
fn legacy_address(text: &str) -> Result<(Resource, InstanceKey), String> {
    let wrong = || format!("invalid internal resource address format: {text}");
    let parts: Vec<&str> = text.split('.').collect();
    let (mode, parts) = match parts.as_slice() {
        ["data", rest @ ..] if parts.len() > 2 => (ResourceMode::Data, rest),
        all => (ResourceMode::Managed, all),
    };
    let (ty, name, key) = match parts {
        [ty, name] => (ty, name, InstanceKey::None),
        [ty, name, index] => {
            let index = index.parse().map_err(|_| format!("error parsing resource address {text:?}: bad index"))?;
            (ty, name, InstanceKey::Int(index))
        }
        _ => return Err(wrong()),
    };
    // Anything else could not be read back.
    if !is_identifier(ty) || !is_identifier(name) {
        return Err(wrong());
    }
    Ok((Resource::new(mode, *ty, *name), key))
}

/// The provider configuration, which may be written as `provider.aws.west` with its module, as `aws.west`, or not at
/// all.
fn legacy_provider(at: &At<'_, '_>, address: &AbsResource, from: u64) -> Decoded<groma_model::address::ProviderConfig> {
    let given = at.text("provider")?.unwrap_or_default();
    let prefix = if address.module.is_root() { String::new() } else { format!("{}.", address.module) };
    let text = match given.as_ref() {
        "" => format!("{prefix}provider.{}", address.resource.implied_provider()),
        text if text.contains("provider.") => text.to_owned(),
        local => format!("{prefix}provider.{local}"),
    };
    v4::provider_config(&text, at).map_err(|_| {
        let advice = if given.contains("${") {
            ": this alias seems to contain a template interpolation sequence, which was not supported but also not \
             error-checked in Terraform 0.11. To proceed, rename the associated provider alias to a valid identifier \
             and apply the change with Terraform 0.11 before upgrading to Terraform 0.12"
        } else {
            ""
        };
        refused(from, format!("invalid provider config reference {given:?} for {address}{advice}"))
    })
}

fn decode_object(at: &At<'_, '_>, from: u64) -> Decoded<ObjectState> {
    if !matches!(at.json, Json::Object(_)) {
        return Err(DecodeError::Shape { at: at.place.clone(), expected: "an object" });
    }
    let (schema_version, private) = meta(at)?;
    let mut object = ObjectState::new(schema_version, attributes(at, from)?);
    object.private = private;
    // Version 1 has a list of tainted objects instead, which its successors never read.
    if from > 1 && at.flag("tainted")? {
        object.status = ObjectStatus::Tainted;
    }
    Ok(object)
}

fn attributes(at: &At<'_, '_>, from: u64) -> Decoded<Attributes> {
    let mut flat = at.get("attributes").map(|_| BTreeMap::new());
    for (name, value) in members(at, "attributes")? {
        let text = match value.json {
            Json::String(text) => text.to_string(),
            Json::Null => String::new(),
            _ => return Err(DecodeError::Shape { at: value.place, expected: "a string" }),
        };
        flat.get_or_insert_default().insert(name.into_owned(), text);
    }
    if let Some(flat) = &mut flat
        && from < TELLS_MAPS_FROM_LISTS
    {
        attributes::mark_maps(flat);
    }
    if let Some(id) = at.text("id")?.filter(|id| !id.is_empty()) {
        let known = flat.get_or_insert_default().entry("id".to_owned()).or_default();
        if known.is_empty() {
            *known = id.into_owned();
        }
    }
    Ok(flat.map_or_else(|| Attributes::Json("{}".to_owned()), Attributes::Flat))
}

/// The schema version and what else the provider kept. The version was among the latter then.
fn meta(at: &At<'_, '_>) -> Decoded<(u64, Vec<u8>)> {
    let mut version = None;
    let mut rest: Vec<(Text<'_>, Json<'_>)> = Vec::new();
    for (name, value) in members(at, "meta")? {
        if name == "schema_version" {
            version = match value.json {
                Json::String(text) => text.parse().ok(),
                Json::Number(text) => text.parse().ok(),
                _ => None,
            };
            if version.is_some() {
                continue;
            }
        }
        rest.push((name, sorted(value.json)));
    }
    rest.sort_by(|(a, _), (b, _)| a.cmp(b));
    let private = if rest.is_empty() { Vec::new() } else { Json::Object(rest).to_text().into_bytes() };
    Ok((version.unwrap_or_default(), private))
}

/// Objects by name, as Go writes maps. As deep as the reader of JSON lets documents be.
fn sorted<'t>(json: &Json<'t>) -> Json<'t> {
    match json {
        Json::Array(items) => Json::Array(items.iter().map(sorted).collect()),
        Json::Object(members) => {
            let mut members: Vec<_> = members.iter().map(|(name, value)| (name.clone(), sorted(value))).collect();
            members.sort_by(|(a, _), (b, _)| a.cmp(b));
            Json::Object(members)
        }
        other => other.clone(),
    }
}
