//! Destroying an object, or letting it go.

use groma_kit::{Call, Object, at};
use groma_model::diag::Diagnostic;
use serde_json::json;

use super::claim::{CREATED_ANNOTATION, ID_ANNOTATION, owner};
use super::fields::owned;
use super::intent::delete_timeout;
use super::naming::{shown, uid};
use super::plan::stored_reference;
use super::removal::Removal;
use super::session::open;
use super::update::elsewhere;
use super::{ObjectResource, read};
use crate::Json;
use crate::api::{Apply, Cluster, Patch};
use crate::failure::{Failure, FailureKind};
use crate::manifest::ObjectRef;
use crate::ownership::MANAGER;
use crate::private::{self, IMPORTED};

pub(super) async fn delete(resource: &ObjectResource, prior: &Object, call: &mut Call) -> Result<(), Diagnostic> {
    let Some(stored) = stored_reference(prior) else { return Ok(()) };
    if prior.flag("delete_protection") == Some(true) {
        return Err(protected(&stored));
    }
    if let Some(id) = prior.text("id") {
        resource.run.met(id);
    }
    let cluster = open(&resource.shared, prior).await?;
    let failed = |failure: Failure| failure.diagnostic("delete", &stored);
    let cluster_uid = cluster.identity().await.map_err(failed)?;
    if let (Some(old), Some(now)) = (prior.text("cluster_uid"), cluster_uid.as_deref())
        && old != now
    {
        return Err(elsewhere(&format!("delete {}", shown(&stored)), old, now));
    }
    let found = read::find(&cluster, &stored, prior.is_null("object_ref")).await.map_err(failed)?;
    let Some((reference, live)) = found else { return Ok(()) };
    if let Some(why) = not_ours(prior, &live, call) {
        let object = shown(&reference);
        let detail = format!("{object} was not deleted: {why} What this resource had made is gone already.");
        call.diagnostics.push(Diagnostic::warning(format!("Object of others was left alone: {object}"), detail));
        return Ok(());
    }
    let policy = prior.text("delete_policy").unwrap_or("delete");
    if policy == "orphan" {
        return let_go(&cluster, &reference, &live).await;
    }
    let removal = Removal {
        cluster: &cluster,
        reference: &reference,
        propagation: propagation(policy),
        timeout: delete_timeout(prior, &reference.kind),
        force: prior.flag("force_destroy") == Some(true),
        clock: resource.shared.outside.clock.as_ref(),
    };
    if removal.remove(&live, call).await? {
        call.diagnostics.push(forced(&reference));
    }
    Ok(())
}

/// What becomes of what belongs to the object. The server's own default differs by kind and version, so it is always said.
fn propagation(policy: &str) -> &'static str {
    match policy {
        "foreground" => "Foreground",
        "orphan_dependents" => "Orphan",
        _ => "Background",
    }
}

fn protected(reference: &ObjectRef) -> Diagnostic {
    let detail = format!(
        "{} must not be destroyed: delete_protection is true. To destroy it after all, set delete_protection = false, apply \
         that, and destroy it then.",
        shown(reference)
    );
    Diagnostic::error("Object is protected from deletion", detail).at_path(at("delete_protection"))
}

/// Why an object in the place of ours is not ours.
fn not_ours(prior: &Object, live: &Json, call: &Call) -> Option<String> {
    match owner(live) {
        Some(other) if Some(other) != prior.text("id") => {
            Some(format!("it is managed by another resource now (its id is {other:?})."))
        }
        Some(_) => None,
        None if private::is_set(&call.private, IMPORTED) || !owned(live, MANAGER).is_empty() => None,
        None => Some("it has no annotation of ours, and no field that we wrote.".to_owned()),
    }
}

fn forced(reference: &ObjectRef) -> Diagnostic {
    let object = shown(reference);
    let detail = format!(
        "{object} was not gone after delete_timeout, so its finalizers were removed, since force_destroy is true. What they stand \
         for was not done."
    );
    Diagnostic::warning(format!("Finalizers were removed: {object}"), detail)
}

/// Leaves the object where it is, without what says that it is ours.
async fn let_go(cluster: &Cluster, reference: &ObjectRef, live: &Json) -> Result<(), Diagnostic> {
    if owner(live).is_none() {
        return Ok(());
    }
    let annotations = json!({ID_ANNOTATION: null, CREATED_ANNOTATION: null});
    let patch = Patch::Merge(json!({"metadata": {"uid": uid(live), "annotations": annotations}}));
    let how = Apply { manager: MANAGER, force: true, dry_run: false };
    match cluster.patch(reference, &patch, how).await {
        Ok(_) => Ok(()),
        // It is not there any more, or another one is.
        Err(failure) if failure.code == Some(404) || failure.kind == FailureKind::Outdated => Ok(()),
        Err(failure) => Err(failure.diagnostic("release", reference)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_policy_says_what_becomes_of_dependents() {
        assert_eq!(propagation("delete"), "Background");
        assert_eq!(propagation("background"), "Background");
        assert_eq!(propagation("foreground"), "Foreground");
        assert_eq!(propagation("orphan_dependents"), "Orphan");
    }
}
