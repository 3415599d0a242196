//! The `http` backend against a server that speaks its protocol, and with the other tools on the same state.

#![cfg(feature = "peers")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

#[path = "http/actor.rs"]
mod actor;
#[path = "http/histories.rs"]
mod histories;
#[path = "http/tools.rs"]
mod tools;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use actor::{Actor, Other, Recorder, act, backend, clock, lock_eventually, since};
use groma_backends::Backend;
use groma_state::{LockError, StateStore as _, StoreError};
use groma_testkit::servers::http::{Rules, StateServer};
use tools::Tool;

/// When at the latest a silent holder is replaced.
const LATEST: Duration = Duration::from_secs(20);

#[test]
fn another_process() {
    act();
}

fn strict() -> StateServer {
    StateServer::start(Rules { locks_again: true, ..Rules::default() })
}

fn settings(server: &StateServer) -> Vec<(&'static str, String)> {
    let address = server.address("state");
    vec![("address", address.clone()), ("lock_address", address.clone()), ("unlock_address", address)]
}

fn borrowed<'s>(settings: &'s [(&'static str, String)]) -> Vec<(&'s str, &'s str)> {
    settings.iter().map(|(name, value)| (*name, value.as_str())).collect()
}

fn open(server: &StateServer, scratch: &Path) -> Arc<dyn Backend> {
    backend("http", &borrowed(&settings(server)), scratch)
}

fn scratch() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

#[test]
fn what_is_stored_is_read_and_only_the_last_one_can_be_replaced() {
    let (server, scratch) = (strict(), scratch());
    let backend = open(&server, scratch.path());
    let (mut first, mut second) = (Actor::new(&*backend), Actor::new(&*backend));
    assert_eq!(first.read().unwrap(), [""; 0]);
    assert_eq!(second.read().unwrap(), [""; 0]);
    first.write("a").unwrap();
    // Nobody has a lock; what was read is all that keeps them apart.
    assert!(matches!(second.write("b"), Err(StoreError::Conflict { expected: None, found: Some(_) })));
    second.read().unwrap();
    second.write("b").unwrap();
    assert!(matches!(first.write("c"), Err(StoreError::Conflict { .. })));
    assert_eq!(first.read().unwrap(), ["a", "b"]);
}

#[test]
fn whoever_has_no_lock_cannot_store_while_somebody_has() {
    let (server, scratch) = (strict(), scratch());
    let backend = open(&server, scratch.path());
    let (mut holder, mut other) = (Actor::new(&*backend), Actor::new(&*backend));
    holder.lock("h").unwrap();
    holder.read().unwrap();
    other.read().unwrap();
    assert!(matches!(other.write("x"), Err(StoreError::Locked(LockError::Held { .. }))));
    holder.write("a").unwrap();
    holder.unlock().unwrap();
    assert_eq!(server.shelf("state").lock, None);
}

#[test]
fn a_lock_of_another_tool_is_never_taken_and_can_be_forced() {
    let (server, scratch) = (strict(), scratch());
    let backend = open(&server, scratch.path());
    let theirs = "{\"ID\":\"theirs\",\"Operation\":\"OperationTypeApply\",\"Info\":\"\",\"Who\":\"they@there\",\
                  \"Version\":\"1.12.6\",\"Created\":\"2026-01-02T03:04:05Z\",\"Path\":\"\"}";
    server.change("state", |shelf| shelf.lock = Some(theirs.to_owned()));
    let mut actor = Actor::new(&*backend);
    let began = clock();
    let Err(LockError::Held { reason, info, .. }) = actor.lock("ours") else { panic!("it was taken") };
    assert!(since(began) < Duration::from_secs(5));
    assert!(reason.contains("ID=theirs") && reason.contains("force-unlock"), "{reason}");
    assert_eq!(info.unwrap().who, "they@there");
    let forced = actor.keeper.store().force_unlock("another");
    assert!(matches!(forced, Err(LockError::WrongId { .. })), "{forced:?}");
    actor.keeper.store().force_unlock("theirs").unwrap();
    actor.lock("ours").unwrap();
}

#[test]
fn where_locks_cannot_be_renewed_nobody_is_silent() {
    let (server, scratch) = (StateServer::start(Rules::default()), scratch());
    let backend = open(&server, scratch.path());
    let mut holder = Actor::new(&*backend);
    holder.lock("h").unwrap();
    assert!(!server.shelf("state").lock.unwrap().contains("renewed"));
    // It may be gone or not.
    drop(holder);
    let Err(LockError::Held { reason, .. }) = Actor::new(&*backend).lock("w") else { panic!("it was taken") };
    assert!(reason.contains("force-unlock"), "{reason}");
}

#[test]
fn a_holder_that_renews_keeps_its_lock() {
    let (server, scratch) = (strict(), scratch());
    let backend = open(&server, scratch.path());
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
fn a_dead_holder_is_replaced_in_time() {
    let (server, scratch) = (strict(), scratch());
    let mut holder = Other::start("http", &borrowed(&settings(&server)), scratch.path());
    assert_eq!(holder.ask("lock h"), "ok");
    assert_eq!(holder.ask("read"), "");
    assert_eq!(holder.ask("write a"), "ok");
    holder.kill();
    let backend = open(&server, scratch.path());
    let mut next = Actor::new(&*backend);
    let waited = lock_eventually(&mut next, "w", LATEST);
    assert!(waited >= Duration::from_secs(14) && waited <= LATEST, "{waited:?}");
    assert_eq!(next.read().unwrap(), ["a"]);
    next.write("b").unwrap();
    next.unlock().unwrap();
}

#[test]
fn a_holder_that_was_stopped_cannot_overwrite() {
    for wake_early in [true, false] {
        let (server, scratch) = (strict(), scratch());
        let mut holder = Other::start("http", &borrowed(&settings(&server)), scratch.path());
        assert_eq!(holder.ask("lock h"), "ok");
        holder.ask("read");
        assert_eq!(holder.ask("write a"), "ok");
        holder.pause();
        let backend = open(&server, scratch.path());
        let mut next = Actor::new(&*backend);
        lock_eventually(&mut next, "w", LATEST);
        assert_eq!(next.read().unwrap(), ["a"]);
        if !wake_early {
            next.write("b").unwrap();
            next.unlock().unwrap();
        }
        holder.resume();
        let said = holder.ask("write stale");
        assert!(said.starts_with("error"), "{said}");
        if wake_early {
            next.write("b").unwrap();
            next.unlock().unwrap();
        }
        assert_eq!(Actor::new(&*backend).read().unwrap(), ["a", "b"]);
    }
}

#[test]
fn a_spool_of_this_machine_is_folded_in() {
    let (server, scratch) = (strict(), scratch());
    let mut holder = Other::start("http", &borrowed(&settings(&server)), scratch.path());
    assert_eq!(holder.ask("lock h"), "ok");
    assert_eq!(holder.ask("begin"), "");
    assert_eq!(holder.ask("make a"), "ok");
    assert_eq!(holder.ask("attempt b"), "ok");
    holder.kill();
    // The spool says whose lock it is, and that nobody has it any more.
    let backend = open(&server, scratch.path());
    let mut next = Actor::new(&*backend);
    next.keeper.store().force_unlock("h").unwrap();
    next.lock("w").unwrap();
    let (mut recorder, known) = Recorder::begin(next, scratch.path());
    assert_eq!(known, ["a", "?b"]);
    recorder.finish().unwrap();
    assert_eq!(Actor::new(&*backend).read().unwrap(), ["a"]);
}

#[test]
fn two_writers_lose_nothing() {
    let (server, scratch) = (strict(), scratch());
    let address = server.address("batch-{b}-state-{n}");
    let settings = [("address", address.clone()), ("lock_address", address.clone()), ("unlock_address", address)];
    histories::check("http", &settings, scratch.path());
}

#[test]
fn requests_are_tried_again_and_refusals_are_understood() {
    let (server, scratch) = (strict(), scratch());
    let backend = open(&server, scratch.path());
    let mut actor = Actor::new(&*backend);
    server.fail(2, 503);
    assert_eq!(actor.read().unwrap(), [""; 0]);
    server.fail(1, 404);
    assert_eq!(actor.read().unwrap(), [""; 0]);
    server.fail(1, 418);
    let error = actor.read().unwrap_err().to_string();
    assert!(error.contains("Unexpected HTTP response code 418"), "{error}");

    let server = StateServer::start(Rules { authorization: Some("Basic bWU6c2VjcmV0"), ..Rules::default() });
    let mut settings = settings(&server);
    let error =
        Actor::new(&*self::backend("http", &borrowed(&settings), scratch.path())).read().unwrap_err().to_string();
    assert!(error.contains("HTTP remote state endpoint requires auth"), "{error}");
    settings.extend([("username", "me".to_owned()), ("password", "wrong".to_owned())]);
    let error =
        Actor::new(&*self::backend("http", &borrowed(&settings), scratch.path())).read().unwrap_err().to_string();
    assert!(error.contains("HTTP remote state endpoint invalid auth") && !error.contains("wrong"), "{error}");
    settings.pop();
    settings.push(("password", "secret".to_owned()));
    let mut actor = Actor::new(&*self::backend("http", &borrowed(&settings), scratch.path()));
    assert_eq!(actor.read().unwrap(), [""; 0]);
    actor.write("a").unwrap();
}

#[test]
fn a_server_that_is_away_is_said_without_secrets() {
    let scratch = scratch();
    let gone = StateServer::start(Rules::default());
    let address = gone.address("state?token=canary").replace("http://", "http://me:canary@");
    drop(gone);
    let backend = backend("http", &[("address", &address), ("username", "me")], scratch.path());
    // The first try, and two more.
    let error = Actor::new(&*backend).read().unwrap_err().to_string();
    assert!(error.contains("tried 3 times") && error.contains("/state"), "{error}");
    assert!(!error.contains("canary"), "{error}");
}

#[test]
fn certificates_are_shown_and_looked_at() {
    let scratch = scratch();
    let (server, certificates) = StateServer::start_with_certificates(Rules::default());
    let read = |more: &[(&str, &str)]| {
        let address = server.address("state");
        let settings = [&[("address", address.as_str())], more].concat();
        Actor::new(&*backend("http", &settings, scratch.path())).read().map_err(|error| error.to_string())
    };
    let identity =
        [("client_certificate_pem", certificates.certificate.as_str()), ("client_private_key_pem", &certificates.key)];
    let trusted = [("client_ca_certificate_pem", certificates.authority.as_str())];
    assert_eq!(read(&[&identity[..], &trusted].concat()), Ok(vec![]));
    assert_eq!(read(&[&identity[..], &[("skip_cert_verification", "true")]].concat()), Ok(vec![]));
    let unknown = read(&identity).unwrap_err();
    assert!(unknown.contains("certificate"), "{unknown}");
    assert!(read(&trusted).is_err());
}

#[test]
fn other_tools_share_states_and_locks() {
    for tool in Tool::all() {
        let (server, scratch) = (strict(), scratch());
        let work = tool.workspace(scratch.path(), &tools::block("http", &borrowed(&settings(&server))));
        work.run(&["apply", "-auto-approve", "-var=name=first"]).succeeds();
        let backend = open(&server, scratch.path());
        let mut actor = Actor::new(&*backend);
        assert_eq!(actor.read().unwrap(), ["name", "thing"]);
        actor.lock("ours").unwrap();
        actor.read().unwrap();
        actor.write("more").unwrap();
        // Ours is respected.
        let said = work.run(&["apply", "-auto-approve", "-var=name=second"]).fails();
        assert!(said.contains("Error acquiring the state lock") && said.contains("ID=ours"), "{said}");
        actor.unlock().unwrap();
        // And theirs.
        let asking = work.ask(&["apply", "-var=name=third"]);
        tools::wait_until(|| server.shelf("state").lock.is_some());
        assert!(matches!(actor.lock("ours"), Err(LockError::Held { info: Some(_), .. })));
        asking.answer("yes").succeeds();
        // It has dropped the output that its configuration does not know, and kept the rest.
        assert_eq!(actor.read().unwrap(), ["name", "thing"]);
        let shown = work.run(&["output", "-raw", "name"]).succeeds();
        assert_eq!(shown.trim(), "third");
    }
}
