//! The client: sends requests, follows redirects, tries again, reads bodies within their limits.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use groma_network::{Refused, check_proxy, check_url, guarded};
use reqwest::StatusCode;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION};
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use tokio::io::{AsyncSeekExt, AsyncWriteExt};
use url::Url;

use super::error::{HttpError, causes};
use super::request::Request;
use super::retry;
use super::settings::ClientSettings;
use crate::host::Host;
use crate::progress::Progress;
use crate::redact;

/// How much of an error page is shown.
const MAX_DETAIL: usize = 300;

/// Makes requests. Cheap to clone; nothing is set up before the first request.
#[derive(Debug, Clone)]
pub struct Client {
    settings: Arc<ClientSettings>,
    inner: Arc<OnceLock<Result<reqwest::Client, HttpError>>>,
}

/// An answer that was read whole.
#[derive(Debug, Clone)]
pub struct Response {
    /// Where it came from, after redirects.
    pub url: Url,
    /// What the server says.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

/// A file that has arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Downloaded {
    /// The digest of its bytes.
    pub sha256: [u8; 32],
    /// How many there are.
    pub size: u64,
    /// Where they came from, after redirects.
    pub url: Url,
}

impl Client {
    /// A client with these settings. Cheap: connections, certificates and so on are made when first needed.
    pub fn new(settings: ClientSettings) -> Self {
        Self { settings: Arc::new(settings), inner: Arc::default() }
    }

    /// What it was made with.
    pub fn settings(&self) -> &ClientSettings {
        &self.settings
    }

    /// Sends a request and reads the whole answer, of at most `limit` bytes. Any status is an answer, also an error
    /// that persists after all retries.
    pub async fn get(&self, request: &Request, limit: u64) -> Result<Response, HttpError> {
        let retries = request.retries.unwrap_or(self.settings.retries);
        let timeout = request.timeout.unwrap_or(self.settings.request_timeout);
        let mut attempt = 0;
        loop {
            let exchange = async { self.send(request).await?.read_whole(limit).await };
            let result = within(timeout, &request.url, exchange).await;
            let headers = match &result {
                Ok(response) if retry::is_transient(response.status) => Some(&response.headers),
                Err(error) if error.is_transient() => None,
                _ => return result,
            };
            if attempt >= retries {
                return result;
            }
            self.wait(&request.url, attempt, headers).await;
            attempt += 1;
        }
    }

