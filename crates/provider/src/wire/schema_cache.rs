//! What plugins offer, kept on disk by the hash of their program, so that no process is started only to tell its schema.
//!
//! An entry is the plugin's own answer behind a checksum. What is damaged, foreign or of another version counts as absent
//! and is written anew. Files appear whole or not at all, so any number of processes may share a directory. Nothing here
//! fails: a cache that cannot be used costs time, not more.

mod entry;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::launch::Launch;
use super::plugin::{OpenError, PluginProvider, PluginSchema};
use crate::api::Provider as _;
use crate::fingerprint::Fingerprint;

/// Schemas in a directory. Cloning is cheap, and clones share what has been read.
#[derive(Debug, Clone)]
pub struct SchemaCache(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    dir: PathBuf,
    /// What has been read or learnt by this process, so that nothing is read twice.
    read: Mutex<BTreeMap<Fingerprint, Arc<PluginSchema>>>,
}

impl SchemaCache {
    /// In this directory, which need not exist.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self(Arc::new(Shared { dir: dir.into(), read: Mutex::default() }))
    }

    /// Where they are.
    pub fn dir(&self) -> &Path {
        &self.0.dir
    }

    /// What a program offers, if that is known. Reads files.
    pub fn load(&self, program: &Path) -> Option<Arc<PluginSchema>> {
        let fingerprint = Fingerprint::of(program, &self.0.dir).ok()?;
        if let Some(known) = self.known().get(&fingerprint) {
            return Some(Arc::clone(known));
        }
        let path = self.entry(&fingerprint);
        let schema = match entry::read(std::fs::read(&path).ok()?.into()) {
            Ok(schema) => Arc::new(schema),
            Err(problem) => {
                tracing::debug!(target: "groma::plugin", path = %path.display(), %problem, "schema cache entry ignored");
                return None;
            }
        };
        Some(Arc::clone(self.known().entry(fingerprint).or_insert(schema)))
    }

    /// Keeps what a program offers. Writes files.
    pub fn store(&self, program: &Path, schema: &Arc<PluginSchema>) {
        let Ok(fingerprint) = Fingerprint::of(program, &self.0.dir) else { return };
        let path = self.entry(&fingerprint);
        if let Err(error) = write_whole(&path, &entry::write(schema).parts()) {
            tracing::debug!(target: "groma::plugin", path = %path.display(), %error, "schema cache entry not written");
        }
        self.known().insert(fingerprint, Arc::clone(schema));
    }

    fn entry(&self, fingerprint: &Fingerprint) -> PathBuf {
        self.0.dir.join(format!("{fingerprint}.schema"))
    }

    fn known(&self) -> std::sync::MutexGuard<'_, BTreeMap<Fingerprint, Arc<PluginSchema>>> {
        self.0.read.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn load_aside(&self, program: &Path) -> Option<Arc<PluginSchema>> {
        let (cache, program) = (self.clone(), program.to_owned());
        tokio::task::spawn_blocking(move || cache.load(&program)).await.ok().flatten()
    }

    async fn store_aside(&self, program: &Path, schema: &Arc<PluginSchema>) {
        let (cache, program, schema) = (self.clone(), program.to_owned(), Arc::clone(schema));
        // Whatever went wrong has been logged.
        let _ = tokio::task::spawn_blocking(move || cache.store(&program, &schema)).await;
    }
}

/// What a plugin offers. Its process is started only if the cache does not know.
pub async fn schema_of(launch: &Launch, cache: &SchemaCache) -> Result<Arc<PluginSchema>, OpenError> {
    if let Some(known) = cache.load_aside(&launch.program).await {
        return Ok(known);
    }
    let plugin = PluginProvider::open_cached(launch, cache).await?;
    let schema = Arc::clone(plugin.plugin_schema());
    // It has said all that it was started for.
    let _ = plugin.shutdown().await;
    Ok(schema)
}

impl PluginProvider {
    /// Starts a plugin; what it offers comes from the cache, or goes into it.
    pub async fn open_cached(launch: &Launch, cache: &SchemaCache) -> Result<Self, OpenError> {
        let known = cache.load_aside(&launch.program).await;
        let plugin = Self::open(launch, known.clone()).await?;
        let is_known = known.is_some_and(|known| Arc::ptr_eq(&known, plugin.plugin_schema()));
        if !is_known {
            cache.store_aside(&launch.program, plugin.plugin_schema()).await;
        }
        Ok(plugin)
    }
}

/// Writes a file that appears whole or not at all.
fn write_whole(path: &Path, parts: &[&[u8]]) -> std::io::Result<()> {
    let dir = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(dir)?;
    let mut file = tempfile::NamedTempFile::new_in(dir)?;
    for part in parts {
        file.write_all(part)?;
    }
    file.persist(path).map(drop).map_err(|error| error.error)
}
