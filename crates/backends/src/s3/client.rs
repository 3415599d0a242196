//! Requests to an S3 server: signed, tried again where that may help, and their errors in words. What objects mean is for others.

use std::error::Error as _;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use groma_network::{Networks, Refused, check_url};
use groma_state::{LockError, StoreError};
use http::header::{CONTENT_TYPE, ETAG, IF_MATCH, IF_NONE_MATCH};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use md5::{Digest as _, Md5};
use reqsign_aws_v4::Credential;
use reqsign_core::Signer;
use sha2::Sha256;
use tokio::task::JoinSet;

use super::location::Location;
use super::options::{Extras, extras, web_client};
use super::xml::{self, Found};
use super::{credentials, lock};
use crate::settings::Settings;
use crate::{BackendError, Surroundings};

/// How many requests are under way at the same time, where there are many.
const AT_ONCE: usize = 16;
/// The first wait before a request is tried again; each one is twice as long as the last.
const FIRST_WAIT: Duration = Duration::from_millis(100);
const LONGEST_WAIT: Duration = Duration::from_secs(5);
/// What to do if a server does not know who asks.
const CHECK_CREDENTIALS: &str = "Check the credentials: access_key and secret_key, AWS_ACCESS_KEY_ID and \
     AWS_SECRET_ACCESS_KEY, or the profile";
/// How often to read an object that changes while it is read.
const READS: usize = 20;
/// How often to try if others change the same object at the very same time.
const COLLISIONS: u64 = 10;

/// Something that failed.
#[derive(Debug)]
pub(super) struct Trouble {
    doing: String,
    /// What the server calls it. Empty if it was not the server.
    pub(super) code: String,
    reason: String,
}

impl Trouble {
    pub(super) fn new(doing: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { doing: doing.into(), code: String::new(), reason: reason.into() }
    }

    pub(super) fn backend(self) -> BackendError {
        BackendError::Remote { doing: self.doing, source: self.reason.into() }
    }

    pub(super) fn store(self) -> StoreError {
        StoreError::Remote { doing: self.doing, source: self.reason.into() }
    }

    pub(super) fn lock(self) -> LockError {
        LockError::Remote { doing: self.doing, source: self.reason.into() }
    }

    pub(super) fn io(self) -> std::io::Error {
        std::io::Error::other(format!("could not {}: {}", self.doing, self.reason))
    }
}

/// An object as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Object {
    pub(super) bytes: Vec<u8>,
    /// Changes whenever the object does.
    pub(super) etag: String,
}

/// When to write.
#[derive(Debug, Clone, Copy)]
pub(super) enum Condition<'c> {
    /// There is nothing.
    Absent,
    /// It is still this.
    Is(&'c str),
}

/// What kind of object is written, for its tags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    State,
    Lock,
    Journal,
}

/// Makes requests for the objects of one bucket.
pub(super) struct Client {
    inner: reqwest::Client,
    signer: Signer<Credential>,
    location: Location,
    bucket: String,
    extras: Extras,
    retries: u64,
    /// Where connections may lead. None for everywhere.
    networks: Option<Networks>,
}

/// An answer, read to its end.
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
}

impl Client {
    /// From settings and variables. None if they cannot be used, which is said there.
    pub(super) fn new(settings: &mut Settings<'_>, surroundings: &Surroundings, bucket: &str) -> Option<Self> {
        let location = Location::new(settings, surroundings, bucket);
        let extras = extras(settings);
        let retries = settings.count("max_retries", "AWS_MAX_ATTEMPTS", 5);
        let inner = web_client(settings, surroundings).map_err(|wrong| settings.wrong.push(wrong)).ok()?;
        let location = location?;
        let signer = credentials::signer(settings, surroundings, &inner, &location.region)?;
        let networks = surroundings.limits.networks.clone();
        Some(Self { inner, signer, location, bucket: bucket.to_owned(), extras: extras?, retries, networks })
    }

    /// An object. None if there is none.
    pub(super) async fn get(&self, key: &str) -> Result<Option<Object>, Trouble> {
        let mut before = None;
        for _ in 0..READS {
            let Some((object, fits)) = self.get_once(key).await? else { return Ok(None) };
            // Some servers keep tags apart from objects, and may answer with an old object and a new tag while it is replaced.
            // What is written over that would undo the replacement.
            if fits || before.as_ref() == Some(&object) {
                return Ok(Some(object));
            }
            before = Some(object);
        }
        let doing = format!("read s3://{}/{key}", self.bucket);
        Err(Trouble::new(doing, "it changes faster than it can be read"))
    }

