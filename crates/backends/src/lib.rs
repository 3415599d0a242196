//! Remote places for states: what they have in common, and which there are. Local files are in `groma-state`; which backend a
//! configuration asks for is found out in `groma-run`.
//!
//! Everything here blocks. Network calls run on a runtime that is handed in, and are waited for.

mod companions;
mod http;
mod kubernetes;
mod pg;
mod s3;
mod settings;
mod silence;

use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::schema::Block;
use groma_model::value::Value;
use groma_network::Networks;
use groma_state::journal::JournalHome;
use groma_state::{StateCodec, StateStore, WorkspaceError, WorkspaceName};

pub use kubernetes::Cluster;

/// A kind of backend, as a configuration names it.
pub trait BackendKind: Send + Sync {
    /// The label of its block.
    fn name(&self) -> &'static str;

    /// What may stand in its block.
    fn schema(&self) -> Block;

    /// Makes a backend of what stands there. Settings that are not given may come from the environment. Nothing is connected to
    /// yet.
    fn configure(&self, settings: &Value, surroundings: &Surroundings) -> Result<Arc<dyn Backend>, Diagnostics>;
}

/// Where the states of all workspaces of a configuration are.
pub trait Backend: Send + Sync {
    /// The workspaces that have a state, and the default one first. An error if there can be no others than that.
    fn workspaces(&self) -> Result<Vec<WorkspaceName>, BackendError>;

    /// Deletes a workspace with everything that is kept for it. Whether it still tracks something is for the caller to ask before.
    fn delete(&self, workspace: &WorkspaceName) -> Result<(), BackendError>;

    /// The place of one state. Nothing is read yet.
    fn open(&self, workspace: &WorkspaceName, codec: Arc<dyn StateCodec>) -> Result<Place, BackendError>;
}

/// A place for one state and its journal.
pub struct Place {
    /// What people know it by, without secrets: `kubernetes secret tools/tfstate-default-app`.
    pub name: String,
    /// The state.
    pub store: Box<dyn StateStore>,
    /// Its journal. None if it has to be kept on this machine.
    pub journal: Option<Box<dyn JournalHome>>,
}

/// Variables of the environment, by name.
pub type Variables = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// What backends ask of the outside.
#[derive(Clone)]
pub struct Surroundings {
    /// Variables of the environment.
    pub variable: Variables,
    /// Where relative paths start.
    pub working_dir: PathBuf,
    /// The folder of the user.
    pub home: Option<PathBuf>,
    /// Where network calls run.
    pub runtime: tokio::runtime::Handle,
    /// Random bytes.
    pub random: Arc<dyn Fn() -> [u8; 16] + Send + Sync>,
    /// The folder in which journals go on that a server does not take any more. Only its owner may write there.
    pub spool: PathBuf,
    /// The cluster that states are kept in, if whoever asks is connected to it. What settings and the environment say about how to reach
    /// one does not matter then.
    pub cluster: Option<Cluster>,
    /// What is not allowed here.
    pub limits: Limits,
    /// Tells which holders of locks are known to be gone. None if nobody knows more than what the locks say.
    pub is_gone: Option<IsGone>,
}

/// Where a file is that may be read; or why not.
pub type Readable = Arc<dyn Fn(&Path) -> io::Result<PathBuf> + Send + Sync>;

/// What the settings of a backend may not ask for. They may be somebody else's.
#[derive(Clone, Default)]
pub struct Limits {
    /// Programs are not started, and how that could be allowed.
    pub no_programs: Option<String>,
    /// Which files may be read; all if there is nothing.
    pub readable: Option<Readable>,
    /// Our account in a cluster is not that of who wrote the settings. None if it is.
    pub account: Option<Account>,
    /// Where connections may lead. None for everywhere.
    pub networks: Option<Networks>,
}

/// An account that is not that of who wrote the settings.
#[derive(Debug, Clone)]
pub struct Account {
    /// It is used in this namespace only.
    pub namespace: String,
    /// What to do instead.
    pub advice: String,
}

impl Surroundings {
    /// Where a file is that may be read. Relative paths start in the working directory.
    fn readable(&self, path: impl AsRef<Path>) -> io::Result<PathBuf> {
        let path = self.working_dir.join(path);
        self.limits.readable.as_ref().map_or(Ok(path.clone()), |readable| readable(&path))
    }
}

/// Whether whoever holds a lock of this name is gone for certain, so that nobody has to wait for its silence.
pub type IsGone = Arc<dyn Fn(String) -> Pin<Box<dyn Future<Output = bool> + Send>> + Send + Sync>;

/// Why a backend cannot do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum BackendError {
    /// There is only one workspace.
    #[error("workspaces not supported")]
    OneWorkspace,
    /// About workspaces.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// The server is away, refuses, or answers nonsense.
    #[error("could not {doing}: {source}")]
    Remote {
        /// What was tried, with what.
        doing: String,
        /// Why it failed.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl BackendError {
    /// For people.
    pub fn diagnostic(&self) -> Diagnostic {
        match self {
            BackendError::OneWorkspace => {
                Diagnostic::error("Workspaces not supported", "This backend has one workspace.")
            }
            BackendError::Workspace(error) => error.diagnostic(),
            BackendError::Remote { .. } => Diagnostic::error("Error using the backend", format!("{self}.")),
        }
    }
}

/// The kinds that there are.
const KINDS: &[&dyn BackendKind] = &[&http::Http, &kubernetes::Kubernetes, &pg::Pg, &s3::S3];

/// The kind of a name. None if there is none here.
pub fn kind(name: &str) -> Option<&'static dyn BackendKind> {
    KINDS.iter().copied().find(|kind| kind.name() == name)
}

/// The names of all kinds.
pub fn kinds() -> impl Iterator<Item = &'static str> {
    KINDS.iter().map(|kind| kind.name())
}
