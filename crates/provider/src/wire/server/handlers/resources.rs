//! The calls about managed resources.

use std::time::Duration;

use groma_model::diag::Diagnostic;
use groma_model::value::Value;

use super::{Handlers, upgrade};
use crate::api::{
    Answer, ApplyRequest, ApplyResponse, CallError, ImportRequest, ImportTarget, ImportedObject, MoveRequest, NotReady,
    Outcome, Patience, Pending, PlanRequest, Private, RawState, ReadRequest, UpgradeIdentityRequest, UpgradeRequest,
    UpgradeResponse,
};
use crate::wire::convert;
use crate::wire::generated::tfplugin as wire;
use crate::wire::server::answers::{Answered, error, find, refused};
use crate::wire::server::offer::Typed;

impl Handlers {
    fn resource(&self, name: &str) -> Answered<&Typed> {
        find(&self.offer.resources, "resource type", name)
    }

    pub(in crate::wire::server) async fn validate_resource_config(
        &self,
        request: wire::validate_resource_config::Request,
    ) -> Answered<wire::validate_resource_config::Response> {
        let config = self.resource(&request.type_name)?.take(request.config)?;
        let found = self.provider.validate_resource(&request.type_name, config).await.map_err(refused)?;
        Ok(wire::validate_resource_config::Response { diagnostics: convert::diagnostics_to_wire(&found) })
    }

    pub(in crate::wire::server) async fn upgrade_resource_state(
        &self,
        request: wire::upgrade_resource_state::Request,
    ) -> Answered<wire::upgrade_resource_state::Response> {
        let typed = self.resource(&request.type_name)?;
        let state = convert::raw_state(request.raw_state);
        let asked = UpgradeRequest {
            type_name: request.type_name.as_str().into(),
            version: request.version,
            state: state.clone(),
        };
        let upgraded = self.provider.upgrade(asked).await;
        let response = match (upgraded, state) {
            (Err(CallError::Unsupported { .. }), RawState::Json(json)) => {
                simple_upgrade(&request.type_name, request.version, typed.version, &json, &typed.ty)
            }
            (upgraded, _) => upgraded.map_err(refused)?,
        };
        Ok(wire::upgrade_resource_state::Response {
            upgraded_state: if response.diagnostics.has_errors() { None } else { typed.give(&response.value)? },
            diagnostics: convert::diagnostics_to_wire(&response.diagnostics),
        })
    }

    pub(in crate::wire::server) async fn upgrade_resource_identity(
        &self,
        request: wire::upgrade_resource_identity::Request,
    ) -> Answered<wire::upgrade_resource_identity::Response> {
        let typed = self.resource(&request.type_name)?;
        let json: Vec<u8> = request.raw_identity.map(|raw| raw.json.into()).unwrap_or_default();
        let asked = UpgradeIdentityRequest {
            type_name: request.type_name.as_str().into(),
            version: request.version,
            json: json.clone(),
        };
        let response = match (self.provider.upgrade_identity(asked).await, &typed.identity) {
            (Err(CallError::Unsupported { .. }), Some(ty)) => {
                simple_upgrade(&request.type_name, request.version, typed.identity_version, &json, ty)
            }
            (upgraded, _) => upgraded.map_err(refused)?,
        };
        let usable = !response.diagnostics.has_errors();
        Ok(wire::upgrade_resource_identity::Response {
            upgraded_identity: typed.give_identity(usable.then_some(&response.value))?,
            diagnostics: convert::diagnostics_to_wire(&response.diagnostics),
        })
    }

    pub(in crate::wire::server) async fn read_resource(
        &self,
        request: wire::read_resource::Request,
    ) -> Answered<wire::read_resource::Response> {
        let typed = self.resource(&request.type_name)?;
        let response = self.provider.read(ReadRequest {
            current: typed.take(request.current_state)?,
            private: theirs(request.private.into()),
            identity: typed.take_identity(request.current_identity)?,
            provider_meta: self.meta(request.provider_meta)?,
            type_name: request.type_name.into(),
        });
        let response = response.await.map_err(refused)?;
        Ok(wire::read_resource::Response {
            new_state: typed.give(&response.object)?,
            diagnostics: convert::diagnostics_to_wire(&response.diagnostics),
            private: marked(response.private, response.not_ready.as_ref()).0.into(),
            deferred: convert::deferred_to_wire(response.deferred),
            new_identity: typed.give_identity(response.identity.as_ref())?,
        })
    }

