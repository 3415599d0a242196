//! Journals in rows of `groma_journal`, in the schema of the states.

use std::io;
use std::sync::Arc;

use tokio::sync::Mutex;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Error};

use super::session::{Database, make};
use crate::companions::{Companion, Companions};

/// The journal of one state.
pub(super) struct JournalRows {
    database: Arc<Database>,
    workspace: String,
    /// Its own connection: a state that takes long to be stored must not hold the journal up.
    client: Mutex<Option<Arc<Client>>>,
}

impl JournalRows {
    pub(super) fn new(database: Arc<Database>, workspace: &str) -> Self {
        Self { database, workspace: workspace.to_owned(), client: Mutex::new(None) }
    }

    async fn connect(&self, doing: &str) -> io::Result<Arc<Client>> {
        let mut current = self.client.lock().await;
        if let Some(client) = current.as_ref().filter(|client| !client.is_closed()) {
            return Ok(Arc::clone(client));
        }
        let client = Arc::new(self.database.connect(doing).await.map_err(super::session::Trouble::io)?);
        Ok(Arc::clone(current.insert(client)))
    }

    /// Runs a statement. A table that is not there has nothing in it.
    fn run<T: Default>(&self, doing: &'static str, work: impl AsyncFn(&Client) -> Result<T, Error>) -> io::Result<T> {
        self.database.runtime.block_on(async {
            match self.try_twice(doing, work).await? {
                Err(error) if error.code() == Some(&SqlState::UNDEFINED_TABLE) => Ok(T::default()),
                other => other.map_err(|error| self.database.trouble(doing, &error).io()),
            }
        })
    }

    /// Tries once more if the connection is gone, which it may be after a long time without a word. What was asked for may have been
    /// done nevertheless.
    async fn try_twice<T>(
        &self,
        doing: &str,
        work: impl AsyncFn(&Client) -> Result<T, Error>,
    ) -> io::Result<Result<T, Error>> {
        let client = self.connect(doing).await?;
        let result = work(&client).await;
        if result.is_ok() || !client.is_closed() {
            return Ok(result);
        }
        let client = self.connect(doing).await?;
        Ok(work(&client).await)
    }

    /// The table in which rows are, and which of them are of this state.
    fn chosen(&self) -> String {
        format!("{} WHERE states = $1 AND workspace = $2", self.database.tables.journal())
    }

    async fn insert(&self, client: &Client, name: &str, bytes: &[u8]) -> Result<bool, Error> {
        let insert = format!(
            "INSERT INTO {} (states, workspace, object, data) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
            self.database.tables.journal()
        );
        Ok(client.execute(&insert, &[&self.database.tables.table, &self.workspace, &name, &bytes]).await? == 1)
    }
}

impl Companions for JournalRows {
    fn place(&self) -> String {
        format!("groma_journal of {}", self.database.place(&self.workspace))
    }

    fn list(&self) -> io::Result<Vec<Companion>> {
        let query = format!("SELECT object, length(data) FROM {}", self.chosen());
        self.run("list the journal", async |client: &Client| {
            let rows = client.query(&query, &[&self.database.tables.table, &self.workspace]).await?;
            let companion =
                |row: &tokio_postgres::Row| Companion { name: row.get(0), size: row.get::<_, i32>(1) as u64 };
            Ok(rows.iter().map(companion).collect())
        })
    }

    fn read(&self, names: &[String]) -> io::Result<Vec<Option<Vec<u8>>>> {
        let query = format!("SELECT object, data FROM {} AND object = ANY($3)", self.chosen());
        let mut found = self.run("read the journal", async |client: &Client| {
            let rows = client.query(&query, &[&self.database.tables.table, &self.workspace, &names]).await?;
            Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect::<std::collections::BTreeMap<String, Vec<u8>>>())
        })?;
        Ok(names.iter().map(|name| found.remove(name)).collect())
    }

    fn create(&self, name: &str, bytes: &[u8]) -> io::Result<bool> {
        let doing = "write the journal";
        self.database.runtime.block_on(async {
            let failed = |error: Error| self.database.trouble(doing, &error).io();
            let result = self.try_twice(doing, async |client: &Client| self.insert(client, name, bytes).await).await?;
            match result {
                Err(error) if error.code() == Some(&SqlState::UNDEFINED_TABLE) => {}
                other => return other.map_err(failed),
            }
            let statement = self.database.tables.make_journal();
            if !self.database.tables.make_table {
                let reason = format!("the table is missing, and skip_table_creation is set. Create it: {statement}");
                return Err(self.database.because(doing, reason).io());
            }
            let client = self.connect(doing).await?;
            make(&client, &statement).await.map_err(failed)?;
            self.insert(&client, name, bytes).await.map_err(failed)
        })
    }

    fn remove(&self, names: &[String]) -> io::Result<()> {
        let delete = format!("DELETE FROM {} AND object = ANY($3)", self.chosen());
        self.run("remove the journal", async |client: &Client| {
            client.execute(&delete, &[&self.database.tables.table, &self.workspace, &names]).await.map(drop)
        })
    }
}
