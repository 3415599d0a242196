//! The lock of a state: an object beside it, as the other tools write it, with one more field that counts renewals. Those of others
//! have no such field: they are never taken.

use std::sync::{Arc, Mutex, PoisonError};

use groma_model::codec::json::Json;
use groma_state::{LockError, LockInfo};

use super::client::{Client, Condition, Trouble, What, lock_key};
use crate::silence::Renewed;

/// How the lock of a state is called.
pub(super) const SUFFIX: &str = ".tflock";
/// The field that the other tools do not have, and pass over.
const RENEWAL: &str = "GromaRenewal";

/// A lock that somebody has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lock {
    pub(super) info: LockInfo,
    /// Whether its holder renews it.
    pub(super) renews: bool,
    /// Changes with every renewal.
    pub(super) etag: String,
}

/// Where the lock of a state is.
#[derive(Clone)]
pub(super) struct LockObject {
    client: Arc<Client>,
    key: String,
    /// Of which state, as the other tools say it.
    path: String,
    /// What this process has written last, if it holds the lock: the count and the tag.
    last: Arc<Mutex<(u64, String)>>,
}

impl LockObject {
    pub(super) fn new(client: Arc<Client>, bucket: &str, key: &str) -> Self {
        Self { client, key: lock_key(key), path: format!("{bucket}/{key}"), last: Arc::default() }
    }

    fn text(&self, info: &LockInfo, count: u64) -> Vec<u8> {
        let info = LockInfo { path: self.path.clone(), ..info.clone() };
        let mut text = info.to_json();
        text.pop();
        format!("{text},\"{RENEWAL}\":{count}}}").into_bytes()
    }

    /// Who has it.
    pub(super) async fn get(&self) -> Result<Option<Lock>, Trouble> {
        let Some(object) = self.client.get(&self.key).await? else { return Ok(None) };
        let text = String::from_utf8_lossy(&object.bytes);
        let info = LockInfo::from_json(&text);
        let renews =
            matches!(Json::parse(&text), Ok(Json::Object(fields)) if fields.iter().any(|(name, _)| &**name == RENEWAL));
        // What is no lock at all is in the way nevertheless.
        Ok(Some(Lock { renews: renews && info.is_some(), info: info.unwrap_or_default(), etag: object.etag }))
    }

    /// Takes it: if nobody has it, or from whoever had it when it was looked at.
    pub(super) async fn take(&self, info: &LockInfo, from: Option<&Lock>) -> Result<bool, Trouble> {
        let condition = from.map_or(Condition::Absent, |lock| Condition::Is(&lock.etag));
        let written = self.client.put(&self.key, self.text(info, 0), condition, What::Lock).await?;
        Ok(written.map(|etag| self.remember(0, etag)).is_some())
    }

    /// It is ours, and this is how it is.
    pub(super) fn remember(&self, count: u64, etag: String) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = (count, etag);
    }

    /// Shows that the holder is still there.
    pub(super) async fn renew(&self, info: &LockInfo) -> Renewed {
        let (count, etag) = self.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let next = count + 1;
        match self.client.put(&self.key, self.text(info, next), Condition::Is(&etag), What::Lock).await {
            Err(_) => Renewed::NotNow,
            Ok(Some(etag)) => {
                self.remember(next, etag);
                Renewed::Yes
            }
            // Perhaps it was renewed, and only the answer was lost.
            Ok(None) => match self.get().await {
                Err(_) => Renewed::NotNow,
                Ok(Some(lock)) if lock.info.id == info.id => {
                    self.remember(next, lock.etag);
                    Renewed::Yes
                }
                Ok(_) => Renewed::Lost,
            },
        }
    }

    /// Gives it back, if it is held under that name.
    pub(super) async fn release(&self, id: &str) -> Result<(), LockError> {
        for _ in 0..5 {
            let Some(lock) = self.get().await.map_err(Trouble::lock)? else { return Err(LockError::NotLocked) };
            if lock.info.id != id {
                return Err(LockError::WrongId { given: id.to_owned(), info: Some(Box::new(lock.info)) });
            }
            if self.client.delete(&self.key, Some(&lock.etag)).await.map_err(Trouble::lock)? {
                return Ok(());
            }
        }
        Err(Trouble::new(format!("delete {}", self.key), "something else keeps changing it").lock())
    }
}
