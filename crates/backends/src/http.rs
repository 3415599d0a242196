//! States behind an address: OpenTofu's and Terraform's `http` backend, with locks that are renewed where the server lets them
//! be. There is one workspace, and the journal stays on the machine that runs.

mod client;
mod store;

use std::sync::Arc;
use std::time::Duration;

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::schema::Block;
use groma_model::ty::Type;
use groma_model::value::Value;
use groma_state::{StateCodec, WorkspaceName};
use reqwest::Method;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use url::Url;

use crate::settings::{Settings, block, invalid, optional, secret};
use crate::{Backend, BackendError, BackendKind, Place, Surroundings};
use client::{Client, Identity, Retries, Tls};
use store::HttpStore;

/// The kind.
pub(crate) struct Http;

impl BackendKind for Http {
    fn name(&self) -> &'static str {
        "http"
    }

    fn schema(&self) -> Block {
        let text = |about| optional(Type::String, about);
        let count = |about| optional(Type::Number, about);
        block(vec![
            ("address", text("Where the state is.")),
            ("update_method", text("The method that stores a state. POST if nothing is said.")),
            ("lock_address", text("Where the lock is. There is none if nothing is said.")),
            ("lock_method", text("The method that locks. LOCK if nothing is said.")),
            ("unlock_address", text("Where a lock is given back.")),
            ("unlock_method", text("The method that unlocks. UNLOCK if nothing is said.")),
            ("username", text("The name for basic authentication.")),
            ("password", secret("The password for basic authentication.")),
            ("headers", optional(Type::map(Type::String), "Headers of every request.")),
            ("skip_cert_verification", optional(Type::Bool, "Whether to trust any certificate.")),
            ("retry_max", count("How often a request is tried again.")),
            ("retry_wait_min", count("The shortest time between two tries, in seconds.")),
            ("retry_wait_max", count("The longest time between two tries, in seconds.")),
            ("client_ca_certificate_pem", text("The certificates to trust, as PEM.")),
            ("client_certificate_pem", text("The certificate of this client, as PEM.")),
            ("client_private_key_pem", secret("Its key, as PEM.")),
        ])
    }

    fn configure(&self, settings: &Value, surroundings: &Surroundings) -> Result<Arc<dyn Backend>, Diagnostics> {
        let mut settings = Settings::new(settings, surroundings);
        let endpoints = endpoints(&mut settings);
        let client = client(&mut settings, surroundings);
        if settings.wrong.has_errors() {
            return Err(settings.wrong);
        }
        let (Some(endpoints), Some(client)) = (endpoints, client) else { return Err(settings.wrong) };
        let backend = HttpBackend { endpoints, client, surroundings: surroundings.clone() };
        Ok(Arc::new(backend))
    }
}

/// Where everything is, and how it is asked for.
#[derive(Debug, Clone)]
struct Endpoints {
    state: Url,
    update: Method,
    lock: Option<(Method, Url)>,
    unlock: Option<(Method, Url)>,
}

fn endpoints(settings: &mut Settings<'_>) -> Option<Endpoints> {
    let address = settings.required("address", "TF_HTTP_ADDRESS");
    let state = Some(address).filter(|address| !address.is_empty()).and_then(|it| parse_url(settings, "address", &it));
    let update = method(settings, "update_method", "TF_HTTP_UPDATE_METHOD", "POST");
    let mut pair = |(address, in_environment): (&str, &str), (name, variable, default): (&str, &str, &str)| {
        let method = method(settings, name, variable, default)?;
        let text = settings.text(address, in_environment)?;
        Some((method, parse_url(settings, address, &text)?))
    };
    let lock = pair(("lock_address", "TF_HTTP_LOCK_ADDRESS"), ("lock_method", "TF_HTTP_LOCK_METHOD", "LOCK"));
    let unlock =
        pair(("unlock_address", "TF_HTTP_UNLOCK_ADDRESS"), ("unlock_method", "TF_HTTP_UNLOCK_METHOD", "UNLOCK"));
    Some(Endpoints { state: state?, update: update?, lock, unlock })
}

fn parse_url(settings: &mut Settings<'_>, name: &str, text: &str) -> Option<Url> {
    let found = match Url::parse(text) {
        Ok(url) if matches!(url.scheme(), "http" | "https") => return Some(url),
        Ok(_) => invalid(name, "it must be HTTP or HTTPS"),
        Err(error) => invalid(name, format!("it is no address: {error}")),
    };
    settings.wrong.push(found);
    None
}

