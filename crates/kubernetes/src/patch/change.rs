//! Making, changing and undoing a patch.

use std::sync::Arc;

use groma_kit::{Call, Failed, Object, at};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::ty::Type;
use groma_model::value::Value;
use groma_provider::api::NotReady;

use super::content::{Content, whole};
use super::read::stored_target;
use super::target::{managed_as_a_whole, manager, overlap};
use super::trial::Patching;
use crate::Json;
use crate::api::{Apply, Cluster, Said};
use crate::failure::{Failure, FailureKind};
use crate::manifest::ObjectRef;
use crate::object::fields::{map_of, map_value};
use crate::object::naming::{reference_of, shown};
use crate::object::session::{Tries, may_come, new_id, open};
use crate::object::write::is_unanswered;
use crate::object::{elsewhere, server_warnings};
use crate::provider::{Host, Shared};

/// What a change works with.
struct Ground {
    cluster: Arc<Cluster>,
    cluster_uid: Option<String>,
    content: Content,
    target: ObjectRef,
}

pub(super) async fn create(shared: &Shared, mut planned: Object, call: &mut Call) -> Result<Object, Failed> {
    let ground = ground(shared, &planned).await?;
    let id = new_id(shared)?;
    planned.set("id", Value::string(id.as_str()));
    let failure = match write(shared, &ground, &manager(&id), call).await {
        Ok(written) => {
            record(&mut planned, &ground, &written, &id, call);
            return Ok(planned);
        }
        Err(Unwritten::Refused(wrong)) => return Err(wrong.into()),
        Err(Unwritten::InDoubt(failure)) => failure,
    };
    // The patch may be there. What is stored of it is enough to find it again, and to undo it.
    for name in ["managed_state_projection", "managed_fields"] {
        let known = map_of(&planned, name).unwrap_or_default();
        planned.set(name, map_value(&known));
    }
    settle_cluster(&mut planned, &ground);
    let wrong = failure.diagnostic("patch", &ground.target);
    if shared.host == Host::Other {
        return Err(Failed { diagnostics: wrong.into(), object: Some(planned) });
    }
    call.diagnostics.push(wrong);
    call.not_ready = Some(NotReady {
        waiting_for: "its state to be read back".to_owned(),
        last_seen: Some(failure.to_string()),
        patience: None,
    });
    Ok(planned)
}

pub(super) async fn update(
    shared: &Shared,
    prior: &Object,
    mut planned: Object,
    call: &mut Call,
) -> Result<Object, Failed> {
    let ground = ground(shared, &planned).await?;
    if let Some(wrong) = moved(prior, ground.cluster_uid.as_deref(), &ground.target) {
        return Err(wrong.into());
    }
    let id = prior.text("id").unwrap_or_default().to_owned();
    let manager = manager(&id);
    let was_applied = matches!(Content::read(prior), Ok(Some(Content::Apply(_))));
    if was_applied && !matches!(ground.content, Content::Apply(_)) {
        let target = complete(&ground).await?;
        let before =
            Patching { cluster: &ground.cluster, target: &target, content: &ground.content, manager: &manager };
        before.release(false).await.map_err(|failure| failure.diagnostic("release", &target))?;
    }
    let written = write(shared, &ground, &manager, call).await.map_err(|unwritten| match unwritten {
        Unwritten::Refused(wrong) => wrong,
        Unwritten::InDoubt(failure) => failure.diagnostic("patch", &ground.target),
    })?;
    record(&mut planned, &ground, &written, &id, call);
    Ok(planned)
}

async fn complete(ground: &Ground) -> Result<ObjectRef, Diagnostic> {
    let completed = ground.cluster.complete(&ground.target).await;
    completed.map_err(|failure| failure.diagnostic("patch", &ground.target))
}

async fn ground(shared: &Shared, planned: &Object) -> Result<Ground, Diagnostics> {
    let unknown = |name: &str| {
        let detail = "It is still not known, although it must be by now.";
        Diagnostic::error("Patch is not known", detail).at_path(at(name))
    };
    let content = Content::read(planned)?.ok_or_else(|| unknown("patch"))?;
    let target = reference_of(&planned.get("target")).ok_or_else(|| unknown("target"))?;
    let cluster = open(shared, planned).await?;
    let cluster_uid = cluster.identity().await.map_err(|failure| failure.diagnostic("patch", &target))?;
    Ok(Ground { cluster, cluster_uid, content, target })
}

/// What was written, and what the object is called.
struct Written {
    target: ObjectRef,
    manager: String,
    said: Said<Json>,
}

/// Patches the object, once it is there that may be made by the same apply.
async fn write(shared: &Shared, ground: &Ground, manager: &str, call: &Call) -> Result<Written, Unwritten> {
    let mut tries = Tries::default();
    loop {
        let failure = match try_once(ground, manager).await {
            Ok(written) => return Ok(written),
            Err(Trouble::Refused(wrong)) => return Err(Unwritten::Refused(wrong)),
            Err(Trouble::InDoubt(failure)) => return Err(Unwritten::InDoubt(failure)),
            Err(Trouble::Failed(failure)) => failure,
        };
        if !may_come(&failure) || !tries.again(call, shared.outside.clock.as_ref()).await {
            let wrong = failure.diagnostic("patch", &ground.target).at_path(at(ground.content.form()));
            return Err(Unwritten::Refused(wrong));
        }
    }
}

