//! The configuration of the provider: through which proxy certificates are fetched.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::path::Path;
use groma_model::schema::Nesting;
use groma_model::ty::Type;
use groma_model::value::Value;
use groma_network::Networks;
use url::Url;

use super::subject::at_most_one;
use crate::kit::outside::Outside;
use crate::kit::spec::optional;
use crate::kit::{Configure, Object, Spec};
use crate::web::Proxies;

const PROXY_SCHEMES: &[&str] = &["http", "https", "socks5"];

/// What was configured.
pub(super) struct Settings {
    environment: Arc<BTreeMap<String, String>>,
    proxies: Mutex<Proxies>,
    networks: Option<Networks>,
}

impl Settings {
    /// As it is where nothing is configured.
    pub(super) fn new(outside: &Outside) -> Self {
        let environment = outside.environment.clone();
        let proxies = Mutex::new(Proxies::from_environment(&environment));
        Self { environment, proxies, networks: outside.networks.clone() }
    }

    /// Where connections may lead. None for everywhere.
    pub(super) fn networks(&self) -> Option<&Networks> {
        self.networks.as_ref()
    }

    /// Where requests go through.
    pub(super) fn proxies(&self) -> Proxies {
        self.proxies.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A URL must have a host and one of those schemes.
pub(super) fn url_with_scheme(
    schemes: &'static [&'static str],
) -> impl Fn(&Path, &Value) -> Option<Diagnostic> + Send + Sync {
    move |path, value| {
        let text = value.as_str()?;
        let (summary, detail) = match Url::parse(text) {
            Err(error) => ("Invalid URL", format!("Parsing URL {text:?} failed: {error}")),
            Ok(url) if url.host_str().is_none_or(str::is_empty) => {
                ("Invalid URL", format!("URL {text:?} contains no host"))
            }
            Ok(url) if !schemes.contains(&url.scheme()) => {
                let list: Vec<String> = schemes.iter().map(|scheme| format!("{scheme:?}")).collect();
                let detail =
                    format!("URL {text:?} expected to use scheme from [{}], got: {:?}", list.join(" "), url.scheme());
                ("Invalid URL scheme", detail)
            }
            Ok(_) => return None,
        };
        Some(Diagnostic::error(summary, detail).at_path(path.clone()))
    }
}

/// The configuration.
pub(super) struct TlsProvider(pub(super) Arc<Settings>);

#[async_trait]
impl Configure for TlsProvider {
    fn spec(&self) -> Spec {
        let proxy = Spec::new()
            .markdown("The proxy through which endpoints are reached.")
            .attr(
                "url",
                optional(Type::String)
                    .check(url_with_scheme(PROXY_SCHEMES))
                    .markdown("URL of the proxy. Accepted schemes: `http`, `https`, `socks5`."),
            )
            .attr("username", optional(Type::String).markdown("User name (or token) for the proxy."))
            .attr("password", optional(Type::String).sensitive().markdown("Password for the proxy."))
            .attr(
                "from_env",
                optional(Type::Bool)
                    .markdown("Whether the proxy is taken from `HTTPS_PROXY` and its like (default: `true`)."),
            );
        Spec::new()
            .markdown("Provider configuration")
            .block("proxy", Nesting::List, (0, 0), proxy)
            .block_check("proxy", at_most_one)
    }

    fn validate(&self, config: &Object) -> Diagnostics {
        let mut found = Diagnostics::new();
        let Some(proxy) = config.objects("proxy").into_iter().next() else { return found };
        let given = |name: &str| !proxy.is_null(name) && !proxy.is_unknown(name);
        let path = |name: &str| Path::root().attr("proxy").index(0).attr(name);
        let mut report = |name: &str, other: &str, must: bool| {
            let rule = if must { "must" } else { "cannot" };
            let detail =
                format!("Attribute \"proxy[0].{other}\" {rule} be specified when \"proxy[0].{name}\" is specified");
            found.push(Diagnostic::error("Invalid Attribute Combination", detail).at_path(path(name)));
        };
        for other in ["url", "username", "password"] {
            if given("from_env") && given(other) {
                report("from_env", other, false);
            }
        }
        if given("url") && given("from_env") {
            report("url", "from_env", false);
        }
        if given("username") && proxy.is_null("url") {
            report("username", "url", true);
        }
        if given("password") && proxy.is_null("username") {
            report("password", "username", true);
        }
        found
    }

    async fn configure(&self, config: Object) -> Diagnostics {
        let proxies = match config.objects("proxy").into_iter().next() {
            None => Proxies::from_environment(&self.0.environment),
            Some(proxy) => match configured(&proxy, &self.0.environment) {
                Ok(proxies) => proxies,
                Err(diagnostic) => return diagnostic.into(),
            },
        };
        *self.0.proxies.lock().unwrap_or_else(PoisonError::into_inner) = proxies;
        Diagnostics::new()
    }
}

fn configured(proxy: &Object, environment: &BTreeMap<String, String>) -> Result<Proxies, Diagnostic> {
    let Some(text) = proxy.text("url") else {
        let from_environment = proxy.flag("from_env").unwrap_or(true);
        return Ok(if from_environment { Proxies::from_environment(environment) } else { Proxies::None });
    };
    let failed = |why: &str| Diagnostic::error(format!("Unable to parse proxy URL {text:?}"), why);
    let mut url = Url::parse(text).map_err(|error| failed(&error.to_string()))?;
    if url.scheme() == "socks5" {
        return Err(failed("Proxies that speak SOCKS are not supported by the provider that is built in."));
    }
    if let Some(name) = proxy.text("username") {
        url.set_username(name).map_err(|()| failed("it cannot have a user name"))?;
        url.set_password(proxy.text("password")).map_err(|()| failed("it cannot have a password"))?;
    }
    Ok(Proxies::All(url.to_string()))
}
