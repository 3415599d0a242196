//! The configuration that a run works with: the module under test, with the providers of the test file in it, and without what the
//! test takes for granted.
//!
//! Nothing further on knows of tests. A resource whose values are given uses a provider configuration of its own, which makes nothing;
//! a module whose outputs are given has nothing in it but those.

use std::collections::BTreeSet;
use std::sync::Arc;

use groma_lang::config::test_file::{MockProvider, OverrideModule, OverrideResource, TestFile, TestRun};
use groma_lang::config::{
    Module, ObjectAddress, PassedProvider, ProviderConfig, ProviderConfigKey, ProviderRef, ProviderSource,
    RequiredProvider, Resource, ResourceMode,
};
use groma_lang::decode::decode_block;
use groma_lang::eval::MapScope;
use groma_lang::load::{ModuleNode, ModuleTree};
use groma_model::address::{Module as ModulePath, ProviderConfig as ProviderAddress};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::schema::Block;
use groma_model::span::Span;
use groma_model::text::Str;
use groma_model::value::Value;
use groma_syntax::body::Body;

use super::literal;
use super::mock::{Mock, Mocks};
use super::variables::TestValues;
use crate::providers::ProviderBook;
use crate::providers::requirements::module_address;

/// A configuration for a run.
pub(super) struct Prepared {
    pub(super) tree: ModuleTree,
    /// Which of its provider configurations make nothing.
    pub(super) mocks: Mocks,
    /// Warnings.
    pub(super) diagnostics: Diagnostics,
}

/// Makes the configuration for a run.
pub(super) fn prepare(
    under_test: &ModuleTree,
    (file, run): (&TestFile, &TestRun),
    values: &TestValues<'_>,
    book: &ProviderBook,
) -> Result<Prepared, Diagnostics> {
    let mut preparing = Preparing {
        tree: under_test.clone(),
        mocks: Mocks::new(),
        in_effect: Vec::new(),
        diagnostics: Diagnostics::new(),
        values,
        book,
    };
    preparing.providers(file, run);
    preparing.resources(file, run);
    preparing.modules(file, run);
    let Preparing { tree, mocks, diagnostics, .. } = preparing;
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(Prepared { tree, mocks, diagnostics }) }
}

/// What is wrong with the overrides of a file or a run as such.
pub(super) fn duplicates(resources: &[OverrideResource], modules: &[OverrideModule]) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    let mut seen = BTreeSet::new();
    let resources = resources.iter().map(|found| (found.block_name(), &found.target));
    let modules = modules.iter().map(|found| ("override_module", &found.target));
    for (block, target) in resources.chain(modules) {
        if !seen.insert(target.to_string()) {
            let detail = format!("There are several `{block}` blocks with the same target: `{target}`.");
            diagnostics.push(Diagnostic::error(format!("Duplicated `{block}` block"), detail).at(target.span));
        }
    }
    diagnostics
}

struct Preparing<'a> {
    tree: ModuleTree,
    mocks: Mocks,
    /// Mocks that are used, by the name that the root module has for them.
    in_effect: Vec<(ProviderConfigKey, &'a MockProvider)>,
    diagnostics: Diagnostics,
    values: &'a TestValues<'a>,
    book: &'a ProviderBook,
}

impl<'a> Preparing<'a> {
    fn root(&mut self) -> &mut Module {
        Arc::make_mut(&mut self.tree.root.module)
    }

    /// Puts the provider configurations of the file in the place of those of the module.
    fn providers(&mut self, file: &'a TestFile, run: &TestRun) {
        if run.providers.is_empty() {
            for (key, config) in &file.providers {
                self.provider(key.clone(), config);
            }
            for (key, mock) in &file.mocks {
                self.mock(key.clone(), mock);
            }
            return;
        }
        for PassedProvider { in_child, in_parent } in &run.providers {
            if let Some(config) = file.providers.get(&in_parent.key) {
                self.provider(in_child.key.clone(), config);
            } else if let Some(mock) = file.mocks.get(&in_parent.key) {
                self.mock(in_child.key.clone(), mock);
            } else {
                let summary = format!("Missing provider definition for {}", in_parent.key);
                let detail = "The test file has no provider block of that name.";
                self.diagnostics.push(Diagnostic::error(summary, detail).at(in_parent.name_span));
            }
        }
    }

    fn provider(&mut self, key: ProviderConfigKey, config: &ProviderConfig) {
        let provider = self.root().provider_of(&key.name);
        let mut config = ProviderConfig { key: key.clone(), provider, ..config.clone() };
        if self.refers_to_test(&config.config)
            && let Some(schema) = self.config_schema(&config.provider)
        {
            let (names, functions) = (self.values.names(), self.values.functions());
            let (value, found) = decode_block(&config.config, &schema, &MapScope::new(&names, &functions));
            self.diagnostics.extend(found);
            config.evaluated = Some(value);
            config.config = Body::empty(config.declared.header);
        }
        self.root().provider_configs.insert(key, config);
    }

