//! Provider configurations that are used and exist nowhere.

use std::collections::BTreeSet;

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::text::Str;

use super::module_text;
use crate::config::{ModuleCall, ProviderSource};
use crate::load::ModuleNode;

/// Uses of configurations that do not exist. Where one is passed on that does not exist, only that is told.
pub(in crate::load) fn missing(root: &ModuleNode) -> Diagnostics {
    let mut known = Known::default();
    if let Some(diagnostic) = known.declare(root, None) {
        return diagnostic.into();
    }
    let mut found = Diagnostics::new();
    known.check_resources(root, &mut found);
    found
}

/// A configuration: the module, the provider, the alias.
type Key = (Vec<Str>, ProviderSource, Option<Str>);

/// All configurations that exist, also under the names that callers pass them on by.
#[derive(Default)]
struct Known(BTreeSet<Key>);

impl Known {
    /// Collects what a module and those below it have. Stops at something passed on that does not exist.
    fn declare(&mut self, node: &ModuleNode, call: Option<(&ModuleNode, &ModuleCall)>) -> Option<Diagnostic> {
        let module = &node.module;
        // What the root requires, it has: an empty configuration where nobody writes one.
        let required = module.required_providers.entries.values().filter(|_| node.path.is_empty());
        for entry in required {
            self.0.insert((node.path.clone(), entry.provider.clone(), None));
            let aliases = entry.aliases.iter().map(|alias| alias.alias.clone());
            self.0.extend(aliases.map(|alias| (node.path.clone(), entry.provider.clone(), alias)));
        }
        for (key, config) in &module.provider_configs {
            self.0.insert((node.path.clone(), config.provider.clone(), key.alias.clone()));
        }
        if let Some((parent, call)) = call {
            for passed in &call.providers {
                let provider = module.required_providers.provider_of(&passed.in_child.key.name);
                let source = (parent.path.clone(), provider.clone(), passed.in_parent.key.alias.clone());
                if !self.0.contains(&source) {
                    let summary = format!("missing provider {}", address(&source));
                    return Some(Diagnostic::error(summary, "").at(passed.in_parent.name_span));
                }
                self.0.insert((node.path.clone(), provider, passed.in_child.key.alias.clone()));
            }
        }
        node.children.iter().find_map(|(name, child)| {
            let call = module.module_calls.get(name)?;
            self.declare(child, Some((node, call)))
        })
    }

    /// Default configurations are made where they are missing; those with an alias are not.
    fn check_resources(&self, node: &ModuleNode, found: &mut Diagnostics) {
        for resource in node.module.resources.values() {
            let alias = resource.provider_key().alias;
            let key = (node.path.clone(), resource.provider.clone(), alias);
            if key.2.is_none() || self.0.contains(&key) {
                continue;
            }
            let name = match node.path.as_slice() {
                [] => resource.key.to_string(),
                path => format!("{}.{}", module_text(path), resource.key),
            };
            let detail = format!(
                "{name} is made by the provider configuration {}, which does not exist. Declare it in a provider block, or \
                 name another one.",
                address(&key)
            );
            let at = resource.provider_ref.as_ref().map_or(resource.declared.header, |given| given.name_span);
            found.push(Diagnostic::error("Provider configuration not present", detail).at(at));
        }
        node.children.values().for_each(|child| self.check_resources(child, found));
    }
}

fn address((path, provider, alias): &Key) -> String {
    let module = if path.is_empty() { String::new() } else { format!("{}.", module_text(path)) };
    let alias = alias.as_ref().map_or(String::new(), |alias| format!(".{alias}"));
    format!("{module}provider[\"{provider}\"]{alias}")
}
