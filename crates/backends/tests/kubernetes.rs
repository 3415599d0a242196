//! The `kubernetes` backend against a real API server, and with the other tools on the same state. Every test has a namespace of
//! its own.

#![cfg(feature = "peers")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

#[path = "http/actor.rs"]
mod actor;
#[path = "kubernetes/cluster.rs"]
mod cluster;
#[path = "http/histories.rs"]
mod histories;
#[path = "http/tools.rs"]
mod tools;

use std::time::Duration;

use actor::{Actor, Recorder, act, backend, backend_of, clock, lock_eventually, since};
use cluster::Namespace;
use groma_backends::BackendError;
use groma_model::ty::Type;
use groma_model::value::Value;
use groma_state::{LockError, StateStore as _, StoreError, WorkspaceName};
use tools::Tool;

/// When at the latest a silent holder is replaced.
const LATEST: Duration = Duration::from_secs(20);

#[test]
fn another_process() {
    act();
}

#[test]
fn what_is_stored_is_read_and_only_the_last_one_can_be_replaced() {
    let place = Namespace::new("cas");
    let backend = place.backend();
    let (mut first, mut second) = (Actor::new(&*backend), Actor::new(&*backend));
    assert_eq!(first.read().unwrap(), [""; 0]);
    assert_eq!(second.read().unwrap(), [""; 0]);
    first.write("a").unwrap();
    // Nobody has a lock; what was read is all that keeps them apart.
    let refused = second.write("b");
    assert!(matches!(refused, Err(StoreError::Conflict { expected: None, found: Some(_) })), "{refused:?}");
    second.read().unwrap();
    second.write("b").unwrap();
    assert!(matches!(first.write("c"), Err(StoreError::Conflict { .. })));
    assert_eq!(first.read().unwrap(), ["a", "b"]);
    let secret = place.secret("tfstate-default-app").unwrap();
    assert_eq!(secret.metadata.annotations.unwrap()["encoding"], "gzip");
    let labels = secret.metadata.labels.unwrap();
    let labels: Vec<&str> = labels.iter().flat_map(|(name, value)| [name.as_str(), value.as_str()]).collect();
    let expected = [
        ["app.kubernetes.io/managed-by", "terraform"],
        ["tfstate", "true"],
        ["tfstateSecretSuffix", "app"],
        ["tfstateWorkspace", "default"],
    ];
    assert_eq!(labels, expected.concat());
}

#[test]
fn a_state_that_changes_under_a_lock_is_not_overwritten() {
    let place = Namespace::new("bypass");
    let backend = place.backend();
    let (mut holder, mut intruder) = (Actor::new(&*backend), Actor::new(&*backend));
    holder.lock("h").unwrap();
    holder.read().unwrap();
    holder.write("a").unwrap();
    // Somebody who was told not to lock.
    intruder.read().unwrap();
    intruder.write("b").unwrap();
    assert!(matches!(holder.write("c"), Err(StoreError::Conflict { .. })));
    assert_eq!(holder.read().unwrap(), ["a", "b"]);
    holder.write("c").unwrap();
    holder.unlock().unwrap();
    assert_eq!(place.lease("lock-tfstate-default-app").unwrap().spec.unwrap().holder_identity, None);
}

#[test]
fn a_holder_that_renews_keeps_its_lock() {
    let place = Namespace::new("renewal");
    let backend = place.backend();
    let (mut holder, mut waiter) = (Actor::new(&*backend), Actor::new(&*backend));
    holder.lock("h").unwrap();
    for _ in 0..4 {
        let Err(LockError::Held { reason, info, .. }) = waiter.lock("w") else { panic!("it was taken") };
        assert!(reason.contains("renewed just now"), "{reason}");
        assert_eq!(info.unwrap().who, "tester@here");
    }
    holder.read().unwrap();
    holder.write("a").unwrap();
    holder.unlock().unwrap();
    waiter.lock("w").unwrap();
    waiter.unlock().unwrap();
}

