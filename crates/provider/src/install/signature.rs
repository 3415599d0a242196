//! Detached OpenPGP signatures of checksum lists. Everything that knows about OpenPGP is in this file.

use pgp::composed::{Deserializable, DetachedSignature, SignedPublicKey, SignedPublicSubKey};
use pgp::packet::{Signature, SignatureType};
use pgp::types::{KeyDetails, KeyId, Tag};
use thiserror::Error;

/// A keyring larger than this is no keyring.
const MAX_ARMOR: usize = 4 << 20;

/// How strict signatures are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SignaturePolicy {
    /// Packages of the public registry must be signed, too (`OPENTOFU_ENFORCE_GPG_VALIDATION=true`).
    pub enforce: bool,
    /// Keys that have expired are refused (`OPENTOFU_ENFORCE_GPG_EXPIRATION=true`).
    pub enforce_expiration: bool,
    /// The time, in seconds since 1970.
    pub now: u64,
}

/// Who signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Signer {
    /// The id of the primary key, in capital hexadecimal digits.
    pub(super) key_id: String,
    /// Whether the key or the signature has expired.
    pub(super) expired: bool,
}

/// Why a signature is not good.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(super) enum SignatureError {
    #[error("error decoding signing key: {0}")]
    Key(String),
    #[error("error checking signature: {0}")]
    Bad(String),
    #[error("authentication signature from unknown issuer")]
    UnknownIssuer,
}

/// Finds the key that signed a document. A key that has expired is taken only if no other fits, and if the policy
/// allows it.
pub(super) fn verify(
    document: &[u8],
    signature: &[u8],
    keys: &[String],
    policy: SignaturePolicy,
) -> Result<Signer, SignatureError> {
    let mut expired = None;
    for armor in keys {
        let ring = read_keys(armor)?;
        match check(document, signature, &ring, policy.now)? {
            Some(signer) if signer.expired => expired = expired.or(Some(signer)),
            Some(signer) => return Ok(signer),
            None => {}
        }
    }
    expired.filter(|_| !policy.enforce_expiration).ok_or(SignatureError::UnknownIssuer)
}

fn read_keys(armor: &str) -> Result<Vec<SignedPublicKey>, SignatureError> {
    let wrong = |error: pgp::errors::Error| SignatureError::Key(error.to_string());
    if armor.len() > MAX_ARMOR {
        return Err(SignatureError::Key("the key is too large".to_owned()));
    }
    let (keys, _) = SignedPublicKey::from_string_many(armor).map_err(wrong)?;
    let keys = keys.collect::<Result<Vec<_>, _>>().map_err(wrong)?;
    if keys.is_empty() { Err(SignatureError::Key("there is no key in it".to_owned())) } else { Ok(keys) }
}

/// Checks the first signature that was made by one of the keys. None if there is no such signature.
fn check(
    document: &[u8],
    signatures: &[u8],
    ring: &[SignedPublicKey],
    now: u64,
) -> Result<Option<Signer>, SignatureError> {
    let wrong = |error: pgp::errors::Error| SignatureError::Bad(error.to_string());
    for signature in DetachedSignature::from_bytes_many(signatures).map_err(wrong)? {
        let signature = signature.map_err(wrong)?.signature;
        for key in ring {
            if let Some(signer) = check_with(document, &signature, key, now)? {
                return Ok(Some(signer));
            }
        }
    }
    Ok(None)
}

