//! What becomes of pods when their owner is destroyed.

use crate::node::{deployment, has_no_pods, idle, on_the_node, pods};
use crate::space::{Space, object_with};

fn with_two_pods(delete_policy: &str) -> Space {
    let space = on_the_node();
    let more = format!("delete_policy = {delete_policy:?}\n  wait_for = {{ rollout = true, timeout = \"60s\" }}");
    space.main(&object_with("web", &more, &deployment(2, &idle()))).apply();
    assert_eq!(pods(&space).len(), 2);
    space
}

/// When the apply ends, everything is gone.
#[test]
fn pods_go_before_their_owner_in_the_foreground() {
    let space = with_two_pods("foreground");
    space.destroy();
    assert_eq!(space.api.count(&space.core("pods", "")), 0);
    assert_eq!(space.api.count(&space.of("apps/v1", "replicasets", "")), 0);
}

#[test]
fn pods_go_after_their_owner_in_the_background() {
    let space = with_two_pods("background");
    space.destroy();
    assert!(space.api.find(&space.of("apps/v1", "deployments", "web")).is_none());
    assert!(has_no_pods(&space));
}

#[test]
fn pods_of_orphans_go_on() {
    let space = with_two_pods("orphan_dependents");
    space.destroy();
    assert!(space.api.find(&space.of("apps/v1", "deployments", "web")).is_none());
    let sets = space.api.get(&space.of("apps/v1", "replicasets", ""));
    let set = &sets["items"][0];
    assert!(set["metadata"]["ownerReferences"].is_null(), "{set}");
    assert_eq!(pods(&space).len(), 2);
    space.api.delete(&space.of("apps/v1", "replicasets", set["metadata"]["name"].as_str().unwrap()));
    assert!(has_no_pods(&space));
}
