//! Waiting for objects, by a resource of its own and inside of them.

use std::time::Duration;

use serde_json::{Value, json};

use crate::definitions::{ANYTHING, OwnKind};
use crate::space::{Space, config_map, config_map_manifest, object, object_with, said};

/// Waits for an object with a name in the namespace of the space.
fn wait(name: &str, reference: &str, wait_for: &str) -> String {
    format!(
        "resource \"k8sconnect_wait\" \"{name}\" {{\n  cluster = local.cluster\n  object_ref = {{ {reference}, namespace = \"NAMESPACE\" }}\n  \
         wait_for = {{ {wait_for} }}\n}}\n"
    )
}

fn of(api_version: &str, kind: &str, name: &str) -> String {
    format!("api_version = {api_version:?}, kind = {kind:?}, name = {name:?}")
}

/// A kind whose controller is the test, and an object of it.
struct Thing {
    space: Space,
    kind: OwnKind,
}

impl Thing {
    fn new() -> Self {
        let space = Space::new();
        let kind = OwnKind::new("Thing", "things");
        kind.define(&space, ANYTHING);
        Self { space, kind }
    }

    fn manifest(&self, spec: &str) -> String {
        self.kind.manifest("one", spec)
    }

    fn reference(&self) -> String {
        of(&format!("{}/v1", self.kind.group), "Thing", "one")
    }

    fn path(&self) -> String {
        self.kind.path(&self.space, "one")
    }

    /// Reports, as soon as there is something to report about.
    fn report(&self, status: &Value) {
        assert!(self.space.api.appears(&self.path()));
        self.space.api.set_status(&self.path(), status);
    }

    /// Applies, and reports while that waits.
    fn apply_while_reporting(&self, status: &Value) -> String {
        let mut running = self.space.begin(&["apply", "-auto-approve", "-json"]);
        running.wait_for("wait_progress");
        self.report(status);
        let outcome = running.end();
        assert_eq!(outcome.code, 0, "{}", said(&outcome));
        outcome.stdout
    }
}

/// Scenarios 36, 40 and 41.
#[test]
fn a_field_is_waited_for_and_its_value_goes_on() {
    let thing = Thing::new();
    let waiting = wait("one", &thing.reference(), "field = \"status.address\"")
        .replace("wait_for", "depends_on = [k8sconnect_object.one]\n  wait_for");
    let user = config_map_manifest("user", "{address: \"${k8sconnect_wait.one.result.status.address[0].ip}\"}");
    thing.space.main(&(object("one", &thing.manifest("{a: 1}")) + &waiting + &object("user", &user)));
    thing.apply_while_reporting(&json!({"address": [{"ip": "10.1.2.3"}], "other": 1}));
    assert_eq!(thing.space.api.get(&thing.space.core("configmaps", "user"))["data"]["address"], "10.1.2.3");
    let result = thing.space.attribute("k8sconnect_wait.one", "result");
    assert!(result.to_string().contains("10.1.2.3") && !result.to_string().contains("other"), "{result}");
    thing.space.is_settled();
    // Scenario 41: what is reported later goes on as well.
    thing.report(&json!({"address": [{"ip": "10.9.9.9"}]}));
    thing.space.apply();
    assert_eq!(thing.space.api.get(&thing.space.core("configmaps", "user"))["data"]["address"], "10.9.9.9");
    thing.space.is_settled();
    thing.space.destroy();
}

/// Scenario 36.
#[test]
fn values_and_conditions_are_waited_for() {
    let thing = Thing::new();
    let blocks = object("one", &thing.manifest("{a: 1}"))
        + &wait(
            "values",
            &thing.reference(),
            "field_value = { \"status.phase\" = \"Running\", \"status.count\" = \"3\" }",
        )
        + &wait("condition", &thing.reference(), "condition = \"Ready\"")
        + &wait("nothing", &thing.reference(), "");
    thing.space.main(&blocks);
    let ready = json!({"type": "Ready", "status": "True"});
    let mut running = thing.space.begin(&["apply", "-auto-approve", "-json"]);
    running.wait_for("wait_progress");
    // Half of it is not it.
    thing.report(&json!({"phase": "Running", "count": 2, "conditions": [{"type": "Ready", "status": "False"}]}));
    std::thread::sleep(Duration::from_secs(3));
    thing.report(&json!({"phase": "Running", "count": 3, "conditions": [ready]}));
    let outcome = running.end();
    assert_eq!(outcome.code, 0, "{}", said(&outcome));
    thing.space.is_settled();
    assert_eq!(thing.space.attribute("k8sconnect_wait.condition", "result"), Value::Null);
}

