//! A state in a row: written only over what was read, under a lock that ends with the connection.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use groma_state::{Digest, LockError, LockInfo, State, StateCodec, StateStore, StoreError, Version, WorkspaceName};
use tokio_postgres::Client;

use super::locking::{self, Keys};
use super::session::{Database, Trouble};

/// What was last read or written.
enum Seen {
    /// Not yet.
    Nothing,
    /// There was no row, or nothing in it.
    Absent,
    There {
        digest: Digest,
        version: Version,
    },
}

/// The lock that is held.
struct Held {
    info: LockInfo,
    keys: Keys,
}

/// A state in a database.
pub(super) struct RowStore {
    database: Arc<Database>,
    workspace: String,
    codec: Arc<dyn StateCodec>,
    client: Option<Client>,
    seen: Seen,
    held: Option<Held>,
    /// Whether the lock is held, for all that want to know.
    firm: Arc<AtomicBool>,
}

impl RowStore {
    pub(super) fn new(database: Arc<Database>, workspace: &WorkspaceName, codec: Arc<dyn StateCodec>) -> Self {
        let workspace = workspace.as_str().to_owned();
        Self { database, workspace, codec, client: None, seen: Seen::Nothing, held: None, firm: Arc::default() }
    }

    /// Something that says whether the lock is held here.
    pub(super) fn holding(&self) -> Arc<dyn Fn() -> bool + Send + Sync> {
        let firm = Arc::clone(&self.firm);
        Arc::new(move || firm.load(Ordering::SeqCst))
    }

    fn place(&self) -> String {
        self.database.place(&self.workspace)
    }

    /// A connection; the one that the lock was taken over, as long as that lives.
    async fn connect(&mut self, doing: &str) -> Result<(), Trouble> {
        if self.client.as_ref().is_none_or(Client::is_closed) {
            self.client = Some(self.database.connect(doing).await?);
            self.lock_again().await?;
        }
        Ok(())
    }

    fn client(&self, doing: &str) -> Result<&Client, Trouble> {
        self.client.as_ref().ok_or_else(|| self.database.because(doing, "there is no connection"))
    }

    /// The connection was lost, and the lock with it. If nobody has taken it since, the run goes on: what others have written
    /// meanwhile is noticed when something is stored.
    async fn lock_again(&mut self) -> Result<(), Trouble> {
        let Some(held) = &mut self.held else { return Ok(()) };
        let Some(client) = &self.client else { return Ok(()) };
        match locking::take(client, &self.database, &self.workspace).await {
            Ok(keys) => {
                held.keys = keys;
                locking::announce(client, &held.info).await;
            }
            Err(locking::Missed::Held(..)) => self.firm.store(false, Ordering::SeqCst),
            Err(locking::Missed::Failed(error)) => {
                self.client = None;
                return Err(self.database.trouble("lock the state again", &error));
            }
        }
        Ok(())
    }

    fn check_lock(&self) -> Result<(), StoreError> {
        if self.held.is_some() && !self.firm.load(Ordering::SeqCst) {
            return Err(StoreError::TakenOver { place: self.place() });
        }
        Ok(())
    }

    /// Whether to try once more after an error: a connection that was idle for long may be gone. Whatever was asked for may have been
    /// done nevertheless.
    fn is_worth_another_try(&mut self, tried: u32) -> bool {
        let gone = self.client.as_ref().is_none_or(Client::is_closed);
        if gone {
            self.client = None;
        }
        gone && tried == 0
    }

    async fn fetch(&mut self) -> Result<Option<String>, StoreError> {
        let doing = "read the state";
        let query = format!("SELECT data FROM {} WHERE name = $1", self.database.tables.states());
        let mut tried = 0;
        loop {
            self.connect(doing).await.map_err(Trouble::store)?;
            self.check_lock()?;
            let client = self.client(doing).map_err(Trouble::store)?;
            match client.query_opt(&query, &[&self.workspace]).await {
                Ok(row) => {
                    return Ok(row.and_then(|row| row.get::<_, Option<String>>(0)).filter(|data| !data.is_empty()));
                }
                Err(_) if self.is_worth_another_try(tried) => tried += 1,
                Err(error) => return Err(self.database.trouble(doing, &error).store()),
            }
        }
    }

    async fn read_now(&mut self) -> Result<Option<State>, StoreError> {
        let Some(data) = self.fetch().await? else {
            self.seen = Seen::Absent;
            return Ok(None);
        };
        let state = self.codec.decode(data.as_bytes(), &self.place())?;
        self.seen = Seen::There { digest: Digest::of(data.as_bytes()), version: Version::from(&state) };
        Ok(Some(state))
    }

