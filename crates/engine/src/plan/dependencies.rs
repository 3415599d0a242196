//! What each resource depends on, directly and through others, by declaration.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use groma_lang::graph::{Graph, NodeIndex, NodeKind};
use groma_model::address::{ConfigResource, Module, Resource};

use super::selection::Selection;

/// The resources that each node reaches, itself excluded, sorted as text.
pub(super) struct Dependencies {
    by_node: Vec<Arc<[ConfigResource]>>,
    reached: Vec<Arc<BTreeSet<NodeIndex>>>,
}

impl Dependencies {
    /// Works out all of them. `order` has every node behind what it needs.
    pub(super) fn new(graph: &Graph<'_>, order: &[NodeIndex]) -> Self {
        // Sets are shared by whoever adds nothing of his own: most nodes have at most one need with resources behind it.
        let mut reached: Vec<Arc<BTreeSet<NodeIndex>>> = vec![Arc::default(); graph.nodes.len()];
        for &node in order {
            let mut union: Arc<BTreeSet<NodeIndex>> = Arc::default();
            for &need in &graph.needs[node] {
                let behind = &reached[need];
                if union.is_empty() {
                    union = Arc::clone(behind);
                } else if !behind.is_subset(&union) {
                    Arc::make_mut(&mut union).extend(behind.iter().copied());
                }
                if matches!(graph.nodes[need].kind, NodeKind::Resource(_)) && !union.contains(&need) {
                    Arc::make_mut(&mut union).insert(need);
                }
            }
            reached[node] = union;
        }
        let named = |(node, nodes): (NodeIndex, &Arc<BTreeSet<NodeIndex>>)| -> Arc<[ConfigResource]> {
            if !matches!(graph.nodes[node].kind, NodeKind::Resource(_)) {
                return Arc::from([]);
            }
            let mut names: Vec<(String, ConfigResource)> = nodes
                .iter()
                .filter(|at| **at != node)
                .filter_map(|at| config_resource(graph, *at))
                .map(|address| (address.to_string(), address))
                .collect();
            names.sort();
            names.into_iter().map(|(_, address)| address).collect()
        };
        Self { by_node: reached.iter().enumerate().map(named).collect(), reached }
    }

    /// The resources whose replacements are made first: those that say so, and everything that they depend on, or else there would
    /// be no order in which both could be done. With each, one that says so. What the plan is not about says nothing.
    pub(super) fn made_first(&self, graph: &Graph<'_>, selection: &Selection) -> BTreeMap<NodeIndex, NodeIndex> {
        let mut found = BTreeMap::new();
        for (node, entry) in graph.nodes.iter().enumerate().filter(|(node, _)| selection.includes(*node)) {
            let NodeKind::Resource(key) = &entry.kind else { continue };
            let resource = graph.modules[entry.module].node.module.resources.get(key);
            if resource.is_some_and(|resource| resource.managed.create_before_destroy == Some(true)) {
                found.insert(node, node);
                for &needed in self.reached[node].iter() {
                    found.entry(needed).or_insert(node);
                }
            }
        }
        found
    }

    /// The resource nodes that a node reaches.
    pub(super) fn reached_from(&self, node: NodeIndex) -> &BTreeSet<NodeIndex> {
        &self.reached[node]
    }

    /// Of one resource.
    pub(super) fn of(&self, node: NodeIndex) -> &Arc<[ConfigResource]> {
        &self.by_node[node]
    }
}

/// All dependencies of two lists, in the order in which states have them.
pub(super) fn union<'c>(
    some: &'c [ConfigResource],
    others: impl IntoIterator<Item = &'c ConfigResource>,
) -> Vec<ConfigResource> {
    let mut all: Vec<ConfigResource> = some.iter().chain(others).cloned().collect();
    all.sort_by_key(ToString::to_string);
    all.dedup();
    all
}

/// The address of a resource node.
pub(crate) fn config_resource(graph: &Graph<'_>, node: NodeIndex) -> Option<ConfigResource> {
    let NodeKind::Resource(key) = &graph.nodes[node].kind else { return None };
    let module = Module::new(graph.modules[graph.nodes[node].module].node.path.iter().cloned());
    Some(Resource::new(key.mode, key.ty.clone(), key.name.clone()).in_module(module))
}