    /// Sends a form, once, and reads the whole answer, of at most `limit` bytes. A redirect is an answer like others: what is in
    /// the form is for this address alone.
    pub async fn post_form(&self, request: &Request, form: &[(&str, &str)], limit: u64) -> Result<Response, HttpError> {
        let url = &request.url;
        self.check_address(url, request.plain_http)?;
        let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
        let outgoing = self.connected()?.post(url.clone()).headers(request.headers.clone()).body(body);
        let outgoing = outgoing.header(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
        let exchange = async {
            let inner = outgoing.send().await.map_err(|error| transport_error(url, &error))?;
            Answer { url: url.clone(), inner }.read_whole(limit).await
        };
        within(request.timeout.unwrap_or(self.settings.request_timeout), url, exchange).await
    }

    /// The body of a successful answer.
    pub async fn get_bytes(&self, request: &Request, limit: u64) -> Result<Bytes, HttpError> {
        Ok(self.get(request, limit).await?.into_success()?.body)
    }

    /// The body of a successful answer, as JSON.
    pub async fn get_json<T: DeserializeOwned>(&self, request: &Request, limit: u64) -> Result<T, HttpError> {
        self.get(request, limit).await?.into_success()?.json()
    }

    /// Streams what is at an address into a file, from its beginning, and hashes it on the way. After a broken attempt
    /// the file is emptied and filled again.
    pub async fn download(
        &self,
        request: &Request,
        file: &std::fs::File,
        limit: u64,
        progress: &dyn Progress,
    ) -> Result<Downloaded, HttpError> {
        let write_error = |error: std::io::Error| write_error(&request.url, &error);
        let mut file = tokio::fs::File::from_std(file.try_clone().map_err(write_error)?);
        let retries = request.retries.unwrap_or(self.settings.download_retries);
        let mut attempt = 0;
        loop {
            file.set_len(0).await.map_err(write_error)?;
            file.rewind().await.map_err(write_error)?;
            let result = self.download_once(request, &mut file, limit, progress).await;
            let failed = match result {
                Ok(downloaded) => return Ok(downloaded),
                Err(failed) => failed,
            };
            let transient = failed.error.is_transient() || failed.error.status().is_some_and(retry::is_transient);
            if !transient || attempt >= retries {
                return Err(failed.error);
            }
            self.wait(&request.url, attempt, failed.headers.as_ref()).await;
            attempt += 1;
        }
    }

    async fn download_once(
        &self,
        request: &Request,
        file: &mut tokio::fs::File,
        limit: u64,
        progress: &dyn Progress,
    ) -> Result<Downloaded, FailedDownload> {
        let timeout = request.timeout.unwrap_or(self.settings.request_timeout).max(self.settings.connect_timeout);
        let answer = within(timeout, &request.url, self.send(request)).await?;
        if !answer.inner.status().is_success() {
            let whole = within(timeout, &request.url, answer.read_whole(64 << 10)).await?;
            return Err(FailedDownload { error: whole.status_error(), headers: Some(whole.headers) });
        }
        let total = answer.inner.content_length();
        if total.is_some_and(|total| total > limit) {
            return Err(HttpError::TooLarge { url: redact::url(&answer.url), limit }.into());
        }
        progress.started(&request.shown_label(), total);
        let result = answer.stream_into(file, (limit, self.settings.idle_timeout), progress).await;
        progress.finished();
        Ok(result?)
    }

    async fn wait(&self, url: &Url, attempt: u32, headers: Option<&HeaderMap>) {
        let pause = retry::pause(&self.settings, attempt, headers);
        tracing::debug!(url = %redact::url(url), attempt, ?pause, "trying again");
        tokio::time::sleep(pause).await;
    }

    /// Sends a request and follows redirects, until there is an answer with a body.
    async fn send(&self, request: &Request) -> Result<Answer, HttpError> {
        let client = self.connected()?;
        let origin = Origin::of(&request.url);
        let mut url = request.url.clone();
        for _ in 0..=self.settings.max_redirects {
            self.check_address(&url, request.plain_http)?;
            // The token was given for one host. Any other, even one further down a redirect, must not see it.
            let at_origin = Origin::of(&url) == origin;
            let mut outgoing = client.get(url.clone()).headers(request.headers.clone());
            if let Some(token) = request.token.as_ref().filter(|_| at_origin) {
                outgoing = outgoing.header(AUTHORIZATION, bearer(&url, token.reveal())?);
            }
            let response = outgoing.send().await.map_err(|error| transport_error(&url, &error))?;
            let Some(next) = redirect_target(&url, &response)? else {
                return Ok(Answer { url, inner: response });
            };
            tracing::debug!(from = %redact::url(&url), to = %redact::url(&next), "redirected");
            url = next;
        }
        let reason = format!("more than {} times", self.settings.max_redirects);
        Err(HttpError::Redirect { url: redact::url(&request.url), reason })
    }

    /// Names are judged when they are looked up.
    fn check_address(&self, url: &Url, plain_http: bool) -> Result<(), HttpError> {
        check_scheme(url, plain_http)?;
        check_url(self.settings.networks.as_ref(), url).map_err(|refused| refused_address(url, &refused))
    }

    fn connected(&self) -> Result<&reqwest::Client, HttpError> {
        self.inner.get_or_init(|| build(&self.settings)).as_ref().map_err(Clone::clone)
    }
}

impl Response {
    /// The answer, if the status is a success.
    pub fn into_success(self) -> Result<Self, HttpError> {
        if self.status.is_success() { Ok(self) } else { Err(self.status_error()) }
    }

