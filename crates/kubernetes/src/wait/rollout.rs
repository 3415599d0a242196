//! Rollouts: whether all pods are those of the present template, and available.

use super::Look;
use super::conditions::{count, find, group_and_kind, in_general, number, text};
use crate::Json;

/// How a rollout stands; none for kinds that have none.
pub(super) fn rollout(live: &Json) -> Option<Look> {
    let look = match group_and_kind(live) {
        ("apps", "Deployment") => deployment,
        ("apps", "StatefulSet") => stateful_set,
        ("apps", "DaemonSet") => daemon_set,
        _ => return None,
    };
    if let Some(seen) = in_general(live) {
        return Some(Look::Wait(seen));
    }
    if number(live, "/status/observedGeneration").is_none() {
        return Some(Look::Wait("its controller has not seen it yet".to_owned()));
    }
    Some(look(live))
}

/// How many pods there are to be. 0 is 0; what is left out is 1.
pub(super) fn wanted(live: &Json) -> i64 {
    number(live, "/spec/replicas").unwrap_or(1)
}

fn deployment(live: &Json) -> Look {
    let progressing = find(live, "Progressing");
    if let Some(condition) = progressing.filter(|condition| condition.reason == "ProgressDeadlineExceeded") {
        return Look::Bad(condition.words());
    }
    let wanted = wanted(live);
    let [all, updated, available] =
        ["replicas", "updatedReplicas", "availableReplicas"].map(|name| count(live, &format!("/status/{name}")));
    let paused = live.pointer("/spec/paused").and_then(Json::as_bool).unwrap_or(false);
    if updated < wanted {
        let paused = if paused { "; it is paused" } else { "" };
        return Look::Wait(format!("{updated} of {wanted} pods are new{paused}"));
    }
    if all > updated {
        return Look::Wait(format!("{} old pods are still there", all - updated));
    }
    if available < updated {
        return Look::Wait(format!("{available} of {updated} pods are available"));
    }
    Look::Good
}

fn stateful_set(live: &Json) -> Look {
    let wanted = wanted(live);
    let [all, ready, updated] =
        ["replicas", "readyReplicas", "updatedReplicas"].map(|name| count(live, &format!("/status/{name}")));
    if ready < wanted {
        return Look::Wait(format!("{ready} of {wanted} pods are ready"));
    }
    if all > wanted {
        return Look::Wait(format!("{} pods too many are still there", all - wanted));
    }
    // Whoever deletes the pods by hand decides when.
    if text(live, "/spec/updateStrategy/type") == "OnDelete" {
        return Look::Good;
    }
    let partition = number(live, "/spec/updateStrategy/rollingUpdate/partition").unwrap_or(0);
    let to_update = (wanted - partition).max(0);
    if updated < to_update {
        return Look::Wait(format!("{updated} of {to_update} pods are new"));
    }
    let (current, update) = (text(live, "/status/currentRevision"), text(live, "/status/updateRevision"));
    if partition == 0 && wanted > 0 && !update.is_empty() && current != update {
        return Look::Wait("the last pods are being replaced".to_owned());
    }
    let available = number(live, "/status/availableReplicas").unwrap_or(ready);
    if available < wanted {
        return Look::Wait(format!("{available} of {wanted} pods are available"));
    }
    Look::Good
}

fn daemon_set(live: &Json) -> Look {
    let [wanted, updated, ready, available] =
        ["desiredNumberScheduled", "updatedNumberScheduled", "numberReady", "numberAvailable"]
            .map(|name| count(live, &format!("/status/{name}")));
    let by_hand = text(live, "/spec/updateStrategy/type") == "OnDelete";
    if updated < wanted && !by_hand {
        return Look::Wait(format!("{updated} of {wanted} pods are new"));
    }
    if ready < wanted {
        return Look::Wait(format!("{ready} of {wanted} pods are ready"));
    }
    if available < wanted {
        return Look::Wait(format!("{available} of {wanted} pods are available"));
    }
    Look::Good
}
