//! The walk of an apply: the steps of the plan in their order, with calls to providers going on beside it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use groma_lang::config::ResourceKey;
use groma_lang::graph::{ModuleIndex, NodeIndex, NodeKind};
use groma_lang::walk::{InstanceIndex, Purpose, RepetitionData, Settings, Walk};
use groma_model::address::{AbsInstance, ConfigResource, InstanceKey, Module};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::text::Str;
use groma_model::value::Value;
use groma_state::State;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tracing::{Instrument as _, Span};

use super::ephemeral::{Openings, Place};
use super::instance::{self, Done, Job, Left};
use super::outcome::{Look, Waiting};
use super::prepare;
use super::provision::{self, Provisioning, Ready};
use super::{Applied, Request};
use crate::change::{Action, Change};
use crate::checks::{CheckBook, Checked, CheckedInstance};
use crate::ephemeral::{self, Leases, OpenJob, Opened};
use crate::events::trace;
use crate::events::{Event, Skipped, shown_id, shown_id_or_name};
use crate::execution::{Step, StepIndex};
use crate::interrupt::Urgency;
use crate::plan::Mode;
use crate::plan::instance::with_address;
use crate::plan::provider_use::ProviderUse;
use crate::schedule::Schedule;
use crate::stored::Object;
use crate::values::ResourceValues;

/// The work of one task.
pub(super) enum Work {
    /// A change is carried out.
    Change {
        /// In which step.
        step: StepIndex,
        /// What.
        job: Box<Job>,
        /// Whether the step was announced already.
        told: bool,
    },
    /// A provisioner runs.
    Provision(Box<Provisioning>, Box<Ready>),
    /// An instance of an ephemeral resource is opened.
    Open(Opening, Box<OpenJob>),
    /// An object that is waited for is read again.
    Look(Box<Waiting>),
}

impl Work {
    fn span(&self) -> Span {
        match self {
            Work::Change { job, .. } => trace::resource(doing(&job.change), &job.change.address),
            Work::Provision(provisioning, _) => trace::resource("provision", &provisioning.job.change.address),
            Work::Open(_, job) => trace::resource("open", &job.address),
            Work::Look(waiting) => trace::resource("wait", waiting.address()),
        }
    }
}

/// What is done, in one word.
fn doing(change: &Change) -> &'static str {
    match change.action {
        action if action.is_replace() => "replace",
        action => action.names().first().copied().unwrap_or_default(),
    }
}

/// An instance of an ephemeral resource that is being opened.
pub(super) struct Opening {
    pub(super) step: StepIndex,
    pub(super) at: Place,
}

/// What came of it.
pub(super) enum Finished {
    Change(StepIndex, Box<Job>, Done),
    /// What came of a change is written down, or could not be.
    Written(Box<Written>, Diagnostics),
    Provision(Box<Provisioning>, Diagnostics),
    Open(Opening, Box<Result<Opened, Diagnostics>>),
    /// It is time to try a change again.
    Again(StepIndex, Box<Job>),
    /// It is time to look at an object that is waited for.
    Due(Box<Waiting>),
    Looked(Box<Waiting>, Box<Look>),
    /// What came of a wait is written down.
    Waited(StepIndex, Diagnostics),
}

/// A change that is in the state.
pub(super) struct Written {
    step: StepIndex,
    job: Box<Job>,
    /// The object, if it is new and works.
    new: Option<Box<Object>>,
    found: Diagnostics,
    quiet: bool,
}

