//! When objects are ready, and what is said of those that are not.

mod resource;

use groma_model::ty::Type;
use groma_model::value::{Entries, Value};
use serde_json::json;

use super::*;

fn attribute<const N: usize>(attributes: [(&str, Value); N]) -> Object {
    Object::of(&Value::object([("wait_for", Value::object(attributes))]))
}

fn wait_for<const N: usize>(attributes: [(&str, Value); N]) -> WaitFor {
    WaitFor::read(&attribute(attributes)).unwrap().unwrap()
}

fn field(path: &str) -> WaitFor {
    wait_for([("field", Value::string(path))])
}

fn yes(name: &str) -> WaitFor {
    wait_for([(name, Value::bool(true))])
}

/// "ready", or what was seen; with a ! before if it is hopeless.
fn seen(wait: &WaitFor, live: &Json) -> String {
    match wait.judge(live) {
        Standing::Ready => "ready".to_owned(),
        Standing::NotYet { seen, .. } => seen,
        Standing::Hopeless { seen, .. } => format!("!{seen}"),
    }
}

fn workload(kind: &str, spec: Json, status: Json) -> Json {
    let mut live = json!({
        "apiVersion": "apps/v1", "kind": kind, "metadata": {"generation": 3}, "spec": spec, "status": status,
    });
    let status = live["status"].as_object_mut().unwrap();
    status.entry("observedGeneration").or_insert(json!(3));
    live
}

fn rollout(kind: &str, spec: Json, status: Json) -> String {
    seen(&yes("rollout"), &workload(kind, spec, status))
}

fn ready(api_version: &str, kind: &str, spec: Json, status: Json) -> String {
    seen(&yes("ready"), &json!({"apiVersion": api_version, "kind": kind, "spec": spec, "status": status}))
}

fn problems<const N: usize>(attributes: [(&str, Value); N], kind: &str) -> Vec<String> {
    WaitFor::validate(&attribute(attributes), Some(kind)).iter().map(|problem| problem.summary.clone()).collect()
}

#[test]
fn a_field_is_there_if_it_is_not_empty() {
    let live = json!({"a": {"zero": 0, "no": false, "text": "x", "none": null, "blank": "", "list": [], "map": {}}});
    for path in ["a.zero", "a.no", "a.text", "{.a.text}", "a"] {
        assert_eq!(seen(&field(path), &live), "ready", "{path}");
    }
    for path in ["a.none", "a.blank", "a.list", "a.map"] {
        assert_eq!(seen(&field(path), &live), format!("there is an empty value at {path}"));
    }
    assert_eq!(seen(&field("a.b.c"), &live), "there is nothing at a.b.c");
}

#[test]
fn all_values_must_be_there_as_text() {
    let wanted: Entries =
        [("status.phase", Value::string("Bound")), ("status.count", Value::string("2"))].into_iter().collect();
    let wait = wait_for([("field_value", Value::map(Type::String, wanted))]);
    assert_eq!(seen(&wait, &json!({"status": {"phase": "Bound", "count": 2}})), "ready");
    assert_eq!(seen(&wait, &json!({"status": {"phase": "Lost", "count": 2}})), "status.phase is \"Lost\"");
    let nothing = seen(&wait, &json!({}));
    assert!(nothing.contains("nothing at status.phase") && nothing.contains("nothing at status.count"), "{nothing}");
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "status": {"phase": "s3cret", "count": 2}});
    assert_eq!(seen(&wait, &secret), "status.phase is something else");
}

#[test]
fn a_condition_is_true_for_the_object_as_it_is_now() {
    let wait = wait_for([("condition", Value::string("Ready"))]);
    let with = |condition: Json| json!({"metadata": {"generation": 2}, "status": {"conditions": [condition]}});
    assert_eq!(seen(&wait, &with(json!({"type": "Ready", "status": "True"}))), "ready");
    let refused = with(json!({"type": "Ready", "status": "False", "reason": "Denied", "message": "no"}));
    assert_eq!(seen(&wait, &refused), "Ready is False (Denied): no");
    let before = with(json!({"type": "Ready", "status": "True", "observedGeneration": 1}));
    assert!(seen(&wait, &before).contains("before the last change"));
    assert_eq!(seen(&wait, &json!({})), "it has no condition Ready yet");
    let unseen = json!({"metadata": {"generation": 2}, "status": {"observedGeneration": 1, "conditions": [
        {"type": "Ready", "status": "True"}]}});
    assert!(seen(&wait, &unseen).contains("has not seen the last change"));
}

