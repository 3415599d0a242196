//! The `provider_config` of a configuration: every provider configuration of every module under one key, and which of them are
//! only another name for one that a module was given.

use std::collections::BTreeMap;

use groma_lang::config::Module;
use groma_lang::load::ModuleNode;
use groma_lang::oracle::SchemaSource;
use groma_model::address::Provider;
use groma_model::span::SourceMap;
use groma_model::version::Constraints;
use groma_provider::install::Requirements;
use serde_json::{Map, Value};

use super::expressions::body_expressions;
use super::{ConfigView, module_address};
use crate::providers::requirements::{self, ModuleRequirements};

/// All provider configurations, by module and name.
#[derive(Default)]
pub(super) struct ProviderConfigs(BTreeMap<String, Entry>);

struct Entry {
    name: String,
    provider: Provider,
    alias: Option<String>,
    version: String,
    module: String,
    expressions: Map<String, Value>,
    /// The configuration that this is another name for.
    given: Option<String>,
}

/// The key of a configuration in a module.
fn key(name: &str, module: &str) -> String {
    if module.is_empty() { name.to_owned() } else { format!("{module}:{name}") }
}

/// Of a whole configuration.
pub(super) fn of_tree(view: &ConfigView<'_>) -> ProviderConfigs {
    let mut found = ProviderConfigs::default();
    // What is wrong with constraints is told elsewhere.
    let (needed, _) = requirements::by_module(&view.tree.root);
    let collector = Collector { sources: view.sources, schemas: view.schemas };
    collector.node(&view.tree.root, &needed, &mut found);
    found
}

/// Of one module, without expressions.
pub(super) fn of_module(module: &Module) -> ProviderConfigs {
    let mut found = ProviderConfigs::default();
    let node = ModuleNode {
        path: Vec::new(),
        module: std::sync::Arc::new(module.clone()),
        children: BTreeMap::new(),
        source: None,
        remote: false,
        call_span: None,
    };
    let (needed, _) = requirements::by_module(&node);
    found.own(module, "", None, &needed.providers, &|_| Map::new());
    found
}

struct Collector<'a> {
    sources: &'a SourceMap,
    schemas: &'a dyn SchemaSource,
}

impl Collector<'_> {
    fn node(&self, node: &ModuleNode, needed: &ModuleRequirements, found: &mut ProviderConfigs) {
        let address = module_address(&node.path);
        let parent = node.path.split_last().map(|(_, path)| module_address(path));
        let expressions = |config: &groma_lang::config::ProviderConfig| {
            let schema = self.schemas.provider(&node.module.provider_of(&config.key.name));
            schema.map_or_else(Map::new, |schema| body_expressions(&config.config, &schema.block, self.sources))
        };
        found.own(&node.module, &address, parent.as_deref(), &needed.providers, &expressions);
        for (name, call) in &node.module.module_calls {
            let Some(child) = node.children.get(name) else { continue };
            let child_address = module_address(&child.path);
            for passed in &call.providers {
                let provider = child.module.provider_of(&passed.in_child.key.name);
                let given = found.source(key(&passed.in_parent.key.to_string(), &address), &provider);
                let name = passed.in_child.key.to_string();
                let entry = Entry { given, ..Entry::new(&name, provider, &child_address) };
                found.0.insert(key(&name, &child_address), entry);
            }
            let nothing = ModuleRequirements::default();
            self.node(child, needed.children.get(name).unwrap_or(&nothing), found);
        }
    }
}

impl Entry {
    fn new(name: &str, provider: Provider, module: &str) -> Self {
        Self {
            name: name.to_owned(),
            provider,
            alias: None,
            version: String::new(),
            module: module.to_owned(),
            expressions: Map::new(),
            given: None,
        }
    }

    fn into_json(self) -> Value {
        let mut json = Map::new();
        json.insert("name".into(), self.name.into());
        json.insert("full_name".into(), self.provider.to_string().into());
        super::text(&mut json, "alias", self.alias.as_deref());
        super::text(&mut json, "version_constraint", Some(&self.version));
        super::text(&mut json, "module_address", Some(&self.module));
        if !self.expressions.is_empty() {
            json.insert("expressions".into(), self.expressions.into());
        }
        json.into()
    }
}

type ExpressionsOf<'a> = dyn Fn(&groma_lang::config::ProviderConfig) -> Map<String, Value> + 'a;

impl ProviderConfigs {
    /// Adds what one module has itself: its `provider` blocks, what it requires, and what its resources imply.
    fn own(
        &mut self,
        module: &Module,
        address: &str,
        parent: Option<&str>,
        needed: &Requirements,
        expressions: &ExpressionsOf<'_>,
    ) {
        let version = |provider: &Provider| needed.get(provider).map(Constraints::canonical).unwrap_or_default();
        for (name, config) in &module.provider_configs {
            let provider = module.provider_of(&name.name);
            let entry = Entry {
                alias: name.alias.as_ref().map(ToString::to_string),
                version: version(&provider),
                expressions: expressions(config),
                ..Entry::new(&name.name, provider, address)
            };
            self.0.insert(key(&name.to_string(), address), entry);
        }
        for (name, required) in &module.required_providers.entries {
            let entry = || Entry {
                version: version(&required.provider),
                ..Entry::new(&required.name, required.provider.clone(), address)
            };
            for alias in &required.aliases {
                self.0.entry(key(&alias.to_string(), address)).or_insert_with(entry);
            }
            let place = key(name, address);
            if !self.0.contains_key(&place) {
                let given = parent.and_then(|parent| self.source(key(&required.name, parent), &required.provider));
                self.0.insert(place, Entry { given, ..entry() });
            }
        }
        for provider in needed.keys() {
            let place = key(&provider.ty, address);
            if !self.0.contains_key(&place) {
                let given = parent.and_then(|parent| self.source(key(&provider.ty, parent), provider));
                self.0.insert(place, Entry { given, ..Entry::new(&provider.ty, provider.clone(), address) });
            }
        }
    }

    /// The configuration that a key leads to in the end. None if it leads nowhere.
    fn source(&self, start: String, provider: &Provider) -> Option<String> {
        let mut found = None;
        let mut place = start;
        while let Some(entry) = self.0.get(&place).filter(|entry| entry.provider == *provider) {
            let next = entry.given.clone();
            found = Some(place);
            match next {
                Some(next) => place = next,
                None => break,
            }
        }
        found
    }

    /// The key of the configuration that a resource of a module uses.
    pub(super) fn key_of(&self, name: &str, module: &str) -> String {
        let own = key(name, module);
        let given = self.0.get(&own).and_then(|entry| entry.given.as_ref());
        given.filter(|given| self.0.contains_key(*given)).cloned().unwrap_or(own)
    }

    /// Drops the other names.
    pub(super) fn drop_inherited(&mut self) {
        self.0.retain(|_, entry| entry.given.is_none());
    }

    pub(super) fn into_json(self) -> Map<String, Value> {
        self.0.into_iter().map(|(key, entry)| (key, entry.into_json())).collect()
    }
}
