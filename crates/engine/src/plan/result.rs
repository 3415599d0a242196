//! What the planning walk has found so far, and the plan that is made of it.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use groma_lang::config::{Output, ResourceMode};
use groma_lang::graph::{Graph, NodeIndex};
use groma_model::address::{AbsInstance, AbsResource, ConfigResource, ModuleInstance, Provider};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::mark::Mark;
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_model::value::Value;
use groma_provider::api::Private;
use groma_state::{InstanceState, OutputState, ResourceState, State};

use super::data::ReadData;
use super::driver::Driver;
use super::instance::Planned;
use super::moves::MovedFrom;
use super::provider_use::{NO_CONFIGURATION, same_config};
use super::relevant::Changing;
use super::replace::Candidate;
use super::{Mode, OutputChange, Plan, RelevantAttribute, check, relevant};
use crate::change::{Action, Change};
use crate::execution::{Cycle, Execution, Sources};
use crate::import::NOT_DECLARED;
use crate::interrupt::Urgency;
use crate::stored::Origin;

/// A change, with what rules may ask about it if it replaces something.
type Found = (Change, Option<Arc<Candidate>>);

/// What has been found so far.
pub(super) struct Gathered {
    /// As the last run left it, at today's addresses.
    previous: State,
    /// As it is.
    prior: State,
    /// Where objects were before they were moved.
    moved_from: BTreeMap<AbsInstance, MovedFrom>,
    changes: BTreeMap<AbsResource, Vec<Found>>,
    drift: Vec<Change>,
    /// In which module instances a resource has changes.
    pending: BTreeMap<NodeIndex, Vec<ModuleInstance>>,
    data: BTreeMap<AbsInstance, Value>,
    begun: BTreeSet<AbsResource>,
    problems: Diagnostics,
}

impl Gathered {
    /// `read_anew` says which data this plan is about: it is read again, or gone.
    pub(super) fn new(
        state: State,
        moved_from: BTreeMap<AbsInstance, MovedFrom>,
        read_anew: impl Fn(&AbsInstance) -> bool,
    ) -> Self {
        let mut prior = state.clone();
        prior.resources.retain(|address, resource| {
            if address.resource.mode != ResourceMode::Managed {
                resource.instances.retain(|key, _| !read_anew(&address.instance(key.clone())));
            }
            !resource.instances.is_empty()
        });
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
        self.moved_from.get(address).map(|from| from.address.clone())
    }

    /// What an object was before it became what it is now, if it was moved by a statement and was something else.
    pub(super) fn origin(&self, address: &AbsInstance, provider: &Provider) -> Option<Origin> {
        let from = self.moved_from.get(address).filter(|from| from.explicit)?;
        let type_name = &from.address.instance.resource.ty;
        let same = *type_name == address.instance.resource.ty && from.provider.same_as(provider);
        (!same).then(|| Origin { provider: from.provider.clone(), type_name: type_name.clone() })
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

    /// What there is.
    pub(super) fn prior(&self) -> &State {
        &self.prior
    }

    /// What the objects in the state were made with.
    pub(super) fn stored_dependencies<'s>(&'s self) -> impl Fn(&AbsInstance) -> &'s [ConfigResource] + 's {
        let instances = self.instances();
        move |address| {
            let object = instances(address).and_then(|instance| instance.current.as_ref());
            object.map(|object| object.dependencies.as_slice()).unwrap_or_default()
        }
    }

