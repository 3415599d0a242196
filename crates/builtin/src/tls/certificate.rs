//! `tls_certificate`: what is in a certificate, and in those that a host shows.

use std::sync::Arc;

use async_trait::async_trait;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::path::Path;
use groma_model::ty::Type;
use groma_model::value::{Value, go_quote};
use sha1::{Digest as _, Sha1};
use url::Url;

use super::common::{PEM, id_of};
use super::issue::decimal;
use super::settings::{Settings, url_with_scheme};
use super::x509::Certificate;
use super::{fetch, pem};
use crate::combinations::{Listed, conflicts_with, exactly_one_of};
use crate::kit::spec::{computed, optional};
use crate::kit::{Call, DataSource, Object, Spec};

/// The data source.
pub(super) struct CertificateData(pub(super) Arc<Settings>);

fn certificate_type() -> Type {
    let text = ["cert_pem", "issuer", "not_after", "not_before", "public_key_algorithm", "serial_number"];
    let more = ["sha1_fingerprint", "signature_algorithm", "subject"];
    let texts = text.into_iter().chain(more).map(|name| (name, Type::String));
    Type::object(texts.chain([("is_ca", Type::Bool), ("max_path_length", Type::Number), ("version", Type::Number)]))
}

#[async_trait]
impl DataSource for CertificateData {
    fn type_name(&self) -> &'static str {
        "tls_certificate"
    }

    fn spec(&self) -> Spec {
        Spec::new()
            .markdown("What is in a certificate, or in the certificates that protect a URL.")
            .attr(
                "url",
                optional(Type::String).check(url_with_scheme(&["https", "tls"])).markdown(
                    "URL to get the certificates from: `https://` (through the proxy of the provider, if there is one) \
                     or `tls://`.",
                ),
            )
            .attr("content", optional(Type::String).markdown(&format!("A certificate in {PEM} format.")))
            .attr(
                "verify_chain",
                optional(Type::Bool).markdown("Whether the certificates of a URL must be trusted (default: `true`)."),
            )
            .attr("id", computed(Type::String).markdown("Hash of all certificates."))
            .attr(
                "certificates",
                computed(Type::list(certificate_type()))
                    .markdown("The certificates, that of the root authority first."),
            )
    }

    fn validate(&self, config: &Object) -> Diagnostics {
        let mut found = exactly_one_of(config, &["content", "url"], Listed::All);
        found.extend(conflicts_with(config, "verify_chain", "content"));
        found
    }

    async fn read(&self, mut config: Object, call: &mut Call) -> Result<Object, Diagnostics> {
        if config.is_null("verify_chain") {
            config.set("verify_chain", Value::bool(true));
        }
        let mut certificates = if let Some(content) = config.text("content") {
            vec![from_content(content)?]
        } else {
            tokio::select! {
                () = call.stopped() => return Err(Diagnostic::error("Request cancelled", "The run was given up.").into()),
                fetched = self.fetched(&config) => fetched?,
            }
        };
        certificates.reverse();
        config.set("id", Value::string(id_of(printed(&certificates).as_bytes())));
        let objects = certificates.iter().map(object).collect();
        config.set("certificates", Value::list(certificate_type(), objects));
        Ok(config)
    }
}

impl CertificateData {
    async fn fetched(&self, config: &Object) -> Result<Vec<Certificate>, Diagnostic> {
        let text = config.text("url").unwrap_or_default();
        let url = Url::parse(text).map_err(|error| {
            Diagnostic::error("Failed to parse URL", error.to_string()).at_path(Path::root().attr("url"))
        })?;
        if url.scheme() == "tls" && url.port().is_none() {
            return Err(Diagnostic::error("URL malformed", format!("Port missing from URL: {text}")));
        }
        let verify = config.flag("verify_chain").unwrap_or(true);
        let failed = |why: String| Diagnostic::error("Failed to identify fetch peer certificates", why);
        let found =
            fetch::peer_certificates(&url, verify, self.0.proxies(), self.0.networks()).await.map_err(failed)?;
        found.iter().map(|bytes| Certificate::read(bytes).map_err(|error| failed(error.to_string()))).collect()
    }
}

fn from_content(content: &str) -> Result<Certificate, Diagnostic> {
    let block = pem::decode(content).ok_or_else(|| {
        let detail = "Value is not a valid PEM encoding of a certificate";
        Diagnostic::error("Failed to decoded PEM", detail).at_path(Path::root().attr("content"))
    })?;
    if block.label != "CERTIFICATE" {
        let detail = format!("Certificate PEM should be \"CERTIFICATE\", got {:?}", block.label);
        return Err(Diagnostic::error("Unexpected PEM preamble", detail));
    }
    Certificate::read(&block.bytes).map_err(|error| Diagnostic::error("Unable to parse certificate", error.to_string()))
}

/// A certificate's texts, in the order in which the published plugin keeps them.
fn texts(certificate: &Certificate) -> [(&'static str, String); 9] {
    [
        ("signature_algorithm", certificate.signature_name().to_owned()),
        ("public_key_algorithm", certificate.public_key.algorithm_name().to_owned()),
        ("serial_number", decimal(&certificate.serial)),
        ("issuer", certificate.issuer.shown()),
        ("subject", certificate.subject.shown()),
        ("not_before", rfc3339(&certificate.validity.0)),
        ("not_after", rfc3339(&certificate.validity.1)),
        ("sha1_fingerprint", hex::encode(Sha1::digest(&certificate.raw))),
        ("cert_pem", pem::encode("CERTIFICATE", &certificate.raw)),
    ]
}

fn object(certificate: &Certificate) -> Value {
    let texts = texts(certificate).map(|(name, text)| (name, Value::string(text)));
    Value::object(texts.into_iter().chain([
        ("is_ca", Value::bool(certificate.is_ca)),
        ("max_path_length", Value::number(certificate.max_path_length)),
        ("version", Value::number(certificate.version)),
    ]))
}

/// All certificates as Go prints them: the id is made of that.
fn printed(certificates: &[Certificate]) -> String {
    let each = certificates.iter().map(|certificate| {
        let [signature, key, serial, rest @ ..] = texts(certificate).map(|(_, text)| go_quote(&text));
        let constraints = format!("{} {} {}", certificate.is_ca, certificate.max_path_length, certificate.version);
        format!("{{{signature} {key} {serial} {constraints} {}}}", rest.join(" "))
    });
    format!("[{}]", each.collect::<Vec<_>>().join(" "))
}

/// `20261116003534Z` as `2026-11-16T00:35:34Z`.
fn rfc3339(compact: &str) -> String {
    let part = |from: usize, to: usize| compact.get(from..to).unwrap_or_default();
    let (date, time) =
        ([part(0, 4), part(4, 6), part(6, 8)].join("-"), [part(8, 10), part(10, 12), part(12, 14)].join(":"));
    format!("{date}T{time}Z")
}
