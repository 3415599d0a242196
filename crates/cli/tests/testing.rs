//! Tests of modules go as they do in OpenTofu: the same verdicts, exit codes and summaries of errors for `testing/cases.txt`.
//!
//! `cargo xtask test` says where OpenTofu and the fixtures are.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

#[expect(clippy::disallowed_methods, reason = "the peers are named by the environment")]
fn peer(variable: &str) -> PathBuf {
    std::env::var_os(variable).unwrap_or_else(|| panic!("{variable} is not set; run `cargo xtask test`")).into()
}

const CASES: &str = include_str!("testing/cases.txt");

struct Case {
    name: String,
    arguments: Vec<String>,
    files: Vec<(String, String)>,
}

fn cases() -> Vec<Case> {
    let case = |section: &str| {
        let (title, rest) = section.split_once('\n').unwrap();
        let (name, arguments) = title.split_once(" | ").unwrap_or((title, ""));
        let files = format!("\n{rest}");
        let file = |text: &str| {
            let (path, content) = text.split_once('\n').unwrap();
            (path.trim().to_owned(), content.to_owned())
        };
        Case {
            name: name.to_owned(),
            arguments: arguments.split_whitespace().map(str::to_owned).collect(),
            files: files.split("\n--- ").skip(1).map(file).collect(),
        }
    };
    CASES.split("\n=== ").skip(1).map(case).collect()
}

impl Case {
    /// What the tests come to, as far as it must be the same.
    fn verdict(&self, program: &Path) -> String {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in &self.files {
            let path = dir.path().join("work").join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let folder = peer("GROMA_FIXTURE_FRAMEWORK").parent().unwrap().display().to_string();
        let rc = format!(
            "provider_installation {{\n  dev_overrides {{\n    \"groma/fixfw\" = {folder:?}\n  }}\n  direct {{}}\n}}\n"
        );
        std::fs::write(dir.path().join("rc"), rc).unwrap();
        let run = |arguments: &[&str]| {
            let mut command = Command::new(program);
            command.args(arguments).current_dir(dir.path().join("work"));
            command.env("TF_CLI_CONFIG_FILE", dir.path().join("rc"));
            for variable in ["TF_CLI_ARGS", "TF_DATA_DIR", "TF_WORKSPACE", "TF_LOG"] {
                command.env_remove(variable);
            }
            command.output().unwrap()
        };
        // Where something is wrong, that is told again by the tests.
        run(&["init", "-no-color"]);
        let mut arguments = vec!["test", "-json"];
        arguments.extend(self.arguments.iter().map(String::as_str));
        let output = run(&arguments);
        let told = String::from_utf8(output.stdout).unwrap();
        // In which order things are found in a run is of no importance, and neither is that some are told twice.
        let lines: BTreeSet<String> = told.lines().filter_map(relevant).collect();
        let mut verdict = lines.into_iter().collect::<Vec<_>>().join("\n");
        let left = dir.path().join("work/errored_test.tfstate").exists();
        write!(verdict, "\nexit code {:?}, something left: {left}", output.status.code()).unwrap();
        verdict
    }
}

/// What a line says that must be the same: its type, verdicts, and what errors are called.
fn relevant(line: &str) -> Option<String> {
    let line: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("not JSON: {line}"));
    let kind = line["type"].as_str().unwrap_or_default();
    let place = format!("{} {}", line["@testfile"], line["@testrun"]);
    match kind {
        "version" | "log" | "" => None,
        // What follows from an error is not told.
        "diagnostic" if line["diagnostic"]["summary"] == "Unknown variable" => None,
        "diagnostic" if line["diagnostic"]["summary"] == "Provider development overrides are in effect" => None,
        "diagnostic" => {
            let found = &line["diagnostic"];
            // What an assertion says is its author's.
            let detail = if found["summary"] == "Test assertion failed" { &found["detail"] } else { &Value::Null };
            let place_in_file = format!("{}:{}", found["range"]["filename"], found["range"]["start"]["line"]);
            Some(format!("{place} {} {} {detail} {place_in_file}", found["severity"], found["summary"]))
        }
        _ => Some(format!("{place} {kind} {}", line[kind])),
    }
}

#[test]
fn tests_go_as_in_opentofu() {
    let mut wrong = String::new();
    for case in cases() {
        let ours = case.verdict(Path::new(env!("CARGO_BIN_EXE_groma")));
        let theirs = case.verdict(&peer("GROMA_TOFU"));
        if ours != theirs {
            writeln!(wrong, "=== {}\n--- OpenTofu\n{theirs}\n--- groma\n{ours}\n", case.name).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
