//! Whom certificates and requests are about, as configurations say it.

use std::net::IpAddr;

use groma_model::diag::Diagnostic;
use groma_model::path::{Path, PathKey, PathStep};
use groma_model::schema::Nesting;
use groma_model::ty::Type;
use groma_model::value::Value;

use super::common::is_pem;
use super::name::Name;
use super::x509::AlternativeNames;
use crate::kit::spec::optional;
use crate::kit::{Object, Spec, shown};

const PARTS: [(&str, &str); 9] = [
    ("organization", "O"),
    ("common_name", "CN"),
    ("organizational_unit", "OU"),
    ("locality", "L"),
    ("province", "ST"),
    ("country", "C"),
    ("postal_code", "PC"),
    ("serial_number", "SERIALNUMBER"),
    ("street_address", "STREET"),
];

/// A type with the arguments that say whom it is about.
pub(super) fn with_subject(spec: Spec) -> Spec {
    let list = || optional(Type::list(Type::String)).replace();
    let mut inner = Spec::new().markdown(
        "Whom the certificate is about. All parts are optional and are those of \
         [distinguished names (RFC 5280)](https://tools.ietf.org/html/rfc5280#section-4.1.2.4).",
    );
    for (name, short) in PARTS {
        let ty = if name == "street_address" { Type::list(Type::String) } else { Type::String };
        inner = inner.attr(name, optional(ty).replace().doc(&format!("Distinguished name: `{short}`")));
    }
    let email = "ASN.1 Object Identifier (OID): `1.2.840.113549.1.9.1`";
    inner = inner.attr("email_address", optional(Type::String).replace().doc(email));
    spec.attr("dns_names", list().doc("DNS names that the certificate is valid for."))
        .attr("ip_addresses", list().check(no_empty_texts).doc("IP addresses that the certificate is valid for."))
        .attr("uris", list().check(no_empty_texts).doc("URIs that the certificate is valid for."))
        .block("subject", Nesting::List, (0, 0), inner)
        .block_replace("subject")
        .block_check("subject", at_most_one)
}

fn no_empty_texts(path: &Path, value: &Value) -> Option<Diagnostic> {
    let at = value.as_elements()?.iter().position(|item| item.as_str() == Some(""))?;
    let path = path.join(PathStep::Index(PathKey::Number(at.into())));
    let detail = format!("Attribute {} string length must be at least 1, got: 0", shown(&path));
    Some(Diagnostic::error("Invalid Attribute Value Length", detail).at_path(path))
}

pub(super) fn at_most_one(path: &Path, value: &Value) -> Option<Diagnostic> {
    let count = value.as_elements()?.len();
    let detail =
        format!("Attribute {} list must contain at least 0 elements and at most 1 elements, got: {count}", shown(path));
    (count > 1).then(|| Diagnostic::error("Invalid Attribute Value", detail).at_path(path.clone()))
}

/// Plugins that stored a hash of the private key also stored empty texts and lists for what was not given.
pub(super) fn mend_old(object: &mut Object) {
    if object.text("private_key_pem").is_none_or(is_pem) {
        return;
    }
    let subject = object.get("subject");
    let Some(blocks) = subject.as_elements() else { return };
    let given = |value: &Value| value.as_str() != Some("") && value.as_elements() != Some(&[]);
    let mended = blocks.iter().map(|block| {
        let mut inner = Object::of(block);
        let empty: Vec<String> = inner.iter().filter(|(_, v)| !given(v)).map(|(name, _)| name.to_string()).collect();
        for name in &empty {
            inner.set_null(name);
        }
        inner.into_value()
    });
    let element = blocks.first().map_or(Type::Dynamic, Value::ty);
    object.set("subject", Value::list(element, mended.collect()));
}

/// The name in the block.
pub(super) fn name(object: &Object) -> Name {
    let Some(subject) = object.objects("subject").into_iter().next() else { return Name::default() };
    let one = |name: &str| subject.text(name).map(str::to_owned);
    let list = |name: &str| one(name).into_iter().collect::<Vec<_>>();
    Name {
        country: list("country"),
        organization: list("organization"),
        unit: list("organizational_unit"),
        locality: list("locality"),
        province: list("province"),
        street: subject.texts("street_address").unwrap_or_default().into_iter().map(str::to_owned).collect(),
        postal_code: list("postal_code"),
        common: one("common_name").unwrap_or_default(),
        serial_number: one("serial_number").unwrap_or_default(),
        email: one("email_address"),
        ..Name::default()
    }
}

/// Everything else that it is about.
pub(super) fn alternative_names(object: &Object) -> Result<AlternativeNames, Diagnostic> {
    let texts = |name: &str| object.texts(name).unwrap_or_default().into_iter().map(str::to_owned).collect::<Vec<_>>();
    let mut ips = Vec::new();
    for text in texts("ip_addresses") {
        let ip: Result<IpAddr, _> = text.parse();
        ips.push(ip.map_err(|_| Diagnostic::error("Invalid IP address", format!("Failed to parse {text:?}")))?);
    }
    let uris = texts("uris");
    for uri in &uris {
        // A reference to be resolved elsewhere is fine; control characters are not.
        if uri.chars().any(|letter| letter.is_ascii_control()) {
            let detail = format!("Failed to parse {uri:?}: invalid control character in URL");
            return Err(Diagnostic::error("Invalid URI", detail));
        }
    }
    Ok(AlternativeNames { dns: texts("dns_names"), ips, uris })
}
