//! Service discovery: which services a host offers, and at which addresses (`/.well-known/terraform.json`).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use reqwest::StatusCode;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use serde_json::Value;
use thiserror::Error;
use url::Url;

use crate::credentials::{Credentials, Token};
use crate::host::Host;
use crate::http::{Client, HttpError, Request, Response};

/// The service that offers providers.
pub const PROVIDERS: &str = "providers.v1";
/// The service that gives tokens.
pub const LOGIN: &str = "login.v1";
/// The service that offers modules.
pub const MODULES: &str = "modules.v1";

const PATH: &str = "/.well-known/terraform.json";
const MAX_DOCUMENT: u64 = 1 << 20;

/// Why the address of a service is not known.
#[derive(Debug, Clone, Error)]
pub enum DiscoveryError {
    /// The host did not answer, or not well.
    #[error("failed to request discovery document: {0}")]
    Request(#[source] HttpError),
    /// The answer is not JSON, by its own words.
    #[error("discovery URL {0}")]
    ContentType(String),
    /// The document cannot be read.
    #[error("failed to decode discovery document as a JSON object: {0}")]
    Document(String),
    /// The host offers no such service.
    #[error("host {host} does not provide a {service} service")]
    NotProvided {
        /// Which host.
        host: Host,
        /// Which service, without its version.
        service: String,
    },
    /// The host offers the service, in other versions.
    #[error("host {host} does not support {service} version {version}")]
    VersionNotSupported {
        /// Which host.
        host: Host,
        /// Which service.
        service: String,
        /// The version that was wanted.
        version: String,
    },
    /// The document has no usable address for the service.
    #[error("failed to parse service URL of {service} on {host}: {reason}")]
    ServiceUrl {
        /// Which host.
        host: Host,
        /// Which service.
        service: String,
        /// What is wrong.
        reason: String,
    },
}

/// Finds services. Cheap to clone; what was found out is shared.
#[derive(Clone)]
pub struct Discovery {
    client: Client,
    credentials: Arc<dyn Credentials>,
    known: Arc<Mutex<BTreeMap<Host, Arc<Services>>>>,
}

/// What one host offers.
#[derive(Debug)]
struct Services {
    base: Url,
    /// Values are mostly addresses; login services have objects.
    by_id: BTreeMap<String, Value>,
}

impl Discovery {
    /// Asks with this client, as the one that these credentials name.
    pub fn new(client: Client, credentials: Arc<dyn Credentials>) -> Self {
        Self { client, credentials, known: Arc::default() }
    }

    /// Says what a host offers, so that it is not asked (`host "x" { services = … }` of the CLI configuration).
    pub fn with_services(self, host: Host, services: BTreeMap<String, String>) -> Self {
        if let Some(base) = discovery_url(&host) {
            let by_id = services.into_iter().map(|(id, address)| (id, Value::String(address))).collect();
            self.remember(host, Services { base, by_id });
        }
        self
    }

    /// As [`Discovery::with_services`], with services that are described by more than an address.
    pub fn with_described_services(self, host: Host, by_id: BTreeMap<String, Value>) -> Self {
        if let Some(base) = discovery_url(&host) {
            self.remember(host, Services { base, by_id });
        }
        self
    }

    /// How a host describes a service such as [`LOGIN`], and the address that relative ones in it start from.
    pub async fn service_description(&self, host: &Host, service: &str) -> Result<(Url, Value), DiscoveryError> {
        let services = self.services(host).await?;
        Ok((services.base.clone(), services.described(host, service)?.clone()))
    }

    /// The client that it asks with.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The token for a host. Without one, and where it cannot be had, requests are anonymous.
    pub async fn token(&self, host: &Host) -> Option<Token> {
        match self.credentials.token(host).await {
            Ok(token) => token,
            Err(error) => {
                tracing::warn!(%host, %error, "no credentials: asking anonymously");
                None
            }
        }
    }

