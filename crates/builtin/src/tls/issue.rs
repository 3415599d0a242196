//! What all certificates have in common that are made here: arguments, issuing, renewal.

use std::time::{Duration, SystemTime};

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::path::{Path, PathKey, PathStep};
use groma_model::ty::Type;
use groma_model::value::Value;
use jiff::Timestamp;

use super::common::{PEM, is_pem, was_pem};
use super::key::{PrivateKey, PublicKey};
use super::name::Name;
use super::x509::{AlternativeNames, Certificate, NewCertificate};
use super::{pem, usage};
use crate::combinations::{one_for_all, together};
use crate::kit::checks::at_least;
use crate::kit::outside::Outside;
use crate::kit::spec::{Replace, computed, optional, optional_computed, required};
use crate::kit::{Object, Planned, Spec, shown};

/// A type with a private key among its arguments, under names with a prefix.
pub(super) fn with_private_key(spec: Spec, prefix: &str) -> Spec {
    let [name, secret, version] = key_names(prefix);
    let key = format!("The private key in {PEM} format. Either this or `{secret}` must be given.");
    let hidden = format!("The private key in {PEM} format; it is never stored. `{version}` must be given with it.");
    let counter = format!("The version of `{secret}`: a change issues anew.");
    spec.attr(&name, optional(Type::String).sensitive().replace_when(Replace::If(was_pem)).doc(&key))
        .attr(&secret, optional(Type::String).sensitive().write_only().doc(&hidden))
        .attr(&version, optional(Type::Number).replace().doc(&counter))
}

fn key_names(prefix: &str) -> [String; 3] {
    ["private_key_pem", "private_key_pem_wo", "private_key_pem_wo_version"].map(|name| format!("{prefix}{name}"))
}

/// Whether the private key is given in exactly one way.
pub(super) fn check_key_choice(config: &Object, prefix: &str) -> Diagnostics {
    let [name, secret, version] = key_names(prefix);
    let mut found = one_for_all(config, &[&name, &secret]);
    found.extend(together(config, &[&secret, &version]));
    found
}

/// The private key that was given, stored or not.
pub(super) fn given_key(planned: &Object, config: &Object, prefix: &str) -> Result<PrivateKey, Diagnostic> {
    let [name, secret, _] = key_names(prefix);
    let text = config.text(&secret).or_else(|| planned.text(&name)).unwrap_or_default();
    let whose = if prefix.is_empty() { "" } else { "CA " };
    PrivateKey::from_pem(text).map_err(|why| Diagnostic::error(format!("Failed to parse {whose}private key PEM"), why))
}

/// A type with the arguments of all certificates.
pub(super) fn with_certificate(spec: Spec) -> Spec {
    let uses = format!("What the certificate may be used for. Accepted values: `{}`.", usage::NAMES.join("`, `"));
    let flag = || optional_computed(Type::Bool).default(false).replace();
    let moment = || computed(Type::String).keep();
    spec.attr(
        "validity_period_hours",
        required(Type::Number).check(at_least(0)).replace().doc("For how many hours the certificate is valid."),
    )
    .attr("allowed_uses", required(Type::list(Type::String)).check(known_uses).replace().doc(&uses))
    .attr(
        "early_renewal_hours",
        optional_computed(Type::Number)
            .default(0i64)
            .check(at_least(0))
            .doc("How many hours before its end the certificate counts as expired (default: `0`)."),
    )
    .attr("is_ca_certificate", flag().doc("Whether the certificate may sign others (default: `false`)."))
    .attr(
        "max_path_length",
        optional_computed(Type::Number)
            .check(at_least(-1))
            .keep()
            .replace()
            .doc("How many other authorities may follow this one. Does not count unless `is_ca_certificate`."),
    )
    .attr("set_subject_key_id", flag().doc("Whether the certificate has a subject key identifier (default: `false`)."))
    .attr(
        "cert_pem",
        computed(Type::String).keep().doc(&format!("The certificate in {PEM} format; it ends in a newline.")),
    )
    .attr(
        "ready_for_renewal",
        computed(Type::Bool)
            .default(false)
            .doc("Whether the certificate has expired, or will within `early_renewal_hours`."),
    )
    .attr("validity_start_time", moment().doc("When the certificate begins to be valid (RFC 3339)."))
    .attr("validity_end_time", moment().doc("When the certificate ends being valid (RFC 3339)."))
    .attr("id", computed(Type::String).keep().doc("Serial number of the certificate."))
}