#[test]
fn a_dead_holder_is_replaced_in_time_and_its_journal_is_folded_in() {
    let place = Namespace::new("dead");
    let mut holder = place.other();
    assert_eq!(holder.ask("lock h"), "ok");
    assert_eq!(holder.ask("begin"), "");
    assert_eq!(holder.ask("make a"), "ok");
    assert_eq!(holder.ask("save"), "ok");
    assert_eq!(holder.ask("make b"), "ok");
    assert_eq!(holder.ask("attempt c"), "ok");
    holder.kill();
    let backend = place.backend();
    // Others see the last snapshot, locked.
    assert_eq!(Actor::new(&*backend).read().unwrap(), ["a"]);
    let mut next = Actor::new(&*backend);
    let waited = lock_eventually(&mut next, "w", LATEST);
    assert!(waited >= Duration::from_secs(14) && waited <= LATEST, "{waited:?}");
    let (mut recorder, known) = Recorder::begin(next, place.scratch());
    assert_eq!(known, ["a", "b", "?c"]);
    recorder.make("d", true).unwrap();
    recorder.finish().unwrap();
    assert_eq!(Actor::new(&*backend).read().unwrap(), ["a", "b", "d"]);
}

#[test]
fn a_holder_that_dies_before_it_has_stored_anything_is_replaced() {
    let place = Namespace::new("early");
    let mut holder = place.other();
    assert_eq!(holder.ask("lock h"), "ok");
    assert_eq!(holder.ask("begin"), "");
    assert_eq!(holder.ask("make a"), "ok");
    holder.kill();
    let backend = place.backend();
    let mut next = Actor::new(&*backend);
    lock_eventually(&mut next, "w", LATEST);
    let (mut recorder, known) = Recorder::begin(next, place.scratch());
    assert_eq!(known, ["a"]);
    recorder.finish().unwrap();
    assert_eq!(Actor::new(&*backend).read().unwrap(), ["a"]);
}

#[test]
fn a_holder_that_was_stopped_cannot_overwrite() {
    for wake_early in [true, false] {
        let place = Namespace::new(if wake_early { "stopped-1" } else { "stopped-2" });
        let mut holder = place.other();
        assert_eq!(holder.ask("lock h"), "ok");
        holder.ask("read");
        assert_eq!(holder.ask("write a"), "ok");
        holder.pause();
        let backend = place.backend();
        let mut next = Actor::new(&*backend);
        lock_eventually(&mut next, "w", LATEST);
        assert_eq!(next.read().unwrap(), ["a"]);
        if !wake_early {
            next.write("b").unwrap();
            next.unlock().unwrap();
        }
        holder.resume();
        for _ in 0..2 {
            let said = holder.ask("write stale");
            assert!(said.contains("was taken over"), "{said}");
        }
        let said = holder.ask("read");
        assert!(said.contains("was taken over"), "{said}");
        if wake_early {
            next.write("b").unwrap();
            next.unlock().unwrap();
        }
        assert_eq!(holder.ask("unlock"), "ok");
        assert_eq!(Actor::new(&*backend).read().unwrap(), ["a", "b"]);
    }
}

#[test]
fn what_a_stopped_holder_has_made_stays_known() {
    let place = Namespace::new("spooled");
    let mut holder = place.other();
    assert_eq!(holder.ask("lock h"), "ok");
    assert_eq!(holder.ask("begin"), "");
    assert_eq!(holder.ask("make a"), "ok");
    holder.pause();
    let backend = place.backend();
    let mut next = Actor::new(&*backend);
    lock_eventually(&mut next, "w", LATEST);
    let (mut recorder, known) = Recorder::begin(next, &place.scratch().join("elsewhere"));
    assert_eq!(known, ["a"]);
    holder.resume();
    // It cannot add to its journal any more, and keeps what it does in a file.
    holder.ask("make late");
    let said = holder.ask("finish");
    assert!(said.starts_with("error"), "{said}");
    drop(holder);
    recorder.make("b", true).unwrap();
    recorder.finish().unwrap();
    assert_eq!(Actor::new(&*backend).read().unwrap(), ["a", "b"]);
    // Its machine knows.
    let mut back = Actor::new(&*backend);
    back.lock("x").unwrap();
    let (mut recorder, known) = Recorder::begin(back, place.scratch());
    assert!(known.iter().any(|name| name.trim_start_matches('?') == "late"), "{known:?}");
    recorder.finish().unwrap();
}

#[test]
fn two_writers_lose_nothing() {
    let place = Namespace::new("histories");
    let mut settings = place.settings();
    for (name, value) in &mut settings {
        if *name == "secret_suffix" {
            *value = "batch-{b}-state-{n}".to_owned();
        }
    }
    histories::check("kubernetes", &settings, place.scratch());
}

