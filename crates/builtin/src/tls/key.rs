//! Private keys and their public halves: making, reading, writing, signing. The forms of SSH are in `ssh`.

use ed25519_dalek::Signer as _;
use ed25519_dalek::SigningKey;
use rsa::traits::{PrivateKeyParts as _, PublicKeyParts as _};
use rsa::{BigUint, RsaPrivateKey};
use sha1::Sha1;
use sha2::{Digest as _, Sha256};

use super::curve::{Curve, EcKey};
use super::der::{self, DerError, Reader};
use super::pem;
use super::random::Seeded;

const RSA_ENCRYPTION: &[u64] = &[1, 2, 840, 113_549, 1, 1, 1];
const EC_PUBLIC_KEY: &[u64] = &[1, 2, 840, 10045, 2, 1];
const ED25519: &[u64] = &[1, 3, 101, 112];

/// What a key is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Algorithm {
    Rsa,
    Ecdsa,
    Ed25519,
}

impl Algorithm {
    /// As configurations name it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Rsa => "RSA",
            Self::Ecdsa => "ECDSA",
            Self::Ed25519 => "ED25519",
        }
    }
}

/// A private key.
#[derive(Clone)]
pub(super) enum PrivateKey {
    Rsa(Box<RsaPrivateKey>),
    Ec(EcKey),
    Ed25519(SigningKey),
}

impl PrivateKey {
    /// A new RSA key.
    pub(super) fn new_rsa(bits: i64, rng: &mut Seeded) -> Result<Self, String> {
        let bits = usize::try_from(bits).ok().filter(|bits| *bits <= 16_384);
        let Some(bits) = bits else { return Err("crypto/rsa: invalid key size".to_owned()) };
        if bits < 1024 {
            return Err(format!("crypto/rsa: {bits}-bit keys are insecure: at least 1024 bits are needed"));
        }
        RsaPrivateKey::new(rng, bits).map(|key| Self::Rsa(Box::new(key))).map_err(|error| error.to_string())
    }

    /// A new key on a curve.
    pub(super) fn new_ec(curve: Curve, rng: &mut Seeded) -> Self {
        Self::Ec(EcKey::random(curve, rng))
    }

    /// A new Ed25519 key.
    pub(super) fn new_ed25519(rng: &mut Seeded) -> Self {
        Self::Ed25519(SigningKey::generate(rng))
    }

    /// An RSA key from its numbers: modulus, exponent, private exponent, two primes.
    pub(super) fn rsa_of(numbers: [&[u8]; 5]) -> Result<Self, DerError> {
        let [modulus, exponent, secret, first, second] = numbers.map(BigUint::from_bytes_be);
        let key = RsaPrivateKey::from_components(modulus, exponent, secret, vec![first, second])
            .map_err(|error| DerError(error.to_string()))?;
        Ok(Self::Rsa(Box::new(key)))
    }

    /// What it is for.
    pub(super) fn algorithm(&self) -> Algorithm {
        match self {
            Self::Rsa(_) => Algorithm::Rsa,
            Self::Ec(_) => Algorithm::Ecdsa,
            Self::Ed25519(_) => Algorithm::Ed25519,
        }
    }

    /// In the form that is customary for its algorithm.
    pub(super) fn to_pem(&self) -> String {
        match self {
            Self::Rsa(key) => pem::encode("RSA PRIVATE KEY", &pkcs1(key)),
            Self::Ec(key) => pem::encode("EC PRIVATE KEY", &ec_private(key, true)),
            Self::Ed25519(_) => self.to_pkcs8_pem(),
        }
    }

    /// In the form that is the same for all algorithms.
    pub(super) fn to_pkcs8_pem(&self) -> String {
        let inner = match self {
            Self::Rsa(key) => pkcs1(key),
            Self::Ec(key) => ec_private(key, false),
            Self::Ed25519(key) => der::value(der::OCTET_STRING, key.as_bytes()),
        };
        let parts = [der::small(0), self.algorithm_identifier(), der::value(der::OCTET_STRING, &inner)];
        pem::encode("PRIVATE KEY", &der::sequence(&parts))
    }