    pub(in crate::wire::server) async fn plan_resource_change(
        &self,
        request: wire::plan_resource_change::Request,
    ) -> Answered<wire::plan_resource_change::Response> {
        let typed = self.resource(&request.type_name)?;
        let response = self.provider.plan(PlanRequest {
            prior: typed.take(request.prior_state)?,
            proposed: typed.take(request.proposed_new_state)?,
            config: typed.take(request.config)?,
            prior_private: theirs(request.prior_private.into()),
            prior_identity: typed.take_identity(request.prior_identity)?,
            provider_meta: self.meta(request.provider_meta)?,
            type_name: request.type_name.into(),
        });
        let response = response.await.map_err(refused)?;
        Ok(wire::plan_resource_change::Response {
            planned_state: typed.give(&response.planned)?,
            requires_replace: response.requires_replace.iter().map(convert::path_to_wire).collect(),
            planned_private: response.private.0.into(),
            diagnostics: convert::diagnostics_to_wire(&response.diagnostics),
            legacy_type_system: response.legacy_type_system,
            deferred: convert::deferred_to_wire(response.deferred),
            planned_identity: typed.give_identity(response.identity.as_ref())?,
        })
    }

    pub(in crate::wire::server) async fn apply_resource_change(
        &self,
        request: wire::apply_resource_change::Request,
    ) -> Answered<wire::apply_resource_change::Response> {
        let typed = self.resource(&request.type_name)?;
        let prior = typed.take(request.prior_state)?;
        let asked = ApplyRequest {
            prior: prior.clone(),
            planned: typed.take(request.planned_state)?,
            config: typed.take(request.config)?,
            planned_private: theirs(request.planned_private.into()),
            planned_identity: typed.take_identity(request.planned_identity)?,
            provider_meta: self.meta(request.provider_meta)?,
            type_name: request.type_name.into(),
        };
        let response = told(prior, self.applied(asked).await.map_err(refused)?);
        Ok(wire::apply_resource_change::Response {
            new_state: typed.give(&response.object)?,
            private: response.private.0.into(),
            diagnostics: convert::diagnostics_to_wire(&response.diagnostics),
            legacy_type_system: response.legacy_type_system,
            new_identity: typed.give_identity(response.identity.as_ref())?,
        })
    }

    /// Others do not try again, so that is done here.
    async fn applied(&self, request: ApplyRequest) -> Answer<ApplyResponse> {
        let mut passed = Duration::ZERO;
        loop {
            let response = self.provider.apply(request.clone()).await?;
            match response.outcome {
                Outcome::NotYet(Patience { timeout, interval }) if passed < timeout => {
                    tokio::time::sleep(interval).await;
                    passed += interval;
                }
                _ => return Ok(response),
            }
        }
    }

    pub(in crate::wire::server) async fn import_resource_state(
        &self,
        request: wire::import_resource_state::Request,
    ) -> Answered<wire::import_resource_state::Response> {
        let typed = self.resource(&request.type_name)?;
        let target = match typed.take_identity(request.identity)? {
            Some(identity) if request.id.is_empty() => ImportTarget::Identity(identity),
            _ => ImportTarget::Id(request.id),
        };
        let asked = ImportRequest { type_name: request.type_name.into(), target };
        let response = self.provider.import(asked).await.map_err(refused)?;
        let imported: Answered<Vec<_>> = response.imported.into_iter().map(|object| self.imported(object)).collect();
        Ok(wire::import_resource_state::Response {
            imported_resources: imported?,
            diagnostics: convert::diagnostics_to_wire(&response.diagnostics),
            deferred: convert::deferred_to_wire(response.deferred),
        })
    }

    fn imported(&self, object: ImportedObject) -> Answered<wire::import_resource_state::ImportedResource> {
        let typed = self.resource(&object.type_name)?;
        Ok(wire::import_resource_state::ImportedResource {
            type_name: object.type_name.to_string(),
            state: typed.give(&object.object)?,
            private: object.private.0.into(),
            identity: typed.give_identity(object.identity.as_ref())?,
        })
    }

