//! `providers mirror`: packages for several platforms into a directory, packed, with the index files of a network mirror.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use groma_fetch::http::Client;
use groma_model::address::Provider;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::version::{Constraints, Version};
use serde_json::{Map, Value, json};

use super::authentication::{AuthenticationResult, Local};
use super::error::PackageError;
use super::events::{Event, Observer};
use super::fetching::{blocking, download};
use super::hash::Hash;
use super::locks::{Locks, Requirements};
use super::package::{Location, PackageMeta, archive_name};
use super::placing::io_error;
use super::platform::Platform;
use super::selection::select;
use super::source::{Source, search_directory};

/// A package that is in the mirror now.
#[derive(Debug, Clone)]
pub struct Mirrored {
    /// Which provider.
    pub provider: Provider,
    /// Which version.
    pub version: Version,
    /// For which platform.
    pub platform: Platform,
    /// Where it is.
    pub archive: PathBuf,
    /// How it was checked.
    pub authentication: Option<AuthenticationResult>,
}

/// Where a mirror is made, and for what.
struct Work<'a> {
    source: Arc<dyn Source>,
    client: Client,
    directory: &'a Path,
    locks: &'a Locks,
    observer: &'a dyn Observer,
}

/// Downloads what is required into a directory, and writes the index files. Each mistake is told, and does not keep the
/// rest from being mirrored.
pub async fn mirror(
    (source, client): (Arc<dyn Source>, Client),
    requirements: &Requirements,
    locks: &Locks,
    platforms: &[Platform],
    directory: &Path,
    observer: &dyn Observer,
) -> (Vec<Mirrored>, Diagnostics) {
    let work = Work { source, client, directory, locks, observer };
    let mut diagnostics = Diagnostics::new();
    let mut mirrored = Vec::new();
    for (provider, constraints) in requirements.iter().filter(|(provider, _)| !provider.is_builtin()) {
        let version = match work.version(provider, constraints).await {
            Ok(version) => version,
            Err(diagnostic) => {
                diagnostics.push(diagnostic);
                continue;
            }
        };
        observer.observe(Event::Selected { provider: provider.clone(), version: version.clone() });
        for platform in platforms {
            match work.package(provider, &version, platform).await {
                Ok(done) => mirrored.push(done),
                Err(diagnostic) => diagnostics.push(diagnostic),
            }
        }
    }
    let root = directory.to_owned();
    let known = hashes_by_archive(&mirrored);
    match tokio::task::spawn_blocking(move || write_indexes(&root, &known)).await {
        Ok(problems) => {
            for problem in problems {
                diagnostics.push(index_error(&problem));
            }
        }
        Err(error) => diagnostics.push(index_error(&error.to_string())),
    }
    (mirrored, diagnostics)
}

impl Work<'_> {
    async fn version(&self, provider: &Provider, constraints: &Constraints) -> Result<Version, Diagnostic> {
        let unavailable = |reason: String| {
            let detail = format!("Failed to download {provider} from its origin registry: {reason}.");
            Diagnostic::error("Provider not available", detail)
        };
        self.observer.observe(Event::QueryBegin {
            provider: provider.clone(),
            constraints: constraints.clone(),
            locked: !self.locks.is_empty(),
        });
        if !self.locks.is_empty() {
            let detail = format!("Failed to find {provider} in the lock file");
            let lock = self.locks.get(provider);
            return lock
                .map(|lock| lock.version.clone())
                .ok_or_else(|| Diagnostic::error("Provider not found in lockfile", detail));
        }
        let available =
            self.source.available_versions(provider).await.map_err(|error| unavailable(error.to_string()))?;
        select(constraints, None, &available.versions).map_err(|failure| unavailable(failure.to_string()))
    }

    async fn package(
        &self,
        provider: &Provider,
        version: &Version,
        platform: &Platform,
    ) -> Result<Mirrored, Diagnostic> {
        let failed = |summary: &str, verb: &str, reason: String| {
            Diagnostic::error(summary, format!("Failed to {verb} {provider} v{version} for {platform}: {reason}."))
        };
        let meta = self.source.package(provider, version, platform).await;
        let meta = meta.map_err(|error| failed("Provider release not available", "download", error.to_string()))?;
        self.observer.observe(Event::FetchBegin {
            provider: provider.clone(),
            version: version.clone(),
            location: meta.location.to_string(),
            in_cache: false,
        });
        let done = self.fetch(meta).await.map_err(|error| match error {
            PackageError::Authentication(error) => {
                failed("Invalid provider package", "authenticate", error.to_string())
            }
            other => failed("Cannot download provider release", "download", other.to_string()),
        })?;
        self.observer.observe(Event::FetchSuccess {
            provider: provider.clone(),
            version: version.clone(),
            directory: done.archive.clone(),
            authentication: done.authentication.clone(),
        });
        Ok(done)
    }

    /// Downloads beside the final place, checks, and only then gives the file its name.
    async fn fetch(&self, meta: PackageMeta) -> Result<Mirrored, PackageError> {
        let archive = packed_path(self.directory, &meta);
        let parent = archive.parent().unwrap_or(self.directory).to_owned();
        std::fs::create_dir_all(&parent).map_err(io_error("cannot create", &parent))?;
        let staged = tempfile::Builder::new().prefix(".groma-staging-").tempfile_in(&parent);
        let staged = staged.map_err(io_error("cannot create a file in", &parent))?;
        let (digest, size) = download(&self.client, &meta, staged.as_file(), self.observer).await?;
        blocking(move || {
            let local = Local::Archive { file: staged.as_file(), name: meta.location.to_string(), digest, size };
            let authentication = meta.authentication.check(&meta, &local)?;
            readable_for_all(staged.as_file()).map_err(io_error("cannot set permissions of", &archive))?;
            staged.persist(&archive).map_err(|error| io_error("cannot write", &archive)(error.error))?;
            Ok(Mirrored {
                provider: meta.provider,
                version: meta.version,
                platform: meta.platform,
                archive,
                authentication,
            })
        })
        .await
    }
}

