//! The configuration of the provider: where the API is, who asks, and how patiently.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::path::Path;
use groma_model::schema::Nesting;
use groma_model::ty::Type;
use groma_model::value::Value;
use groma_network::{Networks, guarded_redirects};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use url::Url;

use super::client::{Limiter, RestClient, Retry};
use super::token::TokenSource;
use crate::kit::checks::{at_least, between, one_of};
use crate::kit::outside::Outside;
use crate::kit::spec::{Attr, optional, required};
use crate::kit::{Configure, Object, Spec, parse_duration};
use crate::web::{ClientOptions, Proxies, whole_story};

/// What was configured.
pub(super) struct Settings {
    pub(super) outside: Outside,
    client: Mutex<Option<Result<Arc<RestClient>, Diagnostic>>>,
}

impl Settings {
    /// As it is before anything is configured.
    pub(super) fn new(outside: &Outside) -> Self {
        Self { outside: outside.clone(), client: Mutex::new(None) }
    }

    /// What speaks to the API.
    pub(super) fn client(&self) -> Result<Arc<RestClient>, Diagnostic> {
        let client = self.client.lock().unwrap_or_else(PoisonError::into_inner).clone();
        client.unwrap_or_else(|| {
            Err(Diagnostic::error("Provider is not configured", "The rest provider needs a base_url."))
        })
    }
}

/// A text must be a duration.
pub(super) fn is_duration(path: &Path, value: &Value) -> Option<Diagnostic> {
    let text = value.as_str()?;
    if duration(text).is_some() {
        return None;
    }
    let detail = format!("{text:?} is not a duration such as \"30s\" or \"5m\".");
    Some(Diagnostic::error("Invalid duration", detail).at_path(path.clone()))
}

/// A duration that is not negative.
pub(super) fn duration(text: &str) -> Option<Duration> {
    parse_duration(text).ok().and_then(|nanos| u64::try_from(nanos).ok()).map(Duration::from_nanos)
}

fn is_web_url(text: &str) -> bool {
    Url::parse(text).is_ok_and(|url| ["http", "https"].contains(&url.scheme()) && url.has_host())
}

fn text(doc: &str) -> Attr {
    optional(Type::String).doc(doc)
}

fn time(doc: &str) -> Attr {
    text(doc).check(is_duration)
}

/// The configuration.
pub(super) struct RestProvider(pub(super) Arc<Settings>);

#[async_trait]
impl Configure for RestProvider {
    fn spec(&self) -> Spec {
        let auth = Spec::new()
            .doc("Who asks. Give either `username` and `password`, or `bearer_token`, or `header` and `value`.")
            .attr("username", text("User name."))
            .attr("password", text("Password.").sensitive())
            .attr("bearer_token", text("Token that is sent as `Authorization: Bearer ...`.").sensitive())
            .attr("header", text("Name of the header that a key is sent in, such as `X-Api-Key`."))
            .attr("value", text("What is sent in that header.").sensitive());
        let oauth2 = Spec::new()
            .doc("Fetches tokens for an id and a secret (OAuth 2.0 client credentials), instead of `auth`.")
            .attr("token_url", required(Type::String).doc("Where tokens come from."))
            .attr("client_id", required(Type::String).doc("The id."))
            .attr("client_secret", required(Type::String).sensitive().doc("The secret."))
            .attr("scopes", optional(Type::list(Type::String)).doc("What the token is for."))
            .attr("parameters", optional(Type::map(Type::String)).doc("What else to send, such as `audience`."))
            .attr(
                "credentials_in",
                text("`header` (the default) or `body`: how id and secret are sent.")
                    .check(one_of(&["header", "body"])),
            );
        let tls = Spec::new()
            .doc("Whom to trust, and whom to be.")
            .attr("ca_cert_pem", text("Certificates of the authorities to trust instead of the system's."))
            .attr("client_cert_pem", text("Certificate of the client."))
            .attr("client_key_pem", text("Private key of the client.").sensitive())
            .attr("insecure", optional(Type::Bool).doc("Whether anybody is trusted."));
        let retry = Spec::new()
            .doc("When to ask again. Connections that break and answers with the given status count.")
            .attr("attempts", optional(Type::Number).check(between(0, 100)).doc("How often to ask again. Default: 3."))
            .attr("status_codes", optional(Type::set(Type::Number)).doc("Default: 408, 425, 429, 500, 502, 503, 504."))
            .attr("min_delay", time("The shortest time to wait before; it doubles each time. Default: `1s`."))
            .attr("max_delay", time("The longest time to wait before. What `Retry-After` says counts. Default: `30s`."))
            .attr(
                "not_idempotent",
                optional(Type::Bool).doc(
                    "Whether POST and PATCH are repeated even if the server may have done the work already. \
                     By default they are repeated only after 425, 429 and 503, and if no connection was made.",
                ),
            );
        Spec::new()
            .doc("An API that speaks JSON over HTTP.")
            .attr("base_url", text("What all paths begin with, such as `https://api.example.com/v1`."))
            .attr("headers", optional(Type::map(Type::String)).sensitive().doc("Headers of all requests."))
            .attr("timeout", time("How long to wait for one answer. Default: `1m`."))
            .attr(
                "rate_limit",
                optional(Type::Number)
                    .fractional()
                    .check(at_least(0))
                    .doc("At most so many requests a second; fractions are fine."),
            )
            .block("auth", Nesting::Single, (0, 0), auth)
            .block("oauth2", Nesting::Single, (0, 0), oauth2)
            .block("tls", Nesting::Single, (0, 0), tls)
            .block("retry", Nesting::Single, (0, 0), retry)
    }

