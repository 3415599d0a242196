//! One state behind an address: what the answers of a server mean, and its lock.
//!
//! A lock is renewed by locking again with the same id. What others are told about the lock then says that it was renewed, and how
//! often: so a lock that says so is one of ours, on a server that lets it be renewed, and its silence means something. Any other
//! lock is left alone.
//!
//! Locking again also locks what was unlocked meanwhile. Who was paused, taken over and let through by that must not store what it
//! has compared before: so nothing is renewed between comparing and storing, nor after a silence in which others may have come.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use groma_state::{LockError, LockInfo, State, StateCodec, StateStore, StoreError, Version};
use reqwest::{Method, StatusCode};
use tokio::runtime::Handle;
use tokio::sync::Mutex;
use url::Url;

use super::client::{Answer, Client};
use super::{Endpoints, shown};
use crate::silence::{Clock, Holder, Renewal, Renewed, Watch};

/// What a renewed lock says about itself, and how often it was renewed behind it.
const MARK: &str = "renewed by groma (";

/// Who has been silent for longer may have been taken over, and does not renew.
const SAFE: Duration = Duration::from_secs(13);
/// How long renewing waits while something is compared and stored. If that takes longer, it goes on nevertheless.
const TURN: Duration = Duration::from_secs(3);

/// The lock that is held, and what renews it.
struct Held {
    info: LockInfo,
    renewal: Option<Renewal>,
}

/// A state behind an address.
pub(super) struct HttpStore {
    endpoints: Endpoints,
    client: Client,
    codec: Arc<dyn StateCodec>,
    runtime: Handle,
    held: Option<Held>,
    /// The id of a lock that was lost. Whatever was read under it is not written any more.
    lost: Option<String>,
    watch: Watch<(String, String)>,
    clock: Clock,
    /// For who renews, or compares and stores.
    turn: Arc<Mutex<()>>,
}

/// What came of trying for a lock.
enum Tried {
    Locked,
    /// By somebody, if that can be read.
    Held(Option<LockInfo>),
}

impl HttpStore {
    pub(super) fn new(endpoints: Endpoints, client: Client, codec: Arc<dyn StateCodec>, runtime: Handle) -> Self {
        let (watch, clock) = (Watch::new(), Clock::new());
        Self { endpoints, client, codec, runtime, held: None, lost: None, watch, clock, turn: Arc::default() }
    }

    fn place(&self) -> String {
        shown(&self.endpoints.state)
    }

    fn send(&self, method: &Method, url: &Url, body: Option<&[u8]>) -> Result<Answer, String> {
        self.runtime.block_on(self.client.send(method, url, body))
    }

    fn read_state(&self) -> Result<Option<State>, StoreError> {
        let doing = || format!("get the state from {}", self.place());
        let remote = |reason: String| StoreError::Remote { doing: doing(), source: reason.into() };
        let answer = self.send(&Method::GET, &self.endpoints.state, None).map_err(remote)?;
        match answer.status {
            StatusCode::OK if answer.body.is_empty() => Ok(None),
            StatusCode::OK => self.codec.decode(&answer.body, &self.place()).map(Some),
            StatusCode::NO_CONTENT | StatusCode::NOT_FOUND => Ok(None),
            other => Err(remote(refusal(other))),
        }
    }

    fn is_lost(&self) -> bool {
        let renewal = self.held.as_ref().and_then(|held| held.renewal.as_ref());
        self.lost.is_some() || renewal.is_some_and(Renewal::is_lost)
    }

    fn taken_over(&mut self) -> StoreError {
        self.lost = self.held.as_ref().map(|held| held.info.id.clone());
        StoreError::TakenOver { place: self.place() }
    }

    /// Where a state is stored, with the name of the lock that it is stored under.
    fn update_address(&self) -> Url {
        let mut address = self.endpoints.state.clone();
        if let Some(held) = &self.held {
            let others: Vec<(String, String)> =
                address.query_pairs().filter(|(name, _)| name != "ID").map(|(a, b)| (a.into(), b.into())).collect();
            address.query_pairs_mut().clear().extend_pairs(others).append_pair("ID", &held.info.id);
        }
        address
    }

    fn try_lock(&self, (method, address): &(Method, Url), info: &LockInfo) -> Result<Tried, LockError> {
        let answer = self.runtime.block_on(lock_once(&self.client, method, address, info));
        answer.map_err(|reason| LockError::Remote { doing: format!("lock {}", self.place()), source: reason.into() })
    }

