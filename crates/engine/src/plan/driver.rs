//! The planning walk: declarations in the order in which they need each other, with calls to providers going on beside it.
//!
//! Everything about the configuration happens here, on one task; what providers are asked runs on tasks of its own. Results are
//! taken in as they come, and put in order at the end.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use groma_lang::graph::{NodeIndex, NodeKind};
use groma_lang::walk::{Purpose, Settings, Walk};
use groma_model::address::{AbsInstance, ConfigResource};
use groma_model::diag::{Diagnostic, Diagnostics};
use tokio::task::JoinSet;
use tracing::{Instrument as _, Span};

use super::data::{self, DataJob};
use super::dependencies::Dependencies;
use super::instance::{self, Job};
use super::nodes::{Pending, TaskResult};
use super::provider_use::ProviderUse;
use super::renamed::Renamed;
use super::replace::Cascade;
use super::result::Gathered;
use super::selection::Selection;
use super::{Mode, Plan, Request, generate, moves, orphans};
use crate::checks::CheckBook;
use crate::ephemeral::{self, Leases, OpenJob};
use crate::events::trace;
use crate::interrupt::Urgency;
use crate::schedule::Schedule;
use crate::values::ResourceValues;

/// The work of one task.
pub(super) enum Work {
    /// A managed resource.
    Managed(Box<Job>),
    /// A data source.
    Data(Box<DataJob>),
    /// An ephemeral resource.
    Ephemeral(Box<OpenJob>),
}

/// A task and whose it is.
pub(super) struct Task {
    /// The resource node. None for what is not declared.
    pub(super) node: Option<NodeIndex>,
    /// Which of its tasks.
    pub(super) index: usize,
    /// What to do.
    pub(super) work: Work,
}

impl Task {
    fn span(&self) -> Span {
        match &self.work {
            Work::Managed(job) => trace::resource("plan", &job.address),
            Work::Data(job) => trace::resource("read", &job.address),
            Work::Ephemeral(job) => trace::resource("open", &job.address),
        }
    }
}

/// The state of the walk.
pub(super) struct Driver<'a, 'r> {
    pub(super) request: &'r Request<'a>,
    pub(super) walk: Walk<'a>,
    pub(super) values: &'a ResourceValues<'a>,
    pub(super) dependencies: Dependencies,
    /// Resources whose replacements are made first, and which of them asks for that.
    pub(super) made_first: BTreeMap<NodeIndex, NodeIndex>,
    /// What cannot go when everything goes, because something stays that needs it.
    pub(super) still_needed: BTreeSet<ConfigResource>,
    /// What is replaced and takes others along.
    pub(super) cascades: Vec<Cascade>,
    /// Objects that must not be destroyed and would be, with what is said about that.
    pub(super) prevented: BTreeMap<AbsInstance, Diagnostic>,
    pub(super) providers: ProviderUse,
    pub(super) gathered: Gathered,
    pub(super) pending: BTreeMap<NodeIndex, Pending<'a>>,
    pub(super) queue: VecDeque<Task>,
    pub(super) diagnostics: Diagnostics,
    pub(super) selection: Selection,
    pub(super) checks: CheckBook,
    pub(super) leases: Leases,
    schedule: Schedule,
}

