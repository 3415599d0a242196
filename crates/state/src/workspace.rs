//! Workspaces: several states of one configuration. Which one is chosen, and where local ones have their files.

#[cfg(test)]
mod tests;

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use groma_model::diag::Diagnostic;

use crate::local::replace;
use crate::{LocalStore, StatePaths};

/// The workspace that is always there.
pub const DEFAULT_WORKSPACE: &str = "default";
/// Where the default workspace has its state.
const STATE_FILE: &str = "terraform.tfstate";
/// Where the others have theirs.
const STATE_DIR: &str = "terraform.tfstate.d";
/// What the choice is kept in, in the data folder.
const CHOICE_FILE: &str = "environment";

/// A name that a workspace can have.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkspaceName(String);

impl WorkspaceName {
    /// Takes what needs no escaping in a URL's path. `.` and `..` do not either, but would be other folders.
    pub fn parse(name: &str) -> Result<Self, WorkspaceError> {
        let safe = |c: char| c.is_ascii_alphanumeric() || "-_.~$&+=:@".contains(c);
        if name.is_empty() || matches!(name, "." | "..") || !name.chars().all(safe) {
            return Err(WorkspaceError::BadName(name.to_owned()));
        }
        Ok(Self(name.to_owned()))
    }

    /// The one that is always there.
    pub fn default_workspace() -> Self {
        Self(DEFAULT_WORKSPACE.to_owned())
    }

    /// Whether it is the one that is always there.
    pub fn is_default(&self) -> bool {
        self.0 == DEFAULT_WORKSPACE
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for WorkspaceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What can go wrong with workspaces.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// No workspace can be called that.
    #[error(
        "The workspace name {0:?} is not allowed. The name must contain only URL safe characters, and no path separators."
    )]
    BadName(String),
    /// Nor can one by the environment.
    #[error("Invalid workspace name set using TF_WORKSPACE")]
    BadEnvironment(String),
    /// It is there already.
    #[error("Workspace {0:?} already exists")]
    Exists(WorkspaceName),
    /// It is not there.
    #[error("Workspace {0:?} doesn't exist")]
    Missing(WorkspaceName),
    /// It cannot be deleted.
    #[error("cannot delete default state")]
    IsDefault,
    /// A file is in the way.
    #[error("could not use {path}: {source}")]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl WorkspaceError {
    /// For people.
    pub fn diagnostic(&self) -> Diagnostic {
        let summary = match self {
            WorkspaceError::BadName(_) => "Invalid workspace name",
            WorkspaceError::BadEnvironment(_) => "Error selecting workspace",
            WorkspaceError::Exists(_) => "Workspace already exists",
            WorkspaceError::Missing(_) => "Workspace does not exist",
            WorkspaceError::IsDefault => "Workspace deletion failed",
            WorkspaceError::Io { .. } => "Error loading workspaces",
        };
        Diagnostic::error(summary, self.to_string())
    }
}

/// Which workspace is chosen in a working directory.
#[derive(Debug, Clone)]
pub struct Selection {
    /// `.terraform`, or what `TF_DATA_DIR` says.
    pub data_dir: PathBuf,
    /// What `TF_WORKSPACE` says, which goes first.
    pub environment: Option<String>,
}

impl Selection {
    /// Whether the environment chooses, so that [`Self::select`] would change nothing.
    pub fn is_overridden(&self) -> bool {
        self.environment.as_ref().is_some_and(|name| !name.is_empty())
    }

