//! Where the states of a configuration are: what its `backend` block says, what `init` recorded of it, and what the command line
//! puts in its place.

mod elsewhere;
mod encryption;
mod init;
mod network;
mod others;
mod record;
mod settings;
#[cfg(test)]
mod tests;
mod written;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use groma_lang::config::Module;
use groma_lang::walk::InputValue;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::text::Str;
use groma_state::journal::{FileHome, JournalHome};
use groma_state::{
    Keeper, Ledger, LocalStore, LocalWorkspaces, PlainCodec, RealDisk, Selection, State, StateCodec, StatePaths,
    StateStore, WitnessFile, WorkspaceName,
};

use crate::session::Session;
use crate::state_access::{SharedLedger, StateAccess};
pub(crate) use elsewhere::Elsewhere;
pub(crate) use encryption::{Encryption, RemoteEncryption, Target};
pub use init::{BackendReady, BackendWishes, Confirm};
pub(crate) use network::Network;
use others::unsupported;
use record::Record;
pub(crate) use settings::Settings;
pub use written::{WrittenBackend, written_backend};

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
#[derive(Clone)]
pub(crate) struct Backend {
    states: States,
    pub(crate) selection: Selection,
    /// What is known of it elsewhere, such as in plans.
    pub(crate) settings: Settings,
    /// Where journals are kept that cannot be with their states, in this order.
    spare_folders: Vec<PathBuf>,
    /// Where witnesses are kept that cannot be with their states.
    witness_folder: PathBuf,
    /// Where earlier states are kept.
    histories: PathBuf,
    encryption: Encryption,
    codec: Arc<dyn StateCodec>,
}

/// The states of all workspaces.
#[derive(Clone)]
pub(crate) enum States {
    /// In files.
    Local(LocalWorkspaces),
    /// On a server.
    Remote {
        /// How to reach it.
        remote: Arc<dyn groma_backends::Backend>,
        /// Where that is done; it must not end before.
        _runtime: Option<Arc<tokio::runtime::Runtime>>,
    },
}

/// A state of a backend that is opened.
pub(crate) struct OpenState {
    pub(crate) ledger: SharedLedger,
    /// What people know it by.
    pub(crate) name: String,
    /// Where its journal is, if that is on this machine only.
    pub(crate) spool: Option<PathBuf>,
}

impl Backend {
    /// The workspaces of files. None if the states are elsewhere.
    pub(crate) fn local(&self) -> Option<&LocalWorkspaces> {
        match &self.states {
            States::Local(workspaces) => Some(workspaces),
            States::Remote { .. } => None,
        }
    }

    /// The names of all workspaces.
    pub(crate) fn list(&self) -> Result<Vec<WorkspaceName>, Diagnostics> {
        match &self.states {
            States::Local(workspaces) => workspaces.list().map_err(|problem| problem.diagnostic().into()),
            States::Remote { remote, .. } => remote.workspaces().map_err(|problem| problem.diagnostic().into()),
        }
    }

    /// Makes a folder for a workspace, where workspaces have folders. Elsewhere they are there when they have a state.
    pub(crate) fn prepare_workspace(&self, name: &WorkspaceName) -> Result<(), Diagnostics> {
        match &self.states {
            States::Local(workspaces) => workspaces.create(name).map_err(|problem| problem.diagnostic().into()),
            States::Remote { .. } => Ok(()),
        }
    }

    /// Deletes a workspace with its state, whatever is in it.
    pub(crate) fn delete(&self, name: &WorkspaceName) -> Result<(), Diagnostics> {
        match &self.states {
            States::Local(workspaces) => workspaces.delete(name).map_err(|problem| problem.diagnostic().into()),
            States::Remote { remote, .. } => {
                remote.delete(name).map_err(|problem| problem.diagnostic())?;
                // One that is made anew has nothing to do with it.
                let _ = self.remote_witness(name).remove();
                Ok(())
            }
        }
    }

