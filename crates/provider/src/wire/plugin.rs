//! A plugin process as a [`Provider`].

use std::path::Path;

use async_trait::async_trait;
use groma_model::diag::Diagnostics;
use groma_model::ty::Type;
use groma_model::value::Value;
use hyper_util::rt::TokioIo;
use tokio::net::UnixStream;
use tokio::sync::Mutex;
use tonic::transport::{Channel, Endpoint, Uri};
use tower::service_fn;

use super::convert::{self, ConvertError};
use super::generated::plugin::Empty;
use super::generated::plugin::grpc_controller_client::GrpcControllerClient;
use super::generated::tfplugin5 as wire;
use super::generated::tfplugin5::provider_client::ProviderClient;
use super::process::{Process, StartError};
use crate::api::{
    ApplyRequest, ApplyResponse, CallError, ConfigureRequest, Outcome, PlanRequest, PlanResponse, Private, Provider,
    ProviderSchema, RawState, ReadRequest, ReadResponse, UpgradeRequest, UpgradeResponse,
};

/// Schemas of large providers have many megabytes.
const MAX_MESSAGE_BYTES: usize = 256 << 20;

/// How long a plugin may take to end by itself.
const SHUTDOWN_PATIENCE: std::time::Duration = std::time::Duration::from_secs(2);

/// A provider in a process of its own.
pub struct PluginProvider {
    name: String,
    schema: ProviderSchema,
    client: ProviderClient<Channel>,
    controller: GrpcControllerClient<Channel>,
    process: Mutex<Process>,
}

/// Why a plugin could not be made ready.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// It could not be started.
    #[error(transparent)]
    Start(#[from] StartError),
    /// It did not tell its schema.
    #[error(transparent)]
    Call(#[from] CallError),
}

impl PluginProvider {
    /// Starts a plugin and asks for its schema.
    pub async fn open(program: &Path) -> Result<Self, OpenError> {
        let name = program.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let process = Process::start(program).await?;
        let channel =
            connect(&process).await.map_err(|source| StartError::Connect { program: name.clone(), source })?;
        let mut client = ProviderClient::new(channel.clone())
            .max_decoding_message_size(MAX_MESSAGE_BYTES)
            .max_encoding_message_size(MAX_MESSAGE_BYTES);
        let calls = Calls { provider: &name };
        let response = calls.sent("GetSchema", client.get_schema(wire::get_provider_schema::Request {}).await)?;
        let schema = calls.decoded("GetSchema", provider_schema(response))?;
        Ok(Self { name, schema, client, controller: GrpcControllerClient::new(channel), process: Mutex::new(process) })
    }

    fn calls(&self) -> Calls<'_> {
        Calls { provider: &self.name }
    }

    fn resource_type(&self, call: &'static str, type_name: &str) -> Result<Type, CallError> {
        let Some(schema) = self.schema.resources.get(type_name) else { return Err(self.unsupported(call, type_name)) };
        let schema = schema.get().map_err(|source| CallError::Schema { provider: self.name.clone(), source })?;
        Ok(schema.block.implied_type())
    }
}

async fn connect(process: &Process) -> Result<Channel, tonic::transport::Error> {
    let socket = process.handshake.socket.clone();
    let connector = service_fn(move |_: Uri| {
        let socket = socket.clone();
        async move { UnixStream::connect(socket).await.map(TokioIo::new) }
    });
    // The address is not used, but there must be one.
    Endpoint::from_static("http://plugin.invalid").connect_with_connector(connector).await
}

fn provider_schema(response: wire::get_provider_schema::Response) -> Result<ProviderSchema, ConvertError> {
    let all = |schemas: std::collections::HashMap<String, wire::Schema>| {
        schemas.into_iter().map(|(name, schema)| Ok((name.into(), convert::schema(Some(schema))?.into()))).collect()
    };
    let resources: Result<_, ConvertError> = all(response.resource_schemas);
    let data_sources: Result<_, ConvertError> = all(response.data_source_schemas);
    Ok(ProviderSchema {
        provider: response.provider.map(|schema| convert::schema(Some(schema))).transpose()?.unwrap_or_default().into(),
        resources: resources?,
        data_sources: data_sources?,
        ..ProviderSchema::default()
    })
}

/// Turns what can go wrong with a call into our own errors.
struct Calls<'a> {
    provider: &'a str,
}

impl Calls<'_> {
    fn sent<T>(&self, call: &'static str, result: Result<tonic::Response<T>, tonic::Status>) -> Result<T, CallError> {
        result.map(tonic::Response::into_inner).map_err(|status| CallError::Gone {
            provider: self.provider.to_owned(),
            call,
            message: format!("{:?}: {}", status.code(), status.message()),
            last_output: Vec::new(),
        })
    }

    fn decoded<T>(&self, call: &'static str, result: Result<T, ConvertError>) -> Result<T, CallError> {
        result.map_err(|error| CallError::Malformed {
            provider: self.provider.to_owned(),
            call,
            message: error.to_string(),
        })
    }
}

/// The same with every call, or providers complain.
const CAPABILITIES: wire::ClientCapabilities =
    wire::ClientCapabilities { deferral_allowed: false, write_only_attributes_allowed: true };

#[async_trait]
impl Provider for PluginProvider {
    fn name(&self) -> &str {
        &self.name
    }

    fn schema(&self) -> &ProviderSchema {
        &self.schema
    }

