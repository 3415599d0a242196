//! A state in an object: written only over what was read, by its ETag, under a lock that is renewed.

use std::sync::Arc;

use groma_state::{LockError, LockInfo, State, StateCodec, StateStore, StoreError, Version};
use tokio::runtime::Handle;

use super::client::{Client, Condition, Trouble, What};
use super::lock::{Lock, LockObject};
use crate::silence::{Clock, Grip, Holder, Renewal, Renewed, Watch};

/// How often to try again if others change an object at the same time.
const TRIES: usize = 20;

/// The lock that is held.
struct Held {
    info: LockInfo,
    /// None if there are no locks.
    renewal: Option<Renewal>,
}

/// What was last read or written.
enum Seen {
    /// Not yet.
    Nothing,
    /// There was no object.
    Absent,
    There {
        etag: String,
        version: Option<Version>,
    },
}

/// What a store needs of the outside.
pub(super) struct Around {
    pub(super) runtime: Handle,
    /// None if states are not locked.
    pub(super) lock: Option<LockObject>,
}

/// A state in a bucket.
pub(super) struct ObjectStore {
    client: Arc<Client>,
    key: String,
    place: String,
    codec: Arc<dyn StateCodec>,
    around: Around,
    seen: Seen,
    held: Option<Held>,
    grip: Arc<Grip>,
    watch: Watch<(String, String)>,
    clock: Clock,
}

impl ObjectStore {
    pub(super) fn new(client: Arc<Client>, key: &str, place: &str, codec: Arc<dyn StateCodec>, around: Around) -> Self {
        Self {
            client,
            key: key.to_owned(),
            place: place.to_owned(),
            codec,
            around,
            seen: Seen::Nothing,
            held: None,
            grip: Arc::default(),
            watch: Watch::new(),
            clock: Clock::new(),
        }
    }

    /// Something that says whether the lock is held here.
    pub(super) fn holding(&self) -> Arc<dyn Fn() -> bool + Send + Sync> {
        let grip = Arc::clone(&self.grip);
        Arc::new(move || grip.is_firm())
    }

    fn taken_over(&self) -> StoreError {
        StoreError::TakenOver { place: self.place.clone() }
    }

    /// Makes sure that the lock is still held, if one was taken.
    async fn check_lock(&self) -> Result<(), StoreError> {
        let (Some(held), Some(lock)) = (&self.held, &self.around.lock) else { return Ok(()) };
        if self.grip.is_firm() {
            let there = lock.get().await.map_err(Trouble::store)?;
            if there.is_some_and(|there| there.info.id == held.info.id) {
                return Ok(());
            }
            self.grip.lose();
        }
        Err(self.taken_over())
    }

    fn decode(&self, bytes: &[u8]) -> Result<Option<State>, StoreError> {
        // An object with nothing in it counts as none, as with the other tools.
        if bytes.is_empty() { Ok(None) } else { self.codec.decode(bytes, &self.place).map(Some) }
    }

    async fn read_now(&mut self) -> Result<Option<State>, StoreError> {
        let object = self.client.get(&self.key).await.map_err(Trouble::store)?;
        let state = object.as_ref().map(|object| self.decode(&object.bytes)).transpose()?.flatten();
        // If the lock is ours now, whoever takes it over will change the object after this.
        self.check_lock().await?;
        self.seen = match object {
            None => Seen::Absent,
            Some(object) => Seen::There { etag: object.etag, version: state.as_ref().map(Version::from) },
        };
        Ok(state)
    }

    async fn write_now(&mut self, expected: Option<&Version>, next: &State) -> Result<(), StoreError> {
        if self.held.is_some() && self.around.lock.is_some() && !self.grip.is_firm() {
            return Err(self.taken_over());
        }
        if matches!(self.seen, Seen::Nothing) {
            self.read_now().await?;
        }
        let (condition, found) = match &self.seen {
            Seen::There { etag, version } => (Condition::Is(etag), version.as_ref()),
            Seen::Nothing | Seen::Absent => (Condition::Absent, None),
        };
        if found != expected {
            return Err(StoreError::Conflict { expected: expected.cloned(), found: found.cloned() });
        }
        let bytes = self.codec.encode(next)?;
        let written =
            self.client.put(&self.key, bytes.clone(), condition, What::State).await.map_err(Trouble::store)?;
        let etag = match written {
            Some(etag) => etag,
            None => self.after_conflict(expected, &bytes).await?,
        };
        self.seen = Seen::There { etag, version: Some(Version::from(next)) };
        Ok(())
    }

    /// Something else is there. Or is it what was just stored, and only the answer was lost?
    async fn after_conflict(&mut self, expected: Option<&Version>, bytes: &[u8]) -> Result<String, StoreError> {
        let object = self.client.get(&self.key).await.map_err(Trouble::store)?;
        self.check_lock().await?;
        if let Some(object) = object.as_ref().filter(|object| object.bytes == bytes) {
            return Ok(object.etag.clone());
        }
        let found = object.map(|object| self.decode(&object.bytes)).transpose()?.flatten();
        Err(StoreError::Conflict { expected: expected.cloned(), found: found.as_ref().map(Version::from) })
    }

