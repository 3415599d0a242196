//! The log of an apply: intents and outcomes go into the journal of the state, and the state itself is stored when that is due. Both
//! happen on threads of their own, since they wait for disks and servers, and an apply must not.

use std::collections::BTreeMap;
use std::sync::mpsc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use groma_engine::apply::{Intended, Logbook};
use groma_engine::interrupt::{Interrupt, Urgency};
use groma_model::address::AbsObject;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_state::journal::{Action, After, Change, Journal, Mark, Operation, Ticket};
use groma_state::{Pacer, State, StoreError, crash};
use tokio::sync::Notify;

use super::hosts::Hosts;
use super::safety::{Safety, told};
use super::saving::now;
use super::timings::{Part, Timings};
use crate::outside::Machine;
use crate::state_access::findings::clearing_up;
use crate::state_access::{SharedLedger, identity, store};

/// What is known about storing the state.
struct Storing {
    pacer: Pacer,
    is_busy: bool,
    /// Why nothing new may begin: somebody else has stored something.
    overtaken: Option<Diagnostic>,
}

/// The log of one apply.
pub(super) struct RunLog {
    journal: Arc<Journal>,
    hosts: Hosts,
    machine: Machine,
    interrupt: Interrupt,
    began: Instant,
    storing: Arc<Mutex<Storing>>,
    /// Told when a state was stored, or there is one to store.
    news: Arc<Notify>,
    safety: Arc<Safety>,
    flush: mpsc::Sender<()>,
    snapshots: mpsc::Sender<(State, Mark)>,
    /// Changes of earlier runs that may have made objects which nobody knows.
    doubtful: BTreeMap<AbsObject, Operation>,
    timings: Timings,
}

/// What a log needs to know of the run beside what it writes to.
pub(super) struct Circumstances {
    pub(super) hosts: Hosts,
    pub(super) machine: Machine,
    pub(super) interrupt: Interrupt,
    pub(super) timings: Timings,
}

/// The threads of a log. They end when the log is dropped.
pub(super) struct Clerks(Vec<JoinHandle<()>>);

impl Clerks {
    /// Waits until everything that was handed over is written.
    pub(super) fn finish(self) {
        for clerk in self.0 {
            // One that panicked has stored nothing, which is seen when the state is stored at the end.
            let _ = clerk.join();
        }
    }
}

impl RunLog {
    /// Over a journal that has begun, and the ledger that it belongs to.
    pub(super) fn start(
        journal: Arc<Journal>,
        ledger: SharedLedger,
        circumstances: Circumstances,
    ) -> (Arc<Self>, Clerks) {
        let Circumstances { hosts, machine, interrupt, timings } = circumstances;
        let began = now();
        let storing = Storing { pacer: Pacer::new(Duration::ZERO), is_busy: false, overtaken: None };
        let storing = Arc::new(Mutex::new(storing));
        let news = Arc::new(Notify::new());
        let (flush, flushes) = mpsc::channel();
        let (snapshots, to_store) = mpsc::channel();
        let safety = Arc::new(Safety::default());
        let (writer, waiting) = (Arc::clone(&journal), Arc::clone(&safety));
        let flusher = std::thread::spawn(move || waiting.keep_flushing(&writer, &flushes));
        let clerk = Clerk {
            ledger,
            hosts: hosts.clone(),
            machine: machine.clone(),
            began,
            storing: Arc::clone(&storing),
            news: Arc::clone(&news),
            timings: timings.clone(),
        };
        let storer = std::thread::spawn(move || clerk.keep_storing(&to_store));
        let in_doubt = journal.in_flight().into_iter().filter(|intent| intent.action == Action::Create);
        let doubtful = in_doubt.map(|intent| (intent.object, intent.operation)).collect();
        let log = Self {
            journal,
            hosts,
            machine,
            interrupt,
            began,
            storing,
            news,
            safety,
            flush,
            snapshots,
            doubtful,
            timings,
        };
        (Arc::new(log), Clerks(vec![flusher, storer]))
    }

    fn storing(&self) -> MutexGuard<'_, Storing> {
        self.storing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why nothing new may begin.
    fn refusal(&self, change: &Intended) -> Option<Diagnostic> {
        if let Some(overtaken) = &self.storing().overtaken {
            return Some(overtaken.clone());
        }
        let is_doubtful = change.action == Action::Create && self.doubtful.contains_key(&change.object);
        (is_doubtful && !change.repeatable).then(|| possibly_created(&change.object))
    }
}

