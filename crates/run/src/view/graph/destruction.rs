//! The graph of a destruction: every object of a state, behind those that depend on it.

use std::collections::BTreeMap;

use groma_lang::load::ModuleTree;
use groma_model::address::{AbsObject, ConfigResource, ProviderConfig, ResourceMode};
use groma_state::State;

use super::{GraphView, Node, NodeKind};

/// The graph of a destruction.
pub(super) fn graph(tree: &ModuleTree, state: &State) -> GraphView {
    let mut builder = Builder::default();
    let root = &tree.root.module;
    for name in root.variables.keys() {
        let name = format!("var.{name}");
        builder.view.add(Node::new(name.clone(), &name, NodeKind::Variable, "").shown_in_dot());
    }
    for name in root.outputs.keys() {
        builder.view.add(Node::new(format!("output.{name} (expand)"), &format!("output.{name}"), NodeKind::Output, ""));
    }
    let managed = state.resources.iter().filter(|(address, _)| address.resource.mode == ResourceMode::Managed);
    for (address, resource) in managed {
        for (key, instance) in &resource.instances {
            let address = address.instance(key.clone());
            let current = instance.current.iter().map(|object| (address.object(None), object));
            let deposed = instance.deposed.iter().map(|(key, object)| (address.object(Some(key.clone())), object));
            for (address, object) in current.chain(deposed) {
                builder.object(&address, &resource.provider, &object.dependencies);
            }
        }
    }
    builder.finish()
}

#[derive(Default)]
struct Builder {
    view: GraphView,
    providers: BTreeMap<ProviderConfig, (usize, usize)>,
    /// Where the objects of a resource wait for everything that depends on it.
    dependents: BTreeMap<ConfigResource, usize>,
    gates: Vec<usize>,
}

impl Builder {
    fn object(&mut self, address: &AbsObject, provider: &ProviderConfig, dependencies: &[ConfigResource]) {
        let AbsObject { instance, deposed } = address;
        let name = match deposed {
            None => format!("{instance} (destroy)"),
            Some(key) => format!("{instance} (destroy deposed {key})"),
        };
        let module = if instance.module.is_root() { String::new() } else { instance.module.to_string() };
        let mut node = Node::new(name.clone(), &name, NodeKind::Resource, &module);
        node.dot_label = Some(instance.config().to_string());
        let node = self.view.add(node);
        let (provider, end) = self.provider(provider);
        self.view.need(node, provider);
        self.view.need(end, node);
        let gate = self.gate(&instance.config());
        self.view.need(node, gate);
        for dependency in dependencies.iter().filter(|dependency| **dependency != instance.config()) {
            let gate = self.gate(dependency);
            self.view.need(gate, node);
        }
    }

    fn gate(&mut self, resource: &ConfigResource) -> usize {
        if let Some(&known) = self.dependents.get(resource) {
            return known;
        }
        let gate = self.view.add(Node::helper(format!("what depends on {resource}"), ""));
        self.gates.push(gate);
        self.dependents.insert(resource.clone(), gate);
        gate
    }

    fn provider(&mut self, config: &ProviderConfig) -> (usize, usize) {
        if let Some(&known) = self.providers.get(config) {
            return known;
        }
        let name = config.to_string();
        let module = if config.module.is_root() { String::new() } else { config.module.to_string() };
        let provider = self.view.add(Node::new(name.clone(), &name, NodeKind::Provider, &module).shown_in_dot());
        let end = format!("{name} (close)");
        let end = self.view.add(Node::new(end.clone(), &end, NodeKind::ProviderClose, &module));
        self.view.need(end, provider);
        self.providers.insert(config.clone(), (provider, end));
        (provider, end)
    }

    fn finish(self) -> GraphView {
        let mut is_gate = vec![false; self.view.nodes.len()];
        self.gates.iter().for_each(|gate| is_gate[*gate] = true);
        self.view.without(&|node| !is_gate[node])
    }
}