    /// An object, and whether its tag is known to be of what was read.
    async fn get_once(&self, key: &str) -> Result<Option<(Object, bool)>, Trouble> {
        let doing = format!("read s3://{}/{key}", self.bucket);
        let headers = self.extras.customer_key.iter().cloned().collect();
        let answer = self.send(&doing, &Method::GET, &self.location.object(key), headers, &Bytes::new()).await?;
        if answer.is_missing() {
            return Ok(None);
        }
        let answer = self.expect_success(&doing, answer)?;
        let fits = answer.tag_fits();
        Ok(Some((Object { etag: answer.etag(), bytes: answer.body.into() }, fits)))
    }

    /// Writes an object under a condition. The new tag, or none if the condition does not hold, perhaps because of this very
    /// call, if the first answer was lost.
    pub(super) async fn put(
        &self,
        key: &str,
        bytes: Vec<u8>,
        condition: Condition<'_>,
        what: What,
    ) -> Result<Option<String>, Trouble> {
        let doing = format!("write s3://{}/{key}", self.bucket);
        let mut headers: HeaderMap = self.extras.customer_key.iter().chain(&self.extras.writing).cloned().collect();
        let tags = match what {
            What::State => self.extras.state_tags.as_ref(),
            What::Lock => self.extras.lock_tags.as_ref(),
            What::Journal => None,
        };
        if let Some(tags) = tags {
            headers.insert(HeaderName::from_static("x-amz-tagging"), tags.clone());
        }
        let kind = if what == What::Journal { "application/octet-stream" } else { "application/json" };
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        if self.extras.checksums {
            let sum = STANDARD.encode(Sha256::digest(&bytes));
            insert(&mut headers, "x-amz-checksum-sha256", &sum);
        }
        match condition {
            Condition::Absent => drop(headers.insert(IF_NONE_MATCH, HeaderValue::from_static("*"))),
            Condition::Is(etag) => insert(&mut headers, IF_MATCH.as_str(), etag),
        }
        let body = Bytes::from(bytes);
        let answer = self.send(&doing, &Method::PUT, &self.location.object(key), headers, &body).await?;
        // What was to be replaced may be gone.
        if answer.status == StatusCode::PRECONDITION_FAILED || answer.is_missing() {
            return Ok(None);
        }
        Ok(Some(self.expect_success(&doing, answer)?.etag()))
    }

    /// Deletes an object, if it is still the same where the server can tell. False if it is not.
    pub(super) async fn delete(&self, key: &str, etag: Option<&str>) -> Result<bool, Trouble> {
        let doing = format!("delete s3://{}/{key}", self.bucket);
        let mut headers = HeaderMap::new();
        if let Some(etag) = etag {
            insert(&mut headers, IF_MATCH.as_str(), etag);
        }
        let conditional = !headers.is_empty();
        let answer = self.send(&doing, &Method::DELETE, &self.location.object(key), headers, &Bytes::new()).await?;
        if answer.status == StatusCode::PRECONDITION_FAILED {
            return Ok(false);
        }
        if answer.status == StatusCode::NOT_IMPLEMENTED && conditional {
            return Box::pin(self.delete(key, None)).await;
        }
        if answer.is_missing() {
            return Ok(true);
        }
        self.expect_success(&doing, answer).map(|_| true)
    }

    /// All objects whose keys begin so.
    pub(super) async fn list(&self, prefix: &str) -> Result<Vec<Found>, Trouble> {
        let doing = format!("list s3://{}/{prefix}", self.bucket);
        let mut all = Vec::new();
        let mut next: Option<String> = None;
        loop {
            let url = self.location.listing(prefix, next.as_deref());
            let answer = self.send(&doing, &Method::GET, &url, HeaderMap::new(), &Bytes::new()).await?;
            let answer = self.expect_success(&doing, answer)?;
            let page =
                xml::listing(&String::from_utf8_lossy(&answer.body)).map_err(|reason| Trouble::new(&doing, reason))?;
            all.extend(page.found);
            match page.next {
                Some(token) if next.as_ref() != Some(&token) => next = Some(token),
                _ => return Ok(all),
            }
        }
    }

