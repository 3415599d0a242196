//! The `http` provider: a data source that asks for a URL.

use groma_provider::api::Effects;
use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use groma_model::address::{DEFAULT_HOST, DEFAULT_NAMESPACE};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::path::Path;
use groma_model::schema::Nesting;
use groma_model::ty::Type;
use groma_model::value::Value;
use groma_network::{Refused, check_url};
use reqwest::{Client, Method, StatusCode};

use crate::combinations::{also_requires, conflicts_with};
use crate::kit::Builtin;
use crate::kit::checks::{at_least, one_of};
use crate::kit::outside::Outside;
use crate::kit::spec::{computed, optional, required};
use crate::kit::{Call, DataSource, InProcess, Object, Spec};
use crate::web::{ClientError, ClientOptions, Proxies, read_body, retry_after, whole_story};

#[cfg(test)]
mod tests;

/// What it is in the registry.
pub(crate) const BUILTIN: Builtin = Builtin {
    name: "http",
    namespace: DEFAULT_NAMESPACE,
    host: DEFAULT_HOST,
    version: Some("3.6.2"),
    effects: Effects::Outside,
    make,
};

/// More than this is not taken into a state.
const LARGEST_BODY: usize = 256 << 20;

fn make(outside: &Outside) -> InProcess {
    InProcess::new(BUILTIN.address().to_string()).data_source(Http(outside.clone()))
}

/// The data source.
struct Http(Outside);

#[async_trait]
impl DataSource for Http {
    fn type_name(&self) -> &'static str {
        "http"
    }

    fn spec(&self) -> Spec {
        let text = || optional(Type::String);
        let pem = "in [PEM (RFC 1421)](https://datatracker.ietf.org/doc/html/rfc1421) format.";
        Spec::new()
            .doc("What a URL answers. What comes from servers that others control should not be trusted.")
            .attr("id", computed(Type::String).doc("The URL that was asked for."))
            .attr("url", required(Type::String).doc("The URL to ask for: `http` or `https`."))
            .attr(
                "method",
                text()
                    .check(one_of(&["GET", "POST", "HEAD"]))
                    .doc("`GET` (the default), `HEAD`, or `POST` for servers that take questions that way."),
            )
            .attr("request_headers", optional(Type::map(Type::String)).doc("Headers of the request."))
            .attr("request_body", text().doc("Body of the request."))
            .attr(
                "request_timeout_ms",
                optional(Type::Number).check(at_least(1)).doc("How long to wait for an answer, in milliseconds."),
            )
            .attr("ca_cert_pem", text().doc(&format!("Certificates of the authorities to trust, {pem}")))
            .attr("client_cert_pem", text().doc(&format!("Certificate of the client, {pem}")))
            .attr("client_key_pem", text().doc(&format!("Private key of the client, {pem}")))
            .attr("insecure", optional(Type::Bool).doc("Whether anybody is trusted. Defaults to `false`."))
            .attr("response_body", computed(Type::String).doc("The answer as text."))
            .attr(
                "body",
                computed(Type::String).deprecated("Use response_body instead").doc("The same as `response_body`."),
            )
            .attr("response_body_base64", computed(Type::String).doc("The answer in base64."))
            .attr(
                "response_headers",
                computed(Type::map(Type::String))
                    .doc("Headers of the answer; those that came several times are joined."),
            )
            .attr("status_code", computed(Type::Number).doc("Status of the answer."))
            .block("retry", Nesting::Single, (0, 0), retry_spec())
    }

    fn validate(&self, config: &Object) -> Diagnostics {
        let mut found = Diagnostics::new();
        found.extend(conflicts_with(config, "ca_cert_pem", "insecure"));
        found.extend(also_requires(config, "client_cert_pem", "client_key_pem"));
        found.extend(also_requires(config, "client_key_pem", "client_cert_pem"));
        if let Some(retry) = config.objects("retry").first()
            && let (Some(least), Some(most)) = (retry.int("min_delay_ms"), retry.int("max_delay_ms"))
            && most < least
        {
            let detail =
                format!("Attribute retry.max_delay_ms value must be at least sum of <.min_delay_ms, got: {most}");
            let path = Path::root().attr("retry").attr("max_delay_ms");
            found.push(Diagnostic::error("Invalid Attribute Value", detail).at_path(path));
        }
        found
    }

    async fn read(&self, mut config: Object, call: &mut Call) -> Result<Object, Diagnostics> {
        let url = config.text("url").unwrap_or_default().to_owned();
        let response = self.ask(&config, call).await?;
        let status = response.status();
        let headers = headers(&response);
        let body = read_body(response, LARGEST_BODY).await.map_err(|error| {
            Diagnostic::error("Error reading response body", format!("Error reading response body: {error}"))
        })?;
        if std::str::from_utf8(&body).is_err() {
            call.diagnostics.push(Diagnostic::warning(
                "Response body is not recognized as UTF-8",
                "Terraform may not properly handle the response_body if the contents are binary.",
            ));
        }
        let text = Value::string(String::from_utf8_lossy(&body).into_owned());
        config.set("id", Value::string(url));
        config.set("status_code", Value::number(i64::from(status.as_u16())));
        config.set("response_headers", headers);
        config.set("response_body", text.clone());
        config.set("body", text);
        config.set("response_body_base64", Value::string(STANDARD.encode(&body)));
        Ok(config)
    }
}

