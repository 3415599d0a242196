//! Directories with packages, packed or unpacked, in the layout that mirrors and caches have.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use groma_model::address::Provider;
use groma_model::version::Version;

use super::{Available, Source};
use crate::install::authentication::Authentication;
use crate::install::error::SourceError;
use crate::install::package::{Location, PackageMeta, archive_name};
use crate::install::platform::Platform;

/// A directory with packages.
pub struct FilesystemMirror {
    directory: PathBuf,
    listing: Mutex<Option<Arc<DirectoryListing>>>,
}

/// What is in a directory, by provider, in the order of version, platform and name.
#[derive(Debug, Clone, Default)]
pub struct DirectoryListing {
    /// The packages.
    pub packages: BTreeMap<Provider, Vec<PackageMeta>>,
}

impl FilesystemMirror {
    /// A directory. It is read when first needed.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into(), listing: Mutex::new(None) }
    }

    fn listing(&self) -> Result<Arc<DirectoryListing>, SourceError> {
        let mut known = self.listing.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(listing) = &*known {
            return Ok(listing.clone());
        }
        let listing = Arc::new(search_directory(&self.directory)?);
        *known = Some(listing.clone());
        Ok(listing)
    }
}

#[async_trait]
impl Source for FilesystemMirror {
    async fn available_versions(&self, provider: &Provider) -> Result<Available, SourceError> {
        let listing = self.listing()?;
        let packages = listing.packages.get(provider).map(Vec::as_slice).unwrap_or_default();
        let available = Available::new(packages.iter().map(|meta| meta.version.clone()).collect(), Vec::new());
        let unspecified = available.versions.first().is_some_and(|version| *version == Version::new(0, 0, 0));
        let warning = unspecified.then(|| {
            format!(
                "Provider {provider} has an unspecified (0.0.0) version available in the filesystem mirror, source at {}. \
                 It will not be used. \nIf the version 0.0.0 is intended to represent a non-published provider, consider \
                 using dev_overrides",
                self.directory.display()
            )
        });
        Ok(Available { warnings: warning.into_iter().collect(), ..available })
    }

    async fn package(
        &self,
        provider: &Provider,
        version: &Version,
        platform: &Platform,
    ) -> Result<PackageMeta, SourceError> {
        let listing = self.listing()?;
        let packages = listing.packages.get(provider).map(Vec::as_slice).unwrap_or_default();
        let of_version = || packages.iter().filter(|meta| meta.version == *version);
        let found = of_version().find(|meta| meta.platform == *platform);
        found.cloned().ok_or_else(|| SourceError::PlatformNotSupported {
            provider: provider.clone(),
            version: version.clone(),
            platform: platform.clone(),
            mirror: None,
            available: of_version().map(|meta| meta.platform.clone()).collect(),
        })
    }

    fn places(&self, _provider: &Provider) -> Vec<String> {
        vec![self.directory.display().to_string()]
    }
}

/// Finds all packages in a directory. What does not follow the layout is passed over.
pub fn search_directory(directory: &Path) -> Result<DirectoryListing, SourceError> {
    // Only the root may be a link: further down, links to directories are not followed, as in OpenTofu.
    let root = directory.canonicalize().map_err(|error| search_error(directory, &error))?;
    let mut listing = DirectoryListing::default();
    for (host, host_path) in directories(&root)? {
        for (namespace, namespace_path) in directories(&host_path)? {
            for (ty, type_path) in directories(&namespace_path)? {
                match Provider::parse_source(&format!("{host}/{namespace}/{ty}")) {
                    Ok(provider) => search_provider(&provider, &type_path, &mut listing)?,
                    Err(error) => tracing::warn!(path = %type_path.display(), %error, "no address of a provider"),
                }
            }
        }
    }
    for packages in listing.packages.values_mut() {
        packages.sort_by(|a, b| {
            (&a.version, &a.platform, a.location.to_string()).cmp(&(&b.version, &b.platform, b.location.to_string()))
        });
    }
    Ok(listing)
}

fn search_provider(provider: &Provider, path: &Path, listing: &mut DirectoryListing) -> Result<(), SourceError> {
    for (name, entry) in entries(path)? {
        // A link may stand for an archive or a version.
        let Ok(kind) = std::fs::metadata(&entry) else { continue };
        if kind.is_dir() && !entry.is_symlink() {
            search_version(provider, &name, &entry, listing)?;
        } else if kind.is_file() {
            let Some((version, platform)) = archive_parts(provider, &name) else {
                tracing::debug!(path = %entry.display(), "no package of a provider");
                continue;
            };
            add(listing, provider, (version, platform), Location::Archive(entry));
        }
    }
    Ok(())
}

fn search_version(
    provider: &Provider,
    version: &str,
    path: &Path,
    listing: &mut DirectoryListing,
) -> Result<(), SourceError> {
    let Ok(version) = Version::parse_release(version) else {
        tracing::warn!(path = %path.display(), "no version of a provider");
        return Ok(());
    };
    for (name, entry) in entries(path)? {
        let is_directory = std::fs::metadata(&entry).is_ok_and(|kind| kind.is_dir());
        if let Some(platform) = name.parse().ok().filter(|_| is_directory) {
            add(listing, provider, (version.clone(), platform), Location::Directory(entry));
        }
    }
    Ok(())
}

fn add(listing: &mut DirectoryListing, provider: &Provider, what: (Version, Platform), location: Location) {
    let (version, platform) = what;
    let meta = PackageMeta {
        provider: provider.clone(),
        filename: archive_name(provider, &version, &platform),
        version,
        platform,
        protocols: Vec::new(),
        location,
        authentication: Authentication::None,
    };
    listing.packages.entry(provider.clone()).or_default().push(meta);
}

/// The version and platform in the name of an archive.
fn archive_parts(provider: &Provider, name: &str) -> Option<(Version, Platform)> {
    let name = name.to_lowercase();
    let rest = name.strip_prefix(&format!("terraform-provider-{}_", provider.ty))?.strip_suffix(".zip")?;
    let mut parts = rest.split('_');
    let version = Version::parse_release(parts.next()?).ok()?;
    let platform = format!("{}_{}", parts.next()?, parts.next()?).parse().ok()?;
    Some((version, platform))
}

/// The entries of a directory, by name. Those whose name is no text have no business here.
fn entries(path: &Path) -> Result<BTreeMap<String, PathBuf>, SourceError> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(path).map_err(|error| search_error(path, &error))? {
        let entry = entry.map_err(|error| search_error(path, &error))?;
        if let Ok(name) = entry.file_name().into_string() {
            found.insert(name, entry.path());
        }
    }
    Ok(found)
}

fn directories(path: &Path) -> Result<BTreeMap<String, PathBuf>, SourceError> {
    let mut found = entries(path)?;
    found.retain(|_, entry| std::fs::symlink_metadata(entry).is_ok_and(|kind| kind.is_dir()));
    Ok(found)
}

fn search_error(path: &Path, error: &std::io::Error) -> SourceError {
    SourceError::Directory { path: path.to_owned(), reason: error.to_string() }
}
