//! The journal of a state in Secrets of its own, one for each time that something is made durable. None of them has the labels
//! that states are found by.

use std::collections::BTreeMap;
use std::io::{self, Read as _, Write as _};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, ListParams, ObjectMeta, PostParams};
use tokio::runtime::Handle;

use super::discard;
use super::names::Names;
use super::trouble::{Doing, Trouble, is_conflict, is_ending};
use crate::companions::{Companion, Companions, closed};

/// Where in a Secret the bytes are.
const PLAIN: &str = "journal";
/// Where they are if they are compressed.
const COMPRESSED: &str = "journal.gz";
/// What is longer is compressed, because a Secret holds a megabyte.
const LONG: usize = 64 * 1024;
/// How many Secrets are listed at a time.
const PAGE: u32 = 200;
/// From how many on all are listed instead of getting each.
const MANY: usize = 8;

/// The Secrets of one journal.
pub(super) struct JournalSecrets {
    secrets: Api<Secret>,
    names: Names,
    runtime: Handle,
}

impl JournalSecrets {
    pub(super) fn new(secrets: Api<Secret>, names: Names, runtime: Handle) -> Self {
        Self { secrets, names, runtime }
    }

    fn doing(&self, verb: &'static str, name: &str) -> Doing {
        Trouble::when(verb, "secrets", &self.names.namespace, name)
    }

    /// All there are, by the name that the journal calls them.
    async fn all(&self) -> io::Result<BTreeMap<String, Vec<u8>>> {
        let mut found = BTreeMap::new();
        let mut chosen = ListParams::default().labels(&self.names.journal_selector()).limit(PAGE);
        loop {
            let page = self.secrets.list(&chosen).await.map_err(|error| self.doing("list", "").of(error).io())?;
            let next = page.metadata.continue_.filter(|next| !next.is_empty());
            for secret in page.items {
                let name = secret.metadata.name.clone().unwrap_or_default();
                if let Some(short) = self.names.in_journal(&name) {
                    found.insert(short.to_owned(), content(secret)?);
                }
            }
            let Some(next) = next else { return Ok(found) };
            chosen = chosen.continue_token(&next);
        }
    }

    async fn read_all(&self, names: &[String]) -> io::Result<Vec<Option<Vec<u8>>>> {
        if names.len() >= MANY {
            let mut all = self.all().await?;
            return Ok(names.iter().map(|name| all.remove(name)).collect());
        }
        let mut found = Vec::new();
        for name in names {
            let name = self.names.journal(name);
            let secret = self.secrets.get_opt(&name).await.map_err(|error| self.doing("get", &name).of(error).io())?;
            found.push(secret.map(content).transpose()?);
        }
        Ok(found)
    }

    async fn create_one(&self, name: &str, bytes: &[u8]) -> io::Result<bool> {
        let name = self.names.journal(name);
        let metadata = ObjectMeta {
            name: Some(name.clone()),
            labels: Some(self.names.journal_labels()),
            finalizers: self.names.finalizers(),
            ..ObjectMeta::default()
        };
        let data = Some([packed(bytes)?].into());
        let secret = Secret { metadata, data, immutable: Some(true), ..Secret::default() };
        match self.secrets.create(&PostParams::default(), &secret).await {
            Ok(_) => Ok(true),
            Err(error) if is_conflict(&error) => Ok(false),
            Err(error) if is_ending(&error) => Err(closed(&self.doing("create", &name).of(error).io())),
            Err(error) => Err(self.doing("create", &name).of(error).io()),
        }
    }

    async fn remove_all(&self, names: &[String]) -> io::Result<()> {
        for name in names {
            let name = self.names.journal(name);
            let deleted = discard(&self.secrets, &self.names, &name).await;
            deleted.map_err(|error| self.doing("delete", &name).of(error).io())?;
        }
        Ok(())
    }
}

fn packed(bytes: &[u8]) -> io::Result<(String, ByteString)> {
    if bytes.len() < LONG {
        return Ok((PLAIN.to_owned(), ByteString(bytes.to_vec())));
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes)?;
    Ok((COMPRESSED.to_owned(), ByteString(encoder.finish()?)))
}

fn content(secret: Secret) -> io::Result<Vec<u8>> {
    let mut data = secret.data.unwrap_or_default();
    if let Some(ByteString(packed)) = data.remove(COMPRESSED) {
        let mut bytes = Vec::new();
        GzDecoder::new(&packed[..]).read_to_end(&mut bytes)?;
        return Ok(bytes);
    }
    Ok(data.remove(PLAIN).map(|ByteString(bytes)| bytes).unwrap_or_default())
}

impl Companions for JournalSecrets {
    fn place(&self) -> String {
        format!("kubernetes secrets {}/{}", self.names.namespace, self.names.journal("*"))
    }

    fn list(&self) -> io::Result<Vec<Companion>> {
        let all = self.runtime.block_on(self.all())?;
        Ok(all.into_iter().map(|(name, bytes)| Companion { name, size: bytes.len() as u64 }).collect())
    }

    fn read(&self, names: &[String]) -> io::Result<Vec<Option<Vec<u8>>>> {
        self.runtime.block_on(self.read_all(names))
    }

    fn create(&self, name: &str, bytes: &[u8]) -> io::Result<bool> {
        self.runtime.block_on(self.create_one(name, bytes))
    }

    fn remove(&self, names: &[String]) -> io::Result<()> {
        self.runtime.block_on(self.remove_all(names))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_long_is_compressed_and_comes_back() {
        for length in [0, 1, LONG - 1, LONG, 3 * LONG] {
            let bytes: Vec<u8> = (0..length).map(|at| (at % 251) as u8).collect();
            let packed = packed(&bytes).unwrap();
            assert_eq!(packed.0 == COMPRESSED, length >= LONG);
            let secret = Secret { data: Some([packed].into()), ..Secret::default() };
            assert_eq!(content(secret).unwrap(), bytes);
        }
    }
}
