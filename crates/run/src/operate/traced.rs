//! A provider whose calls are seen in traces: which one, about which type, how long, and whether it failed. Not what with.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
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
use tracing::field::Empty;
use tracing::{Instrument as _, Span};

use crate::trace::TARGET;

/// A provider whose calls are seen.
pub(super) struct Traced(pub(super) Arc<dyn Provider>);

impl Traced {
    fn span(&self, call: &'static str, about: &str) -> Span {
        tracing::info_span!(
            target: TARGET,
            "rpc",
            otel.name = call,
            otel.kind = "client",
            rpc.system = "grpc",
            rpc.service = self.0.name(),
            rpc.method = call,
            groma.resource.type = about,
            otel.status_code = Empty,
            error.type = Empty,
        )
    }

    /// Waits for an answer, and notes whether it is one.
    async fn seen<T>(
        &self,
        (call, about): (&'static str, &str),
        has_errors: impl FnOnce(&T) -> bool,
        answer: impl Future<Output = Answer<T>>,
    ) -> Answer<T> {
        let span = self.span(call, about);
        let answer = answer.instrument(span.clone()).await;
        let kind = match &answer {
            Ok(answer) if has_errors(answer) => "diagnostics",
            Ok(_) => return answer,
            Err(CallError::Gone { .. }) => "gone",
            Err(CallError::Timeout { .. }) => "timeout",
            Err(CallError::Cancelled { .. }) => "cancelled",
            Err(CallError::Unsupported { .. }) => "unsupported",
            Err(_) => "other",
        };
        span.record("otel.status_code", "ERROR");
        span.record("error.type", kind);
        answer
    }
}

#[async_trait]
impl Provider for Traced {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn schema(&self) -> &ProviderSchema {
        self.0.schema()
    }

    fn effects(&self) -> Effects {
        self.0.effects()
    }

    fn keep_secret(&self, value: &Value) {
        self.0.keep_secret(value);
    }

    async fn metadata(&self) -> Answer<Metadata> {
        self.seen(("GetMetadata", ""), |_| false, self.0.metadata()).await
    }

    async fn validate_provider(&self, config: Value) -> Answer<Diagnostics> {
        self.seen(("ValidateProviderConfig", ""), Diagnostics::has_errors, self.0.validate_provider(config)).await
    }

    async fn configure(&self, request: ConfigureRequest) -> Answer<Diagnostics> {
        self.seen(("ConfigureProvider", ""), Diagnostics::has_errors, self.0.configure(request)).await
    }

    async fn validate_resource(&self, type_name: &str, config: Value) -> Answer<Diagnostics> {
        self.seen(
            ("ValidateResourceConfig", type_name),
            Diagnostics::has_errors,
            self.0.validate_resource(type_name, config),
        )
        .await
    }

    async fn validate_data_source(&self, type_name: &str, config: Value) -> Answer<Diagnostics> {
        self.seen(
            ("ValidateDataResourceConfig", type_name),
            Diagnostics::has_errors,
            self.0.validate_data_source(type_name, config),
        )
        .await
    }

    async fn validate_ephemeral(&self, type_name: &str, config: Value) -> Answer<Diagnostics> {
        self.seen(
            ("ValidateEphemeralResourceConfig", type_name),
            Diagnostics::has_errors,
            self.0.validate_ephemeral(type_name, config),
        )
        .await
    }

    async fn validate_list(&self, type_name: &str, config: Value) -> Answer<Diagnostics> {
        self.seen(
            ("ValidateListResourceConfig", type_name),
            Diagnostics::has_errors,
            self.0.validate_list(type_name, config),
        )
        .await
    }

    async fn upgrade(&self, request: UpgradeRequest) -> Answer<UpgradeResponse> {
        let about = request.type_name.clone();
        self.seen(("UpgradeResourceState", &about), |answer| answer.diagnostics.has_errors(), self.0.upgrade(request))
            .await
    }

