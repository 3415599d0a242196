//! Scenario 36: rollouts that really happen, and scenario 42: each write is waited for again.

use std::time::Duration;

use serde_json::Value;

use crate::node::{
    after, broken, container, dependent, deployment, has_no_pods, idle, is_not_tainted, on_the_node, pods, says, slow,
    timed, web, workload,
};
use crate::space::{Space, object_with};

const ROLLOUT: &str = "rollout = true, timeout = \"60s\"";

/// The value of an environment variable of each pod that is there.
fn versions(space: &Space) -> Vec<Value> {
    let version = |pod: &Value| pod["spec"]["containers"][0]["env"][0]["value"].clone();
    pods(space).iter().map(version).collect()
}

/// A container that can be told from those before.
fn version(number: u32) -> String {
    container("pause", &format!(", env: [{{name: VERSION, value: '{number}'}}]"))
}

#[test]
fn a_deployment_is_made_scaled_changed_and_put_to_rest() {
    let space = on_the_node();
    let path = space.of("apps/v1", "deployments", "web");
    let main = |replicas: u32, number: u32| {
        let follower = dependent("follower", "k8sconnect_object.web", &format!("{{at: '{replicas}-{number}'}}"));
        space.main(&(web(ROLLOUT, &deployment(replicas, &version(number))) + &follower)).apply();
        // Nothing is waited for afterwards: what was asked for is there when the apply ends.
        let status = space.api.get(&path)["status"].clone();
        let count = |name: &str| status[name].as_u64().unwrap_or(0);
        let wanted = u64::from(replicas);
        assert_eq!(["replicas", "updatedReplicas", "availableReplicas"].map(count), [wanted; 3], "{status}");
        assert_eq!(versions(&space), vec![Value::from(number.to_string()); replicas as usize]);
        space.is_settled();
    };
    main(1, 1);
    let uid = space.api.uid(&path);
    main(3, 1);
    main(3, 2);
    main(0, 2);
    main(0, 3);
    main(1, 3);
    assert_eq!(space.api.uid(&path), uid);
    space.destroy();
    assert!(has_no_pods(&space));
}

/// A change that does not come about holds up what follows it, and the old pods go on.
#[test]
fn a_change_that_goes_wrong_is_noticed_and_taken_back() {
    let space = on_the_node();
    let path = space.of("apps/v1", "deployments", "web");
    let main = |timeout: &str, container: &str, data: &str| {
        let wait_for = format!("rollout = true, timeout = \"{timeout}\"");
        let follower = dependent("follower", "k8sconnect_object.web", data);
        space.main(&(web(&wait_for, &deployment(1, container)) + &follower));
    };
    main("60s", &version(1), "{at: '1'}");
    space.apply();
    let uid = space.api.uid(&path);
    main("6s", &broken(), "{at: '2'}");
    let said = space.apply_fails();
    says(&said, &["Resource not ready", "1 wanted, 2 there, 1 new", "ErrImagePull"]);
    let follower = space.core("configmaps", "follower");
    assert_eq!(space.api.get(&follower)["data"]["at"], "1");
    is_not_tainted(&space, "k8sconnect_object.web");
    main("60s", &version(1), "{at: '3'}");
    space.apply();
    assert_eq!((space.api.uid(&path), versions(&space)), (uid, vec![Value::from("1")]));
    assert_eq!(space.api.get(&follower)["data"]["at"], "3");
    space.is_settled();
    space.destroy();
}

/// The controller gives up before the wait does; then so does the wait.
#[test]
fn a_rollout_past_its_deadline_ends_the_wait() {
    let space = on_the_node();
    let manifest = |container: &str| workload("Deployment", "progressDeadlineSeconds: 3", container);
    space.main(&web("rollout = true, timeout = \"10m\"", &manifest(&broken())));
    let (said, took) = timed(|| space.apply_fails());
    says(&said, &["Progressing is False (ProgressDeadlineExceeded)", "registry.invalid/web:1"]);
    assert!(took < Duration::from_mins(1), "{took:?}");
    is_not_tainted(&space, "k8sconnect_object.web");
    let path = space.of("apps/v1", "deployments", "web");
    let uid = space.api.uid(&path);
    // What the controller said about the old image is not held against the new one.
    space.main(&web("rollout = true, timeout = \"10m\"", &manifest(&idle()))).apply();
    assert_eq!(space.api.uid(&path), uid);
    space.is_settled();
    space.destroy();
}

#[test]
fn a_stateful_set_is_rolled_out_and_changed() {
    let space = on_the_node();
    let path = space.of("apps/v1", "statefulsets", "web");
    let set = |replicas: u32, number: u32| workload("StatefulSet", &format!("replicas: {replicas}"), &version(number));
    for (replicas, number) in [(2, 1), (2, 2), (1, 2)] {
        space.main(&web(ROLLOUT, &set(replicas, number))).apply();
        let status = space.api.get(&path)["status"].clone();
        assert_eq!((&status["readyReplicas"], &status["updatedReplicas"]), (&replicas.into(), &replicas.into()));
        assert_eq!(status["currentRevision"], status["updateRevision"]);
        assert_eq!(versions(&space), vec![Value::from(number.to_string()); replicas as usize]);
        space.is_settled();
    }
    space.destroy();
}

#[test]
fn a_daemon_set_is_rolled_out_and_changed() {
    let space = on_the_node();
    let path = space.of("apps/v1", "daemonsets", "web");
    let wait = |number: u32| {
        let reference =
            "api_version = \"apps/v1\", kind = \"DaemonSet\", name = \"web\", namespace = \"NAMESPACE\"".to_owned();
        format!(
            "resource \"k8sconnect_wait\" \"web\" {{\n  cluster = local.cluster\n  depends_on = [k8sconnect_object.web]\n  \
             object_ref = {{ {reference} }}\n  triggers = {{ version = \"{number}\" }}\n  wait_for = {{ {ROLLOUT} }}\n}}\n"
        )
    };
    for number in [1, 2] {
        // As a resource of its own, this once.
        space.main(&(object_with("web", "", &workload("DaemonSet", "", &version(number))) + &wait(number))).apply();
        let status = space.api.get(&path)["status"].clone();
        assert_eq!((&status["numberAvailable"], &status["updatedNumberScheduled"]), (&1.into(), &1.into()));
        assert_eq!(versions(&space), vec![Value::from(number.to_string())]);
        space.is_settled();
    }
    space.destroy();
}

/// A pod that runs is not ready before it says so, and an init container comes first.
#[test]
fn pods_that_are_ready_later_are_waited_for() {
    let space = on_the_node();
    let manifest = deployment(1, &slow(3)).replace("containers:", &after("sleep, 2s"));
    space.main(&(web(ROLLOUT, &manifest) + &dependent("follower", "k8sconnect_object.web", "{a: b}")));
    let (said, took) = timed(|| space.apply());
    assert!(took >= Duration::from_secs(5), "{took:?}: {said}");
    let live = space.api.get(&space.of("apps/v1", "deployments", "web"));
    assert_eq!(live["status"]["readyReplicas"], 1);
    // Who depends on it came later than it was ready.
    let available = live["status"]["conditions"].as_array().unwrap();
    let available = available.iter().find(|condition| condition["type"] == "Available").unwrap();
    let follower = space.api.get(&space.core("configmaps", "follower"));
    let follower = follower["metadata"]["creationTimestamp"].as_str().unwrap();
    assert!(available["lastTransitionTime"].as_str().unwrap() <= follower, "{available} {follower}");
    space.is_settled();
    space.destroy();
}
