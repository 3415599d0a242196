//! Provider registries: versions, packages, checksums and keys, over the provider registry protocol.

mod answers;

use async_trait::async_trait;
use groma_fetch::discovery::{Discovery, DiscoveryError, PROVIDERS};
use groma_fetch::host::Host;
use groma_fetch::http::{HeaderName, HeaderValue, HttpError, Request, Response, StatusCode};
use groma_model::address::Provider;
use groma_model::version::Version;
use url::Url;

use super::{Available, Source};
use crate::install::authentication::{Authentication, RegistryAuthentication};
use crate::install::error::SourceError;
use crate::install::package::{Location, PackageMeta};
use crate::install::platform::Platform;
use crate::install::signature::SignaturePolicy;
use answers::{DownloadAnswer, VersionsAnswer};

const MAX_VERSIONS: u64 = 64 << 20;
const MAX_DOWNLOAD_ANSWER: u64 = 16 << 20;
const MAX_CHECKSUMS: u64 = 4 << 20;
const VERSION_HEADER: &str = "x-terraform-version";

/// What a registry client has to know.
#[derive(Debug, Clone, Default)]
pub struct RegistrySettings {
    /// How strict signatures are taken.
    pub signatures: SignaturePolicy,
    /// The version of the core that registries are told.
    pub core_version: String,
}

/// The registries that the addresses of providers name.
#[derive(Clone)]
pub struct Registry {
    discovery: Discovery,
    settings: RegistrySettings,
}

impl Registry {
    /// Finds registries this way.
    pub fn new(discovery: Discovery, settings: RegistrySettings) -> Self {
        Self { discovery, settings }
    }

    async fn get(&self, provider: &Provider, path: &[&str], limit: u64) -> Result<Response, SourceError> {
        let host = host_of(provider)?;
        let mut url =
            self.discovery.service_url(&host, PROVIDERS).await.map_err(|error| discovery_error(&host, error))?;
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend([provider.namespace.as_str(), provider.ty.as_str()]).extend(path);
        }
        let token = self.discovery.token(&host).await;
        let had_credentials = token.is_some();
        let mut request = Request::get(url).plain_http(true).bearer(token);
        if let Ok(version) = HeaderValue::from_str(&self.settings.core_version) {
            request = request.header(HeaderName::from_static(VERSION_HEADER), version);
        }
        let response = self.discovery.client().get(&request, limit).await.map_err(|error| failed(provider, &error))?;
        match response.status {
            StatusCode::OK | StatusCode::NOT_FOUND => Ok(response),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                Err(SourceError::Unauthorized { host: host.to_string(), had_credentials })
            }
            _ => Err(failed(provider, &response.status_error())),
        }
    }

    async fn versions(&self, provider: &Provider) -> Result<VersionsAnswer, SourceError> {
        let response = self.get(provider, &["versions"], MAX_VERSIONS).await?;
        if response.status == StatusCode::NOT_FOUND {
            return Err(SourceError::NotInRegistry(provider.clone()));
        }
        response.json().map_err(|error| failed(provider, &error))
    }

    /// There is no package. The list of versions tells what there is instead.
    async fn no_package(&self, provider: &Provider, version: &Version, platform: &Platform) -> SourceError {
        let available = match self.versions(provider).await {
            Ok(answer) => answer.platforms_of(version),
            Err(error) => {
                tracing::debug!(%provider, %error, "cannot tell the platforms of a provider");
                Vec::new()
            }
        };
        SourceError::PlatformNotSupported {
            provider: provider.clone(),
            version: version.clone(),
            platform: platform.clone(),
            mirror: None,
            available,
        }
    }

    /// Fetches a file that belongs to a package. These are often elsewhere, so the token stays at home.
    async fn file(&self, provider: &Provider, url: &Url, what: &str) -> Result<Vec<u8>, SourceError> {
        let request = Request::get(url.clone()).plain_http(true);
        let result = self.discovery.client().get_bytes(&request, MAX_CHECKSUMS).await;
        result.map(|bytes| bytes.to_vec()).map_err(|error| SourceError::QueryFailed {
            provider: provider.clone(),
            mirror: None,
            reason: format!("failed to retrieve {what} for provider: {error}"),
        })
    }

    async fn check_protocols(
        &self,
        provider: &Provider,
        version: &Version,
        protocols: &[Version],
    ) -> Result<(), SourceError> {
        if protocols.is_empty() || protocols.iter().any(is_known_protocol) {
            return Ok(());
        }
        let compatible =
            self.versions(provider).await?.compatible().map_err(|reason| query_failed(provider, reason))?;
        Err(SourceError::ProtocolNotSupported {
            provider: provider.clone(),
            version: version.clone(),
            offered: protocols.to_vec(),
            compatible,
        })
    }
}

