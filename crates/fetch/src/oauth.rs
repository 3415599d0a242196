//! Logging in at a host: OAuth 2 as programs on a desk do it, with a page in the browser, a proof key, and an answer to a port of
//! this machine. What a host offers comes from discovery ([`crate::discovery::LOGIN`]); where tokens are kept is not decided here.

mod callback;
mod service;

#[cfg(test)]
mod tests;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use reqwest::StatusCode;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use thiserror::Error;
use url::Url;

use crate::credentials::Token;
use crate::http::{Client, HttpError, Request, Response};
use callback::Callback;
pub use service::{GrantType, LoginService};

/// Tokens are small.
const MAX_ANSWER: u64 = 1 << 20;

/// Why there is no token.
#[derive(Debug, Clone, Error)]
pub enum OauthError {
    /// No port of the range can be had.
    #[error("no TCP port between {first} and {last} is available on this machine")]
    NoPort {
        /// The first that the host allows.
        first: u16,
        /// The last that the host allows.
        last: u16,
    },
    /// The system has no randomness.
    #[error("the system has no random numbers: {0}")]
    NoRandom(String),
    /// The service does not say where to ask.
    #[error("the login service has no address for this")]
    NoAddress,
    /// The person, or the host, said no.
    #[error("the host refused: {0}")]
    Refused(String),
    /// The temporary server broke.
    #[error("waiting for the host failed: {0}")]
    Callback(String),
    /// The host did not answer well.
    #[error(transparent)]
    Http(#[from] HttpError),
    /// The answer has no token.
    #[error("the answer of the host has no access token")]
    NoToken,
}

/// A login in the browser that is under way.
pub struct CodeGrant {
    service: LoginService,
    callback: Callback,
    /// What the host must give back, so that nobody else can answer in its place.
    state: String,
    /// What proves in the end that the one who gets the token is the one who asked.
    verifier: String,
}

impl CodeGrant {
    /// Opens a port for the answer.
    pub async fn begin(service: &LoginService) -> Result<CodeGrant, OauthError> {
        Ok(Self {
            callback: Callback::listen(service.ports.clone()).await?,
            service: service.clone(),
            state: random_text()?,
            verifier: random_text()?,
        })
    }

    /// The page to open in a browser.
    pub fn page(&self) -> Result<Url, OauthError> {
        let mut page = self.service.authorization.clone().ok_or(OauthError::NoAddress)?;
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(self.verifier.as_bytes()));
        let mut query = page.query_pairs_mut();
        query
            .append_pair("client_id", &self.service.client)
            .append_pair("code_challenge", &challenge)
            .append_pair("code_challenge_method", "S256")
            .append_pair("redirect_uri", &self.callback.url())
            .append_pair("response_type", "code");
        if !self.service.scopes.is_empty() {
            query.append_pair("scope", &self.service.scopes.join(" "));
        }
        query.append_pair("state", &self.state);
        drop(query);
        Ok(page)
    }

    /// Waits until the host sends the browser back, and asks for the token.
    pub async fn finish(self, client: &Client) -> Result<Token, OauthError> {
        let redirect = self.callback.url();
        let code = self.callback.wait(&self.state).await?;
        let form = [
            ("client_id", self.service.client.as_str()),
            ("code", &code),
            ("code_verifier", &self.verifier),
            ("grant_type", "authorization_code"),
            ("redirect_uri", &redirect),
        ];
        ask(client, &self.service, &form).await
    }
}

/// Gets a token for a name and a password.
pub async fn password_grant(
    client: &Client,
    service: &LoginService,
    user: &str,
    password: &Token,
) -> Result<Token, OauthError> {
    let scopes = service.scopes.join(" ");
    let mut form = vec![
        ("client_id", service.client.as_str()),
        ("grant_type", "password"),
        ("password", password.reveal()),
        ("username", user),
    ];
    if !scopes.is_empty() {
        form.push(("scope", &scopes));
    }
    ask(client, service, &form).await
}

async fn ask(client: &Client, service: &LoginService, form: &[(&str, &str)]) -> Result<Token, OauthError> {
    let url = service.token.clone().ok_or(OauthError::NoAddress)?;
    let request = Request::get(url).plain_http(true);
    let response = client.post_form(&request, form, MAX_ANSWER).await?;
    let answer = fields(&response);
    let field = |name: &str| answer.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    if let Some(error) = field("error") {
        let reason = field("error_description").map_or(error.to_owned(), |more| format!("{error}: {more}"));
        return Err(OauthError::Refused(printable(&reason)));
    }
    if response.status != StatusCode::OK {
        return Err(response.status_error().into());
    }
    field("access_token").map(Token::new).ok_or(OauthError::NoToken)
}

/// What a host answers: JSON mostly, a form from some.
fn fields(response: &Response) -> Value {
    serde_json::from_slice(&response.body).unwrap_or_else(|_| {
        let pairs = url::form_urlencoded::parse(&response.body);
        Value::Object(pairs.map(|(name, value)| (name.into_owned(), Value::String(value.into_owned()))).collect())
    })
}

/// What comes from a host and is shown.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(300).collect()
}

/// 43 characters that nobody can guess.
fn random_text() -> Result<String, OauthError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| OauthError::NoRandom(error.to_string()))?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}
