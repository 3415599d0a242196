//! What depends on what: every declared thing of a module tree as a node, in an order in which all can be evaluated.
//!
//! Nodes stand for declarations, not for instances: `count` and `for_each` do not multiply them.

mod build;
mod order;

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use groma_model::span::Span;
use groma_model::text::Str;
use groma_syntax::body::Attribute;

use crate::config::{ProviderConfigKey, Resource, ResourceKey};
use crate::load::{ModuleNode, ModuleTree};
use crate::oracle::ResourceOracle;

pub use order::Cycle;

/// A module of the tree, by its place in [`Graph::modules`]. The root is 0; parents stand before their children.
pub type ModuleIndex = usize;

/// A node, by its place in [`Graph::nodes`].
pub type NodeIndex = usize;

/// Something declared that has a value or must be checked.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum NodeKind {
    /// A `variable` block.
    Variable(Str),
    /// An entry of `locals`.
    Local(Str),
    /// An `output` block.
    Output(Str),
    /// How often this module is made: `count` or `for_each` of the call that leads to it. Not for the root.
    Expansion,
    /// Everything in the module is done; `depends_on = [module.a]` waits for that.
    Close,
    /// A `resource`, `data` or `ephemeral` block.
    Resource(ResourceKey),
    /// A `check` block.
    Check(Str),
    /// A `provider` block.
    Provider(ProviderConfigKey),
}

/// A node: a declaration in a module.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Node {
    /// In which module.
    pub module: ModuleIndex,
    /// What.
    pub kind: NodeKind,
}

/// A module of the tree with its place in it.
pub struct ModuleEntry<'t> {
    /// The module.
    pub node: &'t ModuleNode,
    /// The module that calls it. None for the root.
    pub parent: Option<ModuleIndex>,
    /// The modules that it calls, by the name of the call.
    pub children: BTreeMap<Str, ModuleIndex>,
    /// The arguments of the call that leads to it, by name. They are evaluated in the parent.
    pub arguments: BTreeMap<Str, Attribute>,
    /// Its nodes.
    pub nodes: Range<NodeIndex>,
}

impl ModuleEntry<'_> {
    /// As messages name it: `the root module` or `module.a.module.b`.
    pub fn display(&self) -> String {
        if self.node.path.is_empty() { "the root module".into() } else { self.address() }
    }

    /// `module.a.module.b`; empty for the root.
    pub fn address(&self) -> String {
        let parts: Vec<String> = self.node.path.iter().map(|name| format!("module.{name}")).collect();
        parts.join(".")
    }

    /// `kind` with the address of the module in front.
    pub fn qualify(&self, inner: &str) -> String {
        if self.node.path.is_empty() { inner.to_owned() } else { format!("{}.{inner}", self.address()) }
    }
}

/// The dependencies of a module tree.
pub struct Graph<'t> {
    /// All modules, parents first.
    pub modules: Vec<ModuleEntry<'t>>,
    /// All nodes.
    pub nodes: Vec<Node>,
    /// What each node needs, as node indexes.
    pub needs: Vec<Vec<NodeIndex>>,
    index: HashMap<Node, NodeIndex>,
    by_path: HashMap<&'t [Str], ModuleIndex>,
}

impl<'t> Graph<'t> {
    /// Finds all nodes of a tree and what they need. Arguments that a schema does not have are mistakes and need nothing.
    pub fn new(tree: &'t ModuleTree, schemas: &dyn ResourceOracle) -> Self {
        build::build(tree, schemas)
    }

    /// All nodes, each behind what it needs; or the nodes that wait for each other.
    pub fn order(&self) -> Result<Vec<NodeIndex>, Cycle> {
        order::order(self)
    }

    /// The node of a declaration.
    pub fn find(&self, module: ModuleIndex, kind: NodeKind) -> Option<NodeIndex> {
        self.index.get(&Node { module, kind }).copied()
    }

    /// The module at a path of calls.
    pub fn module(&self, path: &[Str]) -> Option<ModuleIndex> {
        self.by_path.get(path).copied()
    }

    /// The block of a resource in the module at a path of calls.
    pub fn resource(&self, path: &[Str], key: &ResourceKey) -> Option<&'t Resource> {
        self.modules[self.module(path)?].node.module.resources.get(key)
    }

    /// The node of a resource in the module at a path of calls.
    pub fn resource_node(&self, path: &[Str], key: &ResourceKey) -> Option<NodeIndex> {
        self.find(self.module(path)?, NodeKind::Resource(key.clone()))
    }

    /// Where a node is declared. None if nothing in the configuration stands for it.
    pub fn place(&self, node: NodeIndex) -> Option<Span> {
        let Node { module, kind } = &self.nodes[node];
        let entry = &self.modules[*module];
        let declared = &entry.node.module;
        match kind {
            NodeKind::Variable(name) => declared.variables.get(name).map(|found| found.declared.header),
            NodeKind::Local(name) => declared.locals.get(name).map(|found| found.span),
            NodeKind::Output(name) => declared.outputs.get(name).map(|found| found.declared.header),
            NodeKind::Expansion | NodeKind::Close => entry.node.call_span,
            NodeKind::Resource(key) => declared.resources.get(key).map(|found| found.declared.header),
            NodeKind::Check(name) => declared.checks.get(name).map(|found| found.declared.header),
            NodeKind::Provider(key) => declared.provider_configs.get(key).map(|found| found.declared.header),
        }
    }

    /// The full name of a node, e.g. `module.a.local.b`.
    pub fn name(&self, node: NodeIndex) -> String {
        let Node { module, kind } = &self.nodes[node];
        let module = &self.modules[*module];
        match kind {
            NodeKind::Variable(name) => module.qualify(&format!("var.{name}")),
            NodeKind::Local(name) => module.qualify(&format!("local.{name}")),
            NodeKind::Output(name) => module.qualify(&format!("output.{name}")),
            NodeKind::Expansion => module.address(),
            NodeKind::Close => format!("{} (close)", module.address()),
            NodeKind::Resource(key) => module.qualify(&key.to_string()),
            NodeKind::Check(name) => module.qualify(&format!("check.{name}")),
            NodeKind::Provider(key) => module.qualify(&match &key.alias {
                Some(alias) => format!("provider.{}.{alias}", key.name),
                None => format!("provider.{}", key.name),
            }),
        }
    }
}
