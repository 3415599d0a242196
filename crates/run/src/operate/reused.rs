//! A plugin that served a plan serves the apply, too, if it gets the same configuration there. A process is configured only
//! once: with another configuration, another one is started.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;
use groma_model::address::ProviderInstance;
use groma_model::diag::Diagnostics;
use groma_model::schema::FunctionSignature;
use groma_model::text::Str;
use groma_model::value::Value;
use groma_provider::api::{
    Answer, ApplyRequest, ApplyResponse, CallError, CallFunctionRequest, CallFunctionResponse, ConfigureRequest,
    Effects, EphemeralObject, EphemeralRenewal, ImportRequest, ImportResponse, ListRequest, ListSink, Metadata,
    MoveRequest, MoveResponse, OpenRequest, PlanRequest, PlanResponse, Private, Provider, ProviderSchema,
    ReadDataRequest, ReadDataResponse, ReadRequest, ReadResponse, UpgradeIdentityRequest, UpgradeRequest,
    UpgradeResponse,
};
use tokio::sync::Mutex;

use crate::providers::{ProviderBook, Started};

/// A plugin for one provider configuration.
pub(super) struct Reused {
    book: Arc<ProviderBook>,
    instance: ProviderInstance,
    /// The one that was started first, for what does not change.
    first: Arc<dyn Provider>,
    current: RwLock<Arc<dyn Provider>>,
    given: Mutex<Given>,
}

/// What it was configured with.
#[derive(Default)]
struct Given {
    config: Option<Value>,
    /// How many processes there were before.
    before: u32,
}

impl Reused {
    /// Around a process that has no configuration yet.
    pub(super) fn new(book: Arc<ProviderBook>, instance: ProviderInstance, first: Arc<dyn Provider>) -> Self {
        let current = RwLock::new(Arc::clone(&first));
        Self { book, instance, first, current, given: Mutex::default() }
    }

    fn current(&self) -> Arc<dyn Provider> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Starts another process in place of one that has another configuration.
    async fn start_another(&self, given: &mut Given) -> Answer<()> {
        given.before += 1;
        given.config = None;
        let started = self.book.start(&self.instance, given.before).await;
        let started = started.map_err(|found| CallError::Gone {
            provider: self.name().to_owned(),
            call: "ConfigureProvider",
            message: told(&found),
            last_output: Vec::new(),
        })?;
        let (Started::InProcess(started) | Started::Plugin(started)) = started;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = started;
        Ok(())
    }
}

fn told(found: &Diagnostics) -> String {
    let texts: Vec<String> = found.iter().map(|found| format!("{}: {}", found.summary, found.detail)).collect();
    texts.join("\n")
}

#[async_trait]
impl Provider for Reused {
    fn name(&self) -> &str {
        self.first.name()
    }

    fn schema(&self) -> &ProviderSchema {
        self.first.schema()
    }

    fn effects(&self) -> Effects {
        self.first.effects()
    }

    fn keep_secret(&self, value: &Value) {
        self.current().keep_secret(value);
    }

    async fn metadata(&self) -> Answer<Metadata> {
        self.current().metadata().await
    }

    async fn validate_provider(&self, config: Value) -> Answer<Diagnostics> {
        self.current().validate_provider(config).await
    }

    async fn configure(&self, request: ConfigureRequest) -> Answer<Diagnostics> {
        let mut given = self.given.lock().await;
        match &given.config {
            // What there was to say was said then.
            Some(config) if *config == request.config => return Ok(Diagnostics::new()),
            Some(_) => self.start_another(&mut given).await?,
            None => {}
        }
        given.config = Some(request.config.clone());
        self.current().configure(request).await
    }

    async fn validate_resource(&self, type_name: &str, config: Value) -> Answer<Diagnostics> {
        self.current().validate_resource(type_name, config).await
    }

    async fn validate_data_source(&self, type_name: &str, config: Value) -> Answer<Diagnostics> {
        self.current().validate_data_source(type_name, config).await
    }

    async fn validate_ephemeral(&self, type_name: &str, config: Value) -> Answer<Diagnostics> {
        self.current().validate_ephemeral(type_name, config).await
    }

