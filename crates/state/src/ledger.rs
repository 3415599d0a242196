//! A state over the time of a run, with its journal and its witness: what is left of an earlier run is folded in, what this one
//! does is safe before it goes on, and the state follows. Where any of them is kept is not decided here.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use groma_model::diag::Diagnostic;

use crate::crash;
use crate::journal::{
    Contents, Damage, FoldError, Folded, Header, Journal, JournalError, JournalHome, JournalKeys, JournalPart, Mark,
    ReadError, RunId, fold, read_journals,
};
use crate::keeper::Random;
use crate::witness::{Testimony, Witness, WitnessError, WitnessFile};
use crate::{Digest, Keeper, PushError, Saved, State, StateStore, StoreError};

/// A state with its journal and its witness.
pub struct Ledger<S> {
    keeper: Keeper<S>,
    /// None if what is written is not what is read.
    witness: Option<WitnessFile>,
    /// Until a journal is begun.
    home: Option<Box<dyn JournalHome>>,
    /// If journals are, or were, encrypted.
    keys: Option<Arc<dyn JournalKeys>>,
    journal: Option<Arc<Journal>>,
}

/// What was found, and what it amounts to.
#[derive(Debug)]
pub struct Recovered {
    /// What is stored.
    pub stored: Option<Arc<State>>,
    /// The same with what an earlier run left in its journal. None if it left nothing.
    pub folded: Option<Folded>,
    /// Whether the witness could be read.
    pub witness: Testimony,
}

impl Recovered {
    /// The state to go on from.
    pub fn state(&self) -> Option<&State> {
        self.folded.as_ref().map(|folded| &folded.state).or(self.stored.as_deref())
    }
}

/// A run that begins.
#[derive(Debug, Clone)]
pub struct Run {
    /// Random.
    pub id: RunId,
    /// The name of its lock. The first state of a line is named by it, because whoever locks a state that is not there yet
    /// makes one that is called so.
    pub lock: String,
    /// What it is done with.
    pub tool: String,
}

/// What goes wrong with a state, its journal and its witness.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// The state cannot be read or stored.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The journal cannot be read or begun.
    #[error("the journal of the state could not be used: {0}")]
    JournalHome(io::Error),
    /// The journal cannot be understood.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The journal does not fit the state.
    #[error(transparent)]
    Fold(#[from] FoldError),
    /// The journal could not be ended.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The witness cannot be read.
    #[error("the witness of the state could not be used: {0}")]
    WitnessHome(io::Error),
    /// The state is not the one that it should be.
    #[error("{}", .0.detail)]
    Witness(Box<Diagnostic>),
    /// Something is recorded that needs a journal, and none was begun.
    #[error("no run has begun")]
    NotBegun,
}

impl LedgerError {
    /// For people.
    pub fn diagnostic(&self) -> Diagnostic {
        let (summary, hint) = match self {
            LedgerError::Store(error) => return error.diagnostic(),
            LedgerError::Witness(diagnostic) => return (**diagnostic).clone(),
            LedgerError::Fold(FoldError::Damaged { .. } | FoldError::Missing(_)) => (
                "Journal of the state is damaged",
                "It may know of objects that the state does not have. Keep it; \"groma doctor\" shows what can be read of it.",
            ),
            LedgerError::Fold(_) => (
                "Journal does not belong to the state",
                "Put the state back that the journal goes on from, or move the journal away if what it says is of no use.",
            ),
            LedgerError::Read(_) => (
                "Journal of the state cannot be read",
                "It may know of objects that the state does not have. Keep it until it can be read.",
            ),
            _ => ("Failed to use the journal of the state", ""),
        };
        let mut diagnostic = Diagnostic::error(summary, format!("{self}."));
        diagnostic.hints.extend(Some(hint).filter(|hint| !hint.is_empty()).map(str::to_owned));
        diagnostic
    }
}

/// What came of storing a state.
#[derive(Debug)]
pub struct Stored {
    /// The state, as it is stored.
    pub state: Arc<State>,
    /// Whether anything was written.
    pub saved: Saved,
    /// Why the witness could not be written. It is older then, which does no harm but notices less.
    pub witness_trouble: Option<io::Error>,
}