/// Scenarios 36 and 40: what the cluster itself fills in is there at once.
#[test]
fn what_is_there_is_not_waited_for() {
    let space = Space::new();
    let service = "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: NAMESPACE}\nspec: {selector: {a: b}, ports: [{port: 80}]}";
    let blocks = object("web", service)
        + &wait("address", &of("v1", "Service", "web"), "field = \"spec.clusterIP\"")
            .replace("wait_for", "depends_on = [k8sconnect_object.web]\n  wait_for")
        + &wait("uid", &of("v1", "Service", "web"), "field = \"metadata.uid\"")
            .replace("wait_for", "depends_on = [k8sconnect_object.web]\n  wait_for");
    space.main(&blocks).apply();
    let live = space.api.get(&space.core("services", "web"));
    assert_eq!(
        space.attribute("k8sconnect_wait.address", "result")["value"]["spec"]["clusterIP"],
        live["spec"]["clusterIP"]
    );
    assert_eq!(space.attribute("k8sconnect_wait.uid", "result")["value"]["metadata"]["uid"], live["metadata"]["uid"]);
    space.is_settled();
}

const WORKLOAD: &str = "
    apiVersion: apps/v1
    kind: KIND
    metadata: {name: web, namespace: NAMESPACE}
    spec:
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec: {containers: [{name: web, image: web:1}]}
    ";

/// Scenario 36: rollouts, with the test as the controller.
#[test]
fn rollouts_are_waited_for() {
    let space = Space::new();
    let counts = |more: Value| {
        let mut status = json!({"observedGeneration": 1});
        status.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        status
    };
    let kinds = [
        (
            "Deployment",
            "deployments",
            counts(json!({"replicas": 2, "updatedReplicas": 2, "readyReplicas": 2, "availableReplicas": 2})),
        ),
        (
            "StatefulSet",
            "statefulsets",
            counts(
                json!({"replicas": 2, "updatedReplicas": 2, "readyReplicas": 2, "availableReplicas": 2, "currentReplicas": 2,
                          "currentRevision": "r", "updateRevision": "r"}),
            ),
        ),
        (
            "DaemonSet",
            "daemonsets",
            counts(
                json!({"desiredNumberScheduled": 2, "currentNumberScheduled": 2, "updatedNumberScheduled": 2, "numberReady": 2,
                          "numberAvailable": 2, "numberMisscheduled": 0}),
            ),
        ),
    ];
    let mut blocks = String::new();
    for (kind, plural, _) in &kinds {
        let mut manifest = WORKLOAD.replace("KIND", kind);
        if *kind != "DaemonSet" {
            manifest = manifest.replace("      selector:", "      replicas: 2\n      selector:");
        }
        blocks += &object_with(plural, "wait_for = { rollout = true }", &manifest);
        blocks += &wait(plural, &of("apps/v1", kind, "web"), "rollout = true")
            .replace("wait_for", &format!("depends_on = [k8sconnect_object.{plural}]\n  wait_for"));
    }
    space.main(&blocks);
    let mut running = space.begin(&["apply", "-auto-approve", "-json"]);
    running.wait_for("wait_progress");
    for (_, plural, status) in &kinds {
        let path = space.of("apps/v1", plural, "web");
        assert!(space.api.appears(&path));
        space.api.set_status(&path, status);
    }
    let outcome = running.end();
    assert_eq!(outcome.code, 0, "{}", said(&outcome));
    space.is_settled();
}

