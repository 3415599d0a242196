//! Planning a set: the server says of each object what would become of it, by a dry run.

use std::collections::BTreeMap;
use std::sync::Arc;

use groma_kit::{Call, Object, Planned, at};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::ty::Type;
use groma_model::value::Value;

use super::members::{Member, members};
use super::stored::{Made, is_of, made, objects_of, objects_value, projection_of, uid_of};
use super::{SetResource, TYPE_NAME, several};
use crate::Json;
use crate::api::Cluster;
use crate::cluster::{self, Given};
use crate::failure::{Failure, FailureKind};
use crate::ignore::Ignored;
use crate::manifest::ObjectRef;
use crate::object::body::{is_secret, same_content, sent};
use crate::object::claim::{CREATED_ANNOTATION, Claim, Claimant, annotation, claim, exists_already, managed_elsewhere};
use crate::object::fields::{Map, map_of, map_value};
use crate::object::naming::shown;
use crate::object::write::Write;
use crate::object::{lost_with, may_be_defined, server_warnings};
use crate::private::{self, ANNOTATIONS_LOST, Kept, PENDING_PROJECTION, PLANNED_FOR};

/// Stands for the id that is chosen when the set is made.
const NO_ID: &str = "planned";

enum Stop {
    Unknown,
    Wrong(Diagnostics),
}

impl From<Diagnostic> for Stop {
    fn from(wrong: Diagnostic) -> Self {
        Self::Wrong(wrong.into())
    }
}

/// What is known of an object after a dry run.
struct Tried {
    key: String,
    /// None if only the apply can tell.
    made: Option<Made>,
    projection: Option<Map>,
    /// Whether nothing about it would change.
    is_same: bool,
    found: Diagnostics,
}

pub(super) async fn plan(set: &SetResource, plan: &mut Planned, call: &mut Call) {
    if let Some(id) = plan.prior.as_ref().and_then(|prior| prior.text("id")) {
        set.run.met(id);
        let id = serde_json::json!(id);
        private::change(&mut call.private, |kept| kept.put(PLANNED_FOR, &id));
    }
    let stop = match try_plan(set, plan, call).await {
        Ok(()) => return,
        Err(stop) => stop,
    };
    leave_open(plan);
    if let Stop::Wrong(wrong) = stop {
        call.diagnostics.extend(wrong);
    }
}

fn leave_open(plan: &mut Planned) {
    for name in ["objects", "managed_state_projection"] {
        plan.object.set_unknown(name);
    }
}

async fn try_plan(set: &SetResource, plan: &mut Planned, call: &mut Call) -> Result<(), Stop> {
    let members = members(&plan.object).map_err(Stop::Wrong)?.ok_or(Stop::Unknown)?;
    let given = cluster::read(&plan.object);
    if let Given::Here(spec) = &given {
        set.shared.connections.note(spec);
    }
    let cluster = set.shared.connections.open_early(&given, &mut call.diagnostics).await?.ok_or(Stop::Unknown)?;
    let cluster_uid = cluster.identity().await.map_err(|failure| in_general(&failure, &members))?;
    if moves(plan, cluster_uid.as_deref(), call) {
        leave_open(plan);
        return Ok(());
    }
    let kept = Kept::of(&call.private);
    let replaced = kept.get(PLANNED_FOR).and_then(|id| id.as_str().map(str::to_owned)).filter(|_| plan.prior.is_none());
    let trial = Trial {
        set,
        cluster: &cluster,
        id: plan.prior.as_ref().and_then(|prior| prior.text("id")),
        had: plan.prior.as_ref().map(objects_of).unwrap_or_default(),
        replaced: replaced.as_deref(),
        adopts: plan.object.text("adopt") == Some("adopt"),
        force: plan.object.flag("force_conflicts").unwrap_or(true),
    };
    let tried: Vec<Tried> = several(members.iter().map(|member| trial.member(member)).collect()).await;
    let found: Diagnostics = tried.iter().flat_map(|tried| tried.found.clone()).collect();
    let has_errors = found.has_errors();
    call.diagnostics.extend(found);
    if has_errors {
        return Err(Stop::Unknown);
    }
    let prior = plan.prior.clone();
    if let Some(prior) = &prior {
        call.diagnostics.extend(left_over(prior, plan, &members));
    }
    let is_unfinished = [ANNOTATIONS_LOST, PENDING_PROJECTION].iter().any(|flag| kept.is_set(flag));
    settle(plan, prior.as_ref(), &tried, is_unfinished);
    Ok(())
}