impl<S: StateStore> Ledger<S> {
    /// Over a store, with a home for its journal and a place for its witness. Nothing is read yet.
    pub fn new(keeper: Keeper<S>, home: Box<dyn JournalHome>, witness: Option<WitnessFile>) -> Self {
        Self { keeper, witness, home: Some(home), keys: None, journal: None }
    }

    /// The same, with journals that are encrypted as the keys say.
    pub fn with_keys(mut self, keys: Arc<dyn JournalKeys>) -> Self {
        self.keys = Some(keys);
        self
    }

    /// The keeper, for locks.
    pub fn keeper(&mut self) -> &mut Keeper<S> {
        &mut self.keeper
    }

    /// The journal of this run.
    pub fn journal(&self) -> Option<&Arc<Journal>> {
        self.journal.as_ref()
    }

    /// Reads everything, and folds the journal that an earlier run left into the state. Writes nothing. `name` is what people
    /// know the state by.
    pub fn recover(&mut self, name: &str, damage: Damage) -> Result<Recovered, LedgerError> {
        // The state last: whoever looks without a lock, while a run goes on, must not find it older than the others say.
        let witness = match &self.witness {
            Some(file) => file.read().map_err(LedgerError::WitnessHome)?,
            None => Testimony::None,
        };
        let journal = self.read_journal()?;
        let stored = self.keeper.read()?;
        let refused = |error: WitnessError| {
            let path = self.witness.as_ref().map(|file| file.path().display().to_string()).unwrap_or_default();
            LedgerError::Witness(Box::new(error.diagnostic(name, &path)))
        };
        witness.check(stored.as_deref()).map_err(refused)?;
        let folded = journal.map(|contents| fold(stored.as_deref(), &contents, damage)).transpose()?;
        Ok(Recovered { stored, folded, witness })
    }

    /// The bytes of what an earlier run left.
    pub fn journal_parts(&mut self) -> io::Result<Vec<JournalPart>> {
        self.home.as_mut().map_or_else(|| Ok(Vec::new()), |home| home.read())
    }

    /// What an earlier run left.
    pub fn read_journal(&mut self) -> Result<Option<Contents>, LedgerError> {
        let home = self.home.as_mut().ok_or(LedgerError::NotBegun)?;
        let parts = home.read().map_err(LedgerError::JournalHome)?;
        Ok(read_journals(&parts, self.keys.as_deref())?)
    }

    /// Begins a run: what was folded is stored, and what is left to settle goes into a new journal. Only for who holds the lock.
    pub fn begin(&mut self, run: Run, recovered: Recovered, random: Random<'_>) -> Result<Arc<Journal>, LedgerError> {
        self.keeper.set_first_lineage(&run.lock);
        let Recovered { stored, folded, .. } = recovered;
        let mut kept = Vec::new();
        let mut base = stored;
        let mut lineage = base.as_ref().map(|state| state.lineage.clone()).unwrap_or_default();
        if let Some(folded) = folded {
            kept = folded.kept();
            if lineage.is_empty() {
                // The line was named when that journal was begun.
                lineage.clone_from(&folded.state.lineage);
                self.keeper.set_first_lineage(&lineage);
            }
            if folded.changed {
                base = Some(self.save(folded.state, Mark::default(), random)?.state);
            }
        }
        let is_bare = base.as_ref().is_some_and(|state| state.serial == 0 && state.is_empty());
        let stamp = if is_bare { None } else { self.keeper.stamp()? };
        let header = Header {
            run: run.id,
            lineage: if lineage.is_empty() { run.lock.clone() } else { lineage },
            base: stamp,
            lock: run.lock,
            tool: run.tool,
            after: 0,
            continues: false,
            sealed: None,
        };
        let home = self.home.take().ok_or(LedgerError::NotBegun)?;
        let journal =
            Journal::begin(home, header, base, kept, self.keys.as_deref()).map_err(LedgerError::JournalHome)?;
        let journal = Arc::new(journal);
        self.journal = Some(Arc::clone(&journal));
        Ok(journal)
    }

