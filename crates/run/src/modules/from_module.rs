//! A module as the beginning of a configuration: its files are copied into the empty working directory.

use std::cell::RefCell;
use std::fs;
use std::path::Path;

use groma_lang::load::{ModuleRequest, ModuleSource, SourceTree as _};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::span::Span;
use groma_model::text::Str;

use super::manifest::Manifest;
use super::{ModuleObserver, fetching, install, source};
use crate::disk::Disk;
use crate::online::Online;
use crate::session::Session;

/// Under which name the module is fetched.
const KEY: &str = "root";

impl Session {
    /// Copies a module into the working directory, which must not have a configuration yet.
    pub fn copy_from_module(&mut self, online: &Online, from: &str, observer: &dyn ModuleObserver) -> Diagnostics {
        if !self.is_empty() {
            let detail = "The -from-module option requires an empty directory into which a copy of the referenced module \
                          will be placed.\n\nTo initialize the configuration already in this working directory, omit the \
                          -from-module option.";
            return Diagnostic::error("The working directory already contains files", detail).into();
        }
        let file = self.add_source("-from-module", from);
        let span = Span::new(file, 0, from.len());
        let start = self.start().clone();
        let disk = Disk::new(start.working_dir.clone(), &start.data_dir);
        let modules_dir = start.data_dir.join("modules");
        let tree = install::Installing {
            disk: &disk,
            online,
            observer,
            modules_dir: modules_dir.clone(),
            upgrade: true,
            state: RefCell::new(install::State::starting_with(Manifest::default())),
        };
        let request = ModuleRequest {
            path: &[Str::from(KEY)],
            caller_dir: &start.root_dir,
            source: from,
            kind: &source::kind_of(from),
            version: None,
            call_span: span,
            source_span: span,
        };
        let located = match tree.locate(&request) {
            Ok(dir) => dir,
            Err(problems) => return problems,
        };
        let fetched = start.working_dir.join(modules_dir.join(KEY));
        let copied = copy_files(&start.working_dir.join(&located), &start.working_dir);
        if !matches!(request.kind, ModuleSource::Local(_)) {
            // What was copied is not needed twice; if it stays, it is in nobody's way.
            let _ = fs::remove_dir_all(fetched);
        }
        match copied {
            Ok(()) => Diagnostics::new(),
            Err(problem) => {
                let detail = format!("Error copying {} to the working directory: {problem}.", located.display());
                Diagnostic::error("Failed to copy module", detail).into()
            }
        }
    }
}

/// Copies what is in a directory, but neither its data directory nor its repository.
fn copy_files(from: &Path, to: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        // A module beside or above the working directory may contain it.
        if name == ".terraform" || name == ".git" || entry.path() == to {
            continue;
        }
        if entry.file_type()?.is_dir() {
            fetching::copy(&entry.path(), &to.join(name))?;
        } else {
            fs::copy(entry.path(), to.join(name))?;
        }
    }
    Ok(())
}
