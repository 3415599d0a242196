//! Provider configurations in use. Each is started and configured once, when it is first needed.

use std::sync::atomic::{AtomicBool, Ordering};
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
    /// Whether it is to end what it does as soon as it can, also if it is only just being started.
    stopping: AtomicBool,
    /// What it said when it was started, until somebody asks.
    warnings: Mutex<Diagnostics>,
}

impl Slot {
    /// Not started yet.
    pub(crate) fn new(instance: ProviderInstance, config: Value, providers: Arc<dyn Providers>) -> Self {
        let (config, marked) = (config.clone().unmark_deep().0, config);
        Self {
            instance,
            config,
            marked,
            providers,
            place: None,
            started: OnceCell::new(),
            stopping: AtomicBool::new(false),
            warnings: Mutex::default(),
        }
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

    /// Asks it to end what it does as soon as it can. One that is being started is asked when it is there.
    pub(crate) fn stop(&self) {
        self.stopping.store(true, Ordering::SeqCst);
        if let Some(provider) = self.started.get().cloned().flatten() {
            tokio::spawn(async move { provider.stop().await });
        }
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
        // Whoever asked it to stop while it was being started did not find it.
        if let Some(provider) = started
            && self.stopping.load(Ordering::SeqCst)
        {
            let _ = provider.stop().await;
        }
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

#[cfg(test)]
mod tests {
    use groma_model::address::{InstanceKey, Module, ProviderConfig};
    use groma_provider::api::Answer;
    use tokio::sync::Notify;

    use super::*;

    /// A provider that takes its time to be there, and knows whether it was asked to stop.
    #[derive(Default)]
    struct Late {
        begun: Notify,
        may_start: Notify,
        stopped: Arc<AtomicBool>,
    }

    struct There(Arc<AtomicBool>, ProviderSchema);

    #[async_trait]
    impl Provider for There {
        fn name(&self) -> &'static str {
            "late"
        }

        fn schema(&self) -> &ProviderSchema {
            &self.1
        }

        async fn stop(&self) -> Answer<()> {
            self.0.store(true, Ordering::SeqCst);
            Ok(())
        }
    }

    #[async_trait]
    impl Providers for Late {
        fn schema(&self, _: &ProviderAddress) -> Option<Arc<ProviderSchema>> {
            None
        }

        async fn start(&self, _: &ProviderInstance) -> Result<Arc<dyn Provider>, Diagnostics> {
            self.begun.notify_one();
            self.may_start.notified().await;
            Ok(Arc::new(There(Arc::clone(&self.stopped), ProviderSchema::default())))
        }
    }

    #[tokio::test]
    async fn who_is_only_just_being_started_is_asked_to_stop_as_well() {
        let late = Arc::new(Late::default());
        let provider = ProviderAddress::new("example.com", "ours", "late");
        let config = ProviderConfig { module: Module::root(), provider, alias: None };
        let instance = config.instance(InstanceKey::None);
        let slot = Arc::new(Slot::new(instance, Value::empty_object(), Arc::clone(&late) as Arc<dyn Providers>));
        let getting = tokio::spawn({
            let slot = Arc::clone(&slot);
            async move { slot.get().await.is_ok() }
        });
        late.begun.notified().await;
        slot.stop();
        late.may_start.notify_one();
        assert!(getting.await.unwrap());
        assert!(late.stopped.load(Ordering::SeqCst));
    }
}