pub(super) struct Driver<'a, 'r> {
    pub(super) request: &'r Request<'a>,
    pub(super) walk: Walk<'a>,
    pub(super) values: &'r ResourceValues<'a>,
    pub(super) providers: ProviderUse,
    pub(super) state: State,
    pub(super) schedule: Schedule,
    pub(super) queue: VecDeque<Work>,
    /// What is waited for and takes nobody's place.
    pub(super) aside: JoinSet<Finished>,
    /// Objects that are not ready, by the step that waits for them once it is over otherwise.
    pub(super) waits: BTreeMap<StepIndex, Box<Waiting>>,
    /// Since when changes are tried again and again.
    pub(super) postponed: BTreeMap<StepIndex, Instant>,
    /// New objects whose provisioners are running.
    pub(super) unprovisioned: BTreeSet<AbsInstance>,
    /// What changed objects are now, with marks.
    pub(super) made: BTreeMap<AbsInstance, Value>,
    /// Repetitions of resources that were expanded already.
    pub(super) expanded: BTreeMap<(InstanceIndex, ResourceKey), BTreeMap<InstanceKey, RepetitionData>>,
    pub(super) diagnostics: Diagnostics,
    pub(super) checks: CheckBook,
    pub(super) leases: Leases,
    /// Resources whose replacements are made first because of others that change.
    pub(super) made_first: BTreeSet<ConfigResource>,
    /// Declarations that nobody asks for.
    pub(super) unasked: BTreeSet<NodeIndex>,
    /// Ephemeral resources that are being opened, by step.
    pub(super) opening: BTreeMap<StepIndex, Openings<'a>>,
    skipped: Vec<Skipped>,
}

pub(super) async fn run(request: Request<'_>) -> Applied {
    let values = ResourceValues::new(request.schemas);
    // What is on its way out need not be in order.
    let lenient = request.plan.mode == Mode::Destroy;
    let settings = Settings { purpose: Purpose::Evaluate, lenient, oracle: &values, ..request.settings };
    let (walk, diagnostics) = Walk::start(request.tree, settings, request.inputs);
    let mut driver = Driver {
        values: &values,
        providers: ProviderUse::new(Arc::clone(&request.providers)),
        state: request.plan.prior_state.clone(),
        schedule: Schedule::new(&request.plan.execution.needs),
        queue: VecDeque::new(),
        aside: JoinSet::new(),
        waits: BTreeMap::new(),
        postponed: BTreeMap::new(),
        unprovisioned: BTreeSet::new(),
        made: BTreeMap::new(),
        expanded: BTreeMap::new(),
        diagnostics,
        checks: CheckBook::new(walk.graph()),
        leases: Leases::new(),
        made_first: prepare::made_first(walk.graph(), &request.plan.changes),
        unasked: prepare::unasked(walk.graph()),
        opening: BTreeMap::new(),
        skipped: Vec::new(),
        request: &request,
        walk,
    };
    // A plan that was saved may come from anywhere.
    if request.plan.execution.declarations() > driver.walk.graph().nodes.len() {
        let detail = "The plan was made from another configuration than the one it is applied with.";
        driver.diagnostics.push(Diagnostic::error("Plan does not match the configuration", detail));
    }
    if !driver.diagnostics.has_errors() {
        driver.carry_out().await;
    }
    Applied { state: driver.state, diagnostics: driver.diagnostics, skipped: driver.skipped }
}

impl Driver<'_, '_> {
    async fn carry_out(&mut self) {
        if self.request.plan.mode == Mode::RefreshOnly {
            return self.record_what_was_seen();
        }
        if let Err(found) = self.log_moves() {
            self.diagnostics.extend(found);
            return;
        }
        self.work().await;
        let found = self.leases.close().await;
        self.diagnostics.extend(found);
        self.diagnostics.extend(self.providers.take_warnings());
        self.drop_data();
        self.salvage_outputs();
        self.set_outputs();
        self.set_checks();
        let options = &self.request.plan.options;
        if !options.targets.is_empty() || !options.excludes.is_empty() {
            self.diagnostics.push(incomplete());
        }
    }

