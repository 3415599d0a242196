//! `modules.json`: which module was installed for which call. The shape is OpenTofu's.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use groma_model::diag::Diagnostic;
use groma_model::version::Version;
use serde::{Deserialize, Serialize};

use super::source;
use crate::lock_file::replace;

/// What is installed, by the names of the calls from the root, joined by dots.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Manifest(pub(crate) BTreeMap<String, Record>);

/// One installed module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Record {
    /// Its source in normal form. Empty for the root.
    pub(crate) source: String,
    /// Of modules from a registry.
    pub(crate) version: Option<Version>,
    /// Where it is, relative to the working directory.
    pub(crate) dir: PathBuf,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct FileJson {
    modules: Vec<RecordJson>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct RecordJson {
    key: String,
    #[serde(default)]
    source: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    dir: String,
}

impl Manifest {
    /// Reads the record of a directory of modules. Without one nothing is installed.
    pub(crate) fn load(modules_dir: &Path) -> Result<Self, Diagnostic> {
        let failed = |problem: String| {
            let detail = format!("Error reading manifest for {}: {problem}.", modules_dir.display());
            Diagnostic::error("Failed to read modules manifest file", detail)
        };
        let bytes = match fs::read(modules_dir.join("modules.json")) {
            Ok(bytes) => bytes,
            Err(problem) if problem.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(problem) => return Err(failed(problem.to_string())),
        };
        if bytes.is_empty() {
            return Ok(Self::default());
        }
        let file: FileJson = serde_json::from_slice(&bytes).map_err(|problem| failed(problem.to_string()))?;
        let mut records = BTreeMap::new();
        for json in file.modules {
            let version = match json.version.filter(|text| !text.is_empty()) {
                None => None,
                Some(text) => {
                    let version = Version::parse(&text);
                    Some(version.ok_or_else(|| failed(format!("invalid version {text:?} for {}", json.key)))?)
                }
            };
            let record = Record { source: source::recorded(&json.source), version, dir: json.dir.into() };
            if records.insert(json.key.clone(), record).is_some() {
                return Err(failed(format!("snapshot file contains two records for path {}", json.key)));
            }
        }
        Ok(Self(records))
    }

    /// Writes the record.
    pub(crate) fn save(&self, modules_dir: &Path) -> Result<(), Diagnostic> {
        let modules = self.0.iter().map(|(key, record)| RecordJson {
            key: key.clone(),
            source: record.source.clone(),
            version: record.version.as_ref().map(ToString::to_string),
            dir: record.dir.to_string_lossy().replace('\\', "/"),
        });
        let file = FileJson { modules: modules.collect() };
        let text = serde_json::to_string(&file).unwrap_or_default();
        let written = fs::create_dir_all(modules_dir)
            .and_then(|()| replace(&modules_dir.join("modules.json"), go_escaped(&text).as_bytes()));
        written.map_err(|problem| {
            let detail = format!("Unable to write the module manifest file: {problem}");
            Diagnostic::error("Failed to update module manifest", detail)
        })
    }

    /// Forgets a module and those that it calls.
    pub(crate) fn forget(&mut self, key: &str) {
        let below = format!("{key}.");
        self.0.retain(|other, _| other != key && !other.starts_with(&below));
    }
}

/// Go escapes what would mean something in HTML; ampersands are common in addresses.
fn go_escaped(text: &str) -> String {
    text.replace('&', "\\u0026").replace('<', "\\u003c").replace('>', "\\u003e")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_record_is_opentofus_to_the_byte() {
        let dir = tempfile::tempdir().unwrap();
        let text = concat!(
            r#"{"Modules":[{"Key":"","Source":"","Dir":"."},"#,
            r#"{"Key":"a","Source":"registry.opentofu.org/x/y/z","Version":"1.2.0","Dir":".terraform/modules/a"},"#,
            r#"{"Key":"a.b","Source":"git::https://example.com/x.git?ref=1\u0026depth=1","Dir":".terraform/modules/a.b"}]}"#,
        );
        fs::write(dir.path().join("modules.json"), text).unwrap();
        let mut manifest = Manifest::load(dir.path()).unwrap();
        assert_eq!(manifest.0["a.b"].source, "git::https://example.com/x.git?ref=1&depth=1");
        let other = dir.path().join("new");
        manifest.save(&other).unwrap();
        assert_eq!(fs::read_to_string(other.join("modules.json")).unwrap(), text);
        manifest.forget("a");
        assert_eq!(manifest.0.keys().collect::<Vec<_>>(), [""]);
    }

    #[test]
    fn a_broken_record_is_told() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Manifest::load(dir.path()).unwrap(), Manifest::default());
        for text in [
            "{",
            r#"{"Modules":[{"Key":"a","Dir":"x"},{"Key":"a","Dir":"y"}]}"#,
            r#"{"Modules":[{"Key":"a","Version":"x","Dir":""}]}"#,
        ] {
            fs::write(dir.path().join("modules.json"), text).unwrap();
            assert_eq!(Manifest::load(dir.path()).unwrap_err().summary, "Failed to read modules manifest file");
        }
    }
}
