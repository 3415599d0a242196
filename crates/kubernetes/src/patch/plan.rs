//! Planning a patch: the server says what would become of the object, by a dry run.

use groma_kit::{Call, Planned, at};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::ty::Type;
use groma_model::value::Value;

use super::content::Content;
use super::target::{managed_as_a_whole, manager, overlap};
use super::trial::Patching;
use crate::Json;
use crate::api::Cluster;
use crate::cluster::{self, Given};
use crate::failure::{Failure, FailureKind};
use crate::manifest::ObjectRef;
use crate::object::body::{is_secret, same_content};
use crate::object::fields::{map_of, map_value, without_fingerprints};
use crate::object::naming::{reference_of, shown};
use crate::object::{may_be_defined, server_warnings};
use crate::provider::Shared;

/// Stands for the id that is chosen when the patch is made. No patch ever has it.
const NO_ID: &str = "planned";

/// Why a plan says no more than it does.
enum Stop {
    Unknown,
    Wrong(Diagnostics),
}

impl From<Diagnostic> for Stop {
    fn from(wrong: Diagnostic) -> Self {
        Self::Wrong(wrong.into())
    }
}

pub(super) async fn plan(shared: &Shared, plan: &mut Planned, call: &mut Call) {
    let stop = match try_plan(shared, plan, call).await {
        Ok(()) => return,
        Err(stop) => stop,
    };
    for name in ["managed_state_projection", "managed_fields"] {
        plan.object.set_unknown(name);
    }
    if let Stop::Wrong(wrong) = stop {
        call.diagnostics.extend(wrong);
    }
}

async fn try_plan(shared: &Shared, plan: &mut Planned, call: &mut Call) -> Result<(), Stop> {
    let content = Content::read(&plan.object).map_err(Stop::Wrong)?.ok_or(Stop::Unknown)?;
    let target = reference_of(&plan.object.get("target")).ok_or(Stop::Unknown)?;
    let given = cluster::read(&plan.object);
    if let Given::Here(spec) = &given {
        shared.connections.note(spec);
    }
    let cluster = shared.connections.open_early(&given, &mut call.diagnostics).await?.ok_or(Stop::Unknown)?;
    let failed = |failure: Failure| from_failure(&failure, &target, content.form());
    let cluster_uid = cluster.identity().await.map_err(failed)?;
    settle_cluster(plan, cluster_uid.as_deref(), &target, call);
    let reference = cluster.complete(&target).await.map_err(failed)?;
    if is_same_target(plan, &cluster, &reference).await {
        plan.requires_replace.retain(|path| *path != at("target").attr("namespace"));
    }
    // An object that is not there may be made by the same apply.
    let live = cluster.get(&reference).await.map_err(failed)?.ok_or(Stop::Unknown)?;
    if let Some(wrong) = managed_as_a_whole(&live, &reference) {
        return Err(wrong.into());
    }
    let is_new = plan.prior.is_none() || !plan.requires_replace.is_empty();
    let id = plan.prior.as_ref().filter(|_| !is_new).and_then(|prior| prior.text("id")).unwrap_or(NO_ID).to_owned();
    let manager = manager(&id);
    let patching = Patching { cluster: &cluster, target: &reference, content: &content, manager: &manager };
    let tried = patching.try_out(&live).await.map_err(failed)?;
    if let Some(wrong) = overlap(&live, &patching.places(&tried.value), &manager, &reference) {
        return Err(wrong.into());
    }
    call.diagnostics.extend(server_warnings(&reference, &tried.warnings));
    settle(plan, &patching, &live, &tried.value, &id);
    Ok(())
}

/// Whether the namespace is only written out now, or left out.
async fn is_same_target(plan: &Planned, cluster: &Cluster, target: &ObjectRef) -> bool {
    let prior = plan.prior.as_ref().and_then(|prior| reference_of(&prior.get("target")));
    let Some(prior) = prior else { return false };
    cluster.complete(&prior).await.is_ok_and(|prior| prior == *target)
}

/// A patch of an object in another cluster is another patch.
fn settle_cluster(plan: &mut Planned, now: Option<&str>, target: &ObjectRef, call: &mut Call) {
    let Some(prior) = &plan.prior else {
        plan.object.set("cluster_uid", now.map_or_else(|| Value::null(Type::String), Value::string));
        return;
    };
    let (Some(old), Some(new)) = (prior.text("cluster_uid"), now) else { return };
    if old != new {
        let object = shown(target);
        let detail = format!(
            "The connection leads to another cluster ({new} instead of {old}). {object} is patched there, and released here."
        );
        call.diagnostics.push(Diagnostic::warning(format!("Patch moves to another cluster: {object}"), detail));
        plan.object.set("cluster_uid", Value::string(new));
        plan.replace_for("cluster_uid");
    }
}

fn from_failure(failure: &Failure, target: &ObjectRef, form: &str) -> Stop {
    match failure.kind {
        FailureKind::UnknownKind if may_be_defined(target) => Stop::Unknown,
        FailureKind::NoNamespace => Stop::Unknown,
        _ => Stop::Wrong(failure.diagnostic("plan the patch of", target).at_path(at(form)).into()),
    }
}

fn settle(plan: &mut Planned, patching: &Patching<'_>, live: &Json, tried: &Json, id: &str) {
    let projection = patching.projection(tried, id);
    let prior = plan.prior.clone().filter(|_| id != NO_ID);
    let Some(prior) = prior else {
        // The name of the manager, and so what it owns, is chosen by the apply.
        let value = if is_secret(patching.target) { without_fingerprints(&projection) } else { map_value(&projection) };
        plan.object.set("managed_state_projection", value);
        plan.object.set_unknown("managed_fields");
        return;
    };
    let is_equal = map_of(&prior, "managed_state_projection").as_ref() == Some(&projection)
        && (says_the_same(&prior, patching.content) || same_content(live, tried));
    let is_drifted = patching.projection(live, id) != projection;
    if is_equal {
        let form = patching.content.form();
        if !prior.is_null(form) {
            plan.object.set(form, prior.get(form));
        }
        plan.object.set("managed_state_projection", prior.get("managed_state_projection"));
    } else {
        plan.object.set("managed_state_projection", map_value(&projection));
    }
    if is_equal && !is_drifted && plan.object.get(patching.content.form()) == prior.get(patching.content.form()) {
        plan.object.set("managed_fields", prior.get("managed_fields"));
    } else {
        // Something must be seen to change, or nothing is done.
        plan.object.set_unknown("managed_fields");
    }
}

fn says_the_same(prior: &groma_kit::Object, content: &Content) -> bool {
    matches!(Content::read(prior), Ok(Some(before)) if before == *content)
}
