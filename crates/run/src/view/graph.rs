//! What depends on what, as a drawing: DOT as the other tools print it, Mermaid, or SVG. No provider is asked.
//!
//! A graph is made of a configuration, of a plan or of a state, and drawn afterwards. For DOT it has all the nodes that OpenTofu
//! shows; in the other drawings those that only order things are left out, and what they connect is connected directly.

mod configuration;
mod destruction;
mod dot;
mod layout;
mod mermaid;
mod plan;
mod reduce;
mod svg;
#[cfg(test)]
mod tests;

use groma_engine::plan::Plan;
use groma_lang::load::ModuleTree;
use groma_state::State;

/// What a node stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeKind {
    /// A managed resource, or an instance of one.
    Resource,
    /// A data source.
    Data,
    /// An ephemeral resource.
    Ephemeral,
    /// A provider configuration.
    Provider,
    /// The end of the use of a provider.
    ProviderClose,
    /// A variable.
    Variable,
    /// A local value.
    Local,
    /// An output.
    Output,
    /// A `check` block.
    Check,
    /// Something that only orders others.
    Helper,
}

/// A node.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Node {
    /// As DOT names it.
    name: String,
    /// What DOT shows, if it shows it.
    dot_label: Option<String>,
    /// What people are shown.
    label: String,
    kind: NodeKind,
    /// The module that it is in: `module.a`, or nothing for the root.
    module: String,
}

impl Node {
    fn new(name: String, label: &str, kind: NodeKind, module: &str) -> Self {
        Self { name, dot_label: None, label: label.to_owned(), kind, module: module.to_owned() }
    }

    fn helper(name: String, module: &str) -> Self {
        let label = name.clone();
        Self { name, dot_label: None, label, kind: NodeKind::Helper, module: module.to_owned() }
    }

    fn shown_in_dot(mut self) -> Self {
        self.dot_label = Some(self.label.clone());
        self
    }
}

/// Nodes and what they need.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GraphView {
    nodes: Vec<Node>,
    /// By node: the nodes that it needs, in order, each once.
    needs: Vec<Vec<usize>>,
}

/// How DOT is written.
#[derive(Debug, Clone, Copy, Default)]
pub struct DotOptions {
    /// Also what is left out usually.
    pub verbose: bool,
    /// What goes round in circles is red.
    pub draw_cycles: bool,
}

impl GraphView {
    /// Of a configuration: what a plan walks.
    pub fn of_configuration(tree: &ModuleTree) -> Self {
        configuration::graph(tree).finished()
    }

    /// Of a plan: what is done, in its order.
    pub fn of_plan(tree: &ModuleTree, plan: &Plan) -> Self {
        plan::graph(tree, plan).finished()
    }

    /// Of a state and a configuration: what the destruction of everything walks.
    pub fn of_destruction(tree: &ModuleTree, state: &State) -> Self {
        destruction::graph(tree, state).finished()
    }

    /// The nodes that wait for each other, in groups, by name. Empty if all is well.
    pub fn cycles(&self) -> Vec<Vec<&str>> {
        let named = |group: Vec<usize>| group.into_iter().map(|node| self.nodes[node].name.as_str()).collect();
        reduce::cycles(&self.needs).into_iter().map(named).collect()
    }

    /// As DOT.
    pub fn to_dot(&self, options: DotOptions) -> String {
        dot::write(self, options)
    }

    /// As a Mermaid flow chart.
    pub fn to_mermaid(&self) -> String {
        mermaid::write(&self.simplified())
    }

    /// As SVG.
    pub fn to_svg(&self) -> String {
        svg::write(&self.simplified())
    }

    fn add(&mut self, node: Node) -> usize {
        self.nodes.push(node);
        self.needs.push(Vec::new());
        self.nodes.len() - 1
    }

    fn need(&mut self, node: usize, needs: usize) {
        self.needs[node].push(needs);
    }

    /// With a root that needs everything, and without what says nothing new.
    fn finished(mut self) -> Self {
        let root = self.add(Node::helper("root".to_owned(), ""));
        for node in 0..root {
            self.need(root, node);
        }
        reduce::reduce(&mut self.needs);
        self
    }

    /// Without what only orders others.
    fn simplified(&self) -> Self {
        let is_kept = |node: usize| !matches!(self.nodes[node].kind, NodeKind::Helper | NodeKind::ProviderClose);
        let mut simple = self.without(&is_kept);
        reduce::reduce(&mut simple.needs);
        simple
    }

    /// Without some nodes: what they connect is connected directly. Those that connect very many stay.
    fn without(&self, is_kept: &dyn Fn(usize) -> bool) -> Self {
        let mut needs = self.needs.clone();
        let removed = reduce::bridge(&mut needs, is_kept);
        let kept: Vec<usize> = (0..self.nodes.len()).filter(|node| !removed[*node]).collect();
        let mut place = vec![0; self.nodes.len()];
        kept.iter().enumerate().for_each(|(at, node)| place[*node] = at);
        Self {
            nodes: kept.iter().map(|node| self.nodes[*node].clone()).collect(),
            needs: kept.iter().map(|node| needs[*node].iter().map(|need| place[*need]).collect()).collect(),
        }
    }
}