/// Makes a plan. `renamed` are objects that are known to have another address now though nobody says so.
pub(super) async fn run(request: &Request<'_>, renamed: &[Renamed]) -> (Option<Plan>, Diagnostics) {
    let values = ResourceValues::new(request.schemas);
    // What is only looked at, or on its way out, need not be in order.
    let lenient = request.options.mode != Mode::Normal;
    // What is another value with every call is known only once it is applied.
    let settings =
        Settings { purpose: Purpose::Evaluate, pure_only: true, lenient, oracle: &values, ..request.settings };
    let (walk, diagnostics) = Walk::start(request.tree, settings, request.inputs);
    if diagnostics.has_errors() {
        return (None, diagnostics);
    }
    let missing = generate::check_targets(walk.graph(), request.options);
    if missing.has_errors() {
        return (None, missing);
    }
    let order = match walk.graph().order() {
        Ok(order) => order,
        Err(cycle) => return (None, cycle.diagnostic().into()),
    };
    let dependencies = Dependencies::new(walk.graph(), &order);
    let schedule = Schedule::new(&walk.graph().needs);
    let selection = Selection::new(walk.graph(), request.options);
    let mut moved = moves::apply(walk.graph(), request.state, renamed);
    let mut diagnostics = diagnostics;
    diagnostics.extend(selection.warning());
    diagnostics.extend(moves::check_selection(&moved, request.options));
    diagnostics.extend(orphans::still_declared(walk.graph()));
    diagnostics.extend(std::mem::take(&mut moved.diagnostics));
    if diagnostics.has_errors() {
        return (None, diagnostics);
    }
    let mut driver = Driver {
        request,
        values: &values,
        made_first: dependencies.made_first(walk.graph(), &selection),
        still_needed: BTreeSet::new(),
        cascades: Vec::new(),
        prevented: BTreeMap::new(),
        dependencies,
        providers: ProviderUse::new(request.providers.clone()),
        gathered: Gathered::new(moved.state, moved.from, |address| {
            selection.includes_instance(
                walk.graph().resource_node(address.module.module().names(), &address.instance.resource),
                address,
            )
        }),
        pending: BTreeMap::new(),
        queue: VecDeque::new(),
        diagnostics,
        selection,
        checks: CheckBook::new(walk.graph()),
        leases: Leases::new(),
        schedule,
        walk,
    };
    driver.start_gone();
    driver.work().await;
    driver.start_undeclared();
    driver.start_generated();
    driver.work().await;
    let found = driver.leases.close().await;
    driver.diagnostics.extend(found);
    driver.diagnostics.extend(driver.providers.take_warnings());
    let wrong_moves = moves::validate(&driver.walk, request.settings.sources);
    if wrong_moves.has_errors() {
        return (None, wrong_moves);
    }
    driver.finish()
}

impl Driver<'_, '_> {
    /// Goes on until nothing is ready and nothing is under way.
    async fn work(&mut self) {
        let mut tasks = JoinSet::new();
        loop {
            while let Some(node) = self.schedule.next() {
                self.start(node);
            }
            while tasks.len() < self.request.options.parallelism
                && !self.is_stopped()
                && let Some(task) = self.queue.pop_front()
            {
                let span = task.span();
                tasks.spawn(perform(task).instrument(span));
            }
            // More nodes may have become ready while tasks were made: only waiting is left if not.
            let Some(finished) = tasks.join_next().await else { break };
            match finished {
                Ok((node, index, result)) => self.take(node, index, result),
                Err(error) => self.diagnostics.push(Diagnostic::error("Internal error", error.to_string())),
            }
        }
    }

    fn start(&mut self, node: NodeIndex) {
        if self.schedule.blocked_by(node).is_some() {
            return self.done(node, true);
        }
        if !self.selection.includes(node) {
            return self.done(node, false);
        }
        match self.walk.graph().nodes[node].kind.clone() {
            NodeKind::Resource(key) => self.start_resource(node, &key),
            NodeKind::Provider(key) => {
                let found = self.providers.visit(&self.walk, self.walk.graph().nodes[node].module, &key);
                self.conclude(node, found);
                self.start_gone();
            }
            _ => {
                let found = self.checks.evaluate(&mut self.walk, node);
                self.conclude(node, found);
            }
        }
    }

    /// Whether nothing new may begin.
    fn is_stopped(&self) -> bool {
        self.request.interrupt.urgency() != Urgency::None
    }

    /// Ends a node with what was found.
    pub(super) fn conclude(&mut self, node: NodeIndex, found: Diagnostics) {
        let failed = found.has_errors();
        self.diagnostics.extend(found);
        self.done(node, failed);
    }

    /// Ends a node. What needed it may be ready now.
    pub(super) fn done(&mut self, node: NodeIndex, failed: bool) {
        self.schedule.done(node, failed);
    }
}

async fn perform(task: Task) -> (Option<NodeIndex>, usize, TaskResult) {
    let result = match task.work {
        Work::Managed(job) => TaskResult::Managed(Box::new(instance::plan(*job).await)),
        Work::Data(job) => TaskResult::Data(Box::new(data::plan(*job).await)),
        Work::Ephemeral(job) => TaskResult::Ephemeral(Box::new(ephemeral::open(*job).await)),
    };
    (task.node, task.index, result)
}
