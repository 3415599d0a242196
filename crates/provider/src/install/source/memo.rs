//! A source that remembers its answers, also when several ask at once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use groma_model::address::Provider;
use groma_model::version::Version;
use tokio::sync::OnceCell;

use super::{Available, Source};
use crate::install::error::SourceError;
use crate::install::package::PackageMeta;
use crate::install::platform::Platform;

type Answers<K, V> = Mutex<BTreeMap<K, Arc<OnceCell<Result<V, SourceError>>>>>;

/// Asks another source each question once.
pub struct Memoized {
    inner: Arc<dyn Source>,
    versions: Answers<Provider, Available>,
    packages: Answers<(Provider, Version, Platform), PackageMeta>,
}

impl Memoized {
    /// Remembers what another source says.
    pub fn new(inner: Arc<dyn Source>) -> Self {
        Self { inner, versions: Mutex::default(), packages: Mutex::default() }
    }
}

fn cell<K: Ord, V>(answers: &Answers<K, V>, key: K) -> Arc<OnceCell<Result<V, SourceError>>> {
    answers.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default().clone()
}

#[async_trait]
impl Source for Memoized {
    async fn available_versions(&self, provider: &Provider) -> Result<Available, SourceError> {
        let cell = cell(&self.versions, provider.clone());
        cell.get_or_init(|| self.inner.available_versions(provider)).await.clone()
    }

    async fn package(
        &self,
        provider: &Provider,
        version: &Version,
        platform: &Platform,
    ) -> Result<PackageMeta, SourceError> {
        let cell = cell(&self.packages, (provider.clone(), version.clone(), platform.clone()));
        cell.get_or_init(|| self.inner.package(provider, version, platform)).await.clone()
    }

    fn places(&self, provider: &Provider) -> Vec<String> {
        self.inner.places(provider)
    }
}
