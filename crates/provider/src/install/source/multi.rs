//! Several sources, each for some providers. Versions of all that fit are taken together; the first one that has the
//! package gives it.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use groma_model::address::Provider;
use groma_model::version::Version;

use super::patterns::{Pattern, Patterns};
use super::{Available, FilesystemMirror, Source, search_directory};
use crate::install::error::SourceError;
use crate::install::package::PackageMeta;
use crate::install::platform::Platform;

/// A source, and the providers that it is for.
#[derive(Clone)]
pub struct Selector {
    /// The source.
    pub source: Arc<dyn Source>,
    /// Only these; none means all.
    pub include: Patterns,
    /// But not these.
    pub exclude: Patterns,
}

/// Several sources, in the order in which they are asked.
#[derive(Clone, Default)]
pub struct MultiSource {
    /// The sources.
    pub selectors: Vec<Selector>,
}

impl Selector {
    /// A source for all providers.
    pub fn all(source: Arc<dyn Source>) -> Self {
        Self { source, include: Patterns::default(), exclude: Patterns::default() }
    }

    /// Whether it is for this provider.
    pub fn handles(&self, provider: &Provider) -> bool {
        !self.exclude.matches(provider) && (self.include.is_empty() || self.include.matches(provider))
    }
}

impl MultiSource {
    /// Several sources.
    pub fn new(selectors: Vec<Selector>) -> Self {
        Self { selectors }
    }

    /// What is used if the CLI configuration says nothing: directories that exist, each for what is in it, and then the
    /// direct source for everything that is in none of them.
    pub fn implied(directories: &[PathBuf], direct: Arc<dyn Source>) -> Self {
        let mut selectors = Vec::new();
        let mut exclude = Patterns::default();
        for directory in directories.iter().filter(|directory| directory.is_dir()) {
            match search_directory(directory) {
                Ok(listing) => exclude.0.extend(listing.packages.keys().map(Pattern::of)),
                // It is reported when it is needed.
                Err(error) => tracing::warn!(directory = %directory.display(), %error, "cannot search for providers"),
            }
            selectors.push(Selector::all(Arc::new(FilesystemMirror::new(directory))));
        }
        selectors.push(Selector { source: direct, include: Patterns::default(), exclude });
        Self { selectors }
    }

    fn for_provider(&self, provider: &Provider) -> impl Iterator<Item = &Selector> {
        self.selectors.iter().filter(|selector| selector.handles(provider))
    }
}

#[async_trait]
impl Source for MultiSource {
    async fn available_versions(&self, provider: &Provider) -> Result<Available, SourceError> {
        let mut versions = Vec::new();
        let mut warnings = Vec::new();
        let mut absent_in_registry = None;
        for selector in self.for_provider(provider) {
            match selector.source.available_versions(provider).await {
                Ok(available) => {
                    versions.extend(available.versions);
                    warnings.extend(available.warnings);
                }
                Err(error @ SourceError::NotInRegistry(_)) => absent_in_registry = Some(error),
                Err(SourceError::NotFound { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        if versions.is_empty() {
            let searched = self.places(provider);
            let absent = SourceError::NotFound { provider: provider.clone(), searched };
            return Err(absent_in_registry.unwrap_or(absent));
        }
        Ok(Available::new(versions, warnings))
    }

    async fn package(
        &self,
        provider: &Provider,
        version: &Version,
        platform: &Platform,
    ) -> Result<PackageMeta, SourceError> {
        let mut other_platforms = Vec::new();
        for selector in self.for_provider(provider) {
            match selector.source.package(provider, version, platform).await {
                Ok(meta) => return Ok(meta),
                Err(SourceError::PlatformNotSupported { available, .. }) => other_platforms.extend(available),
                Err(error) if error.is_absence() => {}
                Err(error) => return Err(error),
            }
        }
        if self.selectors.is_empty() {
            return Err(SourceError::NotFound { provider: provider.clone(), searched: Vec::new() });
        }
        other_platforms.sort();
        other_platforms.dedup();
        Err(SourceError::PlatformNotSupported {
            provider: provider.clone(),
            version: version.clone(),
            platform: platform.clone(),
            mirror: None,
            available: other_platforms,
        })
    }

    fn places(&self, provider: &Provider) -> Vec<String> {
        self.for_provider(provider).flat_map(|selector| selector.source.places(provider)).collect()
    }
}
