//! What is used for each provider, and finding it again after the installation, without asking anybody.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use groma_model::address::Provider;
use groma_model::diag::Diagnostic;
use groma_model::version::Version;
use thiserror::Error;

use super::builtins::{BuiltIn, BuiltInUse, Builtins};
use super::cache::{CachedPackage, PackageDir, find_executable};
use super::error::PackageError;
use super::hash::Hash;
use super::installer::Settings;
use super::locks::{Locks, ProviderLock, Requirements};

/// What is used for a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selected {
    /// Part of the program.
    BuiltIn {
        /// The published version that it does the same as.
        mirrors: Option<Version>,
    },
    /// A package.
    Package {
        /// The package.
        package: CachedPackage,
        /// The program in it.
        executable: PathBuf,
        /// The hashes of which it must have one.
        hashes: Vec<Hash>,
    },
    /// From a directory that the CLI configuration names.
    Overridden {
        /// Which directory.
        directory: PathBuf,
    },
    /// It runs already.
    Unmanaged,
}

impl Selected {
    /// The program to run, if there is one.
    pub fn executable(&self, provider: &Provider) -> Result<Option<PathBuf>, PackageError> {
        match self {
            Self::Package { executable, .. } => Ok(Some(executable.clone())),
            Self::Overridden { directory } => find_executable(directory, &provider.ty).map(Some),
            Self::BuiltIn { .. } | Self::Unmanaged => Ok(None),
        }
    }

    /// Whether a package is still the one that was locked. Reads what has changed since it was last read, as far as that is known in
    /// the directory `memory`, which need not exist. That may be all of it: do it where it does not hurt.
    pub fn is_intact(&self, memory: &Path) -> Result<bool, PackageError> {
        match self {
            Self::Package { package, hashes, .. } if !hashes.is_empty() => package.still_matches_any(hashes, memory),
            _ => Ok(true),
        }
    }
}

/// Why the providers of a configuration cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SelectionError {
    /// The lock file does not fit the configuration.
    #[error("{}", .problems.join("\n"))]
    Inconsistent {
        /// What does not fit, sorted.
        problems: Vec<String>,
        /// Whether there is no lock at all yet.
        first_time: bool,
    },
    /// What is locked is not installed.
    #[error("{}", .0.join("\n"))]
    NotInstalled(Vec<String>),
}

impl SelectionError {
    /// For people.
    pub fn diagnostic(&self) -> Diagnostic {
        let list = |problems: &[String]| {
            problems.iter().map(|problem| format!("\n  - {problem}")).collect::<Vec<_>>().concat()
        };
        match self {
            Self::Inconsistent { problems, first_time } => {
                let advice = if *first_time {
                    "To make the initial dependency selections that will initialize the dependency lock file, run:\n  groma \
                     init"
                } else {
                    "To update the locked dependency selections to match a changed configuration, run:\n  groma init \
                     -upgrade"
                };
                let detail = format!(
                    "The following dependency selections recorded in the lock file are inconsistent with the current \
                     configuration:{}\n\n{advice}",
                    list(problems)
                );
                Diagnostic::error("Inconsistent dependency lock file", detail)
            }
            Self::NotInstalled(problems) => {
                let detail = format!(
                    "The installed provider plugins are not consistent with the packages selected in the dependency lock \
                     file:{}\n\nPlugins have to be installed before they are used. To do so, run:\n  groma init",
                    list(problems)
                );
                Diagnostic::error("Required plugins are not installed", detail)
            }
        }
    }
}