    /// Gets the lock. Waits while it cannot be told whether a holder that renews is still there.
    async fn take_lock(&mut self, lock: &LockObject, info: &LockInfo) -> Result<(), LockError> {
        let mut vanished = 0;
        loop {
            if lock.take(info, None).await.map_err(Trouble::lock)? {
                self.watch.forget();
                return Ok(());
            }
            let Some(there) = lock.get().await.map_err(Trouble::lock)? else {
                vanished += 1;
                if vanished > TRIES {
                    let reason = "it is refused as if there were a lock, but there is none";
                    return Err(Trouble::new(format!("lock {}", self.place), reason).lock());
                }
                continue;
            };
            if there.info.id == info.id {
                // The answer to the request that got it was lost.
                lock.remember(0, there.etag);
                self.watch.forget();
                return Ok(());
            }
            if !there.renews {
                self.watch.forget();
                return Err(held(there, NOT_RENEWED));
            }
            match self.watch.see((there.info.id.clone(), there.etag.clone()), self.clock.now()) {
                Holder::Alive => return Err(held(there, "It was renewed just now.")),
                Holder::Unknown(pause) => tokio::time::sleep(pause).await,
                Holder::Silent => {
                    if lock.take(info, Some(&there)).await.map_err(Trouble::lock)? {
                        self.watch.forget();
                        return self.fence(Some(&there.info.id)).await.map_err(StoreTrouble::lock);
                    }
                }
            }
        }
    }

    /// Changes the object without changing the state, so that what others have read is of no use to write any more. `gone` is
    /// whose lock was taken over: if there is no state yet, it may be about to store one.
    async fn fence(&self, gone: Option<&str>) -> Result<(), StoreTrouble> {
        for _ in 0..TRIES {
            let object = self.client.get(&self.key).await?;
            let (bytes, etag) = match (object, gone) {
                (Some(object), _) => {
                    let mut bytes = object.bytes;
                    bytes.push(b' ');
                    (bytes, Some(object.etag))
                }
                (None, None) => return Ok(()),
                (None, Some(gone)) => {
                    // The line is called as its first holder would have called it.
                    let empty =
                        State { tool_version: "0.0.0".to_owned(), lineage: gone.to_owned(), ..State::default() };
                    (self.codec.encode(&empty)?, None)
                }
            };
            let condition = etag.as_deref().map_or(Condition::Absent, Condition::Is);
            if self.client.put(&self.key, bytes, condition, What::State).await?.is_some() {
                return Ok(());
            }
        }
        Err(Trouble::new(format!("take over {}", self.place), "something else keeps changing the state").into())
    }

    fn renew_from_now_on(&self, lock: &LockObject, info: &LockInfo) -> Renewal {
        let (lock, grip, info) = (lock.clone(), Arc::clone(&self.grip), info.clone());
        Renewal::start(&self.around.runtime, move || {
            let (lock, grip, info) = (lock.clone(), Arc::clone(&grip), info.clone());
            async move {
                let renewed = lock.renew(&info).await;
                if renewed == Renewed::Lost {
                    grip.lose();
                }
                renewed
            }
        })
    }
}

/// What goes wrong while a lock is taken over.
enum StoreTrouble {
    Server(Trouble),
    Codec(StoreError),
}

impl From<Trouble> for StoreTrouble {
    fn from(trouble: Trouble) -> Self {
        StoreTrouble::Server(trouble)
    }
}

impl From<StoreError> for StoreTrouble {
    fn from(error: StoreError) -> Self {
        StoreTrouble::Codec(error)
    }
}

impl StoreTrouble {
    fn lock(self) -> LockError {
        match self {
            StoreTrouble::Server(trouble) => trouble.lock(),
            StoreTrouble::Codec(error) => Trouble::new("take over the state", error.to_string()).lock(),
        }
    }
}

/// For locks of other tools.
const NOT_RENEWED: &str = "It is not renewed, so nobody can tell whether its holder is still there. If it is not, remove the lock \
     with \"force-unlock\".";

fn held(lock: Lock, what_next: &str) -> LockError {
    let reason = format!("the state is already locked by another client. {what_next}");
    LockError::Held { reason, info: Some(Box::new(lock.info)), process: None }
}

impl StateStore for ObjectStore {
    fn read(&mut self) -> Result<Option<State>, StoreError> {
        self.around.runtime.clone().block_on(self.read_now())
    }

    fn write(&mut self, expected: Option<&Version>, next: &State) -> Result<(), StoreError> {
        self.around.runtime.clone().block_on(self.write_now(expected, next))
    }

    fn lock(&mut self, info: &LockInfo) -> Result<(), LockError> {
        if self.held.is_some() {
            return Err(LockError::AlreadyLocked);
        }
        let mut renewal = None;
        if let Some(lock) = self.around.lock.clone() {
            self.around.runtime.clone().block_on(self.take_lock(&lock, info))?;
            self.grip.take();
            renewal = Some(self.renew_from_now_on(&lock, info));
        }
        // What was read before was read without a lock.
        self.seen = Seen::Nothing;
        self.held = Some(Held { info: info.clone(), renewal });
        Ok(())
    }

    fn unlock(&mut self, id: &str) -> Result<(), LockError> {
        let Some(held) = self.held.take_if(|held| held.info.id == id) else {
            let info = self.held.as_ref().map(|held| Box::new(held.info.clone()));
            return Err(match info {
                Some(info) => LockError::WrongId { given: id.to_owned(), info: Some(info) },
                None => LockError::NotLocked,
            });
        };
        let runtime = self.around.runtime.clone();
        if let Some(renewal) = held.renewal {
            runtime.block_on(renewal.end());
        }
        let lost = self.grip.release();
        match &self.around.lock {
            // Nothing is left to give back.
            Some(lock) if !lost => runtime.block_on(lock.release(id)),
            _ => Ok(()),
        }
    }

    fn force_unlock(&mut self, id: &str) -> Result<(), LockError> {
        let Some(lock) = self.around.lock.clone() else { return Err(LockError::NotLocked) };
        let runtime = self.around.runtime.clone();
        runtime.block_on(lock.release(id))?;
        // Its holder may only be paused.
        runtime.block_on(self.fence(None)).map_err(StoreTrouble::lock)
    }
}
