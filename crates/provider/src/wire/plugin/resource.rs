//! Managed resources and data sources: upgrade, read, plan, apply.

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::value::Value;

use super::caller::Caller;
use super::schema::{Kind, Typed};
use super::{PluginProvider, decoded, decoded_identity, encoded, encoded_identity};
use crate::api::{
    Answer, ApplyRequest, ApplyResponse, Outcome, Pending, PlanRequest, PlanResponse, Private, RawState,
    ReadDataRequest, ReadDataResponse, ReadRequest, ReadResponse, UpgradeIdentityRequest, UpgradeRequest,
    UpgradeResponse,
};
use crate::wire::calls::Rpc;
use crate::wire::convert;
use crate::wire::generated::tfplugin as wire;

impl PluginProvider {
    pub(super) async fn ask_upgrade(&self, request: UpgradeRequest) -> Answer<UpgradeResponse> {
        let caller = self.caller(Rpc::UpgradeResourceState, &request.type_name);
        let typed = self.typed(caller, Kind::Resource, &request.type_name)?;
        let message = wire::upgrade_resource_state::Request {
            type_name: request.type_name.to_string(),
            version: request.version,
            raw_state: Some(convert::raw_state_to_wire(request.state)),
        };
        let response: wire::upgrade_resource_state::Response = caller.ask(message).await?;
        let diagnostics = caller.told(response.diagnostics);
        let value = decoded(caller, &typed, response.upgraded_state, &diagnostics)?;
        Ok(UpgradeResponse { value, diagnostics })
    }

    pub(super) async fn ask_upgrade_identity(&self, request: UpgradeIdentityRequest) -> Answer<UpgradeResponse> {
        let caller = self.caller(Rpc::UpgradeResourceIdentity, &request.type_name);
        let typed = self.typed(caller, Kind::Resource, &request.type_name)?;
        let Some(ty) = &typed.identity else { return Err(caller.unsupported()) };
        let message = wire::upgrade_resource_identity::Request {
            type_name: request.type_name.to_string(),
            version: request.version,
            raw_identity: Some(convert::raw_state_to_wire(RawState::Json(request.json))),
        };
        let response: wire::upgrade_resource_identity::Response = caller.ask(message).await?;
        let diagnostics = caller.told(response.diagnostics);
        let identity = decoded_identity(caller, &typed, response.upgraded_identity, &diagnostics)?;
        Ok(UpgradeResponse { value: identity.unwrap_or_else(|| Value::null(ty.clone())), diagnostics })
    }

    pub(super) async fn ask_read(&self, request: ReadRequest) -> Answer<ReadResponse> {
        let caller = self.caller(Rpc::ReadResource, &request.type_name);
        let typed = self.typed(caller, Kind::Resource, &request.type_name)?;
        let message = wire::read_resource::Request {
            type_name: request.type_name.to_string(),
            current_state: encoded(caller, &typed, &request.current)?,
            private: request.private.0.into(),
            provider_meta: self.meta(caller, request.provider_meta.as_ref())?,
            client_capabilities: Some(self.capabilities()),
            current_identity: encoded_identity(caller, &typed, request.identity.as_ref())?,
        };
        let response: wire::read_resource::Response = caller.ask(message).await?;
        let diagnostics = caller.told(response.diagnostics);
        let (private, pending) = Pending::split(Private(response.private.into()));
        Ok(ReadResponse {
            object: decoded(caller, &typed, response.new_state, &diagnostics)?,
            private,
            identity: decoded_identity(caller, &typed, response.new_identity, &diagnostics)?,
            not_ready: pending.map(|pending| pending.not_ready()),
            deferred: convert::deferred(response.deferred),
            diagnostics,
        })
    }

    pub(super) async fn ask_plan(&self, request: PlanRequest) -> Answer<PlanResponse> {
        let caller = self.caller(Rpc::PlanResourceChange, &request.type_name);
        let typed = self.typed(caller, Kind::Resource, &request.type_name)?;
        let message = wire::plan_resource_change::Request {
            type_name: request.type_name.to_string(),
            prior_state: encoded(caller, &typed, &request.prior)?,
            proposed_new_state: encoded(caller, &typed, &request.proposed)?,
            config: encoded(caller, &typed, &request.config)?,
            prior_private: request.prior_private.0.into(),
            provider_meta: self.meta(caller, request.provider_meta.as_ref())?,
            client_capabilities: Some(self.capabilities()),
            prior_identity: encoded_identity(caller, &typed, request.prior_identity.as_ref())?,
        };
        let response: wire::plan_resource_change::Response = caller.ask(message).await?;
        let diagnostics = caller.told(response.diagnostics);
        Ok(PlanResponse {
            planned: decoded(caller, &typed, response.planned_state, &diagnostics)?,
            requires_replace: response.requires_replace.into_iter().map(convert::path).collect(),
            private: Private(response.planned_private.into()),
            identity: decoded_identity(caller, &typed, response.planned_identity, &diagnostics)?,
            deferred: convert::deferred(response.deferred),
            legacy_type_system: response.legacy_type_system,
            diagnostics,
        })
    }

