//! What the types of this provider have in common: ids, texts, errors.

use groma_model::diag::Diagnostic;
use groma_model::value::Value;
use sha1::{Digest as _, Sha1};

use crate::kit::Object;
use crate::kit::outside::RandomnessError;

use super::key::PrivateKey;
use super::ssh;

/// Where documentation of formats is.
pub(super) const PEM: &str = "[PEM (RFC 1421)](https://datatracker.ietf.org/doc/html/rfc1421)";
/// The private form of OpenSSH.
pub(super) const OPENSSH: &str = "[OpenSSH PEM (RFC 4716)](https://datatracker.ietf.org/doc/html/rfc4716)";

/// The id of something that is known by its bytes: their hash, without spaces around them.
pub(super) fn id_of(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return String::new();
    }
    hex::encode(Sha1::digest(trimmed(bytes)))
}

/// Without whatever counts as space at both ends, should the bytes happen to look like text there.
fn trimmed(mut bytes: &[u8]) -> &[u8] {
    let is_space = |bytes: &[u8]| {
        let text = std::str::from_utf8(bytes).unwrap_or("");
        let mut letters = text.chars();
        letters.next().is_some_and(char::is_whitespace) && letters.next().is_none()
    };
    loop {
        let front = (1..=3).filter_map(|n| bytes.get(..n)).find(|head| is_space(head)).map(<[u8]>::len);
        let back = (1..=3).filter_map(|n| bytes.get(bytes.len().checked_sub(n)?..)).find(|tail| is_space(tail));
        match (front, back) {
            (Some(count), _) => bytes = &bytes[count..],
            (None, Some(tail)) => bytes = &bytes[..bytes.len() - tail.len()],
            (None, None) => return bytes,
        }
    }
}

/// Sets what follows from the public half of a key.
pub(super) fn set_public(object: &mut Object, key: &PrivateKey, with_id: bool) {
    let public = key.public_key();
    let ssh = ssh::public(key).unwrap_or_default();
    if with_id {
        object.set("id", Value::string(id_of(&public.0)));
    }
    object.set("public_key_pem", Value::string(public.to_pem()));
    object.set("public_key_openssh", Value::string(ssh.line));
    object.set("public_key_fingerprint_md5", Value::string(ssh.md5));
    object.set("public_key_fingerprint_sha256", Value::string(ssh.sha256));
}

/// Whether a text is a PEM block and nothing else. Old states have hashes where there is one now.
pub(super) fn is_pem(text: &str) -> bool {
    let body = text.strip_suffix('\n').unwrap_or(text);
    let Some((first, rest)) = body.split_once('\n') else { return false };
    let Some((inner, last)) = rest.rsplit_once('\n') else { return false };
    let marks = |line: &str, begin: &str| {
        let label = line.strip_prefix(begin).and_then(|line| line.strip_suffix("-----"));
        label.is_some_and(|label| !label.is_empty() && label.bytes().all(|b| b.is_ascii_alphabetic() || b == b' '))
    };
    marks(first, "-----BEGIN ") && marks(last, "-----END ") && !inner.is_empty()
}

/// A changed key or certificate needs a new object, but not one that an old state has only a hash of.
pub(super) fn was_pem(old: &Value, _: &Value) -> bool {
    old.as_str().is_some_and(is_pem)
}

/// There is no randomness to make keys from.
pub(super) fn no_randomness(error: &RandomnessError) -> Diagnostic {
    Diagnostic::error("Unable to generate Key from configuration", error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_blocks_are_pem() {
        let pem = super::super::pem::encode("RSA PRIVATE KEY", &[1; 80]);
        assert!(is_pem(&pem));
        assert!(is_pem(pem.trim_end()));
        assert!(!is_pem(&format!("{pem}\n")));
        assert!(!is_pem("da39a3ee5e6b4b0d3255bfef95601890afd80709"));
        assert!(!is_pem(""));
    }

    #[test]
    fn bytes_that_look_like_space_do_not_count() {
        assert_eq!(id_of(b"abc \n"), id_of(b"abc"));
        assert_eq!(id_of(b"abc\xc2\xa0"), id_of(b"abc"));
        assert_ne!(id_of(b"abc\xa0"), id_of(b"abc"));
        assert_eq!(id_of(b""), "");
    }
}
