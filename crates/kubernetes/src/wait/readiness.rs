//! What being ready means for each kind, by the rules that most tools follow (kstatus).

use super::Look;
use super::conditions::{count, find, group_and_kind, in_general, text};
use super::rollout::{rollout, wanted};
use crate::Json;

/// How an object stands.
pub(super) fn readiness(live: &Json) -> Look {
    if let Some(seen) = in_general(live) {
        return Look::Wait(seen);
    }
    if let Some(stalled) = find(live, "Stalled").filter(|condition| condition.is_true(live)) {
        return Look::Bad(stalled.words());
    }
    if let Some(reconciling) = find(live, "Reconciling").filter(|condition| condition.is_true(live)) {
        return Look::Wait(reconciling.words());
    }
    match group_and_kind(live) {
        ("apps", "Deployment") => deployment(live),
        ("apps", "StatefulSet" | "DaemonSet") => rollout(live).unwrap_or(Look::Good),
        ("apps", "ReplicaSet") => replica_set(live),
        ("", "Pod") => pod(live),
        ("batch", "Job") => job(live),
        ("", "PersistentVolumeClaim") => claim(live),
        ("", "Service") => service(live),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => definition(live),
        ("policy", "PodDisruptionBudget") => budget(live),
        _ => by_conditions(live),
    }
}

fn deployment(live: &Json) -> Look {
    match rollout(live) {
        Some(Look::Good) | None => match find(live, "Available").filter(|condition| condition.status != "True") {
            Some(unavailable) => Look::Wait(unavailable.words()),
            None => Look::Good,
        },
        Some(look) => look,
    }
}

fn replica_set(live: &Json) -> Look {
    if let Some(failure) = find(live, "ReplicaFailure").filter(|condition| condition.status == "True") {
        return Look::Wait(failure.words());
    }
    let wanted = wanted(live);
    let [all, labelled, ready, available] = ["replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas"]
        .map(|name| count(live, &format!("/status/{name}")));
    if labelled < wanted || ready < wanted {
        return Look::Wait(format!("{} of {wanted} pods are ready", labelled.min(ready)));
    }
    if available < wanted {
        return Look::Wait(format!("{available} of {wanted} pods are available"));
    }
    if all > wanted {
        return Look::Wait(format!("{} pods too many are still there", all - wanted));
    }
    Look::Good
}

fn pod(live: &Json) -> Look {
    match text(live, "/status/phase") {
        "Succeeded" => Look::Good,
        "Failed" => Look::Bad(format!("the pod has failed{}", super::pods::because(live))),
        "Running" if find(live, "Ready").is_some_and(|ready| ready.is_true(live)) => Look::Good,
        phase => {
            let phase = if phase.is_empty() { "new" } else { phase };
            Look::Wait(format!("the pod is {phase} and not ready{}", super::pods::because(live)))
        }
    }
}

/// A Job that runs is as it is meant to be; whoever needs its end waits for the condition Complete.
fn job(live: &Json) -> Look {
    if let Some(failed) = super::conditions::failed_job(live) {
        return Look::Bad(failed);
    }
    let is_true = |kind: &str| find(live, kind).is_some_and(|condition| condition.status == "True");
    if is_true("Complete") || is_true("Suspended") {
        return Look::Good;
    }
    let suspended = live.pointer("/spec/suspend").and_then(Json::as_bool).unwrap_or(false);
    let started = live.pointer("/status/startTime").is_some();
    if started || suspended { Look::Good } else { Look::Wait("the Job has not started yet".to_owned()) }
}

fn claim(live: &Json) -> Look {
    match text(live, "/status/phase") {
        "Bound" => Look::Good,
        "" => Look::Wait("it is not bound to a volume yet".to_owned()),
        phase => Look::Wait(format!("it is {phase}, not bound to a volume")),
    }
}

fn service(live: &Json) -> Look {
    if text(live, "/spec/type") != "LoadBalancer" {
        return Look::Good;
    }
    let ingress = live.pointer("/status/loadBalancer/ingress").and_then(Json::as_array);
    let has_address = |item: &Json| !text(item, "/ip").is_empty() || !text(item, "/hostname").is_empty();
    if ingress.is_some_and(|ingress| ingress.iter().any(has_address)) {
        return Look::Good;
    }
    Look::Wait("its load balancer has no address yet".to_owned())
}

fn definition(live: &Json) -> Look {
    if let Some(refused) = find(live, "NamesAccepted").filter(|condition| condition.status == "False") {
        return Look::Bad(refused.words());
    }
    match find(live, "Established") {
        Some(established) if established.is_true(live) => Look::Good,
        Some(established) => Look::Wait(established.words()),
        None => Look::Wait("it is not established yet".to_owned()),
    }
}

fn budget(live: &Json) -> Look {
    let [healthy, wanted] = ["currentHealthy", "desiredHealthy"].map(|name| count(live, &format!("/status/{name}")));
    if live.pointer("/status/observedGeneration").is_none() {
        return Look::Wait("its controller has not seen it yet".to_owned());
    }
    if healthy < wanted {
        return Look::Wait(format!("{healthy} of {wanted} pods are healthy"));
    }
    Look::Good
}

/// Kinds that nobody knows say it by their conditions. Those without any are ready as soon as they are there.
fn by_conditions(live: &Json) -> Look {
    match find(live, "Ready").or_else(|| find(live, "Available")) {
        None => Look::Good,
        Some(condition) => super::conditions::condition(live, condition.kind),
    }
}
