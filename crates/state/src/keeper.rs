//! One state over the time of a run: read once, saved whenever it has changed, with the right lineage and serial.
//! Where it is kept is the store's business.

use std::sync::Arc;

use crate::journal::Stamp;
use crate::{Digest, State, StateCodec, StateStore, StoreError, Version};

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
    /// Whether it is known to be safe, and as it would be stored now.
    settled: bool,
}

enum Content {
    /// As it was read, and as others use it too.
    Read(Arc<State>),
    /// What was written need not be kept.
    Hash(Digest),
}

/// A state over the time of a run.
pub struct Keeper<S> {
    store: S,
    /// How states become bytes there, if that may have changed since they were stored.
    codec: Option<Arc<dyn StateCodec>>,
    base: Option<Base>,
    /// The line of the first state.
    lineage: Option<String>,
}

impl<S: StateStore> Keeper<S> {
    /// Over a store that was not read yet. Read before saving: what is not known to be there is not overwritten.
    pub fn new(store: S) -> Self {
        Self { store, codec: None, base: None, lineage: None }
    }

    /// The same, over a store that uses this: a state that is stored in another way than it would be now is stored again, though
    /// nothing else has changed.
    pub fn with_codec(self, codec: Arc<dyn StateCodec>) -> Self {
        Self { codec: Some(codec), ..self }
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
        let is_current = !self.codec.as_ref().is_some_and(|codec| codec.was_outdated());
        self.base = state.as_ref().map(|state| Base::of(state, Content::Read(Arc::clone(state)), is_current));
        Ok(state)
    }

    /// The line that a first state will belong to, if there is none yet.
    pub fn set_first_lineage(&mut self, lineage: &str) {
        self.lineage = Some(lineage.to_owned()).filter(|lineage| !lineage.is_empty());
    }

    /// The snapshot that was last read or written.
    pub fn version(&self) -> Option<&Version> {
        self.base.as_ref().map(|base| &base.version)
    }

    /// Stores a state if its content differs from what is stored. Its lineage and serial are set to what they are
    /// then: the lineage of what was there or a new one, and the next serial.
    pub fn save(&mut self, state: &mut State, random: Random<'_>) -> Result<Saved, StoreError> {
        self.save_announced(state, random, &mut |_| ())
    }

    /// The same. Before it is stored, somebody is told as which snapshot.
    pub fn save_announced(
        &mut self,
        state: &mut State,
        random: Random<'_>,
        announce: &mut dyn FnMut(Stamp),
    ) -> Result<Saved, StoreError> {
        let digest = content_digest(state)?;
        let (lineage, serial) = match &mut self.base {
            None => (self.lineage.clone().unwrap_or_else(|| random_id(random)), 1),
            Some(base) => {
                if base.digest()? == digest && base.settled {
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
        announce(Stamp { serial, digest });
        let before = (std::mem::replace(&mut state.lineage, lineage), std::mem::replace(&mut state.serial, serial));
        if let Err(error) = self.store.write(self.base.as_ref().map(|base| &base.version), state) {
            self.look_again(state, digest);
            (state.lineage, state.serial) = before;
            return Err(error);
        }
        self.base = Some(Base::of(state, Content::Hash(digest), true));
        Ok(Saved::Written)
    }

    /// After a failure: what was written may be there although it is not known to be durable. Then the next one follows it.
    fn look_again(&mut self, written: &State, digest: Digest) {
        if let Ok(Some(found)) = self.store.read()
            && Version::from(&found) == Version::from(written)
            && Digest::of_content(&found).is_ok_and(|found| found == digest)
        {
            self.base = Some(Base::of(written, Content::Hash(digest), false));
        }
    }

    /// The snapshot that was last read or written, by its content. None if there is none.
    pub fn stamp(&mut self) -> Result<Option<Stamp>, StoreError> {
        let Some(base) = &mut self.base else { return Ok(None) };
        Ok(Some(Stamp { serial: base.version.serial, digest: base.digest()? }))
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
        let digest = content_digest(state)?;
        let expected = self.version().cloned();
        self.store.write(expected.as_ref(), state)?;
        self.base = Some(Base::of(state, Content::Hash(digest), true));
        Ok(Saved::Written)
    }
}

impl Base {
    fn of(state: &State, content: Content, settled: bool) -> Self {
        Self { version: Version::from(state), content, settled }
    }

    /// Kept once it is known, so that the content need not be.
    fn digest(&mut self) -> Result<Digest, StoreError> {
        let digest = match &self.content {
            Content::Hash(digest) => return Ok(*digest),
            Content::Read(state) => content_digest(state)?,
        };
        self.content = Content::Hash(digest);
        Ok(digest)
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

fn content_digest(state: &State) -> Result<Digest, StoreError> {
    Digest::of_content(state).map_err(|source| StoreError::Encode { source })
}

#[cfg(test)]
mod tests;
