//! What encrypts and decrypts one kind of file: by the first method, or by any that a fallback names. Keys are made when they are
//! needed, and once: that takes a while.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use groma_state::encryption::{AesGcm, EncryptionError, Envelope, Key};
use groma_state::journal::{JournalKeys, SealedKey};
use groma_state::{Layout, PlainCodec, State, StateCodec, StoreError, decode, encode};

use super::keys::Meta;
use super::method::{Choice, Cipher, Method};

/// What the key of a journal is kept under.
const JOURNAL_KEY: &str = "key";

/// Encrypts with one method, and decrypts with several.
pub(crate) struct Target {
    /// What it is for: `state`, `plan`.
    name: String,
    /// The one to write with first.
    choices: Vec<Choice>,
    /// What is encrypted with in this run.
    writing: OnceLock<Result<(Cipher, Meta), EncryptionError>>,
    /// Ciphers that were needed to read, by what finds their keys.
    known: Mutex<BTreeMap<(usize, Meta), Cipher>>,
    /// Whether what was read last is not as it would be written.
    outdated: AtomicBool,
}

/// What was read, and how it was stored.
struct Opened {
    bytes: Vec<u8>,
    /// Whether it is as it would be written.
    is_current: bool,
}

impl Target {
    pub(super) fn new(name: String, choices: Vec<Choice>) -> Self {
        Self { name, choices, writing: OnceLock::new(), known: Mutex::default(), outdated: AtomicBool::new(false) }
    }

    /// Makes the key to write with now, so that whatever is wrong with it is known before there is something to lose.
    pub(crate) fn prepare(&self) -> Result<(), EncryptionError> {
        self.writing().map(|_| ())
    }

    /// Encrypts a file. What is not to be encrypted is given back as it is.
    pub(crate) fn seal(&self, bytes: Vec<u8>) -> Result<Vec<u8>, EncryptionError> {
        match self.writing()? {
            None => Ok(bytes),
            Some((cipher, meta)) => {
                let envelope = Envelope { meta: meta.clone(), data: cipher.encrypt(&bytes)?, ..Envelope::default() };
                Ok(envelope.encode(Layout::Compact).into_bytes())
            }
        }
    }

    /// Decrypts a file. One that is not encrypted is given back as it is, if that is allowed.
    pub(crate) fn open(&self, bytes: Vec<u8>) -> Result<Vec<u8>, EncryptionError> {
        match Envelope::decode(&bytes)? {
            Some(envelope) => self.decrypt(&envelope).map(|opened| opened.bytes),
            None if self.allows_plain() => Ok(bytes),
            None => Err(EncryptionError::NotEncrypted),
        }
    }

    /// What to encrypt with. None if nothing is to be encrypted.
    fn writing(&self) -> Result<Option<(&Cipher, &Meta)>, EncryptionError> {
        let method = match self.choices.first() {
            Some(Choice::Encrypted(method)) => method,
            Some(Choice::Broken(error)) => return Err(error.clone()),
            Some(Choice::Unencrypted) | None => return Ok(None),
        };
        let made = self.writing.get_or_init(|| {
            let mut meta = Meta::new();
            method.new_cipher(&mut meta).map(|cipher| (cipher, meta))
        });
        made.as_ref().map(|(cipher, meta)| Some((cipher, meta))).map_err(EncryptionError::clone)
    }

    /// Tries one method after the other.
    fn decrypt(&self, envelope: &Envelope) -> Result<Opened, EncryptionError> {
        let mut failures = Vec::new();
        for (at, choice) in self.choices.iter().enumerate() {
            let method = match choice {
                Choice::Encrypted(method) => method,
                Choice::Unencrypted => continue,
                Choice::Broken(error) => {
                    failures.push(error.to_string());
                    continue;
                }
            };
            match self.cipher(at, method, &envelope.meta).and_then(|cipher| cipher.decrypt(&envelope.data)) {
                Ok(bytes) => return Ok(Opened { bytes, is_current: at == 0 }),
                Err(error) => failures.push(format!("{}: {error}", method.name)),
            }
        }
        if failures.is_empty() {
            return Err(EncryptionError::AllFailed(format!("the {} target names no method that decrypts", self.name)));
        }
        Err(EncryptionError::AllFailed(failures.join("; ")))
    }