    /// Whether a configuration refers to something that only the test knows.
    fn refers_to_test(&mut self, body: &Body) -> bool {
        let declared: BTreeSet<Str> = self.root().variables.keys().cloned().collect();
        body.references().iter().any(|traversal| match traversal.root.name.as_str() {
            "run" => true,
            "var" => match traversal.steps.first() {
                Some(groma_lang::config::Step::Attr { name, .. }) => !declared.contains(name),
                _ => false,
            },
            _ => false,
        })
    }

    fn config_schema(&self, provider: &ProviderSource) -> Option<Block> {
        self.book.schema(provider)?.provider.get().ok().map(|schema| schema.block.clone())
    }

    fn mock(&mut self, key: ProviderConfigKey, mock: &'a MockProvider) {
        let provider = self.root().provider_of(&key.name);
        let config = self.empty_config(key.clone(), provider.clone(), mock.declared.header);
        let config = ProviderConfig { for_each: mock.for_each.clone(), declared: mock.declared, ..config };
        self.root().provider_configs.insert(key.clone(), config);
        self.mocks.insert(address(provider, key.alias.clone()), Mock::ByType(mock.defaults.clone()));
        self.in_effect.push((key, mock));
    }

    /// A provider configuration of which nothing is asked.
    fn empty_config(&self, key: ProviderConfigKey, provider: ProviderSource, at: Span) -> ProviderConfig {
        let value = self.config_schema(&provider).map_or_else(Value::empty_object, |schema| schema.empty_value());
        ProviderConfig {
            key,
            alias_span: None,
            version: None,
            for_each: None,
            config: Body::empty(at),
            evaluated: Some(value),
            provider,
            declared: groma_lang::config::Declared { header: at, name: at, missing: at },
        }
    }

    /// Resources whose values are given. What other runs of the file give has a provider all the same: there may be objects left that
    /// were made with it.
    fn resources(&mut self, file: &'a TestFile, run: &TestRun) {
        for other in file.runs.iter().flat_map(|run| &run.overrides.resources).chain(&file.overrides.resources) {
            if let Some(provider) = self.resource(&other.target).map(|found| found.provider.clone()) {
                self.stand_in(&other.target, provider, &other.values);
            }
        }
        let mut done: BTreeSet<String> = BTreeSet::new();
        for given in &run.overrides.resources {
            done.insert(given.target.to_string());
            self.override_resource(given);
        }
        for given in &file.overrides.resources {
            if !done.insert(given.target.to_string()) {
                self.diagnostics.push(given_twice(given.block_name(), &given.target));
                continue;
            }
            self.override_resource(given);
        }
        for (key, mock) in std::mem::take(&mut self.in_effect) {
            for given in &mock.overrides.resources {
                let path = given.target.module_path();
                let uses = self.resource(&given.target).is_some_and(|found| {
                    found.key.mode == given.mode && resolved(&self.tree.root, &path, found) == key
                });
                if uses && done.insert(given.target.to_string()) {
                    self.override_resource(given);
                }
            }
        }
    }

    fn resource(&self, target: &ObjectAddress) -> Option<&Resource> {
        let (key, _) = target.resource.as_ref()?;
        node(&self.tree.root, &target.module_path())?.module.resources.get(key)
    }

    fn override_resource(&mut self, given: &OverrideResource) {
        let path = given.target.module_path();
        if node(&self.tree.root, &path).is_none() {
            self.diagnostics.push(no_module(&path, given.target.span));
            return;
        }
        let Some(resource) = self.resource(&given.target) else {
            let detail = "The target is a resource that is not declared.";
            let summary = format!("Resource not found: {}", given.target);
            self.diagnostics.push(Diagnostic::error(summary, detail).at(given.target.span));
            return;
        };
        let (key, provider) = (resource.key.clone(), resource.provider.clone());
        if key.mode != given.mode {
            let target = if given.mode == ResourceMode::Data { "resource" } else { "data" };
            let block = given.block_name();
            let summary = format!("Unsupported `{target}` target in `{block}` block");
            let detail = format!("`{}` is a `{target}` block, which `{block}` cannot override.", given.target);
            self.diagnostics.push(Diagnostic::error(summary, detail).at(given.target.span));
            return;
        }
        let config = self.stand_in(&given.target, provider, &given.values);
        let reference = ProviderRef { key: config, name_span: given.target.span, alias_span: None, instance: None };
        self.pass_on(&path, &reference);
        if let Some(node) = node_mut(&mut self.tree.root, &path)
            && let Some(resource) = Arc::make_mut(&mut node.module).resources.get_mut(&key)
        {
            resource.provider_ref = Some(reference);
        }
    }

    /// A provider configuration for one resource alone, in the root module. Gives its name there.
    fn stand_in(
        &mut self,
        target: &ObjectAddress,
        provider: ProviderSource,
        values: &super::compose::Values,
    ) -> ProviderConfigKey {
        let alias: Str = format!("overridden {target}").into();
        let name = self.local_name(&provider, target.span);
        let key = ProviderConfigKey { name, alias: Some(alias.clone()) };
        let config = self.empty_config(key.clone(), provider.clone(), target.span);
        self.root().provider_configs.insert(key.clone(), config);
        self.mocks.insert(address(provider, Some(alias)), Mock::One(values.clone()));
        key
    }

