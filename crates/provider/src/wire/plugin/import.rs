//! Taking over objects that exist: import, moves between resource types, generated configurations.

use groma_model::diag::Diagnostics;
use groma_model::text::Str;
use groma_model::value::Value;

use super::caller::Caller;
use super::schema::Kind;
use super::{PluginProvider, decoded, decoded_identity, encoded, encoded_identity};
use crate::api::{
    Answer, ImportRequest, ImportResponse, ImportTarget, ImportedObject, MoveRequest, MoveResponse, Private, RawState,
};
use crate::wire::calls::Rpc;
use crate::wire::convert;
use crate::wire::generated::tfplugin as wire;

impl PluginProvider {
    pub(super) async fn ask_import(&self, request: ImportRequest) -> Answer<ImportResponse> {
        let caller = self.caller(Rpc::ImportResourceState, &request.type_name);
        let typed = self.typed(caller, Kind::Resource, &request.type_name)?;
        let (id, identity) = match &request.target {
            ImportTarget::Id(id) => (id.clone(), None),
            ImportTarget::Identity(_) if typed.identity.is_none() => {
                return Err(caller.unfit(format!("{} has no identity to import by", request.type_name)));
            }
            ImportTarget::Identity(identity) => (String::new(), Some(identity)),
        };
        let message = wire::import_resource_state::Request {
            type_name: request.type_name.to_string(),
            id,
            client_capabilities: Some(self.capabilities()),
            identity: encoded_identity(caller, &typed, identity)?,
        };
        let response: wire::import_resource_state::Response = caller.ask(message).await?;
        let diagnostics = caller.told(response.diagnostics);
        let found = response.imported_resources.into_iter();
        let imported: Answer<Vec<_>> = found.map(|found| self.imported(caller, found, &diagnostics)).collect();
        Ok(ImportResponse { imported: imported?, deferred: convert::deferred(response.deferred), diagnostics })
    }

    fn imported(
        &self,
        caller: Caller<'_>,
        found: wire::import_resource_state::ImportedResource,
        diagnostics: &Diagnostics,
    ) -> Answer<ImportedObject> {
        let type_name = Str::from(found.type_name);
        let known = self.schema.of(Kind::Resource, &type_name).map_err(|source| self.bad_schema(source))?;
        let Some(typed) = known else {
            return Err(caller.malformed(format!("it imported a {type_name}, which it does not know")));
        };
        Ok(ImportedObject {
            object: decoded(caller, &typed, found.state, diagnostics)?,
            private: Private(found.private.into()),
            identity: decoded_identity(caller, &typed, found.identity, diagnostics)?,
            type_name,
        })
    }

    pub(super) async fn ask_move(&self, request: MoveRequest) -> Answer<MoveResponse> {
        let caller = self.caller(Rpc::MoveResourceState, &request.target_type_name);
        let typed = self.typed(caller, Kind::Resource, &request.target_type_name)?;
        let (identity, identity_version) = request.source_identity.unzip();
        let message = wire::move_resource_state::Request {
            source_provider_address: request.source_provider,
            source_type_name: request.source_type_name.to_string(),
            source_schema_version: request.source_schema_version,
            source_state: Some(convert::raw_state_to_wire(request.source_state)),
            target_type_name: request.target_type_name.to_string(),
            source_private: request.source_private.0.into(),
            source_identity: identity.map(|json| convert::raw_state_to_wire(RawState::Json(json))),
            source_identity_schema_version: identity_version.unwrap_or_default(),
        };
        let response: wire::move_resource_state::Response = caller.ask(message).await?;
        let diagnostics = caller.told(response.diagnostics);
        Ok(MoveResponse {
            object: decoded(caller, &typed, response.target_state, &diagnostics)?,
            private: Private(response.target_private.into()),
            identity: decoded_identity(caller, &typed, response.target_identity, &diagnostics)?,
            diagnostics,
        })
    }

    pub(super) async fn ask_generate_config(&self, type_name: &str, object: &Value) -> Answer<(Value, Diagnostics)> {
        let caller = self.caller(Rpc::GenerateResourceConfig, type_name);
        let typed = self.typed(caller, Kind::Resource, type_name)?;
        let message = wire::generate_resource_config::Request {
            type_name: type_name.to_owned(),
            state: encoded(caller, &typed, object)?,
        };
        let response: wire::generate_resource_config::Response = caller.ask(message).await?;
        let diagnostics = caller.told(response.diagnostics);
        // A configuration may have what an object may not.
        let config = match convert::from_wire(response.config, &typed.ty) {
            Ok(config) => config,
            Err(_) if diagnostics.has_errors() => Value::null(typed.ty.clone()),
            Err(error) => return Err(caller.malformed(error.to_string())),
        };
        Ok((config, diagnostics))
    }
}
