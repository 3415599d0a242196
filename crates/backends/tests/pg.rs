//! The `pg` backend against a real server, and with the other tools on the same state.

#![cfg(feature = "peers")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

#[path = "http/actor.rs"]
#[allow(dead_code, reason = "nobody is waited for here")]
mod actor;
#[path = "http/histories.rs"]
#[allow(dead_code, reason = "locks here end with their connection, so histories are others")]
mod histories;
#[path = "http/tools.rs"]
mod tools;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use actor::{Actor, Other, Recorder, act, backend};
use groma_backends::Backend;
use groma_state::{LockError, StateStore as _, StoreError, WorkspaceName};
use groma_testkit::servers::postgres::{GUARDED_USER, PASSWORD, PgServer, programs};
use tools::Tool;

#[test]
fn another_process() {
    act();
}

/// One server for all tests; it ends with this process.
fn server() -> &'static PgServer {
    static SERVER: OnceLock<PgServer> = OnceLock::new();
    SERVER.get_or_init(|| {
        let programs = programs().expect("PostgreSQL is not installed: install the package `postgresql`");
        // The server removes it.
        let dir = tempfile::tempdir().unwrap().keep();
        PgServer::start(&dir, &programs).unwrap()
    })
}

/// A database of its own for each test: Terraform locks the creation of states in all of one.
fn settings(database: &str) -> Vec<(&'static str, String)> {
    let made = server().sql(&format!("CREATE DATABASE {database}"));
    assert!(made.is_ok() || made.unwrap_err().to_string().contains("already exists"));
    vec![("conn_str", server().url_of(database))]
}

/// Whether anybody holds a lock in a database.
fn is_locked(database: &str) -> bool {
    let query = "SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database WHERE l.locktype = 'advisory' AND datname = ";
    server().sql(&format!("{query}'{database}'")).unwrap() != "0"
}