#[test]
fn a_deployment_is_rolled_out_when_all_pods_are_new_and_available() {
    let spec = || json!({"replicas": 2});
    let done = json!({"replicas": 2, "updatedReplicas": 2, "readyReplicas": 2, "availableReplicas": 2});
    assert_eq!(rollout("Deployment", spec(), done.clone()), "ready");
    assert_eq!(
        rollout("Deployment", spec(), json!({"observedGeneration": 2})),
        "its controller has not seen the last change yet"
    );
    assert_eq!(rollout("Deployment", spec(), json!({"updatedReplicas": 1})), "1 of 2 pods are new");
    assert_eq!(
        rollout("Deployment", spec(), json!({"replicas": 3, "updatedReplicas": 2})),
        "1 old pods are still there"
    );
    let unavailable = json!({"replicas": 2, "updatedReplicas": 2, "availableReplicas": 1});
    assert_eq!(rollout("Deployment", spec(), unavailable), "1 of 2 pods are available");
    assert_eq!(
        rollout("Deployment", json!({"replicas": 2, "paused": true}), json!({})),
        "0 of 2 pods are new; it is paused"
    );
    let mut deleted = workload("Deployment", spec(), done);
    deleted["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    assert_eq!(seen(&yes("rollout"), &deleted), "it is being deleted");
}

#[test]
fn no_replicas_are_rolled_out_when_none_are_left() {
    assert_eq!(rollout("Deployment", json!({"replicas": 0}), json!({})), "ready");
    assert_eq!(rollout("Deployment", json!({"replicas": 0}), json!({"replicas": 1})), "1 old pods are still there");
    assert_eq!(
        rollout("StatefulSet", json!({"replicas": 0}), json!({"currentRevision": "a", "updateRevision": "b"})),
        "ready"
    );
    assert_eq!(rollout("Deployment", json!({}), json!({})), "0 of 1 pods are new");
}

#[test]
fn a_rollout_past_its_deadline_is_hopeless() {
    let status = json!({"conditions": [{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded",
        "message": "timed out"}]});
    let seen = rollout("Deployment", json!({"replicas": 1}), status);
    assert_eq!(seen, "!Progressing is False (ProgressDeadlineExceeded): timed out");
}

#[test]
fn a_controller_that_has_said_nothing_yet_has_not_seen_the_object() {
    let live = json!({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"generation": 1}, "status": {}});
    assert_eq!(seen(&yes("rollout"), &live), "its controller has not seen it yet");
    assert_eq!(seen(&yes("ready"), &live), "its controller has not seen it yet");
}

#[test]
fn a_stateful_set_follows_its_strategy() {
    let status = |updated: i64| json!({"replicas": 3, "readyReplicas": 3, "updatedReplicas": updated, "currentRevision": "a", "updateRevision": "b"});
    let strategy = |strategy: Json| json!({"replicas": 3, "updateStrategy": strategy});
    assert_eq!(rollout("StatefulSet", strategy(json!({})), status(2)), "2 of 3 pods are new");
    assert_eq!(rollout("StatefulSet", strategy(json!({})), status(3)), "the last pods are being replaced");
    let partition = || strategy(json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}));
    assert_eq!(rollout("StatefulSet", partition(), status(0)), "0 of 1 pods are new");
    assert_eq!(rollout("StatefulSet", partition(), status(1)), "ready");
    assert_eq!(rollout("StatefulSet", strategy(json!({"type": "OnDelete"})), status(0)), "ready");
    assert_eq!(rollout("StatefulSet", strategy(json!({})), json!({"readyReplicas": 2})), "2 of 3 pods are ready");
}

