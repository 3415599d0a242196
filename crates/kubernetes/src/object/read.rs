//! Reading an object: what has become of it.

use std::sync::Arc;

use groma_kit::{Call, Object};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::value::Value;

use super::claim::{ID_ANNOTATION, owner};
use super::fields::{managers, map_of, map_value, reread};
use super::intent::ignored;
use super::naming::{group, is_going, reference_value, shown};
use super::plan::stored_reference;
use super::{ObjectResource, readiness};
use crate::Json;
use crate::api::Cluster;
use crate::cluster;
use crate::failure::{Failure, FailureKind};
use crate::manifest::ObjectRef;
use crate::private::{self, ANNOTATIONS_LOST, AWAITING, IMPORTED, PENDING_PROJECTION, STALE_READ};

/// Why an object was not read.
enum Unread {
    /// What is stored is kept, since nobody may look now.
    Kept(Diagnostic),
    Wrong(Diagnostic),
}

pub(super) async fn read(
    resource: &ObjectResource,
    mut object: Object,
    call: &mut Call,
) -> Result<Option<Object>, Diagnostics> {
    if let Some(id) = object.text("id") {
        resource.run.met(id);
    }
    let Some(stored) = stored_reference(&object) else {
        let detail = "Neither object_ref nor yaml_body of the stored object say what it is called.";
        return Err(Diagnostic::error("Stored object has no name", detail).into());
    };
    let found = match look(resource, &object, &stored, &mut call.diagnostics).await {
        Ok(found) => found,
        Err(Unread::Kept(warning)) => {
            call.diagnostics.push(warning);
            private::change(&mut call.private, |kept| kept.set(STALE_READ, true));
            return Ok(Some(object));
        }
        Err(Unread::Wrong(wrong)) => return Err(wrong.into()),
    };
    let Some(found) = found else { return Ok(None) };
    judge_owner(&object, &stored, &found.live, call)?;
    take_down(&mut object, &found)?;
    if let Some(id) = object.text("id") {
        resource.run.saw(id, &found.reference, &found.live, resource.shared.outside.clock.now());
    }
    if is_going(&found.live) {
        call.diagnostics.push(going(&stored));
    }
    private::change(&mut call.private, |kept| {
        kept.clear(STALE_READ);
        kept.clear(PENDING_PROJECTION);
    });
    if private::is_set(&call.private, AWAITING) {
        let seen = (found.cluster.as_ref(), &found.reference, &found.live);
        readiness::judge_again(resource, &object, seen, call).await;
    }
    Ok(Some(object))
}

/// An object that was found.
struct Found {
    cluster: Arc<Cluster>,
    cluster_uid: Option<String>,
    reference: ObjectRef,
    live: Json,
}

async fn look(
    resource: &ObjectResource,
    object: &Object,
    stored: &ObjectRef,
    told: &mut Diagnostics,
) -> Result<Option<Found>, Unread> {
    let given = cluster::read(object);
    let opened = resource.shared.connections.open_early(&given, told).await.map_err(Unread::Wrong)?;
    let Some(cluster) = opened else {
        return Err(Unread::Kept(not_read(stored, "How to reach its cluster is not known yet.")));
    };
    let failed = |failure: Failure| unread(&failure, stored);
    let cluster_uid = cluster.identity().await.map_err(failed)?;
    if let (Some(stored_uid), Some(now)) = (object.text("cluster_uid"), cluster_uid.as_deref())
        && stored_uid != now
    {
        let why = format!("It is in the cluster {stored_uid}, and the connection leads to the cluster {now}.");
        return Err(Unread::Kept(not_read(stored, &why)));
    }
    let found = find(&cluster, stored, object.is_null("object_ref")).await.map_err(failed)?;
    Ok(found.map(|(reference, live)| Found { cluster, cluster_uid, reference, live }))
}

