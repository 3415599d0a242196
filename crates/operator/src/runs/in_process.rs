//! Runs inside of this process, each on a thread of its own.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use groma_run::engine::interrupt::Interrupt;
use tokio::sync::{oneshot, watch};
use tokio::time::Instant;

use super::progress::{Claimant, Kept, end, enter, forget_plan, persist, plan as kept_plan, write};
use super::verify;
use super::{Fate, Next, fate, job, next};
use crate::api::names;
use crate::api::run::{Action, Approved, Cause, CauseKind, FailureKind, Phase, PlanRef, Run};
use crate::api::shared::{Length, Moment};
use crate::api::stack::Stack;
use crate::blobs::Blob;
use crate::bundle::Bundle;
use crate::objects::cluster::shortened;
use crate::objects::{Kind, Notice, Place, Store, StoreError, controller, find};
use crate::outputs;
use crate::runs::turns::Turns;
use crate::work::{Ended, Overseer, Planned, Stopped, Task, Verdict, Work, Workshop};

/// The stack of a run's thread: configurations may be deep.
const STACK_BYTES: usize = 256 << 20;
/// How long a run may take to end after it was asked to, before it is let go of.
const GRACE: Duration = Duration::from_mins(1);
/// For how long it is tried to write down how far a run is.
const TO_WRITE: Duration = Duration::from_mins(10);
/// How much of a plan is shown in a Run.
const SHOWN_BYTES: usize = 60_000;

/// Namespace and name of a Run.
pub type Key = (String, String);

/// Is told that something has happened to a Run.
pub type Told = Arc<dyn Fn(&Key) + Send + Sync>;

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

struct State {
    turns: Turns<Key>,
    working: BTreeMap<Key, Interrupt>,
    /// Nothing new begins.
    closed: bool,
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
        let turns = Turns::new(room.most, room.most_each);
        let state = State { turns, working: BTreeMap::new(), closed: false };
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
        let state = State { turns: Turns::new(1, 1), working: BTreeMap::new(), closed: false };
        Arc::new(Self { store, workshop, holder, clock, told: Arc::new(|_| {}), job, state: Mutex::new(state) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
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
            Next::Again => {
                let mut run = run;
                let status = run.status.get_or_insert_default();
                status.holder = None;
                enter(status, Phase::Queued, "It begins anew: who worked on it is gone.", (self.clock)());
                write(&*self.store, &run).await?;
            }
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
            let (key, interrupt) = {
                let mut state = self.state();
                if state.closed {
                    return;
                }
                let Some(key) = state.turns.take() else { return };
                let interrupt = Interrupt::default();
                state.working.insert(key.clone(), interrupt.clone());
                (key, interrupt)
            };
            let me = Arc::clone(self);
            tokio::spawn(async move {
                if let Err(problem) = Box::pin(me.work_on(&key, interrupt)).await {
                    tracing::warn!(namespace = key.0, run = key.1, %problem, "a run was left as it is");
                }
                {
                    let mut state = me.state();
                    state.working.remove(&key);
                    state.turns.done(&key);
                }
                me.go_on();
                (me.told)(&key);
            });
        }
    }

