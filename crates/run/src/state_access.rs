//! The state of a working directory, for commands that look at it or change it without evaluating the configuration. Operations,
//! which also need the configuration and its providers, use it too.

pub mod doctor;
pub(crate) mod findings;
mod history;
pub(crate) mod identity;
pub mod ownership;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use groma_lang::config::version::COMPATIBLE_VERSION;
use groma_lang::environment::Environment as _;
use groma_model::address::AbsObject;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_state::encryption::Envelope;
use groma_state::journal::{Action, Condition, Damage, Folded, Intent, Journal, Mark, Operation, RunId};
use groma_state::{
    Ledger, LedgerError, LockInfo, PlainCodec, PushError, Recovered, Run, Saved, State, StateCodec, StateStore,
    StoreError, Version, WorkspaceError, WorkspaceName, lock_within, random_id,
};

pub use crate::backend::PathOverrides;
use crate::backend::{Backend, OpenState, Settings, Target};
use crate::outside::Machine;
use crate::saved_plan::BackendRecord;
use crate::session::{LockManners, Session};
pub use history::Entry;
use history::History;
use ownership::{Owner, changes};

/// Whether and how long to try for the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LockWish {
    /// Whether to lock at all: `-lock`.
    pub wanted: bool,
    /// How long to wait for somebody else to give it back: `-lock-timeout`.
    pub timeout: Duration,
    /// Whether it does not matter that somebody else looks after it: `-i-know`.
    pub regardless: bool,
}

impl Default for LockWish {
    fn default() -> Self {
        Self { wanted: true, timeout: Duration::ZERO, regardless: false }
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
    /// What people know it by.
    name: String,
    spool: Option<PathBuf>,
    ledger: SharedLedger,
    /// What was read last, until a run begins from it.
    recovered: Option<Recovered>,
    /// Changes of earlier runs that it is known of by now what became of them.
    settled: Vec<Operation>,
    lock: Option<String>,
    manners: LockManners,
    /// Who looks after it, for those who heed that.
    owner: Owner,
}

/// A state with its journal, which a run shares with those who write for it.
pub(crate) type SharedLedger = Arc<Mutex<Ledger<Box<dyn StateStore>>>>;

fn held(ledger: &SharedLedger) -> MutexGuard<'_, Ledger<Box<dyn StateStore>>> {
    ledger.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Stores a state that includes everything before a mark of the journal, if it says something else than what is stored.
pub(crate) fn store(ledger: &SharedLedger, mut state: State, mark: Mark, machine: &Machine) -> Result<(), StoreError> {
    COMPATIBLE_VERSION.clone_into(&mut state.tool_version);
    held(ledger).save(state, mark, &mut || random(machine)).map(|_| ())
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
        let opened = Self::in_workspace(backend, workspace, session.machine().clone())?;
        let owner = Owner::of(session.start(), opened.workspace.as_str())?;
        Ok(StateAccess { manners: session.start().lock.clone(), owner, ..opened })
    }

    /// The state in a file, whatever the configuration says.
    pub fn of_file(session: &mut Session, paths: &PathOverrides) -> Result<StateAccess, Diagnostics> {
        let encryption = session.own_encryption(None)?;
        let backend = session.local_backend(Settings::default(), paths).encrypted(encryption);
        Self::in_workspace(backend, WorkspaceName::default_workspace(), session.machine().clone())
    }

