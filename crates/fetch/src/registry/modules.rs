//! The module registry protocol: which versions a module has, and where one of them is.

mod source;

use std::fmt;

use reqwest::StatusCode;
use serde::Deserialize;
use thiserror::Error;
use url::Url;

use crate::address::{AddressError, RemoteSource};
use crate::credentials::Token;
use crate::discovery::{Discovery, DiscoveryError, MODULES};
use crate::host::Host;
use crate::http::{HttpError, Request};

pub use source::ModuleSourceError;

const MAX_VERSIONS: u64 = 64 << 20;
const MAX_LOCATION: u64 = 1 << 20;

/// A module of a registry.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ModuleAddress {
    /// The registry.
    pub host: Host,
    /// Whose it is.
    pub namespace: String,
    /// What it is called.
    pub name: String,
    /// What it is for.
    pub system: String,
}

impl fmt::Display for ModuleAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}/{}", self.host, self.namespace, self.name, self.system)
    }
}

/// Where a version of a module is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModuleLocation {
    /// At an address as it could be written in a configuration.
    Indirect(RemoteSource),
    /// At the registry itself, as an archive whose format shows in its bytes.
    Direct {
        /// Which archive.
        url: Url,
        /// The token to ask with, if the registry wants the one that it knows us by.
        token: Option<Token>,
    },
}

/// Why a registry's answer is of no use.
#[derive(Debug, Clone, Error)]
pub enum ModuleRegistryError {
    /// The registry could not be found.
    #[error("{0}")]
    Discovery(#[from] DiscoveryError),
    /// There is no such module.
    #[error("module {0} not found")]
    ModuleNotFound(ModuleAddress),
    /// There is no such version.
    #[error("module \"{module}\" version {version:?} not found")]
    VersionNotFound {
        /// Which module.
        module: ModuleAddress,
        /// Which version.
        version: String,
    },
    /// Listing the versions failed.
    #[error("error looking up module versions: {0}")]
    Versions(#[source] HttpError),
    /// Asking for the location failed.
    #[error("error getting download location for \"{0}\": {1}")]
    Location(ModuleAddress, #[source] HttpError),
    /// The registry says nothing about where the module is.
    #[error("registry did not return a location for this package")]
    NoLocation,
    /// The registry names a location that cannot be used.
    #[error("registry returned invalid package location {location:?}: {reason}")]
    BadLocation {
        /// What it said.
        location: String,
        /// Why it cannot be used.
        reason: String,
    },
}

/// A client for module registries.
#[derive(Clone)]
pub struct ModuleRegistry {
    discovery: Discovery,
}

#[derive(Deserialize)]
struct VersionsAnswer {
    #[serde(default)]
    modules: Vec<ModuleVersions>,
}

#[derive(Deserialize)]
struct ModuleVersions {
    #[serde(default)]
    versions: Vec<ModuleVersion>,
}

#[derive(Deserialize)]
struct ModuleVersion {
    version: String,
}

#[derive(Deserialize)]
struct LocationAnswer {
    #[serde(default)]
    location: String,
    use_registry_credentials: Option<bool>,
}

impl ModuleRegistry {
    /// A client that finds registries this way.
    pub fn new(discovery: Discovery) -> Self {
        Self { discovery }
    }

    /// The versions of a module, in the registry's order and words.
    pub async fn versions(&self, module: &ModuleAddress) -> Result<Vec<String>, ModuleRegistryError> {
        let url = self.endpoint(module, &["versions"]).await?;
        let request = Request::get(url).plain_http(true).bearer(self.discovery.token(&module.host).await);
        let response =
            self.discovery.client().get(&request, MAX_VERSIONS).await.map_err(ModuleRegistryError::Versions)?;
        if response.status == StatusCode::NOT_FOUND {
            return Err(ModuleRegistryError::ModuleNotFound(module.clone()));
        }
        let read = |response: crate::http::Response| response.into_success()?.json::<VersionsAnswer>();
        let answer = read(response).map_err(ModuleRegistryError::Versions)?;
        // The protocol allows more modules in one answer; only the first is the one that was asked for.
        let versions = answer.modules.into_iter().next().map(|module| module.versions).unwrap_or_default();
        Ok(versions.into_iter().map(|version| version.version).collect())
    }

    /// Where a version of a module is.
    pub async fn location(&self, module: &ModuleAddress, version: &str) -> Result<ModuleLocation, ModuleRegistryError> {
        let url = self.endpoint(module, &[version, "download"]).await?;
        let token = self.discovery.token(&module.host).await;
        let request = Request::get(url.clone()).plain_http(true).bearer(token.clone());
        let failed = |error| ModuleRegistryError::Location(module.clone(), error);
        let response = self.discovery.client().get(&request, MAX_LOCATION).await.map_err(failed)?;
        let header = response.header("X-Terraform-Get").unwrap_or_default().to_owned();
        match response.status {
            StatusCode::NO_CONTENT => indirect(&header, &url),
            StatusCode::OK => {
                let answer: LocationAnswer = response.json().map_err(failed)?;
                match answer.use_registry_credentials {
                    Some(with_token) => direct(&answer.location, &url, token.filter(|_| with_token)),
                    None if answer.location.is_empty() => indirect(&header, &url),
                    None => indirect(&answer.location, &url),
                }
            }
            StatusCode::NOT_FOUND => {
                Err(ModuleRegistryError::VersionNotFound { module: module.clone(), version: version.to_owned() })
            }
            _ => Err(failed(response.status_error())),
        }
    }

    async fn endpoint(&self, module: &ModuleAddress, rest: &[&str]) -> Result<Url, ModuleRegistryError> {
        let mut url = self.discovery.service_url(&module.host, MODULES).await?;
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend([&module.namespace, &module.name, &module.system]).extend(rest);
        }
        Ok(url)
    }
}

/// A location in the words of configurations. Registries behind proxies do not know their own address, so paths are
/// relative to where the answer came from.
fn indirect(location: &str, asked: &Url) -> Result<ModuleLocation, ModuleRegistryError> {
    if location.is_empty() {
        return Err(ModuleRegistryError::NoLocation);
    }
    let bad = |reason: String| ModuleRegistryError::BadLocation { location: crate::redact::text(location), reason };
    let is_relative = ["/", "./", "../"].iter().any(|prefix| location.starts_with(prefix));
    let absolute = if is_relative {
        asked.join(location).map_err(|error| bad(error.to_string()))?.to_string()
    } else {
        location.to_owned()
    };
    RemoteSource::parse(&absolute).map(ModuleLocation::Indirect).map_err(|error: AddressError| bad(error.to_string()))
}

fn direct(location: &str, asked: &Url, token: Option<Token>) -> Result<ModuleLocation, ModuleRegistryError> {
    let bad = |reason: &str| ModuleRegistryError::BadLocation {
        location: crate::redact::text(location),
        reason: reason.to_owned(),
    };
    let url = asked.join(location).map_err(|error| bad(&error.to_string()))?;
    if !["https", "http"].contains(&url.scheme()) {
        return Err(bad("must be http or https URL"));
    }
    if url.fragment().is_some() {
        return Err(bad("must not include fragment part"));
    }
    Ok(ModuleLocation::Direct { url, token })
}

#[cfg(test)]
mod tests;
