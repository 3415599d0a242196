//! Seed 000 from end to end: an image that nobody can get, a kubelet that says so, and the same Deployment with an image that there is.

use crate::node::{
    broken, dependent, deployment, idle, is_not_tainted, on_the_node, pods, says, says_one_of, slow, web,
};
use crate::space::Space;

/// The Deployment under one of the two names of its type, and what depends on it.
fn story(type_name: &str, wait_for: &str, manifest: &str) -> String {
    let first = web(wait_for, manifest).replace("\"k8sconnect_object\" \"web\"", &format!("\"{type_name}\" \"web\""));
    first + &dependent("dependent", &format!("{type_name}.web"), "{a: b}")
}

/// What is told about two pods whose image cannot be pulled.
#[track_caller]
fn tells_why(said: &str) {
    says(
        said,
        &[
            "Error: Resource not ready",
            "its rollout to finish",
            "Replicas: 2 wanted, 2 there, 2 new, 0 ready, 0 available",
            "Condition Available is False (MinimumReplicasUnavailable)",
            "Pod web-",
            "container web: ",
            "registry.invalid/web:1",
        ],
    );
    says_one_of(said, &["ErrImagePull", "ImagePullBackOff"]);
}

#[track_caller]
fn dependent_is_there(space: &Space) -> bool {
    space.api.find(&space.core("configmaps", "dependent")).is_some()
}

/// Scenarios 37 and 38.
fn is_mended_in_place(type_name: &str) {
    let space = on_the_node();
    let address = format!("{type_name}.web");
    let path = space.of("apps/v1", "deployments", "web");
    let main = |timeout: &str, container: &str| {
        let wait_for = format!("rollout = true, timeout = \"{timeout}\"");
        space.main(&story(type_name, &wait_for, &deployment(2, container)));
    };
    main("8s", &broken());
    let said = space.apply_fails();
    tells_why(&said);
    says(&said, &[&format!("k8sconnect_object.dependent: not begun, because {address} failed")]);
    assert!(!dependent_is_there(&space));
    is_not_tainted(&space, &address);
    let uid = space.api.uid(&path);
    // As it is, it fails again, and nothing is made anew.
    space.plan().does(&["create k8sconnect_object.dependent"]).says("1 to wait for");
    let said = space.apply_fails();
    tells_why(&said);
    assert_eq!(space.api.uid(&path), uid);
    assert!(!dependent_is_there(&space));
    main("60s", &idle());
    space.plan().does(&[&format!("update {address}"), "create k8sconnect_object.dependent"]);
    space.apply();
    assert_eq!(space.api.uid(&path), uid);
    assert_eq!(space.api.get(&path)["status"]["availableReplicas"], 2);
    assert!(dependent_is_there(&space));
    space.is_settled();
    space.destroy();
}

#[test]
fn seed_000_an_image_that_nobody_has() {
    is_mended_in_place("k8sconnect_object");
}

#[test]
fn seed_000_as_it_was_written() {
    is_mended_in_place("k8sconnect_manifest");
}

/// Ends a run in the middle of its wait.
fn killed_while_it_waits(space: &Space) -> String {
    let mut running = space.begin(&["apply", "-auto-approve", "-json"]);
    running.wait_for("wait_progress");
    running.signal("KILL");
    running.leave();
    is_not_tainted(space, "k8sconnect_object.web");
    assert!(!dependent_is_there(space));
    space.api.uid(&space.of("apps/v1", "deployments", "web"))
}

#[test]
fn seed_000_a_run_that_is_killed_and_then_mended() {
    let space = on_the_node();
    let path = space.of("apps/v1", "deployments", "web");
    space.main(&story("k8sconnect_object", "rollout = true, timeout = \"10m\"", &deployment(2, &broken())));
    let uid = killed_while_it_waits(&space);
    space.main(&story("k8sconnect_object", "rollout = true, timeout = \"60s\"", &deployment(2, &idle()))).apply();
    assert_eq!(space.api.uid(&path), uid);
    assert!(dependent_is_there(&space));
    space.is_settled();
    space.destroy();
}

/// Nothing has to be mended: the next run only goes on with the wait.
#[test]
fn seed_000_a_run_that_is_killed_is_gone_on_with() {
    let space = on_the_node();
    let path = space.of("apps/v1", "deployments", "web");
    space.main(&story("k8sconnect_object", "rollout = true, timeout = \"60s\"", &deployment(1, &slow(8))));
    let uid = killed_while_it_waits(&space);
    let generation = space.api.get(&path)["metadata"]["generation"].clone();
    space.apply();
    let live = space.api.get(&path);
    assert_eq!((&live["metadata"]["uid"], &live["metadata"]["generation"]), (&uid.into(), &generation));
    assert_eq!((live["status"]["availableReplicas"].as_u64(), pods(&space).len()), (Some(1), 1));
    assert!(dependent_is_there(&space));
    space.is_settled();
    space.destroy();
}
