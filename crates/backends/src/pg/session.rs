//! Connections to a database that is ready for states: its schema, table and index are made if they are missing. What is read and
//! written is in `store` and `journal`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use groma_network::{Networks, Unreachable};
use groma_state::{LockError, StoreError};
use tokio::runtime::Handle;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Error, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::address::{self, Address};
use crate::{BackendError, Surroundings};

/// The names of things, and which of them are ours to make.
pub(super) struct Tables {
    pub(super) schema: String,
    pub(super) table: String,
    pub(super) index: String,
    pub(super) make_schema: bool,
    pub(super) make_table: bool,
    pub(super) make_index: bool,
}

/// A name as it stands in a statement.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

impl Tables {
    /// The table of the states.
    pub(super) fn states(&self) -> String {
        format!("{}.{}", quoted(&self.schema), quoted(&self.table))
    }

    /// The table of their journals.
    pub(super) fn journal(&self) -> String {
        format!("{}.groma_journal", quoted(&self.schema))
    }

    /// How that is made.
    pub(super) fn make_journal(&self) -> String {
        format!(
            "CREATE TABLE IF NOT EXISTS {} (states text NOT NULL, workspace text NOT NULL, object text NOT NULL, \
             data bytea NOT NULL, PRIMARY KEY (states, workspace, object))",
            self.journal()
        )
    }
}

/// Something that failed.
#[derive(Debug)]
pub(super) struct Trouble {
    doing: String,
    reason: String,
}

impl Trouble {
    pub(super) fn backend(self) -> BackendError {
        BackendError::Remote { doing: self.doing, source: self.reason.into() }
    }

    pub(super) fn store(self) -> StoreError {
        StoreError::Remote { doing: self.doing, source: self.reason.into() }
    }

    pub(super) fn lock(self) -> LockError {
        LockError::Remote { doing: self.doing, source: self.reason.into() }
    }

    pub(super) fn io(self) -> std::io::Error {
        std::io::Error::other(format!("could not {}: {}", self.doing, self.reason))
    }
}

/// A database with states.
pub(super) struct Database {
    address: Address,
    pub(super) tables: Tables,
    pub(super) runtime: Handle,
    /// Where connections may lead. None for everywhere.
    networks: Option<Networks>,
    ready: AtomicBool,
}

impl Database {
    pub(super) fn new(address: Address, tables: Tables, surroundings: &Surroundings) -> Self {
        let (runtime, networks) = (surroundings.runtime.clone(), surroundings.limits.networks.clone());
        Self { address, tables, runtime, networks, ready: AtomicBool::new(false) }
    }

    /// What people know the state of a workspace by.
    pub(super) fn place(&self, workspace: &str) -> String {
        let Tables { schema, table, .. } = &self.tables;
        format!("row {workspace:?} of {schema}.{table} in {}", self.address.shown)
    }

    /// Something that was tried has failed.
    pub(super) fn trouble(&self, doing: &str, error: &Error) -> Trouble {
        Trouble { doing: format!("{doing} in PostgreSQL ({})", self.address.shown), reason: explain(error) }
    }

    /// It failed for a reason of our own.
    pub(super) fn because(&self, doing: &str, reason: impl Into<String>) -> Trouble {
        Trouble { doing: format!("{doing} in PostgreSQL ({})", self.address.shown), reason: reason.into() }
    }

    /// A new connection. It ends when it is dropped, and so do the locks that were taken over it.
    pub(super) async fn connect(&self, doing: &str) -> Result<Client, Trouble> {
        let mut config = self.address.config.clone();
        // What is stored is compared byte by byte.
        let options = config.get_options().map(|options| format!("{options} ")).unwrap_or_default();
        config.options(format!("{options}-c client_encoding=UTF8"));
        if let Some(networks) = &self.networks {
            address::hold(&mut config, networks).await.map_err(|problem| match problem {
                Unreachable::Refused(refused) => self.because(doing, refused.to_string()),
                Unreachable::Failed(problem) => self.because(doing, problem.to_string()),
            })?;
        }
        let failed = |error: Error| self.trouble(doing, &error);
        let client = if self.address.tls.mode == "disable" {
            let (client, connection) = config.connect(NoTls).await.map_err(failed)?;
            self.runtime.spawn(connection);
            client
        } else {
            let tls = self.address.tls.config().map_err(|reason| self.because(doing, reason))?;
            let (client, connection) = config.connect(MakeRustlsConnect::new(tls)).await.map_err(failed)?;
            self.runtime.spawn(connection);
            client
        };
        if !self.ready.load(Ordering::SeqCst) {
            self.prepare(&client).await.map_err(|error| self.trouble("prepare the tables for states", &error))?;
            self.ready.store(true, Ordering::SeqCst);
        }
        Ok(client)
    }

