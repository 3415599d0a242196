//! States in rows of PostgreSQL: OpenTofu's and Terraform's `pg` backend, with the same tables and the same advisory locks, and a
//! journal in a table of its own.

mod address;
mod journal;
mod locking;
mod session;
mod store;
mod tls;

use std::sync::Arc;

use groma_model::diag::Diagnostics;
use groma_model::schema::Block;
use groma_model::ty::Type;
use groma_model::value::Value;
use groma_state::{StateCodec, WorkspaceError, WorkspaceName};

use crate::companions::CompanionHome;
use crate::settings::{Settings, block, optional, secret};
use crate::{Backend, BackendError, BackendKind, Place, Surroundings};
use address::Address;
use journal::JournalRows;
use session::{Database, Tables};
use store::RowStore;

/// The kind.
pub(crate) struct Pg;

impl BackendKind for Pg {
    fn name(&self) -> &'static str {
        "pg"
    }

    fn schema(&self) -> Block {
        let text = |about| optional(Type::String, about);
        let flag = |about| optional(Type::Bool, about);
        block(vec![
            ("conn_str", secret("Where the database is: a postgres:// URL, or a list of names and values.")),
            ("schema_name", text("The schema of the states. \"terraform_remote_state\" if nothing is said.")),
            ("skip_schema_creation", flag("Whether the schema is there already, and must not be created.")),
            ("table_name", text("The table of the states. \"states\" if nothing is said.")),
            ("skip_table_creation", flag("Whether the table is there already, and must not be created.")),
            ("index_name", text("The index over their names. \"states_by_name\" if nothing is said.")),
            ("skip_index_creation", flag("Whether the index is there already, and must not be created.")),
        ])
    }

    fn configure(&self, settings: &Value, surroundings: &Surroundings) -> Result<Arc<dyn Backend>, Diagnostics> {
        let mut settings = Settings::new(settings, surroundings);
        let name = |settings: &Settings<'_>, name, variable, default: &str| {
            settings.text(name, variable).unwrap_or_else(|| default.to_owned())
        };
        let tables = Tables {
            schema: name(&settings, "schema_name", "PG_SCHEMA_NAME", "terraform_remote_state"),
            table: name(&settings, "table_name", "PG_TABLE_NAME", "states"),
            index: name(&settings, "index_name", "PG_INDEX_NAME", "states_by_name"),
            make_schema: !settings.flag("skip_schema_creation", "PG_SKIP_SCHEMA_CREATION", false),
            make_table: !settings.flag("skip_table_creation", "PG_SKIP_TABLE_CREATION", false),
            make_index: !settings.flag("skip_index_creation", "PG_SKIP_INDEX_CREATION", false),
        };
        let conn_str = settings.text("conn_str", "PG_CONN_STR").unwrap_or_default();
        let address = Address::new(&conn_str, surroundings)
            .map_err(|reason| settings.wrong.push(crate::settings::invalid("conn_str", reason)));
        match address {
            Ok(address) if !settings.wrong.has_errors() => {
                let database = Arc::new(Database::new(address, tables, surroundings));
                Ok(Arc::new(PgBackend { database, surroundings: surroundings.clone() }))
            }
            _ => Err(settings.wrong),
        }
    }
}

struct PgBackend {
    database: Arc<Database>,
    surroundings: Surroundings,
}

impl Backend for PgBackend {
    fn workspaces(&self) -> Result<Vec<WorkspaceName>, BackendError> {
        let database = Arc::clone(&self.database);
        let query = format!("SELECT name FROM {} WHERE name <> 'default' ORDER BY name", database.tables.states());
        let names = self.surroundings.runtime.block_on(async move {
            let doing = "list the workspaces";
            let client = database.connect(doing).await?;
            let rows = client.query(&query, &[]).await.map_err(|error| database.trouble(doing, &error))?;
            Ok(rows.iter().filter_map(|row| row.get::<_, Option<String>>(0)).collect::<Vec<_>>())
        });
        let names = names.map_err(session::Trouble::backend)?;
        let others = names.iter().filter_map(|name| WorkspaceName::parse(name).ok());
        Ok(std::iter::once(WorkspaceName::default_workspace()).chain(others).collect())
    }

    fn delete(&self, workspace: &WorkspaceName) -> Result<(), BackendError> {
        if workspace.is_default() {
            return Err(WorkspaceError::IsDefault.into());
        }
        let database = Arc::clone(&self.database);
        let deleted = self.surroundings.runtime.block_on(database.delete(workspace.as_str()));
        deleted.map_err(session::Trouble::backend)
    }

    fn open(&self, workspace: &WorkspaceName, codec: Arc<dyn StateCodec>) -> Result<Place, BackendError> {
        let store = RowStore::new(Arc::clone(&self.database), workspace, codec);
        let rows = JournalRows::new(Arc::clone(&self.database), workspace.as_str());
        let journal = CompanionHome::new(Arc::new(rows), self.surroundings.spool.clone(), store.holding());
        let name = format!("pg {}", self.database.place(workspace.as_str()));
        Ok(Place { name, store: Box::new(store), journal: Some(Box::new(journal)) })
    }
}
