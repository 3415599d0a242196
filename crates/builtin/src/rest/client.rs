//! Asks the API: limits, retries, errors. What is asked for, and why, is elsewhere.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use groma_model::diag::Diagnostic;
use groma_network::{Networks, Refused, check_url};
use reqwest::Method;
use reqwest::header::HeaderMap;
use serde_json::Value as Json;
use tokio::sync::Mutex;

use super::settings::header;
use super::token::TokenSource;
use crate::kit::Call;
use crate::kit::outside::Clock;
use crate::web::{read_body, retry_after, whole_story};

const LARGEST_BODY: usize = 64 << 20;
const SHOWN: usize = 2000;

/// When to ask again.
#[derive(Debug, Clone)]
pub(super) struct Retry {
    pub(super) attempts: u32,
    pub(super) status_codes: Vec<u16>,
    pub(super) shortest: Duration,
    pub(super) longest: Duration,
    /// Whether requests are repeated that may have been carried out.
    pub(super) always: bool,
}

impl Retry {
    fn delay(&self, attempt: u32) -> Duration {
        self.shortest.saturating_mul(1 << attempt.min(20)).min(self.longest)
    }

    /// Whether an answer with that status is worth another attempt.
    fn covers(&self, method: &Method, status: u16) -> bool {
        let untouched = matches!(status, 425 | 429 | 503);
        self.status_codes.contains(&status) && (self.always || method.is_idempotent() || untouched)
    }
}

/// Spreads requests over time.
pub(super) struct Limiter {
    interval: Duration,
    next: Mutex<SystemTime>,
}

impl Limiter {
    /// At most so many requests a second; none if that is no limit.
    pub(super) fn per_second(rate: f64) -> Option<Self> {
        let interval = Duration::try_from_secs_f64(1.0 / rate).ok()?;
        Some(Self { interval, next: Mutex::new(SystemTime::UNIX_EPOCH) })
    }

    /// How long to wait for a turn.
    async fn turn(&self, now: SystemTime) -> Duration {
        let mut next = self.next.lock().await;
        let turn = (*next).max(now);
        *next = turn + self.interval;
        turn.duration_since(now).unwrap_or_default()
    }
}

/// What speaks to the API.
pub(super) struct RestClient {
    pub(super) http: reqwest::Client,
    pub(super) base_url: String,
    pub(super) headers: HeaderMap,
    /// Where tokens come from, if they must be fetched.
    pub(super) tokens: Option<TokenSource>,
    /// Texts that must not be shown.
    pub(super) secrets: Vec<String>,
    pub(super) retry: Retry,
    pub(super) limiter: Option<Limiter>,
    pub(super) clock: Arc<dyn Clock>,
    /// Where connections may lead. None for everywhere.
    pub(super) networks: Option<Networks>,
}

/// One request.
#[derive(Debug, Clone)]
pub(super) struct Ask {
    pub(super) method: Method,
    /// Below the base URL, or a URL of its own on the same host.
    pub(super) path: String,
    pub(super) query: Vec<(String, String)>,
    pub(super) headers: Vec<(String, String)>,
    /// A document, or a text that is sent as it is.
    pub(super) body: Option<String>,
    /// More texts that must not be shown.
    pub(super) secrets: Vec<String>,
}

/// The answer and how long it says to wait; or what went wrong, and whether the API may have got the request.
type Sent = Result<(Answered, Option<Duration>), (String, Reached)>;

/// How far a request came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reached {
    /// It must not be sent, and never will be.
    Refused,
    /// The API has not got it.
    No,
    /// It may have.
    Perhaps,
}

/// An answer, good or bad.
#[derive(Debug, Clone)]
pub(super) struct Answered {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) text: String,
}

impl Answered {
    /// Whether the API did what it was asked for.
    pub(super) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The document, if it is one.
    pub(super) fn json(&self) -> Option<Json> {
        serde_json::from_str(&self.text).ok()
    }
}

impl RestClient {
    /// Asks until there is an answer that will not change by asking again.
    pub(super) async fn ask(&self, ask: &Ask, call: &Call) -> Result<Answered, Diagnostic> {
        let url = self.url(ask)?;
        let mut attempt = 0;
        let mut renewed = false;
        loop {
            self.wait_for_turn(call).await?;
            let sent = tokio::select! {
                () = call.stopped() => return Err(given_up()),
                sent = self.send_with_token(ask, &url) => sent?,
            };
            let (wait, problem) = match sent {
                // A token may be withdrawn before its time.
                Ok((answer, _)) if answer.status == 401 && self.tokens.is_some() && !renewed => {
                    renewed = true;
                    continue;
                }
                Ok((answer, wait)) if self.retry.covers(&ask.method, answer.status) => (wait, Ok(answer)),
                Ok((answer, _)) => return Ok(answer),
                Err((error, reached)) => {
                    let repeatable = match reached {
                        Reached::Refused => false,
                        Reached::No => true,
                        Reached::Perhaps => self.retry.always || ask.method.is_idempotent(),
                    };
                    let problem = self.failed(ask, &url, &error, reached);
                    if !repeatable {
                        return Err(problem);
                    }
                    (None, Err(problem))
                }
            };
            if attempt >= self.retry.attempts {
                return problem;
            }
            let wait = wait.unwrap_or_else(|| self.retry.delay(attempt));
            call.sleep(self.clock.as_ref(), wait).await.map_err(|_| given_up())?;
            attempt += 1;
        }
    }

