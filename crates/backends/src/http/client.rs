//! Requests of the `http` backend: who asks, whom is trusted, and how often it is tried. What answers mean is for the store.

use std::error::Error;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use groma_network::{Networks, Refused, check_proxy, check_url, guarded, guarded_redirects};
use md5::{Digest as _, Md5};
use reqwest::header::{CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use reqwest::{Certificate, Method, NoProxy, Proxy, StatusCode};
use url::Url;

use crate::{Surroundings, Variables};

/// How long connecting may take.
const CONNECT: Duration = Duration::from_secs(30);
/// How long a server may say nothing in the middle of an answer.
const PATIENCE: Duration = Duration::from_mins(2);

/// How often a request is tried again, and when.
#[derive(Debug, Clone, Copy)]
pub(super) struct Retries {
    pub(super) most: u64,
    pub(super) shortest: Duration,
    pub(super) longest: Duration,
}

impl Retries {
    /// How long to wait after so many tries.
    fn wait(&self, tried: u64, answer: Option<&reqwest::Response>) -> Duration {
        let asked_for = answer
            .filter(|answer| matches!(answer.status().as_u16(), 429 | 503))
            .and_then(|answer| answer.headers().get(RETRY_AFTER)?.to_str().ok()?.parse().ok())
            .map(Duration::from_secs);
        let doubled = 2u32.saturating_pow(u32::try_from(tried.saturating_sub(1)).unwrap_or(u32::MAX));
        asked_for.unwrap_or_else(|| self.shortest.saturating_mul(doubled)).min(self.longest.max(self.shortest))
    }
}

/// Who this is, for servers that ask for a certificate.
#[derive(Debug, Clone)]
pub(super) struct Identity {
    pub(super) certificate: String,
    pub(super) key: String,
}

/// Whom to trust.
#[derive(Debug, Clone, Default)]
pub(super) struct Tls {
    pub(super) roots: Option<String>,
    pub(super) identity: Option<Identity>,
    pub(super) trust_anybody: bool,
}

/// An answer, read to its end.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) body: Vec<u8>,
}

/// Makes requests.
#[derive(Clone)]
pub(super) struct Client {
    inner: reqwest::Client,
    headers: HeaderMap,
    basic: Option<(String, String)>,
    retries: Retries,
    /// Where connections may lead. None for everywhere.
    networks: Option<Networks>,
}