/// A set in another cluster is another set.
fn moves(plan: &mut Planned, now: Option<&str>, call: &mut Call) -> bool {
    let Some(prior) = &plan.prior else {
        plan.object.set("cluster_uid", now.map_or_else(|| Value::null(Type::String), Value::string));
        return false;
    };
    let (Some(old), Some(new)) = (prior.text("cluster_uid"), now) else { return false };
    if old == new {
        return false;
    }
    let detail = format!(
        "The connection leads to another cluster ({new} instead of {old}). All objects are destroyed there and made here."
    );
    call.diagnostics.push(Diagnostic::warning("Set moves to another cluster", detail));
    plan.object.set("cluster_uid", Value::string(new));
    plan.replace_for("cluster_uid");
    true
}

fn in_general(failure: &Failure, members: &[Member]) -> Stop {
    match members.first() {
        Some(member) => Stop::Wrong(failure.diagnostic("plan", &member.reference).into()),
        None => Stop::Unknown,
    }
}

/// What the trial of each object works with.
struct Trial<'t> {
    set: &'t SetResource,
    cluster: &'t Arc<Cluster>,
    id: Option<&'t str>,
    /// What it has until now.
    had: BTreeMap<String, Made>,
    replaced: Option<&'t str>,
    adopts: bool,
    force: bool,
}

impl Trial<'_> {
    async fn member(&self, member: &Member) -> Tried {
        match self.try_out(member).await {
            Ok(tried) => tried,
            Err(stop) => {
                let found = match stop {
                    Stop::Unknown => Diagnostics::new(),
                    Stop::Wrong(found) => found,
                };
                Tried { key: member.key.clone(), made: None, projection: None, is_same: false, found }
            }
        }
    }

    async fn try_out(&self, member: &Member) -> Result<Tried, Stop> {
        let reference = match self.cluster.complete(&member.reference).await {
            Ok(reference) => reference,
            Err(failure) => return Err(stopped(&failure, &member.reference)),
        };
        let live = self.cluster.get(&reference).await.map_err(|failure| stopped(&failure, &reference))?;
        let is_there = self.claimed(&reference, live.as_ref())?;
        let body = sent(&member.manifest, &reference);
        let write = Write {
            cluster: self.cluster,
            reference: &reference,
            body: &body,
            ignored: &Ignored::default(),
            id: self.id.unwrap_or(NO_ID),
            created_at: live.as_ref().and_then(|live| annotation(live, CREATED_ANNOTATION)).unwrap_or_default(),
            force: self.force,
        };
        let tried = write.try_out(live.as_ref()).await.map_err(|failure| stopped(&failure, &reference))?;
        let projection = projection_of(&member.key, &tried.value, self.id.unwrap_or(NO_ID));
        // Fingerprints need the id of the set.
        let is_open = self.id.is_none() && is_secret(&reference);
        Ok(Tried {
            key: member.key.clone(),
            made: live.as_ref().filter(|_| is_there).map(|live| made(&reference, live)),
            projection: (!is_open).then_some(projection),
            is_same: live.is_some_and(|live| same_content(&live, &tried.value)),
            found: server_warnings(&reference, &tried.warnings),
        })
    }

    /// Whether the object is there and stays. It is an error if it is there and not ours.
    fn claimed(&self, reference: &ObjectRef, live: Option<&Json>) -> Result<bool, Stop> {
        let has = uid_of(&self.had, reference);
        match claim(live, Claimant { id: self.id, has, replaces: self.replaced, adopts: self.adopts }) {
            Claim::Free => Ok(false),
            Claim::Ours | Claim::Adopted(_) => Ok(true),
            Claim::Replaced | Claim::Going => Err(Stop::Unknown),
            Claim::Managed(other) if self.set.run.has_met(&other) => Err(Stop::Unknown),
            Claim::Managed(other) => Err(managed_elsewhere(reference, &other).into()),
            Claim::Unmanaged => Err(exists_already(reference, TYPE_NAME).into()),
        }
    }
}

