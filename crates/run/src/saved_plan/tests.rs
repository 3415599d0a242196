//! Plan files: what is in them comes back, and nothing else is accepted.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use std::fs;
use std::path::Path;

use groma_engine::execution::Execution;
use groma_engine::plan::{Mode, Options, Plan};
use groma_lang::walk::InputSource;
use groma_model::version::{Constraints, Version};
use groma_provider::install::{Hash, ProviderLock};

use super::*;
use crate::session::{Loaded, Session, Start};

fn empty_plan() -> Plan {
    Plan {
        mode: Mode::Normal,
        changes: Vec::new(),
        drift: Vec::new(),
        outputs: BTreeMap::new(),
        previous_state: State::default(),
        prior_state: State::default(),
        data: BTreeMap::new(),
        execution: Execution::default(),
        checks: Vec::new(),
        replacement: groma_engine::replacement::Replacement::default(),
        relevant: Vec::new(),
        options: Options::default(),
        errored: false,
    }
}

fn locks(version: &str, hashes: &[&str]) -> Locks {
    let provider = Provider::parse_source("acme/thing").unwrap();
    let hashes = hashes.iter().map(|hash| Hash::parse(hash).unwrap()).collect();
    let mut locks = Locks::new();
    locks.set(ProviderLock::new(provider, Version::parse(version).unwrap(), Constraints::default(), hashes));
    locks
}

fn state(lineage: &str, serial: u64) -> State {
    State { lineage: lineage.to_owned(), serial, ..State::default() }
}

const CONFIGURATION: &str = r#"
variable "size" { type = number }
variable "password" {
  type      = string
  ephemeral = true
}
variable "name" {
  type    = string
  default = "x"
}
module "inner" {
  source = "./inner"
}
"#;

/// A working directory with a configuration, and a session in it.
struct Place {
    dir: tempfile::TempDir,
    session: Session,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("inner")).unwrap();
        fs::write(dir.path().join("main.tf"), CONFIGURATION).unwrap();
        fs::write(dir.path().join("notes.txt"), "not read").unwrap();
        fs::write(dir.path().join("inner/inner.tf"), "locals { a = 1 }").unwrap();
        let session = session_in(dir.path(), &["size=5", "password=secret"]);
        Self { dir, session }
    }

    /// The bytes of a plan file, and what was loaded for it.
    fn saved(&mut self, state: &State) -> (String, Vec<u8>) {
        self.saved_with(state, &empty_plan(), (7, 0))
    }

    fn saved_with(&mut self, state: &State, plan: &Plan, time: (i64, u32)) -> (String, Vec<u8>) {
        let (Loaded { tree, inputs, diagnostics, .. }, configuration) = self.session.load_recording(&mut None);
        assert!(!diagnostics.has_errors(), "{diagnostics:?}");
        let backend = BackendRecord {
            kind: "local".to_owned(),
            config: serde_json::json!({ "path": null }),
            workspace: "default".to_owned(),
        };
        let contents = Contents {
            plan,
            time,
            inputs: &inputs,
            declared: &tree.unwrap().root.module.variables,
            configuration: &configuration,
            locks: &locks("1.2.3", &["h1:aaaa"]),
            backend: &backend,
            state,
        };
        SavedPlan::encode(&contents).unwrap()
    }
}

fn session_in(dir: &Path, variables: &[&str]) -> Session {
    let mut start = Start::in_directory(dir.to_owned());
    start.variables = variables.iter().map(|text| crate::inputs::GivenVariable::Value((*text).to_owned())).collect();
    Session::new(start)
}

fn summary(diagnostics: &Diagnostics) -> String {
    diagnostics.iter().map(|diagnostic| diagnostic.summary.clone()).collect::<Vec<_>>().join("; ")
}

#[test]
fn what_was_saved_is_opened() {
    let mut place = Place::new();
    let (id, bytes) = place.saved(&state("line", 4));
    let saved = SavedPlan::decode(&bytes).unwrap();
    assert_eq!(saved.id(), id);
    assert_eq!(saved.time(), (7, 0));
    assert_eq!(saved.variables().keys().map(Str::as_str).collect::<Vec<_>>(), ["size"]);
    assert_eq!(saved.ephemeral_variables().iter().map(Str::as_str).collect::<Vec<_>>(), ["password"]);
    assert_eq!((saved.state().lineage.as_str(), saved.state().serial), ("line", 4));
    assert_eq!(saved.backend().kind, "local");
    assert_eq!(saved.locks().values().next().unwrap().version, "1.2.3");
    let files: Vec<&str> = saved.configuration().files().map(|(path, _)| path).collect();
    assert_eq!(files, ["inner/inner.tf", "main.tf"]);
    let plan = saved.plan_with(&|_, _, _| None).unwrap();
    assert_eq!(format!("{plan:?}"), format!("{:?}", empty_plan()));
    let text = String::from_utf8_lossy(&bytes);
    assert!(!text.contains("secret"), "the value of an ephemeral variable is in the file");
}

