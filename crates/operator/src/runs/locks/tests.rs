//! Which holders of locks are known to be gone.

use serde_json::json;

use super::*;
use crate::api::shared::Moment;
use crate::objects::holder;
use crate::objects::memory::Memory;
use kube::api::ObjectMeta;

const EARLIER: &str = "11111111-1111-4111-8111-111111111111";
const OWN: &str = "22222222-2222-4222-8222-222222222222";

fn store() -> Memory {
    Memory::new(Arc::new(|| Moment(jiff::Timestamp::from_second(1).unwrap())))
}

fn add(store: &Memory, name: &str, uid: &str, executor: &str, phase: &str) {
    let run = json!({
        "spec": {
            "stack": "app", "number": 1, "action": "apply", "bundle": "b", "about": {}, "engine": "native",
            "executor": executor, "approval": {"mode": "auto"},
            "limits": {"init": "1m", "plan": "1m", "apply": "1m"},
        },
        "status": {"phase": phase},
    });
    let metadata = ObjectMeta {
        name: Some(name.to_owned()),
        namespace: Some("team".to_owned()),
        uid: Some(uid.to_owned()),
        labels: Some([(names::STACK.to_owned(), "app".to_owned())].into()),
        ..ObjectMeta::default()
    };
    store.put_as_it_is(&Kind::of::<Run>(), holder(&Kind::of::<Run>(), metadata, run));
}

fn add_pod(store: &Memory, name: &str, run: &str, phase: &str) {
    let kind = Kind::core("Pod", "pods");
    let metadata = ObjectMeta {
        name: Some(name.to_owned()),
        namespace: Some("team".to_owned()),
        labels: Some([(names::RUN.to_owned(), run.to_owned())].into()),
        ..ObjectMeta::default()
    };
    store.put_as_it_is(&kind, holder(&kind, metadata, json!({"status": {"phase": phase}})));
}

fn asking(store: &Memory, pod: Option<&str>) -> Asking {
    Asking {
        store: Arc::new(store.clone()),
        namespace: "team".to_owned(),
        stack: "app".to_owned(),
        uid: OWN.to_owned(),
        pod: pod.map(str::to_owned),
    }
}

#[tokio::test]
async fn a_run_that_is_over_holds_nothing() {
    let store = store();
    add(&store, "app-1", EARLIER, "inProcess", "Failed");
    assert!(asking(&store, None).is_gone(&format!("{EARLIER}-0a1b2c3d")).await.unwrap());
}

#[tokio::test]
async fn a_run_that_was_let_go_of_may_still_hold_it() {
    let store = store();
    add(&store, "app-1", EARLIER, "inProcess", "Failed");
    let place = crate::objects::Place::new(Kind::of::<Run>(), "team", "app-1");
    let mut run = store.get(&place).await.unwrap().unwrap();
    run.data["status"]["letGo"] = json!(true);
    store.put_as_it_is(&place.kind, run);
    assert!(!asking(&store, None).is_gone(&format!("{EARLIER}-0a1b2c3d")).await.unwrap());
}

#[tokio::test]
async fn a_run_that_is_under_way_or_not_there_may_hold_it() {
    let store = store();
    let holder = format!("{EARLIER}-0a1b2c3d");
    assert!(!asking(&store, None).is_gone(&holder).await.unwrap());
    add(&store, "app-1", EARLIER, "inProcess", "Applying");
    assert!(!asking(&store, None).is_gone(&holder).await.unwrap());
}

#[tokio::test]
async fn an_earlier_attempt_at_the_same_run_holds_nothing() {
    let store = store();
    add(&store, "app-2", OWN, "inProcess", "Planning");
    assert!(asking(&store, None).is_gone(&format!("{OWN}-0a1b2c3d")).await.unwrap());
}

#[tokio::test]
async fn of_a_job_the_pods_must_have_ended() {
    let store = store();
    add(&store, "app-1", EARLIER, "job", "Failed");
    add_pod(&store, "pod-1", "app-1", "Running");
    let holder = format!("{EARLIER}-0a1b2c3d");
    assert!(!asking(&store, None).is_gone(&holder).await.unwrap());
    add_pod(&store, "pod-1", "app-1", "Failed");
    assert!(asking(&store, None).is_gone(&holder).await.unwrap());
    // The pod that asks is there, of course.
    add(&store, "app-2", OWN, "job", "Planning");
    add_pod(&store, "pod-2", "app-2", "Running");
    assert!(asking(&store, Some("pod-2")).is_gone(&format!("{OWN}-0a1b2c3d")).await.unwrap());
    add_pod(&store, "pod-3", "app-2", "Running");
    assert!(!asking(&store, Some("pod-2")).is_gone(&format!("{OWN}-0a1b2c3d")).await.unwrap());
}

#[tokio::test]
async fn locks_of_other_tools_are_left_to_them() {
    let store = store();
    add(&store, "app-1", EARLIER, "inProcess", "Failed");
    for holder in [EARLIER, "somebody", "", "1111111\u{e4}-1111-4111-8111-111111111111-0a1b2c3d"] {
        assert!(!asking(&store, None).is_gone(holder).await.unwrap(), "{holder}");
    }
}