    /// Makes what is missing, as the other tools do.
    async fn prepare(&self, client: &Client) -> Result<(), Error> {
        let Tables { schema, index, .. } = &self.tables;
        let states = self.tables.states();
        if self.tables.make_schema {
            // Only if it is missing: who has no right to make schemas may use one.
            let found = "SELECT count(*) FROM information_schema.schemata WHERE schema_name = $1";
            let found: i64 = client.query_one(found, &[schema]).await?.get(0);
            if found == 0 {
                make(client, &format!("CREATE SCHEMA IF NOT EXISTS {}", quoted(schema))).await?;
            }
        }
        if self.tables.make_table {
            // Locks are known by the id of the row, in the whole database: so ids are too.
            make(client, "CREATE SEQUENCE IF NOT EXISTS public.global_states_id_seq AS bigint").await?;
            let table = format!(
                "CREATE TABLE IF NOT EXISTS {states} (id bigint NOT NULL DEFAULT nextval('public.global_states_id_seq') \
                 PRIMARY KEY, name text UNIQUE, data text)"
            );
            make(client, &table).await?;
        }
        if self.tables.make_index {
            make(client, &format!("CREATE UNIQUE INDEX IF NOT EXISTS {} ON {states} (name)", quoted(index))).await?;
        }
        Ok(())
    }

    /// Deletes a workspace with its journal.
    pub(super) async fn delete(self: Arc<Self>, workspace: &str) -> Result<(), Trouble> {
        let doing = format!("delete the workspace {workspace:?}");
        let mut client = self.connect(&doing).await?;
        let run = async {
            let transaction = client.transaction().await?;
            let journal =
                transaction.query_one("SELECT to_regclass($1) IS NOT NULL", &[&self.tables.journal()]).await?;
            if journal.get(0) {
                let rows = format!("DELETE FROM {} WHERE states = $1 AND workspace = $2", self.tables.journal());
                transaction.execute(&rows, &[&self.tables.table, &workspace]).await?;
            }
            let row = format!("DELETE FROM {} WHERE name = $1", self.tables.states());
            transaction.execute(&row, &[&workspace]).await?;
            transaction.commit().await
        };
        run.await.map_err(|error| self.trouble(&doing, &error))
    }
}

/// Makes something, which others may do at the same time.
pub(super) async fn make(client: &Client, statement: &str) -> Result<(), Error> {
    let same_time =
        [SqlState::UNIQUE_VIOLATION, SqlState::DUPLICATE_TABLE, SqlState::DUPLICATE_SCHEMA, SqlState::DUPLICATE_OBJECT];
    for _ in 0..5 {
        match client.batch_execute(statement).await {
            Err(error) if error.code().is_some_and(|code| same_time.contains(code)) => {}
            other => return other,
        }
    }
    client.batch_execute(statement).await
}

/// What a server or the way to it says, and what to do about it.
pub(super) fn explain(error: &Error) -> String {
    if let Some(refused) = error.as_db_error() {
        let hint = match refused.code() {
            code if *code == SqlState::INVALID_PASSWORD || *code == SqlState::INVALID_AUTHORIZATION_SPECIFICATION => {
                ". Check the user and the password in \"conn_str\", PGUSER and PGPASSWORD"
            }
            code if *code == SqlState::INVALID_CATALOG_NAME => {
                ". The database itself is not created; create it first, or name another one"
            }
            code if *code == SqlState::INSUFFICIENT_PRIVILEGE => {
                ". The user needs the right to use the schema and its tables, or to create what is missing"
            }
            code if *code == SqlState::UNDEFINED_TABLE || *code == SqlState::INVALID_SCHEMA_NAME => {
                ". Creation was skipped; leave out skip_schema_creation and skip_table_creation, or create it by hand"
            }
            _ => "",
        };
        let detail = refused.detail().map(|detail| format!(" ({detail})")).unwrap_or_default();
        return format!("{}{detail}{hint}", refused.message());
    }
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(inner) = source {
        let inner_text = inner.to_string();
        if !text.ends_with(&inner_text) {
            text = format!("{text}: {inner_text}");
        }
        source = inner.source();
    }
    if text.contains("server does not support TLS") {
        text.push_str(". If that is so on purpose, set sslmode=disable in \"conn_str\" or PGSSLMODE=disable");
    } else if text.contains("password missing") {
        text.push_str(". Set it in \"conn_str\", PGPASSWORD or a password file");
    }
    text
}