    async fn work_on(self: &Arc<Self>, key: &Key, interrupt: Interrupt) -> Result<(), StoreError> {
        let Some(mut run) = find::<Run>(&*self.store, &key.0, &key.1).await? else { return Ok(()) };
        if next(&run, false) != Next::Begin {
            return Ok(());
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
        let (deadline, expired) = Self::watchdog(first, interrupt.clone());
        let claim = Arc::new(Claim { executor: Arc::clone(self), run: Mutex::new(run), deadline });
        let ended = self.on_a_thread(&claim, bundle, kept, interrupt).await;
        let run = claim.run.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.finish(run, ended, expired.load(Ordering::SeqCst)).await
    }

    async fn bundle(&self, run: &Run) -> Result<Bundle, String> {
        let namespace = run.metadata.namespace.as_deref().unwrap_or_default();
        let blob = Blob { namespace, name: &run.spec.bundle, labels: BTreeMap::new(), owner: None };
        let bytes = blob.load(&*self.store).await.map_err(|problem| problem.to_string())?;
        let bytes = bytes.ok_or_else(|| format!("The bundle {} is not there any more.", run.spec.bundle))?;
        Bundle::decode(&bytes).map_err(|problem| problem.to_string())
    }

    /// Asks a run to end when its phase takes too long, and again if it does not.
    fn watchdog(first: Length, interrupt: Interrupt) -> (watch::Sender<Instant>, Arc<AtomicBool>) {
        let (sender, mut receiver) = watch::channel(Instant::now() + first.0);
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
        });
        (sender, expired)
    }

    async fn on_a_thread(
        &self,
        claim: &Arc<Claim>,
        bundle: Bundle,
        plan: Option<Vec<u8>>,
        interrupt: Interrupt,
    ) -> Ended {
        let (sender, receiver) = oneshot::channel();
        let (claim, workshop) = (Arc::clone(claim), self.workshop.clone());
        let name = {
            let run = claim.run.lock().unwrap_or_else(PoisonError::into_inner);
            format!(
                "{}-{}",
                run.metadata.namespace.as_deref().unwrap_or_default(),
                run.metadata.name.as_deref().unwrap_or_default()
            )
        };
        let destroy = claim.run.lock().unwrap_or_else(PoisonError::into_inner).spec.action == Action::Destroy;
        let handle = tokio::runtime::Handle::current();
        let builder = std::thread::Builder::new().name(name.clone()).stack_size(STACK_BYTES);
        let started = builder.spawn(move || {
            let overseer = Bridge { claim, handle };
            let work = Work { workshop: &workshop, bundle: &bundle, name: &name, interrupt };
            let task = plan.as_deref().map_or(Task::Plan { destroy }, |plan| Task::Apply { plan });
            // Nobody may listen any more, which is their business.
            let _ = sender.send(work.perform(&task, &overseer));
        });
        let lost = |message: String| Stopped::Overseer(message).ended(&groma_model::span::SourceMap::new());
        match started {
            Err(problem) => lost(format!("The system gave no thread to work with: {problem}.")),
            Ok(_) => {
                receiver.await.unwrap_or_else(|_| lost("The work ended without a result, which is a bug.".to_owned()))
            }
        }
    }

    /// What came of it is written down. Until that has worked, nothing is forgotten.
    async fn finish(&self, mut run: Run, ended: Ended, expired: bool) -> Result<(), StoreError> {
        let waits = run.status.as_ref().is_some_and(|status| status.phase == Phase::AwaitingApproval);
        if waits {
            return Ok(());
        }
        let stack =
            find::<Stack>(&*self.store, run.metadata.namespace.as_deref().unwrap_or_default(), &run.spec.stack).await?;
        let now = (self.clock)();
        let status = run.status.get_or_insert_default();
        status.diagnostics.clone_from(&ended.told);
        status.done = ended.done;
        status.resources = ended.resources;
        status.outputs = ended.outputs.iter().map(|output| output.name.clone()).collect();
        if stack.as_ref().is_some_and(|stack| stack.spec.outputs.status) {
            status.values = outputs::shown(&ended.outputs);
        }
        if ended.was_asked && !expired {
            return self.stopped(run).await;
        }
        if let Some(job) = &self.job {
            job::write_outputs(&*self.store, &run, job, &ended.outputs).await?;
        }
        let status = run.status.get_or_insert_default();
        if expired {
            let message = format!("{:?} took longer than it may.", status.phase);
            status.failure = Some(FailureKind::Timeout);
            enter(status, Phase::Failed, message, now);
        } else if let Some(problem) = ended.problem {
            let is_cancelled = self.is_cancelled(&run).await?;
            let status = run.status.get_or_insert_default();
            if is_cancelled {
                enter(status, Phase::Cancelled, format!("Somebody cancelled it on its way: {}", problem.message), now);
            } else {
                status.failure = Some(if self.state().closed { FailureKind::Interrupted } else { problem.kind });
                enter(status, Phase::Failed, problem.message, now);
            }
        } else {
            let message = success(run.spec.action, &ended);
            if let Some(stack) = stack.filter(|_| run.spec.action != Action::Plan) {
                enter(status, Phase::Verifying, "Writing outputs, and looking whether all is well", now);
                run = self.persist(&run).await?;
                if let Err(problem) = verify::verify(&*self.store, &stack, &run, &ended.outputs).await {
                    let status = run.status.get_or_insert_default();
                    status.failure = Some(problem.kind);
                    enter(status, Phase::Failed, problem.message, (self.clock)());
                    self.persist(&run).await?;
                    return forget_plan(&*self.store, &run).await;
                }
            }
            enter(run.status.get_or_insert_default(), Phase::Succeeded, message, (self.clock)());
        }
        self.persist(&run).await?;
        forget_plan(&*self.store, &run).await
    }

    /// Writes down how far a run of ours is, however long that takes: what is known now nobody else knows.
    async fn persist(&self, run: &Run) -> Result<Run, StoreError> {
        let by = Claimant { holder: &self.holder, patience: TO_WRITE, heeds_cancel: false };
        match persist(&*self.store, run, &by).await? {
            Kept::Written(run) => Ok(*run),
            Kept::Cancelled => Ok(run.clone()),
        }
    }

    async fn is_cancelled(&self, run: &Run) -> Result<bool, StoreError> {
        let metadata = &run.metadata;
        let (namespace, name) = (metadata.namespace.as_deref(), metadata.name.as_deref());
        let newest = find::<Run>(&*self.store, namespace.unwrap_or_default(), name.unwrap_or_default()).await?;
        Ok(newest.is_some_and(|newest| newest.spec.cancel))
    }

    /// It was asked to stop, and has touched nothing.
    async fn stopped(&self, mut run: Run) -> Result<(), StoreError> {
        let now = (self.clock)();
        let closing = self.state().closed;
        let newest = find::<Run>(
            &*self.store,
            run.metadata.namespace.as_deref().unwrap_or_default(),
            run.metadata.name.as_deref().unwrap_or_default(),
        )
        .await?;
        let Some(newest) = newest else { return Ok(()) };
        let because = newest.metadata.annotations.as_ref().and_then(|notes| notes.get(names::SUPERSEDED).cloned());
        // Whoever asked has written, too.
        run.metadata.clone_from(&newest.metadata);
        run.spec.clone_from(&newest.spec);
        let status = run.status.get_or_insert_default();
        match (newest.spec.cancel, because) {
            (true, Some(because)) => enter(status, Phase::Superseded, because, now),
            (true, None) => enter(status, Phase::Cancelled, "Somebody cancelled it.", now),
            (false, _) if closing => {
                status.holder = None;
                enter(status, Phase::Queued, "It begins anew: the operator was stopped.", now);
            }
            (false, _) => enter(status, Phase::Cancelled, "It was stopped.", now),
        }
        write(&*self.store, &run).await.map(|_| ())
    }
}