#[test]
fn the_id_is_that_of_the_plan_and_what_it_is_bound_to() {
    let mut place = Place::new();
    let (first, _) = place.saved_with(&state("line", 4), &empty_plan(), (7, 0));
    let (later, _) = place.saved_with(&state("line", 4), &empty_plan(), (8, 0));
    assert_eq!(first, later, "the same plan, made again");
    let (other_state, _) = place.saved(&state("line", 5));
    assert_ne!(first, other_state);
    let destroy = Plan { mode: Mode::Destroy, ..empty_plan() };
    assert_ne!(first, place.saved_with(&state("line", 4), &destroy, (7, 0)).0);
    fs::write(place.dir.path().join("inner/inner.tf"), "locals { a = 2 }").unwrap();
    assert_ne!(first, place.saved(&state("line", 4)).0);
}

#[test]
fn whatever_is_changed_is_refused() {
    let (_, bytes) = Place::new().saved(&state("line", 4));
    for at in 0..bytes.len() {
        for bit in [1, 0x80] {
            let mut changed = bytes.clone();
            changed[at] ^= bit;
            assert!(SavedPlan::decode(&changed).is_err(), "byte {at} of {} was changed unnoticed", bytes.len());
        }
    }
    for length in 0..bytes.len() {
        assert!(SavedPlan::decode(&bytes[..length]).is_err(), "{length} bytes are enough");
    }
    let longer: Vec<u8> = bytes.iter().copied().chain([0]).collect();
    assert!(SavedPlan::decode(&longer).unwrap_err().contains("behind its end"));
}

#[test]
fn the_part_that_was_changed_is_named() {
    let (_, bytes) = Place::new().saved(&state("line", 4));
    let changed = |text: &str| {
        let at = bytes.windows(text.len()).rposition(|window| window == text.as_bytes()).unwrap();
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        SavedPlan::decode(&changed).unwrap_err()
    };
    for (text, part) in [
        ("locals { a", "configuration"),
        ("\"lineage\"", "state"),
        ("1.2.3", "providers"),
        ("\"workspace\"", "backend"),
        ("\"values\"", "variables"),
        ("\"errored\"", "plan"),
        ("\"seconds\"", "about"),
        ("groma_version", "table of contents"),
    ] {
        let message = changed(text);
        assert!(message.contains(&format!("its part {part:?} is not what it was")), "{text}: {message}");
    }
}

#[test]
fn other_versions_are_refused() {
    let (_, bytes) = Place::new().saved(&state("line", 4));
    let mut format = bytes.clone();
    format[container::MAGIC.len()] = 2;
    let message = SavedPlan::decode(&format).unwrap_err();
    assert!(message.starts_with("The plan file has format 2, and this version of groma reads format 1."), "{message}");
}

