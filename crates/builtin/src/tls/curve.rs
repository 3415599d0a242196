//! The elliptic curves that keys may be on. How keys are written is elsewhere.

use p224::elliptic_curve::rand_core::{CryptoRng, RngCore};
use p224::elliptic_curve::sec1::ToEncodedPoint as _;
use sha2::{Digest as _, Sha256, Sha384, Sha512};

/// A curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Curve {
    P224,
    P256,
    P384,
    P521,
}

impl Curve {
    /// All of them.
    pub(super) const ALL: [Curve; 4] = [Curve::P224, Curve::P256, Curve::P384, Curve::P521];

    /// Its name: `P256`.
    pub(super) fn name(self) -> &'static str {
        match self {
            Curve::P224 => "P224",
            Curve::P256 => "P256",
            Curve::P384 => "P384",
            Curve::P521 => "P521",
        }
    }

    /// The curve of that name.
    pub(super) fn by_name(name: &str) -> Option<Curve> {
        Self::ALL.into_iter().find(|curve| curve.name() == name)
    }

    /// Its object identifier.
    pub(super) fn oid(self) -> &'static [u64] {
        match self {
            Curve::P224 => &[1, 3, 132, 0, 33],
            Curve::P256 => &[1, 2, 840, 10045, 3, 1, 7],
            Curve::P384 => &[1, 3, 132, 0, 34],
            Curve::P521 => &[1, 3, 132, 0, 35],
        }
    }

    /// The curve with that object identifier.
    pub(super) fn by_oid(oid: &[u64]) -> Option<Curve> {
        Self::ALL.into_iter().find(|curve| curve.oid() == oid)
    }

    /// How SSH calls it; it does not know all of them.
    pub(super) fn ssh_name(self) -> Option<&'static str> {
        match self {
            Curve::P224 => None,
            Curve::P256 => Some("nistp256"),
            Curve::P384 => Some("nistp384"),
            Curve::P521 => Some("nistp521"),
        }
    }

    /// How many bytes a private key has.
    fn scalar_length(self) -> usize {
        match self {
            Curve::P224 => 28,
            Curve::P256 => 32,
            Curve::P384 => 48,
            Curve::P521 => 66,
        }
    }
}

/// A private key on a curve.
#[derive(Clone)]
pub(super) enum EcKey {
    P224(p224::SecretKey),
    P256(p256::SecretKey),
    P384(p384::SecretKey),
    P521(p521::SecretKey),
}

/// Runs the same code for the key of whichever curve, with that curve's crate under one name.
macro_rules! each_curve {
    ($key:expr, $secret:ident, $curve:ident => $body:expr) => {
        match $key {
            EcKey::P224($secret) => {
                use p224 as $curve;
                $body
            }
            EcKey::P256($secret) => {
                use p256 as $curve;
                $body
            }
            EcKey::P384($secret) => {
                use p384 as $curve;
                $body
            }
            EcKey::P521($secret) => {
                use p521 as $curve;
                $body
            }
        }
    };
}

impl EcKey {
    /// A new key.
    pub(super) fn random(curve: Curve, rng: &mut (impl RngCore + CryptoRng)) -> Self {
        match curve {
            Curve::P224 => Self::P224(p224::SecretKey::random(rng)),
            Curve::P256 => Self::P256(p256::SecretKey::random(rng)),
            Curve::P384 => Self::P384(p384::SecretKey::random(rng)),
            Curve::P521 => Self::P521(p521::SecretKey::random(rng)),
        }
    }

    /// The key with that number. None if it is out of range.
    pub(super) fn from_scalar(curve: Curve, scalar: &[u8]) -> Option<Self> {
        let length = curve.scalar_length();
        let scalar = &scalar[scalar.iter().take_while(|byte| **byte == 0).count()..];
        let mut padded = vec![0; length.checked_sub(scalar.len())?];
        padded.extend_from_slice(scalar);
        match curve {
            Curve::P224 => p224::SecretKey::from_slice(&padded).ok().map(Self::P224),
            Curve::P256 => p256::SecretKey::from_slice(&padded).ok().map(Self::P256),
            Curve::P384 => p384::SecretKey::from_slice(&padded).ok().map(Self::P384),
            Curve::P521 => p521::SecretKey::from_slice(&padded).ok().map(Self::P521),
        }
    }

    /// The curve that it is on.
    pub(super) fn curve(&self) -> Curve {
        match self {
            Self::P224(_) => Curve::P224,
            Self::P256(_) => Curve::P256,
            Self::P384(_) => Curve::P384,
            Self::P521(_) => Curve::P521,
        }
    }

    /// Its number, in as many bytes as the curve takes.
    pub(super) fn scalar(&self) -> Vec<u8> {
        each_curve!(self, secret, curve => {
            let bytes: curve::FieldBytes = secret.to_bytes();
            bytes.to_vec()
        })
    }

    /// The public key as an uncompressed point.
    pub(super) fn point(&self) -> Vec<u8> {
        each_curve!(self, secret, curve => {
            let point: curve::EncodedPoint = secret.public_key().to_encoded_point(false);
            point.as_bytes().to_vec()
        })
    }

    /// A signature of a message, by the hash that goes with the curve.
    pub(super) fn sign(&self, message: &[u8]) -> Option<Vec<u8>> {
        let hash = match self.curve() {
            Curve::P224 | Curve::P256 => Sha256::digest(message).to_vec(),
            Curve::P384 => Sha384::digest(message).to_vec(),
            Curve::P521 => Sha512::digest(message).to_vec(),
        };
        each_curve!(self, secret, curve => {
            use curve::ecdsa::signature::hazmat::PrehashSigner as _;
            let key = curve::ecdsa::SigningKey::from_slice(&secret.to_bytes()).ok()?;
            let signature: curve::ecdsa::Signature = key.sign_prehash(&hash).ok()?;
            Some(signature.to_der().as_bytes().to_vec())
        })
    }
}