    fn validate(&self, config: &Object) -> Diagnostics {
        let mut found = Diagnostics::new();
        if let Some(text) = config.text("base_url")
            && !is_web_url(text)
        {
            let detail = format!("{text:?} is not a URL that begins with http:// or https:// and names a host.");
            found.push(Diagnostic::error("Invalid base_url", detail).at_path(Path::root().attr("base_url")));
        }
        if let Some(token) = config.objects("oauth2").first() {
            if !config.is_null("auth") {
                let detail = "Give either auth or oauth2.";
                found.push(Diagnostic::error("Invalid authentication", detail).at_path(Path::root().attr("oauth2")));
            }
            if token.text("token_url").is_some_and(|text| !is_web_url(text)) {
                let path = Path::root().attr("oauth2").attr("token_url");
                found.push(Diagnostic::error("Invalid token_url", "It is no URL of http or https.").at_path(path));
            }
        }
        if let Some(auth) = config.objects("auth").first() {
            let ways = [["username", "password"], ["bearer_token", "bearer_token"], ["header", "value"]];
            let given = ways.iter().filter(|way| way.iter().any(|name| !auth.is_null(name))).count();
            let halves = ways.iter().any(|[a, b]| auth.is_null(a) != auth.is_null(b));
            if given != 1 || halves {
                let detail = "Give either username and password, or bearer_token, or header and value.";
                found.push(Diagnostic::error("Invalid authentication", detail).at_path(Path::root().attr("auth")));
            }
        }
        found
    }

    async fn configure(&self, config: Object) -> Diagnostics {
        let names = ["base_url", "headers", "auth", "oauth2", "tls", "retry", "timeout", "rate_limit"];
        let client = if names.iter().all(|name| config.is_wholly_known(name)) {
            client(&config, &self.0.outside).map(Arc::new)
        } else {
            let detail = "Parts of the configuration of the rest provider are known after the apply only.";
            Err(Diagnostic::error("Provider configuration is not known yet", detail))
        };
        // What is not known yet is an error only where it is needed.
        let known_wrong = client.as_ref().err().filter(|error| !error.summary.ends_with("not known yet")).cloned();
        *self.0.client.lock().unwrap_or_else(PoisonError::into_inner) = Some(client);
        known_wrong.into_iter().collect()
    }
}

