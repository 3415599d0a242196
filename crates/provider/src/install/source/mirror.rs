//! Network mirrors: JSON files at an https address, in the provider network mirror protocol.

use std::collections::BTreeMap;

use async_trait::async_trait;
use groma_fetch::discovery::Discovery;
use groma_fetch::host::Host;
use groma_fetch::http::{Request, Response, StatusCode};
use groma_model::address::Provider;
use groma_model::version::Version;
use serde::Deserialize;
use serde_json::Value;
use thiserror::Error;
use url::Url;

use super::registry::host_of;
use super::{Available, Source};
use crate::install::authentication::Authentication;
use crate::install::error::SourceError;
use crate::install::hash::Hash;
use crate::install::package::{Location, PackageMeta};
use crate::install::platform::Platform;

const MAX_ANSWER: u64 = 64 << 20;

/// A mirror at an address.
#[derive(Clone)]
pub struct NetworkMirror {
    base: Url,
    discovery: Discovery,
    trust_all_hashes: bool,
}

/// Why an address is none for a mirror.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("a network mirror needs a URL with https:, not {0}")]
pub struct MirrorUrlError(String);

#[derive(Debug, Deserialize)]
struct IndexAnswer {
    #[serde(default)]
    versions: Option<BTreeMap<String, Value>>,
}

#[derive(Debug, Deserialize)]
struct VersionAnswer {
    #[serde(default)]
    archives: Option<BTreeMap<String, ArchiveAnswer>>,
}

#[derive(Debug, Deserialize)]
struct ArchiveAnswer {
    #[serde(default)]
    url: String,
    #[serde(default)]
    hashes: Option<Vec<String>>,
}

impl NetworkMirror {
    /// The mirror at an https address. With `trust_all_hashes`, the hashes that it gives for other platforms are
    /// believed, too.
    pub fn new(base: Url, discovery: Discovery, trust_all_hashes: bool) -> Result<Self, MirrorUrlError> {
        if base.scheme() != "https" {
            return Err(MirrorUrlError(groma_fetch::redact::url(&base)));
        }
        let mut base = base;
        if !base.path().ends_with('/') {
            base.set_path(&format!("{}/", base.path()));
        }
        Ok(Self { base, discovery, trust_all_hashes })
    }

    fn shown(&self) -> String {
        groma_fetch::redact::url(&self.base)
    }

    fn failed(&self, provider: &Provider, reason: impl ToString) -> SourceError {
        SourceError::QueryFailed { provider: provider.clone(), mirror: Some(self.shown()), reason: reason.to_string() }
    }

    async fn get(&self, provider: &Provider, file: &str) -> Result<Response, SourceError> {
        let host = host_of(provider)?;
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            let parts = [host.as_str(), provider.namespace.as_str(), provider.ty.as_str(), file];
            segments.pop_if_empty().extend(parts);
        }
        let token = match Host::of_url(&self.base) {
            Some(host) => self.discovery.token(&host).await,
            None => None,
        };
        let had_credentials = token.is_some();
        let request = Request::get(url).bearer(token);
        let response =
            self.discovery.client().get(&request, MAX_ANSWER).await.map_err(|error| self.failed(provider, error))?;
        match response.status {
            StatusCode::OK => self.check_json(provider, &response).map(|()| response),
            StatusCode::NOT_FOUND => Ok(response),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                let host = Host::of_url(&response.url).map_or_else(|| self.shown(), |host| host.to_string());
                Err(SourceError::Unauthorized { host, had_credentials })
            }
            _ => Err(self.failed(provider, response.status_error())),
        }
    }

    /// A page for people is answered with success by many servers, whatever was asked for.
    fn check_json(&self, provider: &Provider, response: &Response) -> Result<(), SourceError> {
        let given = response.header("content-type").unwrap_or_default();
        let media = given.split(';').next().unwrap_or_default().trim();
        if media.eq_ignore_ascii_case("application/json") {
            return Ok(());
        }
        let shown = groma_fetch::redact::url(&response.url);
        Err(self.failed(
            provider,
            format!("response from {shown} has invalid Content-Type {given:?}: must be application/json"),
        ))
    }

    fn hashes(
        &self,
        provider: &Provider,
        archives: &BTreeMap<String, ArchiveAnswer>,
        target: &str,
    ) -> Result<Vec<Hash>, SourceError> {
        let mut hashes = Vec::new();
        for (platform, archive) in archives {
            if platform != target && !self.trust_all_hashes {
                continue;
            }
            for text in archive.hashes.iter().flatten() {
                let wrong = |error| {
                    self.failed(provider, format!("provider mirror returned invalid provider hash {text:?}: {error}"))
                };
                hashes.push(Hash::parse(text).map_err(wrong)?);
            }
        }
        Ok(hashes)
    }
}

#[async_trait]
impl Source for NetworkMirror {
    async fn available_versions(&self, provider: &Provider) -> Result<Available, SourceError> {
        let response = self.get(provider, "index.json").await?;
        if response.status == StatusCode::NOT_FOUND {
            return Err(SourceError::NotFound { provider: provider.clone(), searched: self.places(provider) });
        }
        let answer: IndexAnswer = response.json().map_err(|error| self.failed(provider, error))?;
        let mut versions = Vec::new();
        for text in answer.versions.unwrap_or_default().into_keys() {
            match Version::parse_release(&text) {
                Ok(version) => versions.push(version),
                Err(error) => tracing::warn!(%provider, version = %text, %error, "a mirror offers no version"),
            }
        }
        Ok(Available::new(versions, Vec::new()))
    }

    async fn package(
        &self,
        provider: &Provider,
        version: &Version,
        platform: &Platform,
    ) -> Result<PackageMeta, SourceError> {
        let response = self.get(provider, &format!("{version}.json")).await?;
        if response.status == StatusCode::NOT_FOUND {
            let reason = format!(
                "provider mirror does not have archive index for previously-reported {provider} version {version}"
            );
            return Err(self.failed(provider, reason));
        }
        let answer: VersionAnswer = response.json().map_err(|error| self.failed(provider, error))?;
        let archives = answer.archives.unwrap_or_default();
        let target = platform.to_string();
        let Some(archive) = archives.get(&target) else {
            return Err(SourceError::PlatformNotSupported {
                provider: provider.clone(),
                version: version.clone(),
                platform: platform.clone(),
                mirror: Some(self.shown()),
                available: archives.keys().filter_map(|name| name.parse().ok()).collect(),
            });
        };
        let url = response.url.join(&archive.url).map_err(|error| {
            self.failed(provider, format!("provider mirror returned invalid URL {:?}: {error}", archive.url))
        })?;
        let hashes = self.hashes(provider, &archives, &target)?;
        let filename = url.path_segments().and_then(|mut parts| parts.next_back()).unwrap_or_default().to_owned();
        // Without encryption and without a hash, anybody on the way could replace the package.
        let plain_http = !hashes.is_empty();
        let authentication = match hashes {
            none if none.is_empty() => Authentication::None,
            hashes => Authentication::Hashes { hashes, trusted: self.trust_all_hashes },
        };
        Ok(PackageMeta {
            provider: provider.clone(),
            version: version.clone(),
            platform: platform.clone(),
            protocols: Vec::new(),
            filename,
            location: Location::Url { url, plain_http },
            authentication,
        })
    }

    fn places(&self, _provider: &Provider) -> Vec<String> {
        vec![format!("provider mirror at {}", self.shown())]
    }
}
