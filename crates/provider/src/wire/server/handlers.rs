//! The calls of the provider protocol, answered by a [`Provider`]. Here are those about the provider as a whole.

mod queries;
mod resources;
mod upgrade;

use std::sync::Arc;

use groma_model::value::Value;
use tonic::Status;

use super::answers::{Answered, malformed, refused, unfit};
use super::offer::Offer;
use crate::api::{CallFunctionRequest, ConfigureRequest, Provider};
use crate::wire::convert;
use crate::wire::generated::tfplugin as wire;

pub(super) use queries::list;

/// A provider and what it offers.
pub(super) struct Handlers {
    pub(super) provider: Arc<dyn Provider>,
    pub(super) offer: Offer,
}

impl Handlers {
    pub(super) async fn get_metadata(&self, _: wire::get_metadata::Request) -> Answered<wire::get_metadata::Response> {
        let metadata = self.provider.metadata().await.map_err(refused)?;
        Ok(convert::metadata_to_wire(&metadata, self.provider.schema().capabilities))
    }

    #[expect(clippy::unused_async, reason = "as all handlers")]
    pub(super) async fn get_provider_schema(
        &self,
        _: wire::get_provider_schema::Request,
    ) -> Answered<wire::get_provider_schema::Response> {
        Ok(self.offer.schemas.clone())
    }

    #[expect(clippy::unused_async, reason = "as all handlers")]
    pub(super) async fn get_resource_identity_schemas(
        &self,
        _: wire::get_resource_identity_schemas::Request,
    ) -> Answered<wire::get_resource_identity_schemas::Response> {
        Ok(self.offer.identities.clone())
    }

    #[expect(clippy::unused_async, reason = "as all handlers")]
    pub(super) async fn get_functions(
        &self,
        _: wire::get_functions::Request,
    ) -> Answered<wire::get_functions::Response> {
        let functions = self.offer.schemas.functions.clone();
        Ok(wire::get_functions::Response { functions, diagnostics: Vec::new() })
    }

    pub(super) async fn validate_provider_config(
        &self,
        request: wire::validate_provider_config::Request,
    ) -> Answered<wire::validate_provider_config::Response> {
        let config = self.offer.provider.take(request.config.clone())?;
        let diagnostics = self.provider.validate_provider(config).await.map_err(refused)?;
        Ok(wire::validate_provider_config::Response {
            prepared_config: request.config,
            diagnostics: convert::diagnostics_to_wire(&diagnostics),
        })
    }

    pub(super) async fn configure_provider(
        &self,
        request: wire::configure_provider::Request,
    ) -> Answered<wire::configure_provider::Response> {
        let request = ConfigureRequest {
            terraform_version: request.terraform_version.into(),
            config: self.offer.provider.take(request.config)?,
            capabilities: convert::client_capabilities(request.client_capabilities),
        };
        let diagnostics = self.provider.configure(request).await.map_err(refused)?;
        Ok(wire::configure_provider::Response { diagnostics: convert::diagnostics_to_wire(&diagnostics) })
    }

    pub(super) async fn stop_provider(
        &self,
        _: wire::stop_provider::Request,
    ) -> Answered<wire::stop_provider::Response> {
        let stopped = self.provider.stop().await;
        Ok(wire::stop_provider::Response { error: stopped.err().map(|error| error.to_string()).unwrap_or_default() })
    }

    pub(super) async fn call_function(
        &self,
        request: wire::call_function::Request,
    ) -> Answered<wire::call_function::Response> {
        let signature = self.provider.schema().functions.get(request.name.as_str());
        let signature = signature
            .ok_or_else(|| Status::invalid_argument(format!("this provider has no function {:?}", request.name)))?;
        let parameters = signature.parameters.iter().chain(std::iter::repeat(&signature.variadic).flatten());
        let arguments: Result<Vec<Value>, Status> = request
            .arguments
            .into_iter()
            .zip(parameters)
            .map(|(argument, parameter)| convert::from_wire(Some(argument), &parameter.ty).map_err(unfit))
            .collect();
        let call = CallFunctionRequest { name: request.name.into(), arguments: arguments? };
        let response = self.provider.call_function(call).await.map_err(refused)?;
        Ok(match response.result {
            Ok(value) => wire::call_function::Response {
                result: Some(convert::to_wire(&value, &signature.returns).map_err(malformed)?),
                error: None,
            },
            Err(error) => {
                wire::call_function::Response { result: None, error: Some(convert::function_error_to_wire(error)) }
            }
        })
    }

    /// What a module told about itself.
    fn meta(&self, meta: Option<wire::DynamicValue>) -> Answered<Option<Value>> {
        match &self.offer.provider_meta {
            Some(typed) if meta.is_some() => typed.take(meta).map(Some),
            _ => Ok(None),
        }
    }
}
