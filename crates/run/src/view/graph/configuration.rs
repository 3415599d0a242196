//! The graph of a configuration, with the nodes that OpenTofu's plan has.

use std::collections::BTreeMap;
use std::sync::Arc;

use groma_lang::config::{ProviderConfigKey, ResourceMode};
use groma_lang::graph::{Graph, ModuleIndex, NodeIndex, NodeKind as Declared};
use groma_lang::load::ModuleTree;
use groma_lang::oracle::{NothingExists, SchemaSource};
use groma_model::address::{Module, Provider, ProviderConfig};
use groma_model::schema::Schema;

use super::{GraphView, Node, NodeKind};

/// Knows no schemas: whatever an argument refers to counts.
struct NoSchemas;

impl SchemaSource for NoSchemas {
    fn provider(&self, _: &Provider) -> Option<Arc<Schema>> {
        None
    }

    fn resource(&self, _: &Provider, _: ResourceMode, _: &str) -> Option<Arc<Schema>> {
        None
    }
}

/// The declarations of a configuration, and what they need.
pub(super) fn declarations(tree: &ModuleTree) -> Graph<'_> {
    Graph::new(tree, &NothingExists(NoSchemas))
}

/// The graph of a configuration.
pub(super) fn graph(tree: &ModuleTree) -> GraphView {
    let declared = declarations(tree);
    let mut builder = Builder::new(&declared);
    builder.add_reports();
    builder.connect();
    builder.add_providers();
    builder.view
}

/// Makes nodes of declarations.
pub(super) struct Builder<'g, 't> {
    pub(super) declared: &'g Graph<'t>,
    pub(super) view: GraphView,
    /// By declaration: the node that those depend on who need it.
    pub(super) results: Vec<usize>,
    /// By declaration: the node that depends on what it needs.
    pub(super) starts: Vec<usize>,
    providers: BTreeMap<ProviderConfig, usize>,
}

impl<'g, 't> Builder<'g, 't> {
    pub(super) fn new(declared: &'g Graph<'t>) -> Self {
        let mut builder = Self {
            declared,
            view: GraphView::default(),
            results: Vec::new(),
            starts: Vec::new(),
            providers: BTreeMap::new(),
        };
        for node in 0..declared.nodes.len() {
            let (start, result) = builder.declare(node);
            builder.starts.push(start);
            builder.results.push(result);
        }
        builder
    }

    /// The node or nodes of a declaration.
    fn declare(&mut self, node: NodeIndex) -> (usize, usize) {
        let module = self.declared.nodes[node].module;
        let place = self.declared.modules[module].address();
        let name = self.declared.name(node);
        let simple = |kind| Node::new(format!("{name} (expand)"), &name, kind, &place);
        let made = match &self.declared.nodes[node].kind {
            Declared::Variable(_) if module == 0 => {
                let value = self.view.add(Node::new(name.clone(), &name, NodeKind::Variable, &place).shown_in_dot());
                let reference = self.view.add(Node::helper(format!("{name} (expand, reference)"), &place));
                self.view.need(reference, value);
                // What it is checked with is needed before it can be referred to.
                return (reference, reference);
            }
            Declared::Variable(_) => {
                let input = self.view.add(Node::helper(format!("{name} (expand, input)"), &place));
                let reference = Node::new(format!("{name} (expand, reference)"), &name, NodeKind::Variable, &place);
                let reference = self.view.add(reference);
                self.view.need(reference, input);
                return (input, reference);
            }
            Declared::Local(_) => simple(NodeKind::Local),
            Declared::Output(_) => simple(NodeKind::Output),
            Declared::Check(_) => simple(NodeKind::Check),
            Declared::Resource(key) => simple(kind_of(key.mode)).shown_in_dot(),
            Declared::Expansion => Node::helper(format!("{name} (expand)"), &place),
            Declared::Close => Node::helper(name, &place),
            Declared::Provider(key) => {
                let config = self.config(module, key);
                let at = self.provider(&config);
                return (at, at);
            }
        };
        let at = self.view.add(made);
        (at, at)
    }