fn borrowed<'s>(settings: &'s [(&'static str, String)]) -> Vec<(&'s str, &'s str)> {
    settings.iter().map(|(name, value)| (*name, value.as_str())).collect()
}

fn scratch() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn open(database: &str, scratch: &Path) -> Arc<dyn Backend> {
    backend("pg", &borrowed(&settings(database)), scratch)
}

/// Ends the connections that hold locks.
fn end_connections(like: &str) {
    let query =
        format!("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name LIKE '{like}'");
    server().sql(&query).unwrap();
}

#[test]
fn states_are_stored_and_read_back() {
    let scratch = scratch();
    let mut settings = settings("round_trip");
    settings
        .extend([("schema_name", "a \"schema\""), ("table_name", "a table")].map(|(name, it)| (name, it.to_owned())));
    let backend = backend("pg", &borrowed(&settings), scratch.path());
    let mut actor = Actor::new(&*backend);
    assert_eq!(actor.read().unwrap(), [""; 0]);
    actor.lock("l").unwrap();
    assert!(matches!(actor.lock("again"), Err(LockError::AlreadyLocked)));
    actor.read().unwrap();
    actor.write("a").unwrap();
    actor.write("b").unwrap();
    assert!(matches!(actor.keeper.store().unlock("other"), Err(LockError::WrongId { .. })));
    actor.unlock().unwrap();
    assert_eq!(Actor::new(&*backend).read().unwrap(), ["a", "b"]);
}

#[test]
fn writes_are_compared_with_what_was_read() {
    let scratch = scratch();
    let backend = open("compare", scratch.path());
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

#[test]
fn a_lock_ends_with_its_process_and_the_journal_is_found() {
    let (scratch, elsewhere) = (scratch(), scratch());
    let work = Tool::tofu().workspace(elsewhere.path(), &tools::block("pg", &borrowed(&settings("killed"))));
    let mut holder = Other::start("pg", &borrowed(&settings("killed")), scratch.path());
    assert_eq!(holder.ask("lock h"), "ok");
    assert_eq!(holder.ask("begin"), "");
    assert_eq!(holder.ask("make a"), "ok");
    assert_eq!(holder.ask("save"), "ok");
    assert_eq!(holder.ask("make b"), "ok");
    assert_eq!(holder.ask("attempt c"), "ok");
    holder.kill();
    // Another tool sees the last snapshot, not locked.
    tools::wait_until(|| !is_locked("killed"));
    assert_eq!(work.run(&["state", "list"]).succeeds().trim(), "test_thing.a");
    let backend = open("killed", elsewhere.path());
    let mut next = Actor::new(&*backend);
    next.lock("w").unwrap();
    let (mut recorder, known) = Recorder::begin(next, elsewhere.path());
    assert_eq!(known, ["a", "b", "?c"]);
    recorder.finish().unwrap();
    assert_eq!(Actor::new(&*backend).read().unwrap(), ["a", "b"]);
}

#[test]
fn a_stopped_holder_blocks_and_is_named_and_cannot_overwrite_once_its_lock_is_taken_away() {
    let scratch = scratch();
    let mut holder = Other::start("pg", &borrowed(&settings("stopped")), scratch.path());
    assert_eq!(holder.ask("lock the-holder"), "ok");
    holder.ask("read");
    assert_eq!(holder.ask("write a"), "ok");
    holder.pause();
    let backend = open("stopped", scratch.path());
    let mut next = Actor::new(&*backend);
    let Err(LockError::Held { reason, info, .. }) = next.lock("w") else { panic!("it was taken") };
    assert!(reason.contains("already locked"), "{reason}");
    let info = info.unwrap();
    assert_eq!((info.id.as_str(), info.who.as_str()), ("the-holder", "tester@here"));
    assert!(matches!(next.keeper.store().force_unlock("another"), Err(LockError::WrongId { .. })));
    next.keeper.store().force_unlock("the-holder").unwrap();
    tools::wait_until(|| next.lock("w").is_ok());
    assert_eq!(next.read().unwrap(), ["a"]);
    holder.resume();
    for _ in 0..3 {
        let said = holder.ask("write stale");
        assert!(said.starts_with("error"), "{said}");
    }
    next.write("b").unwrap();
    next.unlock().unwrap();
    assert_eq!(Actor::new(&*backend).read().unwrap(), ["a", "b"]);
}

#[test]
fn a_lost_connection_is_made_again_with_its_lock() {
    let scratch = scratch();
    let backend = open("lost", scratch.path());
    let mut holder = Actor::new(&*backend);
    holder.lock("lost-connection").unwrap();
    holder.read().unwrap();
    holder.write("a").unwrap();
    end_connections("groma lost-connection %");
    tools::wait_until(|| holder.write("b").is_ok());
    assert!(matches!(Actor::new(&*backend).lock("w"), Err(LockError::Held { .. })));
    holder.unlock().unwrap();
    assert_eq!(Actor::new(&*backend).read().unwrap(), ["a", "b"]);
}

#[test]
fn other_states_can_be_made_once_the_first_snapshot_is_stored() {
    let scratch = scratch();
    let backend = open("creating", scratch.path());
    let mut first = Actor::in_workspace(&*backend, "first");
    let mut second = Actor::in_workspace(&*backend, "second");
    first.lock("f").unwrap();
    first.read().unwrap();
    let Err(LockError::Held { reason, .. }) = second.lock("s") else { panic!("both create") };
    assert!(reason.contains("workspace creation"), "{reason}");
    first.write("a").unwrap();
    second.lock("s").unwrap();
    assert!(matches!(Actor::in_workspace(&*backend, "first").lock("x"), Err(LockError::Held { .. })));
    first.unlock().unwrap();
    second.unlock().unwrap();
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
        let work = tool.workspace(scratch.path(), &tools::block("pg", &borrowed(&settings("workspaces"))));
        let listed = work.run(&["workspace", "list"]).succeeds();
        assert!(listed.contains("prod") && listed.contains("stage"), "{listed}");
        work.run(&["workspace", "new", tool.name]).succeeds();
    }
    assert_eq!(names(), ["default", "prod", "stage", "terraform", "tofu"]);
    backend.delete(&WorkspaceName::parse("stage").unwrap()).unwrap();
    assert_eq!(names(), ["default", "prod", "terraform", "tofu"]);
    assert!(backend.delete(&WorkspaceName::default_workspace()).is_err());
    assert_eq!(Actor::in_workspace(&*backend, "stage").read().unwrap(), [""; 0]);
}

#[test]
fn other_tools_share_states_and_locks() {
    for (tool, database) in Tool::all().iter().zip(["with_tofu", "with_terraform"]) {
        let scratch = scratch();
        let backend = open(database, scratch.path());
        let mut actor = Actor::new(&*backend);
        // Before there is any state, creating one is locked.
        actor.lock("creating").unwrap();
        let work = tool.workspace(scratch.path(), &tools::block("pg", &borrowed(&settings(database))));
        let said = work.run(&["apply", "-auto-approve"]).fails();
        assert!(said.contains("Error acquiring the state lock"), "{said}");
        actor.unlock().unwrap();
        let asking = work.ask(&["apply", "-var=name=zero"]);
        tools::wait_until(|| is_locked(database));
        assert!(matches!(actor.lock("x"), Err(LockError::Held { .. })));
        asking.answer("no").fails();
        work.run(&["apply", "-auto-approve", "-var=name=first"]).succeeds();
        assert_eq!(actor.read().unwrap(), ["name", "thing"]);
        actor.lock("ours").unwrap();
        actor.read().unwrap();
        actor.write("more").unwrap();
        // Ours is respected.
        let said = work.run(&["apply", "-auto-approve", "-var=name=second"]).fails();
        assert!(said.contains("Error acquiring the state lock"), "{said}");
        actor.unlock().unwrap();
        // And theirs.
        let asking = work.ask(&["apply", "-var=name=third"]);
        tools::wait_until(|| is_locked(database));
        let Err(LockError::Held { info, .. }) = actor.lock("ours") else { panic!("it was taken") };
        assert!(info.unwrap().info.contains("held by another tool"));
        asking.answer("yes").succeeds();
        // It has dropped the output that its configuration does not know, and kept the rest.
        assert_eq!(actor.read().unwrap(), ["name", "thing"]);
        assert_eq!(work.run(&["output", "-raw", "name"]).succeeds().trim(), "third");
    }
}

/// Pseudo-random.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// Two writers for each state. Now and then one goes without a lock, or loses its connection and with it the lock.
#[test]
fn two_writers_lose_nothing() {
    #[allow(clippy::disallowed_methods, reason = "how many is for whoever runs the tests to say")]
    let count: u64 = std::env::var("GROMA_HISTORIES").ok().map_or(50, |text| text.parse().unwrap());
    let scratch = scratch();
    let backend = open("histories", scratch.path());
    backend.workspaces().unwrap();
    let (mut stored, mut refused) = (0, 0);
    for batch in 0..count.div_ceil(25) {
        let results: Vec<(usize, usize)> = std::thread::scope(|scope| {
            let states: Vec<_> = (0..25).map(|number| (number, format!("b{batch}s{number}"))).collect();
            let running: Vec<_> = states
                .into_iter()
                .map(|(number, name)| {
                    let backend = &backend;
                    scope.spawn(move || one_history(&**backend, &name, batch * 25 + number))
                })
                .collect();
            running.into_iter().map(|one| one.join().unwrap()).collect()
        });
        stored += results.iter().map(|(stored, _)| stored).sum::<usize>();
        refused += results.iter().map(|(_, refused)| refused).sum::<usize>();
    }
    println!("{count} histories: {stored} stored, {refused} refused, 0 lost");
    assert!(stored as u64 > count && refused > 0, "nothing was tried");
}

fn one_history(backend: &dyn Backend, workspace: &str, seed: u64) -> (usize, usize) {
    let both: Vec<(BTreeSet<String>, usize)> = std::thread::scope(|scope| {
        let writers = [1, 2].map(|who| scope.spawn(move || one_writer(backend, workspace, who, seed)));
        writers.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let there: BTreeSet<String> = Actor::in_workspace(backend, workspace).read().unwrap().into_iter().collect();
    for (stored, _) in &both {
        let lost: Vec<_> = stored.difference(&there).collect();
        assert!(lost.is_empty(), "history {seed}: {lost:?} are lost");
    }
    both.iter().fold((0, 0), |(stored, refused), (names, more)| (stored + names.len(), refused + more))
}

fn one_writer(backend: &dyn Backend, workspace: &str, who: u64, seed: u64) -> (BTreeSet<String>, usize) {
    let mut chance = Chance(seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ who);
    let nap = |chance: &mut Chance| std::thread::sleep(Duration::from_millis(chance.below(20)));
    let (mut stored, mut refused) = (BTreeSet::new(), 0);
    let mut actor = Actor::in_workspace(backend, workspace);
    for round in 0..8 {
        let id = format!("{workspace}-{who}-{round}");
        let locked = chance.below(3) > 0;
        if locked && actor.lock(&id).is_err() {
            nap(&mut chance);
            continue;
        }
        if actor.read().is_ok() {
            for number in 0..=chance.below(3) {
                nap(&mut chance);
                if locked && chance.below(8) == 0 {
                    end_connections(&format!("groma {id} %"));
                }
                let name = format!("{who}_{round}_{number}");
                match actor.write(&name) {
                    Ok(()) => drop(stored.insert(name)),
                    Err(_) => refused += 1,
                }
            }
        }
        if locked {
            let _ = actor.unlock();
        }
    }
    (stored, refused)
}

#[test]
fn connections_are_encrypted_as_they_are_asked_to_be() {
    let scratch = scratch();
    let (port, root) = (server().port(), server().certificate().display());
    let read = |parameters: String| {
        let conn_str = format!("user=tester dbname=postgres port={port} {parameters}");
        let backend = backend("pg", &[("conn_str", &conn_str), ("schema_name", "encrypted")], scratch.path());
        Actor::new(&*backend).read().map_err(|error| error.to_string())
    };
    read("host=127.0.0.1".to_owned()).unwrap();
    read(format!("host=127.0.0.1 sslmode=verify-ca sslrootcert={root}")).unwrap();
    read(format!("host=localhost hostaddr=127.0.0.1 sslmode=verify-full sslrootcert={root}")).unwrap();
    let name = read(format!("host=127.0.0.1 sslmode=verify-full sslrootcert={root}")).unwrap_err();
    assert!(name.contains("certificate"), "{name}");
    let nobody = read("host=localhost hostaddr=127.0.0.1 sslmode=verify-full".to_owned()).unwrap_err();
    assert!(nobody.contains("certificate"), "{nobody}");
    let guarded = format!("postgres://{GUARDED_USER}:{PASSWORD}@127.0.0.1:{port}/postgres");
    server()
        .sql(&format!(
            "GRANT CREATE ON DATABASE postgres TO {GUARDED_USER}; GRANT ALL ON SCHEMA public TO {GUARDED_USER}"
        ))
        .unwrap();
    let backend = backend("pg", &[("conn_str", &guarded), ("schema_name", "guarded")], scratch.path());
    assert_eq!(Actor::new(&*backend).read().unwrap(), [""; 0]);
}

#[test]
fn mistakes_are_explained() {
    let scratch = scratch();
    let port = server().port();
    let trouble = |more: &[(&str, &str)]| {
        let backend = backend("pg", more, scratch.path());
        Actor::new(&*backend).read().unwrap_err().to_string()
    };
    let wrong = trouble(&[(
        "conn_str",
        &format!("postgres://{GUARDED_USER}:canary@127.0.0.1:{port}/postgres?sslmode=disable"),
    )]);
    assert!(wrong.contains("Check the user and the password") && !wrong.contains("canary"), "{wrong}");
    let database = trouble(&[("conn_str", &format!("postgres://tester@127.0.0.1:{port}/missing?sslmode=disable"))]);
    assert!(database.contains("\"missing\" does not exist") && database.contains("create it first"), "{database}");
    let away = trouble(&[("conn_str", "postgres://tester:canary@127.0.0.1:9/postgres?sslmode=disable")]);
    assert!(away.contains("127.0.0.1:9") && !away.contains("canary"), "{away}");
    let skipped = trouble(&[
        ("conn_str", &server().url()),
        ("schema_name", "nowhere"),
        ("skip_schema_creation", "true"),
        ("skip_table_creation", "true"),
        ("skip_index_creation", "true"),
    ]);
    assert!(skipped.contains("Creation was skipped"), "{skipped}");
}