fn method(settings: &mut Settings<'_>, name: &str, variable: &str, default: &str) -> Option<Method> {
    let text = settings.text(name, variable).unwrap_or_else(|| default.to_owned());
    let method = Method::from_bytes(text.as_bytes()).ok();
    if method.is_none() {
        settings.wrong.push(invalid(name, "it is no method of HTTP"));
    }
    method
}

fn client(settings: &mut Settings<'_>, surroundings: &Surroundings) -> Option<Client> {
    let username = settings.text("username", "TF_HTTP_USERNAME");
    let password = settings.text("password", "TF_HTTP_PASSWORD").unwrap_or_default();
    let headers = headers(settings, username.is_some());
    let seconds = |count: u64| Duration::from_secs(count);
    let retries = Retries {
        most: settings.count("retry_max", "TF_HTTP_RETRY_MAX", 2),
        shortest: seconds(settings.count("retry_wait_min", "TF_HTTP_RETRY_WAIT_MIN", 1)),
        longest: seconds(settings.count("retry_wait_max", "TF_HTTP_RETRY_WAIT_MAX", 30)),
    };
    let certificate = settings.text("client_certificate_pem", "TF_HTTP_CLIENT_CERTIFICATE_PEM");
    let key = settings.text("client_private_key_pem", "TF_HTTP_CLIENT_PRIVATE_KEY_PEM");
    let identity = match (certificate, key) {
        (Some(certificate), Some(key)) => Some(Identity { certificate, key }),
        (None, None) => None,
        (Some(_), None) => return refuse(settings, "client_certificate_pem is set but client_private_key_pem is not."),
        (None, Some(_)) => return refuse(settings, "client_private_key_pem is set but client_certificate_pem is not."),
    };
    let tls = Tls {
        roots: settings.text("client_ca_certificate_pem", "TF_HTTP_CLIENT_CA_CERTIFICATE_PEM"),
        identity,
        trust_anybody: settings.flag("skip_cert_verification", "", false),
    };
    let basic = username.map(|username| (username, password));
    match Client::new(headers, basic, retries, &tls, surroundings) {
        Ok(client) => Some(client),
        Err(error) => refuse(settings, &format!("Requests cannot be made with these settings: {error}.")),
    }
}

fn refuse<T>(settings: &mut Settings<'_>, detail: &str) -> Option<T> {
    settings.wrong.push(Diagnostic::error("Invalid backend configuration", detail));
    None
}

/// The headers that were asked for, as far as they may be set.
fn headers(settings: &mut Settings<'_>, has_username: bool) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, text) in settings.texts_by_name("headers") {
        let problem = match name.to_ascii_lowercase().as_str() {
            "authorization" if has_username => "cannot be set when providing username",
            "content-type" | "content-md5" => "is reserved",
            _ if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)) => {
                "name must not be empty and only contain A-Za-z0-9-_ characters"
            }
            _ if text.trim().is_empty() || !text.is_ascii() => {
                "value must not be empty and only contain ascii characters"
            }
            _ => match (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(&text)) {
                (Ok(name), Ok(mut value)) => {
                    value.set_sensitive(true);
                    headers.insert(name, value);
                    continue;
                }
                _ => "value has characters that a header cannot have",
            },
        };
        settings.wrong.push(Diagnostic::error(
            "Invalid backend configuration",
            format!("The header \"{name}\" of \"headers\": {problem}."),
        ));
    }
    headers
}

struct HttpBackend {
    endpoints: Endpoints,
    client: Client,
    surroundings: Surroundings,
}

impl Backend for HttpBackend {
    fn workspaces(&self) -> Result<Vec<WorkspaceName>, BackendError> {
        Err(BackendError::OneWorkspace)
    }

    fn delete(&self, _: &WorkspaceName) -> Result<(), BackendError> {
        Err(BackendError::OneWorkspace)
    }

    fn open(&self, workspace: &WorkspaceName, codec: Arc<dyn StateCodec>) -> Result<Place, BackendError> {
        if !workspace.is_default() {
            return Err(BackendError::OneWorkspace);
        }
        let name = format!("http state {}", shown(&self.endpoints.state));
        let runtime = self.surroundings.runtime.clone();
        let store = HttpStore::new(self.endpoints.clone(), self.client.clone(), codec, runtime);
        Ok(Place { name, store: Box::new(store), journal: None })
    }
}

/// An address without what could be secret in it.
fn shown(url: &Url) -> String {
    let mut url = url.clone();
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    url.to_string()
}

#[cfg(test)]
mod tests;
