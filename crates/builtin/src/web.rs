//! HTTP clients for the providers that need one: certificates, proxies, time limits. What is asked for is elsewhere.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use groma_network::{Networks, Refused, check_proxy, guarded, guarded_redirects};
use reqwest::{Certificate, Client, ClientBuilder, Identity, NoProxy, Proxy, redirect};

/// How a client is to be.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClientOptions {
    /// Certificates of the only authorities to trust, instead of the system's.
    pub(crate) ca_cert_pem: Option<String>,
    /// Whom the client says it is: its certificate and key.
    pub(crate) identity: Option<(String, String)>,
    /// Whether to trust anybody.
    pub(crate) insecure: bool,
    /// For one request.
    pub(crate) timeout: Option<Duration>,
    /// Where requests go through.
    pub(crate) proxies: Proxies,
    /// Where connections may lead. None for everywhere.
    pub(crate) networks: Option<Networks>,
}

/// Where requests go through.
#[derive(Debug, Clone, Default)]
pub(crate) enum Proxies {
    /// Nothing.
    #[default]
    None,
    /// One for everything.
    All(String),
    /// For each scheme, except for some hosts.
    BySchema {
        /// For `http`.
        http: Option<String>,
        /// For `https`.
        https: Option<String>,
        /// Hosts that are reached directly.
        except: Option<String>,
    },
}

impl Proxies {
    /// As the environment says it. Names may be in capitals or not.
    pub(crate) fn from_environment(environment: &BTreeMap<String, String>) -> Self {
        let find = |name: &str| {
            let value = environment.get(&name.to_uppercase()).or_else(|| environment.get(name));
            value.filter(|value| !value.is_empty()).cloned()
        };
        // Programs that are started by web servers get `HTTP_PROXY` from whoever sends a header of that name.
        let http = if environment.contains_key("REQUEST_METHOD") { None } else { find("http_proxy") };
        Self::BySchema { http, https: find("https_proxy"), except: find("no_proxy") }
    }

    /// Whether they may be connected to.
    fn check(&self, networks: Option<&Networks>) -> Result<(), Refused> {
        let named = match self {
            Self::None => [None, None],
            Self::All(url) => [Some(url), None],
            Self::BySchema { http, https, .. } => [http.as_ref(), https.as_ref()],
        };
        named.into_iter().flatten().try_for_each(|proxy| check_proxy(networks, proxy))
    }

    fn list(&self) -> Result<Vec<Proxy>, reqwest::Error> {
        // `proxy:3128` means `http://proxy:3128`.
        let with_scheme = |url: &str| if url.contains("://") { url.to_owned() } else { format!("http://{url}") };
        match self {
            Self::None => Ok(Vec::new()),
            Self::All(url) => Ok(vec![Proxy::all(with_scheme(url))?]),
            Self::BySchema { http, https, except } => {
                let except = except.as_deref().and_then(NoProxy::from_string);
                let mut list = Vec::new();
                if let Some(url) = http {
                    list.push(Proxy::http(with_scheme(url))?.no_proxy(except.clone()));
                }
                if let Some(url) = https {
                    list.push(Proxy::https(with_scheme(url))?.no_proxy(except));
                }
                Ok(list)
            }
        }
    }
}

/// Why there is no client.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClientError {
    /// No certificate in the text that should have them.
    #[error("no certificate of an authority could be read; only PEM encoded certificates are supported")]
    Authority,
    /// Certificate and key of the client cannot be used.
    #[error("{0}")]
    Identity(String),
    /// The proxy must not be connected to.
    #[error("the proxy cannot be used: {0}")]
    Proxy(#[from] Refused),
    /// Something else.
    #[error("{0}")]
    Other(#[from] reqwest::Error),
}

impl ClientOptions {
    /// Makes a client.
    pub(crate) fn build(&self) -> Result<Client, ClientError> {
        Ok(self.builder()?.build()?)
    }

    /// Makes what makes a client.
    pub(crate) fn builder(&self) -> Result<ClientBuilder, ClientError> {
        // The first one in the process decides; if another crate was first, that is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let networks = self.networks.as_ref();
        self.proxies.check(networks)?;
        let redirects = guarded_redirects(networks, redirect::Policy::limited(10));
        let mut builder = guarded(Client::builder().no_proxy().redirect(redirects), networks);
        for proxy in self.proxies.list()? {
            builder = builder.proxy(proxy);
        }
        if let Some(pem) = &self.ca_cert_pem {
            let certificates = Certificate::from_pem_bundle(pem.as_bytes()).map_err(|_| ClientError::Authority)?;
            if certificates.is_empty() {
                return Err(ClientError::Authority);
            }
            builder = builder.tls_certs_only(certificates);
        }
        if let Some((certificate, key)) = &self.identity {
            let both = format!("{}\n{}", certificate.trim_end(), key);
            let identity =
                Identity::from_pem(both.as_bytes()).map_err(|error| ClientError::Identity(error.to_string()))?;
            builder = builder.identity(identity);
        }
        if self.insecure {
            builder = builder.tls_danger_accept_invalid_certs(true);
        }
        if let Some(timeout) = self.timeout {
            builder = builder.timeout(timeout);
        }
        Ok(builder)
    }
}

/// An error with everything that caused it: what went wrong with a connection is at the end of the chain.
pub(crate) fn whole_story(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let said = inner.to_string();
        if !text.contains(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        cause = inner.source();
    }
    text
}

/// Reads a whole response, but not more than `limit` bytes of it.
pub(crate) async fn read_body(mut response: reqwest::Response, limit: usize) -> Result<Vec<u8>, String> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| whole_story(&error))? {
        if body.len() + chunk.len() > limit {
            return Err(format!("the response is larger than {limit} bytes"));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// How long the server asks to wait, in seconds or until a date; at most an hour.
pub(crate) fn retry_after(response: &reqwest::Response, now: SystemTime) -> Option<Duration> {
    let text = response.headers().get("retry-after")?.to_str().ok()?.trim();
    let wait = if let Ok(seconds) = text.parse() {
        Duration::from_secs(seconds)
    } else {
        let date = jiff::fmt::rfc2822::parse(text).ok()?.timestamp();
        SystemTime::from(date).duration_since(now).unwrap_or_default()
    };
    Some(wait.min(Duration::from_hours(1)))
}
