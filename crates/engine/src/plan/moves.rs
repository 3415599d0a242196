//! `moved`: objects in the state get the addresses that the configuration gives them now, before anything is planned.

mod validate;

use std::collections::{BTreeMap, BTreeSet};

use groma_lang::config::{ObjectAddress, Repetition, ResourceMode, StepKey};
use groma_lang::graph::Graph;
use groma_model::address::{
    AbsInstance, AbsResource, ConfigResource, InstanceKey, ModuleInstance, ModuleStep, Provider,
};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::span::Span;
use groma_model::text::Str;
use groma_state::{InstanceState, ResourceState, State};

use super::dependencies::union;
use super::renamed::Renamed;

pub(super) use validate::{check_selection, validate};

/// A state at today's addresses.
pub(super) struct Moved {
    /// The state.
    pub(super) state: State,
    /// Where objects were, by where they are.
    pub(super) from: BTreeMap<AbsInstance, MovedFrom>,
    /// What could not be moved.
    pub(super) diagnostics: Diagnostics,
}

/// Where an object was.
#[derive(Debug, Clone)]
pub(super) struct MovedFrom {
    pub(super) address: AbsInstance,
    /// Made by which provider.
    pub(super) provider: Provider,
    /// Whether a `moved` block said so.
    pub(super) explicit: bool,
}

/// One rule.
#[derive(Debug, Clone, PartialEq)]
struct Statement {
    /// Where it stands. None for what goes without saying.
    at: Option<Span>,
    /// The module that says it; it speaks of every instance of that module.
    declared_in: Vec<Str>,
    from: Endpoint,
    to: Endpoint,
    /// Whether all instances move with their keys, as no key is given on either side.
    whole: bool,
}

#[derive(Debug, Clone, PartialEq)]
struct Endpoint {
    modules: Vec<(Str, InstanceKey)>,
    resource: Option<(groma_lang::config::ResourceKey, InstanceKey)>,
}

/// Moves what is to be moved: what statements say, what goes without saying, and what was found out.
pub(super) fn apply(graph: &Graph<'_>, state: &State, renamed: &[Renamed]) -> Moved {
    let explicit = explicit_statements(graph);
    let mut moved = Moved { state: state.clone(), from: BTreeMap::new(), diagnostics: Diagnostics::new() };
    let mut blocked: BTreeMap<AbsInstance, AbsInstance> = BTreeMap::new();
    for statement in in_order(explicit.clone()) {
        moved.carry_out(&statement, &mut blocked);
    }
    for statement in implied_statements(graph, &moved.state, &explicit) {
        moved.carry_out(&statement, &mut BTreeMap::new());
    }
    for Renamed { from, to } in renamed {
        if !moved.is_taken(to) {
            moved.move_instance(from, to.clone(), false);
        }
    }
    if !blocked.is_empty() {
        moved.diagnostics.push(unresolved(&blocked));
    }
    moved.follow();
    moved
}

impl Moved {
    fn carry_out(&mut self, statement: &Statement, blocked: &mut BTreeMap<AbsInstance, AbsInstance>) {
        let addresses: Vec<AbsInstance> = self
            .state
            .resources
            .iter()
            .flat_map(|(address, resource)| resource.instances.keys().map(|key| address.instance(key.clone())))
            .collect();
        for address in addresses {
            let Some(target) = statement.target_of(&address).filter(|target| *target != address) else { continue };
            if self.is_taken(&target) {
                blocked.insert(address, target);
                continue;
            }
            self.move_instance(&address, target, statement.at.is_some());
        }
    }

    /// What depends on moved objects depends on them where they are now: the order in which objects go hangs on it.
    fn follow(&mut self) {
        let mut renamed: BTreeMap<ConfigResource, BTreeSet<ConfigResource>> = BTreeMap::new();
        for (to, from) in &self.from {
            let (from, to) = (from.address.config(), to.config());
            if from != to {
                renamed.entry(from).or_default().insert(to);
            }
        }
        if renamed.is_empty() {
            return;
        }
        for instance in self.state.resources.values_mut().flat_map(|resource| resource.instances.values_mut()) {
            for object in instance.current.iter_mut().chain(instance.deposed.values_mut()) {
                let needed = &object.dependencies;
                let now: Vec<&ConfigResource> = needed.iter().filter_map(|old| renamed.get(old)).flatten().collect();
                if !now.is_empty() {
                    object.dependencies = union(needed, now);
                }
            }
        }
    }

    fn is_taken(&self, address: &AbsInstance) -> bool {
        let resource = self.state.resources.get(&address.resource());
        resource.is_some_and(|resource| resource.instances.contains_key(address.key()))
    }