    /// The base address of a service such as [`PROVIDERS`], always with a slash at its end.
    pub async fn service_url(&self, host: &Host, service: &str) -> Result<Url, DiscoveryError> {
        let services = self.services(host).await?;
        let mut url = services.url(host, service)?;
        if !url.path().ends_with('/') {
            url.set_path(&format!("{}/", url.path()));
        }
        Ok(url)
    }

    async fn services(&self, host: &Host) -> Result<Arc<Services>, DiscoveryError> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(host).cloned();
        match known {
            Some(services) => Ok(services),
            None => Ok(self.remember(host.clone(), self.ask(host).await?)),
        }
    }

    fn remember(&self, host: Host, services: Services) -> Arc<Services> {
        let services = Arc::new(services);
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(host, services.clone());
        services
    }

    async fn ask(&self, host: &Host) -> Result<Services, DiscoveryError> {
        let Some(url) = discovery_url(host) else {
            let reason = "it is no address".to_owned();
            return Err(DiscoveryError::Request(HttpError::Address { url: host.to_string(), reason }));
        };
        let request = Request::get(url)
            .header(ACCEPT, HeaderValue::from_static("application/json"))
            .bearer(self.token(host).await);
        let response = self.client.get(&request, MAX_DOCUMENT).await.map_err(DiscoveryError::Request)?;
        if response.status == StatusCode::NOT_FOUND {
            return Ok(Services { base: response.url, by_id: BTreeMap::new() });
        }
        if response.status != StatusCode::OK {
            return Err(DiscoveryError::Request(response.status_error()));
        }
        check_content_type(&response)?;
        let by_id =
            serde_json::from_slice(&response.body).map_err(|error| DiscoveryError::Document(error.to_string()))?;
        // Relative addresses are relative to where the document was found in the end.
        Ok(Services { base: response.url, by_id })
    }
}

impl Services {
    /// What the host says about a service.
    fn described(&self, host: &Host, id: &str) -> Result<&Value, DiscoveryError> {
        let (service, version) = id.split_once('.').unwrap_or((id, ""));
        let Some(value) = self.by_id.get(id) else {
            let prefix = format!("{service}.");
            return Err(if self.by_id.keys().any(|other| other.starts_with(&prefix)) {
                let version = version.trim_start_matches('v').to_owned();
                DiscoveryError::VersionNotSupported { host: host.clone(), service: service.to_owned(), version }
            } else {
                DiscoveryError::NotProvided { host: host.clone(), service: service.to_owned() }
            });
        };
        Ok(value)
    }

    fn url(&self, host: &Host, id: &str) -> Result<Url, DiscoveryError> {
        let value = self.described(host, id)?;
        let bad = |reason: &str| DiscoveryError::ServiceUrl {
            host: host.clone(),
            service: id.to_owned(),
            reason: reason.to_owned(),
        };
        let address = value.as_str().ok_or_else(|| bad("it is no string"))?;
        let mut url = self.base.join(address).map_err(|error| bad(&error.to_string()))?;
        if !["https", "http"].contains(&url.scheme()) {
            return Err(bad(&format!("unsupported scheme {}", url.scheme())));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(bad("embedded username/password information is not permitted"));
        }
        url.set_fragment(None);
        Ok(url)
    }
}

fn discovery_url(host: &Host) -> Option<Url> {
    Url::parse(&format!("https://{}{PATH}", host.as_str())).ok()
}

fn check_content_type(response: &Response) -> Result<(), DiscoveryError> {
    let given = response.header(CONTENT_TYPE.as_str()).unwrap_or_default();
    let media = given.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if media == "application/json" {
        return Ok(());
    }
    let words = if media.contains('/') { "returned an unsupported" } else { "has a malformed" };
    Err(DiscoveryError::ContentType(format!("{words} Content-Type {given:?}")))
}

#[cfg(test)]
mod tests;
