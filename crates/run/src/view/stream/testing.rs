//! What machines are told of tests.

use std::io::Write;

use groma_model::diag::{Diagnostics, Severity};
use groma_model::span::SourceMap;
use serde_json::{Map, Value, json};

use super::{Level, Stream};
use crate::testing::{Abandoned, CleanUp, FileReport, LeftOver, RunReport, Status};

/// How many runs went how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TestCounts {
    /// Passed.
    pub passed: usize,
    /// An assertion does not hold.
    pub failed: usize,
    /// Could not be carried through.
    pub errored: usize,
    /// Left out.
    pub skipped: usize,
}

impl TestCounts {
    /// Of all runs of all files.
    pub fn of(files: &[FileReport]) -> Self {
        let count =
            |status: Status| files.iter().flat_map(|file| &file.runs).filter(|run| run.status == status).count();
        Self {
            passed: count(Status::Pass),
            failed: count(Status::Fail),
            errored: count(Status::Error),
            skipped: count(Status::Skip),
        }
    }

    /// `Success!` or `Failure!`, and the numbers behind it.
    pub fn describe(&self, status: Status) -> (&'static str, String) {
        let verdict = match status {
            Status::Pending | Status::Skip => "Executed 0 tests",
            Status::Pass => "Success!",
            Status::Fail | Status::Error => "Failure!",
        };
        let skipped = if self.skipped > 0 { format!(", {} skipped.", self.skipped) } else { ".".to_owned() };
        let counts = match status {
            Status::Pending | Status::Skip => skipped,
            _ => format!(" {} passed, {} failed{skipped}", self.passed, self.failed + self.errored),
        };
        (verdict, counts)
    }
}

/// Whom a line is about.
#[derive(Debug, Clone, Copy, Default)]
pub struct About<'a> {
    /// A file.
    pub file: Option<&'a str>,
    /// A run of it.
    pub run: Option<&'a str>,
}

impl About<'_> {
    fn with(&self, key: &str, value: Value) -> Value {
        let mut members = Map::new();
        members.extend(self.file.map(|file| ("@testfile".to_owned(), Value::from(file))));
        members.extend(self.run.map(|run| ("@testrun".to_owned(), Value::from(run))));
        members.insert(key.to_owned(), value);
        Value::Object(members)
    }
}

impl<W: Write + Send + 'static> Stream<W> {
    /// What is going to be tested.
    pub fn test_abstract(&self, files: &[FileReport]) {
        let names = |file: &FileReport| -> Vec<String> { file.runs.iter().map(|run| run.name.clone()).collect() };
        let all: Map<String, Value> = files.iter().map(|file| (file.name.clone(), names(file).into())).collect();
        let runs: usize = files.iter().map(|file| file.runs.len()).sum();
        let message = format!(
            "Found {} {} and {runs} {}",
            files.len(),
            if files.len() == 1 { "file" } else { "files" },
            if runs == 1 { "run block" } else { "run blocks" }
        );
        self.lines.write(Level::Info, &message, "test_abstract", json!({ "test_abstract": all }));
    }

    /// How a file went.
    pub fn test_file(&self, file: &FileReport) {
        let about = About { file: Some(&file.name), run: None };
        let message = format!("{}... {}", file.name, file.status.word());
        let told = json!({ "path": file.name, "status": file.status.name() });
        self.lines.write(Level::Info, &message, "test_file", about.with("test_file", told));
    }

    /// How a run went.
    pub fn test_run(&self, file: &str, run: &RunReport) {
        let about = About { file: Some(file), run: Some(&run.name) };
        let message = format!("  {:?}... {}", run.name.as_str(), run.status.word());
        let told = json!({ "path": file, "run": run.name.as_str(), "status": run.status.name() });
        self.lines.write(Level::Info, &message, "test_run", about.with("test_run", told));
    }

    /// What a run planned.
    pub fn test_plan(&self, about: About<'_>, plan: Value) {
        let message = "-verbose flag enabled, printing plan";
        self.lines.write(Level::Info, message, "test_plan", about.with("test_plan", plan));
    }

    /// What there is after a run.
    pub fn test_state(&self, about: About<'_>, state: Value) {
        let message = "-verbose flag enabled, printing state";
        self.lines.write(Level::Info, message, "test_state", about.with("test_state", state));
    }

    /// What was found in a file or a run.
    pub fn test_diagnostics(&self, about: About<'_>, diagnostics: &Diagnostics, sources: &SourceMap) {
        for diagnostic in diagnostics {
            let (level, word) = match diagnostic.severity {
                Severity::Error => (Level::Error, "Error"),
                Severity::Warning => (Level::Warn, "Warning"),
            };
            let view = json!(crate::view::diagnostic::diagnostic(diagnostic, sources));
            let message = format!("{word}: {}", diagnostic.summary);
            self.lines.write(level, &message, "diagnostic", about.with("diagnostic", view));
        }
    }

    /// What could not be taken down.
    pub fn test_cleanup(&self, cleanup: &CleanUp<'_>) {
        if cleanup.left.is_empty() {
            return;
        }
        let about = About { file: Some(cleanup.file), run: Some(cleanup.run) };
        let written = cleanup.saved_to.as_ref().map_or_else(String::new, |path| {
            format!(
                ", these left-over resources can be viewed by reading the statefile written to disk({})",
                path.display()
            )
        });
        let message = format!(
            "groma left some resources in state after executing {}/{}{written} and they need to be cleaned up manually:",
            cleanup.file, cleanup.run
        );
        let told = json!({ "failed_resources": resources(&cleanup.left) });
        self.lines.write(Level::Error, &message, "test_cleanup", about.with("test_cleanup", told));
    }

    /// What there is where everything was let go of.
    pub fn test_interrupt(&self, abandoned: &Abandoned<'_>) {
        if abandoned.is_empty() {
            return;
        }
        let mut told = Map::new();
        if !abandoned.main.is_empty() {
            told.insert("state".into(), resources(&abandoned.main));
        }
        let others = abandoned.others.iter().filter(|(_, _, left)| !left.is_empty());
        let others: Map<String, Value> = others.map(|(run, _, left)| (run.clone(), resources(left))).collect();
        if !others.is_empty() {
            told.insert("states".into(), others.into());
        }
        if !abandoned.planned.is_empty() {
            let planned: Vec<String> = abandoned.planned.iter().map(ToString::to_string).collect();
            told.insert("planned".into(), planned.into());
        }
        let about = About { file: Some(abandoned.file), run: None };
        let message =
            "groma was interrupted during test execution, and may not have performed the expected cleanup operations.";
        self.lines.write(Level::Error, message, "test_interrupt", about.with("test_interrupt", told.into()));
    }

    /// How everything went.
    pub fn test_summary(&self, status: Status, counts: &TestCounts) {
        let (verdict, numbers) = counts.describe(status);
        let told = json!({
            "status": status.name(),
            "passed": counts.passed,
            "failed": counts.failed,
            "errored": counts.errored,
            "skipped": counts.skipped,
        });
        let message = format!("{verdict}{numbers}");
        self.lines.write(Level::Info, &message, "test_summary", json!({ "test_summary": told }));
    }
}

fn resources(left: &[LeftOver]) -> Value {
    let told = |left: &LeftOver| {
        let mut told = json!({ "instance": left.address.to_string() });
        if let Some(deposed) = &left.deposed {
            told["deposed_key"] = deposed.to_string().into();
        }
        told
    };
    left.iter().map(told).collect()
}