/// Finds an object by its name; by another version of its group if the server has stopped serving the one that it was made with.
pub(crate) async fn find(
    cluster: &Cluster,
    stored: &ObjectRef,
    is_as_written: bool,
) -> Result<Option<(ObjectRef, Json)>, Failure> {
    let reference = if is_as_written { cluster.complete(stored).await } else { Ok(stored.clone()) };
    let got = match reference {
        Ok(reference) => cluster.get(&reference).await.map(|live| live.map(|live| (reference, live))),
        Err(failure) => Err(failure),
    };
    match got {
        Err(failure) if failure.kind == FailureKind::UnknownKind => {
            let Some(other) = other_version(cluster, stored).await? else { return Ok(None) };
            Ok(cluster.get(&other).await?.map(|live| (other, live)))
        }
        Err(failure) if failure.kind == FailureKind::NoNamespace => Ok(None),
        got => got,
    }
}

async fn other_version(cluster: &Cluster, stored: &ObjectRef) -> Result<Option<ObjectRef>, Failure> {
    let kinds = cluster.listable_kinds().await?;
    let same = |api_version: &str| group(api_version) == group(&stored.api_version);
    let found = kinds.into_iter().find(|kind| kind.kind == stored.kind && same(&kind.api_version));
    Ok(found.map(|kind| ObjectRef { api_version: kind.api_version, ..stored.clone() }))
}

fn unread(failure: &Failure, reference: &ObjectRef) -> Unread {
    match failure.kind {
        FailureKind::Unauthenticated | FailureKind::Denied => {
            let why = format!(
                "The server refuses to show it: {failure}. If credentials have expired, the next apply stores new ones."
            );
            Unread::Kept(not_read(reference, &why))
        }
        _ => Unread::Wrong(failure.diagnostic("read", reference)),
    }
}

fn not_read(reference: &ObjectRef, why: &str) -> Diagnostic {
    let object = shown(reference);
    let detail = format!("{why} What is stored of {object} is kept, and may be out of date.");
    Diagnostic::warning(format!("Object was not refreshed: {object}"), detail)
}

/// Whether it is still ours.
fn judge_owner(object: &Object, reference: &ObjectRef, live: &Json, call: &mut Call) -> Result<(), Diagnostics> {
    let id = object.text("id").unwrap_or_default();
    let is_lost = match owner(live) {
        Some(other) if other != id => return Err(taken(reference, id, other).into()),
        Some(_) => false,
        None => !private::is_set(&call.private, IMPORTED),
    };
    if is_lost {
        let name = shown(reference);
        let detail = format!(
            "{name} is there, but has lost the annotation {ID_ANNOTATION}, by which this resource knows it. The next apply \
             writes it again."
        );
        call.diagnostics.push(Diagnostic::warning(format!("Annotation was removed: {name}"), detail));
    }
    private::change(&mut call.private, |kept| kept.set(ANNOTATIONS_LOST, is_lost));
    Ok(())
}

fn taken(reference: &ObjectRef, id: &str, other: &str) -> Diagnostic {
    let detail = format!(
        "{} is managed by another resource now: its annotation {ID_ANNOTATION} is {other:?}, and not {id:?}. Nothing is done to it.",
        shown(reference)
    );
    Diagnostic::error("Object is managed elsewhere", detail)
        .hint("If two resources are meant to be the same object, remove one of them.")
        .hint("If the other one is right, take this one out of the state (state rm) and out of the configuration.")
}

fn going(reference: &ObjectRef) -> Diagnostic {
    let object = shown(reference);
    let detail = format!("Somebody has deleted {object}. It is still there, but will not be for long.");
    Diagnostic::warning(format!("Object is being deleted: {object}"), detail)
}

/// Takes down how it is.
fn take_down(object: &mut Object, found: &Found) -> Result<(), Diagnostics> {
    let ignored = ignored(&object.get("ignore_fields"))?;
    let id = object.text("id").unwrap_or_default().to_owned();
    let before = map_of(object, "managed_state_projection").unwrap_or_default();
    object.set("managed_state_projection", map_value(&reread(&found.live, &before, &ignored, &id)));
    object.set("managed_fields", map_value(&managers(&found.live)));
    if object.is_null("object_ref") {
        object.set("object_ref", reference_value(&found.reference));
    }
    if object.is_null("cluster_uid")
        && let Some(uid) = &found.cluster_uid
    {
        object.set("cluster_uid", Value::string(uid.as_str()));
    }
    Ok(())
}
