//! A document of version 4 to a state.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use groma_model::address::{
    AbsResource, ConfigResource, DEFAULT_HOST, DeposedKey, InstanceKey, LEGACY_NAMESPACE, Module, ModuleInstance,
    Provider, ProviderConfig, ProviderInstance, Resource, ResourceMode, is_identifier,
};
use groma_model::codec::json::{self, Json};
use groma_model::codec::type_json;
use groma_model::number::Number;
use groma_model::path::{Path, PathKey, PathStep};
use groma_model::text::Str;

use crate::fields::{At, Decoded, Text};
use crate::{
    Attributes, CheckKind, CheckObject, CheckResult, CheckStatus, DecodeError, InstanceState, ObjectState,
    ObjectStatus, OutputState, ResourceState, State, StoredIdentity,
};

/// Reads a document of version 4.
pub(crate) fn decode(root: &At<'_, '_>) -> Decoded<State> {
    let mut resources = BTreeMap::new();
    for resource in root.list("resources")? {
        decode_resource(&resource, &mut resources)?;
    }
    Ok(State {
        tool_version: root.text("terraform_version")?.unwrap_or_default().into_owned(),
        serial: root.number("serial")?.unwrap_or_default(),
        lineage: root.text("lineage")?.unwrap_or_default().into_owned(),
        outputs: decode_outputs(root)?,
        resources,
        checks: decode_checks(root)?,
    })
}

fn decode_outputs(root: &At<'_, '_>) -> Decoded<BTreeMap<Str, OutputState>> {
    let members = match root.get("outputs") {
        None => return Ok(BTreeMap::new()),
        Some(Json::Object(members)) => members,
        Some(_) => return Err(root.wrong("outputs", "an object")),
    };
    let mut outputs = BTreeMap::new();
    for (name, json) in members {
        let at = At { json, place: format!("outputs.{name}") };
        let ty = json.get("type").ok_or_else(|| at.wrong("type", "a type"))?;
        let invalid = |part: &str, source| DecodeError::Value { at: at.path_to(part), source };
        let ty = type_json::from_json(ty).map_err(|source| invalid("type", source))?;
        let value = json.get("value").unwrap_or(&Json::Null);
        let value = json::from_json(value, &ty).map_err(|source| invalid("value", source))?;
        let deprecated = at.text("deprecated")?.map(|text| Str::from(text.as_ref()));
        outputs.insert(Str::from(name.as_ref()), OutputState { value, sensitive: at.flag("sensitive")?, deprecated });
    }
    Ok(outputs)
}

fn decode_resource(at: &At<'_, '_>, resources: &mut BTreeMap<AbsResource, ResourceState>) -> Decoded<()> {
    let mode = match at.needed("mode")?.as_ref() {
        "managed" => ResourceMode::Managed,
        "data" => ResourceMode::Data,
        _ => return Err(at.wrong("mode", "\"managed\" or \"data\"")),
    };
    let module = match at.text("module")? {
        Some(module) if !module.is_empty() => module.parse().map_err(|_| at.wrong("module", "a module address"))?,
        _ => ModuleInstance::root(),
    };
    let address = Resource::new(mode, at.needed("type")?.as_ref(), at.needed("name")?.as_ref()).absolute(module);
    let own =
        at.text("provider")?.filter(|text| !text.is_empty()).map(|text| provider_config(&text, at)).transpose()?;
    let mut provider = own.clone();
    let mut instances: BTreeMap<InstanceKey, InstanceState> = BTreeMap::new();
    for instance in at.list("instances")? {
        let key = instance_key(&instance)?;
        let entry = instances.entry(key.clone()).or_default();
        if let Some(text) = instance.text("provider")?.filter(|text| !text.is_empty()) {
            let given: ProviderInstance =
                text.parse().map_err(|_| instance.wrong("provider", "the address of a provider instance"))?;
            if own.is_none() && provider.as_ref().is_some_and(|known| *known != given.config) {
                return Err(instance.wrong("provider", "the same provider configuration as the other instances"));
            }
            entry.provider_key = given.key;
            provider.get_or_insert(given.config);
        }
        let object = decode_object(&instance)?;
        let taken = match instance.text("deposed")?.filter(|text| !text.is_empty()) {
            None => entry.current.replace(object).is_some(),
            Some(text) => {
                let key =
                    DeposedKey::parse(&text).ok_or_else(|| instance.wrong("deposed", "eight hexadecimal digits"))?;
                entry.deposed.insert(key, object).is_some()
            }
        };
        if taken {
            return Err(DecodeError::Duplicate { at: instance.place, address: address.instance(key).to_string() });
        }
    }
    let provider = provider.ok_or_else(|| at.wrong("provider", "a provider address, here or with every instance"))?;
    if resources.insert(address.clone(), ResourceState { provider, instances }).is_some() {
        return Err(DecodeError::Duplicate { at: at.place.clone(), address: address.to_string() });
    }
    Ok(())
}

