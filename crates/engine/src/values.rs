//! What resources are, as expressions see them while a plan is made or carried out.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, PoisonError, RwLock};

use groma_lang::config::{Expr, ProviderSource, Repetition, Resource, ResourceKey, ResourceMode};
use groma_lang::func::ExternalFunction;
use groma_lang::oracle::{ResourceOracle, SchemaSource};
use groma_lang::walk::{InstanceIndex, Site, Walk};
use groma_model::address::InstanceKey;
use groma_model::convert::convert;
use groma_model::diag::Diagnostics;
use groma_model::mark::Mark;
use groma_model::schema::Schema;
use groma_model::ty::Type;
use groma_model::value::Value;
use groma_state::ObjectState;

use crate::stored::Object;

/// The values of resources, by module instance. Each is set once, when the resource is done.
pub(crate) struct ResourceValues<'a> {
    schemas: &'a dyn SchemaSource,
    known: RwLock<HashMap<String, HashMap<ResourceKey, Value>>>,
}

impl<'a> ResourceValues<'a> {
    /// Nothing yet.
    pub(crate) fn new(schemas: &'a dyn SchemaSource) -> Self {
        Self { schemas, known: RwLock::default() }
    }

    /// Takes the instances of a resource in, with marks. What their schema calls deprecated is marked as such here.
    pub(crate) fn set(
        &self,
        (walk, module): (&Walk<'_>, InstanceIndex),
        resource: &Resource,
        mut instances: Vec<(InstanceKey, Value)>,
    ) {
        let schema = self.schemas.resource(&resource.provider, resource.key.mode, &resource.key.ty);
        if let Some(schema) = schema.filter(|schema| schema.block.contains_deprecated()) {
            let (origin, remote) = (resource.key.to_string(), walk.is_remote(module));
            for (_, value) in &mut instances {
                let marks = schema.block.deprecation_marks(value, &origin, remote);
                *value = std::mem::replace(value, Value::dynamic()).with_path_marks(&marks);
            }
        }
        let module = walk.module_address(module);
        let value = combined(resource, instances);
        let value = if resource.key.mode == ResourceMode::Ephemeral { value.mark(Mark::Ephemeral) } else { value };
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.entry(module.to_owned()).or_default().insert(resource.key.clone(), value);
    }
}

/// The instances of a resource while everything is being taken down: those that are there as they are, and those that were never
/// made as unknown, so that what refers to them can still be evaluated.
pub(crate) fn as_it_was(
    walk: &Walk<'_>,
    module: InstanceIndex,
    resource: &Resource,
    there: BTreeMap<InstanceKey, Value>,
) -> Vec<(InstanceKey, Value)> {
    let (wanted, _) = walk.expand_resource(module, resource);
    let mut instances = there;
    for instance in wanted {
        instances.entry(instance.key).or_insert_with(Value::dynamic);
    }
    instances.into_iter().collect()
}

/// An instance that is left alone: as it was, or not known if it was never made.
pub(crate) fn as_stored(stored: Option<&ObjectState>, schema: Option<&Schema>) -> Value {
    let value = stored.zip(schema).and_then(|(stored, schema)| Object::as_written(stored, schema));
    value.unwrap_or_else(Value::dynamic)
}

/// What an expression of a resource block says that is true or false. None if it is not known.
pub(crate) fn truth(walk: &Walk<'_>, site: Site<'_>, expr: &Expr) -> Result<Option<bool>, Diagnostics> {
    let (value, found) = walk.resource_expr(site, expr);
    if found.has_errors() {
        return Err(found);
    }
    Ok(convert(&value, &Type::Bool).ok().and_then(|value| value.as_bool()))
}

/// Whether an object will be forgotten rather than deleted.
pub(crate) fn skips_destroy(walk: &Walk<'_>, site: Site<'_>) -> Result<bool, Diagnostics> {
    let Some(expr) = &site.resource.managed.destroy else { return Ok(false) };
    Ok(truth(walk, site, expr)? == Some(false))
}

/// One object, or a tuple or object of instances.
fn combined(resource: &Resource, instances: Vec<(InstanceKey, Value)>) -> Value {
    match resource.repetition {
        Repetition::Once | Repetition::Enabled(_) => {
            let only = instances.into_iter().next();
            only.map_or_else(|| Value::null(Type::Dynamic), |(_, value)| value)
        }
        Repetition::Count(_) => Value::tuple(instances.into_iter().map(|(_, value)| value).collect()),
        Repetition::ForEach(_) => {
            let keyed = instances.into_iter().filter_map(|(key, value)| match key {
                InstanceKey::String(key) => Some((key, value)),
                InstanceKey::None | InstanceKey::Int(_) => None,
            });
            Value::object(keyed)
        }
    }
}

impl SchemaSource for ResourceValues<'_> {
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

impl ResourceOracle for ResourceValues<'_> {
    fn value(&self, module: &str, resource: &Resource) -> Value {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let found = known.get(module).and_then(|resources| resources.get(&resource.key));
        found.cloned().unwrap_or_else(Value::dynamic)
    }
}
