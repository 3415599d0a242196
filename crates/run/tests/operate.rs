//! Whole operations over built-in providers and local files.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use groma_run::cli_config::CliConfig;
use groma_run::engine::plan::{Mode, Options, Plan};
use groma_run::inputs::GivenVariable;
use groma_run::online::Online;
use groma_run::operate::{Counts, Kind, LockWish, Operation, Outcome, PathOverrides, Watch, Wishes};
use groma_run::providers::{ProviderAccess, ProviderChoice};
use groma_run::session::{Session, Start};
use groma_run::state::{State, WorkspaceName, read_file};
use groma_run::state_access::{Backups, StateAccess};
use tempfile::TempDir;

const PAIR: &str = "resource \"terraform_data\" \"a\" { input = \"x\" }\n\
                    resource \"random_id\" \"b\" { byte_length = 4 }\n\
                    output \"b\" { value = random_id.b.hex }\n";

fn directory(config: &str) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("main.tf"), config).unwrap();
    dir
}

fn access() -> ProviderAccess {
    let online = Online::new(CliConfig::default(), BTreeMap::new());
    ProviderAccess { online, choice: ProviderChoice::default(), schema_cache: None }
}

fn session(dir: &Path) -> Session {
    Session::new(Start::in_directory(dir.to_owned()))
}

fn opened(session: &mut Session, wishes: Wishes) -> Operation {
    let (operation, diagnostics) = Operation::open(session, access(), wishes);
    operation.unwrap_or_else(|| panic!("{diagnostics:?}"))
}

fn planned(operation: &mut Operation, session: &Session, options: &Options) -> Plan {
    let (plan, diagnostics) = operation.plan(session, options, &Watch::default());
    assert!(!diagnostics.has_errors(), "{diagnostics:?}");
    plan.unwrap()
}

/// Plans and applies, whatever comes of it.
fn apply_with(dir: &Path, wishes: Wishes, options: &Options) -> Outcome {
    let mut session = session(dir);
    let mut operation = opened(&mut session, wishes);
    let plan = planned(&mut operation, &session, options);
    let outcome = operation.apply(&session, &plan, &Watch::default());
    assert!(operation.close().is_empty());
    outcome
}

/// Plans and applies; gives the counts.
fn apply(dir: &Path, wishes: Wishes) -> Counts {
    let outcome = apply_with(dir, wishes, &Options::default());
    assert!(!outcome.diagnostics.has_errors(), "{:?}", outcome.diagnostics);
    outcome.counts
}

fn is_empty(dir: &Path, wishes: Wishes) -> bool {
    let mut session = session(dir);
    let mut operation = opened(&mut session, wishes);
    let plan = planned(&mut operation, &session, &Options::default());
    operation.close();
    plan.is_empty()
}

/// The summaries of what keeps an operation from being opened or planned.
fn refused(start: Start) -> Vec<String> {
    let mut session = Session::new(start);
    let (operation, mut diagnostics) = Operation::open(&mut session, access(), Wishes::default());
    if let Some(mut operation) = operation {
        diagnostics.extend(operation.plan(&session, &Options::default(), &Watch::default()).1);
    }
    assert!(diagnostics.has_errors());
    diagnostics.iter().map(|found| found.summary.clone()).collect()
}

fn added(added: usize) -> Counts {
    Counts { added, ..Counts::default() }
}

fn state_at(path: PathBuf) -> State {
    read_file(&path).unwrap().unwrap()
}

#[test]
fn what_was_applied_is_planned_as_nothing() {
    let dir = directory(PAIR);
    assert!(!is_empty(dir.path(), Wishes::default()));
    assert!(!dir.path().join("terraform.tfstate").exists());
    assert_eq!(apply(dir.path(), Wishes::default()), added(2));
    let first = state_at(dir.path().join("terraform.tfstate"));
    assert_eq!(first.serial, 1);
    assert!(is_empty(dir.path(), Wishes::default()));
    // Nothing changes, so nothing is written.
    let before = fs::read(dir.path().join("terraform.tfstate")).unwrap();
    assert_eq!(apply(dir.path(), Wishes::default()), Counts::default());
    assert_eq!(fs::read(dir.path().join("terraform.tfstate")).unwrap(), before);
    let outcome = apply_with(dir.path(), Wishes::default(), &Options { mode: Mode::Destroy, ..Options::default() });
    assert_eq!(outcome.counts, Counts { destroyed: 2, ..Counts::default() });
    let last = state_at(dir.path().join("terraform.tfstate"));
    assert!(last.is_empty() && last.serial == 2 && last.lineage == first.lineage, "{last:?}");
    let backup = state_at(dir.path().join("terraform.tfstate.backup"));
    assert_eq!((backup.serial, backup.resources.len()), (1, 2));
}