fn stopped(failure: &Failure, reference: &ObjectRef) -> Stop {
    match failure.kind {
        FailureKind::UnknownKind if may_be_defined(reference) => Stop::Unknown,
        FailureKind::NoNamespace => Stop::Unknown,
        FailureKind::Immutable => Stop::Wrong(remade(reference, failure).into()),
        _ => Stop::Wrong(failure.diagnostic("plan", reference).into()),
    }
}

/// A field cannot be changed. What can be made anew without a loss is; the rest is for people to decide.
fn remade(reference: &ObjectRef, failure: &Failure) -> Diagnostic {
    let object = shown(reference);
    if let Some(lost) = lost_with(&reference.kind) {
        let detail = format!(
            "The server refuses to change {object}: {failure}\n\nIt would have to be deleted and made anew. What would be lost: \
             {lost} That is not done inside of a set."
        );
        return Diagnostic::error("Object would have to be replaced", detail)
            .hint("Set the field back; or delete the object by other means, and apply again.");
    }
    let detail = format!("{object} is deleted and made anew, because the server refuses to change it: {failure}");
    Diagnostic::warning(format!("Object is replaced: {object}"), detail)
}

/// What is not in the set any more.
fn left_over(prior: &Object, plan: &Planned, members: &[Member]) -> Diagnostics {
    let is_wanted = |made: &Made| members.iter().any(|member| is_of(&member.reference, &made.reference));
    let prunes = plan.object.flag("prune").unwrap_or(true);
    let gone = objects_of(prior).into_values().filter(|made| !is_wanted(made));
    let names: Vec<String> = gone.map(|made| format!("\n  - {}", shown(&made.reference))).collect();
    if names.is_empty() {
        return Diagnostics::new();
    }
    let (summary, what) = if prunes {
        ("Objects are deleted", "These objects are not in the set any more, and are deleted:")
    } else {
        (
            "Objects are forgotten",
            "These objects are not in the set any more. They stay in the cluster, since prune is false:",
        )
    };
    Diagnostic::warning(summary, format!("{what}{}", names.concat())).into()
}

fn settle(plan: &mut Planned, prior: Option<&Object>, tried: &[Tried], is_unfinished: bool) {
    let made: Option<BTreeMap<String, Made>> =
        tried.iter().map(|tried| Some((tried.key.clone(), tried.made.clone()?))).collect();
    let projection: Option<Map> = tried
        .iter()
        .try_fold(Map::new(), |mut all, tried| {
            all.extend(tried.projection.clone()?);
            Some(all)
        })
        .filter(|_| !is_unfinished);
    let is_equal = prior.is_some_and(|prior| {
        made.as_ref() == Some(&objects_of(prior))
            && projection.is_some()
            && projection == map_of(prior, "managed_state_projection")
            && (says_the_same(prior, &plan.object) || tried.iter().all(|tried| tried.is_same))
    });
    if let (true, Some(prior)) = (is_equal, prior) {
        for name in ["yaml", "manifests"] {
            // Only what is given may stay as it was.
            if !plan.config.is_null(name) && !prior.is_null(name) {
                plan.object.set(name, prior.get(name));
            }
        }
    }
    match made {
        Some(made) => plan.object.set("objects", objects_value(&made)),
        // How far it comes is known only then: what is not made is not stored.
        None => plan.object.set_unknown("objects"),
    }
    match projection {
        Some(projection) => plan.object.set("managed_state_projection", map_value(&projection)),
        None => plan.object.set_unknown("managed_state_projection"),
    }
}

fn says_the_same(prior: &Object, planned: &Object) -> bool {
    let bodies = |object: &Object| {
        let members = members(object).ok()??;
        Some(members.into_iter().map(|member| (member.key, member.manifest)).collect::<Vec<_>>())
    };
    bodies(prior).is_some_and(|before| Some(before) == bodies(planned))
}

/// Where diagnostics about the objects point to.
pub(super) fn place(object: &Object) -> groma_model::path::Path {
    at(if object.is_null("yaml") { "manifests" } else { "yaml" })
}
