//! What is to be done about each provider that is needed: nothing, because it is part of the program or runs already, or
//! finding a version. Pure; asking sources is for the installer.

use std::path::PathBuf;

use groma_model::address::Provider;
use groma_model::version::{Constraints, Version};

use super::builtins::{BuiltIn, BuiltInUse, Builtins};
use super::error::Failure;
use super::installer::{Mode, Settings};
use super::locks::Locks;

/// What is to be done about a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Decision {
    /// It is part of the program.
    BuiltIn { mirrors: Option<Version> },
    /// It comes from a directory that the user names.
    Overridden(PathBuf),
    /// It runs already.
    Unmanaged,
    /// A version has to be found.
    Install {
        /// The version in the lock file, if that decides.
        locked: Option<Version>,
        /// The version that is built in, if the constraints do not admit it.
        not_admitted: Option<Version>,
    },
}

/// Decides about one provider.
pub(super) fn decide(
    provider: &Provider,
    constraints: &Constraints,
    locks: &Locks,
    mode: Mode,
    (settings, builtins): (&Settings, &dyn Builtins),
) -> Result<Decision, Failure> {
    if let Some(directory) = settings.overrides.get(provider) {
        return Ok(Decision::Overridden(directory.clone()));
    }
    if settings.unmanaged.contains(provider) {
        return Ok(Decision::Unmanaged);
    }
    let lock = locks.get(provider);
    let mut not_admitted = None;
    match builtins.find(provider) {
        Some(BuiltIn::Unversioned) if constraints.is_empty() => return Ok(Decision::BuiltIn { mirrors: None }),
        Some(BuiltIn::Unversioned) => {
            let reason = "built-in providers do not support explicit version constraints";
            return Err(Failure::BuiltIn(reason.to_owned()));
        }
        Some(BuiltIn::Own(version)) if constraints.admits_release(&version) => {
            return Ok(Decision::BuiltIn { mirrors: Some(version) });
        }
        Some(BuiltIn::Own(version)) => {
            let asked = constraints.canonical();
            let reason = format!("it is built in as version {version}, which the constraints {asked} do not admit");
            return Err(Failure::BuiltIn(reason));
        }
        Some(BuiltIn::Mirrors(version)) => {
            let wanted = match settings.built_in_use {
                BuiltInUse::UnlessLocked => lock.is_none(),
                BuiltInUse::Always => true,
                BuiltInUse::Never => false,
            };
            if wanted && constraints.admits_release(&version) {
                return Ok(Decision::BuiltIn { mirrors: Some(version) });
            }
            not_admitted = Some(version).filter(|_| wanted);
        }
        None if provider.is_builtin() => {
            return Err(Failure::BuiltIn(format!(
                "this release has no built-in provider named {:?}",
                provider.ty.as_str()
            )));
        }
        None => {}
    }
    let locked = match lock {
        Some(lock) if mode != Mode::Upgrade => {
            if !constraints.admits_release(&lock.version) {
                return Err(Failure::LockedVersion {
                    provider: provider.clone(),
                    locked: lock.version.clone(),
                    constraints: constraints.clone(),
                });
            }
            Some(lock.version.clone())
        }
        _ => None,
    };
    let wanted_exactly = Constraints::exactly(Version::new(0, 0, 0));
    if locked.as_ref() == Some(&Version::new(0, 0, 0)) || *constraints == wanted_exactly {
        return Err(Failure::Unspecified);
    }
    Ok(Decision::Install { locked, not_admitted })
}

/// The newest version that is admitted.
pub(super) fn select(
    constraints: &Constraints,
    locked: Option<&Version>,
    available: &[Version],
) -> Result<Version, Failure> {
    if let Some(locked) = locked {
        let found = available.iter().find(|version| *version == locked);
        return found.cloned().ok_or_else(|| Failure::Withdrawn(locked.clone()));
    }
    let unspecified = Version::new(0, 0, 0);
    let admitted = |version: &&Version| constraints.admits_release(version) && **version != unspecified;
    let newest = available.iter().rev().find(admitted);
    newest.cloned().ok_or_else(|| Failure::NoMatch {
        constraints: constraints.clone(),
        newest: available.iter().rev().cloned().collect(),
    })
}

#[cfg(test)]
mod tests;
