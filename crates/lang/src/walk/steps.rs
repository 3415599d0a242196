//! The walk one step at a time, for those who make resources on the way: planning and applying.

use std::cell::RefCell;
use std::collections::BTreeMap;

use groma_model::address::{InstanceKey, ModuleInstance};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::schema::Block;
use groma_model::text::Str;
use groma_model::value::Value;
use groma_syntax::ast::Expr;
use groma_syntax::body::Body;

use super::expansion::{Expansion, expand};
use super::{InputValue, Instance, InstanceIndex, ModuleScope, RepetitionData, RuleResult, Settings, Walk, conditions};
use crate::config::{Module, ProviderConfigKey, ProviderMeta, ProviderSource, Resource, ResourceKey};
use crate::decode;
use crate::eval::evaluate;
use crate::graph::{Graph, ModuleIndex};
use crate::load::ModuleTree;

/// One instance of a resource, as its repetition makes it.
#[derive(Debug, Clone)]
pub struct ResourceInstance {
    /// Its key.
    pub key: InstanceKey,
    /// What `count` and `each` stand for in it.
    pub repetition: RepetitionData,
}

/// Where expressions of a resource are evaluated.
#[derive(Clone, Copy)]
pub struct Site<'s> {
    /// In which module instance.
    pub module: InstanceIndex,
    /// Which resource.
    pub resource: &'s Resource,
    /// What `count` and `each` stand for.
    pub repetition: &'s RepetitionData,
}

impl<'a> Walk<'a> {
    /// Gets ready to walk. Nothing but the requirements of the modules has been checked.
    pub fn start(
        tree: &'a ModuleTree,
        settings: Settings<'a>,
        inputs: &BTreeMap<Str, InputValue>,
    ) -> (Self, Diagnostics) {
        let graph = Graph::new(tree, settings.oracle);
        let modules = graph.modules.len();
        let root = Instance::new(0, None, ModuleInstance::root(), RepetitionData::default());
        let mut walk = Walk {
            settings,
            inputs: inputs.clone(),
            graph,
            instances: vec![Vec::new(); modules],
            by_place: BTreeMap::from([(root.place.clone(), 0)]),
            arena: vec![root],
            module_values: RefCell::default(),
            judgements: RefCell::default(),
        };
        walk.instances[0].push(0);
        let diagnostics = walk.check_requirements();
        (walk, diagnostics)
    }

