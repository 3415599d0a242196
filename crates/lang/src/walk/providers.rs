//! Provider configurations, as far as they can be judged without starting the provider.

use groma_model::diag::Diagnostics;
use groma_syntax::body::BodySchema;

use super::{InstanceIndex, ModuleScope, RepetitionData, Walk};
use crate::config::ProviderConfigKey;
use crate::decode;

impl Walk<'_> {
    pub(super) fn visit_provider(&mut self, instance: InstanceIndex, key: &ProviderConfigKey) -> Diagnostics {
        let module = self.module_of(instance);
        let Some(config) = module.provider_configs.get(key).filter(|_| self.is_validating()) else {
            return Diagnostics::new();
        };
        // A block that only names the configuration leaves everything to the provider.
        if !config.config.content(&BodySchema::new()).1.has_errors() {
            return Diagnostics::new();
        }
        let provider = module.required_providers.provider_of(&key.name);
        let Some(schema) = self.settings.oracle.provider(&provider) else { return Diagnostics::new() };
        let repetition = if config.for_each.is_some() { RepetitionData::unknown() } else { RepetitionData::default() };
        let scope = ModuleScope::new(self, instance).repeated(repetition);
        decode::decode_block(&config.config, &schema.block, &scope).1
    }
}
