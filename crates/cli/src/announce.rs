//! What commands that take a while say on the way: lines for people, or one JSON object per line for machines.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use groma_model::diag::{Diagnostics, Severity};
use groma_model::span::SourceMap;
use groma_run::view::stream::{Level, line, version_line};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::ui::Ui;

/// Says things.
pub(crate) struct Announcer {
    ui: Ui,
    json: bool,
    /// A file that gets the JSON form as well.
    copy: Option<Mutex<File>>,
}

impl Announcer {
    /// For people, or for machines, or for both: `into` is a file for machines.
    pub(crate) fn new(ui: Ui, json: bool, into: Option<&Path>) -> Result<Self, Failure> {
        let open = |path: &Path| File::create(path).map_err(|source| Failure::Write { path: path.to_owned(), source });
        let copy = into.map(open).transpose()?.map(Mutex::new);
        let announcer = Self { ui, json, copy };
        announcer.write(&version_line(now()))?;
        Ok(announcer)
    }

    /// Whether people read this.
    pub(crate) fn is_human(&self) -> bool {
        !self.json
    }

    /// The terminal.
    pub(crate) fn ui(&self) -> &Ui {
        &self.ui
    }

    /// Says a line: for people as it is, for machines without dashes and line breaks.
    pub(crate) fn say(&self, text: &str) -> Result<(), Failure> {
        let plain = text.trim().trim_start_matches("- ").replace('\n', " ");
        self.say_both(text, &plain)
    }

    /// Says something in other words to people than to machines.
    pub(crate) fn say_both(&self, human: &str, plain: &str) -> Result<(), Failure> {
        if !self.json {
            self.ui.line(human)?;
        }
        self.machine(Level::Info, plain, json!({}))
    }

    /// Says a line; machines are told more with it.
    pub(crate) fn tell(&self, text: &str, more: Value) -> Result<(), Failure> {
        self.tell_both(text, text, more)
    }

    /// Says something in other words to people than to machines, which are told more with it.
    pub(crate) fn tell_both(&self, human: &str, plain: &str, more: Value) -> Result<(), Failure> {
        if !self.json {
            self.ui.line(human)?;
        }
        self.machine(Level::Info, plain, more)
    }

    /// Says what went wrong, in one line.
    pub(crate) fn fail(&self, text: &str) -> Result<(), Failure> {
        if !self.json {
            self.ui.message(&format!("{text}\n"));
        }
        self.machine(Level::Error, &text.trim().replace('\n', " "), json!({}))
    }

    /// Leaves a line empty for people.
    pub(crate) fn blank(&self) -> Result<(), Failure> {
        if self.json { Ok(()) } else { self.ui.line("") }
    }

    /// Says what was found.
    pub(crate) fn diagnostics(&self, diagnostics: &Diagnostics, sources: &SourceMap) -> Result<(), Failure> {
        if !self.json {
            self.ui.diagnostics(diagnostics, sources);
        }
        for diagnostic in diagnostics {
            let (level, word) = match diagnostic.severity {
                Severity::Error => (Level::Error, "Error"),
                Severity::Warning => (Level::Warn, "Warning"),
            };
            let view = groma_run::view::diagnostic::diagnostic(diagnostic, sources);
            let more = json!({ "diagnostic": view, "type": "diagnostic" });
            self.machine(level, &format!("{word}: {}", diagnostic.summary), more)?;
        }
        Ok(())
    }

    /// One object on a line, to whoever reads such.
    fn machine(&self, level: Level, message: &str, more: Value) -> Result<(), Failure> {
        if !self.json && self.copy.is_none() {
            return Ok(());
        }
        let Value::Object(more) = more else { return Ok(()) };
        self.write(&line(level, message, now(), more))
    }

    fn write(&self, line: &str) -> Result<(), Failure> {
        if let Some(copy) = &self.copy {
            copy.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .write_all(line.as_bytes())
                .map_err(Failure::Terminal)?;
        }
        if self.json { self.ui.out(line) } else { Ok(()) }
    }
}

#[expect(clippy::disallowed_methods, reason = "lines for machines tell when they were written")]
fn now() -> SystemTime {
    SystemTime::now()
}