/// What is said of a run that went well.
fn success(action: Action, ended: &Ended) -> String {
    let counts = ended.done.or_else(|| ended.left.as_ref().map(|plan| plan.counts)).unwrap_or_default();
    let numbers = format!("{} to add, {} to change, {} to destroy", counts.add, counts.change, counts.destroy);
    match (action, &ended.left) {
        (_, Some(plan)) if plan.is_empty => "No changes: all is as it should be.".to_owned(),
        (Action::Plan, _) => format!("Planned: {numbers}."),
        (Action::Destroy, _) => format!("Destroyed: {} objects.", counts.destroy),
        (Action::Apply, _) => {
            format!("Applied: {} added, {} changed, {} destroyed.", counts.add, counts.change, counts.destroy)
        }
    }
}

/// A Run that is ours.
struct Claim {
    executor: Arc<InProcess>,
    run: Mutex<Run>,
    deadline: watch::Sender<Instant>,
}

/// Between the thread of a run and everybody else.
struct Bridge {
    claim: Arc<Claim>,
    handle: tokio::runtime::Handle,
}

impl Bridge {
    /// Writes down what has changed, unless the Run is not wanted any more.
    fn update(&self, change: impl FnOnce(&mut Run)) -> Result<(), Stopped> {
        let mut held = self.claim.run.lock().unwrap_or_else(PoisonError::into_inner);
        let mut run = held.clone();
        change(&mut run);
        let executor = &self.claim.executor;
        let by = Claimant { holder: &executor.holder, patience: TO_WRITE, heeds_cancel: true };
        match self.handle.block_on(persist(&*executor.store, &run, &by)) {
            Ok(Kept::Written(run)) => {
                *held = *run;
                Ok(())
            }
            Ok(Kept::Cancelled) => Err(Stopped::Asked),
            Err(problem) => Err(Stopped::Overseer(problem.to_string())),
        }
    }

