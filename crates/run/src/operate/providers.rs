//! The providers of a book, as the engine asks for them: one process for each provider configuration.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use groma_engine::providers::Providers;
use groma_model::address::{Provider as Address, ProviderInstance};
use groma_model::diag::Diagnostics;
use groma_provider::api::{Provider, ProviderSchema};

use super::reused::Reused;
use super::traced::Traced;
use crate::providers::{ProviderBook, Started};
use crate::trace;

/// Hands out the providers of a book.
pub(crate) struct BookProviders {
    book: Arc<ProviderBook>,
    /// Processes that were started for a configuration.
    plugins: Mutex<BTreeMap<ProviderInstance, Arc<Reused>>>,
}

impl BookProviders {
    pub(crate) fn new(book: Arc<ProviderBook>) -> Self {
        Self { book, plugins: Mutex::default() }
    }

    /// The book.
    pub(crate) fn book(&self) -> &ProviderBook {
        &self.book
    }

    fn started(&self, instance: &ProviderInstance) -> Option<Arc<Reused>> {
        self.plugins.lock().unwrap_or_else(PoisonError::into_inner).get(instance).cloned()
    }
}

#[async_trait]
impl Providers for BookProviders {
    fn schema(&self, provider: &Address) -> Option<Arc<ProviderSchema>> {
        self.book.shared_schema(provider)
    }

    async fn start(&self, instance: &ProviderInstance) -> Result<Arc<dyn Provider>, Diagnostics> {
        let provider = self.untraced(instance).await?;
        Ok(if trace::is_wanted() { Arc::new(Traced(provider)) } else { provider })
    }
}

impl BookProviders {
    async fn untraced(&self, instance: &ProviderInstance) -> Result<Arc<dyn Provider>, Diagnostics> {
        if let Some(known) = self.started(instance) {
            return Ok(known);
        }
        match self.book.start(instance, 0).await? {
            Started::InProcess(provider) => Ok(provider),
            Started::Plugin(provider) => {
                let plugin = Arc::new(Reused::new(Arc::clone(&self.book), instance.clone(), provider));
                let mut plugins = self.plugins.lock().unwrap_or_else(PoisonError::into_inner);
                plugins.insert(instance.clone(), Arc::clone(&plugin));
                Ok(plugin)
            }
        }
    }
}
