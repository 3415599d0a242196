//! What the language asks of those who know resources: schemas and values. Declared here, implemented by planning and applying.

use std::sync::Arc;

use groma_model::schema::Schema;
use groma_model::ty::Type;
use groma_model::value::Value;

use crate::config::ProviderSource;
use crate::config::{Repetition, Resource, ResourceMode};

/// Knows the schemas of providers.
pub trait SchemaSource: Send + Sync {
    /// The configuration of a provider itself. None if the provider is not known.
    fn provider(&self, provider: &ProviderSource) -> Option<Arc<Schema>>;

    /// The schema of a resource type. None if the provider has no such type.
    fn resource(&self, provider: &ProviderSource, mode: ResourceMode, kind: &str) -> Option<Arc<Schema>>;
}

/// Knows the values of resources.
pub trait ResourceOracle: SchemaSource {
    /// The value of a resource as expressions see it: one object, or a tuple or object of instances.
    /// `module` is the address of the module instance, e.g. `module.a["x"]`.
    fn value(&self, module: &str, resource: &Resource) -> Value;
}

/// An oracle for which nothing exists yet: every resource is unknown, of the type that its schema says.
pub struct NothingExists<S>(pub S);

impl<S: SchemaSource> SchemaSource for NothingExists<S> {
    fn provider(&self, provider: &ProviderSource) -> Option<Arc<Schema>> {
        self.0.provider(provider)
    }

    fn resource(&self, provider: &ProviderSource, mode: ResourceMode, kind: &str) -> Option<Arc<Schema>> {
        self.0.resource(provider, mode, kind)
    }
}

impl<S: SchemaSource> ResourceOracle for NothingExists<S> {
    fn value(&self, _module: &str, resource: &Resource) -> Value {
        let schema = self.resource(&resource.provider, resource.key.mode, &resource.key.ty);
        let ty = schema.map_or(Type::Dynamic, |schema| schema.block.implied_type());
        let value = match resource.repetition {
            Repetition::Count(_) | Repetition::ForEach(_) => Value::dynamic(),
            Repetition::Once | Repetition::Enabled(_) => Value::unknown(ty),
        };
        match resource.key.mode {
            ResourceMode::Ephemeral => value.mark(groma_model::mark::Mark::Ephemeral),
            ResourceMode::Managed | ResourceMode::Data => value,
        }
    }
}
