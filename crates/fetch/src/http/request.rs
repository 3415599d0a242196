//! One request, before it is sent.

use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use url::Url;

use crate::credentials::Token;

/// A request, mostly to GET something.
#[derive(Debug, Clone)]
pub struct Request {
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) token: Option<Token>,
    pub(super) plain_http: bool,
    pub(super) timeout: Option<Duration>,
    pub(super) retries: Option<u32>,
    pub(super) label: Option<String>,
}

impl Request {
    /// Asks for what is at a URL. User and password in it become basic authentication.
    pub fn get(url: Url) -> Self {
        Self {
            url,
            headers: HeaderMap::new(),
            token: None,
            plain_http: false,
            timeout: None,
            retries: None,
            label: None,
        }
    }

    /// Sends a token, to the host (and port) of the URL only: it does not follow a redirect to another one.
    pub fn bearer(mut self, token: Option<Token>) -> Self {
        self.token = token;
        self
    }

    /// Allows `http://`, where the protocol does. A redirect never leads from https to http.
    pub fn plain_http(mut self, allowed: bool) -> Self {
        self.plain_http = allowed;
        self
    }

    /// Another time limit than the client's.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Another number of retries than the client's.
    pub fn retries(mut self, retries: u32) -> Self {
        self.retries = Some(retries);
        self
    }

    /// What a progress display calls it; otherwise the last part of the path.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Adds a header. One with a credential in it belongs into [`Request::bearer`].
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// Where it goes.
    pub fn url(&self) -> &Url {
        &self.url
    }

    pub(super) fn shown_label(&self) -> String {
        self.label.clone().unwrap_or_else(|| {
            let last = self.url.path_segments().and_then(|mut parts| parts.rfind(|part| !part.is_empty()));
            last.or(self.url.host_str()).unwrap_or_default().to_owned()
        })
    }
}
