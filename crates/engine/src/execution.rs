//! The order in which a plan is carried out: every step, and what must be done before it. Made with the plan; apply obeys it.
//!
//! Steps that many wait for are joined by gates, so that the graph grows with the number of objects and not with its square.

use std::collections::{BTreeMap, BTreeSet};

use groma_lang::graph::{Graph, NodeIndex, NodeKind};
use groma_model::address::{AbsInstance, AbsResource, ConfigResource, DeposedKey, Module, ModuleInstance};

use crate::change::{Action, Change, Note};

/// A step, by its place in [`Execution::steps`].
pub type StepIndex = usize;

/// Something to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// A declaration is evaluated: the node of that number in the configuration's graph.
    Declare(NodeIndex),
    /// The change of that number in the plan makes, updates or reads its object.
    Make(usize),
    /// The change of that number in the plan deletes or forgets its object.
    Remove(usize),
    /// Nothing; others wait here.
    Gate,
}

impl Step {
    /// What people call the step. None if it stands for nothing that they know.
    pub(crate) fn name(&self, graph: &Graph<'_>, changes: &[Change]) -> Option<String> {
        let address = |at: &usize| changes.get(*at).map(|change| change.address.to_string());
        match self {
            Step::Declare(node) => Some(graph.name(*node)),
            Step::Make(at) => address(at),
            Step::Remove(at) => Some(format!("{} (destroy)", address(at)?)),
            Step::Gate => None,
        }
    }
}

/// The order of a plan.
#[derive(Debug, Clone, Default)]
pub struct Execution {
    /// What is done. The declarations come first, by their numbers.
    pub steps: Vec<Step>,
    /// What each step waits for.
    pub needs: Vec<Vec<StepIndex>>,
    /// Under which key each object is put aside that is replaced by one made first, by change.
    pub deposed_as: BTreeMap<usize, DeposedKey>,
}

/// Steps that wait for each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cycle(pub Vec<Step>);

/// What the order is worked out from.
pub(crate) struct Sources<'s> {
    pub(crate) graph: &'s Graph<'s>,
    pub(crate) changes: &'s [Change],
    /// What the objects in the state depend on, as they were made.
    pub(crate) stored: &'s dyn Fn(&AbsInstance) -> Vec<ConfigResource>,
    /// Keys that objects of an instance have been put aside under already.
    pub(crate) put_aside: &'s dyn Fn(&AbsInstance) -> Vec<DeposedKey>,
    /// Which declarations are evaluated.
    pub(crate) declared: &'s dyn Fn(NodeIndex) -> bool,
}

impl Execution {
    /// Works the order out. What was put aside goes before what it was made with, unless that leaves no order at all: then it
    /// goes as what took its place would.
    pub(crate) fn new(sources: &Sources<'_>) -> Result<Self, Cycle> {
        let has_put_aside = sources.changes.iter().any(|change| change.deposed.is_some());
        match Self::ordered(sources, PutAside::ByItself) {
            Err(_) if has_put_aside => Self::ordered(sources, PutAside::AsCurrent),
            result => result,
        }
    }

    fn ordered(sources: &Sources<'_>, put_aside: PutAside) -> Result<Self, Cycle> {
        let mut builder = Builder::new(sources, put_aside);
        builder.add_declarations();
        builder.add_changes();
        builder.order_removals();
        builder.order_checks();
        builder.execution.check_acyclic()?;
        Ok(builder.execution)
    }

    fn add(&mut self, step: Step, needs: Vec<StepIndex>) -> StepIndex {
        self.steps.push(step);
        self.needs.push(needs);
        self.steps.len() - 1
    }

    /// Whether no step waits for itself.
    pub fn is_acyclic(&self) -> bool {
        self.check_acyclic().is_ok()
    }

    /// How many declarations the configuration has, at least.
    pub fn declarations(&self) -> usize {
        self.steps.iter().rposition(|step| matches!(step, Step::Declare(_))).map_or(0, |last| last + 1)
    }

    /// Removes steps that need nothing unfinished until none are left.
    pub(crate) fn check_acyclic(&self) -> Result<(), Cycle> {
        let mut unmet: Vec<usize> = self.needs.iter().map(Vec::len).collect();
        let mut needed_by: Vec<Vec<StepIndex>> = vec![Vec::new(); self.steps.len()];
        for (step, needs) in self.needs.iter().enumerate() {
            for need in needs {
                needed_by[*need].push(step);
            }
        }
        let mut free: Vec<StepIndex> = (0..unmet.len()).filter(|step| unmet[*step] == 0).collect();
        let mut done = 0;
        while let Some(step) = free.pop() {
            done += 1;
            for &next in &needed_by[step] {
                unmet[next] -= 1;
                if unmet[next] == 0 {
                    free.push(next);
                }
            }
        }
        if done == self.steps.len() {
            return Ok(());
        }
        let stuck = (0..unmet.len()).filter(|step| unmet[*step] > 0 && self.steps[*step] != Step::Gate);
        Err(Cycle(stuck.map(|step| self.steps[step].clone()).collect()))
    }
}

