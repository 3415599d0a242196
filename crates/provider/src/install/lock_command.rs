//! `providers lock`: hashes for several platforms, from one source, without installing anything.

use std::collections::BTreeMap;
use std::sync::Arc;

use groma_fetch::http::Client;
use groma_model::address::Provider;

use super::error::InstallError;
use super::events::Observer;
use super::installer::{Installer, Mode, Settings};
use super::locks::{Locks, ProviderLock, Requirements};
use super::platform::Platform;
use super::signature::SignaturePolicy;
use super::source::Source;

/// What changed for a provider and a platform.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockChange {
    /// It was not locked.
    NewProvider,
    /// It was locked, and has more hashes now.
    NewHashes,
    /// All hashes were known.
    None,
}

/// What changed, and for what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockedPlatform {
    /// Which provider.
    pub provider: Provider,
    /// Which platform.
    pub platform: Platform,
    /// What changed.
    pub change: LockChange,
}

/// The locks for several platforms.
#[derive(Debug, Clone)]
pub struct LocksForPlatforms {
    /// All locks, also those of providers that were not asked for.
    pub locks: Locks,
    /// What changed, by provider and then by platform.
    pub changes: Vec<LockedPlatform>,
}

/// Why there are no locks.
#[derive(Debug, thiserror::Error)]
pub enum LockCommandError {
    /// The packages for a platform could not be had.
    #[error("failed to fetch the requested providers for {platform} in order to calculate their checksums: {error}")]
    Install {
        /// Which platform.
        platform: Platform,
        /// Why.
        error: InstallError,
    },
    /// Two platforms got different versions.
    #[error("the version constraint for {0} selected inconsistent versions for different platforms")]
    Inconsistent(Provider),
    /// There is no place for the packages.
    #[error("failed to create a temporary directory for staging the requested provider packages: {0}")]
    Directory(std::io::Error),
}

impl LockCommandError {
    /// What it is called.
    pub fn summary(&self) -> &'static str {
        match self {
            Self::Install { .. } => "Could not retrieve providers for locking",
            Self::Inconsistent(_) => "Inconsistent provider versions",
            Self::Directory(_) => "Could not create temporary directory",
        }
    }
}

/// Fetches the packages of all providers for some platforms, and locks the hashes of all of them. Providers that cannot
/// be locked are passed over; versions that are locked stay.
pub async fn lock_for_platforms(
    (source, client): (Arc<dyn Source>, Client),
    requirements: &Requirements,
    locks: &Locks,
    platforms: &[Platform],
    signatures: SignaturePolicy,
    observer: impl Fn(&Platform) -> Arc<dyn Observer>,
) -> Result<LocksForPlatforms, LockCommandError> {
    let mut lockable = requirements.clone();
    lockable.retain(|provider, _| Locks::is_lockable(provider));
    let mut found: BTreeMap<Platform, Locks> = BTreeMap::new();
    // The versions that the first platform got hold for the others.
    let mut selections = locks.clone();
    for platform in platforms {
        let directory = tempfile::tempdir().map_err(LockCommandError::Directory)?;
        let settings =
            Settings { platform: platform.clone(), signatures, ..Settings::new(directory.path().join("providers")) };
        let installer = Installer::new(source.clone(), client.clone(), settings).with_observer(observer(platform));
        let installed = installer.ensure(&lockable, &selections, Mode::AddHashes).await;
        let installed = installed.map_err(|error| LockCommandError::Install { platform: platform.clone(), error })?;
        for lock in &installed.locks {
            if selections.get(&lock.provider).is_none() {
                let (provider, constraints) = (lock.provider.clone(), lock.constraints.clone());
                selections.set(ProviderLock::new(provider, lock.version.clone(), constraints, Vec::new()));
            }
        }
        found.insert(platform.clone(), installed.locks);
    }
    merge(&lockable, locks, &found)
}

fn merge(
    requirements: &Requirements,
    before: &Locks,
    found: &BTreeMap<Platform, Locks>,
) -> Result<LocksForPlatforms, LockCommandError> {
    let mut locks = before.clone();
    let mut changes = Vec::new();
    for provider in requirements.keys() {
        let old = before.get(provider);
        for (platform, platform_locks) in found {
            let Some(new) = platform_locks.get(provider) else { continue };
            let merged = match locks.get(provider) {
                Some(lock) if lock.version != new.version => {
                    return Err(LockCommandError::Inconsistent(provider.clone()));
                }
                Some(lock) => lock.hashes().iter().chain(new.hashes()).cloned().collect(),
                None => new.hashes().to_vec(),
            };
            let change = match old {
                None => LockChange::NewProvider,
                Some(old) if old.contains_all(new) => LockChange::None,
                Some(_) => LockChange::NewHashes,
            };
            changes.push(LockedPlatform { provider: provider.clone(), platform: platform.clone(), change });
            let constraints = new.constraints.clone();
            locks.set(ProviderLock::new(provider.clone(), new.version.clone(), constraints, merged));
        }
    }
    Ok(LocksForPlatforms { locks, changes })
}
