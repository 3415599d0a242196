//! Finding nodes and their needs.

use std::collections::{BTreeMap, HashMap};

use groma_model::schema::Schema;
use groma_model::text::Str;
use groma_syntax::ast::{Expr, Traversal};
use groma_syntax::body::{Attribute, Body};

use super::{Graph, ModuleEntry, ModuleIndex, Node, NodeIndex, NodeKind};
use crate::config::{CheckRule, Module, ModuleCall, ProviderConfigKey, Provisioner, Resource, ResourceKey, When};
use crate::load::{ModuleNode, ModuleTree};
use crate::oracle::ResourceOracle;
use crate::refs::{Reference, Subject};
use crate::walk::imports::leads_to;

pub(super) fn build<'t>(tree: &'t ModuleTree, schemas: &dyn ResourceOracle) -> Graph<'t> {
    let mut modules = flatten(&tree.root);
    let mut nodes = Vec::new();
    for (at, entry) in modules.iter_mut().enumerate() {
        let start = nodes.len();
        declare(&mut nodes, at, &entry.node.module);
        entry.nodes = start..nodes.len();
    }
    let index: HashMap<Node, NodeIndex> = nodes.iter().cloned().enumerate().map(|(at, node)| (node, at)).collect();
    let by_path = modules.iter().enumerate().map(|(at, entry)| (entry.node.path.as_slice(), at)).collect();
    let mut graph = Graph { modules, needs: vec![Vec::new(); nodes.len()], nodes, index, by_path };
    for at in 0..graph.nodes.len() {
        let mut needs = Needs { graph: &graph, schemas, found: Vec::new() };
        needs.of(at);
        let mut found = needs.found;
        found.sort_unstable();
        found.dedup();
        // Something that refers to itself is an error of its own, found when it is evaluated.
        found.retain(|need| *need != at);
        graph.needs[at] = found;
    }
    graph
}

/// All modules, parents before their children.
fn flatten(root: &ModuleNode) -> Vec<ModuleEntry<'_>> {
    let entry =
        |node, parent, arguments| ModuleEntry { node, parent, children: BTreeMap::new(), arguments, nodes: 0..0 };
    let mut modules = vec![entry(root, None, BTreeMap::new())];
    let mut at = 0;
    while at < modules.len() {
        let node = modules[at].node;
        for (name, child) in &node.children {
            let index = modules.len();
            modules[at].children.insert(name.clone(), index);
            let arguments = node.module.module_calls.get(name).map(arguments).unwrap_or_default();
            modules.push(entry(child, Some(at), arguments));
        }
        at += 1;
    }
    modules
}

/// The arguments of a call, by name. Blocks in it are reported when the call is decoded.
fn arguments(call: &ModuleCall) -> BTreeMap<Str, Attribute> {
    let (attributes, _) = call.config.just_attributes();
    attributes.into_iter().map(|attribute| (attribute.name.name.clone(), attribute)).collect()
}

fn declare(nodes: &mut Vec<Node>, at: ModuleIndex, module: &Module) {
    let mut add = |kind| nodes.push(Node { module: at, kind });
    if at > 0 {
        add(NodeKind::Expansion);
    }
    module.variables.keys().for_each(|name| add(NodeKind::Variable(name.clone())));
    module.locals.keys().for_each(|name| add(NodeKind::Local(name.clone())));
    module.provider_configs.keys().for_each(|key| add(NodeKind::Provider(key.clone())));
    module.resources.keys().for_each(|key| add(NodeKind::Resource(key.clone())));
    module.outputs.keys().for_each(|name| add(NodeKind::Output(name.clone())));
    module.checks.keys().for_each(|name| add(NodeKind::Check(name.clone())));
    if at > 0 {
        add(NodeKind::Close);
    }
}

/// Collects what one node needs.
struct Needs<'g, 't> {
    graph: &'g Graph<'t>,
    schemas: &'g dyn ResourceOracle,
    found: Vec<NodeIndex>,
}

