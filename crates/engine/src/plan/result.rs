//! What the planning walk has found so far, and the plan that is made of it.

use std::collections::{BTreeMap, BTreeSet};

use groma_lang::graph::NodeIndex;
use groma_model::address::{AbsInstance, AbsResource, ModuleInstance};
use groma_model::diag::Diagnostics;
use groma_model::mark::Mark;
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_model::value::Value;
use groma_state::{InstanceState, OutputState, ResourceState, State};

use super::driver::Driver;
use super::instance::Planned;
use super::nodes::ReadData;
use super::{Mode, OutputChange, Plan};
use crate::change::{Action, Change};
use crate::execution::{Cycle, Execution, Sources};
use crate::stored::{Object, ObjectSchema};

/// What has been found so far.
pub(super) struct Gathered {
    /// As the last run left it, at today's addresses.
    previous: State,
    /// As it is.
    prior: State,
    /// Where objects were before they were moved.
    moved_from: BTreeMap<AbsInstance, AbsInstance>,
    changes: BTreeMap<AbsResource, Vec<Change>>,
    drift: Vec<Change>,
    /// In which module instances a resource has changes.
    pending: BTreeMap<NodeIndex, Vec<ModuleInstance>>,
    data: BTreeMap<AbsInstance, Value>,
    begun: BTreeSet<AbsResource>,
    problems: Diagnostics,
}

impl Gathered {
    pub(super) fn new(state: State, moved_from: BTreeMap<AbsInstance, AbsInstance>) -> Self {
        // Data sources are read anew by every run.
        let mut prior = state.clone();
        prior.resources.retain(|address, _| address.resource.mode == groma_lang::config::ResourceMode::Managed);
        Self {
            previous: state,
            prior,
            moved_from,
            changes: BTreeMap::new(),
            drift: Vec::new(),
            pending: BTreeMap::new(),
            data: BTreeMap::new(),
            begun: BTreeSet::new(),
            problems: Diagnostics::new(),
        }
    }

    /// What there was when the last run ended.
    pub(super) fn state(&self) -> &State {
        &self.previous
    }

    /// Whether the leftovers of a resource have not been looked at before.
    pub(super) fn begin(&mut self, resource: &AbsResource) -> bool {
        self.begun.insert(resource.clone())
    }

    pub(super) fn previous_address(&self, address: &AbsInstance) -> Option<AbsInstance> {
        self.moved_from.get(address).cloned()
    }

    pub(super) fn note_pending(&mut self, node: NodeIndex, module: &ModuleInstance) {
        let modules = self.pending.entry(node).or_default();
        if !modules.contains(module) {
            modules.push(module.clone());
        }
    }

    pub(super) fn pending_in(&self, node: NodeIndex) -> &[ModuleInstance] {
        self.pending.get(&node).map(Vec::as_slice).unwrap_or_default()
    }

    pub(super) fn changes_of(&self, resource: &AbsResource) -> impl Iterator<Item = &Change> {
        self.changes.get(resource).into_iter().flatten()
    }

    /// Takes a managed instance in.
    pub(super) fn managed(&mut self, planned: Planned) {
        let Planned { address, deposed, kind, slot, previous, refreshed, change, .. } = planned;
        if deposed.is_none() {
            self.drift.extend(drifted(&address, &kind, previous.as_ref(), refreshed.as_ref(), change.as_ref()));
        }
        let resource = self
            .prior
            .resources
            .entry(address.resource())
            .or_insert_with(|| ResourceState { provider: slot.instance().config.clone(), instances: BTreeMap::new() });
        let instance = resource.instances.entry(address.key().clone()).or_default();
        let stored = refreshed.map(|object| object.stored(&kind));
        let stored = match stored.transpose() {
            Ok(stored) => stored,
            Err(found) => {
                self.problems.extend(found);
                None
            }
        };
        match (deposed, stored) {
            (None, stored) => instance.current = stored,
            (Some(key), Some(stored)) => {
                instance.deposed.insert(key, stored);
            }
            (Some(key), None) => {
                instance.deposed.remove(&key);
            }
        }
        if instance.current.is_none() && instance.deposed.is_empty() {
            resource.instances.remove(address.key());
        }
        if resource.instances.is_empty() {
            self.prior.resources.remove(&address.resource());
        }
        if let Some(change) = change {
            self.changes.entry(change.address.resource()).or_default().push(change);
        }
    }

    /// Takes a data source in.
    pub(super) fn data(&mut self, read: ReadData) {
        if let Some(change) = read.change {
            self.changes.entry(change.address.resource()).or_default().push(change);
        }
        let Some(object) = read.object else { return };
        self.data.insert(read.address.clone(), object.marked(&read.kind.schema));
        match object.stored(&read.kind) {
            Err(found) => self.problems.extend(found),
            Ok(stored) => {
                let instance = read.slot.instance();
                let resource = self
                    .prior
                    .resources
                    .entry(read.address.resource())
                    .or_insert_with(|| ResourceState { provider: instance.config.clone(), instances: BTreeMap::new() });
                let state = InstanceState { provider_key: instance.key.clone(), ..stored.into() };
                resource.instances.insert(read.address.key().clone(), state);
            }
        }
    }
}

