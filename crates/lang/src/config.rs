//! A module as declared: every block of its files, decoded and checked, with what is evaluated later kept as expressions and bodies.
//!
//! Reading files and building the tree of modules is in [`crate::load`]; values are in [`crate::eval`].

pub mod addresses;
mod assemble;
pub mod backend;
pub mod check;
pub mod encryption;
pub(crate) mod file;
pub mod ignored;
pub mod import;
mod language;
pub mod module_call;
pub mod moved;
pub mod named;
pub mod provider;
pub mod provisioner;
pub(crate) mod read;
pub mod removed;
pub mod resource;
pub mod test_file;
pub mod variable;
pub mod version;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use groma_model::diag::Diagnostics;
use groma_model::span::{SourceMap, Span};
use groma_model::text::Str;

pub use groma_model::address::{
    LocalProviderConfig as ProviderConfigKey, Provider as ProviderSource, Resource as ResourceKey, ResourceMode,
};

pub use addresses::ObjectAddress;
pub use backend::{Backend, Cloud, ProviderMeta};
pub use check::{Check, CheckRule};
pub use encryption::{Encryption, EncryptionPart, EncryptionTarget};
/// What declarations are made of, for those who look into them.
pub use groma_syntax::ast::{Expr, Step, StepKey, Traversal};
pub use import::Import;
pub use module_call::{ModuleCall, PassedProvider};
pub use moved::Moved;
pub use named::{Local, Output};
pub use provider::requirements::{RequiredProvider, RequiredProviders};
pub use provider::{ProviderConfig, ProviderRef};
pub use provisioner::{Connection, OnFailure, Provisioner, When};
pub use read::constant_value;
pub use removed::Removed;
pub use resource::{IgnoreChanges, Managed, RelativePath, Resource, trigger_keys, trigger_target};
pub use variable::{Parsing, Variable, VariableType};
pub use version::VersionConstraint;

/// One module: all declarations of the files of one directory, overrides merged in.
#[derive(Debug, Clone, Default)]
pub struct Module {
    /// The directory it was read from, as users see it (relative to where they stand).
    pub source_dir: PathBuf,
    /// `variable` blocks.
    pub variables: BTreeMap<Str, Variable>,
    /// Entries of all `locals` blocks.
    pub locals: BTreeMap<Str, Local>,
    /// `output` blocks.
    pub outputs: BTreeMap<Str, Output>,
    /// `module` blocks.
    pub module_calls: BTreeMap<Str, ModuleCall>,
    /// `resource`, `data` and `ephemeral` blocks, also `data` blocks inside `check` blocks.
    pub resources: BTreeMap<ResourceKey, Resource>,
    /// `provider` blocks.
    pub provider_configs: BTreeMap<ProviderConfigKey, ProviderConfig>,
    /// `required_providers`, empty if there is none.
    pub required_providers: RequiredProviders,
    /// `terraform { backend }`
    pub backend: Option<Backend>,
    /// `terraform { cloud }`
    pub cloud: Option<Cloud>,
    /// `terraform { encryption }`
    pub encryption: Option<Encryption>,
    /// `terraform { provider_meta }`, by local name of the provider.
    pub provider_meta: BTreeMap<Str, ProviderMeta>,
    /// `moved` blocks, in order.
    pub moved: Vec<Moved>,
    /// `removed` blocks, in order.
    pub removed: Vec<Removed>,
    /// `import` blocks, in order.
    pub imports: Vec<Import>,
    /// `check` blocks.
    pub checks: BTreeMap<Str, Check>,
    /// `required_version` of all files and `language { compatible_with }`.
    pub core_versions: Vec<VersionConstraint>,
}

impl Module {
    /// Makes a module of its decoded files.
    pub(crate) fn assemble(
        map: &SourceMap,
        primary: Vec<file::File>,
        overrides: Vec<file::File>,
    ) -> (Self, Diagnostics) {
        assemble::assemble(map, primary, overrides)
    }

    /// The resource, data source or ephemeral resource of that name.
    pub fn resource(&self, mode: ResourceMode, ty: &str, name: &str) -> Option<&Resource> {
        self.resources.get(&ResourceKey::new(mode, ty, name))
    }

    /// The provider that a local name means.
    pub fn provider_of(&self, name: &str) -> ProviderSource {
        self.required_providers.provider_of(name)
    }

    /// The resources of one mode, sorted by type and name.
    pub fn resources_of(&self, mode: ResourceMode) -> impl Iterator<Item = &Resource> {
        self.resources.values().filter(move |resource| resource.key.mode == mode)
    }
}

/// How often an object is made: `count`, `for_each`, `lifecycle { enabled }`, or once.
#[derive(Debug, Clone, Default)]
pub enum Repetition {
    /// Exactly once, without a key.
    #[default]
    Once,
    /// `count`
    Count(Arc<Expr>),
    /// `for_each`
    ForEach(Arc<Expr>),
    /// `lifecycle { enabled = … }`
    Enabled(Arc<Expr>),
}

impl Repetition {
    /// The expression, if there is one.
    pub fn expr(&self) -> Option<&Arc<Expr>> {
        match self {
            Repetition::Once => None,
            Repetition::Count(expr) | Repetition::ForEach(expr) | Repetition::Enabled(expr) => Some(expr),
        }
    }
}

/// Where a block was declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Declared {
    /// Its header: from the kind to the last label.
    pub header: Span,
    /// Its (last) label, or the header where it has none.
    pub name: Span,
    /// Where to point when an argument is missing.
    pub missing: Span,
}
