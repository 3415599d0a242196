//! The provider itself: who answers which call.

use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::path::Path;
use groma_model::text::Str;
use groma_model::value::Value;
use groma_provider::api::{
    Answer, ApplyRequest, ApplyResponse, CallFunctionRequest, CallFunctionResponse, ConfigureRequest, EphemeralObject,
    EphemeralRenewal, ImportRequest, ImportResponse, ListRequest, ListSink, MoveRequest, MoveResponse, OpenRequest,
    PlanRequest, PlanResponse, Private, Provider, ProviderSchema, ReadDataRequest, ReadDataResponse, ReadRequest,
    ReadResponse, UpgradeRequest, UpgradeResponse,
};
use groma_provider::wire::ProtocolVersion;

use crate::{note, others, schema};

pub(crate) struct Served {
    pub(crate) schema: ProviderSchema,
    prefix: Mutex<Str>,
}

impl Served {
    pub(crate) fn new(protocol: ProtocolVersion) -> Self {
        Self { schema: schema::schema(protocol), prefix: Mutex::new("".into()) }
    }

    pub(crate) fn prefix(&self) -> Str {
        self.prefix.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The text of an attribute, if there is one.
pub(crate) fn text<'a>(object: &'a Value, name: &str) -> Option<&'a str> {
    object.as_entries()?.get(name)?.as_str()
}

#[async_trait]
impl Provider for Served {
    fn name(&self) -> &'static str {
        "served"
    }

    fn schema(&self) -> &ProviderSchema {
        &self.schema
    }

    async fn validate_provider(&self, config: Value) -> Answer<Diagnostics> {
        let mut found = Diagnostics::new();
        if text(&config, "prefix") == Some("bad") {
            let problem = Diagnostic::error("Bad prefix", "It is bad.").at_path(Path::root().attr("prefix"));
            found.push(problem);
        }
        Ok(found)
    }

    async fn configure(&self, request: ConfigureRequest) -> Answer<Diagnostics> {
        tracing::info!(version = %request.terraform_version, "configured");
        *self.prefix.lock().unwrap_or_else(PoisonError::into_inner) =
            text(&request.config, "prefix").unwrap_or_default().into();
        Ok(Diagnostics::new())
    }

    async fn validate_resource(&self, _: &str, config: Value) -> Answer<Diagnostics> {
        Ok(note::validate(&config))
    }

    async fn upgrade(&self, request: UpgradeRequest) -> Answer<UpgradeResponse> {
        if request.version == 0 {
            Ok(note::upgrade_from_0(self, &request.state))
        } else {
            // The server knows how to read what has not changed.
            Err(self.unsupported("UpgradeResourceState", &request.type_name))
        }
    }

    async fn read(&self, request: ReadRequest) -> Answer<ReadResponse> {
        Ok(note::read(request))
    }

    async fn plan(&self, request: PlanRequest) -> Answer<PlanResponse> {
        Ok(note::plan(request))
    }

    async fn apply(&self, request: ApplyRequest) -> Answer<ApplyResponse> {
        Ok(note::apply(self, request))
    }

    async fn import(&self, request: ImportRequest) -> Answer<ImportResponse> {
        Ok(note::import(self, request))
    }

    async fn move_state(&self, request: MoveRequest) -> Answer<MoveResponse> {
        Ok(note::take_over(self, &request))
    }

    async fn generate_config(&self, _: &str, object: Value) -> Answer<(Value, Diagnostics)> {
        Ok((note::config_of(&object), Diagnostics::new()))
    }

    async fn read_data(&self, request: ReadDataRequest) -> Answer<ReadDataResponse> {
        Ok(others::echo(self, request))
    }

    async fn open_ephemeral(&self, request: OpenRequest) -> Answer<EphemeralObject> {
        Ok(others::open(&request))
    }

    async fn renew_ephemeral(&self, _: &str, private: Private) -> Answer<EphemeralRenewal> {
        Ok(others::renew(private))
    }

    async fn close_ephemeral(&self, _: &str, private: Private) -> Answer<Diagnostics> {
        Ok(others::close(&private))
    }

    async fn call_function(&self, request: CallFunctionRequest) -> Answer<CallFunctionResponse> {
        Ok(others::shout(&request))
    }

    async fn list(&self, request: ListRequest, sink: &mut dyn ListSink) -> Answer<()> {
        note::list(self, &request, sink);
        Ok(())
    }
}
