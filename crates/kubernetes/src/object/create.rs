//! Making an object.

use std::time::Duration;

use groma_kit::{Call, Failed, Object, at};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_provider::api::Patience;

use super::intent::Intent;
use super::making::{Making, Trouble};
use super::record::Written;
use super::session::{may_come, new_id, open};
use super::{ObjectResource, readiness, server_warnings};
use crate::failure::Failure;
use crate::provider::Host;

/// How long to wait for a kind or a namespace that is not there yet.
const WHAT_IT_NEEDS: Patience = Patience { timeout: Duration::from_secs(30), interval: Duration::from_millis(500) };

pub(super) async fn create(resource: &ObjectResource, mut planned: Object, call: &mut Call) -> Result<Object, Failed> {
    let intent = known_intent(&planned)?;
    let cluster = open(&resource.shared, &planned).await?;
    let failed = |failure: Failure| failure.diagnostic("create", &intent.reference);
    let cluster_uid = cluster.identity().await.map_err(failed)?;
    let id = new_id(&resource.shared)?;
    let making = Making {
        shared: &resource.shared,
        run: &resource.run,
        cluster: &cluster,
        cluster_uid: cluster_uid.as_deref(),
        manifest: &intent.manifest,
        reference: &intent.reference,
        ignored: &intent.ignored,
        id: &id,
        has: None,
        adopts: intent.adopts,
        force: intent.force,
        type_name: resource.name,
    };
    let (reference, made) = match resource.shared.host {
        Host::Groma => making.make_now(call).await,
        Host::Other => making.make(call).await,
    };
    let written =
        Written { id: &id, reference: &reference, cluster_uid: cluster_uid.as_deref(), ignored: &intent.ignored };
    match made {
        Ok(said) => {
            // What a dry run has told already is not told again.
            if !planned.is_wholly_known("managed_state_projection") {
                call.diagnostics.extend(server_warnings(&reference, &said.warnings));
            }
            written.record(&mut planned, &said.value, call);
            readiness::judge_written(resource, &planned, &said.value, call);
            Ok(planned)
        }
        Err(Trouble::Failed(unwritten)) if unwritten.is_in_doubt => {
            written.in_doubt(planned, &unwritten, resource.shared.host, call)
        }
        Err(Trouble::Failed(unwritten)) => {
            // Others of this run may bring it.
            call.not_yet = may_come(&unwritten.failure).then_some(WHAT_IT_NEEDS);
            Err(unwritten.failure.diagnostic("create", &reference).at_path(at("yaml_body")).into())
        }
        Err(Trouble::Refused(wrong)) => Err(wrong.into()),
    }
}

/// Everything is known by now.
pub(super) fn known_intent(planned: &Object) -> Result<Intent, Diagnostics> {
    Intent::read(planned)?.ok_or_else(|| {
        let detail = "The manifest is still not known, although it must be by now.";
        Diagnostic::error("Manifest is not known", detail).at_path(at("yaml_body")).into()
    })
}
