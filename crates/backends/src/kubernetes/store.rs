//! One state in a cluster: reading, storing only in the place of what was read, and its lock.
//!
//! What was read is named by the resourceVersion of its Secret. Whoever takes a lock over changes the Secret first, so that a
//! holder that was paused and wakes up is refused. A state counts as read under a lock only if the lock was still held afterwards.

use std::sync::Arc;

use groma_model::diag::Diagnostic;
use groma_state::{LockError, LockInfo, State, StateCodec, StateStore, StoreError, Version};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, PostParams};
use tokio::runtime::Handle;

use super::lease::{self, Locker, Sign};
use super::names::Names;
use super::parts::{Failed, Parts, Written};
use super::trouble::{Trouble, is_conflict};
use crate::IsGone;
use crate::silence::{Clock, Grip, Holder, Renewal, Renewed, Watch};

/// Says who has taken over last.
const FENCE: &str = "groma.dev/fence";
/// How often to try again if others change an object at the same time.
const TRIES: usize = 20;

/// What a store needs of the outside.
pub(super) struct Reach {
    pub(super) secrets: Api<Secret>,
    pub(super) leases: Api<Lease>,
    pub(super) runtime: Handle,
    pub(super) random: Arc<dyn Fn() -> [u8; 16] + Send + Sync>,
    pub(super) is_gone: Option<IsGone>,
}

/// The lock that is held.
struct Held {
    id: String,
    renewal: Renewal,
}

/// What was last read or written.
enum Seen {
    /// Not yet.
    Nothing,
    /// There was no Secret.
    Absent,
    There {
        main: Box<Secret>,
        version: Option<Version>,
        divided: bool,
    },
}

/// A state in a cluster.
pub(super) struct SecretStore {
    codec: Arc<dyn StateCodec>,
    parts: Parts,
    locker: Locker,
    runtime: Handle,
    random: Arc<dyn Fn() -> [u8; 16] + Send + Sync>,
    seen: Seen,
    held: Option<Held>,
    grip: Arc<Grip>,
    watch: Watch<Sign>,
    is_gone: Option<IsGone>,
    clock: Clock,
    notices: Vec<Diagnostic>,
}

impl SecretStore {
    pub(super) fn new(names: Names, codec: Arc<dyn StateCodec>, reach: Reach) -> Self {
        let Reach { secrets, leases, runtime, random, is_gone } = reach;
        Self {
            codec,
            parts: Parts { secrets, names: names.clone() },
            locker: Locker { leases, names },
            runtime,
            random,
            seen: Seen::Nothing,
            held: None,
            grip: Arc::default(),
            watch: Watch::new(),
            is_gone,
            clock: Clock::new(),
            notices: Vec::new(),
        }
    }

    /// Something that says whether the lock is held here.
    pub(super) fn holding(&self) -> Arc<dyn Fn() -> bool + Send + Sync> {
        let grip = Arc::clone(&self.grip);
        Arc::new(move || grip.is_firm())
    }

    fn place(&self) -> String {
        format!("secret {}/{}", self.parts.names.namespace, self.parts.names.secret)
    }

    fn taken_over(&self) -> StoreError {
        StoreError::TakenOver { place: self.place() }
    }

    /// Makes sure that the lock is still held, if one was taken.
    async fn check_lock(&self) -> Result<(), StoreError> {
        let Some(held) = &self.held else { return Ok(()) };
        if self.grip.is_firm() {
            let lease = self.locker.get().await.map_err(Trouble::store)?;
            if lease.as_ref().and_then(lease::holder) == Some(&held.id) {
                return Ok(());
            }
            if lease.is_none() && self.locker.is_ending().await {
                return Ok(());
            }
            self.grip.lose();
        }
        Err(self.taken_over())
    }

    async fn read_now(&mut self) -> Result<Option<State>, StoreError> {
        let found = self.parts.read().await.map_err(Trouble::store)?;
        let Some(found) = found else {
            self.check_lock().await?;
            self.seen = Seen::Absent;
            if self.held.is_some() && self.parts.names.is_kept() {
                // Once its namespace is being deleted it can be written, but not made. Without a state in it, it is as good as none to
                // the other tools.
                self.parts.make_empty().await.map_err(Trouble::store)?;
                self.seen = Seen::Nothing;
            }
            return Ok(None);
        };
        let place = self.place();
        let state = found.bytes.map(|bytes| self.codec.decode(&bytes, &place)).transpose()?;
        // If it is ours now, whoever takes it over will change the Secret after this.
        self.check_lock().await?;
        let version = state.as_ref().map(Version::from);
        self.seen = Seen::There { main: Box::new(found.main), version, divided: found.divided };
        Ok(state)
    }

