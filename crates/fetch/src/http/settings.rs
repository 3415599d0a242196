//! What a client is told when it is made. Nothing is read from the environment here.

use std::time::Duration;

use groma_network::Networks;

/// How requests are made.
#[derive(Debug, Clone)]
pub struct ClientSettings {
    /// Who we say we are.
    pub user_agent: String,
    /// How long connecting may take.
    pub connect_timeout: Duration,
    /// How long one whole exchange may take, for small answers (`TF_REGISTRY_CLIENT_TIMEOUT`).
    pub request_timeout: Duration,
    /// How long a download may stand still.
    pub idle_timeout: Duration,
    /// How many times a small request is tried again (`TF_REGISTRY_DISCOVERY_RETRY`).
    pub retries: u32,
    /// How many times a download is tried again (`TF_PROVIDER_DOWNLOAD_RETRY`).
    pub download_retries: u32,
    /// The first pause before trying again; it doubles each time.
    pub backoff: Duration,
    /// No pause is longer than this, whatever a server asks for.
    pub max_backoff: Duration,
    /// How many redirects are followed.
    pub max_redirects: usize,
    /// Proxies.
    pub proxy: ProxySettings,
    /// Certificates (PEM) that are trusted besides the system's. The system's come from `SSL_CERT_FILE` and
    /// `SSL_CERT_DIR`, if these are set.
    pub extra_roots: Vec<Vec<u8>>,
    /// Where connections may lead. None for everywhere.
    pub networks: Option<Networks>,
}

/// Which proxies to use. The caller takes them from `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`.
#[derive(Debug, Clone, Default)]
pub struct ProxySettings {
    /// For `http://`.
    pub http: Option<String>,
    /// For `https://`.
    pub https: Option<String>,
    /// Hosts that are reached directly, separated by commas. Loopback always is.
    pub no_proxy: Option<String>,
}

impl Default for ClientSettings {
    fn default() -> Self {
        Self {
            user_agent: concat!("groma/", env!("CARGO_PKG_VERSION")).to_owned(),
            connect_timeout: Duration::from_secs(10),
            request_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_mins(1),
            retries: 1,
            download_retries: 2,
            backoff: Duration::from_millis(500),
            max_backoff: Duration::from_secs(30),
            max_redirects: 10,
            proxy: ProxySettings::default(),
            extra_roots: Vec::new(),
            networks: None,
        }
    }
}
