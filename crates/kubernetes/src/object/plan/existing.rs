//! The plan of an object that is there: what changes, what only looks different, and what needs a new one.

use groma_kit::{Call, Object, Planned};
use groma_model::diag::Diagnostic;
use groma_model::value::Value;

use super::{Ground, Stop, from_failure, leave_open, server_warnings, stored_reference};
use crate::Json;
use crate::failure::{Failure, FailureKind};
use crate::manifest::Manifest;
use crate::object::ObjectResource;
use crate::object::body::{same_content, sent};
use crate::object::claim::{CREATED_ANNOTATION, annotation, managed_elsewhere, owner};
use crate::object::fields::{Map, managers, map_of, map_value, owned, predicted, projected};
use crate::object::naming::{IdentityChange, identity_change, reference_value, shown, uid};
use crate::object::transitions::{Ownership, transitions};
use crate::object::write::Write;
use crate::ownership::MANAGER;
use crate::path::FieldPath;
use crate::private::{ANNOTATIONS_LOST, IMPORTED, Kept, OWNERSHIP_BASELINE, PENDING_PROJECTION};

pub(super) async fn plan(
    resource: &ObjectResource,
    ground: &Ground,
    plan: &mut Planned,
    call: &mut Call,
) -> Result<(), Stop> {
    let Some(prior) = plan.prior.clone() else { return Ok(()) };
    if is_elsewhere(ground, &prior, plan, call) {
        leave_open(plan);
        return Ok(());
    }
    let is_version_change = match name_change(ground, &prior).await? {
        IdentityChange::Same => false,
        IdentityChange::Version => true,
        IdentityChange::Other(what) => {
            plan.replace_for("yaml_body");
            call.diagnostics.push(another_object(ground, &prior, &what));
            leave_open(plan);
            return Ok(());
        }
    };
    // What was suspected without asking was wrong: a namespace that is only written out now.
    plan.requires_replace.retain(|path| *path != groma_kit::at("yaml_body"));
    let reference = &ground.reference;
    let failed = |failure: Failure| from_failure(&failure, reference);
    let live = live(resource, ground, &prior).await.map_err(failed)?;
    if let (Some(other), Some(id)) = (live.as_ref().and_then(owner), prior.text("id"))
        && other != id
    {
        return Err(managed_elsewhere(reference, other).into());
    }
    let tried = match try_out(ground, &prior, live.as_ref()).await {
        Ok(tried) => tried,
        Err(failure) if failure.kind == FailureKind::Immutable => {
            replace(plan, call, ground, &failure);
            return Ok(());
        }
        Err(failure) => return Err(failed(failure)),
    };
    if is_version_change && !is_same_object(live.as_ref(), &tried.value) {
        plan.replace_for("yaml_body");
        call.diagnostics.push(another_object(ground, &prior, &["apiVersion"]));
        leave_open(plan);
        return Ok(());
    }
    call.diagnostics.extend(server_warnings(reference, &tried.warnings));
    let trial =
        Trial { ground, prior: &prior, live: live.as_ref(), tried: &tried.value, kept: Kept::of(&call.private) };
    call.diagnostics.extend(trial.warnings(plan));
    trial.settle(plan);
    Ok(())
}

/// How the object is: as it was just read, or as the server says.
async fn live(resource: &ObjectResource, ground: &Ground, prior: &Object) -> Result<Option<Json>, Failure> {
    let now = resource.shared.outside.clock.now();
    match prior.text("id").and_then(|id| resource.run.take_seen(id, &ground.reference, now)) {
        Some(seen) => Ok(Some(seen)),
        None => ground.cluster.get(&ground.reference).await,
    }
}

/// Whether the configuration now leads to another cluster. Then the object is made anew there.
fn is_elsewhere(ground: &Ground, prior: &Object, plan: &mut Planned, call: &mut Call) -> bool {
    let (Some(old), Some(new)) = (prior.text("cluster_uid"), ground.cluster_uid.as_deref()) else { return false };
    if old == new {
        return false;
    }
    plan.object.set("cluster_uid", Value::string(new));
    plan.replace_for("cluster_uid");
    let object = shown(&ground.reference);
    let detail = format!(
        "The connection leads to another cluster than the one that {object} is in ({new} instead of {old}). The object is \
         destroyed there and made here."
    );
    call.diagnostics.push(Diagnostic::warning(format!("Object moves to another cluster: {object}"), detail));
    true
}

async fn name_change(ground: &Ground, prior: &Object) -> Result<IdentityChange, Stop> {
    let Some(old) = stored_reference(prior) else { return Ok(IdentityChange::Same) };
    let has_reference = !prior.is_null("object_ref");
    // A state without `object_ref` has the name as it is written.
    let old = if has_reference { old } else { ground.cluster.complete(&old).await.unwrap_or(old) };
    Ok(identity_change(&old, &ground.reference))
}

fn another_object(ground: &Ground, prior: &Object, what: &[&str]) -> Diagnostic {
    let old = stored_reference(prior).map(|old| shown(&old)).unwrap_or_default();
    let new = shown(&ground.reference);
    let detail =
        format!("{} changes, so this is another object: {old} is destroyed, and {new} is made.", what.join(", "));
    Diagnostic::warning(format!("Object is replaced: {new}"), detail)
}

fn is_same_object(live: Option<&Json>, tried: &Json) -> bool {
    live.is_some_and(|live| uid(live).is_some() && uid(live) == uid(tried))
}

async fn try_out(ground: &Ground, prior: &Object, live: Option<&Json>) -> Result<crate::api::Said<Json>, Failure> {
    let Ground { intent, cluster, reference, .. } = ground;
    let body = sent(&intent.manifest, reference);
    let write = Write {
        cluster,
        reference,
        body: &body,
        ignored: &intent.ignored,
        id: prior.text("id").unwrap_or_default(),
        created_at: live.and_then(|live| annotation(live, CREATED_ANNOTATION)).unwrap_or_default(),
        force: intent.force,
    };
    write.try_out(live).await
}

