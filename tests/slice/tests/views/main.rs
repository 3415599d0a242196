//! JSON of plans, states, configurations and streams, compared with what the real OpenTofu writes for the same configuration, state and
//! plugins. The cases are in `views/*.txt`.
//!
//! `cargo xtask test` names the peers in the environment. Without them the test fails: what was not compared proves nothing.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

mod case;
mod compare;
mod ours;
mod theirs;

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use case::Case;

/// How many cases are under way at once. Most of the time is spent waiting for the other program.
const WORKERS: usize = 3;

/// Fewer cases than this would not cover every shape.
const LEAST: usize = 40;

#[expect(clippy::disallowed_methods, reason = "the peers are named by the environment")]
fn environment(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from)
}

fn peer(variable: &str) -> PathBuf {
    environment(variable).unwrap_or_else(|| panic!("{variable} is not set; run `cargo xtask test`"))
}

/// What differs in one case.
fn run(case: &Case) -> Vec<String> {
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path();
    let theirs = theirs::run(case, dir);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let ours = runtime.block_on(ours::run(case, dir));
    let mut found = Vec::new();
    compare::documents("plan", &theirs.plan, &ours.plan, &mut found);
    compare::documents("state", &theirs.state, &ours.state, &mut found);
    compare::documents("stream", &theirs.stream, &ours.stream, &mut found);
    compare::documents("module", &theirs.module, &ours.module, &mut found);
    compare::documents("outputs", &theirs.outputs, &ours.outputs, &mut found);
    found.retain(|difference| !case.except.iter().any(|except| difference.starts_with(except.as_str())));
    found
}

#[test]
fn views_are_as_the_other_tool_writes_them() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("views");
    let mut cases = case::read_all(&dir);
    assert!(cases.len() >= LEAST, "{} cases", cases.len());
    if let Some(only) = environment("VIEWS_ONLY") {
        cases.retain(|case| case.name.contains(only.to_str().unwrap()));
    }
    let waiting = Mutex::new(cases);
    let found = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                loop {
                    let Some(case) = waiting.lock().unwrap().pop() else { break };
                    let differences =
                        std::panic::catch_unwind(|| run(&case)).unwrap_or_else(|_| vec!["panicked".to_owned()]);
                    found.lock().unwrap().extend(differences.into_iter().map(|text| format!("{}: {text}", case.name)));
                }
            });
        }
    });
    let mut found = found.into_inner().unwrap();
    found.sort();
    assert!(found.is_empty(), "{} differences:\n{}", found.len(), found.join("\n"));
}