/// Whose dependencies count for an object that was put aside.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PutAside {
    /// Its own.
    ByItself,
    /// Those of the current object.
    AsCurrent,
}

struct Builder<'s> {
    sources: &'s Sources<'s>,
    put_aside: PutAside,
    execution: Execution,
    nodes: BTreeMap<ConfigResource, NodeIndex>,
    /// The step that makes an object, by change.
    makes: BTreeMap<usize, StepIndex>,
    /// The step that removes an object, by change.
    removes: BTreeMap<usize, StepIndex>,
}

impl<'s> Builder<'s> {
    fn new(sources: &'s Sources<'s>, put_aside: PutAside) -> Self {
        let resource = |node: NodeIndex| {
            let NodeKind::Resource(key) = &sources.graph.nodes[node].kind else { return None };
            let path = &sources.graph.modules[sources.graph.nodes[node].module].node.path;
            Some((key.in_module(Module::new(path.iter().cloned())), node))
        };
        Self {
            sources,
            put_aside,
            execution: Execution::default(),
            nodes: (0..sources.graph.nodes.len()).filter_map(resource).collect(),
            makes: BTreeMap::new(),
            removes: BTreeMap::new(),
        }
    }

    fn add_declarations(&mut self) {
        for (node, needs) in self.sources.graph.needs.iter().enumerate() {
            let step = if (self.sources.declared)(node) { Step::Declare(node) } else { Step::Gate };
            self.execution.add(step, needs.clone());
        }
    }

    fn add_changes(&mut self) {
        for (at, change) in self.sources.changes.iter().enumerate() {
            let node = self.nodes.get(&change.address.config()).copied();
            let needs = node.map(|node| self.sources.graph.needs[node].clone()).unwrap_or_default();
            if change.makes() {
                let step = self.execution.add(Step::Make(at), needs.clone());
                self.makes.insert(at, step);
                if let Some(node) = node {
                    self.execution.needs[node].push(step);
                }
            }
            if change.action.deletes() || matches!(change.action, Action::Forget | Action::ForgetThenCreate) {
                let providers = needs.iter().copied().filter(|need| self.is_provider(*need)).collect();
                let step = self.execution.add(Step::Remove(at), providers);
                self.removes.insert(at, step);
            }
            if change.action == Action::CreateThenDelete {
                let taken = (self.sources.put_aside)(&change.address);
                self.execution.deposed_as.insert(at, deposed_key(&change.address, &taken));
            }
        }
    }

    fn is_provider(&self, node: NodeIndex) -> bool {
        matches!(self.sources.graph.nodes[node].kind, NodeKind::Provider(_))
    }

    /// The order of deletions among each other and around what is made.
    fn order_removals(&mut self) {
        let by_dependency = self.dependents();
        let mut removed: BTreeMap<ConfigResource, Vec<usize>> = BTreeMap::new();
        for &at in self.removes.keys() {
            removed.entry(self.sources.changes[at].address.config()).or_default().push(at);
        }
        let mut gates = Gates { by_dependency: &by_dependency, removed: &removed, made: BTreeMap::new() };
        let waited_for = self.waited_for();
        for (&at, &remove) in &self.removes.clone() {
            let change = &self.sources.changes[at];
            // What was put aside stays until what has taken its place is ready.
            self.wait_for(remove, waited_for.get(&change.address).copied().filter(|_| change.deposed.is_some()));
            let place = (change.address.config(), change.address.module.clone());
            // What depends on it goes first.
            self.wait_at(remove, &mut gates, GateKind::DependentsRemoved, &place);
            if is_made_first(change) {
                self.wait_for(remove, self.makes.get(&at).copied());
                self.wait_at(remove, &mut gates, GateKind::DependentsMade, &place);
            }
        }
        let set_aside = self.set_aside();
        for (&at, &make) in &self.makes.clone() {
            let change = &self.sources.changes[at];
            let place = (change.address.config(), change.address.module.clone());
            if !is_made_first(change) {
                self.wait_for(make, self.removes.get(&at).copied());
            }
            // What the new object claims may be held by an older one that is still there.
            let claims = is_told_to_go_first(change) && !waited_for.contains_key(&change.address);
            for &older in set_aside.get(&change.address).into_iter().flatten().filter(|_| claims) {
                self.wait_for(make, Some(older));
            }
            // It is not touched while something that depends on it is still being removed.
            self.wait_at(make, &mut gates, GateKind::PlainDependentsRemoved, &place);
            // What it was made with is gone before it is changed to do without.
            for dependency in (self.sources.stored)(&change.address) {
                let place = (dependency, change.address.module.clone());
                self.wait_at(make, &mut gates, GateKind::PlainRemoved, &place);
            }
            // Whoever counts the instances of another resource sees those that are left.
            if !is_created_first(change) {
                for target in self.referenced(change) {
                    let place = (target.config(), target.module.clone());
                    self.wait_at(make, &mut gates, GateKind::PlainRemoved, &place);
                }
            }
        }
    }

