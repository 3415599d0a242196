//! Changes of imported objects whose configuration was generated: there is no block for them yet, but what it will say is known.

use std::sync::Arc;

use groma_lang::config::IgnoreChanges;
use groma_model::diag::Diagnostics;

use super::driver::Driver;
use super::instance::{Job, Wanted};
use crate::change::Change;
use crate::plan::generate;

impl Driver<'_, '_> {
    /// Prepares such a change. None for anything else that is not declared.
    pub(super) fn make_generated(&mut self, change: Change) -> Result<Option<Job>, Diagnostics> {
        if change.generated_config.is_none() {
            return Ok(None);
        }
        let slot = self.providers.of_stored(&change.provider, &change.address.to_string())?;
        let imported = change.before.clone().unmark_deep().0;
        let wanted = Wanted {
            config: generate::configuration(&change.schema.block, &imported),
            ignore: IgnoreChanges::None,
            skip_destroy: false,
        };
        let kind = self.kind(&change, &change.provider.config.provider);
        let provider_meta = self.providers.meta(&self.walk, 0, &change.provider.config.provider)?;
        let stored = self.stored(&change.address);
        let dependencies = Arc::clone(&change.dependencies);
        let last_words = None;
        Ok(Some(Job { change, kind, slot, stored, wanted: Some(wanted), last_words, provider_meta, dependencies }))
    }
}
