//! Which attributes of which resources the planned changes were worked out from, by what the configuration refers to. Those who show
//! what changed outside leave out what had no influence.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use groma_lang::config::{Expr, Repetition, ResourceKey, Step, Traversal};
use groma_lang::graph::{Graph, ModuleIndex};
use groma_lang::refs::{Reference, Subject};
use groma_model::address::{AbsResource, InstanceKey, ModuleInstance, ModuleStep};
use groma_model::text::Str;

use super::ignore::path_of_steps;
use super::{OutputChange, RelevantAttribute};
use crate::change::{Action, Change};

/// What changes.
pub(super) struct Changing<'c> {
    /// Objects that exist or will.
    pub(super) changes: &'c [Change],
    /// Outputs of the root module.
    pub(super) outputs: &'c BTreeMap<Str, OutputChange>,
    /// Outputs of other module instances that have a value. They are made anew by every run.
    pub(super) inner_outputs: Vec<(&'c ModuleInstance, &'c Str)>,
    /// Data sources that are dropped from the state.
    pub(super) dropped: Vec<&'c AbsResource>,
}

/// The attributes that changes were worked out from, in the order of their addresses.
pub(super) fn attributes(graph: &Graph<'_>, changing: &Changing<'_>) -> Vec<RelevantAttribute> {
    let mut search = Search { graph, found: BTreeSet::new(), seen: BTreeSet::new(), pending: VecDeque::new() };
    let mut begun = BTreeSet::new();
    for change in changing.changes.iter().filter(|change| change.action != Action::NoOp) {
        // All instances of a resource refer to the same.
        if begun.insert(change.address.resource()) {
            search.follow_resource(&change.address.module, &change.address.instance.resource, &[]);
        }
    }
    for address in &changing.dropped {
        search.follow_resource(&address.module, &address.resource, &[]);
    }
    for (name, _) in changing.outputs.iter().filter(|(_, change)| change.action != Action::NoOp) {
        search.follow_output(&ModuleInstance::root(), name);
    }
    for (module, name) in &changing.inner_outputs {
        search.follow_output(module, name);
    }
    while let Some((module, traversal)) = search.pending.pop_front() {
        search.follow(&module, &traversal);
    }
    search.found.into_iter().collect()
}

struct Search<'g, 'a> {
    graph: &'g Graph<'a>,
    found: BTreeSet<RelevantAttribute>,
    seen: BTreeSet<(ModuleInstance, String)>,
    pending: VecDeque<(ModuleInstance, Traversal)>,
}

impl Search<'_, '_> {
    fn module(&self, module: &ModuleInstance) -> Option<ModuleIndex> {
        self.graph.module(module.module().names())
    }

    /// Takes in what an expression in a module refers to.
    fn add(&mut self, module: &ModuleInstance, expr: &Expr) {
        for traversal in expr.references() {
            self.add_reference(module, traversal);
        }
    }

    fn add_reference(&mut self, module: &ModuleInstance, traversal: &Traversal) {
        let Ok(reference) = Reference::parse(traversal) else { return };
        let rest = path_of_steps(reference.remaining(traversal));
        // What a `dynamic` block goes through looks like a resource, too.
        let declared = |resource: &ResourceKey| {
            self.module(module).is_some_and(|at| self.graph.modules[at].node.module.resources.contains_key(resource))
        };
        if let Subject::Resource { resource, key } = &reference.subject
            && declared(resource)
        {
            let address = resource.absolute(module.clone()).instance(key.clone());
            self.found.insert(RelevantAttribute { resource: address.to_string(), attribute: rest.clone() });
        }
        if self.seen.insert((module.clone(), format!("{:?}{rest}", reference.subject))) {
            self.pending.push_back((module.clone(), traversal.clone()));
        }
    }

    /// What something that is referred to refers to itself.
    fn follow(&mut self, module: &ModuleInstance, traversal: &Traversal) {
        let Ok(reference) = Reference::parse(traversal) else { return };
        match &reference.subject {
            Subject::Variable(name) => self.follow_variable(module, name),
            Subject::Local(name) => {
                let local = self.module(module).and_then(|at| self.graph.modules[at].node.module.locals.get(name));
                if let Some(local) = local {
                    self.add(module, &local.expr);
                }
            }
            Subject::Module { name, key, output } => {
                let child = child(module, name, key);
                if let Some(output) = output {
                    return self.follow_output(&child, output);
                }
                let Some(at) = self.module(&child) else { return };
                for output in self.graph.modules[at].node.module.outputs.keys() {
                    self.follow_output(&child, output);
                }
            }
            Subject::Resource { resource, .. } => {
                self.follow_resource(module, resource, reference.remaining(traversal));
            }
            Subject::Path(_) | Subject::Tool { .. } | Subject::Count(_) | Subject::Each(_) | Subject::Itself => {}
        }
    }

    fn follow_variable(&mut self, module: &ModuleInstance, name: &Str) {
        let Some((_, outer)) = module.steps().split_last() else { return };
        let Some(at) = self.module(module) else { return };
        if let Some(argument) = self.graph.modules[at].arguments.get(name) {
            let caller = ModuleInstance::new(outer.iter().cloned());
            self.add(&caller, &argument.expr.clone());
        }
    }

    fn follow_output(&mut self, module: &ModuleInstance, name: &Str) {
        let declared = self.module(module).and_then(|at| self.graph.modules[at].node.module.outputs.get(name));
        if let Some(expr) = declared.and_then(|output| output.expr.as_ref()) {
            self.add(module, expr);
        }
    }

    /// What the configuration of a resource refers to; of the attribute or blocks that `rest` leads to, if it leads anywhere.
    fn follow_resource(&mut self, module: &ModuleInstance, key: &ResourceKey, rest: &[Step]) {
        let Some(at) = self.module(module) else { return };
        let Some(resource) = self.graph.modules[at].node.module.resources.get(key) else { return };
        let references = match rest.first() {
            Some(Step::Attr { name, .. }) => resource.references_in(name),
            _ => resource.config.references(),
        };
        for traversal in &references {
            match Reference::parse(traversal).map(|reference| reference.subject) {
                Ok(Subject::Count(_) | Subject::Each(_)) => {
                    if let Repetition::Count(expr) | Repetition::ForEach(expr) = &resource.repetition {
                        self.add(module, expr);
                    }
                }
                _ => self.add_reference(module, traversal),
            }
        }
    }
}

fn child(module: &ModuleInstance, name: &Str, key: &InstanceKey) -> ModuleInstance {
    let step = ModuleStep { name: name.clone(), key: key.clone() };
    ModuleInstance::new(module.steps().iter().cloned().chain([step]))
}