    /// The status as an error, with what the server says about it.
    pub fn status_error(&self) -> HttpError {
        let is_text = std::str::from_utf8(&self.body).ok().map(str::trim);
        let detail = is_text.filter(|text| !text.is_empty() && !text.starts_with('<')).map(|text| {
            let clean: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MAX_DETAIL).collect();
            redact::text(&clean)
        });
        HttpError::Status { url: redact::url(&self.url), status: self.status, detail }
    }

    /// The body as JSON.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, HttpError> {
        serde_json::from_slice(&self.body).map_err(|error| self.malformed(error.to_string()))
    }

    /// A header, if it is there and is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// An error about the content of this answer.
    pub fn malformed(&self, reason: impl Into<String>) -> HttpError {
        HttpError::Malformed { url: redact::url(&self.url), reason: reason.into() }
    }
}

/// A download that failed, and what the server said with it.
struct FailedDownload {
    error: HttpError,
    headers: Option<HeaderMap>,
}

impl From<HttpError> for FailedDownload {
    fn from(error: HttpError) -> Self {
        Self { error, headers: None }
    }
}

/// An answer whose body has not been read.
struct Answer {
    url: Url,
    inner: reqwest::Response,
}

impl Answer {
    async fn read_whole(self, limit: u64) -> Result<Response, HttpError> {
        let (url, status, headers) = (self.url, self.inner.status(), self.inner.headers().clone());
        let too_large = || HttpError::TooLarge { url: redact::url(&url), limit };
        if self.inner.content_length().is_some_and(|length| length > limit) {
            return Err(too_large());
        }
        let mut body = Vec::new();
        let mut stream = self.inner.bytes_stream();
        while let Some(chunk) = stream.next().await {
            let chunk = chunk.map_err(|error| transport_error(&url, &error))?;
            if (body.len() + chunk.len()) as u64 > limit {
                return Err(too_large());
            }
            body.extend_from_slice(&chunk);
        }
        Ok(Response { url, status, headers, body: body.into() })
    }

    async fn stream_into(
        self,
        file: &mut tokio::fs::File,
        (limit, idle): (u64, Duration),
        progress: &dyn Progress,
    ) -> Result<Downloaded, HttpError> {
        let url = self.url;
        let promised = self.inner.content_length();
        let mut digest = Sha256::new();
        let mut size: u64 = 0;
        let mut stream = self.inner.bytes_stream();
        while let Some(chunk) = within(idle, &url, async { Ok(stream.next().await) }).await? {
            let chunk = chunk.map_err(|error| transport_error(&url, &error))?;
            size = size.saturating_add(chunk.len() as u64);
            if size > limit {
                return Err(HttpError::TooLarge { url: redact::url(&url), limit });
            }
            digest.update(&chunk);
            file.write_all(&chunk).await.map_err(|error| write_error(&url, &error))?;
            progress.advanced(chunk.len() as u64);
        }
        file.flush().await.map_err(|error| write_error(&url, &error))?;
        if let Some(promised) = promised.filter(|promised| *promised != size) {
            return Err(HttpError::Incomplete { url: redact::url(&url), promised, received: size });
        }
        Ok(Downloaded { sha256: digest.finalize().into(), size, url })
    }
}

/// Whom a credential is for.
#[derive(PartialEq, Eq)]
struct Origin(String, Option<Host>);

impl Origin {
    fn of(url: &Url) -> Self {
        Self(url.scheme().to_owned(), Host::of_url(url))
    }
}

async fn within<T>(
    timeout: Duration,
    url: &Url,
    work: impl Future<Output = Result<T, HttpError>>,
) -> Result<T, HttpError> {
    let elapsed = |_| HttpError::Timeout { url: redact::url(url), seconds: timeout.as_secs() };
    tokio::time::timeout(timeout, work).await.map_err(elapsed)?
}