impl Needs<'_, '_> {
    fn of(&mut self, at: NodeIndex) {
        let graph = self.graph;
        let Node { module, kind } = &graph.nodes[at];
        let (module, entry) = (*module, &graph.modules[*module]);
        let declared = &entry.node.module;
        if !matches!(kind, NodeKind::Expansion) && entry.parent.is_some() {
            self.node(module, NodeKind::Expansion);
        }
        match kind {
            NodeKind::Variable(name) => {
                self.argument(module, name);
                if let Some(variable) = declared.variables.get(name) {
                    self.rules(module, &variable.validations);
                }
            }
            NodeKind::Local(name) => {
                if let Some(local) = declared.locals.get(name) {
                    self.expr(module, &local.expr);
                }
            }
            NodeKind::Output(name) => {
                if let Some(output) = declared.outputs.get(name) {
                    self.maybe(module, output.expr.as_deref());
                    self.rules(module, &output.preconditions);
                    self.traversals(module, &output.depends_on);
                }
            }
            NodeKind::Expansion => self.expansion(module),
            NodeKind::Close => self.everything_in(module),
            NodeKind::Resource(key) => {
                if let Some(resource) = declared.resources.get(key) {
                    self.resource(module, resource);
                    self.imports(&entry.node.path, key);
                }
            }
            NodeKind::Check(name) => {
                if let Some(check) = declared.checks.get(name) {
                    self.rules(module, &check.asserts);
                    check.data.iter().for_each(|key| self.node(module, NodeKind::Resource(key.clone())));
                }
            }
            NodeKind::Provider(key) => {
                if let Some(provider) = declared.provider_configs.get(key) {
                    let schema = self.schemas.provider(&declared.required_providers.provider_of(&key.name));
                    self.configuration(module, &provider.config, schema.as_deref());
                }
            }
        }
    }

    fn node(&mut self, module: ModuleIndex, kind: NodeKind) {
        self.found.extend(self.graph.find(module, kind));
    }

    fn expr(&mut self, module: ModuleIndex, expr: &Expr) {
        for traversal in expr.references() {
            self.traversal(module, traversal);
        }
    }

    fn maybe(&mut self, module: ModuleIndex, expr: Option<&Expr>) {
        if let Some(expr) = expr {
            self.expr(module, expr);
        }
    }

    fn traversals(&mut self, module: ModuleIndex, traversals: &[Traversal]) {
        for traversal in traversals {
            // `depends_on` a module waits for all of it; an output of it only for what that is made of.
            if let Ok(Reference { subject: Subject::Module { name, output: None, .. }, .. }) =
                Reference::parse(traversal)
                && let Some(child) = self.graph.modules[module].children.get(&name)
            {
                self.node(*child, NodeKind::Close);
            }
            self.traversal(module, traversal);
        }
    }

    fn rules(&mut self, module: ModuleIndex, rules: &[CheckRule]) {
        for rule in rules {
            self.maybe(module, rule.condition.as_deref());
            self.maybe(module, rule.error_message.as_deref());
        }
    }

    /// What the arguments refer to that the schema has.
    fn configuration(&mut self, module: ModuleIndex, body: &Body, schema: Option<&Schema>) {
        // Blocks can be generated; where there may be some, everything counts.
        let Some(schema) = schema.filter(|schema| schema.block.block_types.is_empty()) else {
            return self.body(module, body);
        };
        for attribute in body.just_attributes().0 {
            if schema.block.attributes.contains_key(&attribute.name.name) {
                self.expr(module, &attribute.expr);
            }
        }
    }

    fn body(&mut self, module: ModuleIndex, body: &Body) {
        for traversal in body.references() {
            self.traversal(module, &traversal);
        }
    }

    fn traversal(&mut self, module: ModuleIndex, traversal: &Traversal) {
        // What cannot be understood is reported when it is evaluated.
        let Ok(reference) = Reference::parse(traversal) else { return };
        match reference.subject {
            Subject::Variable(name) => self.node(module, NodeKind::Variable(name)),
            Subject::Local(name) => self.node(module, NodeKind::Local(name)),
            Subject::Resource { resource, .. } => self.node(module, NodeKind::Resource(resource)),
            Subject::Module { name, output, .. } => {
                let Some(&child) = self.graph.modules[module].children.get(&name) else { return };
                if let Some(output) = output {
                    // An output that does not exist is reported by whoever asks for it.
                    self.node(child, NodeKind::Output(output));
                } else {
                    for name in self.graph.modules[child].node.module.outputs.keys() {
                        self.node(child, NodeKind::Output(name.clone()));
                    }
                }
                self.node(child, NodeKind::Expansion);
            }
            Subject::Path(_) | Subject::Tool { .. } | Subject::Count(_) | Subject::Each(_) | Subject::Itself => {}
        }
    }

