//! Objects between a state and a provider: decoded by the provider's current schema, and written back.

use std::sync::Arc;

use groma_lang::config::Resource;
use groma_lang::oracle::SchemaSource;
use groma_model::address::ConfigResource;
use groma_model::codec::json;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::mark::{Mark, Marks};
use groma_model::path::Path;
use groma_model::schema::{IdentitySchema, Schema};
use groma_model::text::Str;
use groma_model::value::{PathMarks, Value};
use groma_provider::api::{MoveRequest, Pending, Private, Provider, RawState, UpgradeIdentityRequest, UpgradeRequest};
use groma_state::{Attributes, ObjectState, ObjectStatus, StoredIdentity};

use crate::providers::Providers;

/// What describes the objects of a resource type.
#[derive(Debug, Clone)]
pub struct ObjectSchema {
    /// The resource type.
    pub type_name: Str,
    /// Its attributes.
    pub schema: Arc<Schema>,
    /// What identifies its objects, if the provider says so.
    pub identity: Option<Arc<IdentitySchema>>,
}

/// What describes the objects that a block declares.
pub(crate) fn object_schema(
    schemas: &dyn SchemaSource,
    providers: &dyn Providers,
    resource: &Resource,
) -> Result<ObjectSchema, Diagnostics> {
    let key = &resource.key;
    let schema = schemas.resource(&resource.provider, key.mode, &key.ty).ok_or_else(|| {
        let detail = format!("The provider {} does not support {:?}.", resource.provider, key.ty.as_str());
        Diagnostic::error("Invalid resource type", detail).at(resource.kind_span)
    })?;
    let offered = providers.schema(&resource.provider);
    let identity = offered.and_then(|offered| offered.identities.get(&key.ty).cloned());
    Ok(ObjectSchema { type_name: key.ty.clone(), schema, identity })
}

/// An object that exists, by its provider's current schema. The value has no marks.
#[derive(Debug, Clone)]
pub struct Object {
    /// Its attributes.
    pub value: Value,
    /// Which of them were sensitive in the configuration.
    pub sensitive: Vec<Path>,
    /// What the provider keeps with it.
    pub private: Private,
    /// What identifies it.
    pub identity: Option<Value>,
    /// What it still lacks, if it is not ready. Kept with the private data, of which no provider is shown it.
    pub pending: Option<Pending>,
    /// Whether it is to be replaced.
    pub status: ObjectStatus,
    /// What it depends on.
    pub dependencies: Arc<[ConfigResource]>,
    /// Whether its replacement is created first.
    pub create_before_destroy: bool,
    /// Whether it is forgotten instead of destroyed.
    pub skip_destroy: bool,
}

impl Object {
    /// The value with its marks: what the schema says, and what the configuration had.
    pub fn marked(&self, schema: &Schema) -> Value {
        marked(&self.value, schema, &self.sensitive)
    }

    /// As a state keeps it.
    pub fn stored(&self, kind: &ObjectSchema) -> Result<ObjectState, Diagnostics> {
        let failed = |what: &str, error: groma_model::codec::CodecError| {
            let detail = format!("The {what} cannot be stored: {error}.");
            Diagnostics::from(Diagnostic::error("Provider produced an invalid object", detail))
        };
        let ty = kind.schema.block.implied_type();
        let attributes = json::encode(&self.value, &ty).map_err(|error| failed("object", error))?;
        let identity = match (&self.identity, &kind.identity) {
            (Some(identity), Some(schema)) => {
                let json = json::encode(identity, &schema.implied_type()).map_err(|error| failed("identity", error))?;
                let schema_version = u64::try_from(schema.version).ok();
                Some(StoredIdentity { json, schema_version })
            }
            _ => None,
        };
        let mut stored =
            ObjectState::new(u64::try_from(kind.schema.version).unwrap_or_default(), Attributes::Json(attributes));
        stored.status = self.status;
        // Everything that must not be shown, whoever says so: other tools compare this as well.
        let (_, marks) = self.marked(&kind.schema).unmark_deep_with_paths();
        stored.sensitive = marks.into_iter().filter(|at| at.marks.is_sensitive()).map(|at| at.path).collect();
        let marked = self.pending.as_ref().and_then(|pending| pending.join(&self.private));
        stored.private = marked.unwrap_or_else(|| self.private.clone()).0;
        stored.dependencies = self.dependencies.to_vec();
        stored.create_before_destroy = self.create_before_destroy;
        stored.skip_destroy = self.skip_destroy;
        stored.identity = identity;
        Ok(stored)
    }

    /// The value of a stored object as it is written down, with marks. None if it does not fit the current schema.
    pub(crate) fn as_written(stored: &ObjectState, schema: &Schema) -> Option<Value> {
        let Attributes::Json(text) = &stored.attributes else { return None };
        let value = json::decode(text, &schema.block.implied_type()).ok()?;
        Some(marked(&value, schema, &stored.sensitive))
    }

    /// The same, or not known: only the provider could tell what does not fit its current schema.
    pub fn as_last_seen(stored: &ObjectState, schema: &Schema) -> Value {
        let unknown = || marked(&Value::unknown(schema.block.implied_type()), schema, &stored.sensitive);
        Self::as_written(stored, schema).unwrap_or_else(unknown)
    }

