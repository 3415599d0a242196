//! Journals in objects below the key of the state.

use std::io;
use std::sync::Arc;

use tokio::runtime::Handle;

use super::client::{Client, Condition, Trouble, What};
use crate::companions::{Companion, Companions};

/// What the keys of a journal begin with.
pub(super) fn prefix(key: &str) -> String {
    format!("{key}.groma-journal/")
}

/// The journal of one state.
pub(super) struct JournalObjects {
    client: Arc<Client>,
    bucket: String,
    prefix: String,
    runtime: Handle,
}

impl JournalObjects {
    pub(super) fn new(client: Arc<Client>, bucket: &str, key: &str, runtime: Handle) -> Self {
        Self { client, bucket: bucket.to_owned(), prefix: prefix(key), runtime }
    }

    fn keys(&self, names: &[String]) -> Vec<String> {
        names.iter().map(|name| format!("{}{name}", self.prefix)).collect()
    }
}

impl Companions for JournalObjects {
    fn place(&self) -> String {
        format!("s3://{}/{}", self.bucket, self.prefix.trim_end_matches('/'))
    }

    fn list(&self) -> io::Result<Vec<Companion>> {
        let found = self.runtime.block_on(self.client.list(&self.prefix)).map_err(Trouble::io)?;
        let companion = |found: super::xml::Found| {
            Some(Companion { name: found.key.strip_prefix(&self.prefix)?.to_owned(), size: found.size })
        };
        Ok(found.into_iter().filter_map(companion).collect())
    }

    fn read(&self, names: &[String]) -> io::Result<Vec<Option<Vec<u8>>>> {
        let found = self.runtime.block_on(Client::get_all(&self.client, self.keys(names))).map_err(Trouble::io)?;
        Ok(found.into_iter().map(|object| object.map(|object| object.bytes)).collect())
    }

    fn create(&self, name: &str, bytes: &[u8]) -> io::Result<bool> {
        let key = format!("{}{name}", self.prefix);
        let created = self.client.put(&key, bytes.to_vec(), Condition::Absent, What::Journal);
        Ok(self.runtime.block_on(created).map_err(Trouble::io)?.is_some())
    }

    fn remove(&self, names: &[String]) -> io::Result<()> {
        self.runtime.block_on(Client::delete_all(&self.client, self.keys(names))).map_err(Trouble::io)
    }
}