/// Scenario 42, exceeded: nothing is waited for where nothing is to run, and a write is waited for again.
#[test]
fn an_update_is_waited_for_again() {
    let space = Space::new();
    let deployment = |replicas: u32, image: &str| {
        let manifest = WORKLOAD.replace("KIND", "Deployment").replace("web:1", image);
        let manifest = manifest.replace("      selector:", &format!("      replicas: {replicas}\n      selector:"));
        object_with("web", "wait_for = { rollout = true, timeout = \"300ms\" }", &manifest)
    };
    let path = space.of("apps/v1", "deployments", "web");
    let report = |generation: u32, replicas: u32| {
        let status = json!({"observedGeneration": generation, "replicas": replicas, "updatedReplicas": replicas,
                            "readyReplicas": replicas, "availableReplicas": replicas});
        space.api.set_status(&path, &status);
    };
    // The controller has not even seen it.
    space.main(&deployment(0, "web:1"));
    assert!(space.apply_fails().contains("Resource not ready"));
    report(1, 0);
    space.apply();
    space.is_settled();
    space.main(&deployment(2, "web:1"));
    let failure = space.apply_fails();
    assert!(failure.contains("Resource not ready"), "{failure}");
    report(2, 2);
    space.apply();
    space.main(&deployment(2, "web:2"));
    assert!(space.apply_fails().contains("Resource not ready"));
    report(3, 2);
    space.apply();
    space.is_settled();
}

/// Scenario 37.
#[test]
fn a_wait_that_ends_in_vain_fails_the_run_and_nothing_else() {
    let thing = Thing::new();
    let space = &thing.space;
    let waiting = wait("one", &thing.reference(), "condition = \"Ready\", timeout = \"500ms\"");
    let user = config_map_manifest("user", "{a: b}");
    let blocks = object("one", &thing.manifest("{a: 1}"))
        + &waiting.replace("wait_for", "depends_on = [k8sconnect_object.one]\n  wait_for")
        + &object_with("user", "depends_on = [k8sconnect_wait.one]", &user);
    space.main(&blocks);
    let mut uid = None;
    for _ in 0..3 {
        let said = space.apply_fails();
        assert!(said.contains("Resource not ready") && said.contains("the condition Ready to be True"), "{said}");
        assert!(space.api.find(&space.core("configmaps", "user")).is_none());
        let now = space.api.uid(&thing.path());
        assert_eq!(*uid.get_or_insert(now.clone()), now);
    }
    thing.report(&json!({"conditions": [{"type": "Ready", "status": "True"}]}));
    space.apply();
    assert_eq!(Some(space.api.uid(&thing.path())), uid);
    assert!(space.api.find(&space.core("configmaps", "user")).is_some());
    space.is_settled();
}

/// Scenario 38.
#[test]
fn a_wait_that_ends_in_vain_tells_what_is_known() {
    let space = Space::new();
    let manifest =
        WORKLOAD.replace("KIND", "Deployment").replace("      selector:", "      replicas: 3\n      selector:");
    space.main(&object_with("web", "wait_for = { rollout = true, timeout = \"100ms\" }", &manifest));
    let said = space.apply_fails();
    assert!(said.contains("its rollout to finish"), "{said}");
    let path = space.of("apps/v1", "deployments", "web");
    let condition = json!({"type": "Available", "status": "False", "reason": "MinimumReplicasUnavailable", "message": "not enough"});
    let status = json!({"observedGeneration": 1, "replicas": 3, "updatedReplicas": 3, "unavailableReplicas": 3, "conditions": [condition]});
    space.api.set_status(&path, &status);
    let pod = json!({
        "metadata": {"name": "web-1", "labels": {"app": "web"}},
        "spec": {"containers": [{"name": "web", "image": "web:1"}]},
    });
    space.api.create(&space.core("pods", ""), &pod);
    let waiting = json!({"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling image \"web:1\""}});
    let container =
        json!({"name": "web", "image": "web:1", "imageID": "", "ready": false, "restartCount": 0, "state": waiting});
    space.api.set_status(&space.core("pods", "web-1"), &json!({"phase": "Pending", "containerStatuses": [container]}));
    let said = space.apply_fails();
    for told in ["MinimumReplicasUnavailable", "not enough", "ImagePullBackOff", "web-1", "3"] {
        assert!(said.contains(told), "{told}: {said}");
    }
}

