//! Reading a patch: what has become of the fields that it sets. Nothing is ever written here.

use std::sync::Arc;

use groma_kit::{Call, Object};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::value::Value;

use super::content::Content;
use super::target::manager;
use super::trial::Patching;
use crate::api::Cluster;
use crate::cluster;
use crate::failure::{Failure, FailureKind};
use crate::manifest::ObjectRef;
use crate::object::fields::map_value;
use crate::object::naming::{reference_of, shown};
use crate::private::{self, STALE_READ};
use crate::provider::Shared;

pub(super) async fn read(shared: &Shared, mut object: Object, call: &mut Call) -> Result<Option<Object>, Diagnostics> {
    let target = stored_target(&object)?;
    let Some(content) = Content::read(&object)? else { return Ok(Some(object)) };
    let kept = |why: &str, call: &mut Call| {
        let name = shown(&target);
        let detail = format!("{why} What is stored of the patch of {name} is kept, and may be out of date.");
        call.diagnostics.push(Diagnostic::warning(format!("Patch was not refreshed: {name}"), detail));
        private::change(&mut call.private, |kept| kept.set(STALE_READ, true));
    };
    let Some(cluster) = shared.connections.open_early(&cluster::read(&object), &mut call.diagnostics).await? else {
        kept("How to reach its cluster is not known yet.", call);
        return Ok(Some(object));
    };
    let found = match look(&cluster, &target).await {
        Ok(found) => found,
        Err(failure) if matches!(failure.kind, FailureKind::Unauthenticated | FailureKind::Denied) => {
            kept(&format!("The server refuses to show it: {failure}."), call);
            return Ok(Some(object));
        }
        Err(failure) => return Err(failure.diagnostic("read", &target).into()),
    };
    if let (Some(stored), Some(now)) = (object.text("cluster_uid"), found.cluster_uid.as_deref())
        && stored != now
    {
        kept(&format!("It is in the cluster {stored}, and the connection leads to the cluster {now}."), call);
        return Ok(Some(object));
    }
    let Some((reference, live)) = found.object else { return Ok(None) };
    let id = object.text("id").unwrap_or_default().to_owned();
    let manager = manager(&id);
    let patching = Patching { cluster: &cluster, target: &reference, content: &content, manager: &manager };
    object.set("managed_state_projection", map_value(&patching.projection(&live, &id)));
    object.set("managed_fields", map_value(&patching.managed(&live)));
    if let (true, Some(uid)) = (object.is_null("cluster_uid"), found.cluster_uid) {
        object.set("cluster_uid", Value::string(uid));
    }
    private::change(&mut call.private, |kept| kept.clear(STALE_READ));
    Ok(Some(object))
}

/// The object that a stored patch is for.
pub(super) fn stored_target(object: &Object) -> Result<ObjectRef, Diagnostic> {
    reference_of(&object.get("target")).ok_or_else(|| {
        let detail = "The target of the stored patch does not say which object it is for.";
        Diagnostic::error("Stored patch has no target", detail)
    })
}

struct Found {
    cluster_uid: Option<String>,
    object: Option<(ObjectRef, crate::Json)>,
}

async fn look(cluster: &Arc<Cluster>, target: &ObjectRef) -> Result<Found, Failure> {
    let cluster_uid = cluster.identity().await?;
    let reference = match cluster.complete(target).await {
        Ok(reference) => reference,
        // Without its kind it is not there either.
        Err(failure) if failure.kind == FailureKind::UnknownKind => return Ok(Found { cluster_uid, object: None }),
        Err(failure) => return Err(failure),
    };
    let live = match cluster.get(&reference).await {
        Err(failure) if failure.kind == FailureKind::NoNamespace => None,
        got => got?,
    };
    Ok(Found { cluster_uid, object: live.map(|live| (reference, live)) })
}
