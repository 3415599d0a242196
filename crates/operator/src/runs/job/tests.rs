//! Jobs whose pods do not do what they should.

use super::*;
use crate::objects::memory::Memory;
use crate::objects::untyped;

struct World {
    store: Memory,
    jobs: Jobs,
    now: Arc<Mutex<Moment>>,
    key: Key,
}

impl World {
    /// A Run that somebody works on in a pod.
    async fn new(phase: &str) -> Self {
        let now = Arc::new(Mutex::new(Moment("2026-01-01T00:00:00Z".parse().unwrap())));
        let shared = Arc::clone(&now);
        let clock: Clock = Arc::new(move || *shared.lock().unwrap());
        let store = Memory::new(Arc::clone(&clock));
        let settings = Settings {
            image: "groma:1".to_owned(),
            room: Room { most: 2, most_each: 2 },
            environment: BTreeMap::new(),
        };
        let jobs = Jobs::new(Arc::new(store.clone()), settings, clock);
        let key = ("team".to_owned(), "app-1".to_owned());
        let world = Self { store, jobs, now, key };
        let run: Run = serde_json::from_value(json!({
            "apiVersion": "groma.dev/v1alpha1", "kind": "Run", "metadata": {"name": "app-1", "namespace": "team"},
            "spec": {
                "stack": "app", "number": 1, "action": "apply", "bundle": "b", "about": {}, "engine": "native", "executor": "job",
                "approval": {"mode": "auto"}, "limits": {"init": "1m", "plan": "1m", "apply": "30m"},
            },
        }))
        .unwrap();
        let kind = Kind::of::<Run>();
        let mut made = world.store.create(&kind, &untyped(&run).unwrap()).await.unwrap();
        let phases = json!([{"phase": phase, "began": "2026-01-01T00:00:00Z"}]);
        made.data["status"] = json!({"phase": phase, "holder": "a pod", "phases": phases});
        world.store.replace_status(&kind, &made).await.unwrap();
        world
    }

    async fn add(&self, kind: &Kind, name: &str, content: Json) {
        let metadata = ObjectMeta {
            name: Some(name.to_owned()),
            namespace: Some("team".to_owned()),
            labels: Some([(names::RUN.to_owned(), "app-1".to_owned())].into()),
            ..ObjectMeta::default()
        };
        let made = self.store.create(kind, &holder(kind, metadata, content.clone())).await.unwrap();
        if content.get("status").is_some() {
            let mut next = made;
            next.data["status"] = content["status"].clone();
            self.store.replace_status(kind, &next).await.unwrap();
        }
    }

    async fn run(&self) -> Run {
        find::<Run>(&self.store, &self.key.0, &self.key.1).await.unwrap().unwrap()
    }

    async fn look(&self) -> Option<Duration> {
        self.jobs.look_at(&self.key, self.run().await).await.unwrap()
    }

    async fn cancel(&self) {
        let mut run = self.run().await;
        run.spec.cancel = true;
        self.store.replace(&Kind::of::<Run>(), &untyped(&run).unwrap()).await.unwrap();
    }

    fn later(&self, by: Duration) {
        let mut now = self.now.lock().unwrap();
        *now = Moment(now.0.checked_add(jiff::SignedDuration::try_from(by).unwrap()).unwrap());
    }

    async fn jobs(&self) -> usize {
        self.store.list(&Kind::job(), None, &[]).await.unwrap().len()
    }
}

#[tokio::test]
async fn a_pod_that_does_not_end_is_taken_away() {
    // What was begun is given the time that it may take.
    for (phase, waits) in [("Planning", TO_END), ("Applying", Duration::from_mins(30) + TO_END)] {
        let world = World::new(phase).await;
        world.add(&Kind::job(), "job", json!({"spec": {}})).await;
        assert_eq!(world.look().await, None);
        world.cancel().await;
        assert_eq!(world.look().await, Some(waits), "{phase}");
        world.later(waits.checked_sub(Duration::from_secs(1)).unwrap());
        assert_eq!(world.look().await, Some(Duration::from_secs(1)), "{phase}");
        assert_eq!(world.jobs().await, 1, "{phase}");
        world.later(Duration::from_secs(1));
        world.look().await;
        assert_eq!(world.jobs().await, 0, "{phase}");
        world.look().await;
        let expected = if phase == "Planning" { Phase::Cancelled } else { Phase::Failed };
        assert_eq!(world.run().await.status.unwrap().phase, expected, "{phase}");
    }
}

#[tokio::test]
async fn a_pod_that_dies_while_it_plans_is_not_followed_for_ever() {
    let world = World::new("Planning").await;
    let died = json!({"containerStatuses": [{"state": {"terminated": {"reason": "OOMKilled", "exitCode": 137}}}]});
    world.add(&Kind::core("Pod", "pods"), "pod", json!({"status": died})).await;
    for time in 1..=3 {
        let mut run = world.run().await;
        let status = run.status.get_or_insert_default();
        (status.phase, status.holder) = (Phase::Planning, Some("a pod".to_owned()));
        world.store.replace_status(&Kind::of::<Run>(), &untyped(&run).unwrap()).await.unwrap();
        world.look().await;
        let status = world.run().await.status.unwrap();
        assert!(status.message.contains("its pod is gone (OOMKilled)"), "{}", status.message);
        let expected = if time < 3 { Phase::Queued } else { Phase::Failed };
        assert_eq!((status.phase, status.lost), (expected, time));
    }
    assert_eq!(world.run().await.status.unwrap().failure, Some(FailureKind::Interrupted));
}
