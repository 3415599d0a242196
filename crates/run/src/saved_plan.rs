//! Saved plans: one file that holds a plan and everything that it is bound to, so that what is applied is what was looked at.
//!
//! The plan itself is encoded by the engine. Here are the file around it, its checksums, and the checks that nothing it was made
//! from has changed since.

mod bound;
mod container;
mod load;
mod parts;
mod recognise;
mod snapshot;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use groma_engine::plan::Plan;
use groma_engine::plan_file;
use groma_lang::config::Variable;
use groma_lang::walk::InputValue;
use groma_model::address::{Provider, ResourceMode};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::schema::Schema;
use groma_model::text::Str;
use groma_model::value::Value;
use groma_provider::install::Locks;
use groma_state::State;

use crate::backend::Target;
use crate::providers::ProviderBook;
use container::Container;
pub use load::Looked;
pub use parts::{BackendRecord, LockRecord, StateRecord};
pub use recognise::{FileKind, recognise};
pub use snapshot::{Recorder, Snapshot};

/// The version that writes these plans. Plans of other versions are refused.
pub const GROMA_VERSION: &str = env!("CARGO_PKG_VERSION");

/// What a plan is saved with.
pub struct Contents<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// When it was made: seconds and nanoseconds since 1970.
    pub time: (i64, u32),
    /// The values of the root module's variables, as given.
    pub inputs: &'a BTreeMap<Str, InputValue>,
    /// The variables. Values of ephemeral ones are not kept.
    pub declared: &'a BTreeMap<Str, Variable>,
    /// The configuration, as it was read.
    pub configuration: &'a Snapshot,
    /// Which providers it was made with.
    pub locks: &'a Locks,
    /// Where the state is kept.
    pub backend: &'a BackendRecord,
    /// The state that it was made from, as it was read. Empty if there was none.
    pub state: &'a State,
}

/// A plan that was saved, with everything that it is bound to.
#[derive(Debug, Clone)]
pub struct SavedPlan {
    id: String,
    plan: Vec<u8>,
    errored: bool,
    providers: BTreeSet<Provider>,
    time: (i64, u32),
    variables: BTreeMap<Str, Value>,
    ephemeral: BTreeSet<Str>,
    configuration: Snapshot,
    locks: BTreeMap<String, LockRecord>,
    backend: BackendRecord,
    state: StateRecord,
}

impl SavedPlan {
    /// Writes a plan to a file that only its owner can read, all or nothing, encrypted if it is to be. Gives the plan's id.
    pub(crate) fn save(
        path: &Path,
        contents: &Contents<'_>,
        encryption: Option<&Target>,
    ) -> Result<String, Diagnostics> {
        let (id, bytes) = Self::encode(contents)?;
        let bytes = match encryption {
            None => bytes,
            Some(target) => target.seal(bytes).map_err(|problem| {
                Diagnostic::error("Failed to write plan file", format!("The plan cannot be encrypted: {problem}."))
            })?,
        };
        container::write_private(path, &bytes).map_err(|problem| {
            let detail = format!("The plan file {} could not be written: {problem}.", path.display());
            Diagnostic::error("Failed to write plan file", detail)
        })?;
        Ok(id)
    }

    /// The bytes of such a file, and the plan's id.
    pub fn encode(contents: &Contents<'_>) -> Result<(String, Vec<u8>), Diagnostics> {
        let failed = |problem: String| Diagnostic::error("Failed to write plan file", problem);
        let parts = parts::of(contents).map_err(failed)?;
        let container = Container::new(parts);
        Ok((container.id(), container.to_bytes()))
    }

    /// The bytes of a plan file. What is wrong with them is left to `decode`, which says so in a sentence.
    pub(crate) fn open_with(
        path: &Path,
        decode: impl FnOnce(Vec<u8>) -> Result<SavedPlan, String>,
    ) -> Result<SavedPlan, Diagnostics> {
        let failed = |detail: String| {
            let summary = format!("Failed to load {:?} as a plan file", path.display().to_string());
            Diagnostics::from(Diagnostic::error(summary, detail))
        };
        if path.is_dir() {
            let detail = "The specified path is a directory, not a plan file. You can use the global -chdir flag to use this \
                          directory as the configuration root.";
            return Err(failed(detail.to_owned()));
        }
        let bytes = std::fs::read(path).map_err(|problem| failed(format!("The file cannot be read: {problem}.")))?;
        decode(bytes).map_err(failed)
    }

    /// Reads the bytes of a plan file that is not encrypted. The error says in a sentence what is wrong.
    pub fn decode(bytes: &[u8]) -> Result<SavedPlan, String> {
        let container = Container::from_bytes(bytes)?;
        parts::read(&container)
    }

    /// The plan's name: a hash of everything in it but when it was made. Whoever approves a plan approves this.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// When it was made: seconds and nanoseconds since 1970.
    pub fn time(&self) -> (i64, u32) {
        self.time
    }

    /// Whether it is incomplete because there were errors. It can be looked at, not applied.
    pub fn is_errored(&self) -> bool {
        self.errored
    }

    /// The providers of everything in it.
    pub fn providers(&self) -> &BTreeSet<Provider> {
        &self.providers
    }

    /// The values of the root module's variables that were given. Those of ephemeral ones are not here.
    pub fn variables(&self) -> &BTreeMap<Str, Value> {
        &self.variables
    }

    /// Ephemeral variables that had a value.
    pub fn ephemeral_variables(&self) -> &BTreeSet<Str> {
        &self.ephemeral
    }

    /// The configuration that it was made from.
    pub fn configuration(&self) -> &Snapshot {
        &self.configuration
    }

    /// Which providers it was made with, by address.
    pub fn locks(&self) -> &BTreeMap<String, LockRecord> {
        &self.locks
    }

    /// Where the state is kept.
    pub fn backend(&self) -> &BackendRecord {
        &self.backend
    }

    /// The state that it was made from.
    pub fn state(&self) -> &StateRecord {
        &self.state
    }

    /// The plan, with the schemas of the providers that it is applied with.
    pub fn plan(&self, book: &ProviderBook) -> Result<Plan, Diagnostics> {
        self.plan_with(&|provider, mode, ty| schema_of(book, provider, mode, ty))
    }

    /// The plan, with schemas from elsewhere.
    pub fn plan_with(&self, schemas: &plan_file::Schemas<'_>) -> Result<Plan, Diagnostics> {
        plan_file::decode(&self.plan, schemas).map_err(|problem| {
            let detail = format!("Cannot read the plan from the given plan file: {problem}.");
            Diagnostic::error("Failed to read plan from plan file", detail).into()
        })
    }
}

/// The schema of something that a provider offers. One that cannot be read is as good as none.
fn schema_of(book: &ProviderBook, provider: &Provider, mode: ResourceMode, ty: &str) -> Option<Arc<Schema>> {
    let offered = book.schema(provider)?;
    let of_mode = match mode {
        ResourceMode::Managed => &offered.resources,
        ResourceMode::Data => &offered.data_sources,
        ResourceMode::Ephemeral => &offered.ephemerals,
    };
    of_mode.get(ty)?.get().ok().cloned()
}
