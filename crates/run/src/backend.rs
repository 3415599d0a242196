//! Where the states of a configuration are: what its `backend` block says, what `init` recorded of it, and what the command line
//! puts in its place. For now that is always local files.

mod init;
mod record;
mod settings;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use groma_lang::config::Module;
use groma_lang::walk::InputValue;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::text::Str;
use groma_state::{LocalStore, LocalWorkspaces, Selection, State, StateStore as _, WorkspaceName};

use crate::session::Session;
pub use init::{BackendReady, BackendWishes, Confirm};
use record::Record;
pub(crate) use settings::LocalSettings;

/// The backend that keeps states in files.
const LOCAL: &str = "local";

/// Files of the command line that take the place of those that the backend would use.
#[derive(Debug, Clone, Default)]
pub struct PathOverrides {
    /// `-state`
    pub state: Option<PathBuf>,
    /// `-state-out`
    pub state_out: Option<PathBuf>,
    /// `-backup`; `-` for none.
    pub backup: Option<PathBuf>,
}

/// Where the states of all workspaces are, and which workspace is chosen.
#[derive(Debug, Clone)]
pub(crate) struct Backend {
    pub(crate) workspaces: LocalWorkspaces,
    pub(crate) selection: Selection,
    /// Where journals go on that cannot be written beside their states.
    pub(crate) spare_folders: Vec<PathBuf>,
    /// What is known of it elsewhere, such as in plans.
    pub(crate) settings: LocalSettings,
}

impl Backend {
    /// The store of a workspace.
    pub(crate) fn store(&self, workspace: &WorkspaceName) -> LocalStore {
        self.workspaces.store(workspace)
    }
}

impl Session {
    /// The backend of a root module, which must be as `init` found it.
    pub(crate) fn backend(
        &self,
        root: &Module,
        inputs: &BTreeMap<Str, InputValue>,
        paths: &PathOverrides,
    ) -> Result<Backend, Diagnostics> {
        if let Some(problem) = unsupported(root) {
            return Err(problem.into());
        }
        let record = Record::load(&self.data_dir())?;
        let settings = match (&root.backend, record) {
            (None, None) => LocalSettings::default(),
            (None, Some(record)) => {
                let reason = format!("Unsetting the previously set backend {:?}", record.kind);
                return Err(needs_init(", please", &reason).into());
            }
            (Some(backend), None) => {
                let reason = format!("Initial configuration of the requested backend {:?}", backend.kind.as_str());
                return Err(needs_init(", please", &reason).into());
            }
            (Some(_), Some(record)) if record.kind != LOCAL => {
                let reason = format!("Backend type changed from {:?} to {LOCAL:?}", record.kind);
                return Err(needs_init(": please", &reason).into());
            }
            (Some(backend), Some(record)) => {
                let written = self.local_settings(root, backend, inputs)?;
                let recorded = record.settings();
                // What `-backend-config` added is only in the record.
                if record.hash != written.hash() && recorded != written {
                    return Err(needs_init(": please", "Backend configuration block has changed").into());
                }
                recorded
            }
        };
        Ok(self.local_backend(settings, paths))
    }

    /// The backend as `init` recorded it, whatever the configuration says by now. None if it is not local.
    pub(crate) fn recorded_backend(&self, paths: &PathOverrides) -> Result<Option<Backend>, Diagnostic> {
        let settings = match Record::load(&self.data_dir())? {
            None => LocalSettings::default(),
            Some(record) if record.kind == LOCAL => record.settings(),
            Some(_) => return Ok(None),
        };
        Ok(Some(self.local_backend(settings, paths)))
    }

    /// The local state of the chosen workspace, where `init` found it. None if there is none, or not in a file.
    pub(crate) fn stored_state(&self) -> Result<Option<Arc<State>>, Diagnostic> {
        let Some(backend) = self.recorded_backend(&PathOverrides::default())? else { return Ok(None) };
        let workspace = backend.selection.current().map_err(|problem| problem.diagnostic())?;
        let state = backend.store(&workspace).read();
        let state = state.map_err(|problem| Diagnostic::error("Error loading state", problem.diagnostic().detail))?;
        Ok(state.map(Arc::new))
    }

    /// The backend that keeps states in files.
    pub(crate) fn local_backend(&self, settings: LocalSettings, paths: &PathOverrides) -> Backend {
        let start = self.start();
        Backend {
            workspaces: LocalWorkspaces {
                dir: start.working_dir.clone(),
                path: settings.path.clone().map(PathBuf::from),
                workspace_dir: settings.workspace_dir.clone().map(PathBuf::from),
                state: paths.state.clone(),
                state_out: paths.state_out.clone(),
                backup: paths.backup.clone(),
            },
            selection: Selection { data_dir: self.data_dir(), environment: start.workspace.clone() },
            spare_folders: self.spare_folders(),
            settings,
        }
    }

    /// Folders that nobody else writes to: what lies there is believed.
    fn spare_folders(&self) -> Vec<PathBuf> {
        let home = self.start().home_dir.as_ref().map(|home| home.join(".groma"));
        [Some(self.data_dir().join("groma")), home]
            .into_iter()
            .flatten()
            .map(|folder| folder.join("journals"))
            .collect()
    }

    fn data_dir(&self) -> PathBuf {
        self.start().working_dir.join(&self.start().data_dir)
    }
}

/// Other backends than the local one are not there yet, and nothing else is used in their place.
fn unsupported(root: &Module) -> Option<Diagnostic> {
    const SUMMARY: &str = "Unsupported backend type";
    const HINT: &str = "Run \"groma init -backend=false\" to install modules and providers without it.";
    if let Some(cloud) = &root.cloud {
        return Some(Diagnostic::error(SUMMARY, "The cloud block is not supported yet.").at(cloud.header).hint(HINT));
    }
    let backend = root.backend.as_ref().filter(|backend| backend.kind.as_str() != LOCAL)?;
    let detail =
        format!("The backend {:?} is not supported yet: for now the state is a local file.", backend.kind.as_str());
    Some(Diagnostic::error(SUMMARY, detail).at(backend.kind_span).hint(HINT))
}

/// The configuration is not what the directory was prepared for.
fn needs_init(joint: &str, reason: &str) -> Diagnostic {
    let detail = format!(
        "Reason: {reason}\n\nThe backend is where the state is kept. Changing its configuration takes another \
         initialization, so that an existing state can be taken along. Run \"groma init\" with either the \"-reconfigure\" or \
         the \"-migrate-state\" flag to use the current configuration.\n\nIf the reason above is wrong, check that the \
         configuration has not changed and try again. Neither the configuration nor the state has been touched."
    );
    Diagnostic::error(format!("Backend initialization required{joint} run \"groma init\""), detail)
}
