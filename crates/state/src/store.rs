//! Where a state is kept: what every such place can do, and what goes wrong there.

use std::path::PathBuf;

use groma_model::diag::Diagnostic;

use crate::encryption::{EncryptionError, Envelope};
use crate::{DecodeError, EncodeError, FileError, Layout, LockError, LockInfo, State, decode_bytes, encode};

/// Which snapshot of a state this is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// The line of states.
    pub lineage: String,
    /// Where on it.
    pub serial: u64,
}

impl From<&State> for Version {
    fn from(state: &State) -> Self {
        Self { lineage: state.lineage.clone(), serial: state.serial }
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "serial {} of lineage {:?}", self.serial, self.lineage)
    }
}

/// A place for one state. Calls block; whoever must not wait calls from a thread that may.
pub trait StateStore: Send {
    /// What is there now. None if nothing was ever stored.
    fn read(&mut self) -> Result<Option<State>, StoreError>;

    /// Replaces what is there as a whole, durably, and only if that is still what was expected. When this fails, what
    /// was there before is there still.
    fn write(&mut self, expected: Option<&Version>, next: &State) -> Result<(), StoreError>;

    /// Keeps others from writing. Tries once.
    fn lock(&mut self, info: &LockInfo) -> Result<(), LockError>;

    /// Gives the lock of that name back.
    fn unlock(&mut self, id: &str) -> Result<(), LockError>;

    /// Takes a lock away that nobody will give back.
    fn force_unlock(&mut self, id: &str) -> Result<(), LockError>;

    /// What people should know about what was done, each thing once.
    fn notices(&mut self) -> Vec<Diagnostic> {
        Vec::new()
    }

    /// Somebody else who looks after what is there, as far as the place itself knows: `Stack team/app`.
    fn owner(&mut self) -> Option<String> {
        None
    }
}

/// A store of which kind is not known.
impl StateStore for Box<dyn StateStore> {
    fn read(&mut self) -> Result<Option<State>, StoreError> {
        (**self).read()
    }

    fn write(&mut self, expected: Option<&Version>, next: &State) -> Result<(), StoreError> {
        (**self).write(expected, next)
    }

    fn lock(&mut self, info: &LockInfo) -> Result<(), LockError> {
        (**self).lock(info)
    }

    fn unlock(&mut self, id: &str) -> Result<(), LockError> {
        (**self).unlock(id)
    }

    fn force_unlock(&mut self, id: &str) -> Result<(), LockError> {
        (**self).force_unlock(id)
    }

    fn notices(&mut self) -> Vec<Diagnostic> {
        (**self).notices()
    }

    fn owner(&mut self) -> Option<String> {
        (**self).owner()
    }
}

/// How a state becomes bytes, and bytes a state.
pub trait StateCodec: Send + Sync {
    /// As it is stored.
    fn encode(&self, state: &State) -> Result<Vec<u8>, StoreError>;

    /// From what was stored; `place` is what people know it by.
    fn decode(&self, bytes: &[u8], place: &str) -> Result<State, StoreError>;

    /// Whether what was decoded last is stored in another way than it would be now: not encrypted, or with another key.
    fn was_outdated(&self) -> bool {
        false
    }

    /// What is stored, in the way that it would be stored now. None if it is so already.
    fn renewed(&self, _bytes: &[u8], _place: &str) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(None)
    }
}

/// States as they are.
#[derive(Debug, Clone, Copy, Default)]
pub struct PlainCodec;

impl StateCodec for PlainCodec {
    fn encode(&self, state: &State) -> Result<Vec<u8>, StoreError> {
        encode(state, Layout::Indented).map(String::into_bytes).map_err(|source| StoreError::Encode { source })
    }

    fn decode(&self, bytes: &[u8], place: &str) -> Result<State, StoreError> {
        decode_bytes(bytes).map_err(|source| match Envelope::decode(bytes) {
            Ok(None) => StoreError::Unreadable { place: place.to_owned(), source },
            _ => StoreError::Encryption { place: place.to_owned(), source: EncryptionError::Unexpected },
        })
    }
}