    async fn work(&mut self) {
        let mut tasks = JoinSet::new();
        let mut begun = VecDeque::new();
        let mut noticed = Urgency::None;
        loop {
            while noticed == Urgency::None
                && let Some(step) = self.schedule.next()
            {
                self.start(step);
            }
            // What was begun goes on before anything else, but not beside more than there may be.
            while tasks.len() < self.request.parallelism
                && let Some(work) = begun.pop_front()
            {
                tasks.spawn(self.perform(work));
            }
            while tasks.len() < self.request.parallelism
                && noticed == Urgency::None
                && let Some(work) = self.queue.pop_front()
            {
                self.announce(&work);
                tasks.spawn(self.perform(work));
            }
            let next = if noticed == Urgency::None { Urgency::Soon } else { Urgency::Now };
            if tasks.is_empty() && self.aside.is_empty() {
                break;
            }
            let finished = tokio::select! {
                Some(finished) = tasks.join_next() => finished,
                Some(finished) = self.aside.join_next() => finished,
                () = self.request.logbook.due() => {
                    self.store();
                    continue;
                }
                () = self.request.interrupt.reaches(next) => {
                    noticed = next;
                    if noticed == Urgency::Now {
                        self.give_up_provisioning();
                        break;
                    }
                    self.request.events.tell(Event::Stopping);
                    self.providers.stop();
                    self.end_waits();
                    continue;
                }
            };
            match finished {
                Ok(finished) => begun.extend(self.take(finished)),
                Err(error) => self.diagnostics.push(Diagnostic::error("Internal error", error.to_string())),
            }
        }
        if noticed != Urgency::None {
            let detail = "The run was interrupted before everything was done. What was done is in the state; apply \
                          again to go on.";
            self.diagnostics.push(Diagnostic::error("Execution halted", detail));
        }
    }

    /// Tells that a step begins, if provisioners open it. Changes tell themselves.
    fn announce(&self, work: &Work) {
        if let Work::Provision(provisioning, _) = work
            && provisioning.opens_step()
        {
            self.request.events.tell(started(&provisioning.job.change, true));
        }
    }

