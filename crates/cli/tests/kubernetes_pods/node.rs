//! Places on the cluster with a node, and what runs there.

use std::time::{Duration, Instant};

use groma_testkit::servers::kube::{self, POD_IMAGE};
use serde_json::Value;

use crate::api::eventually;
use crate::space::{Space, config_map_manifest, dedent, object_with};
use crate::tool::Tool;

/// An image that nobody can get: no registry has this name, and none can be reached.
pub(crate) const NO_IMAGE: &str = "registry.invalid/web:1";

/// A place for a scenario, in which pods can be made.
pub(crate) fn on_the_node() -> Space {
    on_the_node_under(Tool::Groma)
}

/// The same, with another tool.
pub(crate) fn on_the_node_under(tool: Tool) -> Space {
    let space = Space::on(kube::shared_with_node()).now_under(tool);
    assert!(space.api.appears(&space.core("serviceaccounts", "default")), "pods have no account");
    space
}

/// A container of the program of `tests/pods`, in braces.
pub(crate) fn container(arguments: &str, more: &str) -> String {
    format!("{{name: web, image: '{POD_IMAGE}', imagePullPolicy: Never, args: [{arguments}]{more}}}")
}

/// A container whose image nobody can get.
pub(crate) fn broken() -> String {
    format!("{{name: web, image: '{NO_IMAGE}'}}")
}

/// A container that has nothing to do.
pub(crate) fn idle() -> String {
    container("pause", "")
}

/// A container that answers from the start, and says only after a while that it is ready.
pub(crate) fn slow(seconds: u32) -> String {
    let probe = "{httpGet: {port: 8080, path: /ready}, periodSeconds: 1}";
    container(&format!("serve, ':8080', {seconds}s"), &format!(", readinessProbe: {probe}"))
}

/// Stands for `containers:` where another container comes first and goes.
pub(crate) fn after(arguments: &str) -> String {
    let first = container(arguments, "").replace("name: web", "name: first");
    format!("initContainers: [{first}]\n      containers:")
}

/// A Deployment, StatefulSet or DaemonSet called `web`. What is written in `spec` stands before its template.
pub(crate) fn workload(kind: &str, spec: &str, container: &str) -> String {
    let spec = if spec.is_empty() { String::new() } else { format!("{spec}\n          ") };
    dedent(&format!(
        "
        apiVersion: apps/v1
        kind: {kind}
        metadata: {{name: web, namespace: NAMESPACE}}
        spec:
          {spec}selector: {{matchLabels: {{app: web}}}}
          template:
            metadata: {{labels: {{app: web}}}}
            spec:
              terminationGracePeriodSeconds: 1
              containers: [{container}]
        "
    ))
}

pub(crate) fn deployment(replicas: u32, container: &str) -> String {
    workload("Deployment", &format!("replicas: {replicas}"), container)
}

/// The Deployment `web` as a resource that waits.
pub(crate) fn web(wait_for: &str, manifest: &str) -> String {
    object_with("web", &format!("wait_for = {{ {wait_for} }}"), manifest)
}

/// A ConfigMap that begins after something else.
pub(crate) fn dependent(name: &str, on: &str, data: &str) -> String {
    object_with(name, &format!("depends_on = [{on}]"), &config_map_manifest(name, data))
}

/// Pods that are not about to go.
pub(crate) fn pods(space: &Space) -> Vec<Value> {
    let all = space.api.get(&space.core("pods", ""));
    let all = all["items"].as_array().unwrap();
    all.iter().filter(|pod| pod["metadata"]["deletionTimestamp"].is_null()).cloned().collect()
}

/// No pod is left within a while.
pub(crate) fn has_no_pods(space: &Space) -> bool {
    eventually(|| space.api.count(&space.core("pods", "")) == 0)
}

/// It was said.
#[track_caller]
pub(crate) fn says(said: &str, expected: &[&str]) {
    for expected in expected {
        assert!(said.contains(expected), "{expected:?} is not in: {said}");
    }
}

/// One of them was said.
#[track_caller]
pub(crate) fn says_one_of(said: &str, expected: &[&str]) {
    assert!(expected.iter().any(|expected| said.contains(expected)), "none of {expected:?} is in: {said}");
}

/// What a resource that is not ready looks like in the state: there, and not condemned.
#[track_caller]
pub(crate) fn is_not_tainted(space: &Space, address: &str) {
    assert_eq!(space.stored(address)["status"], Value::Null, "tainted");
}

/// How long something took.
#[expect(clippy::disallowed_methods, reason = "real pods take real time")]
pub(crate) fn timed<T>(act: impl FnOnce() -> T) -> (T, Duration) {
    let began = Instant::now();
    let done = act();
    (done, began.elapsed())
}
