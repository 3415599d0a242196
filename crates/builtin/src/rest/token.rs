//! Tokens that an authority gives for an id and a secret (OAuth 2.0 client credentials): fetched when needed, kept until
//! they expire.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use groma_model::diag::Diagnostic;
use groma_network::{Networks, check_url};
use serde_json::Value as Json;

use crate::web::{read_body, whole_story};

/// A token is not used so shortly before it expires.
const MARGIN: Duration = Duration::from_secs(30);
/// How long a token counts whose authority does not say.
const DEFAULT_LIFE: Duration = Duration::from_mins(5);
const LARGEST_ANSWER: usize = 1 << 20;

/// Where tokens come from.
pub(super) struct TokenSource {
    pub(super) http: reqwest::Client,
    pub(super) url: String,
    pub(super) client_id: String,
    pub(super) client_secret: String,
    /// Scopes, audience and whatever else the authority wants.
    pub(super) parameters: Vec<(String, String)>,
    /// Whether id and secret are sent as parameters, not as a header.
    pub(super) in_body: bool,
    pub(super) kept: Mutex<Option<(String, SystemTime)>>,
    /// So that many requests at once ask for one token.
    pub(super) turn: tokio::sync::Mutex<()>,
    /// Where connections may lead. None for everywhere.
    pub(super) networks: Option<Networks>,
}

impl TokenSource {
    /// The token that is kept, whether it still counts or not.
    pub(super) fn last(&self) -> Option<String> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(|(token, _)| token.clone())
    }

    /// The API does not accept the token any more.
    pub(super) fn forget(&self, token: &str) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.as_ref().is_some_and(|(known, _)| known == token) {
            *kept = None;
        }
    }

    fn valid(&self, now: SystemTime) -> Option<String> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.as_ref().filter(|(_, until)| *until > now).map(|(token, _)| token.clone())
    }

    fn request(&self) -> reqwest::RequestBuilder {
        let mut form = url::form_urlencoded::Serializer::new(String::new());
        form.append_pair("grant_type", "client_credentials").extend_pairs(&self.parameters);
        let mut request = self.http.post(&self.url).header("accept", "application/json");
        if self.in_body {
            form.append_pair("client_id", &self.client_id).append_pair("client_secret", &self.client_secret);
        } else {
            request = request.basic_auth(&self.client_id, Some(&self.client_secret));
        }
        request.header("content-type", "application/x-www-form-urlencoded").body(form.finish())
    }

    /// A token that counts.
    pub(super) async fn token(&self, now: SystemTime) -> Result<String, Diagnostic> {
        let _turn = self.turn.lock().await;
        if let Some(token) = self.valid(now) {
            return Ok(token);
        }
        let failed = |why: String| {
            let why = why.replace(&self.client_secret, "(sensitive value)");
            Diagnostic::error("No token", format!("{} gave no token: {why}", self.url))
        };
        let judged = self.url.parse().map_or(Ok(()), |url| check_url(self.networks.as_ref(), &url));
        judged.map_err(|refused| failed(refused.to_string()))?;
        let response = self.request().send().await.map_err(|error| failed(whole_story(&error)))?;
        let status = response.status();
        let body = read_body(response, LARGEST_ANSWER).await.map_err(failed)?;
        let answer: Json = serde_json::from_slice(&body).unwrap_or_default();
        let Some(token) = answer["access_token"].as_str().filter(|_| status.is_success()) else {
            // Errors have a name and a description; anything else in there may be a secret.
            let said = ["error", "error_description"].map(|name| answer[name].as_str().unwrap_or_default());
            return Err(failed(format!("status {}. {}", status.as_u16(), said.join(" ")).trim_end().to_owned()));
        };
        let life = answer["expires_in"].as_u64().map_or(DEFAULT_LIFE, Duration::from_secs);
        let until = now + life.saturating_sub(MARGIN).min(Duration::from_hours(24));
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = Some((token.to_owned(), until));
        Ok(token.to_owned())
    }
}
