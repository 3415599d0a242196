//! The record of the backend that a directory was prepared for, as `init` of all three tools writes it into the data folder.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use groma_model::diag::Diagnostic;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::settings::Settings;

/// The name of the file, in the data folder. Not a state, despite its name.
const RECORD: &str = "terraform.tfstate";

/// A backend that a directory was prepared for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Record {
    /// Its kind.
    #[serde(rename = "type")]
    pub(super) kind: String,
    /// All its settings, with those that are null.
    #[serde(default)]
    pub(super) config: Value,
    /// Of what stood in the configuration.
    #[serde(default)]
    pub(super) hash: u64,
}

/// The file as a whole. It may hold more, which nobody needs.
#[derive(Serialize, Deserialize)]
struct File {
    version: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    backend: Option<Record>,
}

impl Record {
    /// Of these settings; `hash` of those that stood in the configuration.
    pub(super) fn new(settings: &Settings, hash: u64) -> Self {
        Self { kind: settings.kind().to_owned(), config: settings.to_json(), hash }
    }

    /// Its settings. None if there is no such kind.
    pub(super) fn settings(&self) -> Option<Settings> {
        Settings::from_json(&self.kind, &self.config)
    }

    /// What is recorded. None if nothing is.
    pub(super) fn load(data_dir: &Path) -> Result<Option<Self>, Diagnostic> {
        let path = data_dir.join(RECORD);
        let failed = |problem: String| {
            let detail = format!("{} cannot be read: {problem}. Run \"groma init -reconfigure\".", path.display());
            Diagnostic::error("Failed to load the backend record", detail)
        };
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(problem) if problem.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(problem) => return Err(failed(problem.to_string())),
        };
        if text.trim().is_empty() {
            return Ok(None);
        }
        let file: File = serde_json::from_str(&text).map_err(|problem| failed(problem.to_string()))?;
        Ok(file.backend.filter(|record| !record.kind.is_empty()))
    }

    /// Records a backend, or that there is none.
    pub(super) fn save(record: Option<&Self>, data_dir: &Path) -> Result<(), Diagnostic> {
        let path = data_dir.join(RECORD);
        let written = match record {
            None => match fs::remove_file(&path) {
                Err(problem) if problem.kind() != io::ErrorKind::NotFound => Err(problem),
                _ => Ok(()),
            },
            Some(record) => {
                let mut bytes = Vec::new();
                let formatter = serde_json::ser::PrettyFormatter::with_indent(b"    ");
                let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
                let file = File { version: 3, backend: Some(record.clone()) };
                file.serialize(&mut serializer).map_err(io::Error::other).and_then(|()| {
                    bytes.push(b'\n');
                    fs::create_dir_all(data_dir)?;
                    write_private(&path, &bytes)
                })
            }
        };
        written.map_err(|problem| {
            let detail = format!("{} could not be written: {problem}.", path.display());
            Diagnostic::error("Error saving the backend record", detail)
        })
    }
}

/// Settings have passwords. What others could read is not written into, but put anew.
fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let staged = path.with_extension("tfstate.new");
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match fs::remove_file(&staged) {
        Err(problem) if problem.kind() != io::ErrorKind::NotFound => return Err(problem),
        _ => {}
    }
    options.open(&staged)?.write_all(bytes)?;
    fs::rename(&staged, path)
}