/// Scenario 39.
#[test]
fn an_object_that_others_make_later_is_waited_for() {
    let space = Space::new();
    space.main(&wait("later", &of("v1", "ConfigMap", "later"), "field = \"data.a\""));
    let mut running = space.begin(&["apply", "-auto-approve", "-json"]);
    running.wait_for("wait_progress");
    space.api.create(&space.core("configmaps", ""), &json!({"metadata": {"name": "later"}, "data": {"a": "b"}}));
    let outcome = running.end();
    assert_eq!(outcome.code, 0, "{}", said(&outcome));
    space.is_settled();
    // What is gone is waited for again.
    space.api.delete(&space.core("configmaps", "later"));
    space.plan().does(&["create k8sconnect_wait.later"]);
    space.main(&wait("later", &of("v1", "ConfigMap", "later"), "field = \"data.a\", timeout = \"300ms\""));
    let said = space.apply_fails();
    assert!(said.contains("Resource not ready") && said.contains("later"), "{said}");
    // A kind that nobody has is no matter of patience.
    space.main(&wait(
        "never",
        &of("nowhere.example.com/v1", "Thing", "later"),
        "field = \"data.a\", timeout = \"10m\"",
    ));
    let said = space.apply_fails();
    assert!(said.contains("Kind is not known to the cluster"), "{said}");
    // Outside of namespaces.
    let outside =
        wait("outside", &of("v1", "Namespace", "kube-system"), "field_value = { \"status.phase\" = \"Active\" }");
    space.main(&outside.replace(", namespace = \"NAMESPACE\"", "")).apply();
    space.is_settled();
}

/// Scenario 42.
#[test]
fn what_is_waited_for_may_change() {
    let thing = Thing::new();
    let space = &thing.space;
    let one = object("one", &thing.manifest("{a: 1}"));
    let waiting = |wait_for: &str| {
        let wait = wait("one", &thing.reference(), &format!("{wait_for}, timeout = \"400ms\""));
        one.clone() + &wait.replace("wait_for", "depends_on = [k8sconnect_object.one]\n  wait_for")
    };
    space.main(&one).apply();
    thing.report(&json!({"a": 1, "conditions": [{"type": "Ready", "status": "False"}]}));
    space.main(&waiting("field = \"status.a\"")).apply();
    let id = space.attribute("k8sconnect_wait.one", "id");
    space.main(&waiting("field = \"status.b\"")).plan().does(&["update k8sconnect_wait.one"]);
    assert!(space.apply_fails().contains("there is nothing at status.b"));
    thing.report(&json!({"b": 2}));
    space.apply();
    space.main(&waiting("condition = \"Ready\"")).plan().does(&["update k8sconnect_wait.one"]);
    assert!(space.apply_fails().contains("the condition Ready to be True"));
    thing.report(&json!({"conditions": [{"type": "Ready", "status": "True"}]}));
    space.apply();
    space.is_settled();
    assert_eq!(space.attribute("k8sconnect_wait.one", "id"), id);
    assert_eq!(space.attribute("k8sconnect_wait.one", "result"), Value::Null);
    // A trigger has it waited for again.
    space.main(&waiting("condition = \"Ready\"").replace("wait_for", "triggers = { a = \"b\" }\n  wait_for"));
    space.plan().does(&["update k8sconnect_wait.one"]);
    space.apply();
    space.is_settled();
}

/// Scenario 42.
#[test]
fn waits_that_make_no_sense_are_refused_at_once() {
    let space = Space::new();
    let map = of("v1", "ConfigMap", "a");
    for (wait_for, expected) in [
        ("field = \"a\", timeout = \"0s\"", "wait_for"),
        ("field = \"a\", timeout = \"-5s\"", "wait_for"),
        ("field = \"a\", timeout = \"soon\"", "wait_for"),
        ("rollout = true", "ConfigMap"),
        ("field = \"a[\"", "wait_for"),
        ("field = \"a\", condition = \"b\"", "wait_for"),
        ("field_value = { \"a[?(\" = \"b\" }", "wait_for"),
    ] {
        space.main(&wait("one", &map, wait_for));
        let said = space.validate_fails();
        assert!(said.contains(expected) && said.contains("on main.tf line"), "{wait_for}: {said}");
        // The same inside of an object.
        space.main(&object_with("one", &format!("wait_for = {{ {wait_for} }}"), &config_map_manifest("a", "{a: b}")));
        assert!(space.validate_fails().contains("Error: "), "{wait_for}");
    }
}