/// A provider's address. States of Terraform 0.12 have `provider.aws.west`, from a time before providers had sources.
pub(crate) fn provider_config(text: &str, at: &At<'_, '_>) -> Decoded<ProviderConfig> {
    if let Ok(config) = text.parse() {
        return Ok(config);
    }
    let wrong = || at.wrong("provider", "a provider address");
    let (module, rest) = match text.rsplit_once("provider.") {
        Some(("", rest)) => (Module::root(), rest),
        Some((module, rest)) => (module.trim_end_matches('.').parse().map_err(|_| wrong())?, rest),
        None => return Err(wrong()),
    };
    let (name, alias) =
        rest.split_once('.').map_or((rest, None), |(name, alias)| (name, Some(Str::from(alias.trim()))));
    if alias.as_ref().is_some_and(|alias| !is_identifier(alias)) {
        return Err(wrong());
    }
    let implied = Provider::implied(name.trim()).map_err(|_| wrong())?;
    // What was built in then is still, everything else is found out when it is installed.
    let provider =
        if implied.is_builtin() { implied } else { Provider::new(DEFAULT_HOST, LEGACY_NAMESPACE, implied.ty) };
    Ok(ProviderConfig { module, provider, alias })
}

fn instance_key(at: &At<'_, '_>) -> Decoded<InstanceKey> {
    match at.get("index_key") {
        None => Ok(InstanceKey::None),
        Some(Json::String(text)) => Ok(InstanceKey::String(text.as_ref().into())),
        Some(Json::Number(text)) => {
            text.parse().map(InstanceKey::Int).map_err(|_| at.wrong("index_key", "a whole number"))
        }
        Some(_) => Err(at.wrong("index_key", "a string or a number")),
    }
}

pub(crate) fn decode_object(at: &At<'_, '_>) -> Decoded<ObjectState> {
    let status = match at.text("status")?.as_deref() {
        None | Some("") => ObjectStatus::Ready,
        Some("tainted") => ObjectStatus::Tainted,
        Some(_) => return Err(at.wrong("status", "\"tainted\" or nothing")),
    };
    let private = match at.text("private")? {
        None => Vec::new(),
        Some(text) => BASE64.decode(text.as_bytes()).map_err(|_| at.wrong("private", "base64"))?,
    };
    let dependencies = at.texts("dependencies")?.into_iter().map(|text| dependency(&text, at));
    let identity = at.get("identity").map(Json::to_text);
    let identity_version = at.number("identity_schema_version")?;
    Ok(ObjectState {
        status,
        schema_version: at.number("schema_version")?.unwrap_or_default(),
        attributes: attributes(at)?,
        sensitive: sensitive_paths(at)?,
        private,
        dependencies: dependencies.collect::<Result<_, _>>()?,
        create_before_destroy: at.flag("create_before_destroy")?,
        skip_destroy: at.flag("skip_destroy")?,
        identity: identity.map(|json| StoredIdentity { json, schema_version: identity_version }),
    })
}