    fn move_instance(&mut self, address: &AbsInstance, target: AbsInstance, explicit: bool) {
        let Some((provider, instance)) = self.take(address) else { return };
        let first = || MovedFrom { address: address.clone(), provider: provider.provider.clone(), explicit };
        let mut origin = self.from.remove(address).unwrap_or_else(first);
        origin.explicit |= explicit;
        let resource = self.state.resources.entry(target.resource());
        let resource = resource.or_insert_with(|| ResourceState { provider, instances: BTreeMap::new() });
        resource.instances.insert(target.key().clone(), instance);
        self.from.insert(target, origin);
    }

    fn take(&mut self, address: &AbsInstance) -> Option<(groma_model::address::ProviderConfig, InstanceState)> {
        let name: AbsResource = address.resource();
        let resource = self.state.resources.get_mut(&name)?;
        let instance = resource.instances.remove(address.key())?;
        let provider = resource.provider.clone();
        if resource.instances.is_empty() {
            self.state.resources.remove(&name);
        }
        Some((provider, instance))
    }
}

impl Statement {
    /// Where an instance goes. None if the statement is not about it.
    fn target_of(&self, address: &AbsInstance) -> Option<AbsInstance> {
        let steps = address.module.steps();
        let (outer, inner) = steps.split_at_checked(self.declared_in.len())?;
        if !outer.iter().zip(&self.declared_in).all(|(step, name)| step.name == *name) {
            return None;
        }
        let (way, rest) = inner.split_at_checked(self.from.modules.len())?;
        match (&self.from.resource, &self.to.resource) {
            (Some((from, from_key)), Some((to, to_key))) => {
                let key = address.key();
                let fits = rest.is_empty()
                    && *from == address.instance.resource
                    && same_way(way, &self.from.modules, false)
                    && (self.whole || key == from_key);
                let key = if self.whole { key.clone() } else { to_key.clone() };
                fits.then(|| to.absolute(module(outer, &self.to.modules, &[])).instance(key))
            }
            (None, None) => {
                let kept = way.last().map(|step| step.key.clone()).filter(|_| self.whole);
                same_way(way, &self.from.modules, self.whole).then(|| {
                    let mut modules = self.to.modules.clone();
                    if let (Some(kept), Some((_, key))) = (kept, modules.last_mut()) {
                        *key = kept;
                    }
                    let module = module(outer, &modules, rest);
                    address.instance.absolute(module)
                })
            }
            _ => None,
        }
    }
}

/// Whether steps lead the way that an address names. The key of the last one may not count.
fn same_way(steps: &[ModuleStep], way: &[(Str, InstanceKey)], any_last_key: bool) -> bool {
    let last = way.len().saturating_sub(1);
    let mut pairs = steps.iter().zip(way).enumerate();
    pairs.all(|(at, (step, (name, key)))| step.name == *name && (step.key == *key || (any_last_key && at == last)))
}

fn module(outer: &[ModuleStep], way: &[(Str, InstanceKey)], rest: &[ModuleStep]) -> ModuleInstance {
    let way = way.iter().map(|(name, key)| ModuleStep { name: name.clone(), key: key.clone() });
    ModuleInstance::new(outer.iter().cloned().chain(way).chain(rest.iter().cloned()))
}

fn explicit_statements(graph: &Graph<'_>) -> Vec<Statement> {
    let mut statements = Vec::new();
    for entry in &graph.modules {
        for moved in &entry.node.module.moved {
            let (Some(from), Some(to)) = (&moved.from, &moved.to) else { continue };
            let (from, to) = (endpoint(from), endpoint(to));
            let whole = from.last_key().is_none() && to.last_key().is_none();
            let at = Some(moved.header);
            statements.push(Statement { at, declared_in: entry.node.path.clone(), from, to, whole });
        }
    }
    statements
}

fn endpoint(address: &ObjectAddress) -> Endpoint {
    let modules = address.modules.iter().map(|(name, key)| (name.clone(), instance_key(key.as_ref()))).collect();
    let resource = address.resource.as_ref().map(|(resource, key)| (resource.clone(), instance_key(key.as_ref())));
    Endpoint { modules, resource }
}

fn instance_key(key: Option<&StepKey>) -> InstanceKey {
    match key {
        None => InstanceKey::None,
        Some(StepKey::String(text)) => InstanceKey::String(text.clone()),
        Some(StepKey::Number(number)) => {
            let index = number.to_usize().and_then(|index| i64::try_from(index).ok());
            InstanceKey::Int(index.unwrap_or_default())
        }
    }
}