    /// Whoever evaluates checks reports what they said.
    fn add_reports(&mut self) {
        for node in 0..self.declared.nodes.len() {
            if let Declared::Check(_) = &self.declared.nodes[node].kind {
                let place = self.declared.modules[self.declared.nodes[node].module].address();
                let report = Node::helper(format!("{} (report)", self.declared.name(node)), &place);
                let report = self.view.add(report);
                self.view.need(self.results[node], report);
            }
        }
    }

    fn connect(&mut self) {
        for (node, needs) in self.declared.needs.iter().enumerate() {
            for need in needs {
                self.view.need(self.starts[node], self.results[*need]);
            }
        }
    }

    /// Resources need their providers, which end when all that use them are done.
    fn add_providers(&mut self) {
        let mut users = Vec::new();
        for node in 0..self.declared.nodes.len() {
            if let Declared::Resource(_) = &self.declared.nodes[node].kind {
                let provider = self.provider_of(node);
                self.view.need(self.starts[node], provider);
                users.push((provider, self.results[node]));
            }
        }
        self.close_providers(&users);
    }

    /// Adds the ends of providers, from pairs of a provider and something that uses it.
    pub(super) fn close_providers(&mut self, users: &[(usize, usize)]) {
        let mut ends = BTreeMap::new();
        for &(provider, user) in users {
            let end = *ends.entry(provider).or_insert_with(|| {
                let Node { name, label, module, .. } = &self.view.nodes[provider];
                let (name, label) = (format!("{name} (close)"), format!("{label} (close)"));
                let end = Node::new(name, &label, NodeKind::ProviderClose, &module.clone());
                let end = self.view.add(end);
                self.view.need(end, provider);
                end
            });
            self.view.need(end, user);
        }
    }

    /// The provider that a resource uses.
    pub(super) fn provider_of(&mut self, node: NodeIndex) -> usize {
        let module = self.declared.nodes[node].module;
        let Declared::Resource(key) = &self.declared.nodes[node].kind else { return self.results[node] };
        let resource = self.declared.modules[module].node.module.resources.get(key);
        let config = match resource {
            Some(resource) => self.resolved(module, &resource.provider_key(), &resource.provider),
            None => self.config(module, &ProviderConfigKey { name: key.implied_provider().into(), alias: None }),
        };
        self.provider(&config)
    }

    /// The node of a provider configuration.
    pub(super) fn provider(&mut self, config: &ProviderConfig) -> usize {
        if let Some(&known) = self.providers.get(config) {
            return known;
        }
        let name = config.to_string();
        let module = if config.module.is_root() { String::new() } else { config.module.to_string() };
        let at = self.view.add(Node::new(name.clone(), &name, NodeKind::Provider, &module).shown_in_dot());
        self.providers.insert(config.clone(), at);
        at
    }

    fn config(&self, module: ModuleIndex, key: &ProviderConfigKey) -> ProviderConfig {
        let entry = &self.declared.modules[module];
        ProviderConfig {
            module: Module::new(entry.node.path.iter().cloned()),
            provider: entry.node.module.required_providers.provider_of(&key.name),
            alias: key.alias.clone(),
        }
    }

    /// The configuration that a module knows by a name: its own, or that of the nearest caller that has one. Without any, it is
    /// the default one of the root.
    fn resolved(&self, mut module: ModuleIndex, key: &ProviderConfigKey, provider: &Provider) -> ProviderConfig {
        let mut key = key.clone();
        loop {
            let entry = &self.declared.modules[module];
            if entry.node.module.provider_configs.contains_key(&key) {
                return self.config(module, &key);
            }
            let (Some(parent), Some(call)) = (entry.parent, entry.node.path.last()) else { break };
            let call = self.declared.modules[parent].node.module.module_calls.get(call);
            let passed = call.and_then(|call| call.providers.iter().find(|passed| passed.in_child.key == key));
            if let Some(passed) = passed {
                key = passed.in_parent.key.clone();
            }
            module = parent;
        }
        ProviderConfig { module: Module::root(), provider: provider.clone(), alias: key.alias }
    }
}

/// What a resource of a mode is drawn as.
pub(super) fn kind_of(mode: ResourceMode) -> NodeKind {
    match mode {
        ResourceMode::Managed => NodeKind::Resource,
        ResourceMode::Data => NodeKind::Data,
        ResourceMode::Ephemeral => NodeKind::Ephemeral,
    }
}
