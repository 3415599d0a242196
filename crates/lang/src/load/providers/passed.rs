//! `providers` of module calls: what is passed must exist, be wanted, and be of the right provider.

use groma_model::span::Span;

use super::{View, module_text};
use crate::config::provider::source;
use crate::config::{ModuleCall, PassedProvider, ProviderSource};
use crate::load::ModuleNode;

const TYPE_MISMATCH: &str = "Provider type mismatch";

impl<'a> View<'a, '_> {
    /// What this module passes on to the modules that it calls.
    pub(super) fn check_passed_down(&mut self) {
        let defaults = self
            .node
            .module
            .module_calls
            .values()
            .flat_map(|call| &call.providers)
            .map(|passed| &passed.in_parent)
            .filter(|reference| reference.key.alias.is_none());
        for reference in defaults {
            let name = reference.key.name.as_str();
            let configured = self.configured.contains(&reference.key);
            let shown = source::implied(name).for_display();
            let here = module_text(&self.node.path);
            if !configured && self.required(name).is_none() {
                let detail = format!(
                    "There is no explicit declaration for local provider name {name:?} in {here}, so a configuration for \
                     provider {shown:?} is assumed to be meant.\n\nTo clarify your intent and silence this warning, add \
                     a required_providers entry named {name:?} with source = {shown:?}, or a different source address if \
                     appropriate."
                );
                self.warning("Reference to undefined provider", detail, reference.name_span);
                continue;
            }
            if let Some((parent, call)) = self.caller
                && !configured
                && !self.passed_in.contains_key(&reference.key)
            {
                let detail = format!(
                    "The configuration for {here} expects to inherit a configuration for provider {shown} with local \
                     name {name:?}, but {} doesn't pass a configuration under that name.\n\nTo satisfy this requirement, \
                     add an entry for {name:?} to the \"providers\" argument in the module {:?} block.",
                    module_text(&parent.path),
                    call.name.as_str()
                );
                self.warning("Missing required provider configuration", detail, call.declared.header);
            }
        }
    }

    /// What the caller passes to this module.
    pub(super) fn check_passed_in(&mut self, parent: &'a ModuleNode, call: &'a ModuleCall) {
        let here = module_text(&self.node.path);
        let there = module_text(&parent.path);
        let conflicts: Vec<Span> = self
            .passed_in
            .iter()
            .filter(|(key, _)| self.configured.contains(**key))
            .map(|(_, passed)| passed.in_child.name_span)
            .collect();
        for at in conflicts {
            let detail = format!(
                "The configuration of {here} has its own local configuration for this provider, and so it cannot accept an \
                 overridden configuration provided by {there}."
            );
            self.error("Cannot override provider configuration", detail, at);
        }
        let missing: Vec<String> = self
            .aliases
            .iter()
            .filter(|(key, _)| !self.configured.contains(**key) && !self.passed_in.contains_key(**key))
            .map(|(key, provider)| {
                format!(
                    "The child module requires an additional configuration for provider {}, with the local name \
                     \"{key}\".\n\nRefer to the module's documentation to understand the intended purpose of this \
                     additional provider configuration, and then add an entry for {key} in the \"providers\" \
                     meta-argument in the module block to choose which provider configuration the module should use for \
                     that purpose.",
                    provider.for_display()
                )
            })
            .collect();
        for detail in missing {
            self.error("Missing required provider configuration", detail, call.declared.header);
        }
        let passed: Vec<&'a PassedProvider> = self.passed_in.values().copied().collect();
        for passed in passed {
            let expected = self.check_declared(passed);
            self.check_type(passed, parent, &expected);
        }
    }

    /// Which provider this module expects under a name; complains if it expects none.
    fn check_declared(&mut self, passed: &PassedProvider) -> ProviderSource {
        let key = &passed.in_child.key;
        let required = self.required(&key.name);
        // Only a name without alias is declared by required_providers as such.
        let local = required.filter(|_| key.alias.is_none());
        let alias = self.aliases.get(key).copied();
        let own = required.map_or_else(|| source::default_of(&key.name), Clone::clone);
        let provider = alias.or(local).cloned().unwrap_or(own);
        if local.is_none() && alias.is_none() && !self.empty.contains_key(key) {
            let shown = provider.for_display();
            let here = module_text(&self.node.path);
            let at = passed.in_child.name_span;
            if source::is_default(&provider) {
                let detail = format!(
                    "There is no explicit declaration for local provider name \"{key}\" in {here}, so a configuration for \
                     {shown:?} is assumed to be meant.\n\nIf you also control the child module, add a required_providers \
                     entry named \"{key}\" with the source address {shown:?}."
                );
                self.warning("Reference to undefined provider", detail, at);
            } else {
                let detail = format!(
                    "The child module does not declare any provider requirement with the local name \"{key}\".\n\nIf you \
                     also control the child module, you can add a required_providers entry named \"{key}\" with the \
                     source address {shown:?} to accept this provider configuration."
                );
                self.error("Reference to undefined provider", detail, at);
            }
        }
        provider
    }

    fn check_type(&mut self, passed: &PassedProvider, parent: &ModuleNode, expected: &ProviderSource) {
        let name = &passed.in_parent.key.name;
        let required = parent.module.required_providers.entries.get(name);
        let given = required.map_or_else(|| source::default_of(name), |entry| entry.provider.clone());
        if given == *expected {
            return;
        }
        let here = module_text(&self.node.path);
        let there = module_text(&parent.path);
        let other = self
            .node
            .module
            .required_providers
            .entries
            .values()
            .find(|entry| entry.provider == given)
            .map(|entry| entry.name.clone());
        let (child_key, parent_key) = (&passed.in_child.key, &passed.in_parent.key);
        if let Some(other) = other {
            let detail = format!(
                "The assigned configuration is for provider {:?}, but local name \"{child_key}\" in {here} represents \
                     {:?}.\n\nTo pass this configuration to the child module, use the local name {:?} instead.",
                given.for_display(),
                expected.for_display(),
                other.as_str()
            );
            self.error(TYPE_MISMATCH, detail, passed.in_child.name_span);
        } else {
            let detail = format!(
                "The local name \"{parent_key}\" in {there} represents provider {:?}, but \"{child_key}\" in {here} \
                     represents {:?}.\n\nEach provider has its own distinct configuration schema and provider types, so \
                     this module's \"{child_key}\" can be assigned only a configuration for {}.",
                given.for_display(),
                expected.for_display(),
                expected.for_display()
            );
            self.error(TYPE_MISMATCH, detail, passed.in_parent.name_span);
        }
    }
}
