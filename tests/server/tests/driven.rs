//! Stock Terraform and OpenTofu, driven as engines, with our plugin: what it says about objects that are not ready is in their private
//! data, so they are kept without any rule.
//!
//! `cargo xtask test` sets `GROMA_TOFU` and `GROMA_TERRAFORM`. Without them the tests fail: nothing would be proved.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use groma_engines::{Audience, InitWish, Kind, Line, Outcome, Settled, Wishes, drive};
use groma_run::engine::events::Event;
use groma_run::engine::interrupt::Interrupt;
use groma_run::session::{Session, Start};
use tempfile::TempDir;

const CONFIG: &str = r#"
terraform {
  required_providers {
    served = { source = "example.com/test/served" }
  }
}
resource "served_note" "a" {
  text = "slow"
}
resource "served_note" "dependent" {
  text = served_note.a.id
}
"#;

#[expect(clippy::disallowed_methods, reason = "the peers are named by the environment")]
fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set; run `cargo xtask test`"))
}

/// Remembers what it is told.
#[derive(Default)]
struct Ear(RefCell<Vec<String>>);

impl Audience for Ear {
    fn line(&self, line: &str) {
        self.0.borrow_mut().push(line.to_owned());
    }

    fn notice(&self, text: &str) {
        self.0.borrow_mut().push(text.to_owned());
    }

    fn event(&self, event: Event) {
        self.0.borrow_mut().push(format!("{event:?}"));
    }

    fn settled(&self, settled: &[Settled]) {
        self.0.borrow_mut().extend(settled.iter().map(ToString::to_string));
    }
}

struct Place {
    kind: Kind,
    program: PathBuf,
    dir: TempDir,
}

impl Place {
    fn new(kind: Kind, program: &str) -> Self {
        let dir = TempDir::new().unwrap();
        fs::write(dir.path().join("main.tf"), CONFIG).unwrap();
        let arch = match std::env::consts::ARCH {
            "x86_64" => "amd64",
            "aarch64" => "arm64",
            other => panic!("what is {other} called by hosts?"),
        };
        let mirror = dir.path().join("mirror");
        let package = mirror.join("example.com/test/served/1.0.0").join(format!("{}_{arch}", std::env::consts::OS));
        fs::create_dir_all(&package).unwrap();
        fs::copy(env!("CARGO_BIN_EXE_groma-served"), package.join("terraform-provider-served_v1.0.0")).unwrap();
        let rc = format!(
            "provider_installation {{\n  filesystem_mirror {{\n    path = {:?}\n  }}\n}}\n",
            mirror.display().to_string()
        );
        fs::write(dir.path().join("cli.tfrc"), rc).unwrap();
        Self { kind, program: variable(program).into(), dir }
    }

    /// Drives the engine. Whoever does not want to wait has asked to stop already.
    fn run(&self, more: &[(&str, &str)], stop: &Interrupt, words: &[&str]) -> (Outcome, Vec<String>) {
        let path = |name: &str| self.dir.path().join(name).display().to_string();
        let mut environment: BTreeMap<String, String> = BTreeMap::from([
            ("TF_CLI_CONFIG_FILE".to_owned(), path("cli.tfrc")),
            ("HOME".to_owned(), path("")),
            ("CHECKPOINT_DISABLE".to_owned(), "1".to_owned()),
        ]);
        environment.extend(more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let wishes = Wishes {
            kind: self.kind,
            binary: Some(self.program.clone()),
            search: None,
            line: Line::read(&words, &[]).unwrap(),
            init: InitWish::Auto,
            environment: Some(environment),
            on_terminal: false,
            hand_on: Interrupt::default(),
            last_resort: None,
            starter: None,
            stop: stop.clone(),
        };
        let mut session = Session::new(Start::in_directory(self.dir.path().to_owned()));
        let ear = Ear::default();
        let outcome = drive(&mut session, &wishes, &ear);
        (outcome, ear.0.into_inner())
    }

    fn state(&self) -> String {
        fs::read_to_string(self.dir.path().join("terraform.tfstate")).unwrap()
    }
}

#[test]
fn what_a_provider_of_ours_says_is_not_ready_is_kept_without_a_rule() {
    for (kind, program) in [(Kind::Terraform, "GROMA_TERRAFORM"), (Kind::OpenTofu, "GROMA_TOFU")] {
        let place = Place::new(kind, program);
        let (outcome, told) = place.run(&[], &Interrupt::default(), &["apply", "-auto-approve", "-json"]);
        assert_eq!(outcome.code, 1, "{told:?} {:?}", outcome.diagnostics);
        assert!(told.iter().any(|line| line.contains("apply_errored")), "{told:?}");
        let settled: Vec<String> = outcome.settled.iter().map(ToString::to_string).collect();
        let [said] = settled.as_slice() else { panic!("{settled:?} {told:?}") };
        let expected = "served_note.a is kept, and not tainted any more: its provider says that it is there. It is not ready: waiting for \
                        its reader, last seen: nothing.";
        assert!(said.starts_with(expected), "{said}");
        let state = place.state();
        assert!(!state.contains("tainted") && !state.contains("\"dependent\""), "{state}");
        // Nothing is built on it while it is not ready.
        let stop = Interrupt::default();
        stop.ask();
        let (outcome, told) = place.run(&[], &stop, &["apply", "-auto-approve", "-json"]);
        let problems: Vec<&str> = outcome.diagnostics.iter().map(|found| found.detail.as_str()).collect();
        assert_eq!(outcome.code, 1, "{told:?}");
        assert!(problems.concat().contains("The wait was interrupted after"), "{problems:?}");
        assert!(!place.state().contains("\"dependent\""));
        // Once it is, the same apply goes on, with the same object.
        let (outcome, told) =
            place.run(&[("SERVED_READY", "1")], &Interrupt::default(), &["apply", "-auto-approve", "-json"]);
        assert_eq!(outcome.code, 0, "{told:?} {:?}", outcome.diagnostics);
        assert!(told.iter().any(|line| line.starts_with("WaitDone")), "{told:?}");
        assert!(place.state().contains("\"text\": \"note:slow\""), "{}", place.state());
    }
}
