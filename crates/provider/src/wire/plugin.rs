//! A plugin process as a [`Provider`]. What is asked and answered is in the modules below, by subject.

mod caller;
mod ephemeral;
mod function;
mod import;
mod list;
mod open;
mod resource;
mod schema;
mod validate;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use groma_model::diag::Diagnostics;
use groma_model::schema::FunctionSignature;
use groma_model::text::Str;
use groma_model::value::Value;

use super::calls::Rpc;
use super::connection::Connection;
use super::convert;
use super::generated::tfplugin as wire;
use crate::api::{
    Answer, ApplyRequest, ApplyResponse, CallError, CallFunctionRequest, CallFunctionResponse, ClientCapabilities,
    ConfigureRequest, EphemeralObject, EphemeralRenewal, ImportRequest, ImportResponse, ListRequest, ListSink,
    Metadata, MoveRequest, MoveResponse, OpenRequest, PlanRequest, PlanResponse, Private, Provider, ProviderSchema,
    ReadDataRequest, ReadDataResponse, ReadRequest, ReadResponse, UpgradeIdentityRequest, UpgradeRequest,
    UpgradeResponse,
};
use caller::Caller;
use schema::{Kind, Typed};

pub use open::OpenError;
pub use schema::PluginSchema;
pub(super) use schema::RawSchema;

/// Functions by name.
type Functions = BTreeMap<Str, Arc<FunctionSignature>>;

/// A provider in a process of its own.
#[derive(Debug)]
pub struct PluginProvider {
    connection: Connection,
    schema: Arc<PluginSchema>,
    /// The same in every call, or the provider complains. The configuration decides.
    capabilities: Mutex<ClientCapabilities>,
    /// Functions that it told of later.
    functions: Mutex<Functions>,
}

impl PluginProvider {
    /// What it offers, to be shared with other processes of the same program.
    pub fn plugin_schema(&self) -> &Arc<PluginSchema> {
        &self.schema
    }

    /// What it printed last.
    pub fn last_output(&self) -> Vec<String> {
        self.connection.last_output()
    }

    fn caller<'a>(&'a self, rpc: Rpc, about: &'a str) -> Caller<'a> {
        Caller::new(&self.connection, rpc, about)
    }

    fn capabilities(&self) -> wire::ClientCapabilities {
        let capabilities = *self.capabilities.lock().unwrap_or_else(PoisonError::into_inner);
        convert::client_capabilities_to_wire(capabilities)
    }

    fn set_capabilities(&self, capabilities: ClientCapabilities) {
        *self.capabilities.lock().unwrap_or_else(PoisonError::into_inner) = capabilities;
    }

    /// The schema of what a call is about.
    fn typed(&self, caller: Caller<'_>, kind: Kind, name: &str) -> Answer<Arc<Typed>> {
        let found = self.schema.of(kind, name).map_err(|source| self.bad_schema(source))?;
        found.ok_or_else(|| caller.unsupported())
    }

    fn bad_schema(&self, source: crate::api::SchemaError) -> CallError {
        CallError::Schema { provider: self.connection.name.clone(), source }
    }

    /// What the module says about itself. Providers that want to know are told null if it says nothing.
    fn meta(&self, caller: Caller<'_>, given: Option<&Value>) -> Answer<Option<wire::DynamicValue>> {
        let Some(typed) = self.schema.provider_meta().map_err(|source| self.bad_schema(source))? else {
            return Ok(None);
        };
        match given {
            Some(value) => encoded(caller, typed, value),
            None => encoded(caller, typed, &Value::null(typed.ty.clone())),
        }
    }
}

/// A value of a request.
fn encoded(caller: Caller<'_>, typed: &Typed, value: &Value) -> Answer<Option<wire::DynamicValue>> {
    caller.learn(value, typed);
    typed.encode(value).map(Some).map_err(|error| caller.unfit(error.to_string()))
}

/// The identity in a request. Types without identities have none to send.
fn encoded_identity(
    caller: Caller<'_>,
    typed: &Typed,
    identity: Option<&Value>,
) -> Answer<Option<wire::ResourceIdentityData>> {
    let (Some(identity), Some(ty)) = (identity, &typed.identity) else { return Ok(None) };
    let sent = convert::identity_to_wire(identity, ty);
    sent.map(Some).map_err(|error| caller.unfit(format!("its identity: {error}")))
}

/// The object of an answer. What the provider reports goes before what is wrong with the object that comes with it.
fn decoded(
    caller: Caller<'_>,
    typed: &Typed,
    object: Option<wire::DynamicValue>,
    diagnostics: &Diagnostics,
) -> Answer<Value> {
    match typed.decode(object) {
        Ok(object) => {
            caller.learn(&object, typed);
            Ok(object)
        }
        Err(_) if diagnostics.has_errors() => Ok(Value::null(typed.ty.clone())),
        Err(error) => Err(caller.malformed(error.to_string())),
    }
}