    async fn write_now(&mut self, expected: Option<&Version>, next: &State) -> Result<(), StoreError> {
        if matches!(self.seen, Seen::Nothing) {
            self.read_now().await?;
        }
        let found = match &self.seen {
            Seen::There { version, .. } => Some(version),
            Seen::Nothing | Seen::Absent => None,
        };
        if found != expected {
            return Err(StoreError::Conflict { expected: expected.cloned(), found: found.cloned() });
        }
        let bytes = self.codec.encode(next)?;
        let doing = "store the state";
        let text = String::from_utf8(bytes).map_err(|_| {
            self.database.because(doing, "it is no text, and this backend can keep nothing else").store()
        })?;
        let mut tried = 0;
        let written = loop {
            self.connect(doing).await.map_err(Trouble::store)?;
            self.check_lock()?;
            match self.replace(&text).await {
                Ok(written) => break written,
                Err(_) if self.is_worth_another_try(tried) => tried += 1,
                Err(error) => return Err(self.database.trouble(doing, &error).store()),
            }
        };
        if !written {
            // Something else is there. Or is it what was just stored, and only the answer was lost?
            let there = self.fetch().await?;
            if there.as_ref() != Some(&text) {
                let state = there.map(|there| self.codec.decode(there.as_bytes(), &self.place())).transpose()?;
                let found = state.as_ref().map(Version::from);
                return Err(StoreError::Conflict { expected: expected.cloned(), found });
            }
        }
        self.seen = Seen::There { digest: Digest::of(text.as_bytes()), version: Version::from(next) };
        if let (Some(client), Some(held)) = (&self.client, &mut self.held) {
            // If this fails, the lock is wider than it need be.
            let _ = locking::move_to_row(client, &self.database, &self.workspace, &mut held.keys).await;
        }
        Ok(())
    }

    /// Puts a text in the place of what was read, if that is still there. One statement, so one transaction.
    async fn replace(&self, text: &str) -> Result<bool, tokio_postgres::Error> {
        let Some(client) = &self.client else { return Ok(false) };
        let states = self.database.tables.states();
        let count = match &self.seen {
            Seen::There { digest, .. } => {
                let update = format!(
                    "UPDATE {states} SET data = $2 WHERE name = $1 AND encode(sha256(convert_to(data, 'UTF8')), 'hex') = $3"
                );
                client.execute(&update, &[&self.workspace, &text, &digest.to_string()]).await?
            }
            Seen::Nothing | Seen::Absent => {
                let insert = format!(
                    "INSERT INTO {states} AS s (name, data) VALUES ($1, $2) \
                     ON CONFLICT (name) DO UPDATE SET data = EXCLUDED.data WHERE coalesce(s.data, '') = ''"
                );
                client.execute(&insert, &[&self.workspace, &text]).await?
            }
        };
        Ok(count == 1)
    }

    async fn lock_now(&mut self, info: &LockInfo) -> Result<(), LockError> {
        let doing = "lock the state";
        self.connect(doing).await.map_err(Trouble::lock)?;
        let client = self.client(doing).map_err(Trouble::lock)?;
        match locking::take(client, &self.database, &self.workspace).await {
            Ok(keys) => {
                locking::announce(client, info).await;
                self.held = Some(Held { info: info.clone(), keys });
                self.firm.store(true, Ordering::SeqCst);
                // What was read before was read without a lock.
                self.seen = Seen::Nothing;
                Ok(())
            }
            Err(missed) => Err(locking::explain(client, &self.database, &self.workspace, missed).await),
        }
    }

    async fn unlock_now(&mut self, held: Held) -> Result<(), LockError> {
        let client = self.client.take().filter(|client| !client.is_closed());
        self.firm.store(false, Ordering::SeqCst);
        let Some(client) = client else { return Ok(()) };
        let released = locking::release(&client, &held.keys).await;
        released.map_err(|error| self.database.trouble("unlock the state", &error).lock())
    }

    async fn force_unlock_now(&mut self, id: &str) -> Result<(), LockError> {
        let doing = "unlock the state";
        let client = self.database.connect(doing).await.map_err(Trouble::lock)?;
        let failed = |error: tokio_postgres::Error| self.database.trouble(doing, &error).lock();
        let mut other = None;
        for key in locking::keys_of(&client, &self.database, &self.workspace).await.map_err(Trouble::lock)? {
            let Some(holder) = locking::holder(&client, key).await.map_err(failed)? else { continue };
            if holder.is_called(id) {
                let ended = holder.end(&client).await.map_err(failed)?;
                let refused =
                    || self.database.because(doing, "the server does not end the process that holds the lock").lock();
                return if ended { Ok(()) } else { Err(refused()) };
            }
            other = other.or_else(|| Some(Box::new(holder.info(&self.place()))));
        }
        Err(match other {
            Some(info) => LockError::WrongId { given: id.to_owned(), info: Some(info) },
            None => LockError::NotLocked,
        })
    }
}

impl StateStore for RowStore {
    fn read(&mut self) -> Result<Option<State>, StoreError> {
        self.database.runtime.clone().block_on(self.read_now())
    }

    fn write(&mut self, expected: Option<&Version>, next: &State) -> Result<(), StoreError> {
        self.database.runtime.clone().block_on(self.write_now(expected, next))
    }

    fn lock(&mut self, info: &LockInfo) -> Result<(), LockError> {
        if self.held.is_some() {
            return Err(LockError::AlreadyLocked);
        }
        self.database.runtime.clone().block_on(self.lock_now(info))
    }

    fn unlock(&mut self, id: &str) -> Result<(), LockError> {
        let Some(held) = self.held.take_if(|held| held.info.id == id) else {
            let info = self.held.as_ref().map(|held| Box::new(held.info.clone()));
            return Err(match info {
                Some(info) => LockError::WrongId { given: id.to_owned(), info: Some(info) },
                None => LockError::NotLocked,
            });
        };
        self.database.runtime.clone().block_on(self.unlock_now(held))
    }

    fn force_unlock(&mut self, id: &str) -> Result<(), LockError> {
        self.database.runtime.clone().block_on(self.force_unlock_now(id))
    }
}
