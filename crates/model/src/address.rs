//! Addresses: how users, state files and plans name modules, resources, providers and other objects.
//!
//! Every form parses from text and prints the same text again. Cloning one costs a few reference counts. The text is
//! first cut into a [`Traversal`], which callers with a syntax tree of their own can also make directly.
//!
//! The order of addresses is the one in which plans list them: shorter module paths first, data before managed
//! resources, no key before numbers before strings. State files sort module paths by their text instead.

mod key;
mod module;
mod named;
mod provider;
mod reference;
mod resource;
mod target;
mod traversal;

#[cfg(test)]
mod tests;

pub use key::{InstanceKey, quote};
pub use module::{Module, ModuleInstance, ModuleStep};
pub use named::{AbsNamed, ConfigNamed, NamedKind};
pub use provider::{
    BUILTIN_HOST, BUILTIN_NAMESPACE, DEFAULT_HOST, DEFAULT_NAMESPACE, LEGACY_NAMESPACE, LocalProviderConfig, Provider,
    ProviderConfig, ProviderInstance, TERRAFORM_HOST, provider_part,
};
pub use reference::{ProviderFunction, Reference, Referent};
pub use resource::{AbsInstance, AbsObject, AbsResource, ConfigResource, DeposedKey, Instance, Resource, ResourceMode};
pub use target::Target;
pub use traversal::{IndexKey, Step, StepKind, Traversal, is_identifier};

/// Why a text is not an address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{summary}: {detail}")]
pub struct AddressError {
    /// Offset of the byte at which it goes wrong.
    pub offset: usize,
    /// What is wrong, in a few words.
    pub summary: &'static str,
    /// What was expected there.
    pub detail: String,
}

impl AddressError {
    fn new(offset: usize, summary: &'static str, detail: impl Into<String>) -> Self {
        Self { offset, summary, detail: detail.into() }
    }

    fn invalid(offset: usize, detail: impl Into<String>) -> Self {
        Self::new(offset, "Invalid address", detail)
    }
}

/// Parses any address type from text.
macro_rules! parse_from_text {
    ($($address:ty),*) => {$(
        impl std::str::FromStr for $address {
            type Err = $crate::address::AddressError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::from_traversal(&$crate::address::Traversal::parse(text)?)
            }
        }
    )*};
}

parse_from_text!(
    Module,
    ModuleInstance,
    ConfigResource,
    AbsResource,
    AbsInstance,
    Target,
    Reference,
    ProviderConfig,
    ProviderInstance,
    AbsNamed,
    ConfigNamed
);