/// Why nothing was written, as far as anybody knows.
enum Unwritten {
    Refused(Diagnostic),
    /// The server may have done what it did not answer to.
    InDoubt(Failure),
}

enum Trouble {
    Failed(Failure),
    Refused(Diagnostic),
    InDoubt(Failure),
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

async fn try_once(ground: &Ground, manager: &str) -> Result<Written, Trouble> {
    let Ground { cluster, content, .. } = ground;
    let target = cluster.complete(&ground.target).await?;
    let live = cluster.get(&target).await?.ok_or_else(|| Trouble::Refused(missing(&target)))?;
    if let Some(wrong) = managed_as_a_whole(&live, &target) {
        return Err(Trouble::Refused(wrong));
    }
    let patching = Patching { cluster, target: &target, content, manager };
    let tried = patching.try_out(&live).await?;
    if let Some(wrong) = overlap(&live, &patching.places(&tried.value), manager, &target) {
        return Err(Trouble::Refused(wrong));
    }
    let said = patching.write(&live).await.map_err(|failure| {
        if is_unanswered(&failure) { Trouble::InDoubt(failure) } else { Trouble::Failed(failure) }
    })?;
    Ok(Written { manager: manager.to_owned(), said, target })
}

fn missing(target: &ObjectRef) -> Diagnostic {
    let detail = format!(
        "{} does not exist, so it cannot be patched. If this configuration makes it, let the patch depend on that (depends_on).",
        shown(target)
    );
    Diagnostic::error("Patch target does not exist", detail).at_path(at("target"))
}

/// Completes a plan with what has become of it.
fn record(planned: &mut Object, ground: &Ground, written: &Written, id: &str, call: &mut Call) {
    let Written { target, manager, said } = written;
    let patching = Patching { cluster: &ground.cluster, target, content: &ground.content, manager };
    if map_of(planned, "managed_state_projection").is_none() {
        call.diagnostics.extend(server_warnings(target, &said.warnings));
        planned.set("managed_state_projection", map_value(&patching.projection(&said.value, id)));
    }
    if map_of(planned, "managed_fields").is_none() {
        planned.set("managed_fields", map_value(&patching.managed(&said.value)));
    }
    settle_cluster(planned, ground);
}

fn settle_cluster(planned: &mut Object, ground: &Ground) {
    if planned.is_unknown("cluster_uid") {
        let uid = ground.cluster_uid.as_deref();
        planned.set("cluster_uid", uid.map_or_else(|| Value::null(Type::String), Value::string));
    }
}

fn moved(prior: &Object, now: Option<&str>, target: &ObjectRef) -> Option<Diagnostic> {
    let (stored, now) = (prior.text("cluster_uid")?, now?);
    (stored != now).then(|| elsewhere(&format!("patch or release {}", shown(target)), stored, now))
}

/// Undoes a patch, as far as that can be done.
pub(super) async fn delete(shared: &Shared, prior: &Object, call: &mut Call) -> Result<(), Diagnostic> {
    let stored = stored_target(prior)?;
    let Ok(Some(content)) = Content::read(prior) else { return Ok(()) };
    let Content::Apply(part) = &content else {
        call.diagnostics.push(values_stay(&stored, content.form()));
        return Ok(());
    };
    let cluster = open(shared, prior).await?;
    let failed = |failure: Failure| failure.diagnostic("release", &stored);
    let now = cluster.identity().await.map_err(failed)?;
    if let Some(wrong) = moved(prior, now.as_deref(), &stored) {
        return Err(wrong);
    }
    let target = match cluster.complete(&stored).await {
        Ok(target) => target,
        Err(failure) if failure.kind == FailureKind::UnknownKind => return Ok(()),
        Err(failure) => return Err(failed(failure)),
    };
    // To apply to an object that is gone would make it.
    if cluster.get(&target).await.map_err(failed)?.is_none() {
        return Ok(());
    }
    let manager = manager(prior.text("id").unwrap_or_default());
    let patching = Patching { cluster: &cluster, target: &target, content: &content, manager: &manager };
    match patching.release(false).await {
        Ok(_) => Ok(()),
        Err(failure) if matches!(failure.kind, FailureKind::Invalid | FailureKind::Immutable) => {
            // What the object cannot be without stays, and another manager holds it until somebody takes it.
            let holder = format!("k8sconnect-released-{}", prior.text("id").unwrap_or_default());
            let how = Apply { manager: &holder, force: true, dry_run: false };
            cluster.apply(&target, &whole(part, &target), how).await.map_err(failed)?;
            patching.release(false).await.map_err(failed)?;
            call.diagnostics.push(values_stay(&target, content.form()));
            Ok(())
        }
        Err(failure) => Err(failed(failure)),
    }
}

fn values_stay(target: &ObjectRef, form: &str) -> Diagnostic {
    let object = shown(target);
    let why = if form == "patch" {
        "The object cannot be without some of the fields that the patch has set"
    } else {
        "What was there before is not known"
    };
    let detail =
        format!("{why}, so {object} stays as it is. The patch is forgotten, and nobody holds its fields any more.");
    Diagnostic::warning(format!("Patched values stay: {object}"), detail)
}
