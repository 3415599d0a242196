//! Modules from elsewhere: fetched into the data directory, recorded, and used again as long as they fit.
//!
//! The record (`modules.json`) and the messages are those that users of OpenTofu know.

mod fetching;
mod from_module;
mod install;
mod manifest;
mod source;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::path::Path;

use groma_fetch::progress::Progress;
use groma_lang::load::ModuleRequest;
use groma_model::diag::{Diagnostic, Diagnostics, Severity};
use groma_model::version::Version;

use crate::disk::Disk;
use crate::online::Online;
use crate::session::{Loaded, Session};
pub(crate) use manifest::{Manifest, Record};

/// Told what an installation does.
pub trait ModuleObserver {
    /// A package is being fetched for a module.
    fn downloading(&self, key: &str, package: &str, version: Option<&Version>);

    /// A module is there.
    fn installed(&self, key: &str, dir: &Path);

    /// Where the bytes are counted.
    fn progress(&self) -> &dyn Progress;
}

/// How modules are installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InstallSettings<'a> {
    /// Fetches again what is there already, and takes newer versions.
    pub upgrade: bool,
    /// Only what kept modules from being installed is an error; anything else wrong with the configuration is a warning.
    pub only_installation_matters: bool,
    /// Where test files are, whose runs may name modules, too.
    pub test_dir: Option<&'a Path>,
}

impl Session {
    /// Installs all modules of the configuration and records them.
    pub fn install_modules(
        &mut self,
        online: &Online,
        settings: InstallSettings<'_>,
        observer: &dyn ModuleObserver,
    ) -> Diagnostics {
        let data_dir = self.start().data_dir.clone();
        let modules_dir = data_dir.join("modules");
        let absolute = self.start().working_dir.join(&modules_dir);
        let mut manifest = match Manifest::load(&absolute) {
            Ok(manifest) => manifest,
            Err(problem) => return problem.into(),
        };
        let root = Record { source: String::new(), version: None, dir: self.start().root_dir.clone() };
        manifest.0.insert(String::new(), root);
        let disk = Disk::of(self.start());
        let state = install::State::starting_with(manifest);
        let tree = install::Installing {
            disk: &disk,
            online,
            observer,
            modules_dir,
            upgrade: settings.upgrade,
            state: RefCell::new(state),
        };
        let Loaded { mut diagnostics, .. } = self.load_from(&tree);
        if let Some(test_dir) = settings.test_dir.filter(|_| !diagnostics.has_errors()) {
            diagnostics.extend(self.load_test_modules(&tree, test_dir));
        }
        let state = tree.state.into_inner();
        if settings.only_installation_matters {
            if state.failed {
                return diagnostics;
            }
            diagnostics = diagnostics.into_iter().map(as_warning).collect();
        }
        diagnostics.extend(state.warnings);
        diagnostics.extend(state.manifest.save(&absolute).err());
        self.refresh_modules();
        diagnostics
    }
}

fn as_warning(mut diagnostic: Diagnostic) -> Diagnostic {
    diagnostic.severity = Severity::Warning;
    diagnostic
}

/// The normal form of a call's source.
pub(crate) fn normal_source(request: &ModuleRequest<'_>) -> String {
    source::Source::parse(request.source, request.kind)
        .map_or_else(|_| request.source.to_owned(), |source| source.normal())
}
