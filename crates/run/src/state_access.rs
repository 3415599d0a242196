//! The state of a working directory, for commands that look at it or change it without evaluating the configuration. Operations,
//! which also need the configuration and its providers, use it too.

mod identity;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use groma_lang::config::version::COMPATIBLE_VERSION;
use groma_lang::environment::Environment as _;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_state::{
    Keeper, LocalStore, LockInfo, PushError, Saved, State, StatePaths, StateStore as _, Version, WorkspaceError,
    WorkspaceName, lock_within, random_id,
};

pub use crate::backend::PathOverrides;
use crate::backend::{Backend, LocalSettings};
use crate::outside::Machine;
use crate::saved_plan::BackendRecord;
use crate::session::Session;

/// Whether and how long to try for the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LockWish {
    /// Whether to lock at all: `-lock`.
    pub wanted: bool,
    /// How long to wait for somebody else to give it back: `-lock-timeout`.
    pub timeout: Duration,
}

impl Default for LockWish {
    fn default() -> Self {
        Self { wanted: true, timeout: Duration::ZERO }
    }
}

/// How the state that is replaced is kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Backups {
    /// In `<state>.backup`, as operations do.
    #[default]
    Latest,
    /// In `<state>.<time>.backup`, even if `-backup=-` says not to, as commands that edit states do.
    ByTime,
}

/// The state of a workspace.
pub struct StateAccess {
    backend: Backend,
    workspace: WorkspaceName,
    machine: Machine,
    keeper: Keeper<LocalStore>,
    lock: Option<String>,
}

impl StateAccess {
    /// The state of the chosen workspace, where the `backend` block of the root module says. Nothing is read yet.
    pub fn open(session: &mut Session, paths: &PathOverrides) -> Result<StateAccess, Diagnostics> {
        let backend = session.state_backend(paths)?;
        Self::of_backend(session, backend)
    }

    /// Over a backend that is known already.
    pub(crate) fn of_backend(session: &Session, backend: Backend) -> Result<StateAccess, Diagnostics> {
        let workspace = backend.selection.current().map_err(|problem| match problem {
            // Others have that as their summary.
            WorkspaceError::BadEnvironment(name) => {
                let detail = format!("No workspace can be called {name:?}.");
                Diagnostic::error("Invalid workspace name set using TF_WORKSPACE", detail)
            }
            problem => problem.diagnostic(),
        })?;
        Ok(Self::in_workspace(backend, workspace, session.machine().clone()))
    }

    /// The state in a file, whatever the configuration says.
    pub fn of_file(session: &Session, paths: &PathOverrides) -> StateAccess {
        let backend = session.local_backend(LocalSettings::default(), paths);
        Self::in_workspace(backend, WorkspaceName::default_workspace(), session.machine().clone())
    }

    fn in_workspace(backend: Backend, workspace: WorkspaceName, machine: Machine) -> StateAccess {
        let keeper = Keeper::new(backend.store(&workspace));
        StateAccess { backend, workspace, machine, keeper, lock: None }
    }

    /// What is to be known of where it is kept.
    pub(crate) fn record(&self) -> BackendRecord {
        BackendRecord {
            kind: self.backend.settings.kind().to_owned(),
            config: self.backend.settings.to_json(),
            workspace: self.workspace.as_str().to_owned(),
        }
    }

    /// The same backend, another workspace. It need not be there.
    pub fn another(&self, workspace: &WorkspaceName) -> StateAccess {
        Self::in_workspace(self.backend.clone(), workspace.clone(), self.machine.clone())
    }

    /// The files that backups go to. To be chosen before anything is saved.
    pub fn with_backups(mut self, backups: Backups) -> StateAccess {
        if backups == Backups::ByTime {
            let mut paths = self.paths().clone();
            let named = self
                .backend
                .workspaces
                .backup
                .as_ref()
                .filter(|path| !["", "-"].map(AsRef::as_ref).contains(&path.as_os_str()));
            if named.is_none() {
                let mut backup = paths.write.clone().into_os_string();
                backup.push(format!(".{}.backup", self.machine.now().0));
                paths.backup = Some(backup.into());
            }
            self.keeper = Keeper::new(LocalStore::new(paths));
        }
        self
    }

    /// The files of the state.
    pub fn paths(&self) -> &StatePaths {
        self.keeper.stored_in().paths()
    }

    /// The workspace whose state it is.
    pub fn workspace(&self) -> &WorkspaceName {
        &self.workspace
    }

    /// What there is. None if nothing was ever stored.
    pub fn read(&mut self) -> Result<Option<Arc<State>>, Diagnostics> {
        self.keeper.read().map_err(|problem| problem.diagnostic().into())
    }

    /// The snapshot that was last read or written.
    pub fn version(&self) -> Option<&Version> {
        self.keeper.version()
    }

    /// Keeps others from writing, if that is wanted. What for is said in words that others are shown, e.g. `state-mv`.
    pub fn lock(&mut self, operation: &str, wish: LockWish) -> Result<(), Diagnostics> {
        self.lock_patiently(operation, wish, &|| true)
    }