    fn cipher(&self, at: usize, method: &Method, meta: &Meta) -> Result<Cipher, EncryptionError> {
        let place = (at, meta.clone());
        if let Some(known) = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&place) {
            return Ok(known.clone());
        }
        let cipher = method.cipher_again(meta)?;
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(place, cipher.clone());
        Ok(cipher)
    }

    fn read(&self, bytes: &[u8], place: &str) -> Result<(State, bool), StoreError> {
        let failed = |source| StoreError::Encryption { place: place.to_owned(), source };
        let unreadable = |source| StoreError::Unreadable { place: place.to_owned(), source };
        let Some(envelope) = Envelope::decode(bytes).map_err(failed)? else {
            let state = PlainCodec.decode(bytes, place)?;
            if !self.allows_plain() {
                return Err(failed(EncryptionError::NotEncrypted));
            }
            return Ok((state, matches!(self.choices.first(), Some(Choice::Unencrypted))));
        };
        let Opened { bytes, is_current } = self.decrypt(&envelope).map_err(failed)?;
        let text = String::from_utf8(bytes)
            .map_err(|_| failed(EncryptionError::Damaged("what is inside is not text".to_owned())))?;
        let state = decode(&text).map_err(unreadable)?;
        envelope.check_stamp(state.serial, &state.lineage).map_err(failed)?;
        Ok((state, is_current))
    }
}

impl StateCodec for Target {
    fn encode(&self, state: &State) -> Result<Vec<u8>, StoreError> {
        let failed = |source| StoreError::Encryption { place: "the state".to_owned(), source };
        let Some((cipher, meta)) = self.writing().map_err(failed)? else { return PlainCodec.encode(state) };
        let text = encode(state, Layout::Indented).map_err(|source| StoreError::Encode { source })?;
        let data = cipher.encrypt(text.as_bytes()).map_err(failed)?;
        let (serial, lineage) = (Some(state.serial), Some(state.lineage.clone()));
        Ok(Envelope { serial, lineage, meta: meta.clone(), data }.encode(Layout::Indented).into_bytes())
    }

    fn decode(&self, bytes: &[u8], place: &str) -> Result<State, StoreError> {
        let (state, is_current) = self.read(bytes, place)?;
        self.outdated.store(!is_current, Ordering::Relaxed);
        Ok(state)
    }

    fn was_outdated(&self) -> bool {
        self.outdated.load(Ordering::Relaxed)
    }

    fn renewed(&self, bytes: &[u8], place: &str) -> Result<Option<Vec<u8>>, StoreError> {
        match self.read(bytes, place)? {
            (_, true) => Ok(None),
            (state, false) => self.encode(&state).map(Some),
        }
    }
}

/// Journals have a key of their own, which is encrypted like a state.
impl JournalKeys for Target {
    fn new_key(&self) -> Result<Option<SealedKey>, EncryptionError> {
        if self.writing()?.is_none() {
            return Ok(None);
        }
        let mut key = vec![0; 32];
        random(&mut key)?;
        let sealed = self.seal(key.clone())?;
        Ok(Some((AesGcm::new(Key::new(key), Vec::new())?, BTreeMap::from([(JOURNAL_KEY.to_owned(), sealed)]))))
    }

    fn key_again(&self, meta: &BTreeMap<String, Vec<u8>>) -> Result<AesGcm, EncryptionError> {
        let damaged = || EncryptionError::Damaged("the key of the journal is missing".to_owned());
        let envelope = Envelope::decode(meta.get(JOURNAL_KEY).ok_or_else(damaged)?)?.ok_or_else(damaged)?;
        AesGcm::new(Key::new(self.decrypt(&envelope)?.bytes), Vec::new())
    }

    fn allows_plain(&self) -> bool {
        self.choices.iter().any(|choice| matches!(choice, Choice::Unencrypted))
    }
}

/// Fills with what nobody can guess, or fails.
pub(super) fn random(bytes: &mut [u8]) -> Result<(), EncryptionError> {
    getrandom::fill(bytes)
        .map_err(|error| EncryptionError::Method { why: format!("the system has no randomness: {error}") })
}