#[test]
fn replacements_are_one_made_and_one_destroyed() {
    let config = |trigger: &str, lifecycle: &str| {
        format!("resource \"terraform_data\" \"a\" {{\n  triggers_replace = \"{trigger}\"\n  {lifecycle}\n}}\n")
    };
    let dir = directory(&config("1", ""));
    apply(dir.path(), Wishes::default());
    let replaced = Counts { added: 1, destroyed: 1, ..Counts::default() };
    fs::write(dir.path().join("main.tf"), config("2", "")).unwrap();
    assert_eq!(apply(dir.path(), Wishes::default()), replaced);
    fs::write(dir.path().join("main.tf"), config("3", "lifecycle { create_before_destroy = true }")).unwrap();
    assert_eq!(apply(dir.path(), Wishes::default()), replaced);
}

#[test]
fn a_locked_state_is_left_alone() {
    let dir = directory(PAIR);
    let (mut first, mut second) = (session(dir.path()), session(dir.path()));
    let operation = opened(&mut first, Wishes { kind: Kind::Apply, ..Wishes::default() });
    let (refused, diagnostics) = Operation::open(&mut second, access(), Wishes::default());
    assert!(refused.is_none());
    let held = diagnostics.iter().next().unwrap();
    assert_eq!(held.summary, "Error acquiring the state lock");
    assert!(held.detail.contains("OperationTypeApply"), "{}", held.detail);
    assert!(held.detail.contains("Path:      terraform.tfstate\n"), "{}", held.detail);
    // Who wants no lock can look.
    let free = LockWish { wanted: false, ..LockWish::default() };
    assert!(opened(&mut second, Wishes { lock: free, ..Wishes::default() }).close().is_empty());
    assert!(operation.close().is_empty());
    assert!(opened(&mut second, Wishes::default()).close().is_empty());
    assert!(!dir.path().join("terraform.tfstate").exists());
}

#[test]
fn files_of_the_command_line_take_the_place_of_the_usual_ones() {
    let dir = directory(PAIR);
    let paths = |state: &str, out: Option<&str>, backup: Option<&str>| Wishes {
        paths: PathOverrides {
            state: Some(state.into()),
            state_out: out.map(PathBuf::from),
            backup: backup.map(PathBuf::from),
        },
        ..Wishes::default()
    };
    assert_eq!(apply(dir.path(), paths("one.tfstate", None, None)), added(2));
    assert!(is_empty(dir.path(), paths("one.tfstate", None, None)));
    fs::write(dir.path().join("main.tf"), PAIR.replace("\"x\"", "\"y\"")).unwrap();
    let changed = Counts { changed: 1, ..Counts::default() };
    assert_eq!(apply(dir.path(), paths("one.tfstate", Some("two.tfstate"), None)), changed);
    assert_eq!(state_at(dir.path().join("one.tfstate")).serial, 1);
    assert_eq!(state_at(dir.path().join("two.tfstate")).serial, 2);
    assert_eq!(apply(dir.path(), paths("one.tfstate", None, Some("kept.tfstate"))), changed);
    assert_eq!(state_at(dir.path().join("kept.tfstate")).serial, 1);
    assert!(!dir.path().join("one.tfstate.backup").exists());
    assert!(!dir.path().join("terraform.tfstate").exists());
}