    /// The steps that remove what was put aside, by instance.
    fn set_aside(&self) -> BTreeMap<&'s AbsInstance, Vec<StepIndex>> {
        let mut found: BTreeMap<&AbsInstance, Vec<StepIndex>> = BTreeMap::new();
        for (at, step) in &self.removes {
            let change = &self.sources.changes[*at];
            if change.deposed.is_some() {
                found.entry(&change.address).or_default().push(*step);
            }
        }
        found
    }

    /// The steps of objects that are not ready.
    fn waited_for(&self) -> BTreeMap<AbsInstance, StepIndex> {
        let waits = self.makes.iter().filter(|(at, _)| self.sources.changes[**at].not_ready.is_some());
        waits.map(|(at, step)| (self.sources.changes[*at].address.clone(), *step)).collect()
    }

    /// Data sources of `check` blocks are read when everything else is done.
    fn order_checks(&mut self) {
        let in_check = |at: &usize| {
            let node = self.nodes.get(&self.sources.changes[*at].address.config());
            node.is_some_and(|node| {
                let entry = &self.sources.graph.nodes[*node];
                let NodeKind::Resource(key) = &entry.kind else { return false };
                let resource = self.sources.graph.modules[entry.module].node.module.resources.get(key);
                resource.is_some_and(|resource| resource.check.is_some())
            })
        };
        let (checks, others): (Vec<usize>, Vec<usize>) = self.makes.keys().copied().partition(in_check);
        if checks.is_empty() {
            return;
        }
        let made = others.iter().map(|at| self.makes[at]);
        let everything = made.chain(self.removes.values().copied()).collect();
        let gate = self.execution.add(Step::Gate, everything);
        for at in checks {
            self.wait_for(self.makes[&at], Some(gate));
        }
    }

    /// The resources that a changed resource names in its configuration.
    fn referenced(&self, change: &Change) -> Vec<AbsResource> {
        let Some(&node) = self.nodes.get(&change.address.config()) else { return Vec::new() };
        let graph = self.sources.graph;
        let same_module = |need: &&NodeIndex| graph.nodes[**need].module == graph.nodes[node].module;
        let key = |need: &NodeIndex| match &graph.nodes[*need].kind {
            NodeKind::Resource(key) => Some(key.absolute(change.address.module.clone())),
            _ => None,
        };
        graph.needs[node].iter().filter(same_module).filter_map(key).collect()
    }

    /// Changes of objects that depend on a resource, as the state has it.
    fn dependents(&self) -> BTreeMap<ConfigResource, BTreeMap<ModuleInstance, Vec<usize>>> {
        let mut found: BTreeMap<ConfigResource, BTreeMap<ModuleInstance, Vec<usize>>> = BTreeMap::new();
        let touched: BTreeSet<ConfigResource> = self
            .sources
            .changes
            .iter()
            .filter(|change| change.action != Action::NoOp)
            .map(|c| c.address.config())
            .collect();
        for (at, change) in self.sources.changes.iter().enumerate() {
            if change.action == Action::NoOp || change.action == Action::Read {
                continue;
            }
            let dependencies = if change.deposed.is_some() && self.put_aside == PutAside::ByItself {
                change.dependencies.to_vec()
            } else {
                (self.sources.stored)(&change.address)
            };
            for dependency in dependencies {
                if touched.contains(&dependency) {
                    let modules = found.entry(dependency).or_default();
                    modules.entry(change.address.module.clone()).or_default().push(at);
                }
            }
        }
        found
    }

    fn wait_for(&mut self, step: StepIndex, need: Option<StepIndex>) {
        if let Some(need) = need.filter(|need| *need != step) {
            self.execution.needs[step].push(need);
        }
    }

    fn wait_at(&mut self, step: StepIndex, gates: &mut Gates<'_>, kind: GateKind, place: &Place) {
        let gate = gates.get(self, kind, place);
        self.wait_for(step, gate);
    }
}

