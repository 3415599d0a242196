//! Configuration files on disk, and the record of installed modules.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use groma_lang::load::SourceTree;
use groma_model::text::Str;
use serde::Deserialize;

/// Reads modules from disk, relative to a working directory.
#[derive(Debug, Clone)]
pub struct Disk {
    working_dir: PathBuf,
    installed: BTreeMap<String, InstalledModule>,
}

/// An entry of `.terraform/modules/modules.json`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct InstalledModule {
    /// Names of the calls on the way, joined by dots. Empty for the root.
    key: String,
    /// As written in the call.
    source: String,
    /// Of registry modules.
    #[serde(default)]
    version: Option<String>,
    /// Where it is, relative to the working directory.
    dir: PathBuf,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Manifest {
    modules: Vec<InstalledModule>,
}

impl Disk {
    /// Modules relative to `working_dir`; `data_dir` (`.terraform`) holds the record of what was installed.
    pub fn new(working_dir: PathBuf, data_dir: &Path) -> Self {
        let manifest = working_dir.join(data_dir).join("modules").join("modules.json");
        // Without a readable record nothing is installed, and every call of a remote module says what to do.
        let manifest: Manifest =
            fs::read(manifest).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        let installed = manifest.modules.into_iter().map(|module| (module.key.clone(), module)).collect();
        Self { working_dir, installed }
    }
}

impl SourceTree for Disk {
    fn list_files(&self, dir: &Path) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(self.working_dir.join(dir))? {
            let entry = entry?;
            let is_file = fs::metadata(entry.path()).is_ok_and(|metadata| metadata.is_file());
            if let (true, Ok(name)) = (is_file, entry.file_name().into_string()) {
                names.push(name);
            }
        }
        Ok(names)
    }

    fn read_file(&self, path: &Path) -> io::Result<Vec<u8>> {
        fs::read(self.working_dir.join(path))
    }

    fn installed_module(&self, call: &[Str], source: &str, version: Option<&str>) -> Option<PathBuf> {
        let key: Vec<&str> = call.iter().map(Str::as_str).collect();
        let module = self.installed.get(&key.join("."))?;
        // A call whose source has changed since is not installed. Whether the version still fits is the installer's to say.
        let _ = (version, &module.version);
        (module.source == source || module.source.ends_with(source)).then(|| module.dir.clone())
    }
}