fn retry_spec() -> Spec {
    let number = || optional(Type::Number).check(at_least(0));
    Spec::new()
        .doc("When to ask again. Without this block: never. Answers of 429 and 5xx (but 501) and broken connections count.")
        .attr("attempts", number().doc("How often to ask again: with 2, there are at most 3 requests."))
        .attr("min_delay_ms", number().doc("The shortest time to wait before, in milliseconds."))
        .attr("max_delay_ms", number().doc("The longest time to wait before, in milliseconds."))
}

/// Asking it would lead where nothing may be connected to.
fn not_asked(refused: &Refused) -> Diagnostic {
    made_no_request(format!("Error making request: {refused}.")).at_path(Path::root().attr("url"))
}

fn made_no_request(detail: impl Into<String>) -> Diagnostic {
    Diagnostic::error("Error making request", detail)
}

impl Http {
    fn client(&self, config: &Object, timeout: Option<Duration>) -> Result<Client, Diagnostic> {
        let text = |name: &str| config.text(name).map(str::to_owned);
        let options = ClientOptions {
            ca_cert_pem: text("ca_cert_pem"),
            identity: text("client_cert_pem").zip(text("client_key_pem")),
            insecure: config.flag("insecure").unwrap_or(false),
            timeout,
            proxies: Proxies::from_environment(&self.0.environment),
            networks: self.0.networks.clone(),
        };
        options.build().map_err(|error| match error {
            ClientError::Authority => Diagnostic::error(
                "Error configuring TLS client",
                "Error tls: Can't add the CA certificate to certificate pool. Only PEM encoded certificates are supported.",
            ),
            ClientError::Identity(why) => Diagnostic::error(
                "error creating x509 key pair",
                format!("error creating x509 key pair from provided pem blocks\n\nError: {why}"),
            ),
            ClientError::Proxy(refused) => made_no_request(format!("the proxy cannot be used: {refused}")),
            ClientError::Other(error) => Diagnostic::error("Error configuring http transport", whole_story(&error)),
        })
    }

