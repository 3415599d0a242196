//! Tests of programs that are really run.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

mod over_ssh;
mod server;

use std::path::Path;
use std::sync::{Arc, Mutex};

use groma_engine::interrupt::Interrupt;
use groma_engine::provision::{Provision, Provisioners};
use groma_model::diag::Diagnostics;
use groma_model::ty::Type;
use groma_model::value::{Entries, Value};

use super::{Programs, Surroundings};

/// What a provisioner printed and how it ended.
pub(super) struct Outcome {
    pub(super) lines: Vec<String>,
    pub(super) diagnostics: Diagnostics,
}

impl Outcome {
    pub(super) fn detail(&self) -> String {
        let details: Vec<String> =
            self.diagnostics.iter().map(|found| format!("{}: {}", found.summary, found.detail)).collect();
        details.concat()
    }
}

/// Runs a provisioner with some of its arguments.
pub(super) async fn provision(
    surroundings: Surroundings,
    kind: &str,
    config: &[(&str, Value)],
    connection: Option<&[(&str, Value)]>,
    adjust: impl FnOnce(&mut Provision),
) -> Outcome {
    let programs = Programs::new(surroundings);
    let fill = |schema: &groma_model::schema::Block, given: &[(&str, Value)]| {
        let attributes = schema.attributes.iter().map(|(name, attribute)| {
            let given = given.iter().find(|(known, _)| *known == name.as_str()).map(|(_, value)| value.clone());
            (name.clone(), given.unwrap_or_else(|| Value::null(attribute.implied_type())))
        });
        Value::object(attributes)
    };
    let lines = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&lines);
    let connection_schema = programs.connection_schema();
    let mut provision = Provision {
        kind: kind.into(),
        config: fill(programs.schema(kind).unwrap(), config),
        connection: match connection {
            Some(given) => fill(connection_schema, given),
            None => Value::null(connection_schema.implied_type()),
        },
        shows_output: true,
        output: Arc::new(move |line| heard.lock().unwrap().push(line.to_owned())),
        interrupt: Interrupt::default(),
    };
    adjust(&mut provision);
    let diagnostics = programs.run(provision).await;
    let lines = std::mem::take(&mut *lines.lock().unwrap());
    Outcome { lines, diagnostics }
}

async fn local(dir: &Path, config: &[(&str, Value)]) -> Outcome {
    provision(Surroundings::in_directory(dir.to_owned()), "local-exec", config, None, |_| {}).await
}

pub(super) fn list(items: &[&str]) -> Value {
    Value::list(Type::String, items.iter().map(|item| Value::string(*item)).collect())
}

#[tokio::test]
async fn a_command_runs_in_a_shell_and_its_lines_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let outcome = local(dir.path(), &[("command", Value::string("echo one; echo two >&2; printf three"))]).await;
    assert!(outcome.diagnostics.is_empty(), "{}", outcome.detail());
    let expected = [r#"Executing: ["/bin/sh" "-c" "echo one; echo two >&2; printf three"]"#, "one", "two", "three"];
    assert_eq!(outcome.lines, expected);
}

#[tokio::test]
async fn interpreter_directory_and_environment_hold() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("below")).unwrap();
    let environment = Entries::from_iter([("GREETING", Value::string("hello"))]);
    let outcome = local(
        dir.path(),
        &[
            ("command", Value::string("import os; print(os.environ['GREETING'], os.path.basename(os.getcwd()))")),
            ("interpreter", list(&["python3", "-c"])),
            ("working_dir", Value::string("below")),
            ("environment", Value::map(Type::String, environment)),
            ("quiet", Value::bool(true)),
        ],
    )
    .await;
    assert!(outcome.diagnostics.is_empty(), "{}", outcome.detail());
    assert_eq!(outcome.lines, ["local-exec: Executing: Suppressed by quiet=true", "hello below"]);
}

#[tokio::test]
async fn a_command_that_fails_says_how() {
    let dir = tempfile::tempdir().unwrap();
    let outcome = local(dir.path(), &[("command", Value::string("echo why; exit 3"))]).await;
    let expected =
        "local-exec provisioner error: Error running command 'echo why; exit 3': exit status 3. Output: why\n";
    assert_eq!(outcome.detail(), expected);

    let missing = [("command", Value::string("x")), ("interpreter", list(&["no-such-program"]))];
    let outcome = local(dir.path(), &missing).await;
    assert!(outcome.detail().contains("No such file or directory"), "{}", outcome.detail());

    let outcome = local(dir.path(), &[("command", Value::string(""))]).await;
    assert_eq!(outcome.detail(), "Invalid local-exec provisioner command: The command must be a non-empty string.");
}

#[tokio::test]
async fn secrets_of_a_failed_command_are_not_told() {
    let dir = tempfile::tempdir().unwrap();
    let config = [("command", Value::string("echo hunter2; exit 1"))];
    let surroundings = Surroundings::in_directory(dir.path().to_owned());
    let hide = |provision: &mut Provision| provision.shows_output = false;
    let outcome = provision(surroundings, "local-exec", &config, None, hide).await;
    assert!(outcome.diagnostics.has_errors());
    assert!(!outcome.detail().contains("hunter2"), "{}", outcome.detail());
}

#[tokio::test]
async fn an_interrupt_ends_everything_that_a_command_has_started() {
    let dir = tempfile::tempdir().unwrap();
    let surroundings = Surroundings::in_directory(dir.path().to_owned());
    // The inner program ends with the group, or the pipe would stay open and nothing would end.
    let config = [("command", Value::string("sleep 600 | cat & echo started; wait"))];
    let interrupting = |provision: &mut Provision| {
        let interrupt = provision.interrupt.clone();
        let told = Arc::clone(&provision.output);
        provision.output = Arc::new(move |line| {
            told(line);
            if line == "started" {
                interrupt.ask();
                interrupt.ask();
            }
        });
    };
    let outcome = provision(surroundings, "local-exec", &config, None, interrupting).await;
    assert!(outcome.detail().contains("ended by signal SIG"), "{}", outcome.detail());
}
