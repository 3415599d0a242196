//! Checking configurations, and giving the provider its own.

use groma_model::diag::Diagnostics;
use groma_model::value::Value;

use super::schema::Kind;
use super::{PluginProvider, encoded};
use crate::api::{Answer, ConfigureRequest};
use crate::wire::calls::Rpc;
use crate::wire::generated::tfplugin as wire;

impl PluginProvider {
    pub(super) async fn ask_validate_provider(&self, config: &Value) -> Answer<Diagnostics> {
        let caller = self.caller(Rpc::ValidateProviderConfig, "");
        let typed = self.schema.provider().map_err(|source| self.bad_schema(source))?;
        let request = wire::validate_provider_config::Request { config: encoded(caller, typed, config)? };
        let response: wire::validate_provider_config::Response = caller.ask(request).await?;
        Ok(caller.told(response.diagnostics))
    }

    pub(super) async fn ask_configure(&self, request: ConfigureRequest) -> Answer<Diagnostics> {
        let caller = self.caller(Rpc::ConfigureProvider, "");
        let typed = self.schema.provider().map_err(|source| self.bad_schema(source))?;
        self.set_capabilities(request.capabilities);
        let message = wire::configure_provider::Request {
            terraform_version: request.terraform_version.to_string(),
            config: encoded(caller, typed, &request.config)?,
            client_capabilities: Some(self.capabilities()),
        };
        let response: wire::configure_provider::Response = caller.ask(message).await?;
        Ok(caller.told(response.diagnostics))
    }

    pub(super) async fn ask_validate_resource(&self, type_name: &str, config: &Value) -> Answer<Diagnostics> {
        let caller = self.caller(Rpc::ValidateResourceConfig, type_name);
        let typed = self.typed(caller, Kind::Resource, type_name)?;
        let request = wire::validate_resource_config::Request {
            type_name: type_name.to_owned(),
            config: encoded(caller, &typed, config)?,
            client_capabilities: Some(self.capabilities()),
        };
        let response: wire::validate_resource_config::Response = caller.ask(request).await?;
        Ok(caller.told(response.diagnostics))
    }

    pub(super) async fn ask_validate_data_source(&self, type_name: &str, config: &Value) -> Answer<Diagnostics> {
        let caller = self.caller(Rpc::ValidateDataResourceConfig, type_name);
        let typed = self.typed(caller, Kind::DataSource, type_name)?;
        let request = wire::validate_data_resource_config::Request {
            type_name: type_name.to_owned(),
            config: encoded(caller, &typed, config)?,
        };
        let response: wire::validate_data_resource_config::Response = caller.ask(request).await?;
        Ok(caller.told(response.diagnostics))
    }

    pub(super) async fn ask_validate_ephemeral(&self, type_name: &str, config: &Value) -> Answer<Diagnostics> {
        let caller = self.caller(Rpc::ValidateEphemeralResourceConfig, type_name);
        let typed = self.typed(caller, Kind::Ephemeral, type_name)?;
        let request = wire::validate_ephemeral_resource_config::Request {
            type_name: type_name.to_owned(),
            config: encoded(caller, &typed, config)?,
        };
        let response: wire::validate_ephemeral_resource_config::Response = caller.ask(request).await?;
        Ok(caller.told(response.diagnostics))
    }

    pub(super) async fn ask_validate_list(&self, type_name: &str, config: &Value) -> Answer<Diagnostics> {
        let caller = self.caller(Rpc::ValidateListResourceConfig, type_name);
        let typed = self.typed(caller, Kind::List, type_name)?;
        let request = wire::validate_list_resource_config::Request {
            type_name: type_name.to_owned(),
            config: encoded(caller, &typed, config)?,
            include_resource_object: None,
            limit: None,
        };
        let response: wire::validate_list_resource_config::Response = caller.ask(request).await?;
        Ok(caller.told(response.diagnostics))
    }
}