fn check_scheme(url: &Url, plain_http: bool) -> Result<(), HttpError> {
    let refuse = |reason: String| Err(HttpError::Address { url: redact::url(url), reason });
    match url.scheme() {
        "https" => Ok(()),
        "http" if plain_http => Ok(()),
        "http" => refuse("plain http is not allowed here; use https".to_owned()),
        other => refuse(format!("{other} is not a scheme that can be requested")),
    }
}

/// Where a redirect leads, if the answer is one.
fn redirect_target(url: &Url, response: &reqwest::Response) -> Result<Option<Url>, HttpError> {
    let status = response.status().as_u16();
    if ![301, 302, 303, 307, 308].contains(&status) {
        return Ok(None);
    }
    let refuse = |reason: &str| HttpError::Redirect { url: redact::url(url), reason: reason.to_owned() };
    let location = response.headers().get(LOCATION).ok_or_else(|| refuse("without saying where to"))?;
    let location = location.to_str().map_err(|_| refuse("to an address that is no text"))?;
    let next = url.join(location).map_err(|_| refuse("to something that is no address"))?;
    if url.scheme() == "https" && next.scheme() != "https" {
        return Err(refuse("from https to an unprotected address"));
    }
    Ok(Some(next))
}

fn bearer(url: &Url, secret: &str) -> Result<HeaderValue, HttpError> {
    let bad =
        |_| HttpError::Address { url: redact::url(url), reason: "the token for it has bad characters".to_owned() };
    let mut value = HeaderValue::from_str(&format!("Bearer {secret}")).map_err(bad)?;
    value.set_sensitive(true);
    Ok(value)
}

fn refused_address(url: &Url, refused: &Refused) -> HttpError {
    HttpError::Address { url: redact::url(url), reason: refused.to_string() }
}

fn transport_error(url: &Url, error: &reqwest::Error) -> HttpError {
    if let Some(refused) = Refused::behind(error) {
        return refused_address(url, refused);
    }
    let url = redact::url(url);
    if error.is_builder() {
        return HttpError::Address { url, reason: causes(error) };
    }
    HttpError::Connection { url, reason: causes(error) }
}

fn write_error(url: &Url, error: &std::io::Error) -> HttpError {
    HttpError::Write { url: redact::url(url), reason: error.to_string() }
}

fn build(settings: &ClientSettings) -> Result<reqwest::Client, HttpError> {
    // One process has one crypto provider; another client may have set it already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let setup = |error: reqwest::Error| HttpError::Setup(format!("{error}: {}", causes(&error)));
    let networks = settings.networks.as_ref();
    for proxy in [&settings.proxy.http, &settings.proxy.https].into_iter().flatten() {
        check_proxy(networks, proxy)
            .map_err(|refused| HttpError::Setup(format!("the proxy cannot be used: {refused}")))?;
    }
    let mut builder = guarded(reqwest::Client::builder(), networks)
        .user_agent(&settings.user_agent)
        .connect_timeout(settings.connect_timeout)
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .no_proxy();
    for pem in &settings.extra_roots {
        let certificates = reqwest::Certificate::from_pem_bundle(pem).map_err(setup)?;
        builder = builder.tls_certs_merge(certificates);
    }
    let direct = format!("localhost,127.0.0.0/8,::1,{}", settings.proxy.no_proxy.as_deref().unwrap_or_default());
    let no_proxy = reqwest::NoProxy::from_string(&direct);
    if let Some(proxy) = settings.proxy.http.as_deref().filter(|proxy| !proxy.is_empty()) {
        builder = builder.proxy(reqwest::Proxy::http(proxy).map_err(setup)?.no_proxy(no_proxy.clone()));
    }
    if let Some(proxy) = settings.proxy.https.as_deref().filter(|proxy| !proxy.is_empty()) {
        builder = builder.proxy(reqwest::Proxy::https(proxy).map_err(setup)?.no_proxy(no_proxy));
    }
    builder.build().map_err(setup)
}
