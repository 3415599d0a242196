//! `wait_for` inside of an object: nothing is waited for here. The object is judged when it was written and whenever it is read, until it
//! is ready; the engine looks again.

use groma_kit::{Call, Object};
use groma_provider::api::NotReady;

use super::ObjectResource;
use crate::Json;
use crate::api::Cluster;
use crate::manifest::ObjectRef;
use crate::private::{self, AWAITING};
use crate::provider::Host;
use crate::wait::WaitFor;

/// Judges an object that was just written.
pub(super) fn judge_written(resource: &ObjectResource, object: &Object, live: &Json, call: &mut Call) {
    let lacking = wait(resource, object, call).and_then(|wait| wait.not_ready(wait.judge(live)));
    note(lacking, call);
}

/// Judges an object that was not ready when it was judged last.
pub(super) async fn judge_again(
    resource: &ObjectResource,
    object: &Object,
    (cluster, reference, live): (&Cluster, &ObjectRef, &Json),
    call: &mut Call,
) {
    let Some(wait) = wait(resource, object, call) else { return note(None, call) };
    let mut lacking = wait.not_ready(wait.judge(live));
    if let Some(seen) = lacking.as_mut().and_then(|lacking| lacking.last_seen.as_mut()) {
        let more = wait.diagnose(cluster, reference, Some(live)).await;
        if !more.is_empty() {
            *seen = format!("{seen}\n{more}");
        }
    }
    note(lacking, call);
}

fn wait(resource: &ObjectResource, object: &Object, call: &mut Call) -> Option<WaitFor> {
    // Others have no way to be told that something is there and not ready.
    if resource.shared.host == Host::Other {
        return None;
    }
    match WaitFor::read(object) {
        Ok(wait) => wait,
        Err(wrong) => {
            call.diagnostics.extend(wrong);
            None
        }
    }
}

fn note(lacking: Option<NotReady>, call: &mut Call) {
    private::change(&mut call.private, |kept| kept.set(AWAITING, lacking.is_some()));
    call.not_ready = lacking;
}