    pub(in crate::wire::server) async fn move_resource_state(
        &self,
        request: wire::move_resource_state::Request,
    ) -> Answered<wire::move_resource_state::Response> {
        let typed = self.resource(&request.target_type_name)?;
        let identity = request.source_identity.filter(|identity| !identity.json.is_empty());
        let asked = MoveRequest {
            source_provider: request.source_provider_address,
            source_type_name: request.source_type_name.into(),
            source_schema_version: request.source_schema_version,
            source_state: convert::raw_state(request.source_state),
            source_private: Private(request.source_private.into()),
            source_identity: identity.map(|raw| (raw.json.into(), request.source_identity_schema_version)),
            target_type_name: request.target_type_name.into(),
        };
        let response = self.provider.move_state(asked).await.map_err(refused)?;
        Ok(wire::move_resource_state::Response {
            target_state: typed.give(&response.object)?,
            diagnostics: convert::diagnostics_to_wire(&response.diagnostics),
            target_private: response.private.0.into(),
            target_identity: typed.give_identity(response.identity.as_ref())?,
        })
    }

    pub(in crate::wire::server) async fn generate_resource_config(
        &self,
        request: wire::generate_resource_config::Request,
    ) -> Answered<wire::generate_resource_config::Response> {
        let typed = self.resource(&request.type_name)?;
        let object = typed.take(request.state)?;
        let generated = self.provider.generate_config(&request.type_name, object).await.map_err(refused)?;
        Ok(wire::generate_resource_config::Response {
            config: typed.give(&generated.0)?,
            diagnostics: convert::diagnostics_to_wire(&generated.1),
        })
    }
}

/// The usual case that a provider need not care about: nothing changed.
fn simple_upgrade(
    type_name: &str,
    stored_with: i64,
    now: i64,
    json: &[u8],
    ty: &groma_model::ty::Type,
) -> UpgradeResponse {
    let failed = |detail: String| UpgradeResponse {
        value: Value::null(ty.clone()),
        diagnostics: convert::diagnostics(error("Unable to Upgrade Resource State", detail)),
    };
    if stored_with != now {
        return failed(format!(
            "{type_name} was stored with schema version {stored_with}, and {now} is the only one known."
        ));
    }
    match upgrade::current(json, ty) {
        Ok(value) => UpgradeResponse { value, diagnostics: convert::diagnostics(Vec::new()) },
        Err(problem) => failed(format!("The stored {type_name} cannot be read: {problem}.")),
    }
}

/// What a provider has kept, without what we have added: that an object was not ready once is out of date as soon as it is asked for.
fn theirs(private: Vec<u8>) -> Private {
    Pending::split(Private(private)).0
}

/// What cannot be said in the protocol is said in private data, where the engine finds it and other tools leave it alone.
fn marked(private: Private, not_ready: Option<&NotReady>) -> Private {
    let marked = not_ready.and_then(|not_ready| Pending::said(not_ready.clone(), None).join(&private));
    marked.unwrap_or(private)
}

/// An outcome in the words that the protocol has: an object and diagnostics. Whatever failed must not look like a success,
/// and what was not made must not look like an object.
fn told(prior: Value, mut response: ApplyResponse) -> ApplyResponse {
    if matches!(response.outcome, Outcome::NothingMade | Outcome::NotYet(_)) {
        response.object = prior;
    }
    if let Outcome::NotReady(not_ready) = &response.outcome {
        response.private = marked(response.private, Some(not_ready));
    }
    if response.outcome != Outcome::Done && !response.diagnostics.has_errors() {
        response.diagnostics.push(match &response.outcome {
            Outcome::NotReady(waiting) => Diagnostic::error(
                "Resource is not ready",
                format!(
                    "Waited for {}.{}",
                    waiting.waiting_for,
                    waiting.last_seen.as_ref().map(|seen| format!(" Last seen: {seen}.")).unwrap_or_default()
                ),
            ),
            _ => Diagnostic::error("Apply failed", "The provider did not say why."),
        });
    }
    response
}