    /// Brings a stored object to the provider's current schema. The provider is always asked: that is where it sets right what
    /// earlier versions of it have written.
    pub async fn upgraded(
        stored: &ObjectState,
        kind: &ObjectSchema,
        provider: &dyn Provider,
    ) -> Result<Self, Diagnostics> {
        let current = u64::try_from(kind.schema.version).unwrap_or_default();
        if stored.schema_version > current {
            return Err(newer_schema(stored, kind, current));
        }
        let state = match &stored.attributes {
            Attributes::Json(text) if stored.schema_version == current => {
                RawState::Json(known_only(text, &kind.schema))
            }
            Attributes::Json(text) => RawState::Json(text.clone().into_bytes()),
            Attributes::Flat(entries) => RawState::Flatmap(entries.clone().into_iter().collect()),
        };
        let request = UpgradeRequest {
            type_name: kind.type_name.clone(),
            version: i64::try_from(stored.schema_version).unwrap_or(i64::MAX),
            state,
        };
        if !stored.sensitive.is_empty()
            && let Some(written) = Self::as_written(stored, &kind.schema)
        {
            provider.keep_secret(&written);
        }
        let response = provider.upgrade(request).await.map_err(|error| error.diagnostic())?;
        if response.diagnostics.has_errors() {
            return Err(response.diagnostics);
        }
        let identity = match &stored.identity {
            Some(identity) => upgraded_identity(identity, kind, provider).await?,
            None => None,
        };
        let (private, pending) = Pending::split(Private(stored.private.clone()));
        Ok(Self {
            value: response.value,
            sensitive: stored.sensitive.clone(),
            private,
            pending,
            identity,
            status: stored.status,
            dependencies: stored.dependencies.clone().into(),
            create_before_destroy: stored.create_before_destroy,
            skip_destroy: stored.skip_destroy,
        })
    }
}

impl Object {
    /// Makes an object of another type or provider one of this. The provider that takes it over is asked.
    pub async fn taken_over(
        stored: &ObjectState,
        origin: &Origin,
        kind: &ObjectSchema,
        provider: &dyn Provider,
    ) -> Result<Self, Diagnostics> {
        let source_state = match &stored.attributes {
            Attributes::Json(text) => RawState::Json(text.clone().into_bytes()),
            Attributes::Flat(entries) => RawState::Flatmap(entries.clone().into_iter().collect()),
        };
        let (private, pending) = Pending::split(Private(stored.private.clone()));
        let request = MoveRequest {
            source_provider: origin.provider.to_string(),
            source_type_name: origin.type_name.clone(),
            source_schema_version: i64::try_from(stored.schema_version).unwrap_or(i64::MAX),
            source_state,
            source_private: private,
            source_identity: None,
            target_type_name: kind.type_name.clone(),
        };
        let response = provider.move_state(request).await.map_err(|error| error.diagnostic())?;
        if response.diagnostics.has_errors() {
            return Err(response.diagnostics);
        }
        Ok(Self {
            value: response.object,
            sensitive: stored.sensitive.clone(),
            private: response.private,
            pending,
            identity: response.identity,
            status: stored.status,
            dependencies: stored.dependencies.clone().into(),
            create_before_destroy: stored.create_before_destroy,
            skip_destroy: stored.skip_destroy,
        })
    }
}

/// What an object was before it was moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// Made by which provider.
    pub provider: groma_model::address::Provider,
    /// Its type there.
    pub type_name: Str,
}

/// A value with the marks of its schema and those at further paths.
pub fn marked(value: &Value, schema: &Schema, sensitive: &[Path]) -> Value {
    Marking::of(schema).marked(value, sensitive)
}

/// A schema by which several values are marked. Whether there is anything to mark is found out once.
#[derive(Clone, Copy)]
pub(crate) struct Marking<'s> {
    schema: &'s Schema,
    hides_something: bool,
}

impl<'s> Marking<'s> {
    pub(crate) fn of(schema: &'s Schema) -> Self {
        Self { schema, hides_something: schema.block.contains_sensitive() }
    }

    /// A value with the marks of the schema and those at further paths.
    pub(crate) fn marked(self, value: &Value, sensitive: &[Path]) -> Value {
        let mut marks = if self.hides_something { self.schema.sensitive_marks(value) } else { Vec::new() };
        let marked = |path: &Path| PathMarks { path: path.clone(), marks: Marks::one(Mark::Sensitive) };
        marks.extend(sensitive.iter().map(marked));
        value.clone().with_path_marks(&marks)
    }
}

async fn upgraded_identity(
    stored: &StoredIdentity,
    kind: &ObjectSchema,
    provider: &dyn Provider,
) -> Result<Option<Value>, Diagnostics> {
    let Some(schema) = &kind.identity else { return Ok(None) };
    let version = stored.schema_version.and_then(|version| i64::try_from(version).ok()).unwrap_or_default();
    if version == schema.version
        && let Ok(value) = json::decode(&stored.json, &schema.implied_type())
    {
        return Ok(Some(value));
    }
    let request =
        UpgradeIdentityRequest { type_name: kind.type_name.clone(), version, json: stored.json.clone().into_bytes() };
    let response = provider.upgrade_identity(request).await.map_err(|error| error.diagnostic())?;
    if response.diagnostics.has_errors() { Err(response.diagnostics) } else { Ok(Some(response.value)) }
}

/// The stored attributes without those that the schema does not have any more. Only for the same version of the schema: else the
/// provider wants to see them.
fn known_only(text: &str, schema: &Schema) -> Vec<u8> {
    let pruned = json::Json::parse(text).ok().and_then(|mut json| {
        let dropped = json.retain_known(&schema.block.implied_type());
        dropped.then(|| json.to_text())
    });
    pruned.unwrap_or_else(|| text.to_owned()).into_bytes()
}

fn newer_schema(stored: &ObjectState, kind: &ObjectSchema, current: u64) -> Diagnostics {
    let detail = format!(
        "This {} was stored with version {} of its schema, and the provider that is installed knows versions up to {current}. \
         Select a newer version of the provider.",
        kind.type_name, stored.schema_version
    );
    Diagnostic::error("Resource instance managed by newer provider version", detail).into()
}
