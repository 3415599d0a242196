//! Ways to encrypt: which there are, and what they do once they have a key.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use groma_state::encryption::{AesGcm, EncryptionError, Key, NONCE};
use serde::Deserialize;

use super::keys::{KeySource, Meta};
use super::programs::Program;

/// The word that programs greet with which encrypt.
const MAGIC: &str = "OpenTofu-External-Encryption-Method";

/// One way to read or write.
pub(super) enum Choice {
    /// In the clear.
    Unencrypted,
    /// Encrypted.
    Encrypted(Method),
    /// It cannot be used; why is said when it is needed.
    Broken(EncryptionError),
}

/// One way to encrypt.
pub(super) struct Method {
    /// What it is known by: `method.aes_gcm.mine`.
    pub(super) name: String,
    /// Where its key comes from.
    pub(super) keys: Option<KeySource>,
    /// What it does.
    pub(super) kind: MethodKind,
}

/// What a method does.
pub(super) enum MethodKind {
    /// AES-GCM.
    AesGcm {
        /// What must be the same for both sides.
        aad: Vec<u8>,
    },
    /// Programs do it.
    External(Arc<Programs>),
}

/// Programs that encrypt and decrypt.
pub(super) struct Programs {
    pub(super) encrypt: Program,
    pub(super) decrypt: Program,
}

/// A method with a key.
#[derive(Clone)]
pub(super) enum Cipher {
    /// AES-GCM.
    AesGcm(AesGcm),
    /// Programs, and what they are told.
    External(Arc<Programs>, Option<Key>),
}

/// What such a program answers.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    #[serde(default)]
    payload: Option<String>,
}

impl Method {
    /// To encrypt with. What finds the key again is added to `meta`.
    pub(super) fn new_cipher(&self, meta: &mut Meta) -> Result<Cipher, EncryptionError> {
        let key = self.keys.as_ref().map(|keys| keys.new_key(meta)).transpose()?;
        self.cipher(key)
    }

    /// To decrypt with.
    pub(super) fn cipher_again(&self, meta: &Meta) -> Result<Cipher, EncryptionError> {
        let key = match &self.keys {
            Some(keys) => Some(keys.key_again(meta)?.ok_or(EncryptionError::NoKey)?),
            None => None,
        };
        self.cipher(key)
    }

    fn cipher(&self, key: Option<Key>) -> Result<Cipher, EncryptionError> {
        Ok(match &self.kind {
            MethodKind::AesGcm { aad } => Cipher::AesGcm(AesGcm::new(key.ok_or(EncryptionError::NoKey)?, aad.clone())?),
            MethodKind::External(programs) => Cipher::External(Arc::clone(programs), key),
        })
    }
}

impl Cipher {
    pub(super) fn encrypt(&self, text: &[u8]) -> Result<Vec<u8>, EncryptionError> {
        match self {
            Cipher::AesGcm(method) => {
                let mut nonce = [0; NONCE];
                super::target::random(&mut nonce)?;
                method.encrypt(text, nonce)
            }
            Cipher::External(programs, key) => run(&programs.encrypt, key.as_ref(), text),
        }
    }

    pub(super) fn decrypt(&self, data: &[u8]) -> Result<Vec<u8>, EncryptionError> {
        match self {
            Cipher::AesGcm(method) => method.decrypt(data),
            Cipher::External(programs, key) => run(&programs.decrypt, key.as_ref(), data),
        }
    }
}

fn run(program: &Program, key: Option<&Key>, payload: &[u8]) -> Result<Vec<u8>, EncryptionError> {
    let failed = |why: String| EncryptionError::Method { why };
    let mut input = serde_json::Map::new();
    if let Some(key) = key {
        input.insert("key".to_owned(), BASE64.encode(key.bytes()).into());
    }
    input.insert("payload".to_owned(), BASE64.encode(payload).into());
    let input = serde_json::Value::Object(input).to_string().into_bytes();
    let answer: Answer = program.ask(MAGIC, input).map_err(failed)?;
    BASE64.decode(answer.payload.unwrap_or_default()).map_err(|_| failed("its payload is not base64".to_owned()))
}