#[test]
fn a_daemon_set_is_on_all_nodes() {
    let status = |updated: i64, available: i64| json!({"desiredNumberScheduled": 2, "updatedNumberScheduled": updated, "numberReady": 2, "numberAvailable": available});
    assert_eq!(rollout("DaemonSet", json!({}), status(2, 2)), "ready");
    assert_eq!(rollout("DaemonSet", json!({}), status(1, 2)), "1 of 2 pods are new");
    assert_eq!(rollout("DaemonSet", json!({}), status(2, 1)), "1 of 2 pods are available");
    assert_eq!(rollout("DaemonSet", json!({"updateStrategy": {"type": "OnDelete"}}), status(0, 2)), "ready");
    assert_eq!(rollout("DaemonSet", json!({}), json!({})), "ready");
}

#[test]
fn kinds_of_other_groups_are_judged_by_their_conditions() {
    let not = json!({"conditions": [{"type": "Ready", "status": "Unknown", "reason": "Deploying"}]});
    assert_eq!(ready("serving.knative.dev/v1", "Service", json!({}), not.clone()), "Ready is Unknown (Deploying)");
    let rollouts = json!({"apiVersion": "argoproj.io/v1", "kind": "Rollout", "status": not});
    assert_eq!(seen(&yes("rollout"), &rollouts), "Ready is Unknown (Deploying)");
}

#[test]
fn readiness_depends_on_the_kind() {
    let table = [
        ("v1", "ConfigMap", json!({}), json!({}), "ready"),
        ("batch/v1", "CronJob", json!({}), json!({}), "ready"),
        ("v1", "PersistentVolumeClaim", json!({}), json!({"phase": "Bound"}), "ready"),
        ("v1", "PersistentVolumeClaim", json!({}), json!({"phase": "Pending"}), "it is Pending, not bound to a volume"),
        ("v1", "Service", json!({"type": "ClusterIP"}), json!({}), "ready"),
        ("v1", "Service", json!({"type": "LoadBalancer"}), json!({}), "its load balancer has no address yet"),
        (
            "v1",
            "Service",
            json!({"type": "LoadBalancer"}),
            json!({"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}]}}),
            "ready",
        ),
        ("v1", "Pod", json!({}), json!({"phase": "Succeeded"}), "ready"),
        (
            "v1",
            "Pod",
            json!({}),
            json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}),
            "ready",
        ),
        ("v1", "Pod", json!({}), json!({"phase": "Running"}), "the pod is Running and not ready"),
        ("v1", "Pod", json!({}), json!({"phase": "Failed", "reason": "Evicted"}), "!the pod has failed: Evicted"),
        ("batch/v1", "Job", json!({}), json!({}), "the Job has not started yet"),
        ("batch/v1", "Job", json!({}), json!({"startTime": "now"}), "ready"),
        ("batch/v1", "Job", json!({"suspend": true}), json!({}), "ready"),
        ("batch/v1", "Job", json!({}), json!({"conditions": [{"type": "Complete", "status": "True"}]}), "ready"),
        ("apps/v1", "ReplicaSet", json!({"replicas": 1}), json!({}), "0 of 1 pods are ready"),
        (
            "policy/v1",
            "PodDisruptionBudget",
            json!({}),
            json!({"observedGeneration": 1, "desiredHealthy": 1}),
            "0 of 1 pods are healthy",
        ),
        ("policy/v1", "PodDisruptionBudget", json!({}), json!({"observedGeneration": 1}), "ready"),
        ("a.example/v1", "A", json!({}), json!({}), "ready"),
        (
            "a.example/v1",
            "A",
            json!({}),
            json!({"conditions": [{"type": "Available", "status": "False"}]}),
            "Available is False",
        ),
        (
            "a.example/v1",
            "A",
            json!({}),
            json!({"conditions": [{"type": "Stalled", "status": "True"}]}),
            "!Stalled is True",
        ),
        (
            "a.example/v1",
            "A",
            json!({}),
            json!({"conditions": [{"type": "Reconciling", "status": "True"}]}),
            "Reconciling is True",
        ),
    ];
    for (api_version, kind, spec, status, expected) in table {
        assert_eq!(ready(api_version, kind, spec, status.clone()), expected, "{kind} {status}");
    }
}