#[test]
fn every_workspace_has_its_own_state() {
    let dir = directory("output \"w\" { value = terraform.workspace }\nresource \"terraform_data\" \"a\" {}\n");
    apply(dir.path(), Wishes::default());
    let mut session_now = session(dir.path());
    let access = StateAccess::open(&mut session_now, &PathOverrides::default()).unwrap();
    let other = WorkspaceName::parse("other").unwrap();
    access.create_workspace(&other).unwrap();
    access.select_workspace(&other).unwrap();
    assert_eq!(access.workspaces().unwrap().len(), 2);
    assert!(!is_empty(dir.path(), Wishes::default()));
    assert_eq!(apply(dir.path(), Wishes::default()), added(1));
    let state = state_at(dir.path().join("terraform.tfstate.d/other/terraform.tfstate"));
    assert_eq!(state.outputs["w"].value.as_str(), Some("other"));
    let start = Start { workspace: Some("default".into()), ..Start::in_directory(dir.path().to_owned()) };
    let mut session = Session::new(start);
    let access = StateAccess::open(&mut session, &PathOverrides::default()).unwrap();
    assert!(access.is_overridden() && access.workspace().is_default());
}

#[test]
fn commands_that_edit_keep_every_version() {
    let dir = directory(PAIR);
    apply(dir.path(), Wishes::default());
    let mut session = session(dir.path());
    let access = StateAccess::open(&mut session, &PathOverrides::default()).unwrap();
    let mut access = access.with_backups(Backups::ByTime);
    access.lock("state-rm", LockWish::default()).unwrap();
    let mut state = access.read().unwrap().unwrap().as_ref().clone();
    state.resources.clear();
    access.save(&mut state).unwrap();
    assert!(access.unlock().is_empty());
    assert_eq!(state.serial, 2);
    let names = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let backups: Vec<String> = names.filter(|name| name.ends_with(".backup")).collect();
    assert_eq!(backups.len(), 1);
    let time = backups[0].strip_prefix("terraform.tfstate.").and_then(|rest| rest.strip_suffix(".backup")).unwrap();
    assert!(time.parse::<u64>().is_ok(), "{backups:?}");
}

#[test]
fn a_state_that_cannot_be_stored_is_left_beside_the_configuration() {
    let dir = directory(PAIR);
    let mut session = session(dir.path());
    let mut operation = opened(&mut session, Wishes::default());
    let plan = planned(&mut operation, &session, &Options::default());
    // Somebody takes the locked file away and puts another one there.
    let path = dir.path().join("terraform.tfstate");
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    let outcome = operation.apply(&session, &plan, &Watch::default());
    operation.close();
    let summaries: Vec<&str> = outcome.diagnostics.iter().map(|found| found.summary.as_str()).collect();
    assert_eq!(summaries, ["Failed to save state", "Failed to persist state to backend"]);
    assert_eq!(outcome.unsaved, None);
    let left = state_at(dir.path().join("errored.tfstate"));
    assert!(left.resources.len() == 2 && !left.lineage.is_empty() && left.serial == 1, "{left:?}");
    // As the message says.
    fs::remove_dir(&path).unwrap();
    let mut session = self::session(dir.path());
    let mut access = StateAccess::open(&mut session, &PathOverrides::default()).unwrap();
    access.push(&left, false).unwrap();
    assert!(is_empty(dir.path(), Wishes::default()));
}

#[test]
fn values_of_variables_are_asked_for_or_missed() {
    let config = "variable \"n\" { type = number }\noutput \"n\" { value = var.n + 1 }\n";
    let dir = directory(config);
    assert_eq!(refused(Start::in_directory(dir.path().to_owned())), ["No value for required variable"]);
    let asked = Wishes { variables: Some(Box::new(|_| Some("41".to_owned()))), ..Wishes::default() };
    let outcome = apply_with(dir.path(), asked, &Options::default());
    assert_eq!(outcome.state.outputs["n"].value.as_number().unwrap().to_usize(), Some(42));
    let given = |text: &str| Start {
        variables: vec![GivenVariable::Value("n=1".into()), GivenVariable::Value(text.into())],
        ..Start::in_directory(dir.path().to_owned())
    };
    assert_eq!(refused(given("m=2")), ["Value for undeclared variable"]);
}

