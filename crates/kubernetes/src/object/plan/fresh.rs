//! The plan of an object that is to be made.

use std::time::Duration;

use groma_kit::{Call, Planned, at};
use groma_model::diag::{Diagnostic, Diagnostics};

use super::{Ground, Stop, from_failure, server_warnings, text_value};
use crate::Json;
use crate::object::ObjectResource;
use crate::object::body::{is_secret, sent};
use crate::object::claim::{Claim, Claimant, claim, exists_already, managed_elsewhere};
use crate::object::fields::{Map, managers, map_value, owned, projected, without_fingerprints};
use crate::object::naming::{reference_value, shown};
use crate::object::transitions::{Ownership, transitions};
use crate::object::write::Write;
use crate::ownership::MANAGER;
use crate::private::{Kept, PLANNED_FOR};
use crate::provider::Host;

/// Stands for the id that is chosen when the object is made. No object ever has it.
const NO_ID: &str = "planned";
/// How often to look whether an id belongs to this configuration.
const LOOKS: u32 = 20;
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

pub(super) async fn plan(
    resource: &ObjectResource,
    ground: &Ground,
    plan: &mut Planned,
    call: &mut Call,
) -> Result<(), Stop> {
    let Ground { intent, cluster, cluster_uid, reference } = ground;
    for name in ["managed_state_projection", "managed_fields"] {
        plan.object.set_unknown(name);
    }
    plan.object.set("object_ref", reference_value(reference));
    plan.object.set("cluster_uid", text_value(cluster_uid.as_deref()));
    let live = cluster.get(reference).await.map_err(|failure| from_failure(&failure, reference))?;
    if !is_free(resource, ground, live.as_ref(), call).await? {
        return Ok(());
    }
    let body = sent(&intent.manifest, reference);
    let write = Write {
        cluster,
        reference,
        body: &body,
        ignored: &intent.ignored,
        id: NO_ID,
        created_at: NO_ID,
        force: intent.force,
    };
    let tried = match write.try_out(live.as_ref()).await {
        Ok(tried) => tried,
        // The name stays known: nothing about it can change.
        Err(failure) => match from_failure(&failure, reference) {
            Stop::Unknown => return Ok(()),
            wrong @ Stop::Wrong(_) => return Err(wrong),
        },
    };
    call.diagnostics.extend(server_warnings(reference, &tried.warnings));
    if let Some(live) = &live {
        call.diagnostics.extend(taken_over(ground, live, &tried.value));
    }
    let projection = projected(&tried.value, MANAGER, &intent.ignored, NO_ID);
    let value = if is_secret(reference) { without_fingerprints(&projection) } else { map_value(&projection) };
    plan.object.set("managed_state_projection", value);
    Ok(())
}

/// Whether the server can be asked what would become of the object: not if something is in its place that will be gone.
async fn is_free(
    resource: &ObjectResource,
    ground: &Ground,
    live: Option<&Json>,
    call: &mut Call,
) -> Result<bool, Stop> {
    let reference = &ground.reference;
    let replaces = Kept::of(&call.private).get(PLANNED_FOR);
    let replaces = replaces.as_ref().and_then(Json::as_str);
    match claim(live, Claimant { replaces, adopts: ground.intent.adopts, ..Claimant::default() }) {
        Claim::Free | Claim::Ours => Ok(true),
        Claim::Replaced | Claim::Going => Ok(false),
        Claim::Adopted(from) => {
            call.diagnostics.push(adopting(&shown(reference), from.as_deref()));
            Ok(true)
        }
        Claim::Managed(other) if is_neighbour(resource, &other, call).await => {
            call.diagnostics.push(neighbour(&shown(reference), &other));
            Ok(false)
        }
        Claim::Managed(other) => Err(managed_elsewhere(reference, &other).into()),
        Claim::Unmanaged => Err(exists_already(reference, resource.name).at_path(at("yaml_body")).into()),
    }
}

/// Whether an id belongs to this configuration. Other hosts read its resource at the same time, perhaps a moment later; and when they apply,
/// in another process than they have planned in, they plan again while that resource is destroyed.
async fn is_neighbour(resource: &ObjectResource, id: &str, call: &Call) -> bool {
    let clock = resource.shared.outside.clock.as_ref();
    let looks = if resource.shared.host == Host::Other { LOOKS } else { 0 };
    for _ in 0..looks {
        if resource.run.has_met(id) || call.sleep(clock, BETWEEN_LOOKS).await.is_err() {
            break;
        }
    }
    resource.run.has_met(id)
}

fn adopting(object: &str, from: Option<&str>) -> Diagnostic {
    let more = from
        .map(|id| {
            format!(" Another resource managed it until now (its id is {id:?}), and will refuse to from then on.")
        })
        .unwrap_or_default();
    let detail = format!("{object} exists already, and adopt = \"adopt\" says that it is taken over.{more}");
    Diagnostic::warning(format!("Existing object is adopted: {object}"), detail)
}

fn neighbour(object: &str, id: &str) -> Diagnostic {
    let detail = format!(
        "{object} exists and is managed at another address of this configuration (its id is {id:?}). It can be made here only \
         after it was destroyed there; what it has in it is lost then."
    );
    Diagnostic::warning(format!("Object changes its address: {object}"), detail)
        .hint("If the address was renamed, say so with a moved block: then the object stays as it is.")
}

/// What is taken from others by adopting.
fn taken_over(ground: &Ground, live: &Json, tried: &Json) -> Diagnostics {
    let sent = owned(tried, MANAGER).iter().map(ToString::to_string).collect();
    let ownership = Ownership {
        baseline: &Map::new(),
        now: &managers(live),
        sent: &sent,
        config_changed: true,
        is_ignored: &|_| false,
    };
    transitions(&ownership).warnings(&ground.reference).into_iter().collect()
}
