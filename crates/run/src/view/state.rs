//! The result of `show -json` for a state, which is also the `prior_state` of a plan.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;

use groma_engine::pending;
use groma_lang::oracle::SchemaSource;
use groma_model::address::{AbsInstance, AbsResource, DeposedKey, Provider, ResourceMode};
use groma_model::codec::json;
use groma_model::diag::Diagnostics;
use groma_model::mark::{Mark, Marks};
use groma_model::schema::Schema;
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_model::value::{Entries, PathMarks, Value};
use groma_state::{Attributes, ObjectState, ObjectStatus, OutputState, ResourceState, State};
use serde::ser::{Error as _, Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;

use super::change::{mode_name, not_ready};
use super::checks;
use super::modules::Modules;
use super::text::{ViewError, write_line};
use super::value::{Plain, Shape, index, sensitive, type_value};

/// A state to be shown.
pub struct StateView<'a> {
    /// The state.
    pub state: &'a State,
    /// The schemas of everything in it.
    pub schemas: &'a dyn SchemaSource,
}

impl StateView<'_> {
    /// Writes the document, and ends its line.
    pub fn write<W: Write>(&self, to: W) -> Result<(), ViewError> {
        write_line(self, to)
    }
}

/// The document for a state.
pub fn state_json(state: &State, schemas: &dyn SchemaSource) -> Result<serde_json::Value, Diagnostics> {
    let view = StateView { state, schemas };
    serde_json::to_value(&view).map_err(|error| ViewError::from(error).diagnostics("state"))
}

impl Serialize for StateView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let checks = self.state.checks.as_deref().filter(|checks| !checks.is_empty()).map(checks::of_state);
        let document = Document {
            resources: self.state.resources.iter().collect(),
            schemas: self.schemas,
            tool_version: &self.state.tool_version,
            outputs: &self.state.outputs,
            checks,
        };
        document.serialize(serializer)
    }
}

/// A state as it is written, with what may be told otherwise than it is stored.
pub(super) struct Document<'a> {
    pub(super) resources: BTreeMap<&'a AbsResource, &'a ResourceState>,
    pub(super) schemas: &'a dyn SchemaSource,
    pub(super) tool_version: &'a str,
    pub(super) outputs: &'a BTreeMap<Str, OutputState>,
    pub(super) checks: Option<serde_json::Value>,
}

impl Serialize for Document<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("format_version", "1.0")?;
        if self.outputs.is_empty() && self.resources.is_empty() {
            return map.end();
        }
        if !self.tool_version.is_empty() {
            map.serialize_entry("terraform_version", self.tool_version)?;
        }
        map.serialize_entry("values", &Values(self))?;
        if let Some(checks) = &self.checks {
            map.serialize_entry("checks", checks)?;
        }
        map.end()
    }
}

struct Values<'d, 'a>(&'d Document<'a>);

impl Serialize for Values<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(document) = self;
        let mut map = serializer.serialize_map(None)?;
        if !document.outputs.is_empty() {
            let outputs = document.outputs.iter().map(|(name, output)| (name.as_str(), StateOutput(output)));
            map.serialize_entry("outputs", &outputs.collect::<BTreeMap<_, _>>())?;
        }
        let schemas = Schemas { source: document.schemas, known: RefCell::default() };
        let mut objects = Vec::new();
        for (&address, &resource) in &document.resources {
            for (key, instance) in &resource.instances {
                let current = instance.current.iter().map(|object| (None, object));
                let deposed = instance.deposed.iter().map(|(key, object)| (Some(key), object));
                let provider = &resource.provider.provider;
                let shown = |(deposed, object)| {
                    let shown = ObjectView { schemas: &schemas, address, key, provider, deposed, object };
                    (address.module.clone(), shown)
                };
                objects.extend(current.chain(deposed).map(shown));
            }
        }
        map.serialize_entry("root_module", &Modules::new(objects))?;
        map.end()
    }
}

struct StateOutput<'a>(&'a OutputState);

impl Serialize for StateOutput<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(output) = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("sensitive", &output.sensitive)?;
        if let Some(deprecated) = output.deprecated.as_ref().filter(|text| !text.is_empty()) {
            map.serialize_entry("deprecated", deprecated.as_str())?;
        }
        map.serialize_entry("value", &Plain(&output.value))?;
        map.serialize_entry("type", &type_value(&output.value.ty()))?;
        map.end()
    }
}