/// What others wait for as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum GateKind {
    /// What depends on a resource is removed.
    DependentsRemoved,
    /// The same, but for what is kept until its replacement is there.
    PlainDependentsRemoved,
    /// What depends on a resource is made or changed.
    DependentsMade,
    /// The objects of a resource are removed, but for those that are kept until their replacement is there.
    PlainRemoved,
}

/// A resource, as seen from a module instance.
type Place = (ConfigResource, ModuleInstance);

/// The gates that are there already.
struct Gates<'g> {
    by_dependency: &'g BTreeMap<ConfigResource, BTreeMap<ModuleInstance, Vec<usize>>>,
    removed: &'g BTreeMap<ConfigResource, Vec<usize>>,
    made: BTreeMap<(GateKind, Place), Option<StepIndex>>,
}

impl Gates<'_> {
    /// The step to wait for, if there is anything to wait for.
    fn get(&mut self, builder: &mut Builder<'_>, kind: GateKind, place: &Place) -> Option<StepIndex> {
        let key = (kind, place.clone());
        if let Some(known) = self.made.get(&key) {
            return *known;
        }
        let steps = self.steps(builder, kind, place);
        let gate = match steps.as_slice() {
            [] => None,
            [only] => Some(*only),
            _ => Some(builder.execution.add(Step::Gate, steps)),
        };
        self.made.insert(key, gate);
        gate
    }

    fn steps(&self, builder: &Builder<'_>, kind: GateKind, (resource, here): &Place) -> Vec<StepIndex> {
        let changes = builder.sources.changes;
        let plain = |at: &usize| !is_made_first(&changes[*at]);
        if kind == GateKind::PlainRemoved {
            let meets = |at: &&usize| {
                let change = &changes[**at];
                change.deposed.is_none() && may_meet(here, &change.address.module)
            };
            let of_resource = self.removed.get(resource).into_iter().flatten().filter(meets);
            return of_resource.filter(|at| plain(at)).filter_map(|at| builder.removes.get(at).copied()).collect();
        }
        let modules = self.by_dependency.get(resource).into_iter().flatten();
        let meeting = modules.filter(|(there, _)| may_meet(here, there)).flat_map(|(_, changes)| changes);
        let step = |at: &usize| match kind {
            GateKind::DependentsMade => builder.makes.get(at).copied(),
            GateKind::PlainDependentsRemoved => builder.removes.get(at).copied().filter(|_| plain(at)),
            GateKind::DependentsRemoved | GateKind::PlainRemoved => builder.removes.get(at).copied(),
        };
        meeting.filter_map(step).collect()
    }
}

/// Whether a rule or the user says that the old object goes first.
fn is_told_to_go_first(change: &Change) -> bool {
    change.action == Action::DeleteThenCreate && change.notes.iter().any(|note| matches!(note, Note::Ordered(_)))
}

/// Whether a new object is made before an old one goes, wherever there is one: what is replaced says so itself.
fn is_created_first(change: &Change) -> bool {
    match change.action {
        Action::CreateThenDelete => true,
        Action::DeleteThenCreate => false,
        _ => change.create_before_destroy,
    }
}

/// Whether the object goes only when its replacement, and what depends on it, is there.
fn is_made_first(change: &Change) -> bool {
    change.action == Action::CreateThenDelete || (change.action == Action::Delete && change.create_before_destroy)
}

/// A key that is the same whenever the same plan is made, and that no other object of the instance has.
fn deposed_key(address: &AbsInstance, taken: &[DeposedKey]) -> DeposedKey {
    let mut hash = address
        .to_string()
        .bytes()
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    while taken.contains(&DeposedKey::new(hash)) {
        hash = hash.wrapping_add(1);
    }
    DeposedKey::new(hash)
}

/// Whether something in one module instance can have to do with something in another: instances of the same call do not see each
/// other.
pub(crate) fn may_meet(here: &ModuleInstance, there: &ModuleInstance) -> bool {
    for (a, b) in here.steps().iter().zip(there.steps()) {
        if a.name != b.name {
            return true;
        }
        if a.key != b.key {
            return false;
        }
    }
    true
}