    /// Waits while it cannot be told whether a holder that renews is still there.
    fn lock_at(&mut self, lock: &(Method, Url), info: &LockInfo) -> Result<(), LockError> {
        loop {
            let holder = match self.try_lock(lock, info)? {
                Tried::Locked => return Ok(()),
                Tried::Held(None) => {
                    self.watch.forget();
                    let reason = "HTTP remote state already locked, failed to unmarshal body".to_owned();
                    return Err(LockError::Held { reason, info: None, process: None });
                }
                // The answer to the request that got it was lost.
                Tried::Held(Some(holder)) if holder.id == info.id => return Ok(()),
                Tried::Held(Some(holder)) => holder,
            };
            if !is_renewed(&holder) {
                self.watch.forget();
                return Err(held(
                    holder,
                    "It is not renewed, so nobody can tell whether its holder is still there. If it is not, remove the lock with \
                     \"force-unlock\".",
                ));
            }
            match self.watch.see((holder.id.clone(), holder.info.clone()), self.clock.now()) {
                Holder::Alive => return Err(held(holder, "It was renewed just now.")),
                Holder::Unknown(pause) => self.runtime.block_on(async { tokio::time::sleep(pause).await }),
                Holder::Silent => self.take_away(holder)?,
            }
        }
    }

    /// Unlocks for a holder that is gone.
    fn take_away(&mut self, holder: LockInfo) -> Result<(), LockError> {
        let Some((method, address)) = &self.endpoints.unlock else {
            return Err(held(holder, "It has not been renewed for a while, but without unlock_address it stays."));
        };
        match self.send(method, address, Some(holder.to_json().as_bytes())) {
            Ok(Answer { status: StatusCode::OK, .. }) => Ok(()),
            // Others may have been faster.
            Ok(Answer { status: StatusCode::CONFLICT | StatusCode::LOCKED | StatusCode::NOT_FOUND, .. }) => {
                self.watch.forget();
                Ok(())
            }
            Ok(answer) => {
                let why =
                    format!("It has not been renewed for a while, but cannot be unlocked: {}.", refusal(answer.status));
                Err(held(holder, &why))
            }
            Err(reason) => Err(LockError::Remote { doing: format!("unlock {}", self.place()), source: reason.into() }),
        }
    }

    /// Renews a lock for the first time, and from then on. None if the server refuses.
    fn start_renewing(&self, (method, address): &(Method, Url), info: &LockInfo) -> Option<Renewal> {
        let (client, runtime, clock, turn) = (self.client.clone(), &self.runtime, self.clock, Arc::clone(&self.turn));
        let last = Arc::new(AtomicU64::new(millis(clock)));
        let first = runtime.block_on(lock_once(&client, method, address, &renewed(info, 1)));
        if !matches!(first, Ok(Tried::Locked)) {
            return None;
        }
        let (method, address, info) = (method.clone(), address.clone(), info.clone());
        let count = Arc::new(AtomicU64::new(1));
        Some(Renewal::start(runtime, move || {
            let (client, method, address) = (client.clone(), method.clone(), address.clone());
            let info = renewed(&info, count.fetch_add(1, Ordering::Relaxed) + 1);
            let (turn, last) = (Arc::clone(&turn), Arc::clone(&last));
            async move {
                let _turn = tokio::time::timeout(TURN, turn.lock()).await;
                let now = millis(clock);
                if u128::from(now.saturating_sub(last.load(Ordering::SeqCst))) > SAFE.as_millis() {
                    return Renewed::Lost;
                }
                match lock_once(&client, &method, &address, &info).await {
                    Ok(Tried::Locked) => {
                        last.store(now, Ordering::SeqCst);
                        Renewed::Yes
                    }
                    Ok(Tried::Held(Some(holder))) if holder.id != info.id => Renewed::Lost,
                    Ok(Tried::Held(_)) | Err(_) => Renewed::NotNow,
                }
            }
        }))
    }
}

impl StateStore for HttpStore {
    fn read(&mut self) -> Result<Option<State>, StoreError> {
        self.read_state()
    }

    fn write(&mut self, expected: Option<&Version>, next: &State) -> Result<(), StoreError> {
        let turn = Arc::clone(&self.turn);
        let _turn = self.runtime.block_on(turn.lock());
        if self.is_lost() {
            return Err(self.taken_over());
        }
        let bytes = self.codec.encode(next)?;
        let found = self.read_state()?.as_ref().map(Version::from);
        if found.as_ref() != expected {
            return Err(StoreError::Conflict { expected: expected.cloned(), found });
        }
        let doing = || format!("store the state at {}", self.place());
        let remote = |reason: String| StoreError::Remote { doing: doing(), source: reason.into() };
        let answer = self.send(&self.endpoints.update, &self.update_address(), Some(&bytes)).map_err(remote)?;
        match answer.status {
            StatusCode::OK | StatusCode::CREATED | StatusCode::NO_CONTENT => Ok(()),
            StatusCode::CONFLICT | StatusCode::LOCKED if self.held.is_some() => Err(self.taken_over()),
            StatusCode::CONFLICT | StatusCode::LOCKED => {
                let info = holder_of(&answer).map(Box::new);
                let reason = "HTTP remote state is locked".to_owned();
                Err(StoreError::Locked(LockError::Held { reason, info, process: None }))
            }
            other => Err(remote(refusal(other))),
        }
    }