    /// What depends on what.
    pub fn graph(&self) -> &Graph<'a> {
        &self.graph
    }

    /// The instances of a module, as far as it was expanded.
    pub fn instances_of(&self, module: ModuleIndex) -> &[InstanceIndex] {
        &self.instances[module]
    }

    /// The address of a module instance, e.g. `module.a["x"].module.b`; empty for the root.
    pub fn module_address(&self, instance: InstanceIndex) -> &str {
        &self.arena[instance].address
    }

    /// The same in parts.
    pub fn module_instance(&self, instance: InstanceIndex) -> &ModuleInstance {
        &self.arena[instance].place
    }

    /// The instance with an address, if the configuration makes it and it was expanded already.
    pub fn instance_at(&self, place: &ModuleInstance) -> Option<InstanceIndex> {
        self.by_place.get(place).copied()
    }

    /// The module that an instance is one of.
    pub fn module(&self, instance: InstanceIndex) -> &'a Module {
        self.module_of(instance)
    }

    /// The module of the tree that an instance is one of.
    pub fn module_index(&self, instance: InstanceIndex) -> ModuleIndex {
        self.arena[instance].module
    }

    /// Whether the module of an instance, or one that it is called through, was fetched from elsewhere.
    pub fn is_remote(&self, instance: InstanceIndex) -> bool {
        self.graph.modules[self.arena[instance].module].node.remote
    }

    /// The module instance that called this one.
    pub fn caller(&self, instance: InstanceIndex) -> Option<InstanceIndex> {
        self.arena[instance].parent
    }

    /// A declared resource.
    pub fn resource(&self, instance: InstanceIndex, key: &ResourceKey) -> Option<&'a Resource> {
        self.module_of(instance).resources.get(key)
    }

    /// The outputs of a module instance that have values.
    pub fn outputs(&self, instance: InstanceIndex) -> &BTreeMap<Str, Value> {
        &self.arena[instance].outputs
    }

    /// How often a resource is made in a module instance, in the order of the keys.
    pub fn expand_resource(&self, module: InstanceIndex, resource: &Resource) -> (Vec<ResourceInstance>, Diagnostics) {
        let mut diagnostics = Diagnostics::new();
        let expansion = expand(&resource.repetition, &ModuleScope::new(self, module), &mut diagnostics);
        let instances = match expansion {
            Expansion::Disabled => Vec::new(),
            Expansion::Single => {
                vec![ResourceInstance { key: InstanceKey::None, repetition: RepetitionData::default() }]
            }
            Expansion::Counted(count) => (0..count).map(counted).collect(),
            Expansion::Keyed(keys) => keys.into_iter().map(keyed).collect(),
        };
        (instances, diagnostics)
    }

    /// The configuration of a resource instance.
    pub fn resource_config(&self, site: Site<'_>, schema: &Block) -> (Value, Diagnostics) {
        let scope = self.scope_at(site).inside(site.resource);
        let (value, mut diagnostics) = decode::decode_block(&site.resource.config, schema, &scope);
        if !diagnostics.has_errors() && site.resource.key.mode != crate::config::ResourceMode::Ephemeral {
            diagnostics.extend(decode::refuse_ephemeral(&value, schema, &site.resource.config));
        }
        (value, diagnostics)
    }

    /// A block that belongs to a resource, such as that of a provisioner. `itself` is what `self` stands for.
    pub fn block_config(&self, site: Site<'_>, itself: &Value, body: &Body, schema: &Block) -> (Value, Diagnostics) {
        let scope = self.scope_at(site).being(site.resource, itself.clone());
        decode::decode_block(body, schema, &scope)
    }

    /// An expression of a resource that is not part of its configuration.
    pub fn resource_expr(&self, site: Site<'_>, expr: &Expr) -> (Value, Diagnostics) {
        evaluate(expr, &self.scope_at(site))
    }

    /// An expression of a module.
    pub fn module_expr(&self, module: InstanceIndex, expr: &Expr) -> (Value, Diagnostics) {
        evaluate(expr, &ModuleScope::new(self, module))
    }

    /// An expression in the call of a module, for one of the instances that the call makes.
    pub fn call_expr(&self, called: InstanceIndex, expr: &Expr) -> (Value, Diagnostics) {
        let caller = self.arena[called].parent.unwrap_or(0);
        evaluate(expr, &ModuleScope::new(self, caller).repeated(self.arena[called].repetition.clone()))
    }

    /// The preconditions of a resource instance.
    pub fn preconditions(&self, site: Site<'_>) -> Vec<RuleResult> {
        let scope = self.scope_at(site);
        let check = |rule| conditions::check_rule(rule, &scope, "Resource precondition", self.severity());
        site.resource.preconditions.iter().map(check).collect()
    }

    /// The postconditions of a resource instance, which is `itself` now.
    pub fn postconditions(&self, site: Site<'_>, itself: &Value) -> Vec<RuleResult> {
        let scope = self.scope_at(site).being(site.resource, itself.clone());
        let check = |rule| conditions::check_rule(rule, &scope, "Resource postcondition", self.severity());
        site.resource.postconditions.iter().map(check).collect()
    }

    /// What a module tells a provider about itself: its `provider_meta` block. None if it has none.
    pub fn provider_meta(
        &self,
        module: InstanceIndex,
        provider: &ProviderSource,
        schema: &Block,
    ) -> Option<(Value, Diagnostics)> {
        let declared = self.module_of(module);
        let own = |meta: &&ProviderMeta| declared.required_providers.provider_of(&meta.provider) == *provider;
        let meta = declared.provider_meta.values().find(own)?;
        Some(decode::decode_block(&meta.config, schema, &ModuleScope::new(self, module)))
    }

    /// The configuration of a provider, once or by key. Without a block it is empty.
    pub fn provider_configs(
        &self,
        module: InstanceIndex,
        key: &ProviderConfigKey,
        schema: &Block,
    ) -> (Vec<(InstanceKey, Value)>, Diagnostics) {
        let Some(config) = self.module_of(module).provider_configs.get(key) else {
            return (vec![(InstanceKey::None, schema.empty_value())], Diagnostics::new());
        };
        let mut diagnostics = Diagnostics::new();
        let instances = match &config.for_each {
            None => vec![ResourceInstance { key: InstanceKey::None, repetition: RepetitionData::default() }],
            Some(expr) => {
                let repetition = crate::config::Repetition::ForEach(expr.clone());
                match expand(&repetition, &ModuleScope::new(self, module), &mut diagnostics) {
                    Expansion::Keyed(keys) => keys.into_iter().map(keyed).collect(),
                    _ => Vec::new(),
                }
            }
        };
        let mut configs = Vec::new();
        for ResourceInstance { key, repetition } in instances {
            if let Some(value) = &config.evaluated {
                configs.push((key, value.clone()));
                continue;
            }
            let scope = ModuleScope::new(self, module).repeated(repetition);
            let (value, found) = decode::decode_block(&config.config, schema, &scope);
            diagnostics.extend(found);
            configs.push((key, value));
        }
        (configs, diagnostics)
    }

    /// Points a provider's diagnostic at the place in the configuration that it is about.
    pub fn locate(&self, resource: &Resource, diagnostic: Diagnostic) -> Diagnostic {
        let span = match &diagnostic.path {
            Some(path) => decode::locate(&resource.config, path),
            None => resource.declared.header,
        };
        diagnostic.or_at(span)
    }

    fn scope_at<'s>(&'s self, site: Site<'_>) -> ModuleScope<'s> {
        ModuleScope::new(self, site.module).repeated(site.repetition.clone())
    }
}

fn counted(at: usize) -> ResourceInstance {
    let count_index = Some(Value::number(at as u64));
    let key = InstanceKey::Int(i64::try_from(at).unwrap_or(i64::MAX));
    ResourceInstance { key, repetition: RepetitionData { count_index, ..RepetitionData::default() } }
}

fn keyed((key, value): (Str, Value)) -> ResourceInstance {
    let each_key = Some(Value::string(key.clone()));
    let repetition = RepetitionData { each_key, each_value: Some(value), ..RepetitionData::default() };
    ResourceInstance { key: InstanceKey::String(key), repetition }
}