fn known_uses(path: &Path, value: &Value) -> Option<Diagnostic> {
    let items = value.as_elements()?;
    let (at, text) = items
        .iter()
        .enumerate()
        .filter_map(|(at, item)| Some((at, item.as_str()?)))
        .find(|(_, text)| !usage::NAMES.contains(text))?;
    let path = path.join(PathStep::Index(PathKey::Number(at.into())));
    let list: Vec<String> = usage::NAMES.iter().map(|name| format!("{name:?}")).collect();
    let detail = format!("Attribute {} value must be one of: [{}], got: {text:?}", shown(&path), list.join(" "));
    Some(Diagnostic::error("Invalid Attribute Value Match", detail).at_path(path))
}

/// Whom a certificate is about, and who signs.
pub(super) struct Parties<'a> {
    /// Whom it is about.
    pub(super) subject: &'a Name,
    /// What else it is about.
    pub(super) names: &'a AlternativeNames,
    /// The key that it is about.
    pub(super) public_key: &'a PublicKey,
    /// The certificate of the one who signs; none for one that signs itself.
    pub(super) issuer: Option<&'a Certificate>,
    /// The key that signs.
    pub(super) key: &'a PrivateKey,
}

/// Issues a certificate as the object says and sets everything that follows from it.
pub(super) fn issue(object: &mut Object, parties: &Parties<'_>, outside: &Outside) -> Result<(), Diagnostic> {
    let (start, end) = validity(object, outside.clock.now())?;
    let mut serial = [0; 16];
    outside
        .randomness
        .fill(&mut serial)
        .map_err(|error| Diagnostic::error("Failed to generate serial number", error.to_string()))?;
    let uses = object.texts("allowed_uses").unwrap_or_default();
    let is_ca = object.flag("is_ca_certificate").unwrap_or(false);
    if is_ca && parties.subject.is_empty() {
        let detail = "Must contain at least one Distinguished Name when creating Certificate Authority (CA)";
        return Err(Diagnostic::error("Invalid Certificate Subject", detail));
    }
    let wants_key_id = is_ca || object.flag("set_subject_key_id").unwrap_or(false);
    let subject_key_id = if wants_key_id { parties.public_key.key_id() } else { None };
    let authority_key_id = if object.flag("set_authority_key_id").unwrap_or(false) {
        if subject_key_id.is_none() {
            let detail = "Could not determine Authority Key Identifier";
            return Err(Diagnostic::error("Invalid Certificate Authority", detail));
        }
        subject_key_id.clone()
    } else {
        None
    };
    let compact = |time: Timestamp| time.strftime("%Y%m%d%H%M%SZ").to_string();
    let certificate = NewCertificate {
        serial: &serial,
        subject: parties.subject,
        issuer: parties.issuer,
        validity: (&compact(start), &compact(end)),
        public_key: parties.public_key,
        names: parties.names,
        key_usage: uses.iter().fold(0, |bits, name| bits | usage::bit(name)),
        extended_usages: uses.iter().filter_map(|name| usage::extended(name)).collect(),
        is_ca,
        max_path_length: object.int("max_path_length").and_then(|length| u32::try_from(length).ok()),
        subject_key_id,
        authority_key_id,
    };
    let signed = certificate.sign(parties.key);
    let bytes = signed.map_err(|why| Diagnostic::error("Failed to create certificate", why))?;
    object.set("id", Value::string(decimal(&serial)));
    object.set("cert_pem", Value::string(pem::encode("CERTIFICATE", &bytes)));
    object.set("validity_start_time", Value::string(start.to_string()));
    object.set("validity_end_time", Value::string(end.to_string()));
    if object.is_unknown("max_path_length") {
        object.set("max_path_length", Value::null(Type::Number));
    }
    Ok(())
}

