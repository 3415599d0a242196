//! Which providers a configuration and its state need, in which versions, and who says so.

use std::collections::{BTreeMap, BTreeSet};

use groma_lang::config::VersionConstraint;
use groma_lang::load::{ModuleNode, ModuleTree};
use groma_model::address::{DEFAULT_HOST, DEFAULT_NAMESPACE, Provider, TERRAFORM_HOST};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::span::Span;
use groma_model::text::Str;
use groma_model::version::Constraints;
use groma_provider::install::Requirements;

/// Everything that is needed.
#[derive(Debug, Clone, Default)]
pub struct ProviderRequirements {
    /// Providers and their versions.
    pub all: Requirements,
    /// Those that a `required_providers` block names.
    pub explicit: BTreeSet<Provider>,
    /// Resources whose provider follows from their type or `provider` argument.
    pub implicit: BTreeMap<Provider, Vec<ImplicitUse>>,
}

/// A resource that needs a provider without anybody saying which.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImplicitUse {
    /// Its address.
    pub address: String,
    /// Its type.
    pub resource_type: Str,
    /// Whether it names a provider configuration.
    pub names_provider: bool,
    /// Its header.
    pub span: Span,
}

/// What one module needs itself, and what the modules need that it calls.
#[derive(Debug, Clone, Default)]
pub struct ModuleRequirements {
    /// Providers and their versions.
    pub providers: Requirements,
    /// By the name of the call.
    pub children: BTreeMap<Str, ModuleRequirements>,
}

/// What a whole configuration needs.
pub fn of_tree(tree: &ModuleTree) -> (ProviderRequirements, Diagnostics) {
    let mut found = ProviderRequirements::default();
    let mut diagnostics = Diagnostics::new();
    add_module(&tree.root, &mut found, &mut diagnostics);
    (found, diagnostics)
}

/// The same, told apart by module.
pub fn by_module(node: &ModuleNode) -> (ModuleRequirements, Diagnostics) {
    let mut own = ProviderRequirements::default();
    let mut diagnostics = Diagnostics::new();
    add_own(node, &mut own, &mut diagnostics);
    let mut children = BTreeMap::new();
    for (name, child) in &node.children {
        let (found, problems) = by_module(child);
        diagnostics.extend(problems);
        children.insert(name.clone(), found);
    }
    (ModuleRequirements { providers: own.all, children }, diagnostics)
}

fn add_module(node: &ModuleNode, found: &mut ProviderRequirements, diagnostics: &mut Diagnostics) {
    add_own(node, found, diagnostics);
    for child in node.children.values() {
        add_module(child, found, diagnostics);
    }
}

fn add_own(node: &ModuleNode, found: &mut ProviderRequirements, diagnostics: &mut Diagnostics) {
    let module = &node.module;
    for entry in module.required_providers.entries.values() {
        constrain(found, &entry.provider, entry.version.as_ref(), diagnostics);
        found.explicit.insert(entry.provider.clone());
    }
    for resource in module.resources.values() {
        found.all.entry(resource.provider.clone()).or_default();
        let address = match node.path.as_slice() {
            [] => resource.key.to_string(),
            path => format!("{}.{}", module_address(path), resource.key),
        };
        let used = ImplicitUse {
            address,
            resource_type: resource.key.ty.clone(),
            names_provider: resource.provider_ref.is_some(),
            span: resource.declared.header,
        };
        found.implicit.entry(resource.provider.clone()).or_default().push(used);
    }
    for import in &module.imports {
        if let Some(provider) = &import.provider {
            found.all.entry(provider.clone()).or_default();
        }
    }
    for config in module.provider_configs.values() {
        let provider = module.provider_of(&config.key.name);
        constrain(found, &provider, config.version.as_ref(), diagnostics);
    }
}

fn constrain(
    found: &mut ProviderRequirements,
    provider: &Provider,
    version: Option<&VersionConstraint>,
    diagnostics: &mut Diagnostics,
) {
    let constraints = found.all.entry(provider.clone()).or_default();
    let Some(version) = version else { return };
    match Constraints::parse_provider(&version.text) {
        Ok(more) => constraints.and(&more),
        Err(problem) => {
            let detail = format!("Incorrect version constraint syntax: {problem}.");
            diagnostics.push(Diagnostic::error("Invalid version constraint", detail).at(version.span));
        }
    }
}

/// `module.a.module.b`
pub(crate) fn module_address(path: &[Str]) -> String {
    let names: Vec<String> = path.iter().map(|name| format!("module.{name}")).collect();
    names.join(".")
}

impl ProviderRequirements {
    /// Adds what a state needs. The two public registries offer the same providers, so one that the configuration names
    /// at the other of them is the same.
    pub fn add_state(&mut self, providers: &BTreeSet<Provider>) {
        for provider in providers {
            if self.all.keys().any(|known| known.same_as(provider)) {
                continue;
            }
            let is_official =
                provider.host.as_str() == TERRAFORM_HOST && provider.namespace.as_str() == DEFAULT_NAMESPACE;
            let host = if is_official { Str::from(DEFAULT_HOST) } else { provider.host.clone() };
            self.all.entry(Provider { host, ..provider.clone() }).or_default();
        }
    }

    /// What is wrong with the addresses themselves, and what looks like a mistake.
    pub fn check(&self) -> Diagnostics {
        let mut diagnostics = Diagnostics::new();
        let mut by_type: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for provider in self.all.keys() {
            if ["hashicorp", "opentofu"].contains(&provider.namespace.as_str()) {
                by_type.entry(provider.ty.as_str()).or_default().push(provider.for_display());
            }
            if provider.is_legacy() {
                let detail = format!(
                    "This configuration or its associated state refers to the unqualified provider {:?}.\n\nYou must \
                     complete the Terraform 0.13 upgrade process before upgrading to later versions.",
                    provider.ty.as_str()
                );
                diagnostics.push(Diagnostic::error("Invalid legacy provider address", detail));
            }
        }
        for (name, addresses) in by_type.iter().filter(|(_, addresses)| addresses.len() > 1) {
            let detail = format!(
                "There are multiple providers of type {name} ({}), which may be a misconfiguration.\n\nIf this is \
                 intentional you can ignore this warning",
                addresses.join(", ")
            );
            diagnostics.push(Diagnostic::warning("Potential provider misconfiguration", detail));
        }
        diagnostics
    }
}