    fn algorithm_identifier(&self) -> Vec<u8> {
        match self {
            Self::Rsa(_) => der::sequence(&[der::oid(RSA_ENCRYPTION), der::null()]),
            Self::Ec(key) => der::sequence(&[der::oid(EC_PUBLIC_KEY), der::oid(key.curve().oid())]),
            Self::Ed25519(_) => der::sequence(&[der::oid(ED25519)]),
        }
    }

    /// The public half, as certificates have it.
    pub(super) fn public_key(&self) -> PublicKey {
        let bits = match self {
            Self::Rsa(key) => {
                der::sequence(&[der::unsigned(&key.n().to_bytes_be()), der::unsigned(&key.e().to_bytes_be())])
            }
            Self::Ec(key) => key.point(),
            Self::Ed25519(key) => key.verifying_key().as_bytes().to_vec(),
        };
        PublicKey(der::sequence(&[self.algorithm_identifier(), der::bit_string(&bits)]))
    }

    /// How its signatures are made, as certificates say it.
    pub(super) fn signature_identifier(&self) -> Vec<u8> {
        match self {
            Self::Rsa(_) => der::sequence(&[der::oid(&[1, 2, 840, 113_549, 1, 1, 11]), der::null()]),
            Self::Ec(key) => {
                let last = match key.curve() {
                    Curve::P224 | Curve::P256 => 2,
                    Curve::P384 => 3,
                    Curve::P521 => 4,
                };
                der::sequence(&[der::oid(&[1, 2, 840, 10045, 4, 3, last])])
            }
            Self::Ed25519(_) => der::sequence(&[der::oid(ED25519)]),
        }
    }

    /// Signs a message.
    pub(super) fn sign(&self, message: &[u8]) -> Result<Vec<u8>, String> {
        match self {
            Self::Rsa(key) => {
                let scheme = rsa::Pkcs1v15Sign::new::<rsa::sha2::Sha256>();
                key.sign(scheme, &Sha256::digest(message)).map_err(|error| error.to_string())
            }
            Self::Ec(key) => key.sign(message).ok_or_else(|| "the key cannot sign".to_owned()),
            Self::Ed25519(key) => Ok(key.sign(message).to_bytes().to_vec()),
        }
    }

    /// Reads a key in any of the forms of PEM but that of SSH.
    pub(super) fn from_pem(text: &str) -> Result<Self, String> {
        let Some(pem) = pem::decode(text) else {
            return Err(format!("failed to decode PEM block: decoded bytes 0, undecoded {}", text.len()));
        };
        let parsed = match pem.label.as_str() {
            "RSA PRIVATE KEY" => from_pkcs1(&pem.bytes),
            "EC PRIVATE KEY" => from_ec_private(&pem.bytes, None),
            "PRIVATE KEY" => from_pkcs8(&pem.bytes),
            "PUBLIC KEY" | "CERTIFICATE" | "CERTIFICATE REQUEST" => {
                return Err(format!("unable to determine parser for PEM preamble: {}", pem.label));
            }
            _ => return Err(format!("unsupported PEM preamble/type: {}", pem.label)),
        };
        parsed.map_err(|error| format!("failed to parse private key given PEM preamble '{}': {error}", pem.label))
    }
}

/// A public key, as certificates have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PublicKey(pub(super) Vec<u8>);

impl PublicKey {
    /// As text.
    pub(super) fn to_pem(&self) -> String {
        pem::encode("PUBLIC KEY", &self.0)
    }

    fn parts(&self) -> Option<(Vec<u64>, &[u8])> {
        let mut parts = der::only_sequence(&self.0).ok()?;
        let oid = parts.sequence().ok()?.any().ok()?.as_oid()?;
        Some((oid, parts.any().ok()?.as_bits()?))
    }

    /// The name of its algorithm, as Go prints it.
    pub(super) fn algorithm_name(&self) -> &'static str {
        match self.parts() {
            Some((oid, _)) if oid == RSA_ENCRYPTION => "RSA",
            Some((oid, _)) if oid == EC_PUBLIC_KEY => "ECDSA",
            Some((oid, _)) if oid == ED25519 => "Ed25519",
            Some((oid, _)) if oid == [1, 2, 840, 10040, 4, 1] => "DSA",
            _ => "0",
        }
    }

    /// What identifies it inside certificates.
    pub(super) fn key_id(&self) -> Option<Vec<u8>> {
        let (oid, bits) = self.parts()?;
        // Keys without structure of their own are hashed as an octet string: that is what the published plugin does.
        let bits = if oid == ED25519 { der::value(der::OCTET_STRING, bits) } else { bits.to_vec() };
        Some(Sha1::digest(bits).to_vec())
    }
}