/// Schemas with their types, each looked up once.
struct Schemas<'a> {
    source: &'a dyn SchemaSource,
    known: RefCell<BTreeMap<ResourceType, Option<Arc<TypedSchema>>>>,
}

/// Which provider's, of which kind, called what.
type ResourceType = (Provider, ResourceMode, Str);

struct TypedSchema {
    schema: Arc<Schema>,
    ty: Type,
}

impl Schemas<'_> {
    fn of(&self, provider: &Provider, address: &AbsResource) -> Option<Arc<TypedSchema>> {
        let resource = &address.resource;
        let place = (provider.clone(), resource.mode, resource.ty.clone());
        let mut known = self.known.borrow_mut();
        let found = known.entry(place).or_insert_with(|| {
            let schema = self.source.resource(provider, resource.mode, &resource.ty)?;
            let ty = schema.block.implied_type();
            Some(Arc::new(TypedSchema { schema, ty }))
        });
        found.clone()
    }
}

/// One object, decoded when it is written.
struct ObjectView<'a> {
    schemas: &'a Schemas<'a>,
    address: &'a AbsResource,
    key: &'a groma_model::address::InstanceKey,
    provider: &'a Provider,
    deposed: Option<&'a DeposedKey>,
    object: &'a ObjectState,
}

#[derive(serde::Serialize)]
struct ObjectJson<'a> {
    address: String,
    mode: &'static str,
    #[serde(rename = "type")]
    ty: &'a str,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<serde_json::Value>,
    provider_name: String,
    schema_version: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<Plain<'a>>,
    sensitive_values: Shape<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    depends_on: Vec<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    tainted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    deposed_key: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    identity: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    identity_schema_version: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    groma: Option<serde_json::Value>,
}

impl ObjectView<'_> {
    fn instance(&self) -> AbsInstance {
        self.address.instance(self.key.clone())
    }

    /// The schema and the value by it, with the marks that are stored.
    fn decoded(&self) -> Result<(Arc<TypedSchema>, Value), String> {
        let resource = &self.address.resource;
        let found = self.schemas.of(self.provider, self.address);
        let found = found.ok_or_else(|| format!("no schema found for {resource} (in provider {})", self.provider))?;
        let (stored, current) = (self.object.schema_version, found.schema.version);
        if self.deposed.is_none() && i64::try_from(stored) != Ok(current) {
            return Err(format!(
                "schema version {stored} for {resource} in state does not match version {current} from the provider"
            ));
        }
        let Attributes::Json(text) = &self.object.attributes else {
            return Err(format!("{} is stored in a format that only its provider can read", self.instance()));
        };
        let value = json::decode(text, &found.ty).map_err(|error| format!("{}: {error}", self.instance()))?;
        let marked =
            |path: &groma_model::path::Path| PathMarks { path: path.clone(), marks: Marks::one(Mark::Sensitive) };
        let marks: Vec<PathMarks> = self.object.sensitive.iter().map(marked).collect();
        Ok((found, value.with_path_marks(&marks)))
    }
}

impl Serialize for ObjectView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (typed, value) = self.decoded().map_err(S::Error::custom)?;
        let identity = match &self.object.identity {
            Some(identity) => Some(serde_json::from_str::<&RawValue>(&identity.json).map_err(S::Error::custom)?),
            None => None,
        };
        let is_empty = value.as_entries().is_none_or(Entries::is_empty);
        let resource = &self.address.resource;
        let json = ObjectJson {
            address: self.instance().to_string(),
            mode: mode_name(resource.mode),
            ty: &resource.ty,
            name: &resource.name,
            index: index(self.key),
            provider_name: self.provider.to_string(),
            // Of an object that was put aside it is not told.
            schema_version: if self.deposed.is_some() { 0 } else { self.object.schema_version },
            values: (!is_empty).then_some(Plain(&value)),
            sensitive_values: sensitive(&value, &typed.schema.block),
            depends_on: self.object.dependencies.iter().map(ToString::to_string).collect(),
            tainted: self.object.status == ObjectStatus::Tainted,
            deposed_key: self.deposed.map(DeposedKey::as_str),
            identity,
            identity_schema_version: self.object.identity.as_ref().and_then(|identity| identity.schema_version),
            groma: self.deposed.is_none().then(|| pending::of_stored(self.object)).flatten().as_ref().map(not_ready),
        };
        json.serialize(serializer)
    }
}