    async fn validate_list(&self, type_name: &str, config: Value) -> Answer<Diagnostics> {
        self.current().validate_list(type_name, config).await
    }

    async fn upgrade(&self, request: UpgradeRequest) -> Answer<UpgradeResponse> {
        self.current().upgrade(request).await
    }

    async fn upgrade_identity(&self, request: UpgradeIdentityRequest) -> Answer<UpgradeResponse> {
        self.current().upgrade_identity(request).await
    }

    async fn read(&self, request: ReadRequest) -> Answer<ReadResponse> {
        self.current().read(request).await
    }

    async fn plan(&self, request: PlanRequest) -> Answer<PlanResponse> {
        self.current().plan(request).await
    }

    async fn apply(&self, request: ApplyRequest) -> Answer<ApplyResponse> {
        self.current().apply(request).await
    }

    async fn import(&self, request: ImportRequest) -> Answer<ImportResponse> {
        self.current().import(request).await
    }

    async fn move_state(&self, request: MoveRequest) -> Answer<MoveResponse> {
        self.current().move_state(request).await
    }

    async fn read_data(&self, request: ReadDataRequest) -> Answer<ReadDataResponse> {
        self.current().read_data(request).await
    }

    async fn open_ephemeral(&self, request: OpenRequest) -> Answer<EphemeralObject> {
        self.current().open_ephemeral(request).await
    }

    async fn renew_ephemeral(&self, type_name: &str, private: Private) -> Answer<EphemeralRenewal> {
        self.current().renew_ephemeral(type_name, private).await
    }

    async fn close_ephemeral(&self, type_name: &str, private: Private) -> Answer<Diagnostics> {
        self.current().close_ephemeral(type_name, private).await
    }

    async fn functions(&self) -> Answer<BTreeMap<Str, Arc<FunctionSignature>>> {
        self.current().functions().await
    }

    async fn call_function(&self, request: CallFunctionRequest) -> Answer<CallFunctionResponse> {
        self.current().call_function(request).await
    }

    async fn list(&self, request: ListRequest, sink: &mut dyn ListSink) -> Answer<()> {
        self.current().list(request, sink).await
    }

    async fn generate_config(&self, type_name: &str, object: Value) -> Answer<(Value, Diagnostics)> {
        self.current().generate_config(type_name, object).await
    }

    async fn stop(&self) -> Answer<()> {
        self.current().stop().await
    }

    async fn shutdown(&self) -> Answer<()> {
        self.current().shutdown().await
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use groma_model::address::{Module, Provider as Address, ProviderConfig};
    use groma_provider::api::ClientCapabilities;

    use super::*;

    #[derive(Default)]
    struct Counted {
        schema: ProviderSchema,
        configured: AtomicU32,
    }

    #[async_trait]
    impl Provider for Counted {
        fn name(&self) -> &'static str {
            "counted"
        }

        fn schema(&self) -> &ProviderSchema {
            &self.schema
        }

        async fn configure(&self, _: ConfigureRequest) -> Answer<Diagnostics> {
            self.configured.fetch_add(1, Ordering::SeqCst);
            Ok(Diagnostics::new())
        }
    }

    fn request(text: &str) -> ConfigureRequest {
        ConfigureRequest {
            terraform_version: "1.12.0".into(),
            config: Value::string(text),
            capabilities: ClientCapabilities::default(),
        }
    }

    #[tokio::test]
    async fn a_process_is_configured_once() {
        let instance = ProviderConfig::default_in(Module::root(), Address::new("a.example", "b", "c"));
        let counted = Arc::new(Counted::default());
        let first = Arc::clone(&counted) as Arc<dyn Provider>;
        let reused = Reused::new(Arc::default(), instance.instance(groma_model::address::InstanceKey::None), first);
        assert!(reused.configure(request("x")).await.is_ok());
        assert!(reused.configure(request("x")).await.is_ok());
        assert_eq!(counted.configured.load(Ordering::SeqCst), 1);
        // Another configuration needs another process, and there is none here.
        let problem = reused.configure(request("y")).await.unwrap_err();
        assert!(problem.to_string().contains("Missing required provider"), "{problem}");
        assert_eq!(counted.configured.load(Ordering::SeqCst), 1);
    }
}
