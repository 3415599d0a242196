//! The two stories that everything here began with: a wait that ends in vain must fail the run, hold back what depends on it and leave the
//! object as it is (seed 000); and an answer that was lost must not lose the object (seed 001).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use crate::definitions::{ANYTHING, OwnKind};
use crate::proxy::{Fate, Proxy, Request};
use crate::space::{Space, config_map, config_map_manifest, object_with, said};

/// An object that waits, under the name that the seed has for it, and one that depends on it.
fn story(wait_for: &str, manifest: &str) -> String {
    let dependent = object_with(
        "dependent",
        "depends_on = [k8sconnect_manifest.first]",
        &config_map_manifest("dependent", "{a: b}"),
    );
    let first = object_with("first", &format!("wait_for = {{ {wait_for} }}"), manifest);
    (first + &dependent).replace("\"k8sconnect_object\" \"first\"", "\"k8sconnect_manifest\" \"first\"")
}

/// It fails however often it is tried, nothing depends on it, and it is the same; then it is good, and is the same still.
fn check(space: &Space, path: &str, told: &[&str], mend: impl FnOnce()) {
    let mut uid = None;
    for _ in 0..2 {
        let said = space.apply_fails();
        assert!(said.contains("Error: Resource not ready"), "{said}");
        assert!(
            said.contains("k8sconnect_object.dependent: not begun, because k8sconnect_manifest.first failed"),
            "{said}"
        );
        for told in told {
            assert!(said.contains(told), "{told}: {said}");
        }
        assert!(space.api.find(&space.core("configmaps", "dependent")).is_none());
        let now = space.api.uid(path);
        assert_eq!(*uid.get_or_insert(now.clone()), now);
        let stored = space.stored("k8sconnect_manifest.first");
        assert_eq!(stored["status"], Value::Null, "tainted");
        // The plan goes on waiting, and replaces nothing.
        space.plan().does(&["create k8sconnect_object.dependent"]).says("1 to wait for");
    }
    mend();
    space.apply();
    assert_eq!(Some(space.api.uid(path)), uid);
    assert!(space.api.find(&space.core("configmaps", "dependent")).is_some());
    space.is_settled();
    space.destroy();
}

const WEB: &str = "
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: web, namespace: NAMESPACE}
    spec:
      replicas: 2
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec: {containers: [{name: web, image: 'no-such-registry.invalid/web:1'}]}
    ";

#[test]
fn seed_000_a_deployment_that_never_becomes_available() {
    let space = Space::new();
    space.main(&story("condition = \"Available\", timeout = \"300ms\"", WEB));
    let path = space.of("apps/v1", "deployments", "web");
    check(&space, &path, &["the condition Available to be True"], || {
        let available = json!({"type": "Available", "status": "True", "reason": "MinimumReplicasAvailable"});
        let status = json!({"observedGeneration": 2, "replicas": 2, "updatedReplicas": 2, "readyReplicas": 2, "availableReplicas": 2, "conditions": [available]});
        // With an image that there is, as the user would mend it.
        space.main(&story("condition = \"Available\", timeout = \"60s\"", &WEB.replace("web:1", "web:2")));
        space.api.set_status(&path, &status);
    });
}

/// With the controllers of a real cluster, which has no node: what is known is told.
#[test]
fn seed_000_what_controllers_say_is_told() {
    let space = Space::with_controllers();
    space.main(&story("ready = true, timeout = \"5s\"", WEB));
    let said = space.apply_fails();
    for told in [
        "Error: Resource not ready",
        "it to be ready",
        "Available",
        "MinimumReplicasUnavailable",
        "cannot be scheduled",
        "0 of 2",
    ] {
        assert!(said.contains(told), "{told}: {said}");
    }
    assert!(space.api.find(&space.core("configmaps", "dependent")).is_none());
    let path = space.of("apps/v1", "deployments", "web");
    let uid = space.api.uid(&path);
    // Nothing to run is soon done.
    space.main(&story("ready = true, timeout = \"60s\"", &WEB.replace("replicas: 2", "replicas: 0"))).apply();
    assert_eq!(space.api.uid(&path), uid);
    space.is_settled();
    space.destroy();
}

