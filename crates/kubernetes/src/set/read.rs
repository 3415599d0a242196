//! Reading a set: what has become of its objects.

use std::collections::BTreeMap;

use groma_kit::{Call, Object};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::value::Value;

use super::readiness::{Seen, lacking, ready};
use super::schema::ready_timeout;
use super::stored::{Made, made, objects_of, projection_of, take_down};
use super::{SetResource, several};
use crate::cluster;
use crate::failure::{Failure, FailureKind};
use crate::manifest::ObjectRef;
use crate::object::claim::{ID_ANNOTATION, owner};
use crate::object::fields::Map;
use crate::object::find;
use crate::object::naming::shown;
use crate::private::{self, ANNOTATIONS_LOST, AWAITING, STALE_READ};

pub(super) async fn read(
    set: &SetResource,
    mut object: Object,
    call: &mut Call,
) -> Result<Option<Object>, Diagnostics> {
    let id = object.text("id").unwrap_or_default().to_owned();
    set.run.met(&id);
    let objects = objects_of(&object);
    let Some(cluster) = set.shared.connections.open_early(&cluster::read(&object), &mut call.diagnostics).await? else {
        return Ok(Some(kept(object, "How to reach their cluster is not known yet.", call)));
    };
    let cluster_uid = match cluster.identity().await {
        Ok(uid) => uid,
        Err(failure) if is_refusal(&failure) => return Ok(Some(refused(object, &failure, call))),
        Err(failure) => return Err(in_general(&failure, &objects)),
    };
    if let (Some(stored), Some(now)) = (object.text("cluster_uid"), cluster_uid.as_deref())
        && stored != now
    {
        let why = format!("They are in the cluster {stored}, and the connection leads to the cluster {now}.");
        return Ok(Some(kept(object, &why, call)));
    }
    let found = several(objects.values().map(|made| find(&cluster, &made.reference, false)).collect()).await;
    let mut seen = Vec::new();
    let mut wrong = Diagnostics::new();
    for ((key, stored), found) in objects.iter().zip(found) {
        match found {
            Ok(Some((reference, live))) => seen.push((key.clone(), stored.reference.clone(), Seen { reference, live })),
            Ok(None) => {}
            Err(failure) if is_refusal(&failure) => return Ok(Some(refused(object, &failure, call))),
            Err(failure) => wrong.push(failure.diagnostic("read", &stored.reference)),
        }
    }
    wrong.extend(foreign(&seen, &id));
    if wrong.has_errors() {
        return Err(wrong);
    }
    // A set that never had an object is there as well.
    if seen.is_empty() && !objects.is_empty() {
        return Ok(None);
    }
    note(&mut object, seen, &id, call);
    if let (true, Some(uid)) = (object.is_null("cluster_uid"), cluster_uid) {
        object.set("cluster_uid", Value::string(uid));
    }
    Ok(Some(object))
}

type Found = (String, ObjectRef, Seen);

fn note(object: &mut Object, found: Vec<Found>, id: &str, call: &mut Call) {
    let mut objects: BTreeMap<String, Made> = BTreeMap::new();
    let mut projection = Map::new();
    let mut lost = Vec::new();
    for (key, stored, seen) in &found {
        objects.insert(key.clone(), made(stored, &seen.live));
        projection.extend(projection_of(key, &seen.live, id));
        if owner(&seen.live).is_none() {
            lost.push(format!("\n  - {}", shown(stored)));
        }
    }
    take_down(object, &objects, &projection);
    if !lost.is_empty() {
        let detail = format!(
            "These objects have lost the annotation {ID_ANNOTATION}, by which the set knows them. The next apply writes it \
             again.{}",
            lost.concat()
        );
        call.diagnostics.push(Diagnostic::warning("Annotations were removed", detail));
    }
    private::change(&mut call.private, |kept| {
        kept.clear(STALE_READ);
        kept.set(ANNOTATIONS_LOST, !lost.is_empty());
    });
    if private::is_set(&call.private, AWAITING) {
        let seen: Vec<Seen> = found.into_iter().map(|(_, _, seen)| seen).collect();
        let lacks = ready(ready_timeout(object)).and_then(|wait| lacking(&wait, &seen)).map(|(_, lacks)| lacks);
        private::change(&mut call.private, |kept| kept.set(AWAITING, lacks.is_some()));
        call.not_ready = lacks;
    }
}

/// Objects that others manage now.
fn foreign(found: &[Found], id: &str) -> Diagnostics {
    let taken = found.iter().filter_map(|(_, reference, seen)| {
        let other = owner(&seen.live).filter(|other| *other != id)?;
        let detail = format!(
            "{} is managed by another resource now: its annotation {ID_ANNOTATION} is {other:?}, and not {id:?}.",
            shown(reference)
        );
        Some(Diagnostic::error("Object is managed elsewhere", detail))
    });
    taken.collect()
}

fn is_refusal(failure: &Failure) -> bool {
    matches!(failure.kind, FailureKind::Unauthenticated | FailureKind::Denied)
}

fn refused(object: Object, failure: &Failure, call: &mut Call) -> Object {
    kept(object, &format!("The server refuses to show them: {failure}."), call)
}

fn kept(object: Object, why: &str, call: &mut Call) -> Object {
    let detail = format!("{why} What is stored of the objects is kept, and may be out of date.");
    call.diagnostics.push(Diagnostic::warning("Set was not refreshed", detail));
    private::change(&mut call.private, |kept| kept.set(STALE_READ, true));
    object
}

fn in_general(failure: &Failure, objects: &BTreeMap<String, Made>) -> Diagnostics {
    match objects.values().next() {
        Some(any) => failure.diagnostic("read", &any.reference).into(),
        None => Diagnostic::error("Cluster cannot be reached", format!("{failure}")).into(),
    }
}
