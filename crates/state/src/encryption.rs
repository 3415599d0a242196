//! Encrypted states, as OpenTofu's `encryption` block makes them: keys in, bytes out. Which keys a configuration asks for, and
//! where secrets come from, is not decided here.
//!
//! An encrypted state is a JSON document with the encrypted text of an ordinary one, what key providers need to find the key
//! again, and the lineage and serial in the clear. Both must be those of the text inside, so that a state cannot be passed off
//! as another; that an old one is not passed off as the latest is what witnesses are for.

mod aes;
mod passphrase;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use groma_model::codec::json::Json;

pub use aes::{AesGcm, NONCE};
pub use passphrase::{HashFunction, Passphrase, PassphraseError, PassphraseMeta};

use crate::Layout;
use crate::fields::At;
use crate::v4::Writer;

/// The version of the envelope.
const VERSION: &str = "v0";

/// A key. It is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(Vec<u8>);

impl Key {
    /// From the bytes that a key provider gives.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({} bytes)", self.0.len())
    }
}

/// Why something cannot be encrypted or decrypted.
#[derive(Debug, Clone, thiserror::Error)]
pub enum EncryptionError {
    /// A key must have the length that the method wants.
    #[error("AES-GCM requires keys of 16, 24 or 32 bytes, but this one has {0}")]
    KeyLength(usize),
    /// The key is another one, or the text was changed. Nobody can tell which.
    #[error("the key does not fit, or the encrypted data was changed")]
    WrongKey,
    /// Nothing that is kept with it finds the key again.
    #[error("no decryption key available: it was encrypted with keys of other providers")]
    NoKey,
    /// There is too much to encrypt.
    #[error("there is too much to encrypt at once")]
    TooLong,
    /// The envelope is of a version to come.
    #[error("the encrypted data has version {0:?}, which is not supported")]
    Version(String),
    /// The envelope is damaged.
    #[error("the encrypted data is damaged: {0}")]
    Damaged(String),
    /// It is not encrypted, and nothing allows that.
    #[error("it is not encrypted, and the encryption configuration has no method \"unencrypted\" for it")]
    NotEncrypted,
    /// It is encrypted, and nothing says how.
    #[error("it is encrypted, and can not be read without an encryption configuration")]
    Unexpected,
    /// None of the configured methods can decrypt it.
    #[error("decryption failed for all provided methods: {0}")]
    AllFailed(String),
    /// A key provider gives no key.
    #[error("{name} failed with error: {why}")]
    KeyProvider {
        /// Which one.
        name: String,
        /// Why.
        why: String,
    },
    /// What encrypts or decrypts does not work.
    #[error("{why}")]
    Method {
        /// Why.
        why: String,
    },
    /// It says to be another state than it is.
    #[error("the encrypted state says {outside}, but what is inside says {inside}: it was put together from two")]
    Mismatch {
        /// In the clear.
        outside: String,
        /// Inside.
        inside: String,
    },
}

/// An encrypted state, or anything else that is encrypted the same way.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Envelope {
    /// The serial in the clear.
    pub serial: Option<u64>,
    /// The lineage in the clear.
    pub lineage: Option<String>,
    /// What key providers need to find their keys again, by their names.
    pub meta: BTreeMap<String, Vec<u8>>,
    /// What is encrypted.
    pub data: Vec<u8>,
}

impl Envelope {
    /// Reads an envelope. None if it is none, and so perhaps not encrypted.
    pub fn decode(bytes: &[u8]) -> Result<Option<Self>, EncryptionError> {
        let Some(json) = std::str::from_utf8(bytes).ok().and_then(|text| Json::parse(text).ok()) else {
            return Ok(None);
        };
        let at = At { json: &json, place: String::new() };
        let damaged = |error: crate::DecodeError| EncryptionError::Damaged(error.to_string());
        match at.text("encryption_version") {
            Ok(Some(version)) if version == VERSION => {}
            Ok(Some(version)) if !version.is_empty() => return Err(EncryptionError::Version(version.into_owned())),
            _ => return Ok(None),
        }
        let binary = |text: &str, name: &str| {
            BASE64.decode(text).map_err(|_| EncryptionError::Damaged(format!("{name} is not base64")))
        };
        let mut meta = BTreeMap::new();
        if let Some(Json::Object(members)) = at.get("meta") {
            for (name, value) in members {
                let Json::String(text) = value else {
                    return Err(EncryptionError::Damaged(format!("meta of {name:?} is not a string")));
                };
                meta.insert(name.to_string(), binary(text, name)?);
            }
        }
        Ok(Some(Self {
            serial: at.number("serial").map_err(damaged)?,
            lineage: at.text("lineage").map_err(damaged)?.map(Into::into),
            meta,
            data: binary(&at.needed("encrypted_data").map_err(damaged)?, "encrypted_data")?,
        }))
    }

    /// As text.
    pub fn encode(&self, layout: Layout) -> String {
        let mut out = Writer::new(layout);
        out.object(|out| {
            if let Some(serial) = self.serial {
                out.key("serial");
                out.plain(serial);
            }
            if let Some(lineage) = &self.lineage {
                out.key("lineage");
                out.text(lineage);
            }
            out.key("meta");
            out.object(|out| {
                for (name, meta) in &self.meta {
                    out.key(name);
                    out.text(&BASE64.encode(meta));
                }
            });
            out.key("encrypted_data");
            out.text(&BASE64.encode(&self.data));
            out.key("encryption_version");
            out.text(VERSION);
        });
        out.finish()
    }

    /// Whether what was inside is the state that stands outside in the clear.
    pub fn check_stamp(&self, serial: u64, lineage: &str) -> Result<(), EncryptionError> {
        let mismatch = |name: &str, outside: &dyn fmt::Debug, inside: &dyn fmt::Debug| EncryptionError::Mismatch {
            outside: format!("{name} {outside:?}"),
            inside: format!("{name} {inside:?}"),
        };
        if let Some(outside) = self.serial.filter(|outside| *outside != serial) {
            return Err(mismatch("serial", &outside, &serial));
        }
        match self.lineage.as_deref().filter(|outside| !outside.is_empty() && *outside != lineage) {
            Some(outside) => Err(mismatch("lineage", &outside, &lineage)),
            None => Ok(()),
        }
    }
}