    /// The state of a workspace. Nothing is read yet.
    pub(crate) fn open(&self, workspace: &WorkspaceName) -> Result<OpenState, Diagnostics> {
        let (remote, name) = match &self.states {
            States::Local(workspaces) => {
                let paths = workspaces.paths(workspace);
                let shown = paths.read.strip_prefix(&workspaces.dir).unwrap_or(&paths.read).display().to_string();
                return Ok(OpenState { ledger: self.open_files(&paths), name: shown, spool: None });
            }
            States::Remote { remote, .. } => (remote, self.name_of(workspace)),
        };
        let place = remote.open(workspace, Arc::clone(&self.codec)).map_err(|problem| problem.diagnostic())?;
        let (home, spool): (Box<dyn JournalHome>, Option<PathBuf>) = if let Some(home) = place.journal {
            (home, None)
        } else {
            let name = FileHome::name_for(&name);
            let mut places = self.spare_folders.iter().rev().map(|folder| folder.join(&name));
            let first = places.next().unwrap_or_else(|| self.witness_folder.join(&name));
            (Box::new(FileHome::spooled(Arc::new(RealDisk), first.clone(), places.collect())), Some(first))
        };
        let ledger = Ledger::new(self.keeper(place.store), home, Some(self.remote_witness(workspace)));
        Ok(OpenState { ledger: self.sealed(ledger), name: place.name, spool })
    }

    /// A state in files.
    pub(crate) fn open_files(&self, paths: &StatePaths) -> SharedLedger {
        let disk = || Arc::new(RealDisk);
        let beside =
            |of: fn(&Path) -> std::io::Result<PathBuf>| of(&paths.write).unwrap_or_else(|_| paths.write.clone());
        let name = FileHome::name_for(&paths.write.display().to_string());
        let spares = self.spare_folders.iter().map(|folder| folder.join(&name)).collect();
        let home = FileHome::new(disk(), beside(FileHome::beside), spares);
        // A state that is written elsewhere than it is read from has no past there.
        let witness = (paths.read == paths.write).then(|| WitnessFile::new(disk(), beside(WitnessFile::beside)));
        let store = LocalStore::new(paths.clone()).with_codec(Arc::clone(&self.codec));
        self.sealed(Ledger::new(self.keeper(Box::new(store)), Box::new(home), witness))
    }

    fn keeper(&self, store: Box<dyn StateStore>) -> Keeper<Box<dyn StateStore>> {
        Keeper::new(store).with_codec(Arc::clone(&self.codec))
    }

    /// With a journal that is as encrypted as the state.
    fn sealed(&self, ledger: Ledger<Box<dyn StateStore>>) -> SharedLedger {
        let ledger = match self.encryption.journal_keys() {
            Some(keys) => ledger.with_keys(keys),
            None => ledger,
        };
        Arc::new(Mutex::new(ledger))
    }

    /// The same, with states that are encrypted like this.
    pub(crate) fn encrypted(self, encryption: Encryption) -> Self {
        Self { codec: encryption.codec(), encryption, ..self }
    }

    /// How everything of it is encrypted.
    pub(crate) fn encryption(&self) -> &Encryption {
        &self.encryption
    }

    /// Where earlier states of a workspace are kept.
    pub(crate) fn history_folder(&self, workspace: &WorkspaceName) -> PathBuf {
        let name = match self.local() {
            Some(local) => local.paths(workspace).write.display().to_string(),
            None => self.name_of(workspace),
        };
        self.histories.join(FileHome::name_for(&name).replace(".groma-journal", ""))
    }

    /// What states become bytes by.
    pub(crate) fn codec(&self) -> &dyn StateCodec {
        &*self.codec
    }

    /// The same for everybody who knows the state by the same settings.
    fn name_of(&self, workspace: &WorkspaceName) -> String {
        format!("{} {} {workspace}", self.settings.kind(), self.settings.to_json())
    }

    fn remote_witness(&self, workspace: &WorkspaceName) -> WitnessFile {
        let name = FileHome::name_for(&self.name_of(workspace)).replace(".groma-journal", ".groma-witness");
        WitnessFile::new(Arc::new(RealDisk), self.witness_folder.join(name))
    }
}

impl Session {
    /// The backend of a root module, which must be as `init` found it.
    pub(crate) fn backend(
        &mut self,
        root: &Module,
        inputs: &BTreeMap<Str, InputValue>,
        paths: &PathOverrides,
    ) -> Result<Backend, Diagnostics> {
        if let Some(problem) = unsupported(root) {
            return Err(problem.into());
        }
        let record = Record::load(&self.data_dir())?;
        let settings = match (&root.backend, record) {
            (None, None) => Settings::default(),
            (None, Some(record)) => {
                let reason = format!("Unsetting the previously set backend {:?}", record.kind);
                return Err(needs_init(", please", &reason).into());
            }
            (Some(backend), None) => {
                let reason = format!("Initial configuration of the requested backend {:?}", backend.kind.as_str());
                return Err(needs_init(", please", &reason).into());
            }
            (Some(backend), Some(record)) if record.kind != backend.kind.as_str() => {
                let reason = format!("Backend type changed from {:?} to {:?}", record.kind, backend.kind.as_str());
                return Err(needs_init(": please", &reason).into());
            }
            (Some(backend), Some(record)) => {
                let written = self.backend_settings(root, backend, inputs)?;
                let recorded = record.settings();
                // What `-backend-config` added is only in the record.
                if record.hash != written.hash() && recorded.as_ref() != Some(&written) {
                    return Err(needs_init(": please", "Backend configuration block has changed").into());
                }
                recorded.unwrap_or(written)
            }
        };
        let encryption = self.encryption(root, inputs)?;
        Ok(self.backend_of(settings, paths)?.encrypted(encryption))
    }

