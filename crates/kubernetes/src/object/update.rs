//! Changing an object in place.

use groma_kit::{Call, Failed, Object, at};
use groma_model::diag::Diagnostic;

use super::body::sent;
use super::claim::{CREATED_ANNOTATION, annotation, managed_elsewhere, owner};
use super::create::known_intent;
use super::legacy::succeed;
use super::naming::shown;
use super::record::Written;
use super::session::{Tries, may_come, now, open};
use super::write::Write;
use super::{ObjectResource, readiness, server_warnings};
use crate::Json;
use crate::api::Said;
use crate::failure::Failure;
use crate::private::{self, IMPORTED};

pub(super) async fn update(
    resource: &ObjectResource,
    prior: &Object,
    mut planned: Object,
    config: &Object,
    call: &mut Call,
) -> Result<Object, Failed> {
    // What is stored may say more than what is written: an import takes down the whole object, and it stays if nothing about it changes.
    let mut wanted = planned.clone();
    wanted.set("yaml_body", config.get("yaml_body"));
    let intent = known_intent(&wanted)?;
    let cluster = open(&resource.shared, &planned).await?;
    let failed = |failure: Failure| failure.diagnostic("update", &intent.reference).at_path(at("yaml_body"));
    let cluster_uid = cluster.identity().await.map_err(failed)?;
    if let (Some(stored), Some(now)) = (prior.text("cluster_uid"), cluster_uid.as_deref())
        && stored != now
    {
        return Err(elsewhere(&format!("update {}", shown(&intent.reference)), stored, now).into());
    }
    let clock = resource.shared.outside.clock.as_ref();
    let id = prior.text("id").unwrap_or_default();
    resource.run.met(id);
    let mut tries = Tries::default();
    let (reference, mut said) = loop {
        let tried = match cluster.complete(&intent.reference).await {
            Ok(reference) => {
                let _alone = resource.run.alone_with(cluster_uid.as_deref(), &reference).await;
                let body = sent(&intent.manifest, &reference);
                let now = now(&resource.shared);
                let write = Write {
                    cluster: &cluster,
                    reference: &reference,
                    body: &body,
                    ignored: &intent.ignored,
                    id,
                    created_at: &now,
                    force: intent.force,
                };
                rewrite(write).await.map(|said| (reference.clone(), said))
            }
            Err(failure) => Err(Trouble::Failed(failure)),
        };
        match tried {
            Ok(done) => break done,
            Err(Trouble::Failed(failure)) if may_come(&failure) && tries.again(call, clock).await => {}
            Err(Trouble::Failed(failure)) => return Err(failed(failure).into()),
            Err(Trouble::Refused(wrong)) => return Err(wrong.into()),
        }
    };
    if private::is_set(&call.private, IMPORTED) {
        said.value = succeed(&cluster, &reference, said.value).await;
    }
    if !planned.is_wholly_known("managed_state_projection") {
        call.diagnostics.extend(server_warnings(&reference, &said.warnings));
    }
    let written = Written { id, reference: &reference, cluster_uid: cluster_uid.as_deref(), ignored: &intent.ignored };
    written.record(&mut planned, &said.value, call);
    readiness::judge_written(resource, &planned, &said.value, call);
    Ok(planned)
}

enum Trouble {
    Failed(Failure),
    Refused(Diagnostic),
}

/// Writes an object that is there; or makes it again, if it has gone meanwhile.
async fn rewrite(write: Write<'_>) -> Result<Said<Json>, Trouble> {
    let live = write.cluster.get(write.reference).await.map_err(Trouble::Failed)?;
    let Some(live) = live else { return write.make().await.map_err(|unwritten| Trouble::Failed(unwritten.failure)) };
    if let Some(other) = owner(&live).filter(|other| *other != write.id) {
        return Err(Trouble::Refused(managed_elsewhere(write.reference, other)));
    }
    let created_at = annotation(&live, CREATED_ANNOTATION).unwrap_or(write.created_at).to_owned();
    let write = Write { created_at: &created_at, ..write };
    write.change(&live).await.map_err(|unwritten| Trouble::Failed(unwritten.failure))
}

/// Why nothing is done to what is in another cluster. `doing` says what to what.
pub(crate) fn elsewhere(doing: &str, stored: &str, now: &str) -> Diagnostic {
    let detail =
        format!("Refused to {doing}: that is in the cluster {stored}, and the connection leads to the cluster {now}.");
    Diagnostic::error("Connection leads to another cluster", detail)
        .at_path(at("cluster"))
        .hint("Have the connection lead to the cluster that it is in.")
        .hint("If that cluster is gone for good, take it out of the state (state rm): it is gone as well.")
}