    /// Reads many objects, in the same order.
    pub(super) async fn get_all(client: &Arc<Self>, keys: Vec<String>) -> Result<Vec<Option<Object>>, Trouble> {
        let work = |key: String| {
            let client = Arc::clone(client);
            async move { client.get(&key).await }
        };
        many(keys, work).await
    }

    /// Deletes many objects.
    pub(super) async fn delete_all(client: &Arc<Self>, keys: Vec<String>) -> Result<(), Trouble> {
        let work = |key: String| {
            let client = Arc::clone(client);
            async move { client.delete(&key, None).await }
        };
        many(keys, work).await.map(drop)
    }

    /// Sends a request until there is an answer that will not get better.
    async fn send(
        &self,
        doing: &str,
        method: &Method,
        url: &str,
        headers: HeaderMap,
        body: &Bytes,
    ) -> Result<Answer, Trouble> {
        let mut tried = 0;
        let mut wait = FIRST_WAIT;
        loop {
            let answer = self.send_once(doing, method, url, &headers, body).await;
            tried += 1;
            let again = match &answer {
                Ok(answer) if answer.status == StatusCode::CONFLICT => tried <= self.retries.max(COLLISIONS),
                Ok(answer) => tried <= self.retries && is_passing(answer),
                Err(Failed::Way(_)) => tried <= self.retries,
                Err(Failed::Ours(_)) => false,
            };
            if !again {
                return answer.map_err(Failed::trouble);
            }
            tokio::time::sleep(wait).await;
            wait = LONGEST_WAIT.min(wait * 2);
        }
    }

    async fn send_once(
        &self,
        doing: &str,
        method: &Method,
        url: &str,
        headers: &HeaderMap,
        body: &Bytes,
    ) -> Result<Answer, Failed> {
        let ours = |reason: String| Failed::Ours(Trouble::new(doing, reason));
        let request = http::Request::builder()
            .method(method.clone())
            .uri(url)
            .body(())
            .map_err(|error| ours(error.to_string()))?;
        let (mut parts, ()) = request.into_parts();
        parts.headers = headers.clone();
        insert(&mut parts.headers, "x-amz-content-sha256", &hex(&Sha256::digest(body)));
        self.signer.sign(&mut parts, None).await.map_err(|error| ours(credentials::explain(&error)))?;
        let request = http::Request::from_parts(parts, reqwest::Body::from(body.clone()));
        let request = reqwest::Request::try_from(request).map_err(|error| ours(error.to_string()))?;
        check_url(self.networks.as_ref(), request.url()).map_err(|refused| ours(refused.to_string()))?;
        let way = |error: reqwest::Error| match Refused::behind(&error) {
            Some(refused) => ours(refused.to_string()),
            None => Failed::Way(Trouble::new(doing, causes(&error))),
        };
        let answer = self.inner.execute(request).await.map_err(way)?;
        let (status, headers) = (answer.status(), answer.headers().clone());
        Ok(Answer { status, headers, body: answer.bytes().await.map_err(way)? })
    }

    fn expect_success(&self, doing: &str, answer: Answer) -> Result<Answer, Trouble> {
        if answer.status.is_success() {
            return Ok(answer);
        }
        let (code, message) = xml::error(&String::from_utf8_lossy(&answer.body));
        let said = match (code.is_empty(), message.is_empty()) {
            (true, _) => format!("the server answered {}", answer.status),
            (false, true) => format!("{code} ({})", answer.status),
            (false, false) => format!("{code}: {}", message.trim_end_matches('.')),
        };
        let hint = match (code.as_str(), answer.status.as_u16()) {
            ("NoSuchBucket", _) => Some(format!(
                "S3 bucket does not exist. The bucket {:?} must be created before a state is kept in it; a new one may take a \
                 minute to be known everywhere",
                self.bucket
            )),
            ("InvalidAccessKeyId" | "SignatureDoesNotMatch" | "InvalidToken" | "ExpiredToken" | "InvalidClientTokenId", _) => {
                Some(CHECK_CREDENTIALS.to_owned())
            }
            _ if message.contains("access key") => Some(CHECK_CREDENTIALS.to_owned()),
            ("RequestTimeTooSkewed", _) => Some("Check the clock of this machine".to_owned()),
            ("NotImplemented", _) | (_, 501) => Some(
                "The server does not know conditional writes (If-Match, If-None-Match), without which states are not safe".to_owned(),
            ),
            ("AccessDenied", _) | (_, 403) => Some(format!(
                "Whoever uses this backend needs s3:ListBucket for {0:?}, and s3:GetObject, s3:PutObject and s3:DeleteObject for its \
                 objects",
                self.bucket
            )),
            ("PermanentRedirect" | "AuthorizationHeaderMalformed" | "IllegalLocationConstraintException", _) | (_, 301) => {
                let there = answer.headers.get("x-amz-bucket-region").and_then(|region| region.to_str().ok());
                let there = there.map(|region| format!(": it is {region:?}")).unwrap_or_default();
                Some(format!("The bucket is not in the region {:?}{there}", self.location.region))
            }
            _ => None,
        };
        let reason = hint.map(|hint| format!("{said}. {hint}")).unwrap_or(said);
        Err(Trouble { doing: doing.to_owned(), code, reason })
    }
}

