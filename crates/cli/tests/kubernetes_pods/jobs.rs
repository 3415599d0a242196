//! Jobs that end well, and Jobs that do not: waiting for those would be in vain, so nobody does.

use std::time::Duration;

use crate::api::eventually;
use crate::node::{container, dependent, has_no_pods, is_not_tainted, on_the_node, says, timed};
use crate::space::object_with;

fn job(wait_for: &str, arguments: &str) -> String {
    let manifest = format!(
        "apiVersion: batch/v1\nkind: Job\nmetadata: {{name: work, namespace: NAMESPACE}}\nspec:\n  backoffLimit: 0\n  template:\n    \
         spec: {{restartPolicy: Never, terminationGracePeriodSeconds: 1, containers: [{}]}}",
        container(arguments, "")
    );
    object_with("work", &format!("wait_for = {{ {wait_for} }}"), &manifest)
        + &dependent("after", "k8sconnect_object.work", "{a: b}")
}

#[test]
fn the_end_of_a_job_is_waited_for() {
    let space = on_the_node();
    space.main(&job("condition = \"Complete\", timeout = \"60s\"", "sleep, 2s")).apply();
    let live = space.api.get(&space.of("batch/v1", "jobs", "work"));
    assert_eq!(live["status"]["succeeded"], 1);
    let (ended, after) = (&live["status"]["completionTime"], space.api.get(&space.core("configmaps", "after")));
    assert!(ended.as_str().unwrap() <= after["metadata"]["creationTimestamp"].as_str().unwrap(), "{ended} {after}");
    space.is_settled();
    space.destroy();
    assert!(has_no_pods(&space));
}

/// A Job that runs is ready: who only wants it under way does not wait for its end.
#[test]
fn the_start_of_a_job_is_waited_for() {
    let space = on_the_node();
    let (_, took) = timed(|| space.main(&job("ready = true, timeout = \"60s\"", "sleep, 10m")).apply());
    assert!(took < Duration::from_mins(1), "{took:?}");
    assert_eq!(space.api.get(&space.of("batch/v1", "jobs", "work"))["status"]["active"], 1);
    space.is_settled();
    // What it has begun goes with it.
    space.destroy();
    assert!(has_no_pods(&space));
}

#[test]
fn a_job_that_fails_ends_the_wait_at_once() {
    let space = on_the_node();
    let path = space.of("batch/v1", "jobs", "work");
    for wait_for in ["condition = \"Complete\"", "field_value = { \"status.succeeded\" = \"1\" }"] {
        space.main(&job(&format!("{wait_for}, timeout = \"10m\""), "exit, '3'"));
        let (said, took) = timed(|| space.apply_fails());
        assert!(took < Duration::from_mins(1), "{took:?}");
        says(
            &said,
            &["the Job has failed", "BackoffLimitExceeded", "1 failed", "container web has ended with exit code 3"],
        );
        is_not_tainted(&space, "k8sconnect_object.work");
        assert!(space.api.find(&space.core("configmaps", "after")).is_none());
        space.api.delete(&format!("{path}?propagationPolicy=Background"));
        assert!(space.api.disappears(&path));
    }
}

/// All was well when it was looked at first: what has gone wrong since is told all the same.
#[test]
fn a_job_that_fails_late_says_why() {
    let space = on_the_node();
    let late = job("condition = \"Complete\", timeout = \"10m\"", "exit, '3'");
    let first = container("sleep, 3s", "").replace("name: web", "name: first");
    let said =
        space.main(&late.replace("containers:", &format!("initContainers: [{first}], containers:"))).apply_fails();
    says(&said, &["the Job has failed", "container web has ended with exit code 3"]);
}

/// Its template cannot be changed, so a Job that is mended is another one.
#[test]
fn a_job_that_failed_is_replaced_by_one_that_does_not() {
    let space = on_the_node();
    space.main(&job("ready = true, timeout = \"10m\"", "exit, '3'"));
    // It is ready as soon as it runs, and fails then.
    let _ = space.run(&["apply", "-auto-approve"]);
    let path = space.of("batch/v1", "jobs", "work");
    assert!(eventually(|| space.api.get(&path)["status"]["failed"] == 1));
    space.main(&job("condition = \"Complete\", timeout = \"60s\"", "exit, '0'"));
    assert!(space.plan().actions().contains(&"replace k8sconnect_object.work".to_owned()));
    space.apply();
    assert_eq!(space.api.get(&path)["status"]["succeeded"], 1);
    space.is_settled();
    space.destroy();
}