    fn perform(&self, work: Work) -> impl Future<Output = Finished> + Send + 'static {
        let (provisioners, events) = (Arc::clone(&self.request.provisioners), Arc::clone(&self.request.events));
        let logbook = Arc::clone(&self.request.logbook);
        let span = work.span();
        let performing = async move {
            match work {
                Work::Change { step, job, told } => {
                    let begun = || {
                        if !told {
                            events.tell(started(&job.change, job.wanted.is_none()));
                        }
                    };
                    let done = instance::apply(&job, logbook.as_ref(), begun).await;
                    trace::ended(&done.diagnostics);
                    Finished::Change(step, job, done)
                }
                Work::Provision(provisioning, ready) => {
                    let found = provision::run(*ready, provisioners.as_ref(), events.as_ref()).await;
                    trace::ended(&found);
                    Finished::Provision(provisioning, found)
                }
                Work::Open(opening, job) => Finished::Open(opening, Box::new(ephemeral::open(*job).await)),
                Work::Look(waiting) => {
                    let look = Box::new(waiting.look().await);
                    Finished::Looked(waiting, look)
                }
            }
        };
        performing.instrument(span)
    }

    fn start(&mut self, step: StepIndex) {
        if let Some(cause) = self.schedule.blocked_by(step) {
            return self.skip(step, cause);
        }
        match self.request.plan.execution.steps[step].clone() {
            Step::Gate => self.schedule.done(step, false),
            Step::Declare(node) => {
                if !self.open_ephemerals(step, node) {
                    let found = self.declare(node);
                    self.conclude(step, found);
                }
            }
            Step::Make(change) if self.request.plan.changes[change].action == Action::NoOp => self.resume(step, change),
            Step::Make(change) => self.begin(step, change, Driver::make),
            Step::Remove(change) => self.begin(step, change, Driver::remove),
        }
    }

    /// Something that a step needs has failed: it is not even begun.
    fn skip(&mut self, step: StepIndex, cause: StepIndex) {
        let steps = &self.request.plan.execution.steps;
        if let Step::Make(change) | Step::Remove(change) = steps[step] {
            let Change { address, action, .. } = self.request.plan.changes[change].clone();
            let because_of = match steps[cause] {
                Step::Make(at) | Step::Remove(at) => Some(self.request.plan.changes[at].address.clone()),
                Step::Declare(_) | Step::Gate => None,
            };
            // A wait that is not gone on with changes nothing.
            if action != Action::NoOp {
                let skipped = Skipped { address, action, because_of };
                self.request.events.tell(Event::Skipped(skipped.clone()));
                self.skipped.push(skipped);
            }
        }
        self.schedule.done(step, true);
    }

    pub(super) fn conclude(&mut self, step: StepIndex, found: Diagnostics) {
        let failed = found.has_errors();
        self.diagnostics.extend(found);
        self.schedule.done(step, failed);
    }

    fn begin(
        &mut self,
        step: StepIndex,
        change: usize,
        prepare: fn(&mut Self, usize) -> Result<Option<Job>, Diagnostics>,
    ) {
        match prepare(self, change) {
            Ok(Some(job)) => self.set_out(step, Box::new(job)),
            Ok(None) => self.schedule.done(step, false),
            Err(found) => {
                let address = self.request.plan.changes[change].address.clone();
                self.conclude(step, with_address(found, &address));
            }
        }
    }

    fn declare(&mut self, node: NodeIndex) -> Diagnostics {
        let module = self.walk.graph().nodes[node].module;
        match self.walk.graph().nodes[node].kind.clone() {
            NodeKind::Resource(key) => {
                let mut found = Diagnostics::new();
                for instance in self.walk.instances_of(module).to_vec() {
                    if let Some(resource) = self.walk.resource(instance, &key) {
                        found.extend(self.show(instance, resource));
                    }
                }
                found
            }
            NodeKind::Provider(key) => self.providers.visit(&self.walk, module, &key),
            NodeKind::Output(name) if self.unasked.contains(&node) => {
                self.leave_unjudged(module, &name);
                Diagnostics::new()
            }
            // What the root tells others is not asked for any more when everything goes.
            NodeKind::Output(_) | NodeKind::Check(_) if module == 0 && self.request.plan.mode == Mode::Destroy => {
                Diagnostics::new()
            }
            kind => {
                let found = self.checks.evaluate(&mut self.walk, node);
                // Of what was known already, or nobody asks for, everything was told with the plan.
                let is_known = |name: &Str| {
                    let planned = self.request.plan.outputs.get(name);
                    planned.is_some_and(|change| change.after.is_wholly_known())
                };
                let was_told = match kind {
                    NodeKind::Output(name) => module == 0 && is_known(&name),
                    _ => self.unasked.contains(&node),
                };
                found.into_iter().filter(|found| !was_told || found.deprecation.is_none()).collect()
            }
        }
    }

    /// Nobody asks for an output: what its conditions would say stays open.
    fn leave_unjudged(&mut self, module: ModuleIndex, name: &Str) {
        let path = &self.walk.graph().modules[module].node.path;
        let subject = Checked::Output(Module::new(path.iter().cloned()), name.clone());
        let places = self.walk.instances_of(module).iter().map(|at| self.walk.module_instance(*at).clone());
        self.checks.expanded(&subject, places.map(|place| CheckedInstance::Output(place, name.clone())));
    }

    /// Takes the result of a task in. Gives what its step goes on with.
    fn take(&mut self, finished: Finished) -> Option<Work> {
        let (step, job, done) = match finished {
            Finished::Change(step, job, done) => (step, job, done),
            Finished::Written(written, trouble) => return self.go_on(*written, trouble),
            Finished::Provision(provisioning, found) => return self.provisioned(*provisioning, found),
            Finished::Open(opening, result) => {
                self.opened(opening, *result);
                return None;
            }
            Finished::Again(step, job) => {
                self.queue.push_back(Work::Change { step, job, told: true });
                return None;
            }
            Finished::Due(waiting) => {
                self.due(waiting);
                return None;
            }
            Finished::Looked(waiting, look) => {
                self.looked(waiting, *look);
                return None;
            }
            Finished::Waited(step, found) => {
                self.conclude(step, found);
                return None;
            }
        };
        if let Some(patience) = done.again.filter(|patience| self.may_wait(step, *patience)) {
            self.postpone(step, job, done.operation, patience);
            return None;
        }
        let Done { mut left, mut diagnostics, quiet, operation, .. } = self.softened(&job, done);
        if let Left::Object(object) = &mut left {
            self.settle(step, &job, object, &mut diagnostics);
        }
        let failed = diagnostics.has_errors();
        let (mut new, mut ticket) = (None, Ok(None));
        match left {
            Left::AsStored => ticket = self.leave(operation, &job.change),
            // Nobody knows what came of it, so it stays open.
            Left::InDoubt => ticket = self.leave(None, &job.change),
            Left::Nothing => ticket = self.put_down(operation, &job.change, None),
            Left::Object(object) => {
                self.made.insert(job.change.address.clone(), object.marked(&job.kind.schema));
                match object.stored(&job.kind) {
                    Ok(stored) => ticket = self.put_down(operation, &job.change, Some(stored)),
                    Err(found) => self.diagnostics.extend(found),
                }
                new = (!failed && job.wanted.is_some() && job.change.action.creates()).then_some(object);
            }
        }
        self.store();
        let resource = self.walk.instance_at(&job.change.address.module).unwrap_or(0);
        let resource = self.walk.resource(resource, &job.change.address.instance.resource);
        let place = |diagnostic| match resource {
            Some(resource) => self.walk.locate(resource, diagnostic),
            None => diagnostic,
        };
        let found = diagnostics.into_iter().map(place).collect();
        let written = Written { step, job, new, found, quiet };
        match ticket {
            Ok(None) => self.go_on(written, Diagnostics::new()),
            Err(trouble) => self.go_on(written, trouble),
            Ok(Some(ticket)) => {
                let logbook = Arc::clone(&self.request.logbook);
                self.aside.spawn(async move {
                    let trouble = logbook.safe(ticket).await.err().unwrap_or_default();
                    Finished::Written(Box::new(written), trouble)
                });
                None
            }
        }
    }

    /// What came of a change is safe, so whatever depends on it may begin. If it is not, nothing does.
    fn go_on(&mut self, written: Written, trouble: Diagnostics) -> Option<Work> {
        let Written { step, job, new, mut found, quiet } = written;
        let is_safe = !trouble.has_errors();
        found.extend(with_address(trouble, &job.change.address));
        if let Some(object) = new.filter(|_| is_safe) {
            return self.provision(Provisioning::of_new(step, job, object, found));
        }
        if quiet {
            self.wait_or_conclude(step, found);
        } else {
            self.end(step, &job.change, found);
        }
        None
    }

    /// Ends the step of a change.
    pub(super) fn end(&mut self, step: StepIndex, change: &Change, found: Diagnostics) {
        let removes = matches!(self.request.plan.execution.steps[step], Step::Remove(_));
        let action = half(change.action, removes);
        let (address, deposed) = (change.address.clone(), change.deposed.clone());
        self.request.events.tell(if found.has_errors() {
            Event::ApplyFailed { address, deposed, action }
        } else {
            let object = self.made.get(&address).filter(|_| deposed.is_none()).unwrap_or(&change.after);
            let id = if removes { None } else { shown_id(object) };
            match self.waits.get(&step) {
                Some(waiting) if waiting.was_made_in_part() => Event::ApplyKept { address, action, id },
                _ => Event::ApplyDone { address, deposed, action, id },
            }
        });
        self.wait_or_conclude(step, found);
    }
}

fn incomplete() -> Diagnostic {
    let detail = "The plan was made with -target or -exclude, so some changes that the configuration asks for may have been \
                  left out, and outputs may not be up to date. Run \"groma plan\" to see what is left to do.";
    Diagnostic::warning("Applied changes may be incomplete", detail)
}

/// That a change, or the half of it that makes or removes, begins.
fn started(change: &Change, removes: bool) -> Event {
    let action = half(change.action, removes);
    let id = shown_id_or_name(&change.before).filter(|_| action != Action::Create);
    Event::ApplyStarted { address: change.address.clone(), deposed: change.deposed.clone(), action, id }
}

/// What is told of a replacement: each half by itself.
fn half(action: Action, removes: bool) -> Action {
    match (action.is_replace(), removes) {
        (true, true) => Action::Delete,
        (true, false) => Action::Create,
        (false, _) => action,
    }
}