/// As the seed has it: a claim, and what mounts it.
#[test]
fn seed_000_a_claim_that_is_never_bound() {
    let space = Space::with_controllers();
    let claim = "
        apiVersion: v1
        kind: PersistentVolumeClaim
        metadata: {name: data, namespace: NAMESPACE}
        spec: {accessModes: [ReadWriteOnce], storageClassName: '', volumeName: VOLUME, resources: {requests: {storage: 1Gi}}}
        "
    .replace("VOLUME", &space.namespace);
    space.main(&story("field_value = { \"status.phase\" = \"Bound\" }, timeout = \"3s\"", &claim));
    let path = space.core("persistentvolumeclaims", "data");
    let volume = json!({
        "metadata": {"name": space.namespace},
        "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "",
                 "persistentVolumeReclaimPolicy": "Retain", "hostPath": {"path": "/nowhere"}},
    });
    check(&space, &path, &["status.phase to be \"Bound\"", "status.phase is \"Pending\""], || {
        space.main(&story("field_value = { \"status.phase\" = \"Bound\" }, timeout = \"60s\"", &claim));
        space.api.create("/api/v1/persistentvolumes", &volume);
    });
}

#[test]
fn seed_000_a_service_without_an_address() {
    let space = Space::new();
    let service = "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: NAMESPACE}\n\
                   spec: {type: LoadBalancer, selector: {app: web}, ports: [{port: 80}]}";
    space.main(&story("ready = true, timeout = \"300ms\"", service));
    let path = space.core("services", "web");
    check(&space, &path, &["it to be ready"], || {
        space.api.set_status(&path, &json!({"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}}));
    });
}

#[test]
fn seed_000_an_object_whose_controller_never_answers() {
    let space = Space::new();
    let kind = OwnKind::new("Database", "databases");
    kind.define(&space, ANYTHING);
    space.main(&story("condition = \"Ready\", timeout = \"300ms\"", &kind.manifest("db", "{size: 1}")));
    let path = kind.path(&space, "db");
    check(&space, &path, &["the condition Ready to be True"], || {
        space.api.set_status(&path, &json!({"conditions": [{"type": "Ready", "status": "True"}]}));
    });
}

#[test]
fn seed_000_a_run_that_is_killed_while_it_waits() {
    let space = Space::new();
    space.main(&story("condition = \"Available\", timeout = \"10m\"", WEB));
    let path = space.of("apps/v1", "deployments", "web");
    let mut running = space.begin(&["apply", "-auto-approve", "-json"]);
    running.wait_for("wait_progress");
    running.signal("KILL");
    running.leave();
    let uid = space.api.uid(&path);
    assert_eq!(space.stored("k8sconnect_manifest.first")["status"], Value::Null, "tainted");
    assert!(space.api.find(&space.core("configmaps", "dependent")).is_none());
    space
        .api
        .set_status(&path, &json!({"observedGeneration": 1, "conditions": [{"type": "Available", "status": "True"}]}));
    space.apply();
    assert_eq!(space.api.uid(&path), uid);
    assert!(space.api.find(&space.core("configmaps", "dependent")).is_some());
    space.is_settled();
}

/// From the first write of an object on, nobody answers until the proxy is mended.
fn silent_after(name: &'static str) -> impl FnMut(&Request) -> Fate + Send + 'static {
    let silent = Arc::new(AtomicBool::new(false));
    move |request| {
        if silent.load(Ordering::SeqCst) {
            return Fate::Lost;
        }
        if request.writes() && request.is_about(name) {
            silent.store(true, Ordering::SeqCst);
            return Fate::Unanswered;
        }
        Fate::Pass
    }
}

/// A space whose cluster falls silent as soon as the first of two objects is made.
fn about_to_fall_silent() -> (Space, Proxy) {
    let space = Space::new();
    let proxy = Proxy::new(&space.api, silent_after("settings"));
    space.file("kubeconfig", &proxy.kubeconfig());
    let dependent = object_with(
        "dependent",
        "depends_on = [k8sconnect_object.settings]",
        &config_map_manifest("dependent", "{a: b}"),
    );
    space.main(&(config_map("settings", "{a: b}") + &dependent));
    (space, proxy)
}

/// The same when it has happened, and the run was ended.
fn fallen_silent() -> (Space, Proxy) {
    let (space, proxy) = about_to_fall_silent();
    // It would be waited for that the cluster answers again.
    let mut running = space.begin(&["apply", "-auto-approve", "-json"]);
    running.wait_for("wait_progress");
    running.signal("INT");
    let outcome = running.end();
    assert_eq!(outcome.code, 1, "{}", said(&outcome));
    let live = space.api.get(&space.core("configmaps", "settings"));
    let stored = space.stored("k8sconnect_object.settings");
    assert_eq!(stored["attributes"]["id"], live["metadata"]["annotations"]["k8sconnect.terraform.io/terraform-id"]);
    assert_eq!(stored["status"], Value::Null, "tainted");
    assert!(space.find_stored("k8sconnect_object.dependent").is_none());
    (space, proxy)
}

fn identity(space: &Space) -> (String, Value) {
    (space.api.uid(&space.core("configmaps", "settings")), space.attribute("k8sconnect_object.settings", "id"))
}

#[test]
fn seed_001_the_next_apply_goes_on() {
    let (space, proxy) = fallen_silent();
    let before = identity(&space);
    // As long as nobody answers, nothing is lost.
    let said = space.apply_fails();
    assert!(said.contains("Cluster cannot be reached"), "{said}");
    assert_eq!(identity(&space), before);
    proxy.heal();
    let said = space.apply();
    assert!(!said.contains("managed elsewhere"), "{said}");
    assert_eq!(identity(&space), before);
    assert_eq!(space.attribute("k8sconnect_object.settings", "managed_state_projection")["data.a"], "b");
    space.is_settled();
    space.destroy();
    assert_eq!(space.api.count(&space.core("configmaps", "")), 0);
}

#[test]
fn seed_001_a_refresh_recovers() {
    let (space, proxy) = fallen_silent();
    let before = identity(&space);
    proxy.heal();
    space.succeeds(&["apply", "-refresh-only", "-auto-approve", "-no-color"]);
    assert_eq!(identity(&space), before);
    assert_eq!(space.attribute("k8sconnect_object.settings", "managed_state_projection")["data.a"], "b");
    space.apply();
    assert_eq!(identity(&space), before);
    space.is_settled();
}

/// If the cluster answers again soon enough, the same run goes on.
#[test]
fn seed_001_the_same_run_goes_on() {
    let (space, proxy) = about_to_fall_silent();
    let mut running = space.begin(&["apply", "-auto-approve", "-json"]);
    running.wait_for("wait_progress");
    proxy.heal();
    let outcome = running.end();
    assert_eq!(outcome.code, 0, "{}", said(&outcome));
    space.is_settled();
}

/// The write itself did not arrive: then there is nothing to keep.
#[test]
fn seed_001_a_write_that_did_not_arrive_is_done_again() {
    let space = Space::new();
    let proxy = Proxy::new(&space.api, |request| if request.writes() { Fate::Lost } else { Fate::Pass });
    space.file("kubeconfig", &proxy.kubeconfig());
    space.main(&config_map("settings", "{a: b}"));
    space.apply_fails();
    assert!(space.api.find(&space.core("configmaps", "settings")).is_none());
    proxy.heal();
    space.apply();
    space.is_settled();
    let id = space.attribute("k8sconnect_object.settings", "id");
    let live = space.api.get(&space.core("configmaps", "settings"));
    assert_eq!(live["metadata"]["annotations"]["k8sconnect.terraform.io/terraform-id"], id);
}

/// The same for a change.
#[test]
fn seed_001_a_change_whose_answer_was_lost_is_gone_on_with() {
    let space = Space::new();
    let proxy = Proxy::new(&space.api, |_| Fate::Pass);
    space.file("kubeconfig", &proxy.kubeconfig());
    space.main(&config_map("settings", "{a: b}")).apply();
    let before = identity(&space);
    proxy.now(silent_after("settings"));
    space.main(&config_map("settings", "{a: c}"));
    space.apply_fails();
    assert_eq!(identity(&space), before);
    assert_eq!(space.stored("k8sconnect_object.settings")["status"], Value::Null);
    proxy.heal();
    space.apply();
    assert_eq!(identity(&space), before);
    assert_eq!(space.api.get(&space.core("configmaps", "settings"))["data"]["a"], "c");
    space.is_settled();
}