    /// Stores a state that includes everything before a mark of the journal. When it fails, nothing is lost: the journal has it.
    pub fn save(&mut self, mut state: State, mark: Mark, random: Random<'_>) -> Result<Stored, StoreError> {
        let journal = self.journal.clone();
        let saved = self.keeper.save_announced(&mut state, random, &mut |stamp| {
            if let Some(journal) = &journal {
                // A state that is stored unannounced is compared object by object. Not storing it would be worse.
                let _ = journal.announce(stamp, mark);
            }
        })?;
        crash::point("snapshot.stored");
        let state = Arc::new(state);
        let mut witness_trouble = None;
        if let Some(stamp) = self.keeper.stamp()? {
            if saved == Saved::Written {
                witness_trouble = self.testify(&state, stamp.digest).err();
            }
            if let Some(journal) = journal {
                journal.stored(stamp, mark, Arc::clone(&state));
            }
        }
        Ok(Stored { state, saved, witness_trouble })
    }

    fn testify(&self, state: &State, digest: Digest) -> io::Result<()> {
        self.witness.as_ref().map_or(Ok(()), |file| file.write(&Witness::of(state, digest)))
    }

    /// Puts a state in the place of the stored one as it is; see [`Keeper::push`]. A journal that an earlier run left stays: what it
    /// says is compared with this state the next time.
    pub fn push(&mut self, state: &State, force: bool) -> Result<Saved, PushError> {
        let saved = self.keeper.push(state, force)?;
        if let Some(stamp) = self.keeper.stamp()? {
            // It is older then, which does no harm but notices less; but an older one that is wrong would refuse this state.
            if self.testify(state, stamp.digest).is_err() {
                self.forget_witness();
            }
        }
        Ok(saved)
    }

    /// From now on whatever is there counts as what was stored last.
    pub fn forget_witness(&self) {
        if let Some(file) = &self.witness {
            let _ = file.remove();
        }
    }

    /// Ends the run: stores the state, which includes everything, and then lets go of the journal, unless something is left to
    /// settle.
    pub fn finish(&mut self, state: State, random: Random<'_>) -> Result<Stored, LedgerError> {
        let mark = self.journal.as_ref().map(|journal| journal.mark()).unwrap_or_default();
        let stored = self.save(state, mark, random)?;
        if let (Some(journal), Some(stamp)) = (self.journal.take(), self.keeper.stamp()?) {
            let closed = journal.close(stamp);
            self.home = Some(journal.take_home());
            closed?;
        }
        Ok(stored)
    }
}

/// When to store a state that changes all the time: soon after a change, but neither more often than once in a while nor so
/// often that storing takes a large part of the time. So what storing costs in all grows with the time that a run takes, and
/// not with that times the size of the state.
#[derive(Debug, Clone)]
pub struct Pacer {
    /// When the last one was stored, and how long that took.
    last: (Duration, Duration),
    /// Since when there is something to store.
    changed: bool,
}

/// How long to wait at least between two times.
const LEAST_PAUSE: Duration = Duration::from_secs(1);
/// Storing may take this part of the time at most.
const LARGEST_PART: u32 = 20;

impl Pacer {
    /// From a moment on, by any clock.
    pub fn new(now: Duration) -> Self {
        Self { last: (now, Duration::ZERO), changed: false }
    }

    /// There is something to store.
    pub fn changed(&mut self) {
        self.changed = true;
    }

    /// When to store, if anything has changed. Whoever waits must look at the clock even if nothing else changes.
    pub fn due(&self) -> Option<Duration> {
        let (stored, took) = self.last;
        self.changed.then(|| stored + LEAST_PAUSE.max(took * LARGEST_PART))
    }

    /// It was stored.
    pub fn stored(&mut self, began: Duration, ended: Duration) {
        self.last = (ended, ended.saturating_sub(began));
        self.changed = false;
    }
}

#[cfg(test)]
mod tests;