    async fn upgrade_identity(&self, request: UpgradeIdentityRequest) -> Answer<UpgradeResponse> {
        let about = request.type_name.clone();
        self.seen(
            ("UpgradeResourceIdentity", &about),
            |answer| answer.diagnostics.has_errors(),
            self.0.upgrade_identity(request),
        )
        .await
    }

    async fn read(&self, request: ReadRequest) -> Answer<ReadResponse> {
        let about = request.type_name.clone();
        self.seen(("ReadResource", &about), |answer| answer.diagnostics.has_errors(), self.0.read(request)).await
    }

    async fn plan(&self, request: PlanRequest) -> Answer<PlanResponse> {
        let about = request.type_name.clone();
        self.seen(("PlanResourceChange", &about), |answer| answer.diagnostics.has_errors(), self.0.plan(request)).await
    }

    async fn apply(&self, request: ApplyRequest) -> Answer<ApplyResponse> {
        let about = request.type_name.clone();
        self.seen(("ApplyResourceChange", &about), |answer| answer.diagnostics.has_errors(), self.0.apply(request))
            .await
    }

    async fn import(&self, request: ImportRequest) -> Answer<ImportResponse> {
        let about = request.type_name.clone();
        self.seen(("ImportResourceState", &about), |answer| answer.diagnostics.has_errors(), self.0.import(request))
            .await
    }

    async fn move_state(&self, request: MoveRequest) -> Answer<MoveResponse> {
        let about = request.target_type_name.clone();
        self.seen(("MoveResourceState", &about), |answer| answer.diagnostics.has_errors(), self.0.move_state(request))
            .await
    }

    async fn read_data(&self, request: ReadDataRequest) -> Answer<ReadDataResponse> {
        let about = request.type_name.clone();
        self.seen(("ReadDataSource", &about), |answer| answer.diagnostics.has_errors(), self.0.read_data(request)).await
    }

    async fn open_ephemeral(&self, request: OpenRequest) -> Answer<EphemeralObject> {
        let about = request.type_name.clone();
        self.seen(
            ("OpenEphemeralResource", &about),
            |answer| answer.diagnostics.has_errors(),
            self.0.open_ephemeral(request),
        )
        .await
    }

    async fn renew_ephemeral(&self, type_name: &str, private: Private) -> Answer<EphemeralRenewal> {
        self.seen(
            ("RenewEphemeralResource", type_name),
            |answer| answer.diagnostics.has_errors(),
            self.0.renew_ephemeral(type_name, private),
        )
        .await
    }

    async fn close_ephemeral(&self, type_name: &str, private: Private) -> Answer<Diagnostics> {
        self.seen(
            ("CloseEphemeralResource", type_name),
            Diagnostics::has_errors,
            self.0.close_ephemeral(type_name, private),
        )
        .await
    }

    async fn functions(&self) -> Answer<BTreeMap<Str, Arc<FunctionSignature>>> {
        self.seen(("GetFunctions", ""), |_| false, self.0.functions()).await
    }

    async fn call_function(&self, request: CallFunctionRequest) -> Answer<CallFunctionResponse> {
        let about = request.name.clone();
        self.seen(("CallFunction", &about), |_| false, self.0.call_function(request)).await
    }

    async fn list(&self, request: ListRequest, sink: &mut dyn ListSink) -> Answer<()> {
        let about = request.type_name.clone();
        self.seen(("ListResource", &about), |()| false, self.0.list(request, sink)).await
    }

    async fn generate_config(&self, type_name: &str, object: Value) -> Answer<(Value, Diagnostics)> {
        self.seen(("GenerateResourceConfig", type_name), |_| false, self.0.generate_config(type_name, object)).await
    }

    async fn stop(&self) -> Answer<()> {
        self.seen(("StopProvider", ""), |()| false, self.0.stop()).await
    }

    async fn shutdown(&self) -> Answer<()> {
        self.0.shutdown().await
    }
}
