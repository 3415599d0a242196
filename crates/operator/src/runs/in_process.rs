//! Runs inside of this process, each on a thread of its own.

mod bridge;
mod ending;
mod looking;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use groma_run::engine::interrupt::Interrupt;
use groma_run::session::LockManners;
use groma_run::trace;
use tokio::sync::{oneshot, watch};
use tokio::time::Instant;

use super::looks::{Looks, Wish};
use super::progress::{begin_anew, end, enter, patiently, plan as kept_plan, write};
use super::{Next, locks, next};
use crate::api::names;
use crate::api::run::{Action, FailureKind, Phase, Run};
use crate::api::shared::{Length, Moment};
use crate::api::upkeep::StateSeen;
use crate::blobs::Blob;
use crate::bundle::Bundle;
use crate::objects::{Store, StoreError, find};
use crate::runs::turns::Turns;
use crate::work::{Ended, Stopped, Task, Work, Workshop};
use bridge::{Bridge, Claim};

/// The stack of a run's thread: configurations may be deep.
const STACK_BYTES: usize = 256 << 20;
/// How long a run may take to end after it was asked to, before it is asked again; and once more, before it is let go of.
const GRACE: Duration = Duration::from_mins(1);
/// For how long it is tried to write down how far a run is.
const TO_WRITE: Duration = Duration::from_mins(10);

/// Namespace and name of a Run.
pub type Key = (String, String);