    async fn ask(&self, config: &Object, call: &Call) -> Result<reqwest::Response, Diagnostic> {
        let timeout = config.int("request_timeout_ms").and_then(|ms| u64::try_from(ms).ok()).map(Duration::from_millis);
        let client = self.client(config, timeout)?;
        let url = config.text("url").unwrap_or_default();
        let method = match config.text("method") {
            Some("POST") => Method::POST,
            Some("HEAD") => Method::HEAD,
            _ => Method::GET,
        };
        let retry = config.objects("retry").into_iter().next();
        let number = |name: &str| retry.as_ref().and_then(|retry| retry.int(name)).and_then(|n| u64::try_from(n).ok());
        let attempts = number("attempts").unwrap_or(0);
        let shortest = Duration::from_millis(number("min_delay_ms").unwrap_or(1000));
        let longest = Duration::from_millis(number("max_delay_ms").unwrap_or(30_000));
        let mut attempt = 0;
        loop {
            let request = request(&client, &method, url, config)?;
            check_url(self.0.networks.as_ref(), request.url()).map_err(|refused| not_asked(&refused))?;
            let answer = tokio::select! {
                () = call.stopped() => return Err(made_no_request("Error making request: the run was given up")),
                answer = client.execute(request) => answer,
            };
            let asks_for = match &answer {
                Ok(response) if !is_passing(response.status()) => {
                    return answer.map_err(|e| made_no_request(e.to_string()));
                }
                Ok(response) => retry_after(response, self.0.clock.now()),
                Err(error) if Refused::behind(error).is_some() => {
                    return Err(Refused::behind(error).map_or_else(|| made_no_request(""), not_asked));
                }
                Err(error) if error.is_builder() || error.is_redirect() => {
                    return Err(made_no_request(format!("Error making request: {}", whole_story(error))));
                }
                Err(_) => None,
            };
            if attempt >= attempts {
                return Err(gave_up(&method, url, attempt + 1, answer.err().as_ref(), timeout));
            }
            let doubled = shortest.saturating_mul(1 << attempt.min(30)).min(longest);
            let stopped = call.sleep(self.0.clock.as_ref(), asks_for.unwrap_or(doubled)).await;
            stopped.map_err(|stopped| made_no_request(format!("Error making request: {stopped}")))?;
            attempt += 1;
        }
    }
}

/// Whether another attempt may bring another answer.
fn is_passing(status: StatusCode) -> bool {
    status == StatusCode::TOO_MANY_REQUESTS || (status.is_server_error() && status != StatusCode::NOT_IMPLEMENTED)
}

fn gave_up(
    method: &Method,
    url: &str,
    attempts: u64,
    error: Option<&reqwest::Error>,
    timeout: Option<Duration>,
) -> Diagnostic {
    let mut said = format!("{method} {url} giving up after {attempts} attempt(s)");
    if let Some(error) = error {
        said = format!("{said}: {}", whole_story(error));
        match timeout {
            Some(timeout) if error.is_timeout() => {
                return made_no_request(format!("request exceeded the specified timeout: {timeout:?}, err: {said}"));
            }
            None if error.is_timeout() => return made_no_request(format!("timeout error: {said}")),
            _ => {}
        }
    }
    made_no_request(format!("Error making request: {said}"))
}

fn request(client: &Client, method: &Method, url: &str, config: &Object) -> Result<reqwest::Request, Diagnostic> {
    let mut builder = client.request(method.clone(), url).header("user-agent", "groma");
    let mut headers = reqwest::header::HeaderMap::new();
    let failed = |why: String| Diagnostic::error("Error creating request", format!("Error creating request: {why}"));
    for (name, value) in config.text_map("request_headers").unwrap_or_default() {
        let parsed = reqwest::header::HeaderName::from_bytes(name.as_bytes())
            .map_err(|error| error.to_string())
            .and_then(|parsed| Ok((parsed, value.parse().map_err(|_| format!("invalid value of header {name:?}"))?)));
        let (name, value) = parsed.map_err(failed)?;
        headers.insert(name, value);
    }
    builder = builder.headers(headers);
    if let Some(body) = config.text("request_body") {
        builder = builder.body(body.to_owned());
    }
    builder.build().map_err(|error| failed(whole_story(&error)))
}

/// Headers by name, written as usual: `Content-Type`.
fn headers(response: &reqwest::Response) -> Value {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, value) in response.headers() {
        let name: Vec<String> = name
            .as_str()
            .split('-')
            .map(|part| {
                let mut letters = part.chars();
                letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
            })
            .collect();
        all.entry(name.join("-")).or_default().push(String::from_utf8_lossy(value.as_bytes()).into_owned());
    }
    let entries = all.into_iter().map(|(name, values)| (name, Value::string(values.join(", ")))).collect();
    Value::map(Type::String, entries)
}