/// What does not fit between a configuration and its lock file, sorted.
pub fn verify_selections(
    requirements: &Requirements,
    locks: &Locks,
    settings: &Settings,
    builtins: &dyn Builtins,
) -> Vec<String> {
    let mut problems = Vec::new();
    for (provider, constraints) in requirements {
        if without_lock(provider, requirements, locks, settings, builtins).is_some() {
            continue;
        }
        let Some(lock) = locked(provider, locks, settings) else {
            problems.push(format!("provider {provider}: required by this configuration but no version is selected"));
            continue;
        };
        if constraints.admits_release(&lock.version) {
            continue;
        }
        let (now, then) = (constraints.canonical(), lock.constraints.canonical());
        problems.push(if now == then {
            format!("provider {provider}: version constraints {now:?} don't match the locked version selection {}", lock.version)
        } else {
            format!(
                "provider {provider}: locked version selection {} doesn't match the updated version constraints {now:?}",
                lock.version
            )
        });
    }
    problems.sort();
    problems
}

/// What is locked for a provider. The two public registries offer the same ones: what was locked and installed from the other of
/// them is used as it is, so that a directory that Terraform prepared needs no preparation.
fn locked<'l>(provider: &Provider, locks: &'l Locks, settings: &Settings) -> Option<&'l ProviderLock> {
    let installed = |lock: &&ProviderLock| {
        let directory = PackageDir::new(&settings.target, settings.platform.clone());
        lock.provider.same_as(provider) && directory.find(&lock.provider, &lock.version).is_some()
    };
    locks.get(provider).or_else(|| locks.iter().find(installed))
}

/// What is used for a provider that needs no lock.
fn without_lock(
    provider: &Provider,
    requirements: &Requirements,
    locks: &Locks,
    settings: &Settings,
    builtins: &dyn Builtins,
) -> Option<Selected> {
    if let Some(directory) = settings.overrides.get(provider) {
        return Some(Selected::Overridden { directory: directory.clone() });
    }
    if settings.unmanaged.contains(provider) {
        return Some(Selected::Unmanaged);
    }
    match builtins.find(provider)? {
        BuiltIn::Unversioned => Some(Selected::BuiltIn { mirrors: None }),
        BuiltIn::Own(version) => Some(Selected::BuiltIn { mirrors: Some(version) }),
        BuiltIn::Mirrors(version) => {
            let wanted = match settings.built_in_use {
                BuiltInUse::UnlessLocked => locked(provider, locks, settings).is_none(),
                BuiltInUse::Always => true,
                BuiltInUse::Never => false,
            };
            let admitted = requirements.get(provider).is_none_or(|constraints| constraints.admits_release(&version));
            (wanted && admitted).then_some(Selected::BuiltIn { mirrors: Some(version) })
        }
    }
}

/// Finds what an installation has put in place. Whether packages are intact is not looked at here: see
/// [`Selected::is_intact`].
pub fn find_selected(
    requirements: &Requirements,
    locks: &Locks,
    settings: &Settings,
    builtins: &dyn Builtins,
) -> Result<BTreeMap<Provider, Selected>, SelectionError> {
    let problems = verify_selections(requirements, locks, settings, builtins);
    if !problems.is_empty() {
        return Err(SelectionError::Inconsistent { problems, first_time: locks.is_empty() });
    }
    let directory = PackageDir::new(&settings.target, settings.platform.clone());
    let mut found = BTreeMap::new();
    let mut problems = Vec::new();
    for provider in requirements.keys() {
        if let Some(selected) = without_lock(provider, requirements, locks, settings, builtins) {
            found.insert(provider.clone(), selected);
            continue;
        }
        let Some(lock) = locked(provider, locks, settings) else { continue };
        let Some(package) = directory.find(&lock.provider, &lock.version) else {
            let root = directory.root().display();
            problems.push(format!("{provider}: there is no package for {provider} {} cached in {root}", lock.version));
            continue;
        };
        match package.executable() {
            Ok(executable) => {
                let selected = Selected::Package { package, executable, hashes: lock.usable_hashes() };
                found.insert(provider.clone(), selected);
            }
            Err(error) => problems.push(format!("{provider}: {error}")),
        }
    }
    if problems.is_empty() { Ok(found) } else { Err(SelectionError::NotInstalled(problems)) }
}