impl Client {
    pub(super) fn new(
        headers: HeaderMap,
        basic: Option<(String, String)>,
        retries: Retries,
        tls: &Tls,
        surroundings: &Surroundings,
    ) -> Result<Self, String> {
        let networks = surroundings.limits.networks.clone();
        // One process has one crypto provider; another client may have set it already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let redirects = guarded_redirects(networks.as_ref(), reqwest::redirect::Policy::default());
        let mut builder = guarded(reqwest::Client::builder(), networks.as_ref())
            .redirect(redirects)
            .user_agent(concat!("groma/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT)
            .read_timeout(PATIENCE)
            .retry(reqwest::retry::never())
            .no_proxy();
        if let Some(roots) = &tls.roots {
            let roots = Certificate::from_pem_bundle(roots.as_bytes()).map_err(|error| causes(&error))?;
            if roots.is_empty() {
                return Err("there is no certificate in client_ca_certificate_pem".to_owned());
            }
            builder = builder.tls_certs_only(roots);
        }
        if let Some(Identity { certificate, key }) = &tls.identity {
            let identity = reqwest::Identity::from_pem(format!("{certificate}\n{key}").as_bytes());
            builder = builder
                .identity(identity.map_err(|error| format!("cannot load client certificate: {}", causes(&error)))?);
        }
        builder = builder.tls_danger_accept_invalid_certs(tls.trust_anybody);
        for proxy in proxies(&surroundings.variable, networks.as_ref())? {
            builder = builder.proxy(proxy);
        }
        let inner = builder.build().map_err(|error| causes(&error))?;
        Ok(Self { inner, headers, basic, retries, networks })
    }

    /// Sends a request, again and again if that may help.
    pub(super) async fn send(&self, method: &Method, url: &Url, body: Option<&[u8]>) -> Result<Answer, String> {
        check_url(self.networks.as_ref(), url).map_err(|refused| refused.to_string())?;
        let mut tried = 0;
        loop {
            tried += 1;
            let may_try_again = tried <= self.retries.most;
            match self.request(method, url, body).send().await {
                Ok(answer) if may_try_again && is_passing(answer.status()) => {
                    tokio::time::sleep(self.retries.wait(tried, Some(&answer))).await;
                }
                Ok(answer) => {
                    let status = answer.status();
                    match answer.bytes().await {
                        Ok(body) => return Ok(Answer { status, body: body.to_vec() }),
                        Err(_) if may_try_again => tokio::time::sleep(self.retries.wait(tried, None)).await,
                        Err(error) => return Err(format!("the answer broke off: {}", causes(&error.without_url()))),
                    }
                }
                Err(error) if Refused::behind(&error).is_some() => {
                    return Err(Refused::behind(&error).map(ToString::to_string).unwrap_or_default());
                }
                Err(error) if may_try_again && !error.is_builder() && !error.is_redirect() => {
                    tokio::time::sleep(self.retries.wait(tried, None)).await;
                }
                Err(error) => {
                    let times = if tried == 1 { "once".to_owned() } else { format!("{tried} times") };
                    return Err(format!("{} (tried {times})", causes(&error.without_url())));
                }
            }
        }
    }

    fn request(&self, method: &Method, url: &Url, body: Option<&[u8]>) -> reqwest::RequestBuilder {
        let mut request = self.inner.request(method.clone(), url.clone()).headers(self.headers.clone());
        if let Some((username, password)) = &self.basic {
            request = request.basic_auth(username, Some(password));
        }
        if let Some(body) = body {
            request = request
                .header(CONTENT_TYPE, "application/json")
                .header("Content-MD5", STANDARD.encode(Md5::digest(body)))
                .body(body.to_vec());
        }
        request
    }
}

/// Whether a server may answer differently soon.
fn is_passing(status: StatusCode) -> bool {
    status == StatusCode::TOO_MANY_REQUESTS || (status.is_server_error() && status != StatusCode::NOT_IMPLEMENTED)
}

/// The proxies that the environment names.
fn proxies(variable: &Variables, networks: Option<&Networks>) -> Result<Vec<Proxy>, String> {
    let named = |upper: &str| {
        let found = variable(upper).or_else(|| variable(&upper.to_ascii_lowercase()));
        found.filter(|value| !value.is_empty())
    };
    let direct = format!("localhost,127.0.0.0/8,::1,{}", named("NO_PROXY").unwrap_or_default());
    let direct = NoProxy::from_string(&direct);
    for address in [named("HTTP_PROXY"), named("HTTPS_PROXY")].iter().flatten() {
        check_proxy(networks, address).map_err(|refused| format!("the proxy cannot be used: {refused}"))?;
    }
    let mut proxies = Vec::new();
    if let Some(address) = named("HTTP_PROXY") {
        proxies.push(Proxy::http(address).map_err(|error| causes(&error.without_url()))?.no_proxy(direct.clone()));
    }
    if let Some(address) = named("HTTPS_PROXY") {
        proxies.push(Proxy::https(address).map_err(|error| causes(&error.without_url()))?.no_proxy(direct));
    }
    Ok(proxies)
}

/// An error with everything that has led to it, each thing once.
fn causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        next = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_longest() {
        let retries = Retries { most: 9, shortest: Duration::from_secs(1), longest: Duration::from_secs(30) };
        let waits: Vec<u64> = (1..9).map(|tried| retries.wait(tried, None).as_secs()).collect();
        assert_eq!(waits, [1, 2, 4, 8, 16, 30, 30, 30]);
        assert_eq!(retries.wait(u64::MAX, None).as_secs(), 30);
    }

    #[test]
    fn only_what_may_pass_is_tried_again() {
        let passing = |code: u16| is_passing(StatusCode::from_u16(code).unwrap());
        assert!(passing(429) && passing(500) && passing(503));
        assert!(!passing(501) && !passing(404) && !passing(423) && !passing(200));
    }
}