/// What happened to an object outside.
fn drifted(
    address: &AbsInstance,
    kind: &ObjectSchema,
    previous: Option<&Object>,
    refreshed: Option<&Object>,
    change: Option<&Change>,
) -> Option<Change> {
    let previous = previous?;
    let action = match refreshed {
        None => Action::Delete,
        Some(refreshed) if refreshed.value != previous.value => Action::Update,
        Some(_) => return None,
    };
    let nothing = Value::null(kind.schema.block.implied_type());
    let base = change?.clone();
    Some(Change {
        address: address.clone(),
        action,
        reason: None,
        before: previous.marked(&kind.schema),
        after: refreshed.map_or(nothing, |object| object.marked(&kind.schema)),
        replace_paths: Vec::new(),
        ..base
    })
}

impl Driver<'_, '_> {
    /// The plan.
    pub(super) fn finish(mut self) -> (Option<Plan>, Diagnostics) {
        self.diagnostics.extend(std::mem::take(&mut self.gathered.problems));
        if self.diagnostics.has_errors() {
            return (None, self.diagnostics);
        }
        let outputs = self.output_changes();
        let mut changes: Vec<Change> = std::mem::take(&mut self.gathered.changes).into_values().flatten().collect();
        let place = |change: &Change| (change.address.clone(), change.deposed.clone());
        changes.sort_by_key(place);
        let mut drift = std::mem::take(&mut self.gathered.drift);
        drift.sort_by_key(place);
        let prior = &self.gathered.prior;
        let stored = |address: &AbsInstance| {
            let instance =
                prior.resources.get(&address.resource()).and_then(|found| found.instances.get(address.key()));
            let object = instance.and_then(|instance| instance.current.as_ref());
            object.map(|object| object.dependencies.clone()).unwrap_or_default()
        };
        let declared = |node| self.selection.includes(node);
        let sources = Sources { graph: self.walk.graph(), changes: &changes, stored: &stored, declared: &declared };
        let execution = match Execution::new(&sources) {
            Ok(execution) => execution,
            Err(cycle) => {
                self.diagnostics.push(cycle_error(&cycle, &changes));
                return (None, self.diagnostics);
            }
        };
        let plan = Plan {
            mode: self.request.options.mode,
            changes,
            drift,
            outputs,
            previous_state: self.gathered.previous,
            prior_state: self.gathered.prior,
            data: self.gathered.data,
            execution,
            checks: Vec::new(),
            relevant: Vec::new(),
            options: self.request.options.clone(),
            errored: false,
        };
        (Some(plan), self.diagnostics)
    }

    fn output_changes(&self) -> BTreeMap<Str, OutputChange> {
        let mut changes = BTreeMap::new();
        let stored = &self.request.state.outputs;
        let before = |name: &Str| stored.get(name).map_or_else(|| Value::null(Type::Dynamic), marked_output);
        if self.request.options.mode != Mode::Destroy {
            for (name, value) in self.walk.root_outputs() {
                let sensitive = self.walk.module(0).outputs.get(name).is_some_and(|output| output.sensitive);
                changes.insert(name.clone(), output_change(before(name), value.clone(), sensitive));
            }
        }
        let outputs = &self.walk.module(0).outputs;
        let partial = !self.request.options.targets.is_empty() || !self.request.options.excludes.is_empty();
        let gone = |name: &Str| !(changes.contains_key(name) || partial && outputs.contains_key(name));
        for (name, output) in stored.iter().filter(|(name, _)| gone(name)).collect::<Vec<_>>() {
            let gone = output_change(before(name), Value::null(Type::Dynamic), output.sensitive);
            changes.insert(name.clone(), gone);
        }
        changes
    }
}

fn cycle_error(cycle: &Cycle, changes: &[Change]) -> groma_model::diag::Diagnostic {
    let Cycle(steps) = cycle;
    let named: Vec<String> = steps.iter().map(|name| name.describe(changes)).collect();
    groma_model::diag::Diagnostic::error(format!("Cycle: {}", named.join(", ")), "")
}

fn marked_output(output: &OutputState) -> Value {
    if output.sensitive { output.value.clone().mark(Mark::Sensitive) } else { output.value.clone() }
}

fn output_change(before: Value, after: Value, sensitive: bool) -> OutputChange {
    let action = match (before.is_null(), after.is_null()) {
        (true, true) => Action::NoOp,
        (true, false) => Action::Create,
        (false, true) => Action::Delete,
        (false, false) if before.clone().unmark_deep().0 == after.clone().unmark_deep().0 => Action::NoOp,
        (false, false) => Action::Update,
    };
    OutputChange { action, before, after, sensitive }
}
