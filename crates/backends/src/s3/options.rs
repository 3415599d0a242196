//! What goes with every request: how servers are reached, and how they are told to keep objects.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use groma_model::diag::Diagnostic;
use groma_network::{check_proxy, guarded};
use http::{HeaderName, HeaderValue};
use md5::{Digest as _, Md5};

use super::client::causes;
use super::location::encoded;
use crate::Surroundings;
use crate::settings::{Settings, invalid};

/// Headers that go with every object.
pub(super) struct Extras {
    /// To read, and to write.
    pub(super) customer_key: Vec<(HeaderName, HeaderValue)>,
    /// To write.
    pub(super) writing: Vec<(HeaderName, HeaderValue)>,
    pub(super) state_tags: Option<HeaderValue>,
    pub(super) lock_tags: Option<HeaderValue>,
    pub(super) checksums: bool,
}

/// What requests are made with. Only settings and the environment say how servers are reached.
pub(super) fn web_client(
    settings: &mut Settings<'_>,
    surroundings: &Surroundings,
) -> Result<reqwest::Client, Diagnostic> {
    // One process has one crypto provider; another client may have set it already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let networks = surroundings.limits.networks.as_ref();
    let mut builder = guarded(reqwest::Client::builder(), networks)
        .user_agent(concat!("groma/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(Duration::from_secs(10))
        .read_timeout(Duration::from_mins(1))
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .no_proxy()
        .tls_danger_accept_invalid_certs(settings.flag("insecure", "", false));
    if let Some(path) = settings.text("custom_ca_bundle", "AWS_CA_BUNDLE") {
        let wrong = |reason: String| invalid("custom_ca_bundle", format!("{path}: {reason}"));
        let bytes = surroundings.readable(&path).and_then(std::fs::read).map_err(|error| wrong(error.to_string()))?;
        let roots = reqwest::Certificate::from_pem_bundle(&bytes).map_err(|error| wrong(error.to_string()))?;
        builder = builder.tls_certs_merge(roots);
    }
    let variable = |name: &str| {
        let value = (surroundings.variable)(name).or_else(|| (surroundings.variable)(&name.to_lowercase()));
        value.filter(|value| !value.is_empty())
    };
    let exceptions = settings.text("no_proxy", "").or_else(|| variable("NO_PROXY"));
    let exceptions = exceptions.and_then(|text| reqwest::NoProxy::from_string(&text));
    let plain = settings.text("http_proxy", "").or_else(|| variable("HTTP_PROXY"));
    let secure = settings.text("https_proxy", "").or_else(|| variable("HTTPS_PROXY"));
    for (name, proxy) in [("http_proxy", &plain), ("https_proxy", &secure)] {
        let judged = proxy.as_deref().map_or(Ok(()), |proxy| check_proxy(networks, proxy));
        judged.map_err(|refused| invalid(name, refused))?;
    }
    let proxies = [("http_proxy", plain.map(reqwest::Proxy::http)), ("https_proxy", secure.map(reqwest::Proxy::https))];
    for (name, proxy) in proxies {
        if let Some(proxy) = proxy {
            let proxy = proxy.map_err(|_| invalid(name, "it is no address of a proxy"))?;
            builder = builder.proxy(proxy.no_proxy(exceptions.clone()));
        }
    }
    builder.build().map_err(|error| Diagnostic::error("Invalid backend configuration", causes(&error)))
}

/// What goes with every object. None if it cannot be used, which is said in the settings.
pub(super) fn extras(settings: &mut Settings<'_>) -> Option<Extras> {
    let header = |name: &'static str, value: &str| {
        HeaderValue::try_from(value).ok().map(|value| (HeaderName::from_static(name), value))
    };
    let encrypt = settings.flag("encrypt", "", false);
    let given = settings.text("sse_customer_key", "AWS_SSE_CUSTOMER_KEY");
    let kms = settings.text("kms_key_id", "");
    if given.is_some() && kms.is_some() {
        let detail = "Only one of \"kms_key_id\" and \"sse_customer_key\" or AWS_SSE_CUSTOMER_KEY can be set.";
        settings.wrong.push(Diagnostic::error("Invalid encryption configuration", detail));
        return None;
    }
    let (mut customer_key, mut writing) = (Vec::new(), Vec::new());
    if let Some(given) = given {
        let Some(key) = STANDARD.decode(&given).ok().filter(|key| key.len() == 32) else {
            let detail = "sse_customer_key must be 44 characters in length, and base64 encoded.";
            settings.wrong.push(Diagnostic::error("Invalid sse_customer_key value", detail));
            return None;
        };
        if encrypt {
            let sum = STANDARD.encode(Md5::digest(&key));
            customer_key.extend(header("x-amz-server-side-encryption-customer-algorithm", "AES256"));
            customer_key.extend(header("x-amz-server-side-encryption-customer-key", &given));
            customer_key.extend(header("x-amz-server-side-encryption-customer-key-md5", &sum));
            for (_, value) in &mut customer_key {
                value.set_sensitive(true);
            }
        }
    } else if encrypt {
        match &kms {
            Some(id) => {
                writing.extend(header("x-amz-server-side-encryption", "aws:kms"));
                writing.extend(header("x-amz-server-side-encryption-aws-kms-key-id", id));
            }
            None => writing.extend(header("x-amz-server-side-encryption", "AES256")),
        }
    }
    if let Some(acl) = settings.text("acl", "") {
        match header("x-amz-acl", &acl) {
            Some(acl) => writing.push(acl),
            None => settings.wrong.push(invalid("acl", "it is no name of an ACL")),
        }
    }
    let tags = |settings: &Settings<'_>, name: &str| {
        let pairs: Vec<String> = settings
            .texts_by_name(name)
            .iter()
            .map(|(name, value)| format!("{}={}", encoded(name, false), encoded(value, false)))
            .collect();
        (!pairs.is_empty()).then(|| HeaderValue::try_from(pairs.join("&")).ok()).flatten()
    };
    let (state_tags, lock_tags) = (tags(settings, "state_tags"), tags(settings, "lock_tags"));
    let checksums = !settings.flag("skip_s3_checksum", "", false);
    Some(Extras { customer_key, writing, state_tags, lock_tags, checksums })
}
