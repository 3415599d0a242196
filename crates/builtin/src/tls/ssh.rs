//! Keys as SSH writes them: `authorized_keys` lines, fingerprints, and the private form of OpenSSH.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use ed25519_dalek::SigningKey;
use md5::Md5;
use rsa::rand_core::RngCore;
use rsa::traits::{PrivateKeyParts as _, PublicKeyParts as _};
use sha2::{Digest as _, Sha256};

use super::curve::{Curve, EcKey};
use super::key::PrivateKey;
use super::pem;

const MAGIC: &[u8] = b"openssh-key-v1\0";

/// The public half of a key, as SSH writes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct SshPublic {
    /// A line of `authorized_keys`.
    pub(super) line: String,
    /// `aa:bb:…`
    pub(super) md5: String,
    /// `SHA256:…`
    pub(super) sha256: String,
}

/// The public half of a key; none if SSH does not know its curve.
pub(super) fn public(key: &PrivateKey) -> Option<SshPublic> {
    let (kind, blob) = public_blob(key)?;
    let md5: Vec<String> = Md5::digest(&blob).iter().map(|byte| format!("{byte:02x}")).collect();
    Some(SshPublic {
        line: format!("{kind} {}\n", STANDARD.encode(&blob)),
        md5: md5.join(":"),
        sha256: format!("SHA256:{}", STANDARD_NO_PAD.encode(Sha256::digest(&blob))),
    })
}

/// A key in the private form of OpenSSH, without a passphrase; none if SSH does not know its curve.
pub(super) fn private_pem(key: &PrivateKey, comment: &str, rng: &mut impl RngCore) -> Option<String> {
    let (kind, public) = public_blob(key)?;
    let check = rng.next_u32().to_be_bytes();
    let mut secret = [check, check].concat();
    secret.extend(string(kind.as_bytes()));
    match key {
        PrivateKey::Rsa(key) => {
            let qinv = key.crt_coefficient().unwrap_or_default();
            let [p, q] = [0, 1].map(|at| key.primes().get(at).cloned().unwrap_or_default());
            for number in [key.n(), key.e(), key.d(), &qinv, &p, &q] {
                secret.extend(number_string(&number.to_bytes_be()));
            }
        }
        PrivateKey::Ec(key) => {
            secret.extend(string(key.curve().ssh_name()?.as_bytes()));
            secret.extend(string(&key.point()));
            secret.extend(number_string(&key.scalar()));
        }
        PrivateKey::Ed25519(key) => {
            secret.extend(string(key.verifying_key().as_bytes()));
            secret.extend(string(&key.to_keypair_bytes()));
        }
    }
    secret.extend(string(comment.as_bytes()));
    let mut padding = 1;
    while !secret.len().is_multiple_of(8) {
        secret.push(padding);
        padding += 1;
    }
    let header = [MAGIC, &string(b"none"), &string(b"none"), &string(b""), &1u32.to_be_bytes()].concat();
    Some(pem::encode("OPENSSH PRIVATE KEY", &[header, string(&public), string(&secret)].concat()))
}

/// Reads a key in the private form of OpenSSH, or in any other form of PEM.
pub(super) fn from_pem(text: &str) -> Result<PrivateKey, String> {
    let failed = |why: &str| format!("failed to parse openssh private key: {why}");
    let Some(pem) = pem::decode(text) else { return Err(failed("ssh: no key found")) };
    if pem.label != "OPENSSH PRIVATE KEY" {
        return PrivateKey::from_pem(text).map_err(|why| failed(&why));
    }
    read_private(&pem.bytes).map_err(failed)
}

fn public_blob(key: &PrivateKey) -> Option<(String, Vec<u8>)> {
    let (kind, parts) = match key {
        PrivateKey::Rsa(key) => {
            let parts = [number_string(&key.e().to_bytes_be()), number_string(&key.n().to_bytes_be())];
            ("ssh-rsa".to_owned(), parts.concat())
        }
        PrivateKey::Ec(key) => {
            let curve = key.curve().ssh_name()?;
            (format!("ecdsa-sha2-{curve}"), [string(curve.as_bytes()), string(&key.point())].concat())
        }
        PrivateKey::Ed25519(key) => ("ssh-ed25519".to_owned(), string(key.verifying_key().as_bytes())),
    };
    let blob = [string(kind.as_bytes()), parts].concat();
    Some((kind, blob))
}

fn string(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u32).to_be_bytes(), bytes].concat()
}

/// A number that is not negative: a leading zero keeps it from being read as one that is.
fn number_string(bytes: &[u8]) -> Vec<u8> {
    let bytes = &bytes[bytes.iter().take_while(|byte| **byte == 0).count()..];
    match bytes.first() {
        Some(first) if first & 0x80 != 0 => string(&[&[0], bytes].concat()),
        _ => string(bytes),
    }
}

/// Reads strings one after the other.
struct Strings<'a>(&'a [u8]);

impl<'a> Strings<'a> {
    fn bytes(&mut self, count: usize) -> Result<&'a [u8], &'static str> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or("ssh: short read")?;
        self.0 = rest;
        Ok(taken)
    }

    fn length(&mut self) -> Result<u32, &'static str> {
        let bytes = self.bytes(4)?;
        Ok(bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte)))
    }

    fn string(&mut self) -> Result<&'a [u8], &'static str> {
        let length = self.length()?;
        self.bytes(length as usize)
    }
}

fn read_private(bytes: &[u8]) -> Result<PrivateKey, &'static str> {
    let mut outer = Strings(bytes.strip_prefix(MAGIC).ok_or("ssh: invalid openssh private key format")?);
    if outer.string()? != b"none" {
        return Err("ssh: this private key is passphrase protected");
    }
    outer.string()?;
    outer.string()?;
    if outer.length()? != 1 {
        return Err("ssh: there must be exactly one key");
    }
    outer.string()?;
    let mut secret = Strings(outer.string()?);
    if secret.length()? != secret.length()? {
        return Err("ssh: malformed OpenSSH key");
    }
    match secret.string()? {
        b"ssh-rsa" => {
            let [modulus, exponent, secret_exponent, _, first, second] = [
                secret.string()?,
                secret.string()?,
                secret.string()?,
                secret.string()?,
                secret.string()?,
                secret.string()?,
            ];
            PrivateKey::rsa_of([modulus, exponent, secret_exponent, first, second]).map_err(|_| "ssh: invalid RSA key")
        }
        b"ssh-ed25519" => {
            secret.string()?;
            let pair = <[u8; 64]>::try_from(secret.string()?).map_err(|_| "ssh: private key unexpected length")?;
            let key =
                SigningKey::from_keypair_bytes(&pair).map_err(|_| "ssh: public key does not match private key")?;
            Ok(PrivateKey::Ed25519(key))
        }
        kind if kind.starts_with(b"ecdsa-sha2-") => {
            let name = secret.string()?;
            let curve = Curve::ALL.into_iter().find(|curve| curve.ssh_name().is_some_and(|n| n.as_bytes() == name));
            let curve = curve.ok_or("ssh: unhandled elliptic curve")?;
            secret.string()?;
            EcKey::from_scalar(curve, secret.string()?).map(PrivateKey::Ec).ok_or("ssh: scalar is out of range")
        }
        _ => Err("ssh: unhandled key type"),
    }
}
