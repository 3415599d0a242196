//! Whole operations over built-in providers and local files.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use groma_run::cli_config::CliConfig;
use groma_run::engine::plan::Options;
use groma_run::online::Online;
use groma_run::operate::{Counts, Operation, Watch, Wishes};
use groma_run::providers::{ProviderAccess, ProviderChoice};
use groma_run::session::{Session, Start};
use tempfile::TempDir;

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

/// Plans and applies; gives the counts.
fn apply(dir: &Path, wishes: Wishes) -> Counts {
    let mut session = session(dir);
    let mut operation = opened(&mut session, wishes);
    let (plan, diagnostics) = operation.plan(&session, &Options::default(), &Watch::default());
    let plan = plan.unwrap_or_else(|| panic!("{diagnostics:?}"));
    let outcome = operation.apply(&session, &plan, &Watch::default());
    assert!(!outcome.diagnostics.has_errors(), "{:?}", outcome.diagnostics);
    assert!(operation.close().is_empty());
    outcome.counts
}

fn is_empty(dir: &Path, wishes: Wishes) -> bool {
    let mut session = session(dir);
    let mut operation = opened(&mut session, wishes);
    let (plan, diagnostics) = operation.plan(&session, &Options::default(), &Watch::default());
    operation.close();
    plan.unwrap_or_else(|| panic!("{diagnostics:?}")).is_empty()
}

#[test]
fn what_was_applied_is_planned_as_nothing() {
    let dir = directory(
        "resource \"terraform_data\" \"a\" { input = \"x\" }\nresource \"random_id\" \"b\" { byte_length = 4 }\n\
         output \"b\" { value = random_id.b.hex }\n",
    );
    assert!(!is_empty(dir.path(), Wishes::default()));
    assert_eq!(apply(dir.path(), Wishes::default()), Counts { added: 2, ..Counts::default() });
    assert!(is_empty(dir.path(), Wishes::default()));
}