fn check_with(
    document: &[u8],
    signature: &Signature,
    key: &SignedPublicKey,
    now: u64,
) -> Result<Option<Signer>, SignatureError> {
    let bad = |reason: &str| Err(SignatureError::Bad(reason.to_owned()));
    let primary = &key.primary_key;
    let subkey = key.public_subkeys.iter().find(|subkey| is_issuer(signature, &subkey.key));
    let verified = match subkey {
        Some(subkey) => signature.verify(&subkey.key, document),
        None if is_issuer(signature, primary) => signature.verify(primary, document),
        None => return Ok(None),
    };
    if let Err(error) = verified {
        return bad(&format!("invalid signature: {error}"));
    }
    if !matches!(signature.typ(), Some(SignatureType::Binary | SignatureType::Text)) {
        return bad("it is no signature of a document");
    }
    if is_revoked(key) {
        return bad("signature made by a revoked key");
    }
    let mut expired = primary_validity(key).is_some_and(|validity| validity.is_over(created(primary), now));
    if let Some(subkey) = subkey {
        let Some(validity) = subkey_validity(key, subkey)? else {
            return bad("the signing key is not bound to its owner");
        };
        expired |= validity.is_over(created(&subkey.key), now);
    }
    let lasts = Validity(signature.signature_expiration_time().map(|time| u64::from(time.as_secs())));
    expired |= signature.created().is_some_and(|time| lasts.is_over(u64::from(time.as_secs()), now));
    Ok(Some(Signer { key_id: shown_id(primary.legacy_key_id()), expired }))
}

fn is_issuer(signature: &Signature, key: &impl KeyDetails) -> bool {
    signature.issuer_key_id().contains(&&key.legacy_key_id())
        || signature.issuer_fingerprint().contains(&&key.fingerprint())
}

fn shown_id(id: KeyId) -> String {
    hex::encode_upper(id.as_ref())
}

fn created(key: &impl KeyDetails) -> u64 {
    u64::from(key.created_at().as_secs())
}

/// How many seconds something holds; none (or zero) is for ever.
#[derive(Clone, Copy)]
struct Validity(Option<u64>);

impl Validity {
    fn of(signature: &Signature) -> Self {
        Self(signature.key_expiration_time().map(|time| u64::from(time.as_secs())))
    }

    fn is_over(self, begin: u64, now: u64) -> bool {
        self.0.is_some_and(|seconds| seconds > 0 && begin.saturating_add(seconds) < now)
    }
}

/// What the owner says last about how long the key holds. None if the owner says nothing that is genuine: such a key
/// holds for ever. The registry vouches for it either way.
fn primary_validity(key: &SignedPublicKey) -> Option<Validity> {
    let primary = &key.primary_key;
    let of_users = key.details.users.iter().flat_map(|user| {
        let genuine =
            move |signature: &&Signature| signature.verify_certification(primary, Tag::UserId, &user.id).is_ok();
        user.signatures.iter().filter(genuine)
    });
    let direct = key.details.direct_signatures.iter().filter(|signature| signature.verify_key(primary).is_ok());
    of_users.chain(direct).max_by_key(|signature| signature.created()).map(Validity::of)
}

/// What the owner says last about how long a subkey holds. None if it is not the owner's subkey at all.
fn subkey_validity(key: &SignedPublicKey, subkey: &SignedPublicSubKey) -> Result<Option<Validity>, SignatureError> {
    let primary = &key.primary_key;
    let genuine = |signature: &&Signature| signature.verify_subkey_binding(primary, &subkey.key).is_ok();
    let is_revocation = |signature: &&Signature| signature.typ() == Some(SignatureType::SubkeyRevocation);
    if subkey.signatures.iter().filter(is_revocation).any(|signature| genuine(&signature)) {
        return Err(SignatureError::Bad("signature made by a revoked key".to_owned()));
    }
    let binding = subkey
        .signatures
        .iter()
        .filter(|signature| !is_revocation(signature))
        .filter(genuine)
        .max_by_key(|signature| signature.created());
    let Some(binding) = binding else { return Ok(None) };
    // A signing key must say itself that it belongs to its owner; otherwise anybody could adopt it.
    let adopted =
        binding.embedded_signature().is_some_and(|back| back.verify_primary_key_binding(&subkey.key, primary).is_ok());
    Ok(adopted.then(|| Validity::of(binding)))
}

fn is_revoked(key: &SignedPublicKey) -> bool {
    key.details.revocation_signatures.iter().any(|signature| signature.verify_key(&key.primary_key).is_ok())
}

#[cfg(test)]
mod tests;
