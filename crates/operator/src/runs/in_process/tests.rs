//! Threads that do not end, and what is done without them.

use std::collections::BTreeMap;

use groma_run::cli_config::CliConfig;
use groma_run::providers::ProviderChoice;
use serde_json::json;

use super::*;
use crate::bundle::{BackendBlock, ResolvedInputs};
use crate::objects::memory::Memory;
use crate::objects::untyped;
use crate::work::{Engines, Premises};

fn now() -> Moment {
    Moment(jiff::Timestamp::now())
}

fn executor(store: &Memory, directory: &std::path::Path) -> Arc<InProcess> {
    let workshop = Workshop {
        states: None,
        scratch: directory.join("scratch"),
        cache: directory.join("cache"),
        environment: BTreeMap::new(),
        home: BTreeMap::new(),
        cluster: None,
        cli_config: CliConfig::default(),
        choice: ProviderChoice::default(),
        premises: Premises::default(),
        engines: Engines::default(),
        sources: crate::sources::Premises::default(),
        show: Arc::new(|_| String::new()),
    };
    let room = Room { most: 1, most_each: 1 };
    InProcess::new(Arc::new(store.clone()), workshop, "us".to_owned(), room, Arc::new(now), Arc::new(|_: News<'_>| {}))
}

async fn add(store: &Memory, number: u64, status: serde_json::Value) -> Key {
    let name = format!("app-{number}");
    let run: Run = serde_json::from_value(json!({
        "apiVersion": "groma.dev/v1alpha1", "kind": "Run", "metadata": {"name": name, "namespace": "team"},
        "spec": {
            "stack": "app", "number": number, "action": "apply", "bundle": "b", "about": {}, "engine": "native",
            "executor": "inProcess", "approval": {"mode": "auto"}, "limits": {"init": "1m", "plan": "1m", "apply": "1m"},
        },
    }))
    .unwrap();
    let kind = crate::objects::Kind::of::<Run>();
    let mut made = store.create(&kind, &untyped(&run).unwrap()).await.unwrap();
    made.data["status"] = status;
    store.replace_status(&kind, &made).await.unwrap();
    ("team".to_owned(), name)
}

async fn status(store: &Memory, key: &Key) -> crate::api::run::RunStatus {
    find::<Run>(store, &key.0, &key.1).await.unwrap().unwrap().status.unwrap()
}

fn bundle() -> Bundle {
    Bundle {
        files: BTreeMap::new(),
        programs: std::collections::BTreeSet::new(),
        root: ".".to_owned(),
        inputs: ResolvedInputs::default(),
        var_files: Vec::new(),
        workspace: None,
        backend: BackendBlock::default(),
        targets: Vec::new(),
        allow_exec: false,
        parallelism: None,
        engine: crate::api::stack::Engine::Native,
        preview: false,
        webhooks: Vec::new(),
        adoption: None,
        orphans: false,
        var_files_win: false,
        plan_copy: None,
        plan_unlocked: false,
    }
}

#[tokio::test(start_paused = true)]
async fn what_takes_too_long_is_asked_to_end_and_let_go_of_if_it_does_not() {
    let interrupt = Interrupt::default();
    let start = Instant::now();
    let Watchdog { deadline: _deadline, expired, let_go } = InProcess::watchdog(Length::seconds(60), interrupt.clone());
    let_go.await.unwrap();
    assert_eq!(start.elapsed(), Duration::from_mins(1) + 2 * GRACE);
    assert!(expired.load(Ordering::SeqCst));
    assert_ne!(interrupt.urgency(), groma_run::engine::interrupt::Urgency::None);
}

#[tokio::test]
async fn a_thread_that_hangs_keeps_nobody_but_its_own_stack() {
    let directory = tempfile::tempdir().unwrap();
    let store = Memory::new(Arc::new(now));
    let executor = executor(&store, directory.path());
    let hanging = add(&store, 1, json!({"phase": "Applying", "holder": "us"})).await;
    let (end, ended) = std::sync::mpsc::channel::<()>();
    let (enough, let_go) = oneshot::channel();
    enough.send(()).unwrap();
    let unlocked = (Interrupt::default(), LockManners::default(), Left::default());
    let hang = move |_: &Work<'_>| {
        let _ = ended.recv();
        Ended::default()
    };
    let thread = executor.on_a_thread(hanging.clone(), bundle(), unlocked, let_go, hang).await.unwrap_err();
    executor.let_go(&hanging, thread).await.unwrap();
    let known = status(&store, &hanging).await;
    assert_eq!((known.phase, known.failure, known.let_go), (Phase::Failed, Some(FailureKind::Timeout), true));
    assert_eq!(known.holder, None, "it is nobody's, so whoever hangs cannot write it");
    let next = add(&store, 2, json!({"phase": "Queued"})).await;
    executor.work_on(&next, Interrupt::default()).await.unwrap();
    let known = status(&store, &next).await;
    assert_eq!((known.phase, known.failure), (Phase::Failed, Some(FailureKind::Locked)), "{}", known.message);
    assert!(known.message.contains("app-1"), "{}", known.message);
    end.send(()).unwrap();
    while executor.state().still_at("team", "app").is_some() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let after = add(&store, 3, json!({"phase": "Queued"})).await;
    executor.work_on(&after, Interrupt::default()).await.unwrap();
    assert!(status(&store, &after).await.message.contains("The bundle b is not there"));
}

#[tokio::test]
async fn a_run_that_kills_whoever_works_on_it_is_not_begun_for_ever() {
    let directory = tempfile::tempdir().unwrap();
    let store = Memory::new(Arc::new(now));
    let executor = executor(&store, directory.path());
    executor.close();
    let key = add(&store, 1, json!({"phase": "Planning", "holder": "who is gone", "lost": 2})).await;
    let run = find::<Run>(&store, &key.0, &key.1).await.unwrap().unwrap();
    executor.look_at(&key, run).await.unwrap();
    let known = status(&store, &key).await;
    assert_eq!((known.phase, known.failure, known.lost), (Phase::Failed, Some(FailureKind::Interrupted), 3));
}