fn validity(object: &Object, now: SystemTime) -> Result<(Timestamp, Timestamp), Diagnostic> {
    let failed = |why: String| Diagnostic::error("Failed to create certificate", why);
    let start = Timestamp::try_from(now).map_err(|error| failed(error.to_string()))?;
    let hours = object.int("validity_period_hours").and_then(|hours| u64::try_from(hours).ok());
    let seconds = hours.and_then(|hours| hours.checked_mul(3600));
    let end = seconds.and_then(|seconds| start.checked_add(Duration::from_secs(seconds)).ok());
    end.map(|end| (start, end)).ok_or_else(|| failed("the validity period is too long".to_owned()))
}

/// A number in decimal digits from its bytes, the highest first.
pub(super) fn decimal(bytes: &[u8]) -> String {
    let mut digits = vec![0u8];
    for byte in bytes {
        let mut carry = u32::from(*byte);
        for digit in &mut digits {
            let value = u32::from(*digit) * 256 + carry;
            *digit = (value % 10) as u8;
            carry = value / 10;
        }
        while carry > 0 {
            digits.push((carry % 10) as u8);
            carry /= 10;
        }
    }
    digits.iter().rev().map(|digit| char::from(b'0' + digit)).collect()
}

/// Plugins that stored a hash of the private key did not store defaults. What was not given then is what it is by default
/// now: no reason for a new certificate.
pub(super) fn mend_old(object: &mut Object, prefix: &str) {
    let [name, ..] = key_names(prefix);
    if object.text(&name).is_none_or(is_pem) {
        return;
    }
    let has_authority = object.iter().any(|(name, _)| name.as_str() == "set_authority_key_id");
    let flags = ["is_ca_certificate", "set_subject_key_id", "ready_for_renewal"];
    for flag in flags.into_iter().chain(has_authority.then_some("set_authority_key_id")) {
        if object.is_null(flag) {
            object.set(flag, Value::bool(false));
        }
    }
    if object.is_null("early_renewal_hours") {
        object.set_int("early_renewal_hours", 0);
    }
}

/// Whether a certificate has expired, or will soon enough to be renewed now.
fn wants_renewal(object: &Object, now: SystemTime) -> Result<bool, Diagnostic> {
    let Some(text) = object.text("validity_end_time") else { return Ok(false) };
    let end: Timestamp = text.parse().map_err(|error: jiff::Error| {
        Diagnostic::error(format!("Failed to parse data from string: {text}"), error.to_string())
    })?;
    let early = object.int("early_renewal_hours").and_then(|hours| u64::try_from(hours).ok()).unwrap_or(0);
    let early = Duration::from_secs(early.saturating_mul(3600));
    let Ok(now) = Timestamp::try_from(now) else { return Ok(false) };
    // A period that reaches before all time has begun.
    Ok(end.checked_sub(early).is_ok_and(|from| from <= now) || end.checked_sub(early).is_err())
}

/// Says that a certificate is to be renewed.
pub(super) fn read_renewal(object: &mut Object, now: SystemTime) -> Result<(), Diagnostic> {
    if wants_renewal(object, now)? {
        object.set("ready_for_renewal", Value::bool(true));
    }
    Ok(())
}

/// Plans a new certificate where the old one is to be renewed.
pub(super) fn plan_renewal(plan: &mut Planned, now: SystemTime) -> Result<(), Diagnostic> {
    if plan.prior.is_some() && wants_renewal(&plan.object, now)? {
        plan.object.set("ready_for_renewal", Value::unknown(Type::Bool));
        plan.replace_for("ready_for_renewal");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serial_numbers_are_decimal() {
        assert_eq!(decimal(&[]), "0");
        assert_eq!(decimal(&[1, 0]), "256");
        assert_eq!(decimal(&[0xff; 16]), u128::MAX.to_string());
    }
}