    async fn wait_for_turn(&self, call: &Call) -> Result<(), Diagnostic> {
        let Some(limiter) = &self.limiter else { return Ok(()) };
        let wait = limiter.turn(self.clock.now()).await;
        if wait.is_zero() {
            return Ok(());
        }
        call.sleep(self.clock.as_ref(), wait).await.map_err(|_| given_up())
    }

    async fn send_with_token(&self, ask: &Ask, url: &str) -> Result<Sent, Diagnostic> {
        let Some(tokens) = &self.tokens else { return Ok(self.send(ask, url, None).await) };
        let token = tokens.token(self.clock.now()).await?;
        let sent = self.send(ask, url, Some(&token)).await;
        if matches!(&sent, Ok((answer, _)) if answer.status == 401) {
            tokens.forget(&token);
        }
        Ok(sent)
    }

    async fn send(&self, ask: &Ask, url: &str, token: Option<&str>) -> Sent {
        let before = |error: String| (error, Reached::No);
        let mut headers = self.headers.clone();
        if ask.body.is_some() {
            headers.insert("content-type", reqwest::header::HeaderValue::from_static("application/json"));
        }
        if let Some(token) = token {
            let (name, mut value) = header("authorization", &format!("Bearer {token}")).map_err(before)?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        for (name, value) in &ask.headers {
            let (name, value) = header(name, value).map_err(before)?;
            headers.insert(name, value);
        }
        let mut builder = self.http.request(ask.method.clone(), url).headers(headers);
        if let Some(body) = &ask.body {
            builder = builder.body(body.clone());
        }
        let response = builder.send().await.map_err(|error| {
            let reached = match Refused::behind(&error) {
                Some(_) => Reached::Refused,
                None if error.is_connect() || error.is_builder() => Reached::No,
                None => Reached::Perhaps,
            };
            (whole_story(&error), reached)
        })?;
        let wait = retry_after(&response, self.clock.now());
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let body = read_body(response, LARGEST_BODY).await.map_err(|error| (error, Reached::Perhaps))?;
        Ok((Answered { status, headers, text: String::from_utf8_lossy(&body).into_owned() }, wait))
    }

    fn url(&self, ask: &Ask) -> Result<String, Diagnostic> {
        let is_whole = ask.path.starts_with("http://") || ask.path.starts_with("https://");
        let text = if is_whole {
            ask.path.clone()
        } else {
            let slash = if ask.path.starts_with('/') || ask.path.is_empty() { "" } else { "/" };
            format!("{}{slash}{}", self.base_url, ask.path)
        };
        let invalid = |why: String| Diagnostic::error("Invalid URL", format!("{text:?} cannot be asked for: {why}."));
        let mut url = url::Url::parse(&text).map_err(|error| invalid(error.to_string()))?;
        let base = url::Url::parse(&self.base_url);
        if is_whole && base.is_ok_and(|base| base.origin() != url.origin()) {
            // Secrets of the provider's configuration are for its own API only.
            return Err(invalid("it is not on the host of base_url".to_owned()));
        }
        check_url(self.networks.as_ref(), &url).map_err(|refused| invalid(refused.to_string()))?;
        if !ask.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&ask.query);
        }
        Ok(url.to_string())
    }

    fn failed(&self, ask: &Ask, url: &str, error: &str, reached: Reached) -> Diagnostic {
        let unsure = if reached == Reached::Perhaps && !ask.method.is_idempotent() {
            "\n\nThe server may have carried the request out nevertheless, so it was not repeated."
        } else {
            ""
        };
        let detail = self.without_secrets(&format!("{} {url}: {error}{unsure}", ask.method), ask);
        Diagnostic::error("Request failed", detail)
    }

    /// The error that a bad answer is.
    pub(super) fn refused(&self, ask: &Ask, answer: &Answered) -> Diagnostic {
        let shown: String = answer.text.chars().take(SHOWN).collect();
        let more = if shown.len() < answer.text.len() { " ..." } else { "" };
        let detail =
            format!("{} {} was answered with status {}.\n\n{shown}{more}", ask.method, ask.path, answer.status);
        Diagnostic::error("Unexpected answer", self.without_secrets(&detail, ask).trim_end())
    }

    fn without_secrets(&self, text: &str, ask: &Ask) -> String {
        let token = self.tokens.as_ref().and_then(TokenSource::last);
        let secrets = self.secrets.iter().chain(&ask.secrets).chain(&token).filter(|secret| !secret.is_empty());
        secrets.fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), "(sensitive value)"))
    }
}

fn given_up() -> Diagnostic {
    Diagnostic::error("Request cancelled", "The run was given up.")
}