    /// The backend as `init` recorded it, whatever the configuration says by now. None if it is of a kind that there is none of.
    pub(crate) fn recorded_backend(&self, paths: &PathOverrides) -> Result<Option<Backend>, Diagnostics> {
        let settings = match Record::load(&self.data_dir())? {
            None => Some(Settings::default()),
            Some(record) => record.settings(),
        };
        settings.map(|settings| self.backend_of(settings, paths)).transpose()
    }

    /// The state of the chosen workspace, where `init` found it. None if there is none.
    pub fn stored_state(&mut self) -> Result<Option<Arc<State>>, Diagnostics> {
        let Some(backend) = self.recorded_backend(&PathOverrides::default())? else { return Ok(None) };
        let backend = backend.encrypted(self.own_encryption(None)?);
        let named = |found: Diagnostics| -> Diagnostics {
            found.into_iter().map(|found| Diagnostic { summary: "Error loading state".to_owned(), ..found }).collect()
        };
        StateAccess::of_backend(self, backend)?.read().map_err(named)
    }

    /// The backend with these settings.
    pub(crate) fn backend_of(&self, settings: Settings, paths: &PathOverrides) -> Result<Backend, Diagnostics> {
        if settings.kind() == LOCAL {
            self.check_local(&settings)?;
            return Ok(self.local_backend(settings, paths));
        }
        let network = self.network();
        let kind = groma_backends::kind(settings.kind()).ok_or_else(|| others::unknown(settings.kind()))?;
        let remote = kind.configure(settings.values(), &network.surroundings()?)?;
        let runtime = if network.cluster.is_some() { None } else { Some(network.runtime()?) };
        Ok(self.backend_with(States::Remote { remote, _runtime: runtime }, settings))
    }

    /// States in files are where this configuration may have files.
    fn check_local(&self, settings: &Settings) -> Result<(), Diagnostics> {
        let bounds = &self.start().bounds;
        let Some(files) = bounds.files.as_ref().filter(|_| !bounds.our_backend) else { return Ok(()) };
        for path in ["path", "workspace_dir"].iter().filter_map(|name| settings.path(name)) {
            files.undivided().write(&self.start().working_dir.join(path)).map_err(|problem| {
                Diagnostic::error("Invalid backend configuration", format!("The state cannot be kept there: {problem}"))
            })?;
        }
        Ok(())
    }

    /// The backend that keeps states in files.
    pub(crate) fn local_backend(&self, settings: Settings, paths: &PathOverrides) -> Backend {
        let workspaces = LocalWorkspaces {
            dir: self.start().working_dir.clone(),
            path: settings.path("path"),
            workspace_dir: settings.path("workspace_dir"),
            state: paths.state.clone(),
            state_out: paths.state_out.clone(),
            backup: paths.backup.clone(),
        };
        self.backend_with(States::Local(workspaces), settings)
    }

    fn backend_with(&self, states: States, settings: Settings) -> Backend {
        Backend {
            states,
            selection: Selection { data_dir: self.data_dir(), environment: self.start().workspace.clone() },
            settings,
            spare_folders: self.spare_folders(),
            witness_folder: self.data_dir().join("groma").join("witnesses"),
            histories: self.data_dir().join("groma").join("history"),
            encryption: Encryption::default(),
            codec: Arc::new(PlainCodec),
        }
    }

    /// Folders that nobody else writes to: what lies there is believed.
    pub(crate) fn spare_folders(&self) -> Vec<PathBuf> {
        let home = self.start().home_dir.as_ref().map(|home| home.join(".groma"));
        [Some(self.data_dir().join("groma")), home]
            .into_iter()
            .flatten()
            .map(|folder| folder.join("journals"))
            .collect()
    }

    pub(crate) fn data_dir(&self) -> PathBuf {
        self.start().working_dir.join(&self.start().data_dir)
    }
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