    async fn write_now(&mut self, expected: Option<&Version>, next: &State) -> Result<(), StoreError> {
        if self.held.is_some() && !self.grip.is_firm() {
            return Err(self.taken_over());
        }
        if matches!(self.seen, Seen::Nothing) {
            self.read_now().await?;
        }
        let (before, found, was_divided) = match &self.seen {
            Seen::There { main, version, divided } => (Some(&**main), version.as_ref(), *divided),
            Seen::Nothing | Seen::Absent => (None, None, false),
        };
        if found != expected {
            return Err(StoreError::Conflict { expected: expected.cloned(), found: found.cloned() });
        }
        let bytes = self.codec.encode(next)?;
        let version = format!("{:032x}", u128::from_be_bytes((self.random)()));
        match self.parts.write(before, was_divided, &bytes, &version).await {
            Ok(written) => {
                self.remember(written, was_divided, next);
                Ok(())
            }
            Err(Failed::Trouble(trouble)) => Err(trouble.store()),
            Err(Failed::Conflict) => self.after_conflict(expected, &bytes, next).await,
        }
    }

    fn remember(&mut self, written: Written, was_divided: bool, next: &State) {
        let Written { main, further, trouble } = written;
        if further > 0 && !was_divided {
            let detail = format!(
                "{} is larger than one Secret can hold, and is stored in {} of them, as Terraform does. OpenTofu cannot read \
                 states in several Secrets.",
                self.place(),
                further + 1
            );
            self.notices.push(Diagnostic::warning("State is stored in several Secrets", detail));
        }
        // What could not be copied is copied by the next one.
        let divided = further > 0 || trouble.is_some();
        if let Some(trouble) = trouble {
            let reason = trouble.io();
            let detail = format!(
                "{}: the state is stored, but Terraform cannot read it until it is stored again: {reason}.",
                self.place()
            );
            self.notices.push(Diagnostic::warning("Parts of the state are not in their place", detail));
        }
        self.seen = Seen::There { main: Box::new(main), version: Some(Version::from(next)), divided };
    }

    /// Something else is there. Or is it what was just stored, and only the answer was lost?
    async fn after_conflict(
        &mut self,
        expected: Option<&Version>,
        bytes: &[u8],
        next: &State,
    ) -> Result<(), StoreError> {
        self.check_lock().await?;
        let found = self.parts.read().await.map_err(Trouble::store)?;
        self.check_lock().await?;
        let there = found.as_ref().and_then(|found| found.bytes.as_deref());
        if there == Some(bytes)
            && let Some(found) = found
        {
            let version = Some(Version::from(next));
            self.seen = Seen::There { main: Box::new(found.main), version, divided: found.divided };
            return Ok(());
        }
        let place = self.place();
        let found = there.map(|bytes| self.codec.decode(bytes, &place)).transpose()?;
        Err(StoreError::Conflict { expected: expected.cloned(), found: found.as_ref().map(Version::from) })
    }

    /// Gets the Lease. Waits while it cannot be told whether a holder that renews is still there.
    async fn take_lease(&mut self, info: &LockInfo) -> Result<(), LockError> {
        let lease = loop {
            let found = self.locker.get().await.map_err(Trouble::lock)?;
            if let Some(lease) = &found
                && let Some(holder) = lease::holder(lease)
            {
                if holder == info.id {
                    break found;
                }
                let Some(sign) = lease::sign(lease) else {
                    self.watch.forget();
                    return Err(held(lease, holder, NOT_RENEWED));
                };
                match self.watch.see(sign, self.clock.now()) {
                    _ if self.knows_gone(holder).await => {}
                    Holder::Alive => return Err(held(lease, holder, "It was renewed just now.")),
                    Holder::Silent => {}
                    Holder::Unknown(pause) => {
                        tokio::time::sleep(pause).await;
                        continue;
                    }
                }
            }
            let is_missing = found.is_none();
            // If it worked, this is seen next time, as it is if it worked and the answer was lost.
            match self.locker.take(found, info).await {
                Err(_) if is_missing && self.locker.is_ending().await => break None,
                taken => taken.map_err(Trouble::lock)?,
            };
        };
        self.watch.forget();
        match lease.as_ref().and_then(lease::replaced) {
            // If it fails, whoever is next does it.
            Some(gone) => self.fence(&info.id, Some(gone)).await.map_err(Trouble::lock),
            None => Ok(()),
        }
    }

    /// Whether somebody knows that a holder is gone. What cannot be known shows by its silence.
    async fn knows_gone(&self, holder: &str) -> bool {
        match &self.is_gone {
            Some(is_gone) => is_gone(holder.to_owned()).await,
            None => false,
        }
    }

