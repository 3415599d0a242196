//! Who is told what, and how often, with objects in memory and a server on loopback.

use std::sync::atomic::{AtomicUsize, Ordering};

use groma_testkit::servers::web::{Answer, WebServer};
use serde_json::{Value as Json, json};

use super::*;
use crate::api::shared::Moment;
use crate::objects::memory::Memory;

/// Bodies, with their signatures.
type Sent = Arc<Mutex<Vec<(Json, Option<String>)>>>;

struct World {
    store: Memory,
    notifier: Notifier,
    server: WebServer,
    sent: Sent,
    failures: Arc<AtomicUsize>,
}

fn clock() -> Clock {
    Arc::new(|| Moment(jiff::Timestamp::UNIX_EPOCH))
}

impl World {
    async fn new(notification: Json) -> Self {
        let store = Memory::new(clock());
        let sent = Sent::default();
        let failures: Arc<AtomicUsize> = Arc::default();
        let (kept, left) = (Arc::clone(&sent), Arc::clone(&failures));
        let server = WebServer::start(move |request| {
            if left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok() {
                return Answer::status(503);
            }
            let body = serde_json::from_slice(&request.body).unwrap();
            kept.lock().unwrap().push((body, request.header(SIGNATURE).map(str::to_owned)));
            Answer::status(202)
        });
        let mut notification = notification;
        notification["url"] = json!(format!("{}/secret-path", server.url()));
        let spec = json!({"source": {"inline": {}}, "notifications": [notification]});
        let mut stack = Stack::new("app", serde_json::from_value(spec).unwrap());
        stack.metadata.namespace = Some("team".to_owned());
        store.create(&Kind::of::<Stack>(), &untyped(&stack).unwrap()).await.unwrap();
        let notifier = Notifier::new(Arc::new(store.clone()), clock(), Arc::default(), None);
        Self { store, notifier, server, sent, failures }
    }

    /// The Stack is so from now on, and it is looked who has to be told.
    async fn is(&self, ready: &str, reason: &str) -> Option<Duration> {
        let mut stack = find::<Stack>(&self.store, "team", "app").await.unwrap().unwrap();
        let generation = stack.metadata.generation;
        let status = stack.status.get_or_insert_default();
        status.observed_generation = generation;
        let condition = json!({
            "type": "Ready", "status": ready, "reason": reason, "message": format!("said {reason}"),
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        });
        status.conditions = vec![serde_json::from_value(condition).unwrap()];
        self.store.replace_status(&Kind::of::<Stack>(), &untyped(&stack).unwrap()).await.unwrap();
        self.notifier.look_at("team", "app").await
    }

    fn reasons(&self) -> Vec<String> {
        self.sent.lock().unwrap().iter().map(|(body, _)| body["reason"].as_str().unwrap().to_owned()).collect()
    }
}

#[tokio::test]
async fn somebody_is_told_once_whenever_it_changes() {
    let mut world = World::new(json!({"events": ["failed", "recovered"]})).await;
    world.is("Unknown", "Progressing").await;
    for _ in 0..3 {
        world.is("False", "Transient").await;
        world.is("Unknown", "Progressing").await;
    }
    world.is("False", "InvalidConfiguration").await;
    world.is("Unknown", "AwaitingApproval").await;
    // Another operator knows what was told.
    world.notifier = Notifier::new(Arc::new(world.store.clone()), clock(), Arc::default(), None);
    world.is("True", "Applied").await;
    let version = world.store.version();
    assert_eq!(world.notifier.look_at("team", "app").await, None);
    assert_eq!(world.store.version(), version, "nothing is written where nothing is new");
    assert_eq!(world.reasons(), ["Transient", "InvalidConfiguration", "Applied"]);
    let (first, signature) = world.sent.lock().unwrap()[0].clone();
    assert_eq!((&first["severity"], &first["involvedObject"]["name"]), (&json!("error"), &json!("app")));
    assert_eq!(signature, None);
}

#[tokio::test]
async fn failures_and_waiting_are_told_unless_somebody_says_otherwise() {
    let world = World::new(json!({"format": "text"})).await;
    world.is("True", "Applied").await;
    world.is("False", "Transient").await;
    let sent = world.sent.lock().unwrap().clone();
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].0, json!({"text": "Stack team/app: Transient: said Transient"}));
}

#[tokio::test]
async fn who_does_not_answer_is_tried_again_and_then_no_more() {
    let world = World::new(json!({})).await;
    world.failures.store(2, Ordering::SeqCst);
    assert_eq!(world.is("False", "Transient").await, Some(SOON));
    assert_eq!(world.notifier.look_at("team", "app").await, Some(SOON * 2));
    assert_eq!(world.notifier.look_at("team", "app").await, None);
    assert_eq!(world.reasons(), ["Transient"]);
    world.failures.store(1_000, Ordering::SeqCst);
    world.is("False", "InvalidConfiguration").await;
    for _ in 1..MOST_ATTEMPTS {
        world.notifier.look_at("team", "app").await;
    }
    assert_eq!(world.notifier.look_at("team", "app").await, None, "it is given up");
    let notices = world.store.notices();
    assert_eq!(notices.len(), 1);
    assert!(notices[0].message.starts_with("spec.notifications[0]: the answer is 503"), "{notices:?}");
    assert!(!notices[0].message.contains("secret-path"));
}

#[tokio::test]
async fn nobody_is_told_where_connections_may_not_lead() {
    let mut world = World::new(json!({})).await;
    let networks = crate::work::networks::networks(&[], Vec::new(), None);
    world.notifier = Notifier::new(Arc::new(world.store.clone()), clock(), Arc::default(), Some(networks));
    assert_eq!(world.is("False", "Transient").await, None);
    assert!(world.reasons().is_empty());
    assert!(world.store.notices()[0].message.contains("-allow-networks"), "{:?}", world.store.notices());
}

#[tokio::test]
async fn all_events_are_told_as_flux_tells_them() {
    let world = World::new(json!({})).await;
    let store = announcing::Announcing::new(world.store.clone(), world.server.url(), clock(), Arc::default());
    let about = Place::new(Kind::of::<Stack>(), "team", "app");
    let message = "Run app-1 begins".to_owned();
    store.notice(Notice { about, uid: None, is_warning: false, reason: "RunStarted".to_owned(), message }).await;
    while world.reasons().is_empty() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let (body, _) = world.sent.lock().unwrap()[0].clone();
    assert_eq!((&body["reason"], &body["severity"]), (&json!("RunStarted"), &json!("info")));
    assert_eq!(world.store.notices().len(), 1, "and to those who read events");
}
