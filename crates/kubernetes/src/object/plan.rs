//! Planning: the server itself says what would become of the object, by a dry run.

mod existing;
mod fresh;

use std::sync::Arc;

use groma_kit::{Call, Object, Planned, at};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::ty::Type;
use groma_model::value::Value;

pub(crate) use existing::lost_with;

use super::ObjectResource;
use super::intent::Intent;
use super::naming::{IdentityChange, identity_change, reference_of, shown};
use crate::api::Cluster;
use crate::cluster::{self, Given};
use crate::failure::{Failure, FailureKind};
use crate::manifest::{Manifest, ObjectRef, kinds};
use crate::path::FieldPath;
use crate::private::{self, PLANNED_FOR};

/// Why a plan says no more than it does.
enum Stop {
    /// Only the apply can tell.
    Unknown,
    /// It cannot work.
    Wrong(Diagnostics),
}

impl From<Diagnostic> for Stop {
    fn from(wrong: Diagnostic) -> Self {
        Self::Wrong(wrong.into())
    }
}

/// What a plan is made of, once everything is known that it needs.
struct Ground {
    intent: Intent,
    cluster: Arc<Cluster>,
    /// Which cluster it is, as far as we may know.
    cluster_uid: Option<String>,
    /// What the object is called, with its namespace completed.
    reference: ObjectRef,
}

/// Plans. What the rules of the schema say about the attributes was done before.
pub(super) async fn plan(resource: &ObjectResource, plan: &mut Planned, call: &mut Call) {
    if let Some(id) = plan.prior.as_ref().and_then(|prior| prior.text("id")) {
        resource.run.met(id);
        let id = serde_json::json!(id);
        private::change(&mut call.private, |kept| kept.put(PLANNED_FOR, &id));
    }
    let planned = match ground(resource, plan, &mut call.diagnostics).await {
        Ok(ground) if plan.prior.is_some() => existing::plan(resource, &ground, plan, call).await,
        Ok(ground) => fresh::plan(resource, &ground, plan, call).await,
        Err(stop) => Err(stop),
    };
    match planned {
        Ok(()) => {}
        Err(Stop::Unknown) => leave_open(plan),
        Err(Stop::Wrong(wrong)) => {
            leave_open(plan);
            call.diagnostics.extend(wrong);
        }
    }
}

/// Finds out what the plan needs to know.
async fn ground(resource: &ObjectResource, plan: &mut Planned, told: &mut Diagnostics) -> Result<Ground, Stop> {
    let intent = Intent::read(&plan.object).map_err(Stop::Wrong)?.ok_or(Stop::Unknown)?;
    note_other_name(plan, &intent.reference);
    let given = cluster::read(&plan.object);
    if let Given::Here(spec) = &given {
        resource.shared.connections.note(spec);
    }
    let cluster = resource.shared.connections.open_early(&given, told).await?.ok_or(Stop::Unknown)?;
    let failed = |failure: Failure| from_failure(&failure, &intent.reference);
    let reference = cluster.complete(&intent.reference).await.map_err(|failure| match failure.kind {
        FailureKind::UnknownKind => at_kind(failed(failure), plan),
        _ => failed(failure),
    })?;
    let cluster_uid = cluster.identity().await.map_err(failed)?;
    Ok(Ground { intent, cluster, cluster_uid, reference })
}

/// An object that is called otherwise is another one, even if nobody can be asked. A namespace that is not given may be the same.
fn note_other_name(plan: &mut Planned, wanted: &ObjectRef) {
    let Some(prior) = plan.prior.as_ref().and_then(stored_reference) else { return };
    let namespace = wanted.namespace.clone().or_else(|| prior.namespace.clone());
    // A kind without namespaces may be given one, and loses it.
    let namespace = if prior.namespace.is_none() && prior.kind == wanted.kind { None } else { namespace };
    let wanted = ObjectRef { namespace, ..wanted.clone() };
    if matches!(identity_change(&prior, &wanted), IdentityChange::Other(_)) {
        plan.replace_for("yaml_body");
    }
}

/// What a stored object is called.
pub(super) fn stored_reference(object: &Object) -> Option<ObjectRef> {
    reference_of(&object.get("object_ref"))
        .or_else(|| Some(Manifest::parse(object.text("yaml_body")?).ok()?.reference()))
}

/// What the server says about a plan. What is not there yet may come with this very apply.
fn from_failure(failure: &Failure, reference: &ObjectRef) -> Stop {
    match failure.kind {
        FailureKind::UnknownKind if !may_be_defined(reference) => wrong(failure, reference),
        FailureKind::UnknownKind | FailureKind::NoNamespace => Stop::Unknown,
        _ => wrong(failure, reference),
    }
}

fn wrong(failure: &Failure, reference: &ObjectRef) -> Stop {
    Stop::Wrong(failure.diagnostic("plan", reference).at_path(at("yaml_body")).into())
}

/// Whether a kind that a cluster does not have may be defined by whoever applies: not where Kubernetes itself says which kinds there are.
pub(crate) fn may_be_defined(reference: &ObjectRef) -> bool {
    !kinds::is_own_group(reference.group())
}

/// Says where in the manifest the kind is.
fn at_kind(stop: Stop, plan: &Planned) -> Stop {
    let manifest = plan.object.text("yaml_body").and_then(|text| Manifest::parse(text).ok());
    match (stop, manifest) {
        (Stop::Wrong(found), Some(manifest)) => {
            let place = manifest.place(&FieldPath::of(["kind"]));
            let place = |found: Diagnostic| Diagnostic { detail: format!("{place}: {}", found.detail), ..found };
            Stop::Wrong(found.into_iter().map(place).collect())
        }
        (stop, _) => stop,
    }
}

/// Leaves to the apply what only it can tell. What the object is called stays, if it is the same object.
fn leave_open(plan: &mut Planned) {
    let is_same = plan.prior.as_ref().is_some_and(|prior| !prior.is_null("object_ref"))
        && plan.requires_replace.is_empty()
        && !plan.object.is_unknown("yaml_body");
    for name in ["managed_state_projection", "managed_fields"] {
        plan.object.set_unknown(name);
    }
    match &plan.prior {
        Some(prior) if is_same && same_api_version(plan, prior) => {
            let reference = prior.get("object_ref");
            plan.object.set("object_ref", reference);
        }
        _ => plan.object.set_unknown("object_ref"),
    }
}

fn same_api_version(plan: &Planned, prior: &Object) -> bool {
    let wanted = plan.object.text("yaml_body").and_then(|text| Manifest::parse(text).ok());
    let wanted = wanted.map(|manifest| manifest.reference().api_version);
    wanted.is_some() && wanted == stored_reference(prior).map(|reference| reference.api_version)
}

/// What the server warned about.
pub(crate) fn server_warnings(reference: &ObjectRef, warnings: &[String]) -> Diagnostics {
    let tell = |warning: &String| {
        Diagnostic::warning(format!("Warning of the API server: {}", shown(reference)), warning.clone())
    };
    warnings.iter().map(tell).collect()
}

fn text_value(text: Option<&str>) -> Value {
    text.map_or_else(|| Value::null(Type::String), Value::string)
}
