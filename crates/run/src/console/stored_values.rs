//! Resources as the state last saw them, for expressions. Nothing is read anew.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use groma_engine::stored::Object;
use groma_lang::config::{ProviderSource, Repetition, Resource, ResourceMode};
use groma_lang::func::ExternalFunction;
use groma_lang::oracle::{NothingExists, ResourceOracle, SchemaSource};
use groma_model::address::{AbsResource, InstanceKey};
use groma_model::mark::Mark;
use groma_model::schema::Schema;
use groma_model::ty::Type;
use groma_model::value::Value;
use groma_state::State;

/// Knows what a state knows.
pub(super) struct StoredValues<S> {
    /// The schemas, and what is not in the state.
    pub(super) schemas: NothingExists<S>,
    state: Arc<State>,
    /// Values that were asked for: many expressions may ask for the same.
    known: RwLock<HashMap<String, Value>>,
}

impl<S: SchemaSource> StoredValues<S> {
    pub(super) fn new(schemas: S, state: Arc<State>) -> Self {
        Self { schemas: NothingExists(schemas), state, known: RwLock::default() }
    }

    /// The value of a resource that the state knows.
    fn stored(&self, address: &str, resource: &Resource) -> Option<Value> {
        let found = self.state.resources.get(&address.parse::<AbsResource>().ok()?)?;
        let schema = self.resource(&resource.provider, resource.key.mode, &resource.key.ty)?;
        let current = found.instances.iter().filter_map(|(key, instance)| Some((key, instance.current.as_ref()?)));
        let mut values = current.map(|(key, object)| (key, Object::as_last_seen(object, &schema)));
        Some(match resource.repetition {
            Repetition::Once | Repetition::Enabled(_) => {
                values.find(|(key, _)| key.is_none()).map_or_else(|| Value::null(Type::Dynamic), |(_, value)| value)
            }
            Repetition::Count(_) => {
                let numbered = values.filter(|(key, _)| matches!(key, InstanceKey::Int(_)));
                Value::tuple(numbered.map(|(_, value)| value).collect())
            }
            Repetition::ForEach(_) => Value::object(values.filter_map(|(key, value)| match key {
                InstanceKey::String(key) => Some((key.clone(), value)),
                InstanceKey::None | InstanceKey::Int(_) => None,
            })),
        })
    }
}

impl<S: SchemaSource> SchemaSource for StoredValues<S> {
    fn provider(&self, provider: &ProviderSource) -> Option<Arc<Schema>> {
        self.schemas.provider(provider)
    }

    fn resource(&self, provider: &ProviderSource, mode: ResourceMode, kind: &str) -> Option<Arc<Schema>> {
        self.schemas.resource(provider, mode, kind)
    }

    fn function(&self, provider: &ProviderSource, name: &str) -> Option<Arc<ExternalFunction>> {
        self.schemas.function(provider, name)
    }
}

impl<S: SchemaSource> ResourceOracle for StoredValues<S> {
    fn value(&self, module: &str, resource: &Resource) -> Value {
        if resource.key.mode == ResourceMode::Ephemeral {
            return Value::dynamic().mark(Mark::Ephemeral);
        }
        let address = if module.is_empty() { resource.key.to_string() } else { format!("{module}.{}", resource.key) };
        if let Some(known) = self.known.read().unwrap_or_else(PoisonError::into_inner).get(&address) {
            return known.clone();
        }
        let value = self.stored(&address, resource).unwrap_or_else(|| self.schemas.value(module, resource));
        self.known.write().unwrap_or_else(PoisonError::into_inner).insert(address, value.clone());
        value
    }
}
