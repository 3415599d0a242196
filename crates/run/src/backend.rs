//! Where the states of a configuration are: what its `backend` block says, what `init` recorded of it, and what the command line
//! puts in its place. For now that is always local files.

use std::collections::BTreeMap;
use std::path::PathBuf;

use groma_lang::config::Module;
use groma_lang::walk::InputValue;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::text::Str;
use groma_state::{LocalStore, LocalWorkspaces, Selection, WorkspaceName};

use crate::session::Session;

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
pub struct Backend {
    pub(crate) workspaces: LocalWorkspaces,
    pub(crate) selection: Selection,
}

impl Backend {
    /// The store of a workspace.
    pub(crate) fn store(&self, workspace: &WorkspaceName) -> LocalStore {
        self.workspaces.store(workspace)
    }
}

impl Session {
    /// The backend of a root module.
    pub(crate) fn backend(
        &self,
        root: &Module,
        inputs: &BTreeMap<Str, InputValue>,
        paths: &PathOverrides,
    ) -> Result<Backend, Diagnostics> {
        let _ = inputs;
        if let Some(cloud) = &root.cloud {
            let detail = "The cloud block is not supported yet.";
            return Err(Diagnostic::error("Unsupported backend type", detail).at(cloud.header).into());
        }
        if let Some(backend) = root.backend.as_ref().filter(|backend| backend.kind.as_str() != "local") {
            let detail = format!("The backend {:?} is not supported yet.", backend.kind.as_str());
            return Err(Diagnostic::error("Unsupported backend type", detail).at(backend.kind_span).into());
        }
        Ok(self.local_backend(None, None, paths))
    }

    /// The backend that keeps states in files.
    pub(crate) fn local_backend(
        &self,
        path: Option<PathBuf>,
        workspace_dir: Option<PathBuf>,
        paths: &PathOverrides,
    ) -> Backend {
        let start = self.start();
        Backend {
            workspaces: LocalWorkspaces {
                dir: start.working_dir.clone(),
                path,
                workspace_dir,
                state: paths.state.clone(),
                state_out: paths.state_out.clone(),
                backup: paths.backup.clone(),
            },
            selection: Selection {
                data_dir: start.working_dir.join(&start.data_dir),
                environment: start.workspace.clone(),
            },
        }
    }
}