/// Why there is no answer.
enum Failed {
    /// It got lost on the way.
    Way(Trouble),
    /// It was never sent.
    Ours(Trouble),
}

impl Failed {
    fn trouble(self) -> Trouble {
        let (Failed::Way(trouble) | Failed::Ours(trouble)) = self;
        trouble
    }
}

impl Answer {
    fn code(&self) -> String {
        xml::error(&String::from_utf8_lossy(&self.body)).0
    }

    /// Whether the server says that there is no such object. Anything else that is not found says nothing about objects.
    fn is_missing(&self) -> bool {
        self.status == StatusCode::NOT_FOUND && self.code() == "NoSuchKey"
    }

    /// Whether the tag is that of the body, as far as that can be told: tags are checksums, unless the server encrypts with keys of
    /// others or the object was made of parts.
    fn tag_fits(&self) -> bool {
        let encryption = self.headers.get("x-amz-server-side-encryption").map(HeaderValue::as_bytes);
        let with_keys = encryption.is_some_and(|encryption| encryption != b"AES256")
            || self.headers.contains_key("x-amz-server-side-encryption-customer-algorithm");
        let etag = self.etag();
        let sum = etag.trim_matches('"');
        let is_sum = sum.len() == 32 && sum.bytes().all(|byte| byte.is_ascii_hexdigit());
        with_keys || !is_sum || sum.eq_ignore_ascii_case(&hex(&Md5::digest(&self.body)))
    }

    fn etag(&self) -> String {
        self.headers.get(ETAG).and_then(|etag| etag.to_str().ok()).unwrap_or_default().to_owned()
    }
}

/// Whether a refusal may pass.
fn is_passing(answer: &Answer) -> bool {
    matches!(answer.status.as_u16(), 408 | 425 | 429 | 500 | 502 | 503 | 504)
        || (answer.status == StatusCode::BAD_REQUEST && answer.code() == "RequestTimeout")
}

async fn many<T, F>(keys: Vec<String>, work: impl Fn(String) -> F) -> Result<Vec<T>, Trouble>
where
    T: Send + 'static,
    F: Future<Output = Result<T, Trouble>> + Send + 'static,
{
    let mut waiting = keys.into_iter().enumerate();
    let mut running: JoinSet<(usize, Result<T, Trouble>)> = JoinSet::new();
    let mut done = std::collections::BTreeMap::new();
    loop {
        while running.len() < AT_ONCE
            && let Some((at, key)) = waiting.next()
        {
            let one = work(key);
            running.spawn(async move { (at, one.await) });
        }
        match running.join_next().await {
            None => return Ok(done.into_values().collect()),
            Some(Ok((at, result))) => drop(done.insert(at, result?)),
            Some(Err(error)) => return Err(Trouble::new("use the objects of the journal", error.to_string())),
        }
    }
}

fn insert(headers: &mut HeaderMap, name: &str, value: &str) {
    if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
        headers.insert(name, value);
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}

/// An error with everything that caused it.
pub(super) fn causes(error: &reqwest::Error) -> String {
    // The address may have credentials of a proxy in it; what was tried is said already.
    let mut text = if error.is_timeout() {
        "the server did not answer in time".to_owned()
    } else if error.is_connect() {
        "the server cannot be reached".to_owned()
    } else {
        "the request failed".to_owned()
    };
    let mut source = error.source();
    while let Some(inner) = source {
        let inner_text = inner.to_string();
        if !text.contains(&inner_text) {
            text = format!("{text}: {inner_text}");
        }
        source = inner.source();
    }
    text
}

/// The lock of a state is beside it.
pub(super) fn lock_key(key: &str) -> String {
    format!("{key}{}", lock::SUFFIX)
}
