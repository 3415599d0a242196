//! Provider configurations, as far as they can be judged without starting the provider.

use groma_model::diag::Diagnostics;
use groma_model::text::Str;
use groma_syntax::body::BodySchema;

use super::resources::located;
use super::{InstanceIndex, ModuleScope, RepetitionData, Walk};
use crate::config::ProviderConfigKey;
use crate::decode;
use crate::graph::{ModuleEntry, ModuleIndex};

impl Walk<'_> {
    pub(super) fn visit_provider(&mut self, instance: InstanceIndex, key: &ProviderConfigKey) -> Diagnostics {
        let module = self.module_of(instance);
        let Some(config) = module.provider_configs.get(key).filter(|_| self.is_validating()) else {
            return Diagnostics::new();
        };
        // What nothing uses is never started, and may hold anything.
        if !self.uses_provider(self.arena[instance].module, key) {
            return Diagnostics::new();
        }
        // A block that only names the configuration leaves everything to the provider.
        if !config.config.content(&BodySchema::new()).1.has_errors() {
            return Diagnostics::new();
        }
        let provider = module.required_providers.provider_of(&key.name);
        let Some(schema) = self.settings.oracle.provider(&provider) else { return Diagnostics::new() };
        let repetition = if config.for_each.is_some() { RepetitionData::unknown() } else { RepetitionData::default() };
        let scope = ModuleScope::new(self, instance).repeated(repetition);
        let (value, mut diagnostics) = decode::decode_block(&config.config, &schema.block, &scope);
        if !diagnostics.has_errors() {
            let (plain, _) = value.unmark_deep();
            let whole = config.config.missing_item_span();
            for found in self.settings.oracle.check_provider(&provider, &plain) {
                let found = if found.path.is_some() { found } else { found.or_at(whole) };
                diagnostics.push(located(found, &config.config));
            }
        }
        diagnostics
    }

    /// Whether a resource or an import uses a provider configuration, in a module or in one that it passes it to.
    fn uses_provider(&self, module: ModuleIndex, key: &ProviderConfigKey) -> bool {
        let entry = &self.graph.modules[module];
        let declared = &entry.node.module;
        let by_resource = declared.resources.values().any(|resource| resource.provider_key() == *key);
        let by_import = declared.imports.iter().any(|import| match (&import.provider_ref, &import.target) {
            (Some(reference), _) => reference.key == *key,
            (None, Some((path, target))) => {
                path.is_empty() && key.alias.is_none() && target.implied_provider() == key.name.as_str()
            }
            (None, None) => false,
        });
        by_resource
            || by_import
            || entry.children.iter().any(|(name, child)| self.passes_provider(entry, (name, *child), key))
    }

    /// Whether a called module uses the configuration that its caller knows as `key`.
    fn passes_provider(
        &self,
        caller: &ModuleEntry<'_>,
        (name, child): (&Str, ModuleIndex),
        key: &ProviderConfigKey,
    ) -> bool {
        let Some(call) = caller.node.module.module_calls.get(name) else { return false };
        let explicit = call.providers.iter().filter(|passed| passed.in_parent.key == *key);
        if explicit.into_iter().any(|passed| self.uses_provider(child, &passed.in_child.key)) {
            return true;
        }
        // Without an alias and without a word it is inherited, unless the called module has one of its own.
        let replaced = call.providers.iter().any(|passed| passed.in_child.key == *key);
        let own = self.graph.modules[child].node.module.provider_configs.contains_key(key);
        key.alias.is_none() && !replaced && !own && self.uses_provider(child, key)
    }
}
