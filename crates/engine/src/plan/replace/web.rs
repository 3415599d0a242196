//! What needs what, as far as the order of replacements is concerned: declarations, and the objects of a plan behind them.

use std::collections::BTreeMap;

use groma_lang::graph::{Graph, NodeKind};
use groma_model::address::ConfigResource;
use groma_rules::replace::order::Node;

use super::{Stored, order_of};
use crate::change::{Action, Change};
use crate::plan::dependencies::config_resource;

/// Nodes for all declarations, then for all changes, then for what lies between them: resources that are not declared any more, and what
/// the objects of a resource need together.
pub(super) struct ObjectWeb {
    pub(super) needs: Vec<Vec<Node>>,
    declarations: usize,
    changes: usize,
}

impl ObjectWeb {
    /// Objects need what their declaration needs and what they were made with; who needs a resource needs all of its objects.
    pub(super) fn new(graph: &Graph<'_>, changes: &[Change], stored: &Stored<'_>) -> Self {
        let mut web = Self { needs: graph.needs.clone(), declarations: graph.needs.len(), changes: changes.len() };
        web.needs.resize_with(web.declarations + web.changes, Vec::new);
        let nodes = web.add_objects(graph, changes);
        web.add_origins(&nodes, changes, stored);
        web
    }

    /// Gives the nodes of resources.
    fn add_objects(&mut self, graph: &Graph<'_>, changes: &[Change]) -> BTreeMap<ConfigResource, Node> {
        let declared = |node: &usize| matches!(graph.nodes[*node].kind, NodeKind::Resource(_));
        let mut nodes: BTreeMap<ConfigResource, Node> = (0..self.declarations)
            .filter(declared)
            .filter_map(|node| Some((config_resource(graph, node)?, node)))
            .collect();
        let mut last: Option<(&Change, Node)> = None;
        for (at, change) in current(changes) {
            let own = match last {
                Some((other, own)) if is_same_resource(other, change) => own,
                _ => *nodes.entry(change.address.config()).or_insert_with(|| self.add(Vec::new())),
            };
            last = Some((change, own));
            let object = self.node_of(at);
            if own < self.declarations {
                let gate = self.gate(own);
                self.needs[object].push(gate);
            }
            self.needs[own].push(object);
        }
        nodes
    }

    fn add_origins<'s>(&mut self, nodes: &BTreeMap<ConfigResource, Node>, changes: &[Change], stored: &Stored<'s>) {
        // Objects of one resource have been made with the same, as a rule.
        let mut last: (&'s [ConfigResource], Node) = (&[], 0);
        for (at, change) in current(changes) {
            let origins = stored(&change.address);
            if origins.is_empty() {
                continue;
            }
            if last.0 != origins {
                last = (origins, self.add(origins.iter().filter_map(|origin| nodes.get(origin)).copied().collect()));
            }
            let object = self.node_of(at);
            self.needs[object].push(last.1);
        }
    }

    fn add(&mut self, needs: Vec<Node>) -> Node {
        self.needs.push(needs);
        self.needs.len() - 1
    }

    /// The node through which a declaration and its objects need what it needs: no edges between all pairs.
    fn gate(&mut self, declaration: Node) -> Node {
        match self.needs[declaration].first() {
            Some(first) if *first >= self.declarations + self.changes => *first,
            _ => {
                let needs = std::mem::take(&mut self.needs[declaration]);
                let gate = self.add(needs);
                self.needs[declaration].push(gate);
                gate
            }
        }
    }

    /// The node of a change.
    pub(super) fn node_of(&self, at: usize) -> Node {
        self.declarations + at
    }

    /// The change that a node stands for.
    pub(super) fn change_of(&self, node: Node) -> Option<usize> {
        node.checked_sub(self.declarations).filter(|at| *at < self.changes)
    }

    /// Whether a node is an object whose deletion has a place in the order.
    pub(super) fn has_order(&self, node: Node, changes: &[Change]) -> bool {
        self.change_of(node).is_some_and(|at| {
            let change = &changes[at];
            change.deposed.is_none() && (order_of(change.action).is_some() || change.action == Action::Delete)
        })
    }
}

/// All but those about objects that were put aside.
fn current(changes: &[Change]) -> impl Iterator<Item = (usize, &Change)> {
    changes.iter().enumerate().filter(|(_, change)| change.deposed.is_none())
}

/// Whether both are about instances of one resource.
pub(super) fn is_same_resource(one: &Change, other: &Change) -> bool {
    one.address.instance.resource == other.address.instance.resource && one.address.module == other.address.module
}