    /// The argument of a module call that sets a variable, evaluated by the caller.
    fn argument(&mut self, module: ModuleIndex, name: &str) {
        let entry = &self.graph.modules[module];
        if let (Some(parent), Some(argument)) = (entry.parent, entry.arguments.get(name)) {
            self.expr(parent, &argument.expr);
        }
    }

    fn expansion(&mut self, module: ModuleIndex) {
        let entry = &self.graph.modules[module];
        let (Some(parent), Some(call_name)) = (entry.parent, entry.node.path.last()) else { return };
        if parent > 0 {
            self.node(parent, NodeKind::Expansion);
        }
        if let Some(call) = self.graph.modules[parent].node.module.module_calls.get(call_name) {
            self.maybe(parent, call.repetition.expr().map(AsRef::as_ref));
            self.traversals(parent, &call.depends_on);
        }
    }

    fn everything_in(&mut self, module: ModuleIndex) {
        let entry = &self.graph.modules[module];
        self.found.extend(entry.nodes.clone().filter(|at| self.graph.nodes[*at].kind != NodeKind::Close));
        for &child in entry.children.values() {
            self.node(child, NodeKind::Close);
        }
    }

    fn resource(&mut self, module: ModuleIndex, resource: &Resource) {
        self.maybe(module, resource.repetition.expr().map(AsRef::as_ref));
        let schema = self.schemas.resource(&resource.provider, resource.key.mode, &resource.key.ty);
        self.configuration(module, &resource.config, schema.as_deref());
        self.traversals(module, &resource.depends_on);
        self.rules(module, &resource.preconditions);
        self.rules(module, &resource.postconditions);
        if let Some(provider) = &resource.provider_ref {
            self.maybe(module, provider.instance.as_deref());
        }
        self.provider(module, resource.provider_key());
        let managed = &resource.managed;
        self.maybe(module, managed.prevent_destroy.as_deref());
        self.maybe(module, managed.destroy.as_deref());
        managed.replace_triggered_by.iter().for_each(|expr| self.expr(module, expr));
        if let Some(connection) = &managed.connection {
            self.body(module, &connection.config);
        }
        managed.provisioners.iter().for_each(|provisioner| self.provisioner(module, provisioner));
    }

    /// The configuration that a module knows as `key`: its own, or that of the nearest caller that passes one on.
    fn provider(&mut self, mut module: ModuleIndex, mut key: ProviderConfigKey) {
        loop {
            let entry = &self.graph.modules[module];
            if entry.node.module.provider_configs.contains_key(&key) {
                return self.node(module, NodeKind::Provider(key));
            }
            let (Some(parent), Some(call)) = (entry.parent, entry.node.path.last()) else { return };
            let call = self.graph.modules[parent].node.module.module_calls.get(call);
            let passed = call.and_then(|call| call.providers.iter().find(|passed| passed.in_child.key == key));
            match passed {
                Some(passed) => key = passed.in_parent.key.clone(),
                None if key.alias.is_some() => return,
                None => {}
            }
            module = parent;
        }
    }

    /// What the imports into a resource refer to, in the root module.
    fn imports(&mut self, path: &[Str], key: &ResourceKey) {
        let root: &Module = &self.graph.modules[0].node.module;
        for import in root.imports.iter().filter(|import| leads_to(import, path, key)) {
            for expr in [&import.id, &import.identity, &import.for_each].into_iter().flatten() {
                self.expr(0, expr);
            }
        }
    }

    fn provisioner(&mut self, module: ModuleIndex, provisioner: &Provisioner) {
        // Those that run at destruction see only the resource itself.
        if provisioner.when == When::Destroy {
            return;
        }
        self.body(module, &provisioner.config);
        if let Some(connection) = &provisioner.connection {
            self.body(module, &connection.config);
        }
    }
}
