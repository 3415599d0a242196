//! Where providers come from: registries, mirrors, directories, and several of them by the provider's address.

mod filesystem;
mod memo;
mod mirror;
mod multi;
mod patterns;
mod registry;

use async_trait::async_trait;
use groma_model::address::Provider;
use groma_model::version::Version;

pub use filesystem::{DirectoryListing, FilesystemMirror, search_directory};
pub use memo::Memoized;
pub use mirror::{MirrorUrlError, NetworkMirror};
pub use multi::{MultiSource, Selector};
pub use patterns::{Pattern, PatternError, Patterns};
pub use registry::{Registry, RegistrySettings};

use super::error::SourceError;
use super::package::PackageMeta;
use super::platform::Platform;

/// Which versions of a provider there are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Available {
    /// The versions, oldest first, each once.
    pub versions: Vec<Version>,
    /// What the source wants the user to know.
    pub warnings: Vec<String>,
}

impl Available {
    /// Puts versions in order.
    pub fn new(mut versions: Vec<Version>, warnings: Vec<String>) -> Self {
        versions.sort();
        versions.dedup();
        Self { versions, warnings }
    }
}

/// A place where providers come from.
#[async_trait]
pub trait Source: Send + Sync {
    /// The versions of a provider.
    async fn available_versions(&self, provider: &Provider) -> Result<Available, SourceError>;

    /// Where the package of a version is. The version is one of those that are available.
    async fn package(
        &self,
        provider: &Provider,
        version: &Version,
        platform: &Platform,
    ) -> Result<PackageMeta, SourceError>;

    /// Where it would look for a provider, for people.
    fn places(&self, provider: &Provider) -> Vec<String>;
}

/// A source of a kind that is known but not built: it says so when it is needed.
#[derive(Debug, Clone)]
pub struct Unsupported {
    /// What to say.
    pub message: String,
}

impl Unsupported {
    /// Mirrors in OCI registries (`oci_mirror`).
    pub fn oci_mirror(repository_template: &str) -> Self {
        let message = format!(
            "provider mirrors in OCI registries (oci_mirror with {repository_template}) are not supported; use a \
             network_mirror or a filesystem_mirror"
        );
        Self { message }
    }
}

#[async_trait]
impl Source for Unsupported {
    async fn available_versions(&self, _provider: &Provider) -> Result<Available, SourceError> {
        Err(SourceError::Unsupported(self.message.clone()))
    }

    async fn package(
        &self,
        _provider: &Provider,
        _version: &Version,
        _platform: &Platform,
    ) -> Result<PackageMeta, SourceError> {
        Err(SourceError::Unsupported(self.message.clone()))
    }

    fn places(&self, _provider: &Provider) -> Vec<String> {
        vec![self.message.clone()]
    }
}