/// Scenario 42, exceeded: who has failed for good is not waited for.
#[test]
fn a_job_that_failed_ends_the_wait() {
    let space = Space::new();
    let job = "
        apiVersion: batch/v1
        kind: Job
        metadata: {name: work, namespace: NAMESPACE}
        spec: {template: {spec: {restartPolicy: Never, containers: [{name: work, image: work:1}]}}}
        ";
    space.main(&object_with("work", "wait_for = { ready = true, timeout = \"10m\" }", job));
    let mut running = space.begin(&["apply", "-auto-approve", "-json"]);
    running.wait_for("wait_progress");
    let path = space.of("batch/v1", "jobs", "work");
    let time = "2026-01-01T00:00:00Z";
    let failed =
        |kind: &str| json!({"type": kind, "status": "True", "reason": "BackoffLimitExceeded", "message": "too often"});
    space.api.set_status(
        &path,
        &json!({"startTime": time, "failed": 1, "conditions": [failed("FailureTarget"), failed("Failed")]}),
    );
    let outcome = running.end();
    assert_eq!(outcome.code, 1);
    let said = said(&outcome);
    assert!(said.contains("BackoffLimitExceeded") || said.contains("too often"), "{said}");
    assert_eq!(space.stored("k8sconnect_object.work")["status"], Value::Null);
    space.destroy();
}

/// Inline waits of all forms.
#[test]
fn an_object_waits_for_itself() {
    let thing = Thing::new();
    let space = &thing.space;
    let status = json!({"address": "10.0.0.1", "phase": "Up", "observedGeneration": 1, "conditions": [{"type": "Ready", "status": "True"}]});
    for (at, wait_for) in [
        "field = \"status.address\"",
        "field_value = { \"status.phase\" = \"Up\" }",
        "condition = \"Ready\"",
        "ready = true",
    ]
    .iter()
    .enumerate()
    {
        let manifest = thing.manifest("{a: 1}").replace("name: one", &format!("name: one-{at}"));
        let user = object_with("user", "depends_on = [k8sconnect_object.one]", &config_map_manifest("user", "{a: b}"));
        space.main(
            &(object_with("one", &format!("wait_for = {{ {wait_for}, timeout = \"300ms\" }}"), &manifest) + &user),
        );
        let outcome = space.run(&["apply", "-auto-approve"]);
        let path = thing.kind.path(space, &format!("one-{at}"));
        // Who reports nothing is ready as far as anybody knows.
        if *wait_for != "ready = true" {
            assert_eq!(outcome.code, 1, "{wait_for}: {}", said(&outcome));
            assert!(space.api.find(&space.core("configmaps", "user")).is_none());
            assert!(space.plan().said.contains("1 to wait for"), "{wait_for}");
        }
        space.api.set_status(&path, &status);
        space.apply();
        space.is_settled();
        space.destroy();
    }
}

/// Waits of many objects take as long as one, and hold nobody up.
#[test]
fn waits_go_on_side_by_side() {
    let thing = Thing::new();
    let space = &thing.space;
    let manifest = thing.manifest("{a: 1}").replace("name: one", "name: \"n${each.key}\"");
    let many = "for_each = toset([for n in range(20) : tostring(n)])\n  wait_for = { field = \"status.a\", timeout = \"60s\" }";
    space.main(&(object_with("many", many, &manifest) + &config_map("other", "{a: b}")));
    let mut running = space.begin(&["apply", "-auto-approve", "-json", "-parallelism=2"]);
    running.wait_for("wait_progress");
    assert!(space.api.appears(&space.core("configmaps", "other")));
    for number in 0..20 {
        let path = thing.kind.path(space, &format!("n{number}"));
        assert!(space.api.appears(&path), "{number} is not begun while others wait");
    }
    for number in 0..20 {
        space.api.set_status(&thing.kind.path(space, &format!("n{number}")), &json!({"a": 1}));
    }
    let outcome = running.end();
    assert_eq!(outcome.code, 0, "{}", said(&outcome));
    space.is_settled();
}
