//! How states and plans are encrypted: what the `encryption` block of a root module says, and what `TF_ENCRYPTION` adds to it, made
//! into something that encrypts. The envelopes and the ciphers are in `groma-state`.

mod keys;
mod method;
mod programs;
mod reading;
mod target;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use groma_lang::config::{Encryption as Block, Module};
use groma_lang::walk::InputValue;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::span::FileId;
use groma_model::text::Str;
use groma_state::journal::JournalKeys;
use groma_state::{PlainCodec, StateCodec};

use crate::session::Session;
use reading::Reading;
pub(crate) use target::Target;

/// The variable that has more of the same.
const VARIABLE: &str = "TF_ENCRYPTION";

/// How everything is kept from others. None for what is not.
#[derive(Clone, Default)]
pub(crate) struct Encryption {
    /// States, and journals.
    pub(crate) state: Option<Arc<Target>>,
    /// Saved plans.
    pub(crate) plan: Option<Arc<Target>>,
    /// States of others that are only read.
    pub(crate) remote: RemoteEncryption,
    /// What people should know.
    pub(crate) warnings: Diagnostics,
}

/// How states of other configurations are decrypted.
#[derive(Clone, Default)]
pub(crate) struct RemoteEncryption {
    default: Option<Arc<Target>>,
    by_name: BTreeMap<Str, Arc<Target>>,
}

impl Encryption {
    /// What states become bytes by.
    pub(crate) fn codec(&self) -> Arc<dyn StateCodec> {
        codec_of(self.state.as_ref())
    }

    /// What journals are encrypted with. None if they never were.
    pub(crate) fn journal_keys(&self) -> Option<Arc<dyn JournalKeys>> {
        self.state.as_ref().map(|target| Arc::clone(target) as Arc<dyn JournalKeys>)
    }
}

impl RemoteEncryption {
    /// What the state becomes readable by that a data source reads: `name`, or `name[0]`, or `module.name` without the first word.
    pub(crate) fn codec(&self, name: &str) -> Arc<dyn StateCodec> {
        codec_of(self.by_name.get(name).or(self.default.as_ref()))
    }
}

fn codec_of(target: Option<&Arc<Target>>) -> Arc<dyn StateCodec> {
    target.map_or_else(|| Arc::new(PlainCodec) as Arc<dyn StateCodec>, |target| Arc::clone(target) as _)
}

impl Session {
    /// How the states and plans of a root module are encrypted. No key is made yet.
    pub(crate) fn encryption(
        &mut self,
        root: &Module,
        inputs: &BTreeMap<Str, InputValue>,
    ) -> Result<Encryption, Diagnostics> {
        let (added, file) = match self.encryption_of_environment()? {
            Some((added, file)) => (Some(added), Some(file)),
            None => (None, None),
        };
        let block = match (root.encryption.clone(), added) {
            (Some(mut own), Some(added)) => {
                own.overridden_by(added);
                own
            }
            (None, None) => return Ok(Encryption::default()),
            (own, added) => match own.or(added) {
                Some(block) => block,
                None => return Ok(Encryption::default()),
            },
        };
        let (working_dir, no_programs) = (&self.start().working_dir, self.start().bounds.no_programs.as_deref());
        let reading = Reading { scope: self.static_scope(inputs), root, block: &block, working_dir, no_programs };
        let encryption = reading.read().map_err(|found| self.without_secrets(found, file))?;
        self.remote_encryption = encryption.remote.clone();
        Ok(encryption)
    }

    /// The same for the module in the working directory, whatever else is wrong with it. If it cannot be read, that of `before`
    /// counts, a root module with its inputs; whose values are also taken where none are given now.
    pub(crate) fn own_encryption(
        &mut self,
        before: Option<(&Module, &BTreeMap<Str, InputValue>)>,
    ) -> Result<Encryption, Diagnostics> {
        let (root, found) = if self.is_empty() { Default::default() } else { self.load_root() };
        let mut inputs = self.root_inputs(&root);
        if let Some((module, values)) = before {
            if found.has_errors() {
                return self.encryption(module, values);
            }
            for (name, value) in values {
                inputs.entry(name.clone()).or_insert_with(|| value.clone());
            }
        }
        self.encryption(&root, &inputs)
    }

    fn encryption_of_environment(&mut self) -> Result<Option<(Block, FileId)>, Diagnostics> {
        let Some(text) = self.start().environment.get(VARIABLE).map(|text| text.trim().to_owned()) else {
            return Ok(None);
        };
        if text.is_empty() {
            return Ok(None);
        }
        let file = self.add_source(VARIABLE, &text);
        let parsed = if text.starts_with('{') {
            groma_syntax::parse_json(self.sources(), file)
        } else {
            groma_syntax::parse_native(self.sources(), file)
        };
        let mut diagnostics = parsed.diagnostics;
        let (block, found) = Block::of_body(self.sources(), &parsed.value);
        diagnostics.extend(found);
        if diagnostics.has_errors() {
            return Err(self.without_secrets(diagnostics, Some(file)));
        }
        Ok(Some((block, file)))
    }

    /// The variable has passphrases in it, so its text is not shown: only the place.
    fn without_secrets(&self, diagnostics: Diagnostics, file: Option<FileId>) -> Diagnostics {
        let hidden = |mut found: Diagnostic| {
            if let Some(span) = found.subject.filter(|span| Some(span.file) == file) {
                found.detail = format!("{} ({})", found.detail, self.sources().place(span));
                (found.subject, found.context) = (None, None);
            }
            found.values.clear();
            found
        };
        diagnostics.into_iter().map(hidden).collect()
    }
}
