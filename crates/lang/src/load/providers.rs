//! Provider configurations across modules: what a child expects and what its caller passes must fit.

mod missing;
mod passed;
mod same_expr;

use std::collections::{BTreeMap, BTreeSet};

use groma_model::address::provider_part;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::span::Span;
use groma_model::text::Str;
use groma_syntax::ast::Expr;
use groma_syntax::body::BodySchema;

use super::ModuleNode;
use crate::config::provider::source;
use crate::config::{
    ModuleCall, PassedProvider, ProviderConfigKey, ProviderRef, ProviderSource, Repetition, ResourceMode,
};
pub(super) use missing::missing;
use same_expr::same_expr;

/// Checks a module and everything below it.
pub(super) fn validate(root: &ModuleNode, diagnostics: &mut Diagnostics) {
    visit(root, None, None, diagnostics);
}

/// The call that leads to a module, and the module it stands in.
type Caller<'a> = (&'a ModuleNode, &'a ModuleCall);

fn visit(node: &ModuleNode, caller: Option<Caller<'_>>, fixed: Option<Span>, diagnostics: &mut Diagnostics) {
    for (name, child) in &node.children {
        let Some(call) = node.module.module_calls.get(name) else { continue };
        let own = call.repetition.expr().map(|expr| expr.span).or_else(|| call.depends_on.first().map(|one| one.span));
        visit(child, Some((node, call)), own.or(fixed), diagnostics);
    }
    let mut view = View::new(node, caller, diagnostics);
    view.check_requirements();
    view.check_implied_names();
    view.check_instance_keys();
    view.check_passed_down();
    if let Some((parent, call)) = caller {
        view.check_legacy(fixed);
        view.check_passed_in(parent, call);
        view.check_empty_blocks();
    }
}

/// What a module says about providers, in one place.
struct View<'a, 'd> {
    node: &'a ModuleNode,
    caller: Option<Caller<'a>>,
    /// Configurations with content.
    configured: BTreeSet<&'a ProviderConfigKey>,
    /// Configurations without content, which once stood for configurations of the caller.
    empty: BTreeMap<&'a ProviderConfigKey, Span>,
    /// `for_each` of configurations.
    instanced: BTreeMap<&'a ProviderConfigKey, &'a Expr>,
    /// Configurations that the module expects under an alias.
    aliases: BTreeMap<&'a ProviderConfigKey, &'a ProviderSource>,
    /// What the caller passes.
    passed_in: BTreeMap<&'a ProviderConfigKey, &'a PassedProvider>,
    diagnostics: &'d mut Diagnostics,
}

impl<'a, 'd> View<'a, 'd> {
    fn new(node: &'a ModuleNode, caller: Option<Caller<'a>>, diagnostics: &'d mut Diagnostics) -> Self {
        let mut view = Self {
            node,
            caller,
            configured: BTreeSet::new(),
            empty: BTreeMap::new(),
            instanced: BTreeMap::new(),
            aliases: BTreeMap::new(),
            passed_in: BTreeMap::new(),
            diagnostics,
        };
        for (key, config) in &node.module.provider_configs {
            let has_content = config.config.content(&BodySchema::new()).1.has_errors();
            if has_content || config.version.is_some() {
                view.configured.insert(key);
            } else {
                view.empty.insert(key, config.declared.header);
            }
            if let Some(for_each) = &config.for_each {
                view.instanced.insert(key, for_each);
            }
        }
        for required in node.module.required_providers.entries.values() {
            view.aliases.extend(required.aliases.iter().map(|alias| (alias, &required.provider)));
        }
        let passed = caller.map_or(&[][..], |(_, call)| &call.providers);
        view.passed_in.extend(passed.iter().map(|passed| (&passed.in_child.key, passed)));
        view
    }

    fn error(&mut self, summary: impl Into<String>, detail: impl Into<String>, at: Span) {
        self.diagnostics.push(Diagnostic::error(summary, detail).at(at));
    }

    fn warning(&mut self, summary: impl Into<String>, detail: impl Into<String>, at: Span) {
        self.diagnostics.push(Diagnostic::warning(summary, detail).at(at));
    }

