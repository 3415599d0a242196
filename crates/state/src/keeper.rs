//! One state over the time of a run: read once, saved whenever it has changed, with the right lineage and serial.
//! Where it is kept is the store's business.

use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use crate::{EncodeError, Layout, State, StateStore, StoreError, Version, encode};

/// Sixteen random bytes, from whoever has randomness.
pub type Random<'r> = &'r mut dyn FnMut() -> [u8; 16];

/// A random name for a line of states or a lock: a UUID of version 4.
pub fn random_id(random: Random<'_>) -> String {
    let mut bytes = random();
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    let hex = format!("{:032x}", u128::from_be_bytes(bytes));
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

/// What came of saving.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Saved {
    /// Nothing has changed, so nothing was written.
    Unchanged,
    /// It is stored.
    Written,
}

/// Why a state may not take the place of another.
#[derive(Debug, thiserror::Error)]
pub enum PushError {
    /// They have nothing to do with each other.
    #[error("cannot import state with lineage {new:?} over unrelated state with lineage {old:?}")]
    Unrelated {
        /// Of the one that was given.
        new: String,
        /// Of the one that is there.
        old: String,
    },
    /// The one that is there is newer.
    #[error("cannot import state with serial {new} over newer state with serial {old}")]
    Older {
        /// Of the one that was given.
        new: u64,
        /// Of the one that is there.
        old: u64,
    },
    /// The same serial names two contents.
    #[error("cannot overwrite existing state with serial {0} with a different state that has the same serial")]
    SameSerial(u64),
    /// It could not be stored.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The snapshot that is stored, as far as it must be known to tell whether another one differs.
struct Base {
    version: Version,
    content: Content,
}

enum Content {
    /// As it was read, and as others use it too.
    Read(Arc<State>),
    /// What was written need not be kept.
    Hash([u8; 32]),
}

/// A state over the time of a run.
pub struct Keeper<S> {
    store: S,
    base: Option<Base>,
}

impl<S: StateStore> Keeper<S> {
    /// Over a store that was not read yet. Read before saving: what is not known to be there is not overwritten.
    pub fn new(store: S) -> Self {
        Self { store, base: None }
    }

    /// The store, for its locks.
    pub fn store(&mut self) -> &mut S {
        &mut self.store
    }

    /// The store, to look at.
    pub fn stored_in(&self) -> &S {
        &self.store
    }

    /// The store again.
    pub fn into_store(self) -> S {
        self.store
    }

    /// Reads what is stored now.
    pub fn read(&mut self) -> Result<Option<Arc<State>>, StoreError> {
        let state = self.store.read()?.map(Arc::new);
        self.base = state
            .as_ref()
            .map(|state| Base { version: Version::from(state.as_ref()), content: Content::Read(Arc::clone(state)) });
        Ok(state)
    }

    /// The snapshot that was last read or written.
    pub fn version(&self) -> Option<&Version> {
        self.base.as_ref().map(|base| &base.version)
    }

    /// Stores a state if its content differs from what is stored. Its lineage and serial are set to what they are
    /// then: the lineage of what was there or a new one, and the next serial.
    pub fn save(&mut self, state: &mut State, random: Random<'_>) -> Result<Saved, StoreError> {
        let hash = content_hash(state)?;
        let (lineage, serial) = match &mut self.base {
            None => (random_id(random), 1),
            Some(base) => {
                if base.hash()? == hash {
                    state.lineage.clone_from(&base.version.lineage);
                    state.serial = base.version.serial;
                    return Ok(Saved::Unchanged);
                }
                // States of old formats may have none.
                let lineage = Some(base.version.lineage.clone()).filter(|lineage| !lineage.is_empty());
                let serial = base.version.serial.checked_add(1).ok_or(StoreError::NoMoreSerials)?;
                (lineage.unwrap_or_else(|| random_id(random)), serial)
            }
        };
        let before = (std::mem::replace(&mut state.lineage, lineage), std::mem::replace(&mut state.serial, serial));
        if let Err(error) = self.store.write(self.base.as_ref().map(|base| &base.version), state) {
            (state.lineage, state.serial) = before;
            return Err(error);
        }
        self.base = Some(Base { version: Version::from(&*state), content: Content::Hash(hash) });
        Ok(Saved::Written)
    }

    /// Puts a state in the place of the stored one as it is, lineage and serial included. Unless forced, only as a
    /// successor, or where there is nothing.
    pub fn push(&mut self, state: &State, force: bool) -> Result<Saved, PushError> {
        let stored = self.read()?;
        if let Some(stored) = &stored {
            if !force {
                may_follow(state, stored)?;
            }
            if Version::from(state) == Version::from(stored.as_ref()) && state.same_content(stored) {
                return Ok(Saved::Unchanged);
            }
        }
        let hash = content_hash(state)?;
        let expected = self.version().cloned();
        self.store.write(expected.as_ref(), state)?;
        self.base = Some(Base { version: Version::from(state), content: Content::Hash(hash) });
        Ok(Saved::Written)
    }
}

impl Base {
    /// Kept once it is known, so that the content need not be.
    fn hash(&mut self) -> Result<[u8; 32], StoreError> {
        let hash = match &self.content {
            Content::Hash(hash) => return Ok(*hash),
            Content::Read(state) => content_hash(state)?,
        };
        self.content = Content::Hash(hash);
        Ok(hash)
    }
}

/// Whether a state may take the place of another without being forced.
pub fn may_follow(new: &State, stored: &State) -> Result<(), PushError> {
    if stored.is_empty() || new.lineage.is_empty() || stored.lineage.is_empty() {
        // Nothing can be lost, or nothing can be told.
        return Ok(());
    }
    if new.lineage != stored.lineage {
        return Err(PushError::Unrelated { new: new.lineage.clone(), old: stored.lineage.clone() });
    }
    match new.serial.cmp(&stored.serial) {
        std::cmp::Ordering::Greater => Ok(()),
        std::cmp::Ordering::Equal if new.same_content(stored) => Ok(()),
        std::cmp::Ordering::Equal => Err(PushError::SameSerial(new.serial)),
        std::cmp::Ordering::Less => Err(PushError::Older { new: new.serial, old: stored.serial }),
    }
}

/// Of everything but who wrote it and which snapshot it is.
fn content_hash(state: &State) -> Result<[u8; 32], StoreError> {
    let failed = |source: EncodeError| StoreError::Encode { source };
    let text = encode(state, Layout::Compact).map_err(failed)?;
    // The heading is the only part that is not content, and it comes first.
    let content = text.find("\"outputs\":").map_or(text.as_str(), |at| &text[at..]);
    Ok(Sha256::digest(content.as_bytes()).into())
}

#[cfg(test)]
mod tests;