fn client(config: &Object, outside: &Outside) -> Result<RestClient, Diagnostic> {
    let failed = |why: String| Diagnostic::error("Invalid configuration of the rest provider", why);
    let block =
        |name: &str| config.objects(name).into_iter().next().unwrap_or_else(|| Object::of(&Value::empty_object()));
    let (tls, retry) = (block("tls"), block("retry"));
    let own = |object: &Object, name: &str| object.text(name).map(str::to_owned);
    let options = ClientOptions {
        ca_cert_pem: own(&tls, "ca_cert_pem"),
        identity: own(&tls, "client_cert_pem").zip(own(&tls, "client_key_pem")),
        insecure: tls.flag("insecure").unwrap_or(false),
        timeout: Some(config.text("timeout").and_then(duration).unwrap_or(Duration::from_mins(1))),
        proxies: Proxies::from_environment(&outside.environment),
        networks: outside.networks.clone(),
    };
    let builder = options.builder().map_err(|error| failed(error.to_string()))?;
    // A redirect to elsewhere would take secrets along that are in headers of other names than usual.
    let policy = reqwest::redirect::Policy::custom(|attempt| {
        let same = attempt.previous().first().is_some_and(|from| from.origin() == attempt.url().origin());
        if same && attempt.previous().len() < 10 { attempt.follow() } else { attempt.stop() }
    });
    let policy = guarded_redirects(outside.networks.as_ref(), policy);
    let http = builder.redirect(policy).build().map_err(|error| failed(whole_story(&error)))?;
    let networks = &outside.networks;
    let tokens = config.objects("oauth2").first().map(|oauth2| tokens(oauth2, &http, networks.clone()));
    let headers = headers(config, &block("auth")).map_err(failed)?;
    let codes = retry.get("status_codes");
    let codes: Option<Vec<u16>> = codes.as_elements().map(|items| {
        items.iter().filter_map(|item| item.as_number()?.to_u64()).filter_map(|code| u16::try_from(code).ok()).collect()
    });
    Ok(RestClient {
        http,
        base_url: config.text("base_url").unwrap_or_default().trim_end_matches('/').to_owned(),
        headers,
        tokens,
        secrets: secrets(config, &block("auth")),
        retry: Retry {
            attempts: retry.int("attempts").and_then(|n| u32::try_from(n).ok()).unwrap_or(3),
            status_codes: codes.unwrap_or_else(|| vec![408, 425, 429, 500, 502, 503, 504]),
            shortest: retry.text("min_delay").and_then(duration).unwrap_or(Duration::from_secs(1)),
            longest: retry.text("max_delay").and_then(duration).unwrap_or(Duration::from_secs(30)),
            always: retry.flag("not_idempotent").unwrap_or(false),
        },
        limiter: config.number("rate_limit").and_then(|rate| Limiter::per_second(rate.to_f64())),
        clock: outside.clock.clone(),
        networks: networks.clone(),
    })
}

fn tokens(oauth2: &Object, http: &reqwest::Client, networks: Option<Networks>) -> TokenSource {
    let own = |name: &str| oauth2.text(name).unwrap_or_default().to_owned();
    let scopes = oauth2.texts("scopes").filter(|scopes| !scopes.is_empty()).map(|scopes| scopes.join(" "));
    let more = oauth2.text_map("parameters").unwrap_or_default();
    let more = more.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
    TokenSource {
        http: http.clone(),
        url: own("token_url"),
        client_id: own("client_id"),
        client_secret: own("client_secret"),
        parameters: scopes.map(|scopes| ("scope".to_owned(), scopes)).into_iter().chain(more).collect(),
        in_body: oauth2.text("credentials_in") == Some("body"),
        kept: Mutex::new(None),
        turn: tokio::sync::Mutex::new(()),
        networks,
    }
}

fn headers(config: &Object, auth: &Object) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    headers.insert("accept", HeaderValue::from_static("application/json"));
    headers.insert("user-agent", HeaderValue::from_static("groma"));
    for (name, value) in config.text_map("headers").unwrap_or_default() {
        let (name, value) = header(name, value)?;
        headers.insert(name, value);
    }
    let secret = match (auth.text("bearer_token"), auth.text("username"), auth.text("header")) {
        (Some(token), ..) => Some((AUTHORIZATION, format!("Bearer {token}"))),
        (_, Some(user), _) => {
            use base64::Engine as _;
            let pair = format!("{user}:{}", auth.text("password").unwrap_or_default());
            Some((AUTHORIZATION, format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(pair))))
        }
        (.., Some(name)) => {
            let (name, _) = header(name, "")?;
            Some((name, auth.text("value").unwrap_or_default().to_owned()))
        }
        _ => None,
    };
    if let Some((name, value)) = secret {
        let mut value = HeaderValue::from_str(&value).map_err(|_| "a secret cannot be sent in a header".to_owned())?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

/// A header from its texts.
pub(super) fn header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), String> {
    let parsed = HeaderName::from_bytes(name.as_bytes()).map_err(|_| format!("{name:?} is no name of a header"))?;
    let value = HeaderValue::from_str(value).map_err(|_| format!("the value of the header {name:?} cannot be sent"))?;
    Ok((parsed, value))
}

/// Texts that must not be shown, should the API repeat them.
fn secrets(config: &Object, auth: &Object) -> Vec<String> {
    let from_auth = ["password", "bearer_token", "value"].into_iter().filter_map(|name| auth.text(name));
    let from_headers = config.text_map("headers").unwrap_or_default().into_iter().map(|(_, value)| value);
    from_auth.chain(from_headers).filter(|text| text.len() > 3).map(str::to_owned).collect()
}
