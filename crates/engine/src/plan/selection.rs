//! `-target` and `-exclude`: which declarations and objects a plan is about.

use std::collections::BTreeSet;

use groma_lang::graph::{Graph, NodeIndex, NodeKind};
use groma_lang::refs::{Reference, Subject};
use groma_model::address::{AbsInstance, Module, Target};
use groma_model::diag::Diagnostic;

use super::{Mode, Options};

/// What a plan is about.
pub(super) struct Selection {
    /// What is evaluated. None for everything.
    nodes: Option<BTreeSet<NodeIndex>>,
    /// Resources that count with all their instances, although only others were named: the named ones need them, or would be left
    /// without what they need.
    whole: BTreeSet<NodeIndex>,
    /// Resources that are left alone with all their instances.
    out: BTreeSet<NodeIndex>,
    targets: Vec<Target>,
    excludes: Vec<Target>,
}

impl Selection {
    pub(super) fn new(graph: &Graph<'_>, options: &Options) -> Self {
        let destroys = options.mode == Mode::Destroy;
        let needed_by = needed_by(graph);
        // What goes takes along what needs it; what stays keeps what it needs.
        let (along, against) = if destroys { (&needed_by, &graph.needs) } else { (&graph.needs, &needed_by) };
        let (mut whole, mut out) = (BTreeSet::new(), BTreeSet::new());
        let mut nodes = None;
        if !options.targets.is_empty() {
            let direct = matching(graph, &options.targets);
            let mut chosen = closure(direct.iter().copied(), along);
            let pulled: BTreeSet<NodeIndex> = chosen.iter().flat_map(|node| along[*node].iter().copied()).collect();
            whole = chosen.iter().copied().filter(|node| !direct.contains(node) || pulled.contains(node)).collect();
            if !destroys {
                chosen.extend(complete_outputs(graph, &chosen));
            }
            nodes = Some(chosen);
        } else if !options.excludes.is_empty() {
            let named = matching(graph, &options.excludes);
            let beside = named.iter().flat_map(|node| against[*node].iter().copied());
            let start: Vec<NodeIndex> = matching_whole(graph, &options.excludes).into_iter().chain(beside).collect();
            out = closure(start.into_iter(), against);
            let is_resource = |node: &NodeIndex| matches!(graph.nodes[*node].kind, NodeKind::Resource(_));
            let left = (0..graph.nodes.len()).filter(is_resource).filter(|node| !out.contains(node));
            let mut chosen = closure(left, &graph.needs);
            if !destroys {
                chosen.extend(complete_outputs(graph, &chosen));
            }
            nodes = Some(chosen);
        }
        if destroys {
            // Only what providers are configured with matters when everything goes.
            let chosen = nodes.take().unwrap_or_default();
            let providers =
                (0..graph.nodes.len()).filter(|node| matches!(graph.nodes[*node].kind, NodeKind::Provider(_)));
            let mut evaluated = closure(providers, &graph.needs);
            evaluated.extend(chosen.into_iter().flat_map(|node| closure(std::iter::once(node), &graph.needs)));
            evaluated.extend(closure(asked_before_removal(graph).into_iter(), &graph.needs));
            nodes = Some(evaluated);
        }
        Self { nodes, whole, out, targets: options.targets.clone(), excludes: options.excludes.clone() }
    }

    /// Whether a declaration counts.
    pub(super) fn includes(&self, node: NodeIndex) -> bool {
        self.nodes.as_ref().is_none_or(|nodes| nodes.contains(&node))
    }

    /// Whether an instance counts. `node` is its declaration, if there is one.
    pub(super) fn includes_instance(&self, node: Option<NodeIndex>, address: &AbsInstance) -> bool {
        let left_alone = node.is_some_and(|node| self.out.contains(&node));
        if left_alone || self.excludes.iter().any(|target| target.selects(address)) {
            return false;
        }
        let along = node.is_some_and(|node| self.whole.contains(&node));
        self.targets.is_empty() || along || self.targets.iter().any(|target| target.selects(address))
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

/// What decides whether an object may be destroyed.
fn asked_before_removal(graph: &Graph<'_>) -> BTreeSet<NodeIndex> {
    let mut found = BTreeSet::new();
    for entry in &graph.nodes {
        let NodeKind::Resource(key) = &entry.kind else { continue };
        let Some(resource) = graph.modules[entry.module].node.module.resources.get(key) else { continue };
        for expr in [&resource.managed.prevent_destroy, &resource.managed.destroy].into_iter().flatten() {
            // It is asked in the instances of the module.
            found.extend(graph.find(entry.module, NodeKind::Expansion));
            for traversal in expr.references() {
                let Ok(reference) = Reference::parse(traversal) else { continue };
                found.extend(match reference.subject {
                    Subject::Variable(name) => graph.find(entry.module, NodeKind::Variable(name)),
                    Subject::Local(name) => graph.find(entry.module, NodeKind::Local(name)),
                    _ => None,
                });
            }
        }
    }
    found
}

/// Who needs each node.
fn needed_by(graph: &Graph<'_>) -> Vec<Vec<NodeIndex>> {
    let mut needed_by = vec![Vec::new(); graph.nodes.len()];
    for (node, needs) in graph.needs.iter().enumerate() {
        for need in needs {
            needed_by[*need].push(node);
        }
    }
    needed_by
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

/// Outputs of the root module all of whose resources are in a selection, with what leads to them. Those of other modules count
/// where something needs them.
fn complete_outputs(graph: &Graph<'_>, nodes: &BTreeSet<NodeIndex>) -> BTreeSet<NodeIndex> {
    let mut found = BTreeSet::new();
    for node in 0..graph.nodes.len() {
        if graph.nodes[node].module != 0 || !matches!(graph.nodes[node].kind, NodeKind::Output(_)) {
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