#[test]
fn a_definition_is_ready_when_it_is_established() {
    let crd = |conditions: Json| {
        ready("apiextensions.k8s.io/v1", "CustomResourceDefinition", json!({}), json!({"conditions": conditions}))
    };
    assert_eq!(crd(json!([])), "it is not established yet");
    assert_eq!(crd(json!([{"type": "Established", "status": "True"}])), "ready");
    let taken = json!([{"type": "NamesAccepted", "status": "False", "reason": "Taken"}]);
    assert_eq!(crd(taken), "!NamesAccepted is False (Taken)");
}

#[test]
fn a_deployment_is_ready_when_it_is_rolled_out_and_available() {
    let counts = json!({"replicas": 1, "updatedReplicas": 1, "availableReplicas": 1});
    let live = workload("Deployment", json!({"replicas": 1}), counts.clone());
    assert_eq!(seen(&yes("ready"), &live), "ready");
    let mut status = counts;
    status["conditions"] = json!([{"type": "Available", "status": "False"}]);
    assert_eq!(seen(&yes("ready"), &workload("Deployment", json!({}), status)), "Available is False");
}

#[test]
fn a_failed_job_ends_every_wait_but_the_one_for_its_failure() {
    let live = json!({"apiVersion": "batch/v1", "kind": "Job", "status": {"failed": 1, "conditions": [
        {"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded"}]}});
    for wait in [yes("ready"), wait_for([("condition", Value::string("Complete"))]), field("status.succeeded")] {
        assert!(seen(&wait, &live).starts_with('!'), "{wait:?}");
    }
    assert_eq!(seen(&wait_for([("condition", Value::string("Failed"))]), &live), "ready");
    assert_eq!(seen(&field("status.failed"), &live), "ready");
}

#[test]
fn nothing_to_wait_for_is_there_at_once() {
    let wait = wait_for([]);
    assert_eq!(seen(&wait, &json!({})), "ready");
    assert_eq!(wait.timeout, Duration::from_mins(10));
}

#[test]
fn hopeless_objects_are_not_looked_at_again() {
    let wait = wait_for([("timeout", Value::string("90s"))]);
    let not_yet = Standing::NotYet { waiting_for: "a".to_owned(), seen: "b".to_owned() };
    let patience = wait.not_ready(not_yet).unwrap().patience.unwrap();
    assert_eq!((patience.timeout, patience.interval), (Duration::from_secs(90), INTERVAL));
    let hopeless = Standing::Hopeless { waiting_for: "a".to_owned(), seen: "b".to_owned() };
    assert_eq!(wait.not_ready(hopeless).unwrap().patience, None);
    assert_eq!(wait.not_ready(Standing::Ready), None);
}

#[test]
fn mistakes_are_found_before_anything_is_done() {
    let text = Value::string;
    assert_eq!(problems([], "ConfigMap"), [""; 0]);
    assert_eq!(problems([("field", text("a["))], "Pod"), ["Invalid JSONPath"]);
    assert_eq!(problems([("field", text("a")), ("condition", text("Ready"))], "Pod"), ["Several things to wait for"]);
    assert_eq!(
        problems([("ready", Value::bool(true)), ("rollout", Value::bool(true))], "Deployment"),
        ["Several things to wait for"]
    );
    assert_eq!(problems([("rollout", Value::bool(true))], "ConfigMap"), ["Kind has no rollout"]);
    assert_eq!(problems([("rollout", Value::bool(true)), ("field", text("a"))], "Deployment"), [""; 0]);
    assert_eq!(problems([("rollout", Value::bool(false)), ("field", text("a"))], "ConfigMap"), [""; 0]);
    for timeout in ["0s", "-1m", "soon", ""] {
        assert_eq!(problems([("timeout", text(timeout))], "Pod"), ["Invalid timeout"], "{timeout}");
    }
    assert_eq!(problems([("condition", text(" "))], "Pod"), ["Invalid condition"]);
    let unknown = Value::unknown(Type::String);
    assert_eq!(problems([("field", unknown), ("condition", text("Ready"))], "Pod"), [""; 0]);
}