/// Why a state could not be read or stored.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A file is in the way.
    #[error(transparent)]
    File(#[from] FileError),
    /// Somebody else stored something in between.
    #[error("the state was changed by something else: expected {}, found {}", named(expected.as_ref()), named(found.as_ref()))]
    Conflict {
        /// What should have been there.
        expected: Option<Version>,
        /// What was there.
        found: Option<Version>,
    },
    /// The lock does not protect what is stored any more.
    #[error("the state file {path} was replaced or removed by something else while it was locked")]
    LockLost {
        /// Which.
        path: PathBuf,
    },
    /// Somebody else has the lock, and no lock was asked for.
    #[error("the state cannot be written while something else has it locked")]
    Locked(#[source] LockError),
    /// The state has no text.
    #[error("the state cannot be stored")]
    Encode {
        /// Why.
        source: EncodeError,
    },
    /// What is stored is no state.
    #[error("{place} is no state that can be read: {source}")]
    Unreadable {
        /// Where it is.
        place: String,
        /// What is wrong with it.
        source: DecodeError,
    },
    /// The server is away, refuses, or answers nonsense.
    #[error("could not {doing}: {source}")]
    Remote {
        /// What was tried, with what.
        doing: String,
        /// Why it failed.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The lock was taken over by somebody else, who may have written since.
    #[error("the lock of {place} was taken over by something else")]
    TakenOver {
        /// Of what.
        place: String,
    },
    /// It cannot be encrypted or decrypted.
    #[error("{place}: {source}")]
    Encryption {
        /// Where it is.
        place: String,
        /// Why.
        source: EncryptionError,
    },
    /// Serials have an end.
    #[error("the serial of the state is the largest there is")]
    NoMoreSerials,
}

fn named(version: Option<&Version>) -> String {
    version.map_or_else(|| "no state".to_owned(), Version::to_string)
}

/// Others have these as their summaries.
fn encryption_diagnostic(place: &str, error: &EncryptionError) -> Diagnostic {
    let said = |summary: &str, detail: String, hint: &str| Diagnostic::error(summary, detail).hint(hint);
    match error {
        EncryptionError::NotEncrypted => said(
            "encountered unencrypted payload without unencrypted method configured",
            format!("{place} is not encrypted, and the encryption configuration says that it must be."),
            "To encrypt what is there, add a method \"unencrypted\" and name it in a fallback of this target until the next apply.",
        ),
        EncryptionError::Unexpected => said(
            "Unsupported state file format",
            format!("{place} is encrypted and can not be read without an encryption configuration."),
            "Add the encryption block that it was encrypted with, or set TF_ENCRYPTION.",
        ),
        EncryptionError::AllFailed(why) => said(
            "decryption failed for all provided methods",
            format!("{place} cannot be decrypted: {why}."),
            "If the key is the right one, the data was damaged or put together from others: \"groma state history\" lists \
             earlier states. Nothing was overwritten.",
        ),
        EncryptionError::Mismatch { .. } => said(
            "invalid state metadata",
            format!("{place}: {error}."),
            "Put the right one back: \"groma state history\" lists earlier states. Nothing was overwritten.",
        ),
        EncryptionError::KeyProvider { .. } => {
            Diagnostic::error("Unable to fetch encryption key data", format!("{error}."))
        }
        error => Diagnostic::error("Failed to encrypt or decrypt", format!("{place}: {error}.")),
    }
}

impl StoreError {
    /// For people.
    pub fn diagnostic(&self) -> Diagnostic {
        match self {
            StoreError::File(error) => error.diagnostic(),
            StoreError::Locked(error) => error.acquiring(),
            StoreError::Conflict { .. } | StoreError::LockLost { .. } | StoreError::TakenOver { .. } => {
                let mut diagnostic = Diagnostic::error("State was changed in between", format!("{self}."));
                diagnostic.hints.push("Nothing was overwritten. Plan again, from the state as it is now.".to_owned());
                diagnostic
            }
            StoreError::Encode { source } => Diagnostic::error("Failed to save state", format!("{self}: {source}.")),
            StoreError::Encryption { place, source } => encryption_diagnostic(place, source),
            StoreError::Unreadable { .. } | StoreError::Remote { .. } => {
                Diagnostic::error("Failed to use the stored state", format!("{self}."))
            }
            StoreError::NoMoreSerials => Diagnostic::error("Failed to save state", format!("{self}.")),
        }
    }
}