#[test]
fn other_files_are_recognised() {
    let cases: [(&[u8], &str); 8] = [
        (b"", "The file is empty"),
        (b"PK\x03\x04....tfplan....tfstate", "plan file of OpenTofu or Terraform"),
        (b"PK\x03\x04....other", "not a valid plan file"),
        (b"tfplan\x02", "plan file of OpenTofu or Terraform"),
        (br#"{"version":4,"serial":1,"lineage":"x"}"#, "This is a state file"),
        (br#"{"format_version":"1.2","planned_values":{}}"#, "a plan as JSON"),
        (br#"{"remote_plan_format":1,"run_id":"x"}"#, "kept elsewhere"),
        (b"resource \"a\" \"b\" {}", "not a valid plan file"),
    ];
    for (bytes, part) in cases {
        let message = SavedPlan::decode(bytes).unwrap_err();
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn files_that_cannot_be_opened() {
    let dir = tempfile::tempdir().unwrap();
    let problem = SavedPlan::open_with(dir.path(), |bytes| SavedPlan::decode(&bytes)).unwrap_err();
    assert!(problem.iter().next().unwrap().detail.contains("is a directory"), "{problem:?}");
    let problem = SavedPlan::open_with(&dir.path().join("missing"), |bytes| SavedPlan::decode(&bytes)).unwrap_err();
    assert!(summary(&problem).starts_with("Failed to load \""), "{problem:?}");
    assert!(summary(&problem).ends_with("missing\" as a plan file"), "{problem:?}");
}

#[cfg(unix)]
#[test]
fn only_the_owner_can_read_the_file() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tfplan");
    container::write_private(&path, b"x").unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    container::write_private(&path, b"y").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"y");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "something was left behind");
}

#[test]
fn stale_plans_are_refused() {
    let mut place = Place::new();
    let saved = SavedPlan::decode(&place.saved(&state("line", 4)).1).unwrap();
    assert!(saved.check_state(&state("line", 4)).is_empty());
    assert_eq!(summary(&saved.check_state(&state("line", 5))), "Saved plan is stale");
    assert_eq!(summary(&saved.check_state(&state("other", 4))), "Saved plan does not match the given state");
    let mut edited = state("line", 4);
    let output = groma_state::OutputState { value: Value::string("new"), sensitive: false, deprecated: None };
    edited.outputs.insert("a".into(), output);
    assert_eq!(summary(&saved.check_state(&edited)), "Saved plan is stale");
    // Whoever wrote it, it is the same state.
    let rewritten = State { tool_version: "9.9.9".to_owned(), ..state("line", 4) };
    assert!(saved.check_state(&rewritten).is_empty());

    let first = SavedPlan::decode(&place.saved(&State::default()).1).unwrap();
    assert!(first.check_state(&State::default()).is_empty());
    assert_eq!(summary(&first.check_state(&state("line", 1))), "Saved plan is stale");
}

#[test]
fn other_providers_are_refused() {
    let saved = SavedPlan::decode(&Place::new().saved(&State::default()).1).unwrap();
    assert!(saved.check_locks(&locks("1.2.3", &["h1:aaaa"])).is_empty());
    assert!(saved.check_locks(&locks("1.2.3", &["h1:aaaa", "h1:bbbb"])).is_empty(), "hashes may be added");
    for other in [locks("1.2.4", &["h1:aaaa"]), locks("1.2.3", &["h1:bbbb"]), Locks::new()] {
        let found = saved.check_locks(&other);
        assert_eq!(summary(&found), "Inconsistent dependency lock file");
    }
    let newer = saved.check_locks(&locks("1.2.4", &["h1:aaaa"]));
    let detail = &newer.iter().next().unwrap().detail;
    assert!(detail.contains("registry.opentofu.org/acme/thing: was 1.2.3, and is 1.2.4 now"), "{detail}");
}

#[test]
fn incomplete_plans_are_not_applied() {
    let mut place = Place::new();
    let errored = Plan { errored: true, ..empty_plan() };
    let saved = SavedPlan::decode(&place.saved_with(&State::default(), &errored, (0, 0)).1).unwrap();
    assert!(saved.is_errored());
    assert_eq!(summary(&saved.check_complete()), "Cannot apply failed plan");
    assert!(saved.plan_with(&|_, _, _| None).unwrap().errored);
}

#[test]
fn the_configuration_of_the_plan_is_used() {
    let mut place = Place::new();
    let saved = SavedPlan::decode(&place.saved(&State::default()).1).unwrap();
    fs::write(place.dir.path().join("main.tf"), "syntax error {{{").unwrap();
    fs::remove_dir_all(place.dir.path().join("inner")).unwrap();
    let mut session = session_in(place.dir.path(), &["password=secret"]);
    let Loaded { tree, inputs, diagnostics, .. } = session.load_saved(&saved);
    assert!(!diagnostics.has_errors(), "{diagnostics:?}");
    let tree = tree.unwrap();
    assert!(tree.root.children["inner"].module.locals.contains_key("a"));
    assert_eq!(inputs.keys().map(Str::as_str).collect::<Vec<_>>(), ["password", "size"]);
    assert_eq!(inputs["size"].source, InputSource::Outside);
    assert_eq!(inputs["password"].source, InputSource::CommandLine);
}

#[test]
fn values_that_are_given_again_must_be_the_same() {
    let mut place = Place::new();
    let saved = SavedPlan::decode(&place.saved(&State::default()).1).unwrap();
    let found = |variables: &[&str]| {
        let loaded = session_in(place.dir.path(), variables).load_saved(&saved);
        summary(&loaded.diagnostics)
    };
    let mismatch = "Mismatch between input and plan variable value";
    assert_eq!(found(&["password=other", "size=5"]), "");
    assert_eq!(found(&["password=other", "size=5.0", "name=x"]), "");
    assert_eq!(found(&["password=other", "size=6"]), mismatch);
    assert_eq!(found(&["password=other", "name=y"]), mismatch);
    assert_eq!(found(&["size=5"]), "No value for required variable");
}
