//! Objects, their Stacks and Runs in memory: what is written when, and what is left alone.

use serde_json::{Value as Json, json};

use super::*;
use crate::objects::memory::Memory;

fn now() -> Moment {
    Moment("2026-01-01T00:10:00Z".parse().unwrap())
}

struct World {
    store: Memory,
    reconciler: Reconciler,
}

impl World {
    fn new() -> Self {
        let store = Memory::new(Arc::new(now));
        let reconciler = Reconciler::new(Arc::new(store.clone()), &Settings::default());
        Self { store, reconciler }
    }

    async fn write(&self, metadata: Json, more: Json) {
        let mut spec = json!({"interval": "5m", "sourceRef": {"kind": "GitRepository", "name": "code"}});
        spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let mut object = json!({"apiVersion": "infra.contrib.fluxcd.io/v1alpha2", "kind": "Terraform", "metadata": {"name": "app", "namespace": "team"}, "spec": spec});
        object["metadata"].as_object_mut().unwrap().extend(metadata.as_object().unwrap().clone());
        self.store.create(&kind(), &serde_json::from_value(object).unwrap()).await.unwrap();
    }

    async fn look(&self) {
        self.reconciler.reconcile("team", "app", now()).await.unwrap();
    }

    async fn object(&self) -> Option<DynamicObject> {
        self.store.get(&Place::new(kind(), "team", "app")).await.unwrap()
    }

    async fn stack(&self) -> Option<Stack> {
        find(&self.store, "team", "terraform--app").await.unwrap()
    }

    async fn edit(&self, change: impl FnOnce(&mut DynamicObject)) {
        let mut object = self.object().await.unwrap();
        change(&mut object);
        self.store.replace(&kind(), &object).await.unwrap();
    }

    /// A Run of the Stack whose plan waits.
    async fn waits(&self) {
        let run: Json = json!({
            "apiVersion": "groma.dev/v1alpha1", "kind": "Run", "metadata": {"name": "terraform--app-1", "namespace": "team"},
            "spec": {
                "stack": "terraform--app", "number": 1, "action": "apply", "bundle": "b", "about": {}, "engine": "native", "executor": "inProcess",
                "approval": {}, "limits": {"init": "1m", "plan": "1m", "apply": "1m"},
            },
        });
        let runs = Kind::of::<Run>();
        let mut run = self.store.create(&runs, &serde_json::from_value(run).unwrap()).await.unwrap();
        run.data["status"] = json!({
            "phase": "AwaitingApproval", "plan": {"id": "plan-0123456789abcdef"}, "planned": {"add": 1, "change": 0, "destroy": 0},
        });
        self.store.replace_status(&runs, &run).await.unwrap();
        let stacks = Kind::of::<Stack>();
        let mut stack = untyped(&self.stack().await.unwrap()).unwrap();
        stack.data["status"] = json!({
            "source": {"revision": "main@sha1:aa"}, "observedGeneration": stack.metadata.generation,
            "lastRun": {"name": "terraform--app-1", "number": 1, "phase": "AwaitingApproval"},
            "conditions": [{"type": "Ready", "status": "Unknown", "reason": "AwaitingApproval", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}],
        });
        self.store.replace_status(&stacks, &stack).await.unwrap();
    }

    async fn approved(&self) -> bool {
        let run: Run = find(&self.store, "team", "terraform--app-1").await.unwrap().unwrap();
        run.status.unwrap().approval.is_some()
    }
}

fn ready(object: &DynamicObject) -> String {
    let all = object.data["status"]["conditions"].as_array().cloned().unwrap_or_default();
    let ready = all.iter().find(|known| known["type"] == "Ready").cloned().unwrap_or_default();
    format!("{} {}", ready["reason"].as_str().unwrap_or_default(), ready["message"].as_str().unwrap_or_default())
}

#[tokio::test]
async fn an_object_has_a_stack_and_nothing_is_written_twice() {
    let world = World::new();
    world.write(json!({}), json!({"approvePlan": "auto"})).await;
    world.look().await;
    let stack = world.stack().await.unwrap();
    assert_eq!(stack.metadata.owner_references.unwrap()[0].name, "app");
    assert_eq!(stack.spec.state.unwrap().suffix.as_deref(), Some("app"));
    world.look().await;
    let writes = world.store.version();
    world.look().await;
    assert_eq!(world.store.version(), writes);
}

#[tokio::test]
async fn only_the_whole_id_agrees() {
    let world = World::new();
    world.write(json!({}), json!({})).await;
    world.look().await;
    world.waits().await;
    world.look().await;
    assert!(ready(&world.object().await.unwrap()).contains("set approvePlan: \"plan-main-0123456789\""));
    for wrong in ["plan-main-0123", "plan-main", "plan-main-01234567890", "plan-0123456789abcdef"] {
        world.edit(|object| object.data["spec"]["approvePlan"] = json!(wrong)).await;
        world.look().await;
        assert!(!world.approved().await, "{wrong}");
    }
    world.edit(|object| object.data["spec"]["approvePlan"] = json!("plan-main-0123456789")).await;
    world.look().await;
    assert!(world.approved().await);
}

