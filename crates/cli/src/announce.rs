//! What commands that take a while say on the way: lines for people, or one JSON object per line for machines.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use groma_model::diag::{Diagnostics, Severity};
use groma_model::span::SourceMap;
use serde_json::{Map, Value, json};

use crate::failure::Failure;
use crate::ui::Ui;

/// Says things.
pub(crate) struct Announcer {
    ui: Ui,
    json: bool,
    /// A file that gets the JSON form as well.
    copy: Option<Mutex<File>>,
}

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    Info,
    Warn,
    Error,
}

impl Announcer {
    /// For people, or for machines, or for both: `into` is a file for machines.
    pub(crate) fn new(ui: Ui, json: bool, into: Option<&Path>) -> Result<Self, Failure> {
        let open = |path: &Path| File::create(path).map_err(|source| Failure::Write { path: path.to_owned(), source });
        let copy = into.map(open).transpose()?.map(Mutex::new);
        let announcer = Self { ui, json, copy };
        let version = env!("CARGO_PKG_VERSION");
        let more = json!({
            "terraform": super::commands::version::LANGUAGE_VERSION,
            "type": "version",
            "ui": "1.2",
            "groma": { "version": version },
        });
        announcer.machine(Level::Info, &format!("groma {version}"), more)?;
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
        self.machine_diagnostics(diagnostics, sources)
    }

    /// Says something to machines only.
    pub(crate) fn log(&self, text: &str) -> Result<(), Failure> {
        self.machine(Level::Info, &text.trim().replace('\n', " "), json!({ "type": "log" }))
    }

    /// Says what was found to machines only.
    pub(crate) fn machine_diagnostics(&self, diagnostics: &Diagnostics, sources: &SourceMap) -> Result<(), Failure> {
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
        let level = match level {
            Level::Info => "info",
            Level::Warn => "warn",
            Level::Error => "error",
        };
        let mut object = Map::new();
        object.insert("@level".into(), level.into());
        object.insert("@message".into(), message.into());
        object.insert("@module".into(), "terraform.ui".into());
        object.insert("@timestamp".into(), timestamp().into());
        if let Value::Object(more) = more {
            object.extend(more);
        }
        let line = format!("{}\n", Value::Object(object));
        if let Some(copy) = &self.copy {
            copy.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .write_all(line.as_bytes())
                .map_err(Failure::Terminal)?;
        }
        if self.json { self.ui.out(&line) } else { Ok(()) }
    }
}

/// Now, as `2026-11-16T00:52:15.993416Z`.
fn timestamp() -> String {
    #[expect(clippy::disallowed_methods, reason = "lines for machines tell when they were written")]
    let now = SystemTime::now();
    let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    written(since.as_secs(), since.subsec_micros())
}

fn written(seconds: u64, micros: u32) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Eras of 400 years from the first of March of year 0, so that leap days come last.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_index + 2) / 5 + 1;
    let month = if month_index < 10 { month_index + 3 } else { month_index - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (rest / 3_600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{micros:06}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_machines_read_them() {
        assert_eq!(written(0, 0), "1970-01-01T00:00:00.000000Z");
        assert_eq!(written(951_782_400, 7), "2000-02-29T00:00:00.000007Z");
        assert_eq!(written(1_794_790_335, 993_416), "2026-11-16T00:52:15.993416Z");
    }
}
