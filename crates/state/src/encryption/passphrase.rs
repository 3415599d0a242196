//! Keys from passphrases: the key provider `pbkdf2`. A key has a salt of its own, which is kept with what it encrypts.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use groma_model::codec::json::Json;
use sha2::{Sha256, Sha512};

use super::Key;
use crate::Layout;
use crate::fields::At;
use crate::v4::Writer;

/// The shortest passphrase.
const LEAST_PASSPHRASE: usize = 16;
/// The fewest iterations.
const LEAST_ITERATIONS: u32 = 200_000;
/// The longest key and the longest salt. No method takes longer keys; it keeps damaged files from asking for a huge one.
const MOST_BYTES: usize = 1024;

/// A hash function to make keys with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HashFunction {
    /// `sha256`
    Sha256,
    /// `sha512`
    #[default]
    Sha512,
}

impl HashFunction {
    /// By its name.
    pub fn parse(name: &str) -> Result<Self, PassphraseError> {
        match name {
            "sha256" => Ok(HashFunction::Sha256),
            "sha512" => Ok(HashFunction::Sha512),
            _ => Err(PassphraseError::HashFunction(name.to_owned())),
        }
    }

    fn name(self) -> &'static str {
        match self {
            HashFunction::Sha256 => "sha256",
            HashFunction::Sha512 => "sha512",
        }
    }
}

/// What is wrong with a passphrase or what is kept for it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PassphraseError {
    /// It is too short.
    #[error("the passphrase is too short (at least {LEAST_PASSPHRASE} bytes)")]
    TooShort,
    /// It is not repeated often enough.
    #[error("the number of iterations is dangerously low (less than {LEAST_ITERATIONS})")]
    TooFewIterations,
    /// There is none of that name.
    #[error("there is no hash function {0:?}: use \"sha256\" or \"sha512\"")]
    HashFunction(String),
    /// It is nothing, or too much.
    #[error("the {0} must be between 1 and {MOST_BYTES} bytes")]
    Length(&'static str),
    /// What is kept with the encrypted data cannot be used.
    #[error("what is kept to find the key again is damaged")]
    Damaged,
}

/// A passphrase, and how to make keys from it.
#[derive(Clone)]
pub struct Passphrase {
    /// The passphrase.
    pub(super) secret: Vec<u8>,
    /// How long keys are.
    pub key_length: usize,
    /// How often it is hashed.
    pub iterations: u32,
    /// How long salts are.
    pub salt_length: usize,
    /// With what it is hashed.
    pub hash: HashFunction,
}

impl fmt::Debug for Passphrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Passphrase(..)")
    }
}

/// How a key was made, without the passphrase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassphraseMeta {
    /// Random.
    pub salt: Vec<u8>,
    /// How often it was hashed.
    pub iterations: u32,
    /// With what.
    pub hash: HashFunction,
    /// How long the key is.
    pub key_length: usize,
}

impl Passphrase {
    /// With what is used when a configuration says nothing else.
    pub fn new(secret: impl Into<Vec<u8>>) -> Result<Self, PassphraseError> {
        let secret = secret.into();
        if secret.len() < LEAST_PASSPHRASE {
            return Err(PassphraseError::TooShort);
        }
        Ok(Self { secret, key_length: 32, iterations: 600_000, salt_length: 32, hash: HashFunction::default() })
    }

    /// The same way to make keys, of something else.
    pub fn with_secret(&self, secret: impl Into<Vec<u8>>) -> Result<Self, PassphraseError> {
        let Self { key_length, iterations, salt_length, hash, .. } = *self;
        Ok(Self { key_length, iterations, salt_length, hash, ..Self::new(secret)? })
    }

    /// How a new key is made.
    pub fn new_meta(&self, random: &mut dyn FnMut(&mut [u8])) -> Result<PassphraseMeta, PassphraseError> {
        if self.iterations < LEAST_ITERATIONS {
            return Err(PassphraseError::TooFewIterations);
        }
        within(self.key_length, "key length")?;
        within(self.salt_length, "salt length")?;
        let mut salt = vec![0; self.salt_length];
        random(&mut salt);
        Ok(PassphraseMeta { salt, iterations: self.iterations, hash: self.hash, key_length: self.key_length })
    }

    /// Makes a key, for the first time or again. This takes a while, on purpose.
    pub fn key(&self, meta: &PassphraseMeta) -> Key {
        let mut key = vec![0; meta.key_length];
        match meta.hash {
            HashFunction::Sha256 => pbkdf2::pbkdf2_hmac::<Sha256>(&self.secret, &meta.salt, meta.iterations, &mut key),
            HashFunction::Sha512 => pbkdf2::pbkdf2_hmac::<Sha512>(&self.secret, &meta.salt, meta.iterations, &mut key),
        }
        Key::new(key)
    }
}

fn within(length: usize, what: &'static str) -> Result<(), PassphraseError> {
    if (1..=MOST_BYTES).contains(&length) { Ok(()) } else { Err(PassphraseError::Length(what)) }
}

impl PassphraseMeta {
    /// As it is kept with what is encrypted.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Writer::new(Layout::Compact);
        out.object(|out| {
            out.key("salt");
            out.text(&BASE64.encode(&self.salt));
            out.key("iterations");
            out.plain(self.iterations);
            out.key("hash_function");
            out.text(self.hash.name());
            out.key("key_length");
            out.plain(self.key_length);
        });
        out.finish().trim_end().as_bytes().to_vec()
    }

    /// From what is kept with what is encrypted.
    pub fn decode(bytes: &[u8]) -> Result<Self, PassphraseError> {
        let damaged = || PassphraseError::Damaged;
        let json = std::str::from_utf8(bytes).ok().and_then(|text| Json::parse(text).ok()).ok_or_else(damaged)?;
        let at = At { json: &json, place: String::new() };
        let number = |name: &str| at.number(name).ok().flatten().ok_or_else(damaged);
        let salt = at.needed("salt").map_err(|_| damaged())?;
        let meta = Self {
            salt: BASE64.decode(salt.as_bytes()).map_err(|_| damaged())?,
            iterations: u32::try_from(number("iterations")?).ok().filter(|many| *many > 0).ok_or_else(damaged)?,
            hash: HashFunction::parse(&at.needed("hash_function").map_err(|_| damaged())?)?,
            key_length: usize::try_from(number("key_length")?).map_err(|_| damaged())?,
        };
        within(meta.key_length, "key length")?;
        within(meta.salt.len(), "salt length")?;
        Ok(meta)
    }
}
