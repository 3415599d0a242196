//! Advisory locks on the keys that the other tools use: the id of a row or, as long as there is none, keys for creating one. They end
//! with the connection that they were taken over, so nobody has to be taken for dead.

use groma_state::{LockError, LockInfo};
use tokio_postgres::{Client, Error, Row};

use super::session::{Database, Trouble};

/// The key under which Terraform, and OpenTofu once, creates rows of any table.
const ANY_CREATION: i64 = -1;
/// How an application is called that holds a lock, before the name of the lock.
const MARK: &str = "groma ";

/// The key under which OpenTofu creates rows of this table: FNV-1 of its name, negated.
pub(super) fn creation_key(schema: &str, table: &str) -> i64 {
    let name = [schema.as_bytes(), b"\0", table.as_bytes()].concat();
    let hash = name.iter().fold(0x811c_9dc5_u32, |hash, byte| hash.wrapping_mul(0x0100_0193) ^ u32::from(*byte));
    -i64::from(hash)
}

/// The locks that are held over a connection.
#[derive(Debug, Clone, Default)]
pub(super) struct Keys(pub(super) Vec<i64>);

/// Why there is no lock.
pub(super) enum Missed {
    /// Somebody has this one.
    Held(i64, &'static str),
    Failed(Error),
}

impl From<Error> for Missed {
    fn from(error: Error) -> Self {
        Missed::Failed(error)
    }
}

/// How often to look whether somebody creates a row, who may only look as well.
const TRIES: u32 = 8;

/// Locks the row of a workspace, or the creation of rows if it has none.
pub(super) async fn take(client: &Client, database: &Database, workspace: &str) -> Result<Keys, Missed> {
    let tables = &database.tables;
    let creation = [creation_key(&tables.schema, &tables.table), ANY_CREATION];
    let row = client.query_opt(&format!("SELECT id FROM {} WHERE name = $1", tables.states()), &[&workspace]).await?;
    let Some(row) = row else {
        let mut keys = Keys::default();
        for key in creation {
            if !try_for(client, key, "pg_try_advisory_lock", TRIES).await? {
                release(client, &keys).await?;
                return Err(Missed::Held(key, "Already locked for workspace creation"));
            }
            keys.0.push(key);
        }
        return Ok(keys);
    };
    let id: i64 = row.get(0);
    if !try_for(client, id, "pg_try_advisory_lock", 1).await? {
        return Err(Missed::Held(id, "Workspace is already locked"));
    }
    for key in creation {
        // Shared: those who only look are not in each other's way.
        if !try_for(client, key, "pg_try_advisory_lock_shared", TRIES).await? {
            release(client, &Keys(vec![id])).await?;
            return Err(Missed::Held(key, "Cannot lock workspace; already locked for workspace creation"));
        }
        client.query_one("SELECT pg_advisory_unlock_shared($1)", &[&key]).await?;
    }
    Ok(Keys(vec![id]))
}

async fn try_for(client: &Client, key: i64, function: &str, tries: u32) -> Result<bool, Error> {
    for attempt in 0..tries {
        if attempt > 0 {
            tokio::time::sleep(std::time::Duration::from_millis(20 << attempt.min(4))).await;
        }
        if client.query_one(&format!("SELECT {function}($1)"), &[&key]).await?.get(0) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Gives locks back.
pub(super) async fn release(client: &Client, keys: &Keys) -> Result<(), Error> {
    for key in &keys.0 {
        client.query_one("SELECT pg_advisory_unlock($1)", &[key]).await?;
    }
    Ok(())
}

/// From the creation of a row to the row that was created, so that others can create theirs.
pub(super) async fn move_to_row(
    client: &Client,
    database: &Database,
    workspace: &str,
    keys: &mut Keys,
) -> Result<(), Error> {
    if keys.0.iter().all(|key| *key >= 0) {
        return Ok(());
    }
    let query = format!("SELECT id FROM {} WHERE name = $1", database.tables.states());
    let Some(row) = client.query_opt(&query, &[&workspace]).await? else { return Ok(()) };
    let id: i64 = row.get(0);
    if client.query_one("SELECT pg_try_advisory_lock($1)", &[&id]).await?.get(0) {
        let before = std::mem::replace(keys, Keys(vec![id]));
        release(client, &before).await?;
    }
    Ok(())
}

/// Says on the server who holds a lock, and lets it notice soon if this machine is gone.
pub(super) async fn announce(client: &Client, info: &LockInfo) {
    let mut name = format!("{MARK}{} {}", info.id, info.who);
    name.retain(|letter| letter.is_ascii_graphic() || letter == ' ');
    name.truncate(63);
    let settings = [
        ("application_name", name.as_str()),
        ("tcp_keepalives_idle", "10"),
        ("tcp_keepalives_interval", "5"),
        ("tcp_keepalives_count", "2"),
    ];
    for (name, value) in settings {
        // For people, and for better times; locks work without.
        let _ = client.query("SELECT set_config($1, $2, false)", &[&name, &value]).await;
    }
}

/// Somebody who holds a lock, as the server knows it.
pub(super) struct Holder {
    process: i32,
    application: String,
    who: String,
    since: String,
}

impl Holder {
    fn of(row: &Row) -> Self {
        let text = |at: usize| row.get::<_, Option<String>>(at).unwrap_or_default();
        Holder { process: row.get(0), application: text(1), who: text(2), since: text(3) }
    }

    /// The name of its lock, if it is one of ours.
    fn id(&self) -> Option<&str> {
        self.application.strip_prefix(MARK).and_then(|rest| rest.split(' ').next())
    }

    pub(super) fn info(&self, path: &str) -> LockInfo {
        let who =
            self.application.strip_prefix(MARK).and_then(|rest| rest.split_once(' ')).map(|(_, who)| who.to_owned());
        let tool = if self.id().is_some() { "groma" } else { "another tool" };
        LockInfo {
            id: self.id().map_or_else(|| self.process.to_string(), str::to_owned),
            info: format!("held by {tool} over process {} of the server, from {}", self.process, self.who),
            who: who.filter(|who| !who.is_empty()).unwrap_or_else(|| self.who.clone()),
            created: self.since.clone(),
            path: path.to_owned(),
            ..LockInfo::default()
        }
    }

    /// Whether it is meant by a name that people have seen.
    pub(super) fn is_called(&self, id: &str) -> bool {
        self.id() == Some(id) || self.process.to_string() == id
    }

    /// Ends its connection.
    pub(super) async fn end(&self, client: &Client) -> Result<bool, Error> {
        Ok(client.query_one("SELECT pg_terminate_backend($1)", &[&self.process]).await?.get(0))
    }
}

/// Who holds a lock.
pub(super) async fn holder(client: &Client, key: i64) -> Result<Option<Holder>, Error> {
    let query = "SELECT a.pid, a.application_name, a.usename || '@' || coalesce(host(a.client_addr), 'local'), \
         to_char(a.backend_start AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"') \
         FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid \
         WHERE l.locktype = 'advisory' AND l.granted AND l.mode = 'ExclusiveLock' AND l.objsubid = 1 \
         AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) \
         AND ((l.classid::bigint << 32) | l.objid::bigint) = $1 AND l.pid <> pg_backend_pid()";
    Ok(client.query_opt(query, &[&key]).await?.as_ref().map(Holder::of))
}

/// A lock that somebody else has, with everything that is known about that.
pub(super) async fn explain(client: &Client, database: &Database, workspace: &str, missed: Missed) -> LockError {
    match missed {
        Missed::Failed(error) => database.trouble("lock the state", &error).lock(),
        Missed::Held(key, reason) => {
            let found = holder(client, key).await.ok().flatten();
            let mut reason = format!("{reason}: {workspace}.");
            if found.as_ref().is_some_and(|holder| holder.id().is_none()) {
                reason.push_str(
                    " The ID below is that of the process on the server that holds the lock; \"force-unlock\" ends it.",
                );
            }
            let info = found.map(|holder| Box::new(holder.info(&database.place(workspace))));
            LockError::Held { reason, info, process: None }
        }
    }
}

/// Every key that may be held for a workspace.
pub(super) async fn keys_of(client: &Client, database: &Database, workspace: &str) -> Result<Vec<i64>, Trouble> {
    let tables = &database.tables;
    let query = format!("SELECT id FROM {} WHERE name = $1", tables.states());
    let row = client.query_opt(&query, &[&workspace]).await;
    let row = row.map_err(|error| database.trouble("look for the lock of the state", &error))?;
    let creation = [creation_key(&tables.schema, &tables.table), ANY_CREATION];
    Ok(row.map(|row| row.get(0)).into_iter().chain(creation).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_those_of_opentofu() {
        // As pg_locks shows it while OpenTofu 1.12.6 makes its first state.
        assert_eq!(creation_key("terraform_remote_state", "states"), -3_797_183_428);
        assert!(creation_key("a", "b") < 0);
        assert_ne!(creation_key("a", "b"), creation_key("ab", ""));
    }
}