#[test]
fn what_is_wrong_is_said_before_anything_is_planned() {
    let refused_config = |config: &str| {
        let dir = directory(config);
        let found = refused(Start::in_directory(dir.path().to_owned()));
        assert!(!dir.path().join("terraform.tfstate").exists());
        assert!(!dir.path().join(".terraform.tfstate.lock.info").exists());
        found
    };
    assert_eq!(refused_config("resource \"random_id\" \"a\" { bytes = 4 }\n").len(), 2);
    assert_eq!(refused_config("resource \"terraform_data\" \"a\" { input = local.nothing }\n").len(), 1);
    assert_eq!(
        refused_config("terraform {\n  required_providers {\n    x = { source = \"example.com/a/x\" }\n  }\n}\n"),
        ["Inconsistent dependency lock file"]
    );
    assert_eq!(
        refused_config("module \"m\" {\n  source = \"git::https://example.com/m.git\"\n}\n"),
        ["Module not installed"]
    );
    assert_eq!(refused_config("terraform {\n  backend \"gcs\" {}\n}\n"), ["Unsupported backend type"]);
}

#[test]
fn damage_is_no_reason_to_start_anew() {
    for (text, summary) in
        [("", ""), ("{\"version\": 4, \"ser", ""), ("{\"version\": 99}", "Unsupported state file format")]
    {
        let dir = directory(PAIR);
        let path = dir.path().join("terraform.tfstate");
        fs::write(&path, text).unwrap();
        let found = refused(Start::in_directory(dir.path().to_owned()));
        assert!(found.len() == 1 && (summary.is_empty() || found[0] == summary), "{text:?}: {found:?}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
}

#[test]
fn a_saved_plan_is_carried_out_as_it_was_made() {
    let dir =
        directory("variable \"n\" {}\nresource \"terraform_data\" \"a\" { input = \"${var.n} ${plantimestamp()}\" }\n");
    let start =
        Start { variables: vec![GivenVariable::Value("n=one".into())], ..Start::in_directory(dir.path().to_owned()) };
    let mut session_then = Session::new(start);
    let mut operation = opened(&mut session_then, Wishes::default());
    let plan = planned(&mut operation, &session_then, &Options::default());
    operation.save_plan(&session_then, &plan, Path::new("plan")).unwrap();
    operation.close();
    fs::write(dir.path().join("main.tf"), "resource \"terraform_data\" \"other\" {}\n").unwrap();
    let mut session_now = session(dir.path());
    let saved = session_now.open_plan(&dir.path().join("plan")).unwrap();
    let (ready, diagnostics) = Operation::open_saved(&mut session_now, access(), &saved, Wishes::default());
    let (mut operation, plan) = ready.unwrap_or_else(|| panic!("{diagnostics:?}"));
    let outcome = operation.apply(&session_now, &plan, &Watch::default());
    assert!(!outcome.diagnostics.has_errors(), "{:?}", outcome.diagnostics);
    operation.close();
    assert_eq!(outcome.counts, added(1));
    let text = fs::read_to_string(dir.path().join("terraform.tfstate")).unwrap();
    assert!(text.contains("\"input\": {\n") && text.contains("one 2"), "{text}");
    // Once is enough.
    let mut session_now = session(dir.path());
    let (ready, diagnostics) = Operation::open_saved(&mut session_now, access(), &saved, Wishes::default());
    assert!(ready.is_none());
    assert_eq!(diagnostics.iter().next().unwrap().summary, "Saved plan is stale");
}

#[test]
fn what_changed_outside_is_written_down_if_asked_for() {
    let dir = directory("resource \"local_file\" \"f\" {\n  filename = \"f.txt\"\n  content  = \"x\"\n}\n");
    apply(dir.path(), Wishes::default());
    fs::remove_file(dir.path().join("f.txt")).unwrap();
    let outcome = apply_with(dir.path(), Wishes::default(), &Options { mode: Mode::RefreshOnly, ..Options::default() });
    assert!(!outcome.diagnostics.has_errors(), "{:?}", outcome.diagnostics);
    assert_eq!(outcome.counts, Counts::default());
    let state = state_at(dir.path().join("terraform.tfstate"));
    assert!(state.resources.is_empty() && state.serial == 2, "{state:?}");
    assert!(!dir.path().join("f.txt").exists());
}