#[async_trait]
impl Source for Registry {
    async fn available_versions(&self, provider: &Provider) -> Result<Available, SourceError> {
        let answer = self.versions(provider).await?;
        let versions = answer.versions().map_err(|reason| query_failed(provider, reason))?;
        Ok(Available::new(versions, answer.warnings))
    }

    async fn package(
        &self,
        provider: &Provider,
        version: &Version,
        platform: &Platform,
    ) -> Result<PackageMeta, SourceError> {
        let path = [&version.to_string(), "download", &platform.os, &platform.arch];
        let response = self.get(provider, &path, MAX_DOWNLOAD_ANSWER).await?;
        if response.status == StatusCode::NOT_FOUND {
            return Err(self.no_package(provider, version, platform).await);
        }
        let wrong = |reason: String| query_failed(provider, reason);
        let answer: DownloadAnswer = response.json().map_err(|error| failed(provider, &error))?;
        let protocols = answer.protocols().map_err(wrong)?;
        self.check_protocols(provider, version, &protocols).await?;
        answer.check_platform(platform).map_err(wrong)?;
        let url = DownloadAnswer::url(&response.url, &answer.download_url, "download URL").map_err(wrong)?;
        let checksums = DownloadAnswer::url(&response.url, &answer.shasums_url, "SHASUMS URL").map_err(wrong)?;
        let signature = DownloadAnswer::url(&response.url, &answer.shasums_signature_url, "SHASUMS signature URL")
            .map_err(wrong)?;
        let authentication = RegistryAuthentication {
            digest: answer.digest().map_err(wrong)?,
            packages: answer.packages().map_err(wrong)?,
            checksums: self.file(provider, &checksums, "authentication checksums").await?,
            signature: self.file(provider, &signature, "cryptographic signature").await?,
            keys: answer.keys(),
            policy: self.settings.signatures,
        };
        Ok(PackageMeta {
            provider: provider.clone(),
            version: version.clone(),
            platform: platform.clone(),
            protocols,
            filename: answer.filename,
            location: Location::Url { url, plain_http: true },
            authentication: Authentication::Registry(Box::new(authentication)),
        })
    }

    fn places(&self, provider: &Provider) -> Vec<String> {
        vec![format!("registry {}", provider.host)]
    }
}

/// Protocols 5 and 6, in any minor version.
fn is_known_protocol(version: &Version) -> bool {
    [5, 6].contains(&version.number(0))
}

/// The host of a provider's registry.
pub(super) fn host_of(provider: &Provider) -> Result<Host, SourceError> {
    Host::parse(&provider.host)
        .map_err(|error| SourceError::HostUnreachable { host: provider.host.to_string(), reason: error.to_string() })
}

fn discovery_error(host: &Host, error: DiscoveryError) -> SourceError {
    let host = host.to_string();
    match error {
        DiscoveryError::NotProvided { .. } => SourceError::HostNoProviders { host, other_version: false },
        DiscoveryError::VersionNotSupported { .. } => SourceError::HostNoProviders { host, other_version: true },
        other => SourceError::HostUnreachable { host, reason: other.to_string() },
    }
}

fn query_failed(provider: &Provider, reason: String) -> SourceError {
    SourceError::QueryFailed { provider: provider.clone(), mirror: None, reason }
}

fn failed(provider: &Provider, error: &HttpError) -> SourceError {
    query_failed(provider, error.to_string())
}