/// The identity of an answer.
fn decoded_identity(
    caller: Caller<'_>,
    typed: &Typed,
    identity: Option<wire::ResourceIdentityData>,
    diagnostics: &Diagnostics,
) -> Answer<Option<Value>> {
    let Some(ty) = &typed.identity else { return Ok(None) };
    match convert::identity_from_wire(identity, ty) {
        Ok(identity) => Ok(identity),
        Err(_) if diagnostics.has_errors() => Ok(None),
        Err(error) => Err(caller.malformed(format!("its identity: {error}"))),
    }
}

#[async_trait]
impl Provider for PluginProvider {
    fn name(&self) -> &str {
        &self.connection.name
    }

    fn schema(&self) -> &ProviderSchema {
        self.schema.schema()
    }

    fn keep_secret(&self, value: &Value) {
        self.connection.secrets.learn_marked(value);
    }

    async fn metadata(&self) -> Answer<Metadata> {
        self.ask_metadata().await
    }

    async fn validate_provider(&self, config: Value) -> Answer<Diagnostics> {
        self.ask_validate_provider(&config).await
    }

    async fn configure(&self, request: ConfigureRequest) -> Answer<Diagnostics> {
        self.ask_configure(request).await
    }

    async fn validate_resource(&self, type_name: &str, config: Value) -> Answer<Diagnostics> {
        self.ask_validate_resource(type_name, &config).await
    }

    async fn validate_data_source(&self, type_name: &str, config: Value) -> Answer<Diagnostics> {
        self.ask_validate_data_source(type_name, &config).await
    }

    async fn validate_ephemeral(&self, type_name: &str, config: Value) -> Answer<Diagnostics> {
        self.ask_validate_ephemeral(type_name, &config).await
    }

    async fn validate_list(&self, type_name: &str, config: Value) -> Answer<Diagnostics> {
        self.ask_validate_list(type_name, &config).await
    }

    async fn upgrade(&self, request: UpgradeRequest) -> Answer<UpgradeResponse> {
        self.ask_upgrade(request).await
    }

    async fn upgrade_identity(&self, request: UpgradeIdentityRequest) -> Answer<UpgradeResponse> {
        self.ask_upgrade_identity(request).await
    }

    async fn read(&self, request: ReadRequest) -> Answer<ReadResponse> {
        self.ask_read(request).await
    }

    async fn plan(&self, request: PlanRequest) -> Answer<PlanResponse> {
        self.ask_plan(request).await
    }

    async fn apply(&self, request: ApplyRequest) -> Answer<ApplyResponse> {
        self.ask_apply(request).await
    }

    async fn import(&self, request: ImportRequest) -> Answer<ImportResponse> {
        self.ask_import(request).await
    }

    async fn move_state(&self, request: MoveRequest) -> Answer<MoveResponse> {
        self.ask_move(request).await
    }

    async fn read_data(&self, request: ReadDataRequest) -> Answer<ReadDataResponse> {
        self.ask_read_data(request).await
    }

    async fn open_ephemeral(&self, request: OpenRequest) -> Answer<EphemeralObject> {
        self.ask_open(request).await
    }

    async fn renew_ephemeral(&self, type_name: &str, private: Private) -> Answer<EphemeralRenewal> {
        self.ask_renew(type_name, private).await
    }

    async fn close_ephemeral(&self, type_name: &str, private: Private) -> Answer<Diagnostics> {
        self.ask_close(type_name, private).await
    }

    async fn functions(&self) -> Answer<Functions> {
        self.ask_functions().await
    }

    async fn call_function(&self, request: CallFunctionRequest) -> Answer<CallFunctionResponse> {
        self.ask_function(request).await
    }

    async fn list(&self, request: ListRequest, sink: &mut dyn ListSink) -> Answer<()> {
        self.ask_list(request, sink).await
    }

    async fn generate_config(&self, type_name: &str, object: Value) -> Answer<(Value, Diagnostics)> {
        self.ask_generate_config(type_name, &object).await
    }

    async fn stop(&self) -> Answer<()> {
        let caller = self.caller(Rpc::StopProvider, "");
        let response: wire::stop_provider::Response = caller.ask(wire::stop_provider::Request {}).await?;
        match response.error.as_str() {
            "" => Ok(()),
            message => Err(caller.refused(message)),
        }
    }

    async fn shutdown(&self) -> Answer<()> {
        self.connection.end().await;
        Ok(())
    }
}