#[test]
fn workspaces_come_and_go() {
    let place = Namespace::new("workspaces");
    let backend = place.backend();
    let listed = || -> Vec<String> { backend.workspaces().unwrap().iter().map(ToString::to_string).collect() };
    assert_eq!(listed(), ["default"]);
    for name in ["prod", "dev"] {
        let mut actor = Actor::in_workspace(&*backend, name);
        actor.lock("l").unwrap();
        actor.read().unwrap();
        actor.write(name).unwrap();
        actor.unlock().unwrap();
    }
    // A run that was killed has left a journal.
    let mut actor = Actor::in_workspace(&*backend, "dev");
    actor.lock("m").unwrap();
    let (mut recorder, _) = Recorder::begin(actor, place.scratch());
    recorder.make("thing", true).unwrap();
    drop(recorder);
    assert_eq!(listed(), ["default", "dev", "prod"]);
    let name = |text: &str| WorkspaceName::parse(text).unwrap();
    assert!(matches!(backend.delete(&WorkspaceName::default_workspace()), Err(BackendError::Workspace(_))));
    backend.delete(&name("dev")).unwrap();
    assert_eq!(listed(), ["default", "prod"]);
    assert_eq!(place.names(), ["Lease lock-tfstate-prod-app", "Secret tfstate-prod-app"]);
    assert_eq!(Actor::in_workspace(&*backend, "prod").read().unwrap(), ["prod"]);
    // Of another suffix.
    let mut other = place.settings();
    other[0].1 = "other".to_owned();
    let other = backend_with(&other, &place);
    assert_eq!(other.workspaces().unwrap().len(), 1);
    let error = other.open(&name("Prod"), std::sync::Arc::new(groma_state::PlainCodec)).err().unwrap();
    assert!(error.to_string().contains("the secret name tfstate-Prod-other is invalid"), "{error}");
}