    /// The chosen workspace.
    pub fn current(&self) -> Result<WorkspaceName, WorkspaceError> {
        if let Some(name) = self.environment.as_ref().filter(|name| !name.is_empty()) {
            return WorkspaceName::parse(name).map_err(|_| WorkspaceError::BadEnvironment(name.clone()));
        }
        let path = self.data_dir.join(CHOICE_FILE);
        match fs::read_to_string(&path) {
            Ok(text) if text.trim().is_empty() => Ok(WorkspaceName::default_workspace()),
            Ok(text) => WorkspaceName::parse(text.trim()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(WorkspaceName::default_workspace()),
            // Another workspace's state must not be taken for the chosen one's.
            Err(source) => Err(WorkspaceError::Io { path, source }),
        }
    }

    /// Chooses another one.
    pub fn select(&self, name: &WorkspaceName) -> Result<(), WorkspaceError> {
        let path = self.data_dir.join(CHOICE_FILE);
        let written =
            fs::create_dir_all(&self.data_dir).and_then(|()| replace::replace(&path, name.as_str().as_bytes()));
        written.map_err(|source| WorkspaceError::Io { path, source })
    }
}

/// Where the local backend keeps the states of workspaces.
#[derive(Debug, Clone, Default)]
pub struct LocalWorkspaces {
    /// The working directory, which relative paths start from.
    pub dir: PathBuf,
    /// The backend's `path`, for the default workspace.
    pub path: Option<PathBuf>,
    /// The backend's `workspace_dir`, for the others.
    pub workspace_dir: Option<PathBuf>,
    /// `-state`, for every workspace.
    pub state: Option<PathBuf>,
    /// `-state-out`.
    pub state_out: Option<PathBuf>,
    /// `-backup`; `-` for none.
    pub backup: Option<PathBuf>,
}

impl LocalWorkspaces {
    /// The files of a workspace.
    pub fn paths(&self, name: &WorkspaceName) -> StatePaths {
        let own = || match &self.path {
            Some(path) if name.is_default() => path.clone(),
            _ if name.is_default() => PathBuf::from(STATE_FILE),
            _ => self.workspace_dir().join(name.as_str()).join(STATE_FILE),
        };
        let given = |path: &Option<PathBuf>| path.clone().filter(|path| !path.as_os_str().is_empty());
        let read = self.dir.join(given(&self.state).unwrap_or_else(own));
        let write = given(&self.state_out).map_or_else(|| read.clone(), |path| self.dir.join(path));
        let backup = match given(&self.backup) {
            None => StatePaths::of(write.clone()).backup,
            Some(path) if path == Path::new("-") => None,
            Some(path) => Some(self.dir.join(path)),
        };
        StatePaths { read, write, backup }
    }

    /// The store of a workspace.
    pub fn store(&self, name: &WorkspaceName) -> LocalStore {
        LocalStore::new(self.paths(name))
    }

    fn workspace_dir(&self) -> PathBuf {
        self.dir.join(self.workspace_dir.as_deref().unwrap_or(Path::new(STATE_DIR)))
    }

    /// The names of all workspaces: the default one, then the others in order. Folders that could not be told from
    /// others by name are none.
    pub fn list(&self) -> Result<Vec<WorkspaceName>, WorkspaceError> {
        let path = self.workspace_dir();
        let failed = |source| WorkspaceError::Io { path: path.clone(), source };
        let mut names = Vec::new();
        match fs::read_dir(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(error)),
            Ok(entries) => {
                for entry in entries {
                    let entry = entry.map_err(failed)?;
                    let name = entry.file_name().into_string().ok().and_then(|name| WorkspaceName::parse(&name).ok());
                    if let Some(name) = name.filter(|name| !name.is_default())
                        && entry.file_type().map_err(failed)?.is_dir()
                    {
                        names.push(name);
                    }
                }
            }
        }
        names.sort();
        names.insert(0, WorkspaceName::default_workspace());
        Ok(names)
    }

    /// Makes a workspace, without a state yet.
    pub fn create(&self, name: &WorkspaceName) -> Result<(), WorkspaceError> {
        if name.is_default() {
            return Err(WorkspaceError::Exists(name.clone()));
        }
        let path = self.workspace_dir().join(name.as_str());
        let failed = |source| WorkspaceError::Io { path: path.clone(), source };
        fs::create_dir_all(self.workspace_dir()).map_err(failed)?;
        match fs::create_dir(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(WorkspaceError::Exists(name.clone())),
            made => made.map_err(failed),
        }
    }

    /// Deletes a workspace with its state, whatever is in it. Whether it still tracks something is for the caller to
    /// ask before ([`crate::State::managed_objects`]).
    pub fn delete(&self, name: &WorkspaceName) -> Result<(), WorkspaceError> {
        if name.is_default() {
            return Err(WorkspaceError::IsDefault);
        }
        let path = self.workspace_dir().join(name.as_str());
        match fs::remove_dir_all(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(WorkspaceError::Missing(name.clone())),
            deleted => deleted.map_err(|source| WorkspaceError::Io { path, source }),
        }
    }
}
