//! Which providers local names mean where nothing else is said.

use groma_model::address::{DEFAULT_HOST, DEFAULT_NAMESPACE, Provider};

/// The provider that a local name means when `required_providers` says nothing about it.
///
/// A name that no provider can have is reported where it stands, so any answer will do here.
pub fn implied(name: &str) -> Provider {
    Provider::implied(name).unwrap_or_else(|_| default_of(name))
}

/// The provider of that name in the default registry and namespace.
pub fn default_of(name: &str) -> Provider {
    Provider::new(DEFAULT_HOST, DEFAULT_NAMESPACE, name)
}

/// Whether a provider is in the default registry and namespace.
pub fn is_default(provider: &Provider) -> bool {
    provider.host == DEFAULT_HOST && provider.namespace == DEFAULT_NAMESPACE
}
