//! The `s3` backend against a real server with conditional writes, and with the other tools on the same state.

#![cfg(feature = "peers")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

#[path = "http/actor.rs"]
mod actor;
#[path = "http/histories.rs"]
mod histories;
#[path = "http/tools.rs"]
mod tools;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use actor::{Actor, Other, Recorder, act, backend, clock, lock_eventually};
use groma_backends::Backend;
use groma_state::{LockError, StateStore as _, StoreError, WorkspaceName};
use groma_testkit::servers::s3::{ACCESS_KEY, REGION, S3Server, SECRET_KEY};
use tools::Tool;

/// When at the latest a silent holder is replaced.
const LATEST: Duration = Duration::from_secs(20);

#[test]
fn another_process() {
    act();
}

/// One server for all tests; it ends with this process.
fn server() -> &'static S3Server {
    static SERVER: OnceLock<S3Server> = OnceLock::new();
    SERVER.get_or_init(|| {
        #[allow(clippy::disallowed_methods, reason = "it says where the real program is")]
        let program = std::env::var_os("GROMA_VERSITYGW").expect("GROMA_VERSITYGW is not set: run `cargo xtask test`");
        // The server removes it.
        let dir = tempfile::tempdir().unwrap().keep();
        S3Server::start(&dir, Path::new(&program)).unwrap()
    })
}

/// A bucket of its own for each test.
fn settings(bucket: &str) -> Vec<(&'static str, String)> {
    server().make_bucket(bucket).unwrap();
    let mut all =
        vec![("bucket", bucket.to_owned()), ("key", "path/to/state".to_owned()), ("region", REGION.to_owned())];
    all.extend([("endpoint", server().url().to_owned()), ("use_path_style", "true".to_owned())]);
    all.extend([("access_key", ACCESS_KEY.to_owned()), ("secret_key", SECRET_KEY.to_owned())]);
    let flags = [
        "skip_credentials_validation",
        "skip_region_validation",
        "skip_requesting_account_id",
        "skip_metadata_api_check",
    ];
    all.extend(flags.map(|name| (name, "true".to_owned())));
    all.push(("use_lockfile", "true".to_owned()));
    all
}

