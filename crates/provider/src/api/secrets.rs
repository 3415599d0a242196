//! What a provider was told and must not tell: its own words are not trusted with that.

use std::sync::{Arc, PoisonError, RwLock};

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::schema::Block;
use groma_model::secrets::Secrets;
use groma_model::value::Value;

/// The secrets that a provider was told.
#[derive(Debug, Clone, Default)]
pub struct KnownSecrets(Arc<RwLock<Secrets>>);

impl KnownSecrets {
    /// Learns what is marked in a value.
    pub fn learn_marked(&self, value: &Value) {
        if value.contains_marks() {
            self.0.write().unwrap_or_else(PoisonError::into_inner).learn_marked(value);
        }
    }

    /// Learns what a schema hides of a value.
    pub fn learn_declared(&self, value: &Value, block: &Block) {
        if block.contains_sensitive() || block.contains_write_only() {
            self.0.write().unwrap_or_else(PoisonError::into_inner).learn_declared(value, block);
        }
    }

    /// A text without them.
    pub fn hidden(&self, text: String) -> String {
        let secrets = self.0.read().unwrap_or_else(PoisonError::into_inner);
        secrets.hide(&text).unwrap_or(text)
    }

    /// What a provider says without them.
    pub fn hidden_in(&self, said: Diagnostics) -> Diagnostics {
        let discreet = |mut diagnostic: Diagnostic| {
            diagnostic.summary = self.hidden(diagnostic.summary);
            diagnostic.detail = self.hidden(diagnostic.detail);
            diagnostic
        };
        said.into_iter().map(discreet).collect()
    }
}
