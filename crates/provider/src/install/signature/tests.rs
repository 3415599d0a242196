//! Tests of signatures. The fixtures were made with GnuPG: a plain RSA key, a key with a signing subkey, one that expired in
//! 2020, and one that was revoked.

use super::*;

const DOCUMENT: &[u8] = include_bytes!("fixtures/SHA256SUMS");
const PLAIN: (&str, &[u8]) = (include_str!("fixtures/plain.asc"), include_bytes!("fixtures/plain.sig"));
const SUBKEY: (&str, &[u8]) = (include_str!("fixtures/subkey.asc"), include_bytes!("fixtures/subkey.sig"));
const EXPIRED: (&str, &[u8]) = (include_str!("fixtures/expired.asc"), include_bytes!("fixtures/expired.sig"));
const REVOKED: (&str, &[u8]) = (include_str!("fixtures/revoked.asc"), include_bytes!("fixtures/revoked.sig"));

/// A time when the keys were there.
const THEN: u64 = 1_800_000_000;

fn verified(signature: &[u8], keys: &[&str], policy: SignaturePolicy) -> Result<Signer, SignatureError> {
    let keys: Vec<String> = keys.iter().map(|key| (*key).to_owned()).collect();
    verify(DOCUMENT, signature, &keys, policy)
}

fn policy() -> SignaturePolicy {
    SignaturePolicy { now: THEN, ..SignaturePolicy::default() }
}

#[test]
fn a_good_signature_names_its_key() {
    let signer = verified(PLAIN.1, &[PLAIN.0], policy()).unwrap();
    assert_eq!(signer, Signer { key_id: "572BEB5364CE474A".to_owned(), expired: false });
    let signer = verified(SUBKEY.1, &[SUBKEY.0], policy()).unwrap();
    assert_eq!(signer.key_id, "8B259C12935F2FCD", "the primary key is named, not the one that signed");
}

#[test]
fn any_of_the_keys_may_have_signed() {
    assert!(verified(PLAIN.1, &[SUBKEY.0, EXPIRED.0, PLAIN.0], policy()).is_ok());
    assert_eq!(verified(PLAIN.1, &[SUBKEY.0], policy()), Err(SignatureError::UnknownIssuer));
    assert_eq!(verified(PLAIN.1, &[], policy()), Err(SignatureError::UnknownIssuer));
}

#[test]
fn an_expired_key_is_told_and_refused_only_if_asked() {
    assert!(verified(EXPIRED.1, &[EXPIRED.0], policy()).unwrap().expired);
    let strict = SignaturePolicy { enforce_expiration: true, ..policy() };
    assert_eq!(verified(EXPIRED.1, &[EXPIRED.0], strict), Err(SignatureError::UnknownIssuer));
    let before = SignaturePolicy { now: 1_578_000_000, ..strict };
    assert!(!verified(EXPIRED.1, &[EXPIRED.0], before).unwrap().expired, "it had not expired then");
}

#[test]
fn a_revoked_key_is_refused() {
    let error = verified(REVOKED.1, &[REVOKED.0], policy()).unwrap_err();
    assert!(error.to_string().contains("revoked"), "{error}");
}

#[test]
fn another_document_is_not_signed() {
    let keys = [PLAIN.0.to_owned()];
    let error = verify(b"something else", PLAIN.1, &keys, policy()).unwrap_err();
    assert!(matches!(error, SignatureError::Bad(_)), "{error}");
}

#[test]
fn nonsense_is_refused() {
    assert!(matches!(verified(PLAIN.1, &["no key"], policy()), Err(SignatureError::Key(_))));
    for nonsense in [&b"nonsense"[..], &[0xc2, 0x03], &PLAIN.1[..40], b"<html></html>"] {
        assert!(verified(nonsense, &[PLAIN.0], policy()).is_err());
    }
    assert_eq!(verified(b"", &[PLAIN.0], policy()), Err(SignatureError::UnknownIssuer));
}