    /// Changes the Secret without changing the state, so that what others have read is of no use to write any more. `gone` is
    /// whose lock was taken over: if there is no state yet, it may be about to store one.
    async fn fence(&self, id: &str, gone: Option<&str>) -> Result<(), Trouble> {
        let names = &self.parts.names;
        let doing = |verb| Trouble::when(verb, "secrets", &names.namespace, &names.secret);
        for _ in 0..TRIES {
            let answer = match (self.parts.get(&names.secret).await?, gone) {
                (Some(mut main), _) => {
                    main.metadata.annotations.get_or_insert_default().insert(FENCE.to_owned(), id.to_owned());
                    let answer = self.parts.secrets.replace(&names.secret, &PostParams::default(), &main).await;
                    answer.map(drop).map_err(|error| ("update", error))
                }
                (None, None) => return Ok(()),
                (None, Some(gone)) => {
                    // The line is called as its first holder would have called it.
                    let empty =
                        State { tool_version: "0.0.0".to_owned(), lineage: gone.to_owned(), ..State::default() };
                    let bytes =
                        self.codec.encode(&empty).map_err(|error| doing("create").because(error.to_string()))?;
                    match self.parts.write(None, false, &bytes, "").await {
                        Ok(_) => return Ok(()),
                        Err(Failed::Conflict) => continue,
                        Err(Failed::Trouble(trouble)) => return Err(trouble),
                    }
                }
            };
            match answer {
                Ok(()) => return Ok(()),
                Err((_, error)) if is_conflict(&error) || super::trouble::is_missing(&error) => {}
                Err((verb, error)) => return Err(doing(verb).of(error)),
            }
        }
        Err(doing("update").because("something else keeps changing it"))
    }

    /// Lets go of the Lease, if it is held under that name.
    async fn release(&self, id: &str) -> Result<(), LockError> {
        for _ in 0..TRIES {
            let lease = self.locker.get().await.map_err(Trouble::lock)?;
            if lease.is_none() && self.locker.is_ending().await {
                return Ok(());
            }
            let Some(lease) = lease.filter(|lease| lease::holder(lease).is_some()) else {
                return Err(LockError::NotLocked);
            };
            if lease::holder(&lease) != Some(id) {
                return Err(LockError::WrongId { given: id.to_owned(), info: lease::info(&lease).map(Box::new) });
            }
            if self.locker.release(lease).await.map_err(Trouble::lock)? {
                return Ok(());
            }
        }
        let doing = Trouble::when("update", "leases", &self.locker.names.namespace, &self.locker.names.lease);
        Err(doing.because("something else keeps changing it").lock())
    }
}

/// For locks of other tools.
const NOT_RENEWED: &str = "It is not renewed, so nobody can tell whether its holder is still there. If it is not, remove the lock \
     with \"force-unlock\".";

fn held(lease: &Lease, holder: &str, what_next: &str) -> LockError {
    let info = lease::info(lease).unwrap_or_else(|| LockInfo { id: holder.to_owned(), ..LockInfo::default() });
    let reason = format!("the state is already locked by another client. {what_next}");
    LockError::Held { reason, info: Some(Box::new(info)), process: None }
}

impl StateStore for SecretStore {
    fn owner(&mut self) -> Option<String> {
        let names = &self.parts.names;
        if names.is_kept() {
            return None;
        }
        // Who cannot even read it is told so by what comes next.
        let secret = self.runtime.block_on(self.parts.get(&names.secret)).ok().flatten()?;
        let whom = secret.metadata.labels?.remove(super::names::KEPT_FOR)?;
        Some(format!("Stack {}/{whom}", names.namespace))
    }

    fn read(&mut self) -> Result<Option<State>, StoreError> {
        self.runtime.clone().block_on(self.read_now())
    }

    fn write(&mut self, expected: Option<&Version>, next: &State) -> Result<(), StoreError> {
        self.runtime.clone().block_on(self.write_now(expected, next))
    }

    fn lock(&mut self, info: &LockInfo) -> Result<(), LockError> {
        if self.held.is_some() {
            return Err(LockError::AlreadyLocked);
        }
        let runtime = self.runtime.clone();
        runtime.block_on(self.take_lease(info))?;
        // What was read before was read without a lock.
        self.seen = Seen::Nothing;
        self.grip.take();
        let (locker, grip, id) = (self.locker.clone(), Arc::clone(&self.grip), info.id.clone());
        let renewal = Renewal::start(&runtime, move || {
            let (locker, grip, id) = (locker.clone(), Arc::clone(&grip), id.clone());
            async move {
                let renewed = locker.renew(&id).await;
                if renewed == Renewed::Lost {
                    grip.lose();
                }
                renewed
            }
        });
        self.held = Some(Held { id: info.id.clone(), renewal });
        Ok(())
    }

    fn unlock(&mut self, id: &str) -> Result<(), LockError> {
        let Some(held) = self.held.take_if(|held| held.id == id) else {
            let info = self.held.as_ref().map(|held| LockInfo { id: held.id.clone(), ..LockInfo::default() });
            return Err(info.map_or(LockError::NotLocked, |info| LockError::WrongId {
                given: id.to_owned(),
                info: Some(Box::new(info)),
            }));
        };
        let runtime = self.runtime.clone();
        runtime.block_on(held.renewal.end());
        // Nothing is left to give back.
        if self.grip.release() {
            return Ok(());
        }
        runtime.block_on(self.release(id))
    }

    fn force_unlock(&mut self, id: &str) -> Result<(), LockError> {
        let runtime = self.runtime.clone();
        runtime.block_on(self.release(id))?;
        // Its holder may only be paused.
        let by = format!("force-unlock {:032x}", u128::from_be_bytes((self.random)()));
        runtime.block_on(self.fence(&by, None)).map_err(Trouble::lock)
    }

    fn notices(&mut self) -> Vec<Diagnostic> {
        std::mem::take(&mut self.notices)
    }
}