    pub(super) async fn ask_apply(&self, request: ApplyRequest) -> Answer<ApplyResponse> {
        let caller = self.caller(Rpc::ApplyResourceChange, &request.type_name);
        let typed = self.typed(caller, Kind::Resource, &request.type_name)?;
        let message = wire::apply_resource_change::Request {
            type_name: request.type_name.to_string(),
            prior_state: encoded(caller, &typed, &request.prior)?,
            planned_state: encoded(caller, &typed, &request.planned)?,
            config: encoded(caller, &typed, &request.config)?,
            planned_private: request.planned_private.0.into(),
            provider_meta: self.meta(caller, request.provider_meta.as_ref())?,
            planned_identity: encoded_identity(caller, &typed, request.planned_identity.as_ref())?,
        };
        let response: wire::apply_resource_change::Response = caller.ask(message).await?;
        let mut diagnostics = caller.told(response.diagnostics);
        let object = applied_object(caller, &typed, response.new_state, &request.prior, &mut diagnostics)?;
        // The object counts more than what identifies it.
        let identity = decoded_identity(caller, &typed, response.new_identity, &diagnostics).unwrap_or_else(|error| {
            diagnostics.push(error.diagnostic());
            None
        });
        // Providers of ours say in their private data that something is not ready.
        let (private, pending) = Pending::split(Private(response.private.into()));
        let outcome = match pending {
            Some(pending) if !object.is_null() => Outcome::NotReady(pending.not_ready()),
            _ => Outcome::of(&request.prior, &object, &diagnostics),
        };
        Ok(ApplyResponse {
            outcome,
            object,
            private,
            identity,
            legacy_type_system: response.legacy_type_system,
            diagnostics,
        })
    }

    pub(super) async fn ask_read_data(&self, request: ReadDataRequest) -> Answer<ReadDataResponse> {
        let caller = self.caller(Rpc::ReadDataSource, &request.type_name);
        let typed = self.typed(caller, Kind::DataSource, &request.type_name)?;
        let message = wire::read_data_source::Request {
            type_name: request.type_name.to_string(),
            config: encoded(caller, &typed, &request.config)?,
            provider_meta: self.meta(caller, request.provider_meta.as_ref())?,
            client_capabilities: Some(self.capabilities()),
        };
        let response: wire::read_data_source::Response = caller.ask(message).await?;
        let diagnostics = caller.told(response.diagnostics);
        Ok(ReadDataResponse {
            object: decoded(caller, &typed, response.state, &diagnostics)?,
            deferred: convert::deferred(response.deferred),
            diagnostics,
        })
    }
}

/// The object that an apply left behind. It exists whatever else is wrong with the answer, so it is never dropped:
/// errors with no object at all leave the one that was there, and what must not be in it is taken out.
fn applied_object(
    caller: Caller<'_>,
    typed: &Typed,
    given: Option<wire::DynamicValue>,
    prior: &Value,
    diagnostics: &mut Diagnostics,
) -> Answer<Value> {
    let given = given.filter(|given| !(given.msgpack.is_empty() && given.json.is_empty()));
    if given.is_none() && diagnostics.has_errors() {
        return Ok(prior.clone());
    }
    let object = convert::from_wire(given, &typed.ty).map_err(|error| {
        let reported = diagnostics.iter().map(|found| format!("; it also said: {}: {}", found.summary, found.detail));
        caller.malformed(format!("{error}{}", reported.collect::<String>()))
    })?;
    let Some(found) = typed.write_only_value(&object) else { return Ok(object) };
    let detail =
        format!("After applying, {} returned a value for {}, which must never be stored.", caller.about(), found.path);
    diagnostics.push(Diagnostic::error("Provider produced invalid object", detail).at_path(found.path));
    Ok(convert::without_write_only(&typed.schema.block, &object))
}