#[test]
fn the_result_has_what_was_waited_for_at_its_place() {
    let live =
        json!({"spec": {"volumeName": "v", "other": 1}, "status": {"items": [{"ip": "a"}, {"ip": "b", "x": 1}]}});
    let result = |path: &str| field(path).result(&live);
    assert_eq!(result("spec.volumeName"), Some(json!({"spec": {"volumeName": "v"}})));
    assert_eq!(result("status.items[1].ip"), Some(json!({"status": {"items": [null, {"ip": "b"}]}})));
    assert_eq!(result("status.items"), Some(json!({"status": live["status"]})));
    assert_eq!(result("status.items[?(@.ip=='b')].x"), Some(json!({"status": {"items": [null, {"x": 1}]}})));
    assert_eq!(result("status.items[*].ip"), Some(json!({"status": {"items": [{"ip": "a"}, {"ip": "b"}]}})));
    assert_eq!(result("status.none"), None);
    assert_eq!(yes("rollout").result(&live), None);
}

#[test]
fn pods_say_why_they_do_not_run() {
    let pod = |status: Json| pods::problem(&json!({"status": status}));
    let waiting = |reason: &str| {
        json!({"containerStatuses": [{"name": "web", "state": {"waiting": {"reason": reason, "message": "m"}},
        "lastState": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}}]})
    };
    let crash = pod(waiting("CrashLoopBackOff"));
    assert_eq!(crash.as_deref(), Some("container web: CrashLoopBackOff: m (last exit code 137, OOMKilled)"));
    assert_eq!(pod(waiting("ContainerCreating")), None);
    let pull = json!({"initContainerStatuses": [{"name": "i", "state": {"waiting": {"reason": "ImagePullBackOff"}}}]});
    assert_eq!(pod(pull).as_deref(), Some("container i: ImagePullBackOff"));
    let ended =
        json!({"containerStatuses": [{"name": "web", "state": {"terminated": {"exitCode": 2, "reason": "Error"}}}]});
    assert_eq!(pod(ended).as_deref(), Some("container web has ended with exit code 2 (Error)"));
    let unscheduled = json!({"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
        "message": "0/3 nodes are available"}]});
    assert_eq!(pod(unscheduled).as_deref(), Some("cannot be scheduled: 0/3 nodes are available"));
    assert_eq!(pod(json!({"phase": "Running"})), None);
}

#[test]
fn the_last_events_come_first_and_once() {
    let event = |reason: &str, at: &str| json!({"reason": reason, "message": "m", "lastTimestamp": at});
    let events =
        [event("A", "2026-01-01T00:00:01Z"), event("B", "2026-01-01T00:00:03Z"), event("B", "2026-01-01T00:00:02Z")];
    assert_eq!(diagnosis::last_events(&events), ["Event B: m", "Event A: m"]);
}

#[test]
fn facts_are_replicas_and_conditions_that_are_not_well() {
    let status = json!({"replicas": 2, "updatedReplicas": 1, "conditions": [
        {"type": "Available", "status": "False", "reason": "Min", "message": "few"},
        {"type": "Progressing", "status": "True"},
        {"type": "ReplicaFailure", "status": "False"},
    ]});
    let facts = diagnosis::facts(&workload("Deployment", json!({"replicas": 2}), status));
    assert_eq!(
        facts,
        ["Replicas: 2 wanted, 2 there, 1 new, 0 ready, 0 available", "Condition Available is False (Min): few"]
    );
    let labels = json!({"selector": {"matchLabels": {"app": "web", "tier": "a"}}});
    assert_eq!(diagnosis::selector(&workload("Deployment", labels, json!({}))).as_deref(), Some("app=web,tier=a"));
}