    /// What the root module calls a provider. It may have no name there yet.
    fn local_name(&mut self, provider: &ProviderSource, at: Span) -> Str {
        let required = &mut self.root().required_providers;
        let named = required.entries.keys().find(|name| required.provider_of(name) == *provider).cloned();
        if let Some(name) = named {
            return name;
        }
        if required.provider_of(&provider.ty) == *provider {
            return provider.ty.clone();
        }
        let name: Str = format!("overridden {provider}").into();
        let entry = RequiredProvider {
            name: name.clone(),
            source: None,
            provider: provider.clone(),
            version: None,
            aliases: Vec::new(),
            span: at,
        };
        required.entries.insert(name.clone(), entry);
        name
    }

    /// Hands a provider configuration of the root down to a module.
    fn pass_on(&mut self, path: &[Str], reference: &ProviderRef) {
        for depth in 0..path.len() {
            if let Some(node) = node_mut(&mut self.tree.root, &path[..depth])
                && let Some(call) = Arc::make_mut(&mut node.module).module_calls.get_mut(&path[depth])
            {
                call.providers.push(PassedProvider { in_child: reference.clone(), in_parent: reference.clone() });
            }
        }
    }

    fn modules(&mut self, file: &TestFile, run: &TestRun) {
        let mut done = BTreeSet::new();
        for given in &run.overrides.modules {
            done.insert(given.target.to_string());
            self.override_module(given);
        }
        for given in &file.overrides.modules {
            if done.contains(&given.target.to_string()) {
                self.diagnostics.push(given_twice("override_module", &given.target));
            } else {
                self.override_module(given);
            }
        }
    }

    fn override_module(&mut self, given: &OverrideModule) {
        let path = given.target.module_path();
        let found = if given.target.resource.is_some() { None } else { node_mut(&mut self.tree.root, &path) };
        let Some(node) = found else {
            self.diagnostics.push(no_module(&path, given.target.span));
            return;
        };
        for name in given.outputs.keys().filter(|name| !node.module.outputs.contains_key(*name)) {
            let detail = "The module has no such output, so the value is of no use.";
            let problem = Diagnostic::warning(format!("Output not found: {name}"), detail).at(given.target.span);
            self.diagnostics.push(problem);
        }
        let module = Arc::make_mut(&mut node.module);
        let mut outputs = std::mem::take(&mut module.outputs);
        for (name, output) in &mut outputs {
            let null = Value::null(groma_model::ty::Type::Dynamic);
            let value = given.outputs.get(name).unwrap_or(&null);
            output.expr = Some(Arc::new(literal::expression(value, output.usage_span())));
            output.preconditions.clear();
            output.depends_on.clear();
        }
        *module = Module {
            source_dir: module.source_dir.clone(),
            variables: std::mem::take(&mut module.variables),
            required_providers: std::mem::take(&mut module.required_providers),
            outputs,
            ..Module::default()
        };
        node.children.clear();
    }
}

/// The provider configuration of the root module that a resource uses.
fn resolved(root: &ModuleNode, path: &[Str], resource: &Resource) -> ProviderConfigKey {
    let mut key = resource.provider_key();
    for depth in (0..path.len()).rev() {
        let inner = node(root, &path[..=depth]);
        if inner.is_some_and(|inner| inner.module.provider_configs.contains_key(&key)) {
            break;
        }
        let call = node(root, &path[..depth]).and_then(|outer| outer.module.module_calls.get(&path[depth]));
        let passed = call.and_then(|call| call.providers.iter().find(|passed| passed.in_child.key == key));
        if let Some(passed) = passed {
            key = passed.in_parent.key.clone();
        }
    }
    key
}

fn node<'t>(root: &'t ModuleNode, path: &[Str]) -> Option<&'t ModuleNode> {
    path.iter().try_fold(root, |node, name| node.children.get(name))
}

fn node_mut<'t>(root: &'t mut ModuleNode, path: &[Str]) -> Option<&'t mut ModuleNode> {
    path.iter().try_fold(root, |node, name| node.children.get_mut(name))
}

fn address(provider: ProviderSource, alias: Option<Str>) -> ProviderAddress {
    ProviderAddress { module: ModulePath::root(), provider, alias }
}

fn no_module(path: &[Str], at: Span) -> Diagnostic {
    let summary = format!("Module not found: {}", module_address(path));
    Diagnostic::error(summary, "The target is in a module that does not exist.").at(at)
}

fn given_twice(block: &str, target: &ObjectAddress) -> Diagnostic {
    let detail = format!("`{target}` is overridden for the whole file and in this run. The run has its way.");
    Diagnostic::warning(format!("Multiple `{block}` blocks for the same address"), detail).at(target.span)
}