#[async_trait]
impl Logbook for RunLog {
    async fn intend(&self, change: Intended) -> Result<Option<Operation>, Diagnostics> {
        if let Some(refusal) = self.refusal(&change) {
            return Err(refusal.into());
        }
        let since = self.timings.begin();
        let Intended { object, action, mut provider, planned, identity, import_id, .. } = change;
        self.hosts.name_provider(&mut provider.config.provider);
        let begun = identity::utc_text(groma_lang::environment::Environment::now(&self.machine));
        let change = Change { object, action, provider, planned, identity, import_id, begun };
        let (operation, ticket) = self.journal.announce_change(change).map_err(|error| told(&error))?;
        self.safety.wait_for(ticket, &self.flush).await?;
        self.timings.intended(since, operation);
        crash::point("intent.safe");
        Ok(Some(operation))
    }

    fn conclude(
        &self,
        operation: Option<Operation>,
        object: AbsObject,
        mut after: After,
    ) -> Result<Option<Ticket>, Diagnostics> {
        self.timings.answered(operation);
        let since = self.timings.begin();
        if let After::Present { provider, .. } = &mut after {
            self.hosts.name_provider(&mut provider.config.provider);
        }
        if let (Some(doubt), After::Present { .. }) = (self.doubtful.get(&object), &after) {
            // It was made once more, which comes to the same.
            let _ = self.journal.settle(*doubt).map_err(|error| told(&error))?;
        }
        crash::point("outcome.taken");
        let concluded = self.journal.conclude(operation, object, after).map(Some).map_err(|error| told(&error));
        self.timings.done(since, Part::Handing);
        concluded
    }

    fn moved(&self, from: &AbsObject, to: &AbsObject) -> Result<(), Diagnostics> {
        self.journal.move_object(from, to).map(|_| ()).map_err(|error| told(&error))
    }

    async fn safe(&self, ticket: Ticket) -> Result<(), Diagnostics> {
        let since = self.timings.begin();
        self.safety.wait_for(ticket, &self.flush).await?;
        self.timings.concluded(since);
        crash::point("outcome.safe");
        Ok(())
    }

    fn changed(&self, state: &State) {
        let mut storing = self.storing();
        storing.pacer.changed();
        let is_due = storing.pacer.due().is_some_and(|due| due <= self.began.elapsed());
        if storing.is_busy || !(is_due || self.interrupt.urgency() != Urgency::None) {
            self.news.notify_one();
            return;
        }
        storing.is_busy = true;
        drop(storing);
        // First the mark: what is behind it and in the state does no harm.
        let since = self.timings.begin();
        let mark = self.journal.mark();
        let _ = self.snapshots.send((state.clone(), mark));
        self.timings.done(since, Part::Handing);
    }

    async fn due(&self) {
        loop {
            let due = {
                let storing = self.storing();
                storing.pacer.due().filter(|_| !storing.is_busy)
            };
            match due {
                None => self.news.notified().await,
                Some(due) => {
                    let remaining = due.saturating_sub(self.began.elapsed());
                    if remaining.is_zero() {
                        return;
                    }
                    tokio::time::sleep(remaining).await;
                }
            }
        }
    }
}

/// Stores states, one after the other.
struct Clerk {
    ledger: SharedLedger,
    hosts: Hosts,
    machine: Machine,
    began: Instant,
    storing: Arc<Mutex<Storing>>,
    news: Arc<Notify>,
    timings: Timings,
}

impl Clerk {
    fn keep_storing(&self, snapshots: &mpsc::Receiver<(State, Mark)>) {
        while let Ok((mut state, mark)) = snapshots.recv() {
            let (from, since) = (self.began.elapsed(), self.timings.begin());
            self.hosts.name(&mut state);
            let stored = store(&self.ledger, state, mark, &self.machine);
            self.timings.done(since, Part::Storing);
            let mut storing = self.storing.lock().unwrap_or_else(PoisonError::into_inner);
            storing.pacer.stored(from, self.began.elapsed());
            storing.is_busy = false;
            match stored {
                Err(
                    error @ (StoreError::Conflict { .. } | StoreError::LockLost { .. } | StoreError::TakenOver { .. }),
                ) => storing.overtaken = Some(error.diagnostic()),
                // The journal has everything, and the next time it may work; if it does not, that is said at the end.
                Err(_) => storing.pacer.changed(),
                Ok(()) => {}
            }
            drop(storing);
            self.news.notify_one();
        }
    }
}

/// Something that an earlier run may have made is not made again.
fn possibly_created(object: &AbsObject) -> Diagnostic {
    let detail = format!(
        "An earlier run has asked the provider to create {object} and was stopped before there was an answer, so it may exist \
         already. It is not created again before that is cleared up."
    );
    Diagnostic::error("Object was possibly created before", detail).hint(clearing_up(object))
}