/// Is told that something has happened.
pub type Told = Arc<dyn Fn(News<'_>) + Send + Sync>;

/// What has happened.
#[derive(Debug, Clone, Copy)]
pub enum News<'a> {
    /// Nobody works on a Run any more.
    Run(&'a Key),
    /// It was looked at a Stack.
    Look {
        /// Where it is.
        namespace: &'a str,
        /// Its name.
        name: &'a str,
        /// Whether all is as it should be.
        is_well: bool,
    },
}

/// What time it is.
pub type Clock = Arc<dyn Fn() -> Moment + Send + Sync>;

/// Works on runs in this process.
pub struct InProcess {
    store: Arc<dyn Store>,
    workshop: Workshop,
    /// Who we are, for those who find a Run that nobody works on.
    holder: String,
    clock: Clock,
    told: Told,
    /// The Job that this process belongs to, if it does.
    job: Option<String>,
    state: Mutex<State>,
}

/// What is known from before a run.
#[derive(Default)]
struct Left {
    /// The state, as it was left.
    state: Option<StateSeen>,
    /// Objects that no state knows, and that somebody has agreed to delete.
    delete_orphans: Option<String>,
}

/// A thread that nobody waits for any more. As long as it lives it may do anything.
struct LetGo {
    namespace: String,
    stack: String,
    run: String,
    thread: Weak<()>,
}

/// Ends what takes too long.
struct Watchdog {
    /// When that is.
    deadline: watch::Sender<Instant>,
    /// Whether it has been so.
    expired: Arc<AtomicBool>,
    /// It did not end although it was asked to, twice.
    let_go: oneshot::Receiver<()>,
}

struct State {
    turns: Turns<Key>,
    working: BTreeMap<Key, Interrupt>,
    /// Looks that wait for their turn.
    wishes: BTreeMap<Key, Wish>,
    looks: Looks,
    let_go: Vec<LetGo>,
    /// Nothing new begins.
    closed: bool,
}

impl State {
    fn new(turns: Turns<Key>) -> Self {
        let (working, wishes) = (BTreeMap::new(), BTreeMap::new());
        Self { turns, working, wishes, looks: Looks::default(), let_go: Vec::new(), closed: false }
    }

    /// The run of a Stack that was let go of and has not ended yet, if there is one.
    fn still_at(&mut self, namespace: &str, stack: &str) -> Option<&str> {
        self.let_go.retain(|known| known.thread.strong_count() > 0);
        let found = self.let_go.iter().find(|known| known.namespace == namespace && known.stack == stack);
        found.map(|known| known.run.as_str())
    }
}

/// How much is done at once.
#[derive(Debug, Clone, Copy)]
pub struct Room {
    /// In all.
    pub most: usize,
    /// In one namespace.
    pub most_each: usize,
}

impl InProcess {
    /// Nobody works yet.
    pub fn new(
        store: Arc<dyn Store>,
        workshop: Workshop,
        holder: String,
        room: Room,
        clock: Clock,
        told: Told,
    ) -> Arc<Self> {
        let state = State::new(Turns::new(room.most, room.most_each));
        Arc::new(Self { store, workshop, holder, clock, told, job: None, state: Mutex::new(state) })
    }

    /// For one Run, in the pod of a Job.
    pub(super) fn in_job(
        store: Arc<dyn Store>,
        workshop: Workshop,
        holder: String,
        clock: Clock,
        job: Option<String>,
    ) -> Arc<Self> {
        let state = State::new(Turns::new(1, 1));
        Arc::new(Self {
            store,
            workshop,
            holder,
            clock,
            told: Arc::new(|_: News<'_>| {}),
            job,
            state: Mutex::new(state),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether somebody works on a Run.
    pub(super) fn works_on(&self, key: &Key) -> bool {
        self.state().working.contains_key(key)
    }

    /// How many runs wait, and how many are under way.
    pub fn load(&self) -> (usize, usize) {
        let state = self.state();
        (state.turns.waiting(), state.turns.under_way())
    }

    /// A Run is not there any more.
    pub(super) fn forget(&self, key: &Key) {
        self.state().turns.leave(key);
        self.interrupt(key);
    }

    /// Works on one Run and nothing else, until it is over, waits for somebody, or is somebody else's.
    pub(super) async fn carry_out(self: &Arc<Self>, key: &Key) -> Result<(), StoreError> {
        let interrupt = Interrupt::default();
        self.state().working.insert(key.clone(), interrupt.clone());
        let done = Box::pin(self.work_on(key, interrupt)).await;
        self.state().working.remove(key);
        done
    }

    /// Looks at a Run, and does what is to be done.
    pub(super) async fn look_at(self: &Arc<Self>, key: &Key, run: Run) -> Result<(), StoreError> {
        let is_ours = self.state().working.contains_key(key);
        match next(&run, is_ours) {
            Next::Nothing => {}
            Next::Begin => {
                self.state().turns.wait(&key.0, key.clone());
                self.go_on();
            }
            Next::Stop => self.interrupt(key),
            Next::End(phase, message) => {
                self.state().turns.leave(key);
                self.end(run, phase, message, None).await?;
            }
            Next::Again => begin_anew(&*self.store, run, "who worked on it is gone", (self.clock)()).await?,
            Next::Abandon => {
                let message =
                    "Who worked on it is gone. What was done until then is known, and the next run goes on from there.";
                self.end(run, Phase::Failed, message.to_owned(), Some(FailureKind::Interrupted)).await?;
            }
        }
        Ok(())
    }

    async fn end(
        &self,
        run: Run,
        phase: Phase,
        message: String,
        failure: Option<FailureKind>,
    ) -> Result<(), StoreError> {
        end(&*self.store, run, (phase, message, failure), (self.clock)()).await
    }

    pub(super) fn interrupt(&self, key: &Key) {
        if let Some(interrupt) = self.state().working.get(key) {
            interrupt.ask();
        }
    }

    /// Nothing new begins, and what is under way is asked to end.
    pub fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        state.working.values().for_each(Interrupt::ask);
    }

    /// Begins what there is room for.
    fn go_on(self: &Arc<Self>) {
        loop {
            let (key, wish, interrupt) = {
                let mut state = self.state();
                if state.closed {
                    return;
                }
                let Some(key) = state.turns.take() else { return };
                let interrupt = Interrupt::default();
                state.working.insert(key.clone(), interrupt.clone());
                let wish = state.wishes.remove(&key);
                (key, wish, interrupt)
            };
            let me = Arc::clone(self);
            tokio::spawn(async move {
                let is_look = wish.is_some();
                if let Some(wish) = wish {
                    Box::pin(me.look_into(&key, wish, interrupt)).await;
                } else if let Err(problem) = Box::pin(me.work_on(&key, interrupt)).await {
                    tracing::warn!(namespace = key.0, run = key.1, %problem, "a run was left as it is");
                }
                {
                    let mut state = me.state();
                    state.working.remove(&key);
                    state.turns.done(&key);
                }
                me.go_on();
                if !is_look {
                    (me.told)(News::Run(&key));
                }
            });
        }
    }

    async fn work_on(self: &Arc<Self>, key: &Key, interrupt: Interrupt) -> Result<(), StoreError> {
        let Some(mut run) = find::<Run>(&*self.store, &key.0, &key.1).await? else { return Ok(()) };
        if next(&run, false) != Next::Begin {
            return Ok(());
        }
        self.wait_for_others(key, &run).await?;
        let other = self.state().still_at(&key.0, &run.spec.stack).map(str::to_owned);
        if let Some(other) = other {
            let message = format!(
                "Run {other} did not end when it was asked to, and was let go of. It may still be at work here: nothing else is done until it \
                 has ended."
            );
            return self.end(run, Phase::Failed, message, Some(FailureKind::Locked)).await;
        }
        let agreed = run.status.as_ref().is_some_and(|status| status.phase == Phase::AwaitingApproval);
        let status = run.status.get_or_insert_default();
        status.holder = Some(self.holder.clone());
        let (phase, message) = if agreed {
            (Phase::Applying, "Carrying the plan out")
        } else {
            (Phase::Initialising, "Fetching modules and providers")
        };
        enter(status, phase, message, (self.clock)());
        // From here on it is ours: nobody else can write what we have read.
        let run = write(&*self.store, &run).await?;
        let bundle = match self.bundle(&run).await {
            Ok(bundle) => bundle,
            Err(message) => return self.end(run, Phase::Failed, message, Some(FailureKind::Transient)).await,
        };
        let kept = if agreed { kept_plan(&run).load(&*self.store).await.ok().flatten() } else { None };
        if agreed && kept.is_none() {
            let message = "The plan that was agreed to is not there any more; another one is made.".to_owned();
            return self.end(run, Phase::Failed, message, Some(FailureKind::Interrupted)).await;
        }
        let first = if agreed { run.spec.limits.apply } else { run.spec.limits.init };
        let Watchdog { deadline, expired, let_go } = Self::watchdog(first, interrupt.clone());
        let let_go_of = AtomicBool::new(false);
        let claim = Arc::new(Claim { executor: Arc::clone(self), run: Mutex::new(run), deadline, let_go_of });
        let ended = match self.perform(&claim, bundle, kept, (interrupt, let_go)).await {
            Ok(ended) => ended,
            Err(thread) => {
                claim.let_go_of.store(true, Ordering::SeqCst);
                return self.let_go(key, thread).await;
            }
        };
        let run = claim.run.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Box::pin(self.finish(run, ended, expired.load(Ordering::SeqCst))).await
    }

    /// A thread does not end. Nobody waits for it any more, and nothing that it writes into the Run is taken; its lock holds as long as it is
    /// renewed.
    async fn let_go(&self, key: &Key, thread: Weak<()>) -> Result<(), StoreError> {
        let (namespace, name) = key;
        let stack = name.rsplit_once('-').map_or(name.as_str(), |(stack, _)| stack).to_owned();
        let known = LetGo { namespace: namespace.clone(), stack, run: name.clone(), thread };
        self.state().let_go.push(known);
        tracing::error!(namespace, run = name, "a run did not end when it was asked to, and is let go of");
        patiently(TO_WRITE, || self.say_let_go(key)).await
    }

    async fn say_let_go(&self, (namespace, name): &Key) -> Result<(), StoreError> {
        let Some(mut run) = find::<Run>(&*self.store, namespace, name).await? else { return Ok(()) };
        let status = run.status.get_or_insert_default();
        let is_ours = status.holder.as_ref() == Some(&self.holder);
        if status.phase.is_over() || (status.holder.is_some() && !is_ours) {
            return Ok(());
        }
        status.let_go = true;
        if is_ours {
            let message = format!(
                "{:?} took longer than it may, and did not end when it was asked to. It was let go of, and may still be at work.",
                status.phase
            );
            status.failure = Some(FailureKind::Timeout);
            enter(status, Phase::Failed, message, (self.clock)());
        }
        write(&*self.store, &run).await.map(|_| ())
    }

    /// A Run may go away under whoever works on it, with its namespace. Another one begins when they have ended, too.
    async fn wait_for_others(&self, key: &Key, run: &Run) -> Result<(), StoreError> {
        let stack = |key: &Key| key.1.rsplit_once('-').map(|(stack, _)| (key.0.clone(), stack.to_owned()));
        // Looks touch nothing, so nobody waits for one.
        let is_other = |other: &Key| other != key && !looking::is_look(other) && stack(other) == stack(key);
        while self.state().working.keys().any(is_other) || locks::has_pods(&*self.store, run).await? {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        Ok(())
    }

    async fn bundle(&self, run: &Run) -> Result<Bundle, String> {
        let namespace = run.metadata.namespace.as_deref().unwrap_or_default();
        let blob = Blob { namespace, name: &run.spec.bundle, labels: BTreeMap::new(), owner: None, kept: true };
        let bytes = blob.load(&*self.store).await.map_err(|problem| problem.to_string())?;
        let bytes = bytes.ok_or_else(|| format!("The bundle {} is not there any more.", run.spec.bundle))?;
        let bundle = Bundle::decode(&bytes).map_err(|problem| problem.to_string())?;
        Ok(bundle.of_run(&run.spec))
    }

    /// Asks a run to end when its phase takes too long, and again if it does not, and then says so.
    fn watchdog(first: Length, interrupt: Interrupt) -> Watchdog {
        let (deadline, mut receiver) = watch::channel(Instant::now() + first.0);
        let (enough, let_go) = oneshot::channel();
        let expired = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&expired);
        tokio::spawn(async move {
            loop {
                let at = *receiver.borrow_and_update();
                tokio::select! {
                    () = tokio::time::sleep_until(at) => break,
                    changed = receiver.changed() => if changed.is_err() { return },
                }
            }
            flag.store(true, Ordering::SeqCst);
            interrupt.ask();
            tokio::time::sleep(GRACE).await;
            interrupt.ask();
            tokio::time::sleep(GRACE).await;
            // It may have ended meanwhile.
            let _ = enough.send(());
        });
        Watchdog { deadline, expired, let_go }
    }

    async fn perform(
        &self,
        claim: &Arc<Claim>,
        bundle: Bundle,
        plan: Option<Vec<u8>>,
        (interrupt, let_go): (Interrupt, oneshot::Receiver<()>),
    ) -> Result<Ended, Weak<()>> {
        let claim = Arc::clone(claim);
        let (key, destroy, is_plan, span, lock, left) = {
            let run = claim.run.lock().unwrap_or_else(PoisonError::into_inner);
            let metadata = run.metadata.clone();
            let parent = metadata.annotations.unwrap_or_default().remove(names::TRACEPARENT).unwrap_or_default();
            let key = (metadata.namespace.unwrap_or_default(), metadata.name.unwrap_or_default());
            let span = trace::run(&key.0, &run.spec.stack, &key.1, &parent);
            let lock = locks::manners(&self.store, &run, self.job.is_some().then_some(self.holder.as_str()));
            let left = Left { state: run.spec.state.clone(), delete_orphans: run.spec.orphans.clone() };
            let action = run.spec.action;
            (key, action == Action::Destroy, action == Action::Plan, span, lock, left)
        };
        let handle = tokio::runtime::Handle::current();
        let perform = move |work: &Work<'_>| {
            let is_unlocked = is_plan && work.bundle.plan_unlocked;
            let task = match plan.as_deref() {
                // It is the state of others, who must not be kept from their work.
                _ if work.bundle.preview || is_unlocked => Task::Look { destroy, brief: false },
                Some(plan) => Task::Apply { plan, destroy },
                None => Task::Plan { destroy },
            };
            let overseer = Bridge { claim, handle, bundle: work.bundle };
            let ended = span.in_scope(|| work.perform(&task, &overseer));
            if let Some(problem) = &ended.problem {
                trace::failed_as(&span, &format!("{:?}", problem.kind));
            }
            ended
        };
        self.on_a_thread(key, bundle, (interrupt, lock, left), let_go, perform).await
    }

    /// What came of it; or what lives as long as the thread, if that was let go of.
    async fn on_a_thread(
        &self,
        (namespace, name): Key,
        bundle: Bundle,
        (interrupt, lock, left): (Interrupt, LockManners, Left),
        let_go: oneshot::Receiver<()>,
        perform: impl FnOnce(&Work<'_>) -> Ended + Send + 'static,
    ) -> Result<Ended, Weak<()>> {
        let (sender, receiver) = oneshot::channel();
        let alive = Arc::new(());
        let thread = Arc::downgrade(&alive);
        let workshop = self.workshop.clone();
        let name = format!("{namespace}-{name}");
        let builder = std::thread::Builder::new().name(name.clone()).stack_size(STACK_BYTES);
        let started = builder.spawn(move || {
            let (workshop, bundle, name, namespace) = (&workshop, &bundle, &name, &namespace);
            let Left { state, delete_orphans } = left;
            let work = Work { workshop, bundle, name, namespace, interrupt, lock, state, delete_orphans };
            // Nobody may listen any more, which is their business.
            let _ = sender.send(perform(&work));
            drop(alive);
        });
        let lost = |message: String| Stopped::Overseer(message).ended(&groma_model::span::SourceMap::new());
        if let Err(problem) = started {
            return Ok(lost(format!("The system gave no thread to work with: {problem}.")));
        }
        tokio::select! {
            biased;
            ended = receiver => {
                Ok(ended.unwrap_or_else(|_| lost("The work ended without a result, which is a bug.".to_owned())))
            }
            Ok(()) = let_go => Err(thread),
        }
    }
}