fn attributes(at: &At<'_, '_>) -> Decoded<Attributes> {
    match (at.get("attributes"), at.get("attributes_flat")) {
        (Some(json @ Json::Object(_)), _) => Ok(Attributes::Json(json.to_text())),
        (Some(_), _) => Err(at.wrong("attributes", "an object")),
        (None, Some(Json::Object(members))) => {
            let entry = |(name, json): &(Text<'_>, Json<'_>)| match json {
                Json::String(text) => Ok((name.to_string(), text.to_string())),
                _ => Err(at.wrong("attributes_flat", "strings only")),
            };
            members.iter().map(entry).collect::<Result<_, _>>().map(Attributes::Flat)
        }
        (None, Some(_)) => Err(at.wrong("attributes_flat", "an object")),
        (None, None) => Ok(Attributes::Json("{}".to_owned())),
    }
}

/// Old dependencies may name instances; what counts is the resource.
fn dependency(text: &str, at: &At<'_, '_>) -> Decoded<ConfigResource> {
    let resource = text.parse::<AbsResource>().map(|address| address.config());
    resource.or_else(|_| text.parse()).map_err(|_| at.wrong("dependencies", "addresses of resources"))
}

fn sensitive_paths(at: &At<'_, '_>) -> Decoded<Vec<Path>> {
    let mut paths = Vec::new();
    for path in at.list("sensitive_attributes")? {
        let Json::Array(steps) = path.json else {
            return Err(DecodeError::Shape { at: path.place, expected: "an array" });
        };
        let steps = steps.iter().map(|json| path_step(&At { json, place: path.place.clone() }));
        paths.push(Path::from(steps.collect::<Result<Vec<_>, _>>()?));
    }
    Ok(paths)
}

fn path_step(at: &At<'_, '_>) -> Decoded<PathStep> {
    match (at.needed("type")?.as_ref(), at.get("value")) {
        ("get_attr", Some(Json::String(name))) => Ok(PathStep::Attr(name.as_ref().into())),
        ("index", Some(key)) => {
            let key = match key.get("value") {
                Some(Json::String(text)) => Some(PathKey::String(text.as_ref().into())),
                Some(Json::Number(text)) => Number::parse(text).map(PathKey::Number),
                _ => None,
            };
            key.map(PathStep::Index).ok_or_else(|| at.wrong("value", "a key with its type"))
        }
        _ => Err(at.wrong("type", "a step into an attribute or an element")),
    }
}

fn decode_checks(root: &At<'_, '_>) -> Decoded<Option<Vec<CheckResult>>> {
    if root.get("check_results").is_none() {
        return Ok(None);
    }
    let mut checks = Vec::new();
    for at in root.list("check_results")? {
        let kind = match at.needed("object_kind")?.as_ref() {
            "resource" => CheckKind::Resource,
            "output" => CheckKind::Output,
            "check" => CheckKind::Check,
            "var" => CheckKind::Variable,
            // Of a version to come. Results are made anew by every run, so nothing that matters is lost.
            _ => continue,
        };
        let objects = at.list("objects")?.into_iter().map(|object| {
            Ok(CheckObject {
                address: object.needed("object_addr")?.into_owned(),
                status: check_status(&object)?,
                failures: object.texts("failure_messages")?.into_iter().map(Text::into_owned).collect(),
            })
        });
        checks.push(CheckResult {
            kind,
            config_address: at.needed("config_addr")?.into_owned(),
            status: check_status(&at)?,
            objects: objects.collect::<Result<_, _>>()?,
        });
    }
    Ok(Some(checks))
}

fn check_status(at: &At<'_, '_>) -> Decoded<CheckStatus> {
    Ok(match at.needed("status")?.as_ref() {
        "pass" => CheckStatus::Pass,
        "fail" => CheckStatus::Fail,
        "error" => CheckStatus::Error,
        _ => CheckStatus::Unknown,
    })
}