    /// The provider that `required_providers` says a local name is.
    fn required(&self, name: &str) -> Option<&'a ProviderSource> {
        self.node.module.required_providers.entries.get(name).map(|entry| &entry.provider)
    }

    fn check_requirements(&mut self) {
        let entries = &self.node.module.required_providers.entries;
        let mut seen: BTreeMap<&ProviderSource, &Str> = BTreeMap::new();
        for (name, entry) in entries {
            let shown = entry.provider.for_display();
            if let Some(previous) = seen.get(&entry.provider) {
                let detail = format!(
                    "Provider {shown} with the local name {:?} was previously required as {:?}. \
                     A provider can only be required once within required_providers.",
                    name.as_str(),
                    previous.as_str()
                );
                self.warning("Duplicate required provider", detail, entry.span);
            } else if source::is_default(&entry.provider)
                && entry.provider.ty != *name
                && self.node.module.provider_configs.keys().any(|key| key.name == entry.provider.ty)
            {
                let detail = format!(
                    "Provider {shown} with the local name {:?} was implicitly required via a configuration block as {:?}. \
                     The provider configuration block name must match the name used in required_providers.",
                    name.as_str(),
                    entry.provider.ty.as_str()
                );
                self.warning("Duplicate required provider", detail, entry.span);
            }
            seen.insert(&entry.provider, name);
        }
    }

    fn check_implied_names(&mut self) {
        let entries = &self.node.module.required_providers.entries;
        for resource in self.node.module.resources.values().filter(|resource| resource.provider_ref.is_none()) {
            let name = resource.key.implied_provider();
            let at = resource.declared.header;
            if let Err(problem) = provider_part(name) {
                let detail = format!("{name:?} is an invalid implied provider local name: {problem}");
                self.error("Invalid provider local name", detail, at);
                continue;
            }
            if entries.contains_key(name) {
                continue;
            }
            let implied = source::implied(name);
            for entry in entries.values().filter(|entry| entry.provider == implied) {
                let known = entry.name.as_str();
                let detail = format!(
                    "Provider \"{implied}\" was implicitly required via resource \"{}\", but listed in \
                     required_providers as {known:?}. Either the local name in required_providers must match the \
                     resource name, or the {known:?} provider must be assigned within the resource block.",
                    resource.key
                );
                self.warning("Duplicate required provider", detail, at);
            }
        }
    }

    /// Configurations with `for_each` are used with a key, others without.
    fn check_instance_keys(&mut self) {
        for call in self.node.module.module_calls.values() {
            for passed in &call.providers {
                if let Some(key) = &passed.in_child.instance {
                    self.error(
                        "Invalid module provider configuration",
                        "Instance keys are not allowed on the left side of a provider configuration assignment.",
                        key.span,
                    );
                }
                self.check_instance_key(&passed.in_parent, "module", &call.repetition, true);
            }
        }
        for resource in self.node.module.resources.values() {
            if let Some(reference) = &resource.provider_ref {
                let managed = resource.key.mode == ResourceMode::Managed;
                self.check_instance_key(reference, "resource", &resource.repetition, managed);
            }
        }
    }

    fn check_instance_key(&mut self, reference: &ProviderRef, block: &str, repetition: &Repetition, warn: bool) {
        let for_each = self.instanced.get(&reference.key).copied();
        let summary = format!("Invalid {block} provider configuration");
        match (&reference.instance, for_each) {
            (Some(key), _) if reference.key.alias.is_none() => self.error(
                summary,
                "An instance key can be specified only for a provider configuration which has an alias and uses for_each.",
                key.span,
            ),
            (Some(_), None) if !self.configured.contains(&reference.key) => {
                let detail = format!(
                    "This module doesn't declare a provider {:?} block with alias = {:?}, which is required for use with \
                     for_each.",
                    reference.key.name.as_str(),
                    reference.key.alias.as_deref().unwrap_or("")
                );
                self.error(summary, detail, reference.name_span);
            }
            (Some(key), None) => self.error(
                summary,
                "An instance key can be specified only for a provider configuration that uses for_each.",
                key.span,
            ),
            (None, Some(_)) => self.error(
                summary,
                "A reference to a provider configuration which uses for_each requires an instance key. \
                 Passing a collection of provider instances into a child module is not allowed.",
                reference.name_span,
            ),
            (Some(_), Some(for_each)) => {
                if let (true, Repetition::ForEach(own)) = (warn, repetition)
                    && !own.references().is_empty()
                    && same_expr(own, for_each)
                {
                    self.warning(
                        format!("Provider configuration for_each matches {block}"),
                        format!(
                            "This provider configuration uses the same for_each expression as a {block}, which means that \
                             subsequent removal of elements from this collection would cause a planning error: the \
                             provider instance would be gone before what it has to destroy."
                        ),
                        own.span,
                    );
                }
            }
            (None, None) => {}
        }
    }

    /// A child module with configurations of its own must stand exactly once.
    fn check_legacy(&mut self, fixed: Option<Span>) {
        if self.configured.is_empty() {
            return;
        }
        if let Some(at) = fixed {
            let detail = format!(
                "The module at {} is a legacy module which contains its own local provider configurations, and so calls \
                 to it may not use the count, for_each, enabled or depends_on arguments.\n\nIf you also control the \
                 module {:?}, consider updating this module to instead expect provider configurations to be passed by \
                 its caller.",
                module_text(&self.node.path),
                self.node.source.as_deref().unwrap_or("")
            );
            self.error("Module is incompatible with count, for_each, enabled and depends_on", detail, at);
        }
    }

    fn check_empty_blocks(&mut self) {
        let mut first: BTreeMap<&str, Span> = BTreeMap::new();
        for (key, span) in &self.empty {
            let earliest = first.entry(key.name.as_str()).or_insert(*span);
            *earliest = (*earliest).min(*span);
        }
        for (name, span) in first {
            let source = self.required(name).map_or_else(|| source::implied(name), Clone::clone);
            let detail = format!(
                "Empty provider blocks were once used for child modules to declare their need to be passed a provider \
                 configuration by their callers. That approach was ambiguous and is now deprecated.\n\nIf you control \
                 this module, remove the empty provider {name:?} blocks and add to its required_providers block an entry \
                 {name:?} with source = {:?}.",
                source.for_display()
            );
            self.warning("Redundant empty provider block", detail, span);
        }
    }
}

/// How messages name a module.
fn module_text(path: &[Str]) -> String {
    if path.is_empty() {
        return "the root module".to_owned();
    }
    let names: Vec<String> = path.iter().map(|name| format!("module.{name}")).collect();
    names.join(".")
}