    /// The instances that there are. Those of one resource are asked for in succession, as a rule.
    fn instances<'s>(&'s self) -> impl Fn(&AbsInstance) -> Option<&'s InstanceState> + 's {
        let last: RefCell<Option<(AbsResource, Option<&'s ResourceState>)>> = RefCell::default();
        move |address| {
            let mut last = last.borrow_mut();
            let resource = match &*last {
                Some((known, found))
                    if known.module == address.module && known.resource == address.instance.resource =>
                {
                    *found
                }
                _ => {
                    let resource = address.resource();
                    let found = self.prior.resources.get(&resource);
                    *last = Some((resource, found));
                    found
                }
            };
            resource?.instances.get(address.key())
        }
    }

    pub(super) fn changes_of(&self, resource: &AbsResource) -> impl Iterator<Item = &Change> {
        self.changes.get(resource).into_iter().flatten().map(|(change, _)| change)
    }

    /// Takes a managed instance in.
    pub(super) fn managed(&mut self, planned: Planned) {
        self.drift.extend(drifted(&planned));
        let Planned { address, deposed, kind, slot, refreshed, change, candidate, .. } = planned;
        let resource = self
            .prior
            .resources
            .entry(address.resource())
            .or_insert_with(|| ResourceState { provider: slot.instance().config.clone(), instances: BTreeMap::new() });
        if deposed.is_none() && !same_config(&resource.provider, &slot.instance().config) {
            resource.provider = slot.instance().config.clone();
        }
        let instance = resource.instances.entry(address.key().clone()).or_default();
        instance.provider_key = slot.instance().key.clone();
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
            self.changes.entry(change.address.resource()).or_default().push((change, candidate));
        }
    }

    /// Takes a data source in.
    pub(super) fn data(&mut self, read: ReadData) {
        if let Some(change) = read.change {
            self.changes.entry(change.address.resource()).or_default().push((change, None));
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

/// The order of changes in a plan.
fn by_place(one: &Change, other: &Change) -> Ordering {
    one.address.cmp(&other.address).then_with(|| one.deposed.cmp(&other.deposed))
}

/// What happened to an object outside, or since it was moved.
fn drifted(planned: &Planned) -> Option<Change> {
    let previous = planned.previous.as_ref().filter(|_| planned.deposed.is_none())?;
    let moved = planned.previous_address.as_ref().filter(|from| **from != planned.address);
    // An object that has become another kind of object cannot be compared with what it was.
    if moved.is_some_and(|from| from.instance.resource.ty != planned.address.instance.resource.ty) {
        return None;
    }
    let schema = &planned.kind.schema;
    let before = previous.marked(schema);
    let after = planned.refreshed.as_ref().map(|object| object.marked(schema));
    let action = match &after {
        None => Action::Delete,
        Some(after) if *after != before => Action::Update,
        Some(_) if moved.is_some() => Action::NoOp,
        Some(_) => return None,
    };
    Some(Change {
        address: planned.address.clone(),
        deposed: None,
        previous_address: planned.previous_address.clone(),
        provider: planned.slot.instance().clone(),
        action,
        reason: None,
        before,
        after: after.unwrap_or_else(|| Value::null(schema.block.implied_type())),
        configured_sensitive: Vec::new(),
        before_identity: previous.identity.clone(),
        after_identity: planned.refreshed.as_ref().and_then(|object| object.identity.clone()),
        private: Private::default(),
        replace_paths: Vec::new(),
        importing: None,
        schema: Arc::clone(schema),
        dependencies: Arc::from([]),
        create_before_destroy: false,
        generated_config: None,
        notes: Vec::new(),
        not_ready: None,
    })
}

impl Driver<'_, '_> {
    /// The plan.
    pub(super) fn finish(mut self) -> (Option<Plan>, Diagnostics) {
        self.diagnostics.extend(std::mem::take(&mut self.gathered.problems));
        if self.request.interrupt.urgency() != Urgency::None {
            let detail = "Planning was interrupted. The plan is not complete and cannot be applied.";
            self.diagnostics.push(Diagnostic::error("Operation interrupted", detail));
        }
        // Who looks after which object is settled before there is anything that could be called a plan.
        let unsettled = |found: &Diagnostic| found.summary == NO_CONFIGURATION || found.summary == NOT_DECLARED;
        if self.diagnostics.iter().any(unsettled) {
            self.diagnostics.extend(self.prevented.into_values());
            return (None, self.diagnostics);
        }
        let outputs = self.output_changes();
        if self.request.options.mode == Mode::Destroy {
            self.checks.expect_root_outputs();
        } else {
            self.remember_outputs(&outputs);
        }
        let found = std::mem::take(&mut self.gathered.changes);
        let is_wanted =
            |change: &Change| self.still_needed.is_empty() || !self.still_needed.contains(&change.address.config());
        // There are many, and they are large: they are moved once.
        let mut gathered: Vec<Found> = Vec::with_capacity(found.values().map(Vec::len).sum());
        gathered.extend(found.into_values().flatten().filter(|(change, _)| is_wanted(change)));
        gathered.sort_by(|(one, _), (other, _)| by_place(one, other));
        let (mut changes, candidates): (Vec<Change>, Vec<Option<Arc<Candidate>>>) = gathered.into_iter().unzip();
        let replacement = self.order_replacements(&mut changes, &candidates);
        drop(candidates);
        self.diagnostics.extend(std::mem::take(&mut self.prevented).into_values());
        let mut drift = std::mem::take(&mut self.gathered.drift);
        if self.request.options.mode == Mode::Destroy {
            // It goes, however it has changed.
            drift.clear();
        }
        drift.sort_by(by_place);
        // What is not complete is not carried out.
        let order = if self.diagnostics.has_errors() { Ok(Execution::default()) } else { self.execution(&changes) };
        let execution = order.unwrap_or_else(|cycle| {
            self.diagnostics.push(cycle_error(&cycle, self.walk.graph(), &changes));
            Execution::default()
        });
        let relevant = self.relevant_attributes(&changes, &outputs);
        let plan = Plan {
            mode: self.request.options.mode,
            changes,
            drift,
            outputs,
            previous_state: self.gathered.previous,
            prior_state: self.gathered.prior,
            data: self.gathered.data,
            execution,
            checks: self.checks.reports(),
            replacement,
            relevant,
            options: self.request.options.clone(),
            errored: self.diagnostics.has_errors(),
        };
        if cfg!(debug_assertions) {
            let internal = |problem| Diagnostic::error("Internal error: the plan is not sound", problem);
            self.diagnostics.extend(check::problems(&plan).into_iter().map(internal));
        }
        (Some(plan), self.diagnostics)
    }

    /// The order in which changes are carried out.
    fn execution(&self, changes: &[Change]) -> Result<Execution, Cycle> {
        let dependencies = self.gathered.stored_dependencies();
        let stored = |address: &AbsInstance| dependencies(address).to_vec();
        let instance = self.gathered.instances();
        let put_aside = |address: &AbsInstance| {
            instance(address).map(|instance| instance.deposed.keys().cloned().collect()).unwrap_or_default()
        };
        let sources = Sources {
            graph: self.walk.graph(),
            changes,
            stored: &stored,
            put_aside: &put_aside,
            declared: &|node| self.selection.includes(node),
        };
        Execution::new(&sources)
    }

    /// Outputs that are known now are so whatever becomes of the plan.
    fn remember_outputs(&mut self, outputs: &BTreeMap<Str, OutputChange>) {
        for (name, change) in outputs {
            let value = change.after.clone().unmark_deep().0;
            let Some(declared) = self.walk.module(0).outputs.get(name) else { continue };
            if value.is_null() {
                self.gathered.prior.outputs.remove(name);
            } else if value.is_wholly_known() {
                let (sensitive, deprecated) = (declared.sensitive, declared.deprecated.clone());
                let state = OutputState { value, sensitive, deprecated };
                self.gathered.prior.outputs.insert(name.clone(), state);
            }
        }
    }

    fn relevant_attributes(&self, changes: &[Change], outputs: &BTreeMap<Str, OutputChange>) -> Vec<RelevantAttribute> {
        let graph = self.walk.graph();
        let instances = (1..graph.modules.len()).flat_map(|module| self.walk.instances_of(module));
        let with_value = instances.flat_map(|&instance| {
            let module = self.walk.module_instance(instance);
            let outputs = self.walk.outputs(instance).iter().filter(|(_, value)| !value.is_null());
            outputs.map(move |(name, _)| (module, name))
        });
        let is_dropped = |address: &&AbsResource| {
            self.request.options.mode == Mode::Destroy && address.resource.mode == ResourceMode::Data
        };
        let dropped = self.request.state.resources.keys().filter(is_dropped).collect();
        let changing = Changing { changes, outputs, inner_outputs: with_value.collect(), dropped };
        relevant::attributes(graph, &changing)
    }

    fn output_changes(&self) -> BTreeMap<Str, OutputChange> {
        let mut changes = BTreeMap::new();
        let stored = &self.request.state.outputs;
        if self.request.options.mode != Mode::Destroy {
            for (name, value) in self.walk.root_outputs() {
                if let Some(declared) = self.walk.module(0).outputs.get(name) {
                    changes.insert(name.clone(), output_change(stored.get(name), declared, value.clone()));
                }
            }
        }
        let outputs = &self.walk.module(0).outputs;
        let partial = !self.request.options.targets.is_empty() || !self.request.options.excludes.is_empty();
        let destroys = self.request.options.mode == Mode::Destroy;
        let gone = |name: &Str| !partial && !changes.contains_key(name) && (destroys || !outputs.contains_key(name));
        for (name, output) in stored.iter().filter(|(name, _)| gone(name)).collect::<Vec<_>>() {
            let (before, after) = (marked_output(output), Value::null(Type::Dynamic));
            let gone = OutputChange { action: Action::Delete, before, after, sensitive: output.sensitive };
            changes.insert(name.clone(), gone);
        }
        changes
    }
}

fn cycle_error(cycle: &Cycle, graph: &Graph<'_>, changes: &[Change]) -> Diagnostic {
    let Cycle(steps) = cycle;
    let mut names: Vec<String> = steps.iter().filter_map(|step| step.name(graph, changes)).collect();
    names.dedup();
    let detail = "Each of these must come before another one of them, so the changes have no order. Make them in two runs, or \
                  let create_before_destroy be the same for all of them.";
    Diagnostic::error(format!("Cycle: {}", names.join(", ")), detail)
}

fn marked_output(output: &OutputState) -> Value {
    if output.sensitive { output.value.clone().mark(Mark::Sensitive) } else { output.value.clone() }
}

/// What happens to an output that is declared. That it is hidden or discouraged is a change as well.
fn output_change(stored: Option<&OutputState>, declared: &Output, after: Value) -> OutputChange {
    let before = stored.map_or_else(|| Value::null(Type::Dynamic), marked_output);
    let same_warning = stored.and_then(|stored| stored.deprecated.as_ref()) == declared.deprecated.as_ref();
    let was_sensitive = stored.is_some_and(|stored| stored.sensitive);
    let action = match stored {
        _ if before.is_null() && after.is_null() && same_warning => Action::NoOp,
        None => Action::Create,
        Some(stored)
            if stored.value == after.clone().unmark_deep().0 && was_sensitive == declared.sensitive && same_warning =>
        {
            Action::NoOp
        }
        Some(_) => Action::Update,
    };
    OutputChange { action, before, after, sensitive: was_sensitive || declared.sensitive }
}