    /// The same; while somebody else has the lock, `patience` is asked again and again whether to go on waiting.
    pub fn lock_patiently(
        &mut self,
        operation: &str,
        wish: LockWish,
        patience: &dyn Fn() -> bool,
    ) -> Result<(), Diagnostics> {
        if !wish.wanted || self.lock.is_some() {
            return Ok(());
        }
        let info = LockInfo {
            id: random_id(&mut || random(&self.machine)),
            operation: operation.to_owned(),
            info: String::new(),
            who: identity::user_and_host(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            created: identity::utc_text(self.machine.now()),
            path: self.shown_path(),
        };
        let mut waiting = identity::Waiting::new(patience);
        lock_within(self.keeper.store(), &info, wish.timeout, &mut waiting).map_err(|problem| problem.acquiring())?;
        self.lock = Some(info.id);
        Ok(())
    }

    /// The file as people know it, without the way to the working directory.
    fn shown_path(&self) -> String {
        let path = &self.paths().read;
        path.strip_prefix(&self.backend.workspaces.dir).unwrap_or(path).display().to_string()
    }

    /// Gives the lock back, if there is one.
    pub fn unlock(&mut self) -> Diagnostics {
        let Some(id) = self.lock.take() else { return Diagnostics::new() };
        match self.keeper.store().unlock(&id) {
            Ok(()) => Diagnostics::new(),
            Err(problem) => problem.releasing().into(),
        }
    }

    /// Takes a lock away that nobody will give back.
    pub fn force_unlock(&mut self, id: &str) -> Result<(), Diagnostics> {
        self.keeper.store().force_unlock(id).map_err(|problem| problem.forcing().into())
    }

    /// Stores a state if it says something else than what is stored, with the right lineage and the next serial. Must be read
    /// before.
    pub fn save(&mut self, state: &mut State) -> Result<Saved, Diagnostics> {
        COMPATIBLE_VERSION.clone_into(&mut state.tool_version);
        let machine = &self.machine;
        self.keeper.save(state, &mut || random(machine)).map_err(|problem| problem.diagnostic().into())
    }

    /// Gives a state that cannot be stored the lineage and serial that it would have got.
    pub(crate) fn number_next(&self, state: &mut State) {
        COMPATIBLE_VERSION.clone_into(&mut state.tool_version);
        let (lineage, serial) = self.version().map_or((String::new(), 0), |now| (now.lineage.clone(), now.serial));
        let lineage = if lineage.is_empty() { random_id(&mut || random(&self.machine)) } else { lineage };
        (state.lineage, state.serial) = (lineage, serial.saturating_add(1));
    }

    /// Stores a state as it is, lineage and serial included; unless forced, only in the place of one that it can follow.
    pub fn push(&mut self, state: &State, force: bool) -> Result<Saved, PushError> {
        self.keeper.push(state, force)
    }

    /// The names of all workspaces.
    pub fn workspaces(&self) -> Result<Vec<WorkspaceName>, Diagnostics> {
        self.backend.workspaces.list().map_err(told)
    }

    /// Whether `TF_WORKSPACE` chooses, so that selecting another workspace would change nothing.
    pub fn is_overridden(&self) -> bool {
        self.backend.selection.is_overridden()
    }

    /// Makes a workspace, without a state yet.
    pub fn create_workspace(&self, name: &WorkspaceName) -> Result<(), Diagnostics> {
        self.backend.workspaces.create(name).map_err(told)
    }

    /// Chooses a workspace for the commands to come.
    pub fn select_workspace(&self, name: &WorkspaceName) -> Result<(), Diagnostics> {
        self.backend.selection.select(name).map_err(told)
    }

    /// Deletes a workspace with its state, whatever is in it.
    pub fn delete_workspace(&self, name: &WorkspaceName) -> Result<(), Diagnostics> {
        self.backend.workspaces.delete(name).map_err(told)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is what map_err gives")]
fn told(problem: WorkspaceError) -> Diagnostics {
    problem.diagnostic().into()
}

fn random(machine: &Machine) -> [u8; 16] {
    let mut bytes = [0; 16];
    machine.random(&mut bytes);
    bytes
}

impl Session {
    /// The backend, with nothing evaluated but its own settings.
    fn state_backend(&mut self, paths: &PathOverrides) -> Result<Backend, Diagnostics> {
        if self.is_empty() {
            return self.backend(&groma_lang::config::Module::default(), &BTreeMap::new(), paths);
        }
        let (root, diagnostics) = self.load_root();
        if diagnostics.has_errors() {
            return Err(diagnostics);
        }
        let inputs = self.root_inputs(&root);
        self.backend(&root, &inputs, paths)
    }
}

/// For something that a command needs a state for.
pub fn no_state() -> Diagnostic {
    Diagnostic::error("No state", "This command requires that a state exists, but none was found.")
}