fn pkcs1(key: &RsaPrivateKey) -> Vec<u8> {
    let one = BigUint::from(1u8);
    let [p, q] = [0, 1].map(|at| key.primes().get(at).cloned().unwrap_or_default());
    let exponent = |prime: &BigUint| if *prime > one { key.d() % (prime - &one) } else { BigUint::default() };
    let numbers = [
        BigUint::default(),
        key.n().clone(),
        key.e().clone(),
        key.d().clone(),
        p.clone(),
        q.clone(),
        exponent(&p),
        exponent(&q),
        key.crt_coefficient().unwrap_or_default(),
    ];
    der::sequence(&numbers.map(|number| der::unsigned(&number.to_bytes_be())))
}

fn from_pkcs1(bytes: &[u8]) -> Result<PrivateKey, DerError> {
    let mut parts = der::only_sequence(bytes)?;
    if !parts.unsigned()?.is_empty() {
        return Err(DerError("x509: unsupported private key version".to_owned()));
    }
    let mut numbers = [&bytes[..0]; 5];
    for number in &mut numbers {
        *number = parts.unsigned()?;
    }
    PrivateKey::rsa_of(numbers)
}

fn ec_private(key: &EcKey, with_curve: bool) -> Vec<u8> {
    let mut parts = vec![der::small(1), der::value(der::OCTET_STRING, &key.scalar())];
    if with_curve {
        parts.push(der::value(der::around(0), &der::oid(key.curve().oid())));
    }
    parts.push(der::value(der::around(1), &der::bit_string(&key.point())));
    der::sequence(&parts)
}

fn from_ec_private(bytes: &[u8], known: Option<Curve>) -> Result<PrivateKey, DerError> {
    let mut parts = der::only_sequence(bytes)?;
    if parts.unsigned()? != [1] {
        return Err(DerError("x509: unknown EC private key version".to_owned()));
    }
    let scalar = parts.expect(der::OCTET_STRING)?.contents;
    let named = match parts.optional(der::around(0))? {
        Some(named) => named.inside().any()?.as_oid().and_then(|oid| Curve::by_oid(&oid)),
        None => None,
    };
    let Some(curve) = known.or(named) else { return Err(DerError("x509: unknown elliptic curve".to_owned())) };
    let key = EcKey::from_scalar(curve, scalar);
    key.map(PrivateKey::Ec).ok_or_else(|| DerError("x509: invalid elliptic curve private key value".to_owned()))
}

fn from_pkcs8(bytes: &[u8]) -> Result<PrivateKey, DerError> {
    let mut parts = der::only_sequence(bytes)?;
    parts.unsigned()?;
    let mut identifier: Reader<'_> = parts.sequence()?;
    let oid = identifier.any()?.as_oid().unwrap_or_default();
    let inner = parts.expect(der::OCTET_STRING)?;
    if oid == RSA_ENCRYPTION {
        return from_pkcs1(inner.contents);
    }
    if oid == EC_PUBLIC_KEY {
        let curve = identifier.any()?.as_oid().and_then(|oid| Curve::by_oid(&oid));
        return from_ec_private(inner.contents, curve);
    }
    if oid == ED25519 {
        let seed = inner.inside().expect(der::OCTET_STRING)?.contents;
        let seed =
            <[u8; 32]>::try_from(seed).map_err(|_| DerError("x509: invalid Ed25519 private key length".to_owned()))?;
        return Ok(PrivateKey::Ed25519(SigningKey::from_bytes(&seed)));
    }
    let numbers: Vec<String> = oid.iter().map(u64::to_string).collect();
    Err(DerError(format!("x509: PKCS#8 wrapping contained private key with unknown algorithm: {}", numbers.join("."))))
}