    fn lock(&mut self, info: &LockInfo) -> Result<(), LockError> {
        if self.held.is_some() {
            return Err(LockError::AlreadyLocked);
        }
        self.lost = None;
        let Some(lock) = self.endpoints.lock.clone() else { return Ok(()) };
        self.lock_at(&lock, info)?;
        self.watch.forget();
        let renewal = self.start_renewing(&lock, info);
        self.held = Some(Held { info: info.clone(), renewal });
        Ok(())
    }

    fn unlock(&mut self, id: &str) -> Result<(), LockError> {
        if self.endpoints.lock.is_none() {
            return Ok(());
        }
        let Some(held) = self.held.take_if(|held| held.info.id == id) else {
            let info = self.held.as_ref().map(|held| Box::new(held.info.clone()));
            return Err(
                info.map_or(LockError::NotLocked, |info| LockError::WrongId { given: id.to_owned(), info: Some(info) })
            );
        };
        let mut lost = self.lost.is_some();
        if let Some(renewal) = held.renewal {
            lost |= renewal.is_lost();
            self.runtime.block_on(renewal.end());
        }
        // Nothing is left to give back.
        if lost {
            return Ok(());
        }
        self.unlock_at(&held.info)
    }

    fn force_unlock(&mut self, id: &str) -> Result<(), LockError> {
        if self.endpoints.unlock.is_none() {
            return Err(LockError::NotLocked);
        }
        self.unlock_at(&LockInfo { id: id.to_owned(), ..LockInfo::default() })
    }
}

impl HttpStore {
    fn unlock_at(&self, info: &LockInfo) -> Result<(), LockError> {
        let Some((method, address)) = &self.endpoints.unlock else { return Ok(()) };
        let remote =
            |reason: String| LockError::Remote { doing: format!("unlock {}", self.place()), source: reason.into() };
        let answer = self.send(method, address, Some(info.to_json().as_bytes())).map_err(remote)?;
        match answer.status {
            StatusCode::OK => Ok(()),
            StatusCode::CONFLICT | StatusCode::LOCKED => {
                Err(LockError::WrongId { given: info.id.clone(), info: holder_of(&answer).map(Box::new) })
            }
            other => Err(remote(refusal(other))),
        }
    }
}

/// Asks for a lock once.
async fn lock_once(client: &Client, method: &Method, address: &Url, info: &LockInfo) -> Result<Tried, String> {
    let answer = client.send(method, address, Some(info.to_json().as_bytes())).await?;
    match answer.status {
        StatusCode::OK => Ok(Tried::Locked),
        StatusCode::CONFLICT | StatusCode::LOCKED => Ok(Tried::Held(holder_of(&answer))),
        other => Err(refusal(other)),
    }
}

/// A clock in thousandths of a second.
fn millis(clock: Clock) -> u64 {
    u64::try_from(clock.now().as_millis()).unwrap_or(u64::MAX)
}

fn holder_of(answer: &Answer) -> Option<LockInfo> {
    LockInfo::from_json(std::str::from_utf8(&answer.body).ok()?)
}

fn held(holder: LockInfo, what_next: &str) -> LockError {
    let reason = format!("HTTP remote state already locked: ID={}. {what_next}", holder.id);
    LockError::Held { reason, info: Some(Box::new(holder)), process: None }
}

/// What a renewed lock says.
fn renewed(info: &LockInfo, count: u64) -> LockInfo {
    let between = if info.info.is_empty() { "" } else { "; " };
    LockInfo { info: format!("{}{between}{MARK}{count})", info.info), ..info.clone() }
}

fn is_renewed(info: &LockInfo) -> bool {
    let count = info.info.rsplit_once(MARK).and_then(|(_, count)| count.strip_suffix(')'));
    count.is_some_and(|count| count.parse::<u64>().is_ok())
}

/// What it means that a server does not do what it is asked.
fn refusal(status: StatusCode) -> String {
    match status {
        StatusCode::UNAUTHORIZED => "HTTP remote state endpoint requires auth".to_owned(),
        StatusCode::FORBIDDEN => "HTTP remote state endpoint invalid auth".to_owned(),
        StatusCode::INTERNAL_SERVER_ERROR => "HTTP remote state internal server error".to_owned(),
        other => format!("Unexpected HTTP response code {}", other.as_u16()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_renewed_counts_as_renewed() {
        let mut info = LockInfo { id: "a".to_owned(), ..LockInfo::default() };
        assert!(!is_renewed(&info));
        assert_eq!(renewed(&info, 3).info, "renewed by groma (3)");
        assert!(is_renewed(&renewed(&info, 3)));
        info.info = "at night".to_owned();
        assert!(!is_renewed(&info));
        assert_eq!(renewed(&info, 12).info, "at night; renewed by groma (12)");
        assert!(is_renewed(&renewed(&info, 12)));
        info.info = "renewed by groma (many)".to_owned();
        assert!(!is_renewed(&info));
    }
}
