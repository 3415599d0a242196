//! The providers of a book, as the engine asks for them: one process for each provider configuration.

use std::sync::Arc;

use async_trait::async_trait;
use groma_engine::providers::Providers;
use groma_model::address::{Provider as Address, ProviderInstance};
use groma_model::diag::Diagnostics;
use groma_provider::api::{Provider, ProviderSchema};

use crate::providers::ProviderBook;

/// Hands out the providers of a book.
pub(super) struct BookProviders {
    book: Arc<ProviderBook>,
}

impl BookProviders {
    pub(super) fn new(book: Arc<ProviderBook>) -> Self {
        Self { book }
    }
}

#[async_trait]
impl Providers for BookProviders {
    fn schema(&self, provider: &Address) -> Option<Arc<ProviderSchema>> {
        self.book.shared_schema(provider)
    }

    async fn start(&self, instance: &ProviderInstance) -> Result<Arc<dyn Provider>, Diagnostics> {
        self.book.start(instance).await
    }
}
