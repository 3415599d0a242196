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
        let given = self.0.get(provider).and_then(|known| known.schema().provider.get().ok().cloned());
        given.or_else(|| BuiltinSchemas.provider(provider))
    }

    fn resource(&self, provider: &ProviderSource, mode: ResourceMode, kind: &str) -> Option<Arc<Schema>> {
        let Some(known) = self.0.get(provider) else { return BuiltinSchemas.resource(provider, mode, kind) };
        let schemas = match mode {
            ResourceMode::Managed => &known.schema().resources,
            ResourceMode::Data => &known.schema().data_sources,
            ResourceMode::Ephemeral => &known.schema().ephemerals,
        };
        schemas.get(kind)?.get().ok().cloned()
    }
}