    async fn configure(&self, request: ConfigureRequest) -> Result<Diagnostics, CallError> {
        const CALL: &str = "Configure";
        let schema = self.schema.provider.get();
        let schema = schema.map_err(|source| CallError::Schema { provider: self.name.clone(), source })?;
        let ty = schema.block.implied_type();
        let request = wire::configure::Request {
            terraform_version: request.terraform_version.to_string(),
            config: Some(self.calls().decoded(CALL, convert::to_wire(&request.config, &ty))?),
            client_capabilities: Some(CAPABILITIES),
        };
        let response = self.calls().sent(CALL, self.client.clone().configure(request).await)?;
        Ok(convert::diagnostics(response.diagnostics))
    }

    async fn validate_resource(&self, type_name: &str, config: Value) -> Result<Diagnostics, CallError> {
        const CALL: &str = "ValidateResourceTypeConfig";
        let ty = self.resource_type(CALL, type_name)?;
        let request = wire::validate_resource_type_config::Request {
            type_name: type_name.to_owned(),
            config: Some(self.calls().decoded(CALL, convert::to_wire(&config, &ty))?),
            client_capabilities: Some(CAPABILITIES),
        };
        let response = self.calls().sent(CALL, self.client.clone().validate_resource_type_config(request).await)?;
        Ok(convert::diagnostics(response.diagnostics))
    }

    async fn upgrade(&self, request: UpgradeRequest) -> Result<UpgradeResponse, CallError> {
        const CALL: &str = "UpgradeResourceState";
        let ty = self.resource_type(CALL, &request.type_name)?;
        let raw_state = match request.state {
            RawState::Json(json) => wire::RawState { json: json.into(), ..wire::RawState::default() },
            RawState::Flatmap(entries) => {
                wire::RawState { flatmap: entries.into_iter().collect(), ..wire::RawState::default() }
            }
        };
        let request = wire::upgrade_resource_state::Request {
            type_name: request.type_name.to_string(),
            version: request.version,
            raw_state: Some(raw_state),
        };
        let response = self.calls().sent(CALL, self.client.clone().upgrade_resource_state(request).await)?;
        let value = self.calls().decoded(CALL, convert::from_wire(response.upgraded_state, &ty))?;
        Ok(UpgradeResponse { value, diagnostics: convert::diagnostics(response.diagnostics) })
    }

    async fn read(&self, request: ReadRequest) -> Result<ReadResponse, CallError> {
        const CALL: &str = "ReadResource";
        let ty = self.resource_type(CALL, &request.type_name)?;
        let request = wire::read_resource::Request {
            type_name: request.type_name.to_string(),
            current_state: Some(self.calls().decoded(CALL, convert::to_wire(&request.current, &ty))?),
            private: request.private.0.into(),
            provider_meta: None,
            client_capabilities: Some(CAPABILITIES),
        };
        let response = self.calls().sent(CALL, self.client.clone().read_resource(request).await)?;
        Ok(ReadResponse {
            object: self.calls().decoded(CALL, convert::from_wire(response.new_state, &ty))?,
            private: Private(response.private.to_vec()),
            identity: None,
            deferred: None,
            diagnostics: convert::diagnostics(response.diagnostics),
        })
    }

    async fn plan(&self, request: PlanRequest) -> Result<PlanResponse, CallError> {
        const CALL: &str = "PlanResourceChange";
        let ty = self.resource_type(CALL, &request.type_name)?;
        let encode = |value: &Value| self.calls().decoded(CALL, convert::to_wire(value, &ty)).map(Some);
        let message = wire::plan_resource_change::Request {
            type_name: request.type_name.to_string(),
            prior_state: encode(&request.prior)?,
            proposed_new_state: encode(&request.proposed)?,
            config: encode(&request.config)?,
            prior_private: request.prior_private.0.into(),
            provider_meta: None,
            client_capabilities: Some(CAPABILITIES),
        };
        let response = self.calls().sent(CALL, self.client.clone().plan_resource_change(message).await)?;
        Ok(PlanResponse {
            planned: self.calls().decoded(CALL, convert::from_wire(response.planned_state, &ty))?,
            requires_replace: response.requires_replace.into_iter().map(convert::path).collect(),
            private: Private(response.planned_private.to_vec()),
            identity: None,
            deferred: None,
            legacy_type_system: response.legacy_type_system,
            diagnostics: convert::diagnostics(response.diagnostics),
        })
    }

    async fn apply(&self, request: ApplyRequest) -> Result<ApplyResponse, CallError> {
        const CALL: &str = "ApplyResourceChange";
        let ty = self.resource_type(CALL, &request.type_name)?;
        let encode = |value: &Value| self.calls().decoded(CALL, convert::to_wire(value, &ty)).map(Some);
        let message = wire::apply_resource_change::Request {
            type_name: request.type_name.to_string(),
            prior_state: encode(&request.prior)?,
            planned_state: encode(&request.planned)?,
            config: encode(&request.config)?,
            planned_private: request.planned_private.0.into(),
            provider_meta: None,
        };
        let response = self.calls().sent(CALL, self.client.clone().apply_resource_change(message).await)?;
        let object = self.calls().decoded(CALL, convert::from_wire(response.new_state, &ty))?;
        let diagnostics = convert::diagnostics(response.diagnostics);
        Ok(ApplyResponse {
            outcome: Outcome::of(&request.prior, &object, &diagnostics),
            object,
            private: Private(response.private.to_vec()),
            identity: None,
            legacy_type_system: response.legacy_type_system,
            diagnostics,
        })
    }

    async fn shutdown(&self) -> Result<(), CallError> {
        // The plugin closes the connection instead of answering, so the answer says nothing.
        let _ = self.controller.clone().shutdown(Empty {}).await;
        let mut process = self.process.lock().await;
        if tokio::time::timeout(SHUTDOWN_PATIENCE, process.child.wait()).await.is_err() {
            // Already gone is as good.
            let _ = process.child.kill().await;
        }
        Ok(())
    }
}
