//! Ephemeral resources: open, renew, close.

use groma_model::diag::Diagnostics;

use super::schema::Kind;
use super::{PluginProvider, decoded, encoded};
use crate::api::{Answer, EphemeralObject, EphemeralRenewal, OpenRequest, Private};
use crate::wire::calls::Rpc;
use crate::wire::convert;
use crate::wire::generated::tfplugin as wire;

impl PluginProvider {
    pub(super) async fn ask_open(&self, request: OpenRequest) -> Answer<EphemeralObject> {
        let caller = self.caller(Rpc::OpenEphemeralResource, &request.type_name);
        let typed = self.typed(caller, Kind::Ephemeral, &request.type_name)?;
        let message = wire::open_ephemeral_resource::Request {
            type_name: request.type_name.to_string(),
            config: encoded(caller, &typed, &request.config)?,
            client_capabilities: Some(self.capabilities()),
        };
        let response: wire::open_ephemeral_resource::Response = caller.ask(message).await?;
        let diagnostics = caller.told(response.diagnostics);
        Ok(EphemeralObject {
            object: decoded(caller, &typed, response.result, &diagnostics)?,
            private: Private(response.private.unwrap_or_default().into()),
            renew_at: convert::time(response.renew_at),
            deferred: convert::deferred(response.deferred),
            diagnostics,
        })
    }

    pub(super) async fn ask_renew(&self, type_name: &str, private: Private) -> Answer<EphemeralRenewal> {
        let caller = self.caller(Rpc::RenewEphemeralResource, type_name);
        let message = wire::renew_ephemeral_resource::Request {
            type_name: type_name.to_owned(),
            private: Some(private.0.into()),
        };
        let response: wire::renew_ephemeral_resource::Response = caller.ask(message).await?;
        Ok(EphemeralRenewal {
            private: Private(response.private.unwrap_or_default().into()),
            renew_at: convert::time(response.renew_at),
            diagnostics: caller.told(response.diagnostics),
        })
    }

    pub(super) async fn ask_close(&self, type_name: &str, private: Private) -> Answer<Diagnostics> {
        let caller = self.caller(Rpc::CloseEphemeralResource, type_name);
        let message = wire::close_ephemeral_resource::Request {
            type_name: type_name.to_owned(),
            private: Some(private.0.into()),
        };
        let response: wire::close_ephemeral_resource::Response = caller.ask(message).await?;
        Ok(caller.told(response.diagnostics))
    }
}