impl Endpoint {
    fn last_key(&self) -> &InstanceKey {
        let of_module = self.modules.last().map(|(_, key)| key);
        let of_resource = self.resource.as_ref().map(|(_, key)| key);
        of_resource.or(of_module).unwrap_or(&InstanceKey::None)
    }
}

/// Statements so that whatever arrives somewhere can go on from there.
fn in_order(mut statements: Vec<Statement>) -> Vec<Statement> {
    let mut ordered = Vec::with_capacity(statements.len());
    while !statements.is_empty() {
        let feeds = |at: usize| {
            let statement: &Statement = &statements[at];
            statements.iter().enumerate().any(|(other, from)| other != at && leads_into(from, statement))
        };
        // Statements in a circle were refused when the configuration was checked.
        let next = (0..statements.len()).find(|at| !feeds(*at)).unwrap_or(0);
        ordered.push(statements.remove(next));
    }
    ordered
}

/// Whether what one statement moves may be moved on by another.
fn leads_into(first: &Statement, then: &Statement) -> bool {
    let path = |statement: &Statement, endpoint: &Endpoint| -> Vec<Str> {
        let modules = endpoint.modules.iter().map(|(name, _)| name.clone());
        statement.declared_in.iter().cloned().chain(modules).collect()
    };
    let (to, from) = (path(first, &first.to), path(then, &then.from));
    match (&first.to.resource, &then.from.resource) {
        (Some((a, a_key)), Some((b, b_key))) => to == from && a == b && (a_key == b_key || first.whole || then.whole),
        (None, Some(_)) => from.starts_with(&to),
        (Some(_), None) => to.starts_with(&from),
        (None, None) => to.starts_with(&from) || from.starts_with(&to),
    }
}

/// What was made once and is counted now is the first of the count, and the other way round.
fn implied_statements(graph: &Graph<'_>, state: &State, explicit: &[Statement]) -> Vec<Statement> {
    let mut statements = BTreeSet::new();
    for address in state.resources.keys().filter(|address| address.resource.mode == ResourceMode::Managed) {
        let path = address.module.module();
        let Some(resource) = graph.resource(path.names(), &address.resource) else { continue };
        let keys = match resource.repetition {
            Repetition::Count(_) => (InstanceKey::None, InstanceKey::Int(0)),
            Repetition::Once | Repetition::Enabled(_) => (InstanceKey::Int(0), InstanceKey::None),
            Repetition::ForEach(_) => continue,
        };
        statements.insert((path.names().to_vec(), address.resource.clone(), keys));
    }
    let statement = |(declared_in, resource, (from, to)): (Vec<Str>, groma_lang::config::ResourceKey, _)| Statement {
        at: None,
        declared_in,
        from: Endpoint { modules: Vec::new(), resource: Some((resource.clone(), from)) },
        to: Endpoint { modules: Vec::new(), resource: Some((resource, to)) },
        whole: false,
    };
    let mut found: Vec<Statement> = statements.into_iter().map(statement).collect();
    found.extend(implied_by_calls(graph));
    found.retain(|implied| !explicit.iter().any(|known| known.from == implied.from || known.to == implied.to));
    found
}

fn implied_by_calls(graph: &Graph<'_>) -> Vec<Statement> {
    let mut found = Vec::new();
    for entry in &graph.modules {
        for (name, call) in &entry.node.module.module_calls {
            let (from, to) = match call.repetition {
                Repetition::Count(_) => (InstanceKey::None, InstanceKey::Int(0)),
                Repetition::Once | Repetition::Enabled(_) => (InstanceKey::Int(0), InstanceKey::None),
                Repetition::ForEach(_) => continue,
            };
            let endpoint = |key| Endpoint { modules: vec![(name.clone(), key)], resource: None };
            let (from, to) = (endpoint(from), endpoint(to));
            found.push(Statement { at: None, declared_in: entry.node.path.clone(), from, to, whole: false });
        }
    }
    found
}

fn unresolved(blocked: &BTreeMap<AbsInstance, AbsInstance>) -> Diagnostic {
    let lines: Vec<String> = blocked.iter().map(|(from, to)| format!("\n  - {from} could not move to {to}")).collect();
    let detail = format!(
        "The following objects could not be moved to the addresses that the configuration gives them, because others are \
         there already:{}\n\nThey are planned for destruction. To keep them, choose other addresses or remove what is in \
         their place from the state.",
        lines.concat()
    );
    Diagnostic::warning("Unresolved resource instance address changes", detail)
}
