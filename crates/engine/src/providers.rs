//! Provider configurations in use. Each is started and configured once, when it is first needed.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use groma_model::address::{Provider as ProviderAddress, ProviderInstance};
use groma_model::diag::Diagnostics;
use groma_model::span::Span;
use groma_model::text::Str;
use groma_model::value::Value;
use groma_provider::api::{ClientCapabilities, ConfigureRequest, Provider, ProviderSchema};
use tokio::sync::OnceCell;

/// Where providers come from.
#[async_trait]
pub trait Providers: Send + Sync {
    /// What a provider offers. None if it is not there.
    fn schema(&self, provider: &ProviderAddress) -> Option<Arc<ProviderSchema>>;

    /// Starts one for a configuration. It is configured by whoever asked.
    async fn start(&self, instance: &ProviderInstance) -> Result<Arc<dyn Provider>, Diagnostics>;
}

/// Providers judge configurations by this; see the compatibility promise.
pub const TERRAFORM_VERSION: &str = "1.12.0";

/// One provider configuration with its values.
pub(crate) struct Slot {
    instance: ProviderInstance,
    config: Value,
    /// The same with its marks.
    marked: Value,
    providers: Arc<dyn Providers>,
    /// Where it is configured, if anywhere.
    place: Option<Span>,
    started: OnceCell<Option<Arc<dyn Provider>>>,
    /// What it said when it was started, until somebody asks.
    warnings: Mutex<Diagnostics>,
}

impl Slot {
    /// Not started yet.
    pub(crate) fn new(instance: ProviderInstance, config: Value, providers: Arc<dyn Providers>) -> Self {
        let (config, marked) = (config.clone().unmark_deep().0, config);
        Self { instance, config, marked, providers, place: None, started: OnceCell::new(), warnings: Mutex::default() }
    }

    /// Configured by the block at that place.
    pub(crate) fn at(mut self, place: Option<Span>) -> Self {
        self.place = place;
        self
    }

    /// What it said when it was started, once.
    pub(crate) fn take_warnings(&self) -> Diagnostics {
        std::mem::take(&mut self.warnings.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Which configuration.
    pub(crate) fn instance(&self) -> &ProviderInstance {
        &self.instance
    }

    /// The provider, if it was started.
    pub(crate) fn started(&self) -> Option<Arc<dyn Provider>> {
        self.started.get().cloned().flatten()
    }

    /// What it is configured with.
    pub(crate) fn config(&self) -> &Value {
        &self.config
    }

    /// The provider, started and configured. Who comes first is told what went wrong; everybody else only that it did.
    pub(crate) async fn get(&self) -> Result<Arc<dyn Provider>, Diagnostics> {
        let mut found = Diagnostics::new();
        let started = self
            .started
            .get_or_init(|| async {
                match self.start().await {
                    Ok((provider, warnings)) => {
                        self.warnings.lock().unwrap_or_else(PoisonError::into_inner).extend(self.placed(warnings));
                        Some(provider)
                    }
                    Err(errors) => {
                        found = self.placed(errors);
                        None
                    }
                }
            })
            .await;
        started.clone().ok_or(found)
    }

    fn placed(&self, found: Diagnostics) -> Diagnostics {
        let Some(place) = self.place else { return found };
        found.into_iter().map(|diagnostic| diagnostic.or_at(place)).collect()
    }

    async fn start(&self) -> Result<(Arc<dyn Provider>, Diagnostics), Diagnostics> {
        let provider = self.providers.start(&self.instance).await?;
        provider.keep_secret(&self.marked);
        let mut diagnostics =
            provider.validate_provider(self.config.clone()).await.map_err(|error| error.diagnostic())?;
        if !diagnostics.has_errors() {
            let request = ConfigureRequest {
                terraform_version: Str::from(TERRAFORM_VERSION),
                config: self.config.clone(),
                capabilities: ClientCapabilities::default(),
            };
            diagnostics.extend(provider.configure(request).await.map_err(|error| error.diagnostic())?);
        }
        if diagnostics.has_errors() { Err(diagnostics) } else { Ok((provider, diagnostics)) }
    }
}