fn borrowed<'s>(settings: &'s [(&'static str, String)]) -> Vec<(&'s str, &'s str)> {
    settings.iter().map(|(name, value)| (*name, value.as_str())).collect()
}

fn scratch() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn open(bucket: &str, scratch: &Path) -> Arc<dyn Backend> {
    backend("s3", &borrowed(&settings(bucket)), scratch)
}

fn with(bucket: &str, changes: &[(&'static str, &str)]) -> Vec<(&'static str, String)> {
    let mut all = settings(bucket);
    all.retain(|(name, _)| !changes.iter().any(|(changed, _)| changed == name));
    all.extend(changes.iter().map(|(name, value)| (*name, (*value).to_owned())));
    all
}

#[test]
fn states_are_stored_and_read_back() {
    let scratch = scratch();
    let backend = open("round-trip", scratch.path());
    let mut actor = Actor::new(&*backend);
    assert_eq!(actor.read().unwrap(), [""; 0]);
    actor.lock("l").unwrap();
    assert!(matches!(actor.lock("again"), Err(LockError::AlreadyLocked)));
    actor.read().unwrap();
    actor.write("a").unwrap();
    actor.write("b").unwrap();
    assert!(matches!(actor.keeper.store().unlock("other"), Err(LockError::WrongId { .. })));
    actor.unlock().unwrap();
    assert_eq!(server().object("round-trip", "path/to/state.tflock"), None);
    assert_eq!(Actor::new(&*backend).read().unwrap(), ["a", "b"]);
}

#[test]
fn writes_are_compared_with_what_was_read() {
    for (bucket, locks) in [("compare-with", "true"), ("compare-without", "false")] {
        let scratch = scratch();
        let backend = backend("s3", &borrowed(&with(bucket, &[("use_lockfile", locks)])), scratch.path());
        let (mut first, mut second) = (Actor::new(&*backend), Actor::new(&*backend));
        first.read().unwrap();
        second.read().unwrap();
        first.write("a").unwrap();
        assert!(matches!(second.write("b"), Err(StoreError::Conflict { expected: None, found: Some(_) })));
        second.read().unwrap();
        second.write("b").unwrap();
        assert!(matches!(first.write("c"), Err(StoreError::Conflict { .. })));
        assert_eq!(first.read().unwrap(), ["a", "b"]);
    }
}

#[test]
fn without_a_lock_file_nothing_is_locked() {
    let scratch = scratch();
    let backend = backend("s3", &borrowed(&with("no-locks", &[("use_lockfile", "false")])), scratch.path());
    let (mut first, mut second) = (Actor::new(&*backend), Actor::new(&*backend));
    first.lock("a").unwrap();
    second.lock("b").unwrap();
    assert_eq!(server().object("no-locks", "path/to/state.tflock"), None);
    first.unlock().unwrap();
    second.unlock().unwrap();
}

#[test]
fn locks_of_other_tools_are_never_taken_and_can_be_forced() {
    let scratch = scratch();
    let backend = open("their-lock", scratch.path());
    let tool = Tool::tofu();
    let work = tool.workspace(scratch.path(), &tools::block("s3", &borrowed(&settings("their-lock"))));
    let asking = work.ask(&["apply"]);
    let lock = || server().object("their-lock", "path/to/state.tflock");
    tools::wait_until(|| lock().is_some());
    let mut actor = Actor::new(&*backend);
    let began = clock();
    let Err(LockError::Held { reason, info, .. }) = actor.lock("ours") else { panic!("it was taken") };
    assert!(clock() < began + Duration::from_secs(5));
    assert!(reason.contains("force-unlock"), "{reason}");
    let info = info.unwrap();
    assert_eq!(info.operation, "OperationTypeApply");
    let forced = actor.keeper.store().force_unlock("another");
    assert!(matches!(forced, Err(LockError::WrongId { .. })), "{forced:?}");
    actor.keeper.store().force_unlock(&info.id).unwrap();
    actor.lock("ours").unwrap();
    asking.answer("no").fails();
}

#[test]
fn a_holder_that_renews_keeps_its_lock() {
    let scratch = scratch();
    let backend = open("renews", scratch.path());
    let (mut holder, mut waiter) = (Actor::new(&*backend), Actor::new(&*backend));
    holder.lock("h").unwrap();
    for _ in 0..4 {
        let Err(LockError::Held { reason, .. }) = waiter.lock("w") else { panic!("it was taken") };
        assert!(reason.contains("renewed just now"), "{reason}");
    }
    holder.read().unwrap();
    holder.write("a").unwrap();
    holder.unlock().unwrap();
    waiter.lock("w").unwrap();
}

#[test]
fn a_dead_holder_is_replaced_in_time_and_its_journal_is_found() {
    let (scratch, elsewhere) = (scratch(), scratch());
    let work = Tool::tofu().workspace(elsewhere.path(), &tools::block("s3", &borrowed(&settings("dead-holder"))));
    let mut holder = Other::start("s3", &borrowed(&settings("dead-holder")), scratch.path());
    assert_eq!(holder.ask("lock h"), "ok");
    assert_eq!(holder.ask("begin"), "");
    assert_eq!(holder.ask("make a"), "ok");
    assert_eq!(holder.ask("save"), "ok");
    assert_eq!(holder.ask("make b"), "ok");
    assert_eq!(holder.ask("attempt c"), "ok");
    holder.kill();
    // Another tool sees the last snapshot, and that it is locked.
    let said = work.run(&["plan"]).fails();
    assert!(said.contains("Error acquiring the state lock") && said.contains("tester@here"), "{said}");
    assert_eq!(work.run(&["state", "list"]).succeeds().trim(), "test_thing.a");
    let backend = open("dead-holder", elsewhere.path());
    let mut next = Actor::new(&*backend);
    let waited = lock_eventually(&mut next, "w", LATEST);
    assert!(waited <= LATEST, "{waited:?}");
    let (mut recorder, known) = Recorder::begin(next, elsewhere.path());
    assert_eq!(known, ["a", "b", "?c"]);
    recorder.finish().unwrap();
    assert_eq!(Actor::new(&*backend).read().unwrap(), ["a", "b"]);
}

#[test]
fn a_holder_that_was_stopped_cannot_overwrite() {
    for (bucket, wake_early) in [("wakes-early", true), ("wakes-late", false)] {
        let scratch = scratch();
        let mut holder = Other::start("s3", &borrowed(&settings(bucket)), scratch.path());
        assert_eq!(holder.ask("lock h"), "ok");
        holder.ask("read");
        assert_eq!(holder.ask("write a"), "ok");
        holder.pause();
        let backend = open(bucket, scratch.path());
        let mut next = Actor::new(&*backend);
        lock_eventually(&mut next, "w", LATEST);
        assert_eq!(next.read().unwrap(), ["a"]);
        if !wake_early {
            next.write("b").unwrap();
            next.unlock().unwrap();
        }
        holder.resume();
        // However often it tries.
        for _ in 0..3 {
            let said = holder.ask("write stale");
            assert!(said.starts_with("error"), "{said}");
        }
        if wake_early {
            next.write("b").unwrap();
            next.unlock().unwrap();
        }
        assert_eq!(Actor::new(&*backend).read().unwrap(), ["a", "b"]);
    }
}

#[test]
fn a_first_state_is_not_overwritten_either() {
    let scratch = scratch();
    let mut holder = Other::start("s3", &borrowed(&settings("first-state")), scratch.path());
    assert_eq!(holder.ask("lock h"), "ok");
    assert_eq!(holder.ask("read"), "");
    holder.pause();
    let backend = open("first-state", scratch.path());
    let mut next = Actor::new(&*backend);
    lock_eventually(&mut next, "w", LATEST);
    holder.resume();
    let said = holder.ask("write stale");
    assert!(said.starts_with("error"), "{said}");
    assert_eq!(next.read().unwrap(), [""; 0]);
    next.write("a").unwrap();
    next.unlock().unwrap();
    assert_eq!(Actor::new(&*backend).read().unwrap(), ["a"]);
}

#[test]
fn what_a_stopped_holder_still_learns_is_on_its_machine() {
    let (scratch, elsewhere) = (scratch(), scratch());
    let mut holder = Other::start("s3", &borrowed(&settings("still-learns")), scratch.path());
    assert_eq!(holder.ask("lock h"), "ok");
    assert_eq!(holder.ask("begin"), "");
    assert_eq!(holder.ask("make a"), "ok");
    holder.pause();
    let backend = open("still-learns", elsewhere.path());
    let mut next = Actor::new(&*backend);
    lock_eventually(&mut next, "w", LATEST);
    let (mut recorder, known) = Recorder::begin(next, elsewhere.path());
    assert_eq!(known, ["a"]);
    holder.resume();
    // What it was about to do goes to a file, and then nothing new is begun.
    assert_eq!(holder.ask("make b"), "ok");
    let said = holder.ask("make c");
    assert!(said.contains("no further changes are begun"), "{said}");
    holder.kill();
    recorder.finish().unwrap();
    let here = open("still-learns", scratch.path());
    let mut back = Actor::new(&*here);
    back.lock("x").unwrap();
    let (mut recorder, known) = Recorder::begin(back, scratch.path());
    assert_eq!(known, ["a", "b"]);
    recorder.finish().unwrap();
}

#[test]
fn two_writers_lose_nothing() {
    let scratch = scratch();
    let settings = with("histories", &[("key", "batch-{b}/state-{n}")]);
    histories::check("s3", &settings, scratch.path());
}

#[test]
fn workspaces_are_listed_made_and_deleted() {
    let scratch = scratch();
    let backend = open("workspaces", scratch.path());
    let names = || backend.workspaces().unwrap().iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(names(), ["default"]);
    for name in ["stage", "prod"] {
        let mut actor = Actor::in_workspace(&*backend, name);
        actor.lock("l").unwrap();
        actor.read().unwrap();
        actor.write(name).unwrap();
        actor.unlock().unwrap();
    }
    assert_eq!(names(), ["default", "prod", "stage"]);
    for tool in Tool::all() {
        let work = tool.workspace(scratch.path(), &tools::block("s3", &borrowed(&settings("workspaces"))));
        let listed = work.run(&["workspace", "list"]).succeeds();
        assert!(listed.contains("prod") && listed.contains("stage"), "{listed}");
        work.run(&["workspace", "new", tool.name]).succeeds();
    }
    assert_eq!(names(), ["default", "prod", "stage", "terraform", "tofu"]);
    backend.delete(&WorkspaceName::parse("stage").unwrap()).unwrap();
    backend.delete(&WorkspaceName::parse("tofu").unwrap()).unwrap();
    assert_eq!(names(), ["default", "prod", "terraform"]);
    assert!(backend.delete(&WorkspaceName::default_workspace()).is_err());
    assert_eq!(Actor::in_workspace(&*backend, "stage").read().unwrap(), [""; 0]);
}

#[test]
fn other_tools_share_states_and_locks() {
    for (tool, bucket) in Tool::all().iter().zip(["with-tofu", "with-terraform"]) {
        let scratch = scratch();
        let work = tool.workspace(scratch.path(), &tools::block("s3", &borrowed(&settings(bucket))));
        work.run(&["apply", "-auto-approve", "-var=name=first"]).succeeds();
        let backend = open(bucket, scratch.path());
        let mut actor = Actor::new(&*backend);
        assert_eq!(actor.read().unwrap(), ["name", "thing"]);
        actor.lock("ours").unwrap();
        actor.read().unwrap();
        actor.write("more").unwrap();
        // Ours is respected.
        let said = work.run(&["apply", "-auto-approve", "-var=name=second"]).fails();
        assert!(said.contains("Error acquiring the state lock") && said.contains("tester@here"), "{said}");
        actor.unlock().unwrap();
        // And theirs.
        let asking = work.ask(&["apply", "-var=name=third"]);
        tools::wait_until(|| server().object(bucket, "path/to/state.tflock").is_some());
        assert!(matches!(actor.lock("ours"), Err(LockError::Held { info: Some(_), .. })));
        asking.answer("yes").succeeds();
        // It has dropped the output that its configuration does not know, and kept the rest.
        assert_eq!(actor.read().unwrap(), ["name", "thing"]);
        assert_eq!(work.run(&["output", "-raw", "name"]).succeeds().trim(), "third");
        // A lock of ours that was left behind can be removed by them.
        actor.lock("left-behind").unwrap();
        work.run(&["force-unlock", "-force", "left-behind"]).succeeds();
        assert_eq!(server().object(bucket, "path/to/state.tflock"), None);
    }
}

#[test]
fn mistakes_are_explained() {
    let scratch = scratch();
    let trouble = |bucket, changes: &[(&'static str, &str)]| {
        let backend = backend("s3", &borrowed(&with(bucket, changes)), scratch.path());
        let read = Actor::new(&*backend).read();
        read.expect_err(&format!("{changes:?}")).to_string()
    };
    let missing = trouble("mistakes", &[("bucket", "no-such-bucket")]);
    assert!(missing.contains("S3 bucket does not exist") && missing.contains("no-such-bucket"), "{missing}");
    let unknown = trouble("mistakes", &[("access_key", "nobody")]);
    assert!(unknown.contains("Check the credentials"), "{unknown}");
    let wrong = trouble("mistakes", &[("secret_key", "canary")]);
    assert!(wrong.contains("Check the credentials") && !wrong.contains("canary"), "{wrong}");
    let away = trouble("mistakes", &[("endpoint", "http://127.0.0.1:9"), ("max_retries", "0")]);
    assert!(away.contains("cannot be reached"), "{away}");
}

/// Where `profile` is looked for.
#[test]
fn credentials_come_from_files_too() {
    let scratch = scratch();
    let path: PathBuf = scratch.path().join("credentials");
    let text = format!(
        "[other]\naws_access_key_id=x\naws_secret_access_key=y\n[mine]\naws_access_key_id={ACCESS_KEY}\naws_secret_access_key={SECRET_KEY}\n"
    );
    std::fs::write(&path, text).unwrap();
    let settings = with(
        "profiles",
        &[
            ("access_key", ""),
            ("secret_key", ""),
            ("profile", "mine"),
            ("shared_credentials_file", path.to_str().unwrap()),
        ],
    );
    let backend = backend("s3", &borrowed(&settings), scratch.path());
    assert_eq!(Actor::new(&*backend).read().unwrap(), [""; 0]);
}