/// Temporary files are private; a mirror is not.
#[cfg(unix)]
fn readable_for_all(file: &std::fs::File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn readable_for_all(_file: &std::fs::File) -> std::io::Result<()> {
    Ok(())
}

fn packed_path(root: &Path, meta: &PackageMeta) -> PathBuf {
    let mut path = root.to_owned();
    path.extend([meta.provider.host.as_str(), meta.provider.namespace.as_str(), meta.provider.ty.as_str()]);
    path.push(archive_name(&meta.provider, &meta.version, &meta.platform));
    path
}

/// What was learnt about the archives that were just fetched: their own hashes that somebody vouches for.
fn hashes_by_archive(mirrored: &[Mirrored]) -> BTreeMap<(Provider, Version, Platform), Vec<Hash>> {
    let mut all = BTreeMap::new();
    for done in mirrored {
        let Some(result) = &done.authentication else { continue };
        let own = result.hashes_where(|known| {
            let vouched = known.verified || known.from_registry || known.from_trusted_mirror;
            vouched && known.platform.as_ref() == Some(&done.platform)
        });
        all.insert((done.provider.clone(), done.version.clone(), done.platform.clone()), own);
    }
    all
}

/// Writes the index files for everything in a mirror, also for what was there before. Gives what went wrong.
fn write_indexes(root: &Path, known: &BTreeMap<(Provider, Version, Platform), Vec<Hash>>) -> Vec<String> {
    let listing = match search_directory(root) {
        Ok(listing) => listing,
        Err(error) => {
            return vec![format!(
                "Could not scan the output directory to get package metadata for the JSON indexes: {error}."
            )];
        }
    };
    let mut problems = Vec::new();
    for (provider, packages) in listing.packages {
        let mut versions: BTreeMap<String, Map<String, Value>> = BTreeMap::new();
        let mut directory = None;
        for meta in packages {
            let Location::Archive(path) = &meta.location else { continue };
            directory = path.parent().map(Path::to_owned);
            let hashes = match index_hashes(&meta, path, known) {
                Ok(hashes) => hashes,
                Err(reason) => {
                    problems.push(format!(
                        "Failed to determine a hash value for {provider} v{} on {}: {reason}.",
                        meta.version, meta.platform
                    ));
                    continue;
                }
            };
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let entry = json!({ "hashes": hashes, "url": name });
            versions.entry(meta.version.to_string()).or_default().insert(meta.platform.to_string(), entry);
        }
        let Some(directory) = directory else { continue };
        let index: BTreeMap<&String, Value> = versions.keys().map(|version| (version, json!({}))).collect();
        let mut files = vec![("index.json".to_owned(), json!({ "versions": index }))];
        files.extend(versions.into_iter().map(|(version, archives)| {
            let sorted: BTreeMap<String, Value> = archives.into_iter().collect();
            (format!("{version}.json"), json!({ "archives": sorted }))
        }));
        for (name, content) in files {
            if let Err(error) = write_json(&directory.join(&name), &content) {
                problems.push(format!("Failed to write an updated JSON index for {provider} ({name}): {error}."));
            }
        }
    }
    problems
}

fn index_hashes(
    meta: &PackageMeta,
    path: &Path,
    known: &BTreeMap<(Provider, Version, Platform), Vec<Hash>>,
) -> Result<Vec<String>, String> {
    let key = (meta.provider.clone(), meta.version.clone(), meta.platform.clone());
    if let Some(hashes) = known.get(&key).filter(|hashes| !hashes.is_empty()) {
        return Ok(hashes.iter().map(Hash::to_string).collect());
    }
    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    groma_fetch::dirhash::h1_zip(file).map(|hash| vec![hash]).map_err(|error| error.to_string())
}

/// Replaces a file in one step: the directory may be the root of a server that runs.
fn write_json(path: &Path, content: &Value) -> std::io::Result<()> {
    let text = serde_json::to_string_pretty(content)?;
    let directory = path.parent().unwrap_or(Path::new("."));
    let mut staged = tempfile::NamedTempFile::new_in(directory)?;
    std::io::Write::write_all(&mut staged, text.as_bytes())?;
    readable_for_all(staged.as_file())?;
    staged.persist(path).map_err(|error| error.error)?;
    Ok(())
}

fn index_error(detail: &str) -> Diagnostic {
    Diagnostic::error("Failed to update indexes", detail)
}
