//! The schemas of the providers at hand, as the language asks for them.

use std::sync::Arc;

use groma_lang::builtin_schema::BuiltinSchemas;
use groma_lang::config::{ProviderSource, ResourceMode};
use groma_lang::oracle::SchemaSource;
use groma_model::schema::Schema;

use crate::plan::Providers;

/// Knows the schemas of the given providers and of the built-in one.
pub struct ProviderSchemas<'a>(pub &'a Providers);

impl SchemaSource for ProviderSchemas<'_> {
    fn provider(&self, provider: &ProviderSource) -> Option<Arc<Schema>> {
        let given = self.0.get(provider).map(|known| Arc::new(known.schema().provider.clone()));
        given.or_else(|| BuiltinSchemas.provider(provider))
    }

    fn resource(&self, provider: &ProviderSource, mode: ResourceMode, kind: &str) -> Option<Arc<Schema>> {
        let Some(known) = self.0.get(provider) else { return BuiltinSchemas.resource(provider, mode, kind) };
        let schemas = match mode {
            ResourceMode::Managed => &known.schema().resources,
            ResourceMode::Data => &known.schema().data_sources,
            // Plugins are not asked for these yet.
            ResourceMode::Ephemeral => return None,
        };
        schemas.get(kind).cloned().map(Arc::new)
    }
}
