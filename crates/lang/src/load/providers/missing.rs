//! Aliased provider configurations that are used and declared nowhere.

use groma_model::diag::Diagnostic;

use super::{Caller, module_text};
use crate::config::{ProviderConfigKey, ProviderSource};
use crate::load::ModuleNode;

/// The first use of a configuration that does not exist. It has no place in the text, as in OpenTofu.
pub(in crate::load) fn first_missing(root: &ModuleNode) -> Option<Diagnostic> {
    search(root, None)
}

fn search(node: &ModuleNode, caller: Option<Caller<'_>>) -> Option<Diagnostic> {
    for call in node.module.module_calls.values() {
        for passed in &call.providers {
            let key = &passed.in_parent.key;
            if !exists(node, caller, key) {
                let provider = node.module.required_providers.provider_of(&key.name);
                return Some(Diagnostic::error(format!("missing provider {}", address(node, &provider, key)), ""));
            }
        }
    }
    for resource in node.module.resources.values() {
        let key = resource.provider_key();
        if !exists(node, caller, &key) {
            let name = match node.path.as_slice() {
                [] => resource.key.to_string(),
                path => format!("{}.{}", module_text(path), resource.key),
            };
            let detail = format!(
                "To work with {name} its original provider configuration at {} is required, but it does not exist.",
                address(node, &resource.provider, &key)
            );
            return Some(Diagnostic::error("Provider configuration not present", detail));
        }
    }
    node.children.iter().find_map(|(name, child)| {
        let call = node.module.module_calls.get(name)?;
        search(child, Some((node, call)))
    })
}

/// Default configurations always exist: they are empty where nobody writes one.
fn exists(node: &ModuleNode, caller: Option<Caller<'_>>, key: &ProviderConfigKey) -> bool {
    key.alias.is_none()
        || node.module.provider_configs.contains_key(key)
        || caller.is_some_and(|(_, call)| call.providers.iter().any(|passed| passed.in_child.key == *key))
}

fn address(node: &ModuleNode, provider: &ProviderSource, key: &ProviderConfigKey) -> String {
    let module = if node.path.is_empty() { String::new() } else { format!("{}.", module_text(&node.path)) };
    let alias = key.alias.as_ref().map_or(String::new(), |alias| format!(".{alias}"));
    format!("{module}provider[\"{provider}\"]{alias}")
}
