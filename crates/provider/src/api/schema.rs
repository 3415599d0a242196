//! What a provider offers. Schemas of plugins are decoded when they are first needed: large providers have thousands.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use groma_model::schema::{FunctionSignature, IdentitySchema, Schema};
use groma_model::text::Str;

/// Everything that a provider offers.
#[derive(Debug, Clone, Default)]
pub struct ProviderSchema {
    /// Its own configuration.
    pub provider: LazySchema,
    /// What a module may tell it about itself.
    pub provider_meta: Option<LazySchema>,
    /// Managed resources by type.
    pub resources: BTreeMap<Str, LazySchema>,
    /// What identifies the objects of a resource type, where the provider says so.
    pub identities: BTreeMap<Str, Arc<IdentitySchema>>,
    /// Data sources by type.
    pub data_sources: BTreeMap<Str, LazySchema>,
    /// Ephemeral resources by type.
    pub ephemerals: BTreeMap<Str, LazySchema>,
    /// Queries by the resource type that they find.
    pub lists: BTreeMap<Str, LazySchema>,
    /// Functions by name.
    pub functions: BTreeMap<Str, Arc<FunctionSignature>>,
    /// What it can do beyond the basics.
    pub capabilities: ServerCapabilities,
}

/// What a provider can do beyond the basics.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ServerCapabilities {
    /// It wants to be asked before a deletion.
    pub plan_destroy: bool,
    /// Other calls may come before the one for the schema.
    pub schema_optional: bool,
    /// It can take over objects of other resource types.
    pub move_state: bool,
    /// It can write configurations.
    pub generate_config: bool,
    /// It wants to hear what the configuration still says about an object that is to go, as a check of that configuration. No plugin
    /// can say so.
    pub last_words: bool,
    /// It plans the same when it is asked the same, so it need not be asked again before an apply for which nothing new is known. No
    /// plugin can say so.
    pub steady_plans: bool,
    /// Its lists are asked with what a configuration says, all of it, and not only with what they cannot do without. No plugin can say so.
    pub lists_by_configuration: bool,
}

/// What a provider offers, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Metadata {
    /// Managed resources.
    pub resources: Vec<Str>,
    /// Data sources.
    pub data_sources: Vec<Str>,
    /// Ephemeral resources.
    pub ephemerals: Vec<Str>,
    /// Queries.
    pub lists: Vec<Str>,
    /// Functions.
    pub functions: Vec<Str>,
}

impl ProviderSchema {
    /// The names alone.
    pub fn metadata(&self) -> Metadata {
        Metadata {
            resources: self.resources.keys().cloned().collect(),
            data_sources: self.data_sources.keys().cloned().collect(),
            ephemerals: self.ephemerals.keys().cloned().collect(),
            lists: self.lists.keys().cloned().collect(),
            functions: self.functions.keys().cloned().collect(),
        }
    }
}

/// A schema that cannot be decoded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the schema of {of} cannot be used: {message}")]
pub struct SchemaError {
    /// Of what: a type's name, or the provider.
    pub of: Str,
    /// What is wrong.
    pub message: String,
}

type Decode = dyn Fn() -> Result<Schema, SchemaError> + Send + Sync;

/// A schema that is decoded when it is first asked for, once.
#[derive(Clone)]
pub struct LazySchema(Arc<Lazy>);

struct Lazy {
    decoded: OnceLock<Result<Arc<Schema>, SchemaError>>,
    decode: Box<Decode>,
}

impl LazySchema {
    /// A schema behind a decoder.
    pub fn new(decode: impl Fn() -> Result<Schema, SchemaError> + Send + Sync + 'static) -> Self {
        Self(Arc::new(Lazy { decoded: OnceLock::new(), decode: Box::new(decode) }))
    }

    /// The schema.
    pub fn get(&self) -> Result<&Arc<Schema>, SchemaError> {
        self.0.decoded.get_or_init(|| (self.0.decode)().map(Arc::new)).as_ref().map_err(Clone::clone)
    }
}

impl From<Schema> for LazySchema {
    fn from(schema: Schema) -> Self {
        let decoded = OnceLock::from(Ok(Arc::new(schema)));
        let never = || Err(SchemaError { of: "".into(), message: "it was given decoded".to_owned() });
        Self(Arc::new(Lazy { decoded, decode: Box::new(never) }))
    }
}

impl Default for LazySchema {
    fn default() -> Self {
        Schema::default().into()
    }
}

impl fmt::Debug for LazySchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.decoded.get() {
            Some(decoded) => decoded.fmt(f),
            None => f.write_str("(not decoded yet)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn a_schema_is_decoded_once_and_late() {
        static DECODED: AtomicU32 = AtomicU32::new(0);
        let lazy = LazySchema::new(|| {
            DECODED.fetch_add(1, Ordering::SeqCst);
            Ok(Schema { version: 7, ..Schema::default() })
        });
        assert_eq!(DECODED.load(Ordering::SeqCst), 0);
        assert_eq!(lazy.clone().get().unwrap().version, 7);
        assert_eq!(lazy.get().unwrap().version, 7);
        assert_eq!(DECODED.load(Ordering::SeqCst), 1);
    }
}