#[tokio::test]
async fn what_tofu_controller_has_worked_on_is_planned_and_not_touched() {
    let world = World::new();
    world
        .write(json!({"finalizers": [FINALIZER]}), json!({"approvePlan": "auto", "destroyResourcesOnDeletion": true}))
        .await;
    let before = world.object().await.unwrap();
    world.look().await;
    assert_eq!(world.object().await.unwrap(), before);
    let trial = world.stack().await.unwrap().spec;
    assert!(trial.plan_only && trial.deletion_policy == DeletionPolicy::Retain);
    world
        .edit(|object| {
            let notes = object.metadata.annotations.get_or_insert_default();
            notes.insert(names::TAKEN_OVER.to_owned(), "ana".to_owned());
        })
        .await;
    world.look().await;
    let spec = world.stack().await.unwrap().spec;
    assert!(!spec.plan_only && spec.deletion_policy == DeletionPolicy::Destroy);
}

#[tokio::test]
async fn nothing_is_done_while_tofu_controller_works() {
    let world = World::new();
    let lease = json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": super::super::rival::LEASE, "namespace": "flux-system"},
        "spec": {"holderIdentity": "tofu-0", "leaseDurationSeconds": 15, "renewTime": "2026-01-01T00:09:55.000000Z"},
    });
    world.store.create(&Kind::lease(), &serde_json::from_value(lease).unwrap()).await.unwrap();
    world.write(json!({}), json!({})).await;
    let writes = world.store.version();
    world.look().await;
    world.look().await;
    assert_eq!((world.store.version(), world.stack().await), (writes, None));
    let notices = world.store.notices();
    assert_eq!(notices.len(), 1);
    assert!(notices[0].message.contains("tofu-0") && notices[0].reason == "TofuControllerActive", "{notices:?}");
}

#[tokio::test]
async fn what_is_wrong_is_told_and_leaves_the_stack_as_it_is() {
    let world = World::new();
    world.write(json!({}), json!({"breakTheGlass": true})).await;
    world.look().await;
    let stack = world.stack().await.unwrap();
    world.edit(|object| object.data["spec"]["interval"] = json!("soon")).await;
    world.look().await;
    assert!(ready(&world.object().await.unwrap()).starts_with("InvalidSpec spec.interval: "));
    assert_eq!(world.stack().await.unwrap().spec, stack.spec);
    let reasons: Vec<String> = world.store.notices().into_iter().map(|notice| notice.reason).collect();
    assert_eq!(reasons, ["Unsupported", "InvalidSpec"]);
}

/// T1, T4: neither that it is suspended, nor what tofu-controller has left on it is in the way.
#[tokio::test]
async fn a_suspended_object_goes_with_its_stack() {
    let world = World::new();
    world.write(json!({"finalizers": ["tf.dependency.of.gone"]}), json!({"suspend": true})).await;
    world.look().await;
    let place = Place::new(kind(), "team", "app");
    world.store.delete(&place, None).await.unwrap();
    world.look().await;
    assert!(world.stack().await.is_none(), "nothing holds it in this world");
    world.look().await;
    assert!(world.object().await.is_none());
}

#[tokio::test]
async fn a_lock_goes_if_the_object_says_so() {
    for (tfstate, goes) in [
        (json!({}), false),
        (json!({"forceUnlock": "no"}), false),
        (json!({"forceUnlock": "yes", "lockIdentifier": "other"}), false),
        (json!({"forceUnlock": "yes", "lockIdentifier": "id-1"}), true),
        (json!({"forceUnlock": "auto"}), true),
    ] {
        let world = World::new();
        world.write(json!({}), json!({"tfstate": tfstate})).await;
        world.look().await;
        world.waits().await;
        let runs = Kind::of::<Run>();
        let mut run = world.store.get(&Place::new(runs.clone(), "team", "terraform--app-1")).await.unwrap().unwrap();
        run.data["status"] = json!({"phase": "Failed", "failure": "Locked"});
        world.store.replace_status(&runs, &run).await.unwrap();
        let lease = json!({
            "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "lock-tfstate-default-app", "namespace": "team"},
            "spec": {"holderIdentity": "id-1"},
        });
        world.store.create(&Kind::lease(), &serde_json::from_value(lease).unwrap()).await.unwrap();
        world.look().await;
        let lease =
            world.store.get(&Place::new(Kind::lease(), "team", "lock-tfstate-default-app")).await.unwrap().unwrap();
        assert_eq!(lease.data["spec"].get("holderIdentity").is_none(), goes, "{tfstate}");
        let lock = world.object().await.unwrap().data["status"]["lock"].clone();
        assert_eq!(lock, if goes { json!({"lastApplied": "id-1"}) } else { json!({"pending": "id-1"}) });
    }
}
