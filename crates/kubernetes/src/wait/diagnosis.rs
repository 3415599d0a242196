//! Why an object is not ready, found out by looking around: its replicas and conditions, its pods, what was reported about it.

use std::time::Duration;

use super::conditions::{all, count, group_and_kind, number, text};
use super::{pods, rollout};
use crate::Json;
use crate::api::{Cluster, Kind};
use crate::failure::{kubectl, shortened};
use crate::manifest::ObjectRef;

/// At most so many pods are looked at, and so many are told of.
const PODS: u32 = 10;
const TOLD_PODS: usize = 3;
const TOLD_CONDITIONS: usize = 5;
const TOLD_EVENTS: usize = 3;
/// Events of one object are few; those that count are the last ones.
const EVENTS: u32 = 100;
/// What was found out is told again for so long.
const LASTS: Duration = Duration::from_secs(10);
/// All together are not longer than that.
const LONGEST: usize = 3_000;

/// Conditions that are well when they are False.
const GOOD_WHEN_FALSE: [&str; 6] =
    ["Failed", "Stalled", "Reconciling", "ReplicaFailure", "DisruptionTarget", "Suspended"];

/// What can be said, a line for each fact. Empty if there is nothing.
pub(super) async fn diagnose(cluster: &Cluster, object: &ObjectRef, live: Option<&Json>) -> String {
    let Some(live) = live else { return String::new() };
    let mut lines = facts(live);
    let around = || async {
        let mut lines = pod_lines(cluster, object, live).await;
        lines.extend(event_lines(cluster, object, live).await);
        lines
    };
    lines.extend(cluster.found_out(object, LASTS, around).await);
    let look = kubectl("describe", Some(object), object.namespace.as_deref());
    lines.push(format!("See more with: {look}"));
    shortened(&lines.join("\n"), LONGEST)
}

/// What the object says itself.
pub(super) fn facts(live: &Json) -> Vec<String> {
    let mut lines = Vec::new();
    lines.extend(replicas(live));
    let (group, kind) = group_and_kind(live);
    if (group, kind) == ("", "PersistentVolumeClaim") {
        let class = text(live, "/spec/storageClassName");
        let class = if class.is_empty() { "none, so the default one".to_owned() } else { format!("{class:?}") };
        lines.push(format!("Phase: {}; storage class: {class}", text(live, "/status/phase")));
    }
    if (group, kind) == ("", "Service") && text(live, "/spec/type") == "LoadBalancer" {
        let class = text(live, "/spec/loadBalancerClass");
        let class = if class.is_empty() { String::new() } else { format!(" of class {class:?}") };
        lines.push(format!("Load balancer{class}: something in the cluster must give it an address"));
    }
    let bad = all(live).filter(|condition| (condition.status == "True") == GOOD_WHEN_FALSE.contains(&condition.kind));
    lines.extend(bad.take(TOLD_CONDITIONS).map(|condition| format!("Condition {}", condition.words())));
    lines
}

fn replicas(live: &Json) -> Option<String> {
    let status = |name: &str| count(live, &format!("/status/{name}"));
    match group_and_kind(live) {
        ("apps", "Deployment" | "StatefulSet" | "ReplicaSet") => Some(format!(
            "Replicas: {} wanted, {} there, {} new, {} ready, {} available",
            rollout::wanted(live),
            status("replicas"),
            status("updatedReplicas"),
            status("readyReplicas"),
            status("availableReplicas"),
        )),
        ("apps", "DaemonSet") => Some(format!(
            "Pods: {} wanted, {} new, {} ready, {} available",
            status("desiredNumberScheduled"),
            status("updatedNumberScheduled"),
            status("numberReady"),
            status("numberAvailable"),
        )),
        ("batch", "Job") => Some(format!(
            "Pods: {} active, {} succeeded, {} failed; {} completions wanted",
            status("active"),
            status("succeeded"),
            status("failed"),
            number(live, "/spec/completions").unwrap_or(1),
        )),
        _ => None,
    }
}

/// The labels that the object's pods have.
pub(super) fn selector(live: &Json) -> Option<String> {
    if !matches!(group_and_kind(live), ("apps" | "batch", _)) {
        return None;
    }
    let labels = live.pointer("/spec/selector/matchLabels")?.as_object()?;
    let labels: Vec<String> =
        labels.iter().filter_map(|(name, value)| Some(format!("{name}={}", value.as_str()?))).collect();
    (!labels.is_empty()).then(|| labels.join(","))
}

fn core(kind: &str, plural: &str) -> Kind {
    Kind { api_version: "v1".to_owned(), kind: kind.to_owned(), plural: plural.to_owned(), namespaced: true }
}

async fn pod_lines(cluster: &Cluster, object: &ObjectRef, live: &Json) -> Vec<String> {
    let Some(labels) = selector(live) else { return Vec::new() };
    let namespace = object.namespace.as_deref().or(Some("default"));
    // That nobody may look is no reason to say nothing else.
    let found = cluster.list(&core("Pod", "pods"), namespace, &labels, PODS).await.unwrap_or_default();
    let problems =
        found.iter().filter_map(|pod| Some(format!("Pod {}: {}", text(pod, "/metadata/name"), pods::problem(pod)?)));
    problems.take(TOLD_PODS).collect()
}

async fn event_lines(cluster: &Cluster, object: &ObjectRef, live: &Json) -> Vec<String> {
    let uid = text(live, "/metadata/uid");
    if uid.is_empty() {
        return Vec::new();
    }
    let namespace = object.namespace.as_deref().unwrap_or("default");
    // Why a claim is not bound is no warning to those who say it: a class that waits for a pod, a provisioner that does not answer.
    let is_claim = group_and_kind(live) == ("", "PersistentVolumeClaim");
    let kinds = if is_claim { "" } else { ",type=Warning" };
    let fields = format!("involvedObject.uid={uid}{kinds}");
    let found = cluster.list_by_fields(&core("Event", "events"), Some(namespace), &fields, EVENTS).await;
    last_events(&found.unwrap_or_default())
}

/// The last ones, the newest first, each reason once.
pub(super) fn last_events(events: &[Json]) -> Vec<String> {
    let when = |event: &Json| -> String {
        let moments = ["/lastTimestamp", "/series/lastObservedTime", "/eventTime", "/metadata/creationTimestamp"];
        moments.iter().map(|at| text(event, at)).find(|moment| !moment.is_empty()).unwrap_or_default().to_owned()
    };
    let mut sorted: Vec<(String, &Json)> = events.iter().map(|event| (when(event), event)).collect();
    sorted.sort_by(|(left, _), (right, _)| right.cmp(left));
    let mut lines: Vec<String> = Vec::new();
    for (_, event) in sorted {
        let line = format!("Event {}: {}", text(event, "/reason"), shortened(text(event, "/message").trim(), 300));
        if lines.len() < TOLD_EVENTS && !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}
