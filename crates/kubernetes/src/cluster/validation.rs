//! What is wrong with the attribute `cluster`. Parts that are not known yet may still turn out right.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use groma_kit::{Object, at};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::path::Path;
use kube::config::Kubeconfig;

use super::CLUSTER;

/// The ways to name a cluster; `host` and the certificate of its authority are one.
const WAYS: &str = "Give exactly one of: host with cluster_ca_certificate (or insecure) and credentials; kubeconfig; \
                    kubeconfig_path; in_cluster = true.";

/// What is wrong with it; parts may be unknown.
pub(crate) fn validate(object: &Object) -> Diagnostics {
    let value = object.get(CLUSTER);
    let mut found = Diagnostics::new();
    if value.is_null() || !value.is_known() {
        return found;
    }
    let cluster = Object::of(&value);
    let deciding = ["host", "cluster_ca_certificate", "kubeconfig", "kubeconfig_path", "in_cluster"];
    if deciding.iter().any(|name| cluster.is_unknown(name)) {
        return found;
    }
    let inline = !cluster.is_null("host") || !cluster.is_null("cluster_ca_certificate");
    let given = [
        inline,
        !cluster.is_null("kubeconfig"),
        !cluster.is_null("kubeconfig_path"),
        cluster.flag("in_cluster").unwrap_or(false),
    ];
    match given.iter().filter(|given| **given).count() {
        0 => found.push(Diagnostic::error("No cluster is given", WAYS).at_path(at(CLUSTER))),
        1 => {}
        _ => {
            let detail = format!("More than one way to reach the cluster is given. {WAYS}");
            found.push(Diagnostic::error("Cluster is given in several ways", detail).at_path(at(CLUSTER)));
            return found;
        }
    }
    if inline {
        validate_inline(&cluster, &mut found);
    }
    if !cluster.is_null("impersonate_groups") && cluster.is_null("impersonate_user") {
        let detail = "Groups belong to a user: give impersonate_user too.";
        found.push(problem("impersonate_groups", "User to act as is missing", detail));
    }
    if cluster.text("impersonate_user").is_some_and(|user| user.trim().is_empty()) {
        let detail = "Its name is empty. Leave impersonate_user out to act as whom the credentials are for.";
        found.push(problem("impersonate_user", "User to act as is missing", detail));
    }
    if let Some(text) = cluster.text("kubeconfig") {
        found.extend(kubeconfig_problem(text).map(|why| problem("kubeconfig", "Invalid kubeconfig", why)));
    }
    found
}

fn path(name: &str) -> Path {
    at(CLUSTER).attr(name)
}

fn problem(name: &str, summary: &str, detail: impl Into<String>) -> Diagnostic {
    Diagnostic::error(summary, detail).at_path(path(name))
}

fn validate_inline(cluster: &Object, found: &mut Diagnostics) {
    if cluster.is_null("host") {
        found.push(problem("host", "Host is missing", "A cluster that is given by its certificate needs host too."));
    }
    for name in ["host", "proxy_url"] {
        if cluster.text(name).is_some_and(|text| !is_url(text)) {
            let detail = format!("{name} must be a URL with a scheme, such as \"https://10.0.0.1:6443\".");
            found.push(problem(name, "Invalid URL", detail));
        }
    }
    let anybody = cluster.is_unknown("insecure") || cluster.flag("insecure") == Some(true);
    let plain = cluster.text("host").is_some_and(|host| host.starts_with("http://"));
    if cluster.is_null("cluster_ca_certificate") && !anybody && !plain {
        let detail = "Give cluster_ca_certificate, or insecure = true if anybody may be the server.";
        found.push(problem("cluster_ca_certificate", "Certificate authority is missing", detail));
    }
    validate_credentials(cluster, found);
    for name in ["cluster_ca_certificate", "client_certificate", "client_key"] {
        if cluster.text(name).is_some_and(|text| pem_text(text).is_none()) {
            let detail = format!("{name} must be PEM (-----BEGIN ...) or the base64 of PEM.");
            found.push(problem(name, "Invalid PEM", detail));
        }
    }
}

fn validate_credentials(cluster: &Object, found: &mut Diagnostics) {
    let [certificate, key] = ["client_certificate", "client_key"].map(|name| !cluster.is_null(name));
    if certificate != key {
        let missing = if certificate { "client_key" } else { "client_certificate" };
        let detail = "client_certificate and client_key are needed together.";
        found.push(problem(missing, "Client certificate is incomplete", detail));
        return;
    }
    let others = ["token", "token_file", "exec"].iter().any(|name| !cluster.is_null(name));
    if !certificate && !others {
        let detail = "Give at least one of: token; token_file; client_certificate and client_key; exec.";
        found.push(Diagnostic::error("Credentials are missing", detail).at_path(at(CLUSTER)));
    }
}

fn is_url(text: &str) -> bool {
    let text = text.trim();
    text.contains("://") && url::Url::parse(text).is_ok_and(|url| url.has_host())
}

/// The PEM of a text that is PEM or the base64 of it.
pub(crate) fn pem_text(text: &str) -> Option<String> {
    const KINDS: [&str; 7] = [
        "CERTIFICATE",
        "PRIVATE KEY",
        "RSA PRIVATE KEY",
        "EC PRIVATE KEY",
        "ENCRYPTED PRIVATE KEY",
        "PUBLIC KEY",
        "RSA PUBLIC KEY",
    ];
    let is_pem = |text: &str| KINDS.iter().any(|kind| text.contains(&format!("-----BEGIN {kind}-----")));
    let text = text.trim();
    if is_pem(text) {
        return Some(text.to_owned());
    }
    let joined: String = text.split_whitespace().collect();
    let decoded = String::from_utf8(STANDARD.decode(joined).ok()?).ok()?;
    is_pem(&decoded).then(|| decoded.trim().to_owned())
}

/// Why a text is no kubeconfig. The text itself is never repeated: it has secrets.
fn kubeconfig_problem(text: &str) -> Option<String> {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Some("It is empty. Give the content of a kubeconfig.".to_owned());
    }
    if looks_like_path(trimmed) {
        let why = "It is a path, not the content of a kubeconfig. Use file(\"...\"), or the argument kubeconfig_path.";
        return Some(why.to_owned());
    }
    match Kubeconfig::from_yaml(trimmed) {
        Err(error) => Some(format!("It is no kubeconfig: {}.", crate::api::kubeconfig_words(&error))),
        Ok(read) if read.api_version.is_none() && read.clusters.is_empty() => {
            Some("It is YAML, but there is neither apiVersion nor clusters in it.".to_owned())
        }
        Ok(_) => None,
    }
}

fn looks_like_path(text: &str) -> bool {
    let one_line = !text.contains('\n');
    let drive = || matches!(text.as_bytes(), [letter, b':', b'\\', ..] if letter.is_ascii_alphabetic());
    one_line && (text.starts_with(['/', '~']) || text.starts_with("./") || text.starts_with("../") || drive())
}
