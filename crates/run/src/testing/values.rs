//! Resources as assertions see them: as planned, or as they are now.

use std::collections::BTreeMap;
use std::sync::Arc;

use groma_engine::plan::Plan;
use groma_engine::stored::Object;
use groma_lang::config::{ProviderSource, Repetition, Resource, ResourceMode};
use groma_lang::func::ExternalFunction;
use groma_lang::oracle::{NothingExists, ResourceOracle, SchemaSource};
use groma_model::address::{AbsResource, InstanceKey};
use groma_model::mark::Mark;
use groma_model::schema::Schema;
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_model::value::Value;
use groma_state::State;

/// Where the values come from.
pub(super) enum Seen<'a> {
    /// What is planned.
    Plan(&'a Plan),
    /// What there is.
    State(&'a State),
}

impl Seen<'_> {
    /// The outputs of the root module, with marks.
    pub(super) fn outputs(&self) -> BTreeMap<Str, Value> {
        match self {
            Self::Plan(plan) => {
                plan.outputs.iter().map(|(name, change)| (name.clone(), change.after.clone())).collect()
            }
            Self::State(state) => outputs(state),
        }
    }
}

/// The outputs in a state, with marks.
pub(super) fn outputs(state: &State) -> BTreeMap<Str, Value> {
    let marked = |(name, output): (&Str, &groma_state::OutputState)| {
        let value = output.value.clone();
        (name.clone(), if output.sensitive { value.mark(Mark::Sensitive) } else { value })
    };
    state.outputs.iter().map(marked).collect()
}

/// Knows resources from a plan or a state.
pub(super) struct SeenValues<S> {
    schemas: NothingExists<S>,
    known: BTreeMap<AbsResource, BTreeMap<InstanceKey, Value>>,
}

impl<S: SchemaSource> SeenValues<S> {
    pub(super) fn new(schemas: S, seen: &Seen<'_>) -> Self {
        let mut known: BTreeMap<AbsResource, BTreeMap<InstanceKey, Value>> = BTreeMap::new();
        match seen {
            Seen::Plan(plan) => {
                // What is only looked at is as it is.
                add_state(&mut known, &plan.prior_state, &schemas);
                for (address, value) in &plan.data {
                    known.entry(address.resource()).or_default().insert(address.key().clone(), value.clone());
                }
                for change in plan.changes.iter().filter(|change| change.deposed.is_none()) {
                    let instances = known.entry(change.address.resource()).or_default();
                    if change.after.is_null() {
                        instances.remove(change.address.key());
                    } else {
                        instances.insert(change.address.key().clone(), change.after.clone());
                    }
                }
            }
            Seen::State(state) => add_state(&mut known, state, &schemas),
        }
        Self { schemas: NothingExists(schemas), known }
    }
}

fn add_state(
    known: &mut BTreeMap<AbsResource, BTreeMap<InstanceKey, Value>>,
    state: &State,
    schemas: &impl SchemaSource,
) {
    for (address, resource) in &state.resources {
        let Some(schema) = schemas.resource(&resource.provider.provider, address.resource.mode, &address.resource.ty)
        else {
            continue;
        };
        let current = resource.instances.iter().filter_map(|(key, instance)| Some((key, instance.current.as_ref()?)));
        let values = current.map(|(key, object)| (key.clone(), Object::as_last_seen(object, &schema)));
        known.entry(address.clone()).or_default().extend(values);
    }
}

impl<S: SchemaSource> SchemaSource for SeenValues<S> {
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

impl<S: SchemaSource> ResourceOracle for SeenValues<S> {
    fn value(&self, module: &str, resource: &Resource) -> Value {
        if resource.key.mode == ResourceMode::Ephemeral {
            return Value::dynamic().mark(Mark::Ephemeral);
        }
        let address = if module.is_empty() { resource.key.to_string() } else { format!("{module}.{}", resource.key) };
        let instances = address.parse::<AbsResource>().ok().and_then(|address| self.known.get(&address));
        let nothing = BTreeMap::new();
        let instances = match (instances, &resource.repetition) {
            (Some(instances), _) => instances,
            // None of them was made.
            (None, Repetition::Count(_) | Repetition::ForEach(_)) => &nothing,
            (None, _) => return self.schemas.value(module, resource),
        };
        match resource.repetition {
            Repetition::Once | Repetition::Enabled(_) => {
                let only = instances.iter().find(|(key, _)| key.is_none());
                only.map_or_else(|| Value::null(Type::Dynamic), |(_, value)| value.clone())
            }
            Repetition::Count(_) => {
                let numbered = instances.iter().filter(|(key, _)| matches!(key, InstanceKey::Int(_)));
                Value::tuple(numbered.map(|(_, value)| value.clone()).collect())
            }
            Repetition::ForEach(_) => Value::object(instances.iter().filter_map(|(key, value)| match key {
                InstanceKey::String(key) => Some((key.clone(), value.clone())),
                InstanceKey::None | InstanceKey::Int(_) => None,
            })),
        }
    }
}
