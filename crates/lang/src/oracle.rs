//! What the language asks of those who know resources: schemas and values. Declared here, implemented by planning and applying.

use std::sync::Arc;

use groma_model::diag::Diagnostics;
use groma_model::schema::Schema;
use groma_model::ty::Type;
use groma_model::value::Value;

use crate::config::ProviderSource;
use crate::config::{Repetition, Resource, ResourceMode};
use crate::func::ExternalFunction;

/// Knows the schemas of providers.
pub trait SchemaSource: Send + Sync {
    /// The configuration of a provider itself. None if the provider is not known.
    fn provider(&self, provider: &ProviderSource) -> Option<Arc<Schema>>;

    /// The schema of a resource type. None if the provider has no such type.
    fn resource(&self, provider: &ProviderSource, mode: ResourceMode, kind: &str) -> Option<Arc<Schema>>;

    /// A function of a provider. None if it has no such function.
    fn function(&self, provider: &ProviderSource, name: &str) -> Option<Arc<ExternalFunction>> {
        let _ = (provider, name);
        None
    }

    /// What only the provider knows to be wrong with the configuration of a resource. Values have no marks, and may be
    /// unknown.
    fn check_resource(&self, provider: &ProviderSource, mode: ResourceMode, kind: &str, config: &Value) -> Diagnostics {
        let _ = (provider, mode, kind, config);
        Diagnostics::new()
    }

    /// What only the provider knows to be wrong with its own configuration.
    fn check_provider(&self, provider: &ProviderSource, config: &Value) -> Diagnostics {
        let _ = (provider, config);
        Diagnostics::new()
    }
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

    fn function(&self, provider: &ProviderSource, name: &str) -> Option<Arc<ExternalFunction>> {
        self.0.function(provider, name)
    }

    fn check_resource(&self, provider: &ProviderSource, mode: ResourceMode, kind: &str, config: &Value) -> Diagnostics {
        self.0.check_resource(provider, mode, kind, config)
    }

    fn check_provider(&self, provider: &ProviderSource, config: &Value) -> Diagnostics {
        self.0.check_provider(provider, config)
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
