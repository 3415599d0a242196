//! Encrypted journals: when states are encrypted, so is what a journal says of objects. The header stays in the clear, for it
//! has no secrets, and says how to find the key again.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};

use super::frame::RunId;
use super::record::RecordError;
use crate::encryption::{AesGcm, EncryptionError, NONCE};

/// A method with a key, and what finds that again.
pub type SealedKey = (AesGcm, BTreeMap<String, Vec<u8>>);

/// Where the keys of journals come from.
pub trait JournalKeys: Send + Sync {
    /// For a new journal: a method with a key of its own, and what finds that again. None if it is not to be encrypted.
    fn new_key(&self) -> Result<Option<SealedKey>, EncryptionError>;

    /// For a journal that was written with what is given.
    fn key_again(&self, meta: &BTreeMap<String, Vec<u8>>) -> Result<AesGcm, EncryptionError>;

    /// Whether journals that are not encrypted are believed.
    fn allows_plain(&self) -> bool;
}

/// What makes a sealed payload belong to one place in one journal.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) run: RunId,
    pub(super) number: u64,
    pub(super) kind: u8,
}

impl Place {
    fn bytes(self) -> [u8; 17] {
        let mut bytes = [self.kind; 17];
        bytes[..8].copy_from_slice(&self.run.0);
        bytes[8..16].copy_from_slice(&self.number.to_le_bytes());
        bytes
    }
}

/// Encrypts what is written to one journal.
pub(super) struct Seal {
    pub(super) method: AesGcm,
    /// How many payloads were encrypted. Numbers of records are used again when a journal cannot begin anew; this is not, so
    /// that no two payloads share a nonce.
    count: AtomicU32,
}

impl Seal {
    pub(super) fn new(method: AesGcm) -> Self {
        Self { method, count: AtomicU32::new(0) }
    }

    pub(super) fn seal(&self, place: Place, payload: &[u8]) -> Result<Vec<u8>, EncryptionError> {
        let next = |count: u32| count.checked_add(1);
        let count = self.count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
        let count = count.map_err(|_| EncryptionError::TooLong)?;
        // Runs are random, so this is never used again with the same key.
        let mut nonce = [0; NONCE];
        nonce[..8].copy_from_slice(&place.run.0);
        nonce[8..].copy_from_slice(&count.to_le_bytes());
        self.method.encrypt(&[place.bytes().as_slice(), payload].concat(), nonce)
    }
}

/// Decrypts a payload, and makes sure that it was written where it is.
pub(super) fn open(method: &AesGcm, place: Place, sealed: &[u8]) -> Result<Vec<u8>, RecordError> {
    let text = method.decrypt(sealed).map_err(RecordError::Key)?;
    match text.strip_prefix(&place.bytes()) {
        Some(payload) => Ok(payload.to_vec()),
        None => Err(RecordError::Displaced),
    }
}
