//! Configuration files on disk, and the modules that were installed there.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use groma_kit::confines::Confines;
use groma_lang::load::{ModuleRequest, SourceTree};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::text::Str;

use crate::modules::{Manifest, Record, normal_source};
use crate::session::Start;

/// Reads modules from disk, relative to a working directory.
#[derive(Debug, Clone)]
pub struct Disk {
    working_dir: PathBuf,
    installed: Manifest,
    /// Where modules may be; None for everywhere.
    confines: Option<Confines>,
}

impl Disk {
    /// Modules relative to `working_dir`; `data_dir` (`.terraform`) holds the record of what was installed.
    pub fn new(working_dir: PathBuf, data_dir: &Path) -> Self {
        // Without a readable record nothing is installed, and every call of a remote module says what to do.
        let installed = Manifest::load(&working_dir.join(data_dir).join("modules")).unwrap_or_default();
        Self { working_dir, installed, confines: None }
    }

    /// Modules of a session.
    pub(crate) fn of(start: &Start) -> Self {
        let confines = start.bounds.files.as_ref().map(Confines::undivided);
        Self { confines, ..Self::new(start.working_dir.clone(), &start.data_dir) }
    }

    fn allowed(&self, path: &Path) -> io::Result<PathBuf> {
        let path = self.resolve(path);
        self.confines.as_ref().map_or(Ok(path.clone()), |confines| confines.read(&path))
    }

    /// Whether only some directories of this machine may be read.
    pub(crate) fn is_confined(&self) -> bool {
        self.confines.is_some()
    }

    /// A path as the system knows it.
    pub(crate) fn resolve(&self, path: &Path) -> PathBuf {
        self.working_dir.join(path)
    }
}

impl SourceTree for Disk {
    fn list_files(&self, dir: &Path) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(self.allowed(dir)?)? {
            let entry = entry?;
            let is_file = fs::metadata(entry.path()).is_ok_and(|metadata| metadata.is_file());
            if let (true, Ok(name)) = (is_file, entry.file_name().into_string()) {
                names.push(name);
            }
        }
        Ok(names)
    }

    fn read_file(&self, path: &Path) -> io::Result<Vec<u8>> {
        fs::read(self.allowed(path)?)
    }

    fn locate(&self, request: &ModuleRequest<'_>) -> Result<PathBuf, Diagnostics> {
        // Directories beside the caller are simply there; nothing needs to be installed.
        if let Some(dir) = request.local_dir() {
            return Ok(dir);
        }
        let key: Vec<&str> = request.path.iter().map(Str::as_str).collect();
        let record = self.installed.0.get(&key.join(".")).ok_or_else(|| request.not_installed())?;
        match outdated(request, record) {
            Some(problem) => Err(problem.into()),
            None => Ok(record.dir.clone()),
        }
    }
}

/// Whether the call has changed since the module was installed.
fn outdated(request: &ModuleRequest<'_>, record: &Record) -> Option<Diagnostic> {
    const HINT: &str = "Run \"groma init\" to install all modules required by this configuration.";
    let source = normal_source(request);
    if source != record.source {
        let detail = format!(
            "The source address was changed from {:?} to {source:?} since this module was installed. {HINT}",
            record.source
        );
        return Some(Diagnostic::error("Module source has changed", detail).at(request.source_span));
    }
    let installed = match (&record.version, request.version) {
        (Some(version), Some(wanted)) if !wanted.admits(version) => format!(" ({version})"),
        (None, Some(_)) => String::new(),
        _ => return None,
    };
    let detail = format!(
        "The version requirements have changed since this module was installed and the installed version{installed} is \
         no longer acceptable. {HINT}"
    );
    Some(Diagnostic::error("Module version requirements have changed", detail).at(request.source_span))
}