/// A field cannot be changed: the object is made anew.
fn replace(plan: &mut Planned, call: &mut Call, ground: &Ground, failure: &Failure) {
    leave_open(plan);
    // A change must be the reason, and the manifest may be the same: then others have changed the field.
    let reason = if plan.changes("yaml_body") { "yaml_body" } else { "managed_state_projection" };
    plan.replace_for(reason);
    let object = shown(&ground.reference);
    let lost = lost_with(&ground.reference.kind).map(|lost| format!("\n\nWhat is lost: {lost}")).unwrap_or_default();
    let detail =
        format!("{object} is destroyed and made anew, because the server refuses to change it: {failure}{lost}");
    call.diagnostics.push(
        Diagnostic::warning(format!("Object is replaced: {object}"), detail)
            .at_path(groma_kit::at("yaml_body"))
            .hint("To leave such a field as it is, put it into ignore_fields; to forbid this, set delete_protection."),
    );
}

/// What goes with an object of this kind.
pub(crate) fn lost_with(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "PersistentVolumeClaim" => "the volume and all data on it, unless its reclaim policy is Retain.",
        "PersistentVolume" => "the binding to its claim; and the data, unless its reclaim policy is Retain.",
        "StatefulSet" => {
            "its pods stop all at once. Claims of its volume templates stay, unless its retention policy says otherwise."
        }
        "Namespace" => "everything in the namespace, whoever made it.",
        "CustomResourceDefinition" => "all objects of the kind in the whole cluster.",
        _ => return None,
    })
}

/// What the server said, and what it is compared with.
struct Trial<'t> {
    ground: &'t Ground,
    prior: &'t Object,
    live: Option<&'t Json>,
    tried: &'t Json,
    kept: Kept,
}

impl Trial<'_> {
    fn settle(&self, plan: &mut Planned) {
        let id = self.prior.text("id").unwrap_or_default();
        let ignored = &self.ground.intent.ignored;
        let project = |object: &Json| projected(object, MANAGER, ignored, id);
        let (projection, now) = (project(self.tried), self.live.map(project));
        let stored = map_of(self.prior, "managed_state_projection").unwrap_or_default();
        let is_equal = projection == stored && self.live.is_some() && self.means_the_same();
        if is_equal {
            for name in ["yaml_body", "managed_state_projection"] {
                plan.object.set(name, self.prior.get(name));
            }
        } else {
            plan.object.set("managed_state_projection", map_value(&projection));
        }
        let keeps_reference = is_equal && !self.prior.is_null("object_ref");
        let reference =
            if keeps_reference { self.prior.get("object_ref") } else { reference_value(&self.ground.reference) };
        plan.object.set("object_ref", reference);
        let is_unfinished = [ANNOTATIONS_LOST, IMPORTED, PENDING_PROJECTION].iter().any(|flag| self.kept.is_set(flag));
        // Something must be seen to change, or nothing is done.
        let must_write = is_unfinished || (is_equal && now.as_ref() != Some(&projection));
        let before = map_of(self.prior, "managed_fields");
        if must_write || plan.changes("ignore_fields") {
            plan.object.set_unknown("managed_fields");
        } else if is_equal && before.is_none() {
            plan.object.set("managed_fields", self.prior.get("managed_fields"));
        } else {
            let before = before.or_else(|| self.live.map(managers)).unwrap_or_default();
            plan.object.set("managed_fields", map_value(&predicted(&before, self.tried)));
        }
    }

    /// Whether the manifest says what it said, in whatever words.
    fn means_the_same(&self) -> bool {
        self.says_the_same() || self.live.is_some_and(|live| same_content(live, self.tried))
    }

    fn says_the_same(&self) -> bool {
        let before = self.prior.text("yaml_body").and_then(|text| Manifest::parse(text).ok());
        before.is_some_and(|before| before.object == self.ground.intent.manifest)
    }

    /// What changes hands.
    fn warnings(&self, plan: &Planned) -> Vec<Diagnostic> {
        let Some(live) = self.live else { return Vec::new() };
        let is_imported = self.kept.is_set(IMPORTED);
        let config_changed = is_imported || plan.changes("ignore_fields") || !self.says_the_same();
        let sent = owned(self.tried, MANAGER).iter().map(ToString::to_string).collect();
        let ignored = &self.ground.intent.ignored;
        let is_left = |place: &FieldPath| place.find(live).is_some() && place.find(&ignored.without(live)).is_none();
        let is_ignored = |place: &str| !ignored.is_empty() && place.parse().is_ok_and(|place| is_left(&place));
        let ownership = Ownership {
            baseline: &baseline(&self.kept),
            now: &managers(live),
            sent: &sent,
            config_changed,
            is_ignored: &is_ignored,
        };
        transitions(&ownership).warnings(&self.ground.reference)
    }
}

/// Who owned what when we wrote last.
fn baseline(kept: &Kept) -> Map {
    let stored = kept.get(OWNERSHIP_BASELINE);
    let members = stored.as_ref().and_then(Json::as_object).into_iter().flatten();
    members.filter_map(|(place, who)| Some((place.clone(), who.as_str()?.to_owned()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_whose_loss_hurts_are_named() {
        for kind in
            ["PersistentVolumeClaim", "PersistentVolume", "StatefulSet", "Namespace", "CustomResourceDefinition"]
        {
            assert!(lost_with(kind).is_some(), "{kind}");
        }
        assert_eq!(lost_with("ConfigMap"), None);
    }
}