fn backend_with(settings: &[(&'static str, String)], place: &Namespace) -> std::sync::Arc<dyn groma_backends::Backend> {
    let settings: Vec<(&str, &str)> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
    backend("kubernetes", &settings, place.scratch())
}

#[test]
fn what_a_cluster_refuses_is_said() {
    let place = Namespace::new("refusals");
    let mut settings = place.settings();
    let set = |settings: &mut Vec<(&'static str, String)>, name: &'static str, value: &str| {
        settings.retain(|(known, _)| *known != name);
        settings.push((name, value.to_owned()));
    };
    // No right to do it.
    set(&mut settings, "token", groma_testkit::servers::kube::NOBODY_TOKEN);
    let error = Actor::new(&*backend_with(&settings, &place)).read().unwrap_err().to_string();
    assert!(
        error.contains("cannot get resource \"secrets\"") && error.contains("the verb \"get\" for \"secrets\""),
        "{error}"
    );
    let error = Actor::new(&*backend_with(&settings, &place)).lock("l").unwrap_err().to_string();
    assert!(error.contains("the verb \"get\" for \"leases\""), "{error}");
    let error = backend_with(&settings, &place).workspaces().unwrap_err().to_string();
    assert!(error.contains("the verb \"list\" for \"secrets\""), "{error}");
    // Nobody.
    set(&mut settings, "token", "canary");
    let error = Actor::new(&*backend_with(&settings, &place)).read().unwrap_err().to_string();
    assert!(error.contains("does not know who is asking") && !error.contains("canary"), "{error}");
    // No namespace.
    let mut settings = place.settings();
    set(&mut settings, "namespace", "nowhere");
    let error = Actor::new(&*backend_with(&settings, &place)).lock("l").unwrap_err().to_string();
    assert!(error.contains("there is no namespace \"nowhere\""), "{error}");
    // No server.
    let mut settings = place.settings();
    set(&mut settings, "host", "https://127.0.0.1:1");
    let began = clock();
    let error = Actor::new(&*backend_with(&settings, &place)).read().unwrap_err().to_string();
    assert!(error.contains("the cluster cannot be reached"), "{error}");
    assert!(since(began) < Duration::from_mins(1));
}

#[test]
fn a_program_can_say_who_is_asking() {
    let place = Namespace::new("exec");
    let reach = groma_testkit::servers::kube::shared();
    let settings = |environment: &str| {
        let script = "printf '{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\",\
                      \"status\":{\"token\":\"%s\"}}' \"$THE_TOKEN$1\"";
        let arguments = ["-c", script, "sh", "-cluster"].map(Value::from).to_vec();
        let exec = Value::object([
            ("api_version", Value::from("client.authentication.k8s.io/v1")),
            ("command", Value::from("sh")),
            ("args", Value::list(Type::String, arguments)),
            ("env", Value::map(Type::String, [("THE_TOKEN", Value::from(environment))].into_iter().collect())),
        ]);
        let certificate = std::fs::read_to_string(&reach.certificate).unwrap();
        Value::object([
            ("secret_suffix", Value::from("app")),
            ("namespace", Value::from("exec")),
            ("host", Value::from(reach.url.as_str())),
            ("cluster_ca_certificate", Value::from(certificate)),
            ("exec", Value::list(exec.ty(), vec![exec])),
        ])
    };
    let mut actor = Actor::new(&*backend_of("kubernetes", &settings("admin-of-the-test"), place.scratch()));
    actor.read().unwrap();
    actor.write("a").unwrap();
    let mut actor = Actor::new(&*backend_of("kubernetes", &settings("canary"), place.scratch()));
    let error = actor.read().unwrap_err().to_string();
    assert!(error.contains("does not know who is asking") && !error.contains("canary"), "{error}");
}

#[test]
fn what_another_tool_does_after_a_kill_is_merged() {
    let place = Namespace::new("merged");
    let settings = place.settings();
    let settings: Vec<(&str, &str)> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let work = Tool::tofu().workspace(place.scratch(), &tools::block("kubernetes", &settings));
    work.run(&["apply", "-auto-approve", "-var=name=first"]).succeeds();
    let mut holder = place.other();
    let id = "7b0c8a1e-0d8f-4d0a-9a55-0c5c5d3b1f01";
    assert_eq!(holder.ask(&format!("lock {id}")), "ok");
    assert_eq!(holder.ask("begin"), "name,thing");
    assert_eq!(holder.ask("make a"), "ok");
    assert_eq!(holder.ask("save"), "ok");
    assert_eq!(holder.ask("make b"), "ok");
    holder.kill();
    // The last snapshot is there, and locked. People take the lock away, and go on.
    let said = work.run(&["apply", "-auto-approve", "-var=name=second"]).fails();
    assert!(said.contains("Error acquiring the state lock") && said.contains(id), "{said}");
    work.run(&["force-unlock", "-force", id]).succeeds();
    let said = work.run(&["state", "list"]).succeeds();
    assert!(said.contains("test_thing.a") && !said.contains("test_thing.b"), "{said}");
    work.run(&["state", "rm", "terraform_data.thing"]).succeeds();
    // Nobody is silent, so nobody is waited for.
    let backend = place.backend();
    let mut next = Actor::new(&*backend);
    let began = clock();
    next.lock("w").unwrap();
    assert!(since(began) < Duration::from_secs(5));
    let (mut recorder, known) = Recorder::begin(next, place.scratch());
    assert_eq!(known, ["name", "a", "b"]);
    recorder.finish().unwrap();
    assert_eq!(Actor::new(&*backend).read().unwrap(), ["name", "a", "b"]);
}

#[test]
fn a_lock_can_be_forced_and_its_holder_is_kept_out() {
    let place = Namespace::new("forced");
    let backend = place.backend();
    let (mut holder, mut other) = (Actor::new(&*backend), Actor::new(&*backend));
    assert!(matches!(other.keeper.store().force_unlock("h"), Err(LockError::NotLocked)));
    holder.lock("h").unwrap();
    holder.read().unwrap();
    holder.write("a").unwrap();
    let forced = other.keeper.store().force_unlock("x");
    assert!(matches!(forced, Err(LockError::WrongId { .. })), "{forced:?}");
    other.keeper.store().force_unlock("h").unwrap();
    other.lock("o").unwrap();
    other.read().unwrap();
    let refused = holder.write("b");
    assert!(matches!(refused, Err(StoreError::TakenOver { .. })), "{refused:?}");
    other.write("c").unwrap();
    other.unlock().unwrap();
    assert_eq!(Actor::new(&*backend).read().unwrap(), ["a", "c"]);
}

#[test]
fn a_state_that_is_kept_for_somebody_is_one_to_the_other_tools() {
    for tool in Tool::all() {
        let place = Namespace::new(&format!("kept-{}", tool.name));
        let mut actor = Actor::new(&*place.kept("nobody"));
        actor.lock("ours").unwrap();
        assert_eq!(actor.read().unwrap(), [""; 0]);
        actor.unlock().unwrap();
        let finalizers = || place.secret("tfstate-default-app").unwrap().metadata.finalizers.unwrap_or_default();
        assert_eq!(finalizers(), ["groma.dev/kept"]);
        // There is a Secret, and no state.
        let settings = place.settings();
        let settings: Vec<(&str, &str)> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let work = tool.workspace(place.scratch(), &tools::block("kubernetes", &settings));
        work.run(&["apply", "-auto-approve", "-var=name=first"]).succeeds();
        work.run(&["apply", "-auto-approve", "-var=name=second"]).succeeds();
        assert_eq!(finalizers(), ["groma.dev/kept"], "{}", tool.name);
        actor.lock("ours again").unwrap();
        assert_eq!(actor.read().unwrap(), ["name", "thing"]);
        actor.write("more").unwrap();
        actor.unlock().unwrap();
        assert!(work.run(&["output"]).succeeds().contains("more"));
    }
}

#[test]
fn a_holder_that_is_known_to_be_gone_is_replaced_at_once() {
    let place = Namespace::new("known");
    let mut first = Actor::new(&*place.backend());
    first.lock("dead").unwrap();
    first.read().unwrap();
    let mut other = Actor::new(&*place.kept("somebody else"));
    let start = clock();
    let mut next = Actor::new(&*place.kept("dead"));
    next.lock("next").unwrap();
    assert!(since(start) < Duration::from_secs(3), "{:?}", since(start));
    // If it was only asleep, it is refused from now on.
    assert!(first.write("late").is_err());
    next.read().unwrap();
    next.write("a").unwrap();
    // Nobody is gone because somebody else is.
    assert!(matches!(other.lock("other"), Err(LockError::Held { .. })));
    next.unlock().unwrap();
}

#[test]
fn where_nothing_can_be_made_any_more_a_state_is_used_all_the_same() {
    let place = Namespace::new("ending");
    let backend = place.kept("nobody");
    let mut first = Actor::new(&*backend);
    first.lock("one").unwrap();
    let (mut recorder, _) = Recorder::begin(first, place.scratch());
    recorder.make("a", true).unwrap();
    let kept = place.names().into_iter().filter(|name| name.contains("groma-journal")).count();
    assert!(kept > 0, "{:?}", place.names());
    place.end();
    // As the one who deletes everything in it does, while somebody works.
    place.delete_lease("lock-tfstate-default-app");
    recorder.make("b", true).unwrap();
    recorder.save().unwrap();
    recorder.make("c", true).unwrap();
    recorder.finish().unwrap();
    let left: Vec<String> = place.names().into_iter().filter(|name| name.contains("groma-journal")).collect();
    assert_eq!(left, [""; 0]);
    let mut next = Actor::new(&*backend);
    next.lock("two").unwrap();
    let (mut recorder, known) = Recorder::begin(next, place.scratch());
    assert_eq!(known, ["a", "b", "c"]);
    recorder.make("d", true).unwrap();
    recorder.finish().unwrap();
    assert_eq!(Actor::new(&*backend).read().unwrap(), ["a", "b", "c", "d"]);
}

#[test]
fn other_tools_share_states_and_locks() {
    for tool in Tool::all() {
        let place = Namespace::new(tool.name);
        let settings = place.settings();
        let settings: Vec<(&str, &str)> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let work = tool.workspace(place.scratch(), &tools::block("kubernetes", &settings));
        work.run(&["apply", "-auto-approve", "-var=name=first"]).succeeds();
        let backend = place.backend();
        let mut actor = Actor::new(&*backend);
        assert_eq!(actor.read().unwrap(), ["name", "thing"]);
        actor.lock("ours").unwrap();
        actor.read().unwrap();
        actor.write("more").unwrap();
        // Ours is respected.
        let said = work.run(&["apply", "-auto-approve", "-var=name=second"]).fails();
        assert!(said.contains("Error acquiring the state lock") && said.contains("tester@here"), "{said}");
        actor.unlock().unwrap();
        // And theirs, though nobody renews it.
        let asking = work.ask(&["apply", "-var=name=third"]);
        tools::wait_until(|| place.holder().is_some());
        let began = clock();
        let Err(LockError::Held { reason, info: Some(_), .. }) = actor.lock("ours") else { panic!("it was taken") };
        assert!(reason.contains("force-unlock") && since(began) < Duration::from_secs(5), "{reason}");
        asking.answer("yes").succeeds();
        // It has dropped the output that its configuration does not know, and kept the rest.
        assert_eq!(actor.read().unwrap(), ["name", "thing"]);
        assert_eq!(work.run(&["output", "-raw", "name"]).succeeds().trim(), "third");
        // Theirs and ours are in one list.
        let mut ours = Actor::in_workspace(&*backend, "ours");
        ours.read().unwrap();
        ours.write("x").unwrap();
        let listed = work.run(&["workspace", "list"]).succeeds();
        assert!(listed.contains("ours") && listed.contains("default"), "{listed}");
    }
}

#[test]
fn a_state_whose_parts_were_not_copied_is_read_nevertheless() {
    let place = Namespace::new("half");
    let settings = place.settings();
    let settings: Vec<(&str, &str)> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let work = Tool::terraform().workspace(place.scratch(), &tools::block("kubernetes", &settings));
    let mut actor = Actor::new(&*place.backend());
    actor.read().unwrap();
    actor.write_value("large", &cluster::incompressible(4, 1_500_000)).unwrap();
    assert!(work.run(&["output"]).succeeds().contains("large"));
    actor.write_value("more", &cluster::incompressible(5, 1_500_000)).unwrap();
    // As if it was killed before it could copy the parts.
    for part in ["tfstate-default-app-part-1", "tfstate-default-app-part-2"] {
        place.delete(part);
    }
    let said = work.run(&["output"]).fails();
    assert!(!said.contains("more = "), "Terraform takes it for whole");
    let mut next = Actor::new(&*place.backend());
    assert_eq!(next.read().unwrap(), ["large", "more"]);
    next.write("last").unwrap();
    let shown = work.run(&["output"]).succeeds();
    assert!(["large", "more", "last"].iter().all(|name| shown.contains(&format!("{name} = "))));
    // What was kept for that is gone with the last part.
    next.forget_all();
    next.write("little").unwrap();
    assert_eq!(place.names(), ["Lease lock-tfstate-default-app", "Secret tfstate-default-app"]);
}

#[test]
fn a_state_in_several_secrets_is_terraforms() {
    let place = Namespace::new("parts");
    let settings = place.settings();
    let settings: Vec<(&str, &str)> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let work = Tool::terraform().workspace(place.scratch(), &tools::block("kubernetes", &settings));
    let large = |seed: u64| cluster::incompressible(seed, 1_500_000);
    let apply = |text: &str| {
        std::fs::write(work.dir.join("x.auto.tfvars"), format!("name = \"{text}\"\n")).unwrap();
        work.run(&["apply", "-auto-approve"]).succeeds();
    };
    apply(&large(1)[..600_000]);
    let whole = ["tfstate-default-app", "tfstate-default-app-part-1"];
    assert!(whole.iter().all(|name| place.secret(name).is_some()), "{:?}", place.names());
    let backend = place.backend();
    let mut actor = Actor::new(&*backend);
    actor.lock("ours").unwrap();
    assert_eq!(actor.read().unwrap(), ["name", "thing"]);
    // It was so before, so nobody needs to be told.
    actor.write("more").unwrap();
    assert!(actor.keeper.store().notices().is_empty());
    actor.write_value("large", &large(2)).unwrap();
    actor.unlock().unwrap();
    assert!(place.secret("tfstate-default-app-part-2").is_some(), "{:?}", place.names());
    // Terraform reads what was written here, and what is superfluous goes.
    let shown = work.run(&["state", "list"]).succeeds();
    assert!(shown.contains("terraform_data.thing"), "{shown}");
    apply("small");
    assert_eq!(actor.read().unwrap(), ["name", "thing"]);
    assert!(place.secret(whole[1]).is_none());
    // What was kept of the large one goes with the next.
    actor.write("more").unwrap();
    assert!(!place.names().iter().any(|name| name.contains("groma")), "{:?}", place.names());
    assert!(!place.secret(whole[0]).unwrap().metadata.annotations.unwrap().contains_key("groma.dev/parts"));
    // Ours grows over the limit, and shrinks below it.
    actor.write_value("large", &large(3)).unwrap();
    let notices = actor.keeper.store().notices();
    assert!(notices.len() == 1 && notices[0].detail.contains("OpenTofu cannot read"), "{notices:?}");
    assert!(place.secret(whole[1]).is_some());
    assert!(work.run(&["state", "list"]).succeeds().contains("terraform_data.thing"));
    actor.forget_all();
    actor.write("little").unwrap();
    assert!(place.secret(whole[1]).is_none(), "{:?}", place.names());
    assert!(work.run(&["output"]).succeeds().contains("little"));
    assert_eq!(Actor::new(&*backend).read().unwrap(), ["little"]);
}