    pub(crate) fn in_workspace(
        backend: Backend,
        workspace: WorkspaceName,
        machine: Machine,
    ) -> Result<StateAccess, Diagnostics> {
        let OpenState { ledger, name, spool } = backend.open(&workspace)?;
        let (recovered, settled, lock, manners) = (None, Vec::new(), None, LockManners::default());
        let owner = Owner::default();
        Ok(StateAccess { backend, workspace, machine, name, spool, ledger, recovered, settled, lock, manners, owner })
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
    pub fn another(&self, workspace: &WorkspaceName) -> Result<StateAccess, Diagnostics> {
        Self::in_workspace(self.backend.clone(), workspace.clone(), self.machine.clone())
    }

    /// The files that backups go to. To be chosen before anything is saved.
    pub fn with_backups(mut self, backups: Backups) -> StateAccess {
        if let Some(local) = self.backend.local().filter(|_| backups == Backups::ByTime) {
            let mut paths = local.paths(&self.workspace);
            let named = local.backup.as_ref();
            let named = named.filter(|path| !["", "-"].map(AsRef::as_ref).contains(&path.as_os_str()));
            if named.is_none() {
                let mut backup = paths.write.clone().into_os_string();
                backup.push(format!(".{}.backup", self.machine.now().0));
                paths.backup = Some(backup.into());
            }
            self.ledger = self.backend.open_files(&paths);
        }
        self
    }

    /// Where the journal of a run is, if that is on this machine while the state is elsewhere.
    pub fn spool(&self) -> Option<&Path> {
        self.spool.as_deref()
    }

    /// What people know it by.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The workspace whose state it is.
    pub fn workspace(&self) -> &WorkspaceName {
        &self.workspace
    }

    /// What there is, with everything that an earlier run has done and could not store any more. None if nothing was ever stored.
    pub fn read(&mut self) -> Result<Option<Arc<State>>, Diagnostics> {
        self.recover(Damage::Refuse).map_err(|problem| problem.diagnostic().into())
    }

    /// The same, for who wants to know what exactly is wrong.
    pub(crate) fn recover(&mut self, damage: Damage) -> Result<Option<Arc<State>>, LedgerError> {
        let recovered = held(&self.ledger).recover(&self.name, damage)?;
        let state = match &recovered.folded {
            Some(folded) if folded.changed => Some(Arc::new(folded.state.clone())),
            _ => recovered.stored.clone(),
        };
        self.recovered = Some(recovered);
        Ok(state)
    }

    /// What an earlier run has left, as it was read last.
    pub(crate) fn folded(&self) -> Option<&Folded> {
        self.recovered.as_ref().and_then(|recovered| recovered.folded.as_ref())
    }

    /// What people should know about what was read.
    pub fn findings(&self) -> Diagnostics {
        let mut found = self.backend.encryption().warnings.clone();
        found.extend(self.folded().map(findings::of).unwrap_or_default());
        found
    }

    /// What saved plans are encrypted by. None if they are not.
    pub(crate) fn plan_encryption(&self) -> Option<&Target> {
        self.backend.encryption().plan.as_deref()
    }

    /// Reads a state that somebody hands us, encrypted or not. `place` is what people know it by.
    pub fn decode(&self, bytes: &[u8], place: &str) -> Result<State, Diagnostics> {
        decode_any(bytes, self.codec(), place)
    }

    /// From now on whatever is there counts as what was stored last.
    pub(crate) fn forget_witness(&self) {
        held(&self.ledger).forget_witness();
    }

    /// Keeps the bytes of a journal that is damaged, before it is replaced. Gives where; none if it is not damaged.
    pub(crate) fn keep_damaged_journal(&mut self) -> Result<Option<String>, Diagnostic> {
        let mut ledger = held(&self.ledger);
        let is_damaged = ledger
            .read_journal()
            .ok()
            .flatten()
            .is_some_and(|contents| matches!(contents.condition, Condition::Damaged(_)));
        if !is_damaged {
            return Ok(None);
        }
        let failed = |problem: std::io::Error| {
            let detail = format!("The damaged journal could not be kept, so it was not replaced either: {problem}.");
            Diagnostic::error("Failed to keep the journal", detail)
        };
        let folder = self.backend.history_folder(&self.workspace).join("damaged");
        let parts = ledger.journal_parts().map_err(failed)?;
        for (at, part) in parts.iter().enumerate() {
            let path = folder.join(format!("{}-{at}.groma-journal", self.machine.now().0));
            groma_state::replace_whole(&groma_state::RealDisk, &path, &part.bytes).map_err(failed)?;
        }
        Ok(Some(folder.display().to_string()))
    }

    /// Earlier states that are kept on this machine, oldest first.
    pub fn history(&self) -> Vec<Entry> {
        self.own_history().entries()
    }

    fn own_history(&self) -> History {
        let file = self.backend.local().map(|local| local.paths(&self.workspace).write);
        History::new(self.backend.history_folder(&self.workspace), file.as_deref())
    }

    /// What states become bytes by.
    pub fn codec(&self) -> &dyn StateCodec {
        self.backend.codec()
    }

    /// The snapshot that was last read or written.
    pub fn version(&self) -> Option<Version> {
        held(&self.ledger).keeper().version().cloned()
    }

    /// Begins a run that changes things: what an earlier one has left is stored, and from now on there is a journal. Must be read
    /// before.
    pub(crate) fn begin(&mut self) -> Result<Arc<Journal>, Diagnostics> {
        if let Some(journal) = held(&self.ledger).journal() {
            return Ok(Arc::clone(journal));
        }
        if self.recovered.is_none() {
            // An earlier run of this process has ended.
            self.read()?;
        }
        let Some(mut recovered) = self.recovered.take() else {
            return Err(LedgerError::NotBegun.diagnostic().into());
        };
        if let Some(folded) = &mut recovered.folded {
            COMPATIBLE_VERSION.clone_into(&mut folded.state.tool_version);
        }
        let mut random = || random(&self.machine);
        let mut id = [0; 8];
        id.copy_from_slice(&random()[..8]);
        let run = Run {
            id: RunId(id),
            lock: self.lock.clone().unwrap_or_else(|| random_id(&mut random)),
            tool: format!("groma {}", env!("CARGO_PKG_VERSION")),
        };
        let journal = held(&self.ledger).begin(run, recovered, &mut random).map_err(|problem| problem.diagnostic())?;
        // What was to be changed or deleted is in the state, and whoever looks at it next sees what has become of it.
        let known = journal.in_flight().into_iter().filter(|intent| intent.action != Action::Create);
        let known = known.map(|intent| intent.operation);
        for operation in known.chain(std::mem::take(&mut self.settled)) {
            // If this is not written down, it is found out once more.
            let _ = journal.settle(operation);
        }
        Ok(journal)
    }

    /// Objects that earlier runs have asked providers to create, without an answer.
    pub fn in_doubt(&self) -> Vec<Intent> {
        let begun = self.folded().into_iter().flat_map(|folded| &folded.in_flight);
        let open = begun.filter(|intent| intent.action == Action::Create && !self.settled.contains(&intent.operation));
        open.cloned().collect()
    }

    /// It is known what became of the creations of an object. Gives how many there were.
    pub(crate) fn settle_object(&mut self, object: &AbsObject) -> usize {
        let open: Vec<Intent> = self.in_doubt().into_iter().filter(|intent| intent.object == *object).collect();
        for intent in &open {
            self.settle(intent.operation);
        }
        open.len()
    }

    /// It is known what became of a change. That is written down with the next thing that is stored.
    pub fn settle(&mut self, operation: Operation) {
        self.settled.push(operation);
    }

    /// The state with its journal, for those who write while a run goes on.
    pub(crate) fn ledger(&self) -> SharedLedger {
        Arc::clone(&self.ledger)
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
        if !wish.regardless && changes(operation) {
            self.check_owner()?;
        }
        if !wish.wanted || self.lock.is_some() {
            return Ok(());
        }
        let info = LockInfo {
            id: self.lock_id(),
            operation: operation.to_owned(),
            info: self.manners.about.clone(),
            who: identity::user_and_host(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            created: identity::utc_text(self.machine.now()),
            path: self.name.clone(),
        };
        let ledger = &self.ledger;
        let locked = identity::patiently(patience, |waiting| {
            lock_within(held(ledger).keeper().store(), &info, wish.timeout, waiting)
        });
        locked.map_err(|problem| problem.acquiring())?;
        self.lock = Some(info.id);
        Ok(())
    }

    /// Whoever would change what somebody else looks after is told whom to ask.
    fn check_owner(&self) -> Result<(), Diagnostics> {
        self.managed_by().map_or(Ok(()), |owner| Err(ownership::refusal(&owner).into()))
    }

    /// Who looks after it, if that is somebody else: a file beside the configuration says so, or where it is stored.
    pub(crate) fn managed_by(&self) -> Option<ownership::Managed> {
        match &self.owner {
            Owner::Unheeded => None,
            Owner::Named(managed) => Some(managed.clone()),
            Owner::Unknown => {
                let name = held(&self.ledger).keeper().store().owner()?;
                Some(ownership::Managed { name, said_by: self.name.clone() })
            }
        }
    }

    /// A name for a lock that nobody had before: who was replaced must be told from who replaces it.
    fn lock_id(&self) -> String {
        let id = random_id(&mut || random(&self.machine));
        match &self.manners.holder {
            Some(holder) => format!("{holder}-{}", &id[..8]),
            None => id,
        }
    }

    /// Gives the lock back, if there is one.
    pub fn unlock(&mut self) -> Diagnostics {
        let Some(id) = self.lock.take() else { return Diagnostics::new() };
        let unlocked = held(&self.ledger).keeper().store().unlock(&id);
        unlocked.map_or_else(|problem| problem.releasing().into(), |()| Diagnostics::new())
    }

    /// Takes a lock away that nobody will give back.
    pub fn force_unlock(&mut self, id: &str) -> Result<(), Diagnostics> {
        let mut ledger = held(&self.ledger);
        ledger.keeper().store().force_unlock(id).map_err(|problem| problem.forcing().into())
    }

    /// Stores a state if it says something else than what is stored, with the right lineage and the next serial. Must be read
    /// before.
    pub fn save(&mut self, state: &mut State) -> Result<Saved, Diagnostics> {
        COMPATIBLE_VERSION.clone_into(&mut state.tool_version);
        if self.recovered.as_ref().is_some_and(|recovered| recovered.folded.is_some()) {
            // Otherwise what the journal says would be put in again, whatever was done to it since.
            self.begin()?;
        }
        let is_renewed = self.codec().was_outdated();
        let machine = &self.machine;
        let finished = held(&self.ledger).finish(state.clone(), &mut || random(machine));
        let stored = finished.map_err(|problem| problem.diagnostic())?;
        (state.lineage, state.serial) = (stored.state.lineage.clone(), stored.state.serial);
        if stored.saved == Saved::Written {
            self.own_history().keep(state, self.codec(), self.machine.now());
            if is_renewed {
                self.own_history().renew(self.codec());
            }
        }
        Ok(stored.saved)
    }

    /// Gives a state that cannot be stored the lineage and serial that it would have got.
    pub(crate) fn number_next(&self, state: &mut State) {
        COMPATIBLE_VERSION.clone_into(&mut state.tool_version);
        let (lineage, serial) = self.version().map_or((String::new(), 0), |now| (now.lineage, now.serial));
        let journal = held(&self.ledger).journal().map(|journal| journal.header().lineage.clone());
        let named = Some(lineage).filter(|lineage| !lineage.is_empty()).or(journal);
        let lineage = named.unwrap_or_else(|| random_id(&mut || random(&self.machine)));
        (state.lineage, state.serial) = (lineage, serial.saturating_add(1));
    }

    /// Stores a state as it is, lineage and serial included; unless forced, only in the place of one that it can follow.
    pub fn push(&mut self, state: &State, force: bool) -> Result<Saved, PushError> {
        let saved = held(&self.ledger).push(state, force)?;
        if saved == Saved::Written {
            self.own_history().keep(state, self.codec(), self.machine.now());
        }
        Ok(saved)
    }

    /// Moves a state file that cannot be read out of the way, so that another can take its place. Gives where. To be called before
    /// it is locked.
    pub fn set_damaged_aside(&mut self) -> Result<Option<String>, Diagnostics> {
        let unreadable = matches!(
            self.recover(Damage::TakeTheRest),
            Err(LedgerError::Store(StoreError::File(_) | StoreError::Encryption { .. }))
        );
        let Some(local) = self.backend.local().filter(|_| unreadable) else { return Ok(None) };
        let path = local.paths(&self.workspace).write;
        let mut aside = path.clone().into_os_string();
        aside.push(format!(".damaged-{}", self.machine.now().0));
        std::fs::rename(&path, &aside).map_err(|problem| {
            let detail = format!("{} could not be moved out of the way: {problem}.", path.display());
            Diagnostic::error("Failed to replace the state", detail)
        })?;
        Ok(Some(aside.to_string_lossy().into_owned()))
    }

    /// Puts an earlier state in the place of the current one, as its successor. Gives its serial.
    pub fn restore(&mut self, earlier: &State) -> Result<u64, Diagnostics> {
        let now = match self.recover(Damage::TakeTheRest) {
            Err(LedgerError::Witness(_)) => {
                // It is not the one that it should be: that is why another one is put in its place.
                self.forget_witness();
                self.read()?
            }
            now => now.map_err(|problem| problem.diagnostic())?,
        };
        let mut state = earlier.clone();
        state.serial = now.map_or(0, |now| now.serial).max(state.serial).saturating_add(1);
        self.push(&state, true).map_err(|problem| match problem {
            PushError::Store(problem) => problem.diagnostic(),
            problem => Diagnostic::error("Failed to restore the state", problem.to_string()),
        })?;
        Ok(state.serial)
    }

    /// What there is to say about where it is stored.
    pub(crate) fn notices(&self) -> Diagnostics {
        held(&self.ledger).keeper().store().notices().into_iter().collect()
    }

    /// The names of all workspaces.
    pub fn workspaces(&self) -> Result<Vec<WorkspaceName>, Diagnostics> {
        self.backend.list()
    }

    /// Whether `TF_WORKSPACE` chooses, so that selecting another workspace would change nothing.
    pub fn is_overridden(&self) -> bool {
        self.backend.selection.is_overridden()
    }

    /// Makes a workspace, with nothing in it yet.
    pub fn create_workspace(&self, name: &WorkspaceName) -> Result<(), Diagnostics> {
        self.backend.prepare_workspace(name)?;
        if self.backend.local().is_none() {
            let lineage = random_id(&mut || random(&self.machine));
            let tool_version = COMPATIBLE_VERSION.to_owned();
            let state = State { lineage, tool_version, ..State::default() };
            self.another(name)?.push(&state, false).map_err(|problem| match problem {
                PushError::Store(problem) => problem.diagnostic(),
                problem => Diagnostic::error("Failed to create workspace", problem.to_string()),
            })?;
        }
        Ok(())
    }

    /// Chooses a workspace for the commands to come.
    pub fn select_workspace(&self, name: &WorkspaceName) -> Result<(), Diagnostics> {
        self.backend.selection.select(name).map_err(told)
    }

    /// Deletes a workspace with its state, whatever is in it.
    pub fn delete_workspace(&self, name: &WorkspaceName) -> Result<(), Diagnostics> {
        self.backend.delete(name)
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

impl Session {
    /// Reads a state that somebody hands us, encrypted as the configuration says or not at all.
    pub fn decode_state(&mut self, bytes: &[u8], place: &str) -> Result<State, Diagnostics> {
        if !is_encrypted(bytes) {
            return decode_any(bytes, &PlainCodec, place);
        }
        let codec = self.own_encryption(None)?.codec();
        decode_any(bytes, &*codec, place)
    }
}

fn is_encrypted(bytes: &[u8]) -> bool {
    !matches!(Envelope::decode(bytes), Ok(None))
}

/// What is handed to us need not be encrypted.
fn decode_any(bytes: &[u8], codec: &dyn StateCodec, place: &str) -> Result<State, Diagnostics> {
    let codec = if is_encrypted(bytes) { codec } else { &PlainCodec };
    codec.decode(bytes, place).map_err(|problem| problem.diagnostic().into())
}

/// For something that a command needs a state for.
pub fn no_state() -> Diagnostic {
    Diagnostic::error("No state", "This command requires that a state exists, but none was found.")
}
