//! AES-GCM, with keys of any length that AES has: the nonce first, then the text with its tag.

use aes_gcm::aead::consts::U12;
use aes_gcm::aead::{Aead, KeyInit, Payload};
use aes_gcm::aes::{Aes128, Aes192, Aes256};

use super::{EncryptionError, Key};

/// How many random bytes each text takes.
pub const NONCE: usize = 12;

/// The method `aes_gcm`.
#[derive(Debug, Clone)]
pub struct AesGcm {
    key: Key,
    /// What must be the same for both sides, but is not encrypted.
    aad: Vec<u8>,
}

impl AesGcm {
    /// With a key of 16, 24 or 32 bytes, and what the configuration has as `aad`.
    pub fn new(key: Key, aad: Vec<u8>) -> Result<Self, EncryptionError> {
        match key.bytes().len() {
            16 | 24 | 32 => Ok(Self { key, aad }),
            length => Err(EncryptionError::KeyLength(length)),
        }
    }

    /// Encrypts. The random bytes must never be used twice with a key.
    pub fn encrypt(&self, text: &[u8], random: [u8; NONCE]) -> Result<Vec<u8>, EncryptionError> {
        let sealed = self.run(|cipher| cipher.seal(&random, Payload { msg: text, aad: &self.aad }))?;
        let sealed = sealed.ok_or(EncryptionError::TooLong)?;
        Ok([random.as_slice(), &sealed].concat())
    }

    /// Decrypts, if the key is the right one and nothing was changed.
    pub fn decrypt(&self, data: &[u8]) -> Result<Vec<u8>, EncryptionError> {
        let (nonce, sealed) = data.split_first_chunk::<NONCE>().ok_or(EncryptionError::WrongKey)?;
        let opened = self.run(|cipher| cipher.open(nonce, Payload { msg: sealed, aad: &self.aad }))?;
        opened.ok_or(EncryptionError::WrongKey)
    }

    fn run<T>(&self, work: impl FnOnce(&dyn Cipher) -> T) -> Result<T, EncryptionError> {
        let key = self.key.bytes();
        let wrong = |_| EncryptionError::KeyLength(key.len());
        Ok(match key.len() {
            16 => work(&aes_gcm::AesGcm::<Aes128, U12>::new_from_slice(key).map_err(wrong)?),
            24 => work(&aes_gcm::AesGcm::<Aes192, U12>::new_from_slice(key).map_err(wrong)?),
            _ => work(&aes_gcm::AesGcm::<Aes256, U12>::new_from_slice(key).map_err(wrong)?),
        })
    }
}

/// A cipher with a key of some length.
trait Cipher {
    fn seal(&self, nonce: &[u8; NONCE], text: Payload<'_, '_>) -> Option<Vec<u8>>;
    fn open(&self, nonce: &[u8; NONCE], sealed: Payload<'_, '_>) -> Option<Vec<u8>>;
}

impl<A> Cipher for A
where
    A: Aead + aes_gcm::aead::AeadCore<NonceSize = U12>,
{
    fn seal(&self, nonce: &[u8; NONCE], text: Payload<'_, '_>) -> Option<Vec<u8>> {
        self.encrypt(nonce.into(), text).ok()
    }

    fn open(&self, nonce: &[u8; NONCE], sealed: Payload<'_, '_>) -> Option<Vec<u8>> {
        self.decrypt(nonce.into(), sealed).ok()
    }
}