    fn limit(&self, limit: Length) {
        self.claim.deadline.send_replace(Instant::now() + limit.0);
    }

    fn now(&self) -> Moment {
        (self.claim.executor.clock)()
    }
}

impl Overseer for Bridge {
    fn backend_overridden(&self, block: &str) {
        let run = self.claim.run.lock().unwrap_or_else(PoisonError::into_inner).clone();
        // Who knows it is not told again whenever it is looked whether all is well.
        let is_known = |cause: &Cause| {
            matches!(cause.reason, CauseKind::Due | CauseKind::Retry | CauseKind::OutputsGone | CauseKind::Deleted)
        };
        if run.spec.causes.iter().all(is_known) {
            return;
        }
        let namespace = run.metadata.namespace.as_deref().unwrap_or_default();
        let about = Place::new(Kind::of::<Stack>(), namespace, &run.spec.stack);
        let uid = controller(&run.metadata).map(|owner| owner.uid.clone());
        let message =
            format!("The configuration has its own {block}, which does not hold: its state is where the Stack says");
        let notice = Notice { about, uid, is_warning: false, reason: "BackendOverridden".to_owned(), message };
        self.handle.block_on(self.claim.executor.store.notice(notice));
    }

    fn planning(&self) -> Result<(), Stopped> {
        let now = self.now();
        let mut limit = None;
        self.update(|run| {
            if run.status.as_ref().is_some_and(|status| status.phase == Phase::Initialising) {
                limit = Some(run.spec.limits.plan);
                enter(run.status.get_or_insert_default(), Phase::Planning, "Making the plan", now);
            }
        })?;
        if let Some(limit) = limit {
            self.limit(limit);
        }
        Ok(())
    }

    fn planned(&self, plan: &Planned) -> Result<Verdict, Stopped> {
        let now = self.now();
        let run = self.claim.run.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let fate = fate(&run, plan);
        let secret = match &fate {
            Fate::Ask(_) => Some(format!("{}-plan", run.metadata.name.as_deref().unwrap_or_default())),
            _ => None,
        };
        if let Some(name) = &secret {
            let executor = &self.claim.executor;
            let blob = Blob { name, ..kept_plan(&run) };
            let saved = self.handle.block_on(blob.save(&*executor.store, &plan.bytes));
            saved.map_err(|problem| Stopped::Overseer(problem.to_string()))?;
        }
        let limit = run.spec.limits.apply;
        self.update(|run| {
            let status = run.status.get_or_insert_default();
            status.planned = Some(plan.counts);
            status.drifted = plan.drifted.iter().take(100).cloned().collect();
            let text = shortened(&plan.text, SHOWN_BYTES);
            status.plan = Some(PlanRef { id: plan.id.clone(), secret, text });
            match &fate {
                Fate::CarryOut(by) => {
                    status.approval = Some(Approved { plan: plan.id.clone(), by: by.clone(), at: now });
                    enter(status, Phase::Applying, "Carrying the plan out", now);
                }
                Fate::Ask(addresses) => {
                    status.holder = None;
                    let message = format!("Somebody has to agree to {}", shortened(&addresses.join(", "), 500));
                    enter(status, Phase::AwaitingApproval, message, now);
                }
                Fate::Leave => {}
            }
        })?;
        if matches!(fate, Fate::CarryOut(_)) {
            self.limit(limit);
            return Ok(Verdict::CarryOut);
        }
        Ok(Verdict::Leave)
    }
}
