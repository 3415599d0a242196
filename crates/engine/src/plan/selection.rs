//! `-target` and `-exclude`: which declarations and objects a plan is about.

use std::collections::BTreeSet;

use groma_lang::graph::{Graph, NodeIndex, NodeKind};
use groma_model::address::{AbsInstance, Module, Target};
use groma_model::diag::Diagnostic;

use super::{Mode, Options};

/// What a plan is about.
pub(super) struct Selection {
    /// None for everything.
    nodes: Option<BTreeSet<NodeIndex>>,
    /// Resources that were named themselves; of them only the named instances count.
    direct: BTreeSet<NodeIndex>,
    targets: Vec<Target>,
    excludes: Vec<Target>,
}

impl Selection {
    pub(super) fn new(graph: &Graph<'_>, options: &Options) -> Self {
        let mut direct = BTreeSet::new();
        let nodes = if !options.targets.is_empty() {
            direct = matching(graph, &options.targets);
            let mut nodes = closure(direct.iter().copied(), &graph.needs);
            // What others need is needed with all its instances.
            let needed: BTreeSet<NodeIndex> =
                nodes.iter().flat_map(|node| graph.needs[*node].iter().copied()).collect();
            direct.retain(|node| !needed.contains(node));
            nodes.extend(complete_outputs(graph, &nodes));
            Some(nodes)
        } else if !options.excludes.is_empty() {
            let mut needed_by = vec![Vec::new(); graph.nodes.len()];
            for (node, needs) in graph.needs.iter().enumerate() {
                for need in needs {
                    needed_by[*need].push(node);
                }
            }
            let whole = matching_whole(graph, &options.excludes);
            let out = closure(whole.into_iter(), &needed_by);
            Some((0..graph.nodes.len()).filter(|node| !out.contains(node)).collect())
        } else if options.mode == Mode::Destroy {
            // Only what providers are configured with matters when everything goes.
            let providers =
                (0..graph.nodes.len()).filter(|node| matches!(graph.nodes[*node].kind, NodeKind::Provider(_)));
            Some(closure(providers, &graph.needs))
        } else {
            None
        };
        Self { nodes, direct, targets: options.targets.clone(), excludes: options.excludes.clone() }
    }

    /// Whether a declaration counts.
    pub(super) fn includes(&self, node: NodeIndex) -> bool {
        self.nodes.as_ref().is_none_or(|nodes| nodes.contains(&node))
    }

    /// Whether an instance counts. `node` is its declaration, if there is one.
    pub(super) fn includes_instance(&self, node: Option<NodeIndex>, address: &AbsInstance) -> bool {
        if self.excludes.iter().any(|target| target.selects(address)) {
            return false;
        }
        let dependency = node.is_some_and(|node| !self.direct.contains(&node));
        self.targets.is_empty() || dependency || self.targets.iter().any(|target| target.selects(address))
    }

    /// What a user should know about a partial plan.
    pub(super) fn warning(&self) -> Option<Diagnostic> {
        if self.targets.is_empty() && self.excludes.is_empty() {
            return None;
        }
        let detail = "You are creating a plan with either the -target option or the -exclude option, which means that the \
                      result of this plan may not represent all of the changes requested by the current configuration.\n\n\
                      The -target and -exclude options are not for routine use, and are provided only for exceptional \
                      situations such as recovering from errors or mistakes, or when an error message suggests to use \
                      them.";
        Some(Diagnostic::warning("Resource targeting is in effect", detail))
    }
}

fn closure(start: impl Iterator<Item = NodeIndex>, edges: &[Vec<NodeIndex>]) -> BTreeSet<NodeIndex> {
    let mut found = BTreeSet::new();
    let mut open: Vec<NodeIndex> = start.collect();
    while let Some(node) = open.pop() {
        if found.insert(node) {
            open.extend(&edges[node]);
        }
    }
    found
}

/// Resource nodes that a target names, whole or in part.
fn matching(graph: &Graph<'_>, targets: &[Target]) -> BTreeSet<NodeIndex> {
    let named = |node: &NodeIndex| targets.iter().any(|target| names(graph, *node, target));
    (0..graph.nodes.len()).filter(named).collect()
}

/// Resource nodes that a target names with all their instances.
fn matching_whole(graph: &Graph<'_>, targets: &[Target]) -> BTreeSet<NodeIndex> {
    let whole = |target: &&Target| match target {
        Target::Instance(_) => false,
        Target::Module(module) => module.steps().iter().all(|step| step.key.is_none()),
        Target::Resource(resource) => resource.module.steps().iter().all(|step| step.key.is_none()),
    };
    let named = |node: &NodeIndex| targets.iter().filter(whole).any(|target| names(graph, *node, target));
    (0..graph.nodes.len()).filter(named).collect()
}

fn names(graph: &Graph<'_>, node: NodeIndex, target: &Target) -> bool {
    let NodeKind::Resource(key) = &graph.nodes[node].kind else { return false };
    let module = Module::new(graph.modules[graph.nodes[node].module].node.path.iter().cloned());
    match target {
        Target::Module(wanted) => wanted.module().contains(&module),
        Target::Resource(wanted) => wanted.config() == key.in_module(module),
        Target::Instance(wanted) => wanted.config() == key.in_module(module),
    }
}

/// Outputs all of whose resources are in a selection, with what leads to them.
fn complete_outputs(graph: &Graph<'_>, nodes: &BTreeSet<NodeIndex>) -> BTreeSet<NodeIndex> {
    let mut found = BTreeSet::new();
    for node in 0..graph.nodes.len() {
        if !matches!(graph.nodes[node].kind, NodeKind::Output(_)) {
            continue;
        }
        let behind = closure(std::iter::once(node), &graph.needs);
        let mut resources =
            behind.iter().filter(|node| matches!(graph.nodes[**node].kind, NodeKind::Resource(_))).peekable();
        if resources.peek().is_some() && resources.all(|resource| nodes.contains(resource)) {
            found.extend(behind);
        }
    }
    found
}
