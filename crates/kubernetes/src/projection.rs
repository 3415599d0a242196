//! The attribute `managed_state_projection`: the values of the places that we own, as text. What is secret in a Secret is there as a
//! fingerprint only.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use sha2::{Digest, Sha256};

use crate::Json;
use crate::manifest::is_own_annotation;
use crate::ownership;
use crate::path::{FieldPath, is_empty};

/// What a fingerprint begins with; hexadecimal digits follow.
const FINGERPRINT: &str = "sha256:";
const FINGERPRINT_BYTES: usize = 8;
/// The block of the hash, which keys are brought to.
const BLOCK: usize = 64;

/// kubectl keeps a copy of the whole object there, secrets and all.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The values at these places, by the text of the place. `key` (the id of the resource) goes into fingerprints of Secret data.
/// Quantities (`1Gi` and `1024Mi`) are not made equal here: the server's own answer is compared with the server's own answer.
pub(crate) fn project(live: &Json, places: &BTreeSet<FieldPath>, key: &str) -> BTreeMap<String, String> {
    let identity: [&[&str]; 4] = [&["apiVersion"], &["kind"], &["metadata", "name"], &["metadata", "namespace"]];
    let identity = identity.map(|names| FieldPath::of(names.iter().copied()));
    let is_secret = is_secret(live);
    let owned = ownership::all_owned(live);
    let mut found = BTreeMap::new();
    for place in identity.iter().chain(places).filter(|place| !is_own_annotation(place)) {
        let Some(value) = place.find(live) else { continue };
        let name = place.to_string();
        if is_shared(place, value, &owned) {
            found.insert(name, if value.is_array() { "[]" } else { "{}" }.to_owned());
            continue;
        }
        let text = if is_secret && is_hidden(place) && !is_empty(value) {
            fingerprint(key, &name, value)
        } else {
            text(value)
        };
        found.insert(name, text);
    }
    found
}

/// Whether a container is ours and others own what is in it: we have written it empty, and what they put into it is not our business.
fn is_shared(place: &FieldPath, value: &Json, owned: &BTreeSet<FieldPath>) -> bool {
    let is_container = (value.is_object() || value.is_array()) && !is_empty(value);
    let next = || owned.range((Bound::Excluded(place), Bound::Unbounded)).next();
    is_container && next().is_some_and(|next| place.covers(next))
}

fn text(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn is_secret(live: &Json) -> bool {
    let member = |name: &str| live.get(name).and_then(Json::as_str);
    member("kind") == Some("Secret") && member("apiVersion") == Some("v1")
}

/// Whether what is in a place of a Secret must not be shown, or has something in it that must not.
fn is_hidden(place: &FieldPath) -> bool {
    match place.names().as_slice() {
        [] | ["metadata"] | ["metadata", "annotations"] => true,
        ["metadata", "annotations", name, ..] => *name == LAST_APPLIED,
        [name, ..] => matches!(*name, "data" | "stringData"),
    }
}

/// Tells whether a value has changed, and nothing else: the same value in another place or object looks different.
fn fingerprint(key: &str, place: &str, value: &Json) -> String {
    let mut message = place.as_bytes().to_vec();
    message.push(0);
    message.extend_from_slice(text(value).as_bytes());
    let digest = keyed_hash(key.as_bytes(), &message);
    format!("{FINGERPRINT}{}", hex::encode(digest.get(..FINGERPRINT_BYTES).unwrap_or(&digest)))
}

/// HMAC with SHA-256 (RFC 2104).
fn keyed_hash(key: &[u8], message: &[u8]) -> Vec<u8> {
    let short = if key.len() > BLOCK { Sha256::digest(key).to_vec() } else { key.to_vec() };
    let padded = |mask: u8| (0..BLOCK).map(|at| short.get(at).copied().unwrap_or(0) ^ mask).collect::<Vec<u8>>();
    let inner = Sha256::new().chain_update(padded(0x36)).chain_update(message).finalize();
    Sha256::new().chain_update(padded(0x5c)).chain_update(inner).finalize().to_vec()
}
