//! Directories of unpacked packages, in the layout that `.terraform/providers` and the shared cache have:
//! `<host>/<namespace>/<type>/<version>/<os>_<arch>/`. How packages get there is elsewhere.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use groma_model::address::Provider;
use groma_model::version::Version;

use super::authentication::Local;
use super::error::PackageError;
use super::events::{Event, Observer};
use super::hash::Hash;
use super::platform::Platform;
use crate::fingerprint::Fingerprint;

/// How often a busy directory is looked at again.
const LOCK_PAUSE: Duration = Duration::from_millis(50);
/// After how many looks it is told that this waits.
const LOOKS_BEFORE_TELLING: u32 = 40;

/// A directory of packages for one platform.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageDir {
    root: PathBuf,
    platform: Platform,
}

/// A package in such a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CachedPackage {
    /// Which provider.
    pub provider: Provider,
    /// Which version.
    pub version: Version,
    /// Where it is.
    pub directory: PathBuf,
}

impl PackageDir {
    /// A directory, which need not exist yet.
    pub fn new(root: impl Into<PathBuf>, platform: Platform) -> Self {
        Self { root: root.into(), platform }
    }

    /// Where it is.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// For which platform its packages are.
    pub fn platform(&self) -> &Platform {
        &self.platform
    }

    /// Where a package belongs.
    pub fn path_of(&self, provider: &Provider, version: &Version) -> PathBuf {
        let mut path = self.root.clone();
        path.extend([provider.host.as_str(), provider.namespace.as_str(), provider.ty.as_str()]);
        path.push(version.to_string());
        path.push(self.platform.to_string());
        path
    }

    /// A package, if it is there.
    pub fn find(&self, provider: &Provider, version: &Version) -> Option<CachedPackage> {
        let directory = self.path_of(provider, version);
        directory.is_dir().then(|| CachedPackage { provider: provider.clone(), version: version.clone(), directory })
    }

    /// Keeps other processes from touching the place of a package. The file stays: removing it would let two of them
    /// hold different files of one name.
    pub(super) async fn lock(
        &self,
        provider: &Provider,
        version: &Version,
        observer: &dyn Observer,
    ) -> Result<PlaceLock, PackageError> {
        let place = self.path_of(provider, version);
        let path = place.with_file_name(format!("{}.lock", self.platform));
        let failed = |action: &'static str| {
            let path = path.clone();
            move |error: std::io::Error| PackageError::Io { action, path, reason: error.to_string() }
        };
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(failed("cannot create the directory for"))?;
        }
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(&path)
            .map_err(failed("cannot open"))?;
        let mut looks = 0;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(PlaceLock { _file: file }),
                Err(TryLockError::WouldBlock) => {}
                // Some network file systems cannot lock. Packages still appear whole there.
                Err(TryLockError::Error(error)) if error.kind() == std::io::ErrorKind::Unsupported => {
                    tracing::warn!(path = %path.display(), %error, "cannot lock");
                    return Ok(PlaceLock { _file: file });
                }
                Err(TryLockError::Error(error)) => return Err(failed("cannot lock")(error)),
            }
            looks += 1;
            if looks == LOOKS_BEFORE_TELLING {
                observer.observe(Event::CacheBusy { directory: self.root.clone() });
            }
            tokio::time::sleep(LOCK_PAUSE).await;
        }
    }
}

/// Holds the place of a package until it is dropped.
#[derive(Debug)]
pub(super) struct PlaceLock {
    _file: File,
}

impl CachedPackage {
    /// The program in it: the first file, by name, that is called like the provider.
    pub fn executable(&self) -> Result<PathBuf, PackageError> {
        find_executable(&self.directory, &self.provider.ty)
    }

    /// The hash over its files.
    pub fn files_hash(&self) -> Result<Hash, PackageError> {
        Local::Directory(&self.directory).files_hash().map_err(|reason| self.unreadable(reason))
    }

    /// Whether it has one of some hashes. Hashes of archives match nothing here.
    pub fn matches_any(&self, hashes: &[Hash]) -> Result<bool, PackageError> {
        Local::Directory(&self.directory).has_any(hashes).map_err(|reason| self.unreadable(reason))
    }

    /// The same, for a package that has been looked at before: files that have not changed since are not read again.
    pub(super) fn still_matches_any(&self, hashes: &[Hash], memory: &Path) -> Result<bool, PackageError> {
        let digest = |file: &Path| Fingerprint::of(file, memory).map(Fingerprint::digest);
        let own = groma_fetch::dirhash::h1_directory_with(&self.directory, digest);
        let own = own.map(Hash::computed).map_err(|error| self.unreadable(error.to_string()))?;
        Ok(hashes.contains(&own))
    }

    fn unreadable(&self, reason: String) -> PackageError {
        PackageError::Io { action: "cannot compute the checksum of", path: self.directory.clone(), reason }
    }
}

/// The first file in a directory, by name, that is called `terraform-provider-<type>`, perhaps with `_…` or `.…`.
pub(super) fn find_executable(directory: &Path, ty: &str) -> Result<PathBuf, PackageError> {
    let failed = |error: std::io::Error| PackageError::Io {
        action: "could not read package directory",
        path: directory.to_owned(),
        reason: error.to_string(),
    };
    let prefix = format!("terraform-provider-{ty}");
    let mut found: Option<String> = None;
    for entry in std::fs::read_dir(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let fits = name.strip_prefix(&prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with(['_', '.']));
        let is_first = found.as_ref().is_none_or(|first| name < *first);
        if fits && is_first && !entry.file_type().map_err(failed)?.is_dir() {
            found = Some(name);
        }
    }
    let none = || PackageError::NoExecutable { ty: ty.to_owned(), directory: directory.to_owned() };
    found.map(|name| directory.join(name)).ok_or_else(none)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_the_first_that_is_called_like_the_provider() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        for name in ["terraform-provider-nullx", "terraform-provider-time_v1", "README.md"] {
            std::fs::write(path(name), "").unwrap();
        }
        std::fs::create_dir(path("terraform-provider-null")).unwrap();
        assert!(matches!(find_executable(root.path(), "null"), Err(PackageError::NoExecutable { .. })));
        std::fs::write(path("terraform-provider-null_v3.2.1_x5"), "").unwrap();
        std::fs::write(path("terraform-provider-null.exe"), "").unwrap();
        assert_eq!(find_executable(root.path(), "null").unwrap(), path("terraform-provider-null.exe"));
        assert!(find_executable(&path("missing"), "null").is_err());
    }

    #[test]
    fn packages_lie_where_others_look_for_them() {
        let dir = PackageDir::new("root", "linux_amd64".parse().unwrap());
        let provider = Provider::parse_source("hashicorp/null").unwrap();
        let path = dir.path_of(&provider, &Version::new(3, 2, 1));
        assert_eq!(path, Path::new("root/registry.opentofu.org/hashicorp/null/3.2.1/linux_amd64"));
        assert!(dir.find(&provider, &Version::new(3, 2, 1)).is_none());
    }
}
