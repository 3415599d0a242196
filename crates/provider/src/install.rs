//! Installing providers: which versions exist, which one is taken, where it comes from, whether it may be trusted, and
//! where it lies afterwards. The text of lock files and of the CLI configuration is read elsewhere; here are its nouns.
//!
//! The way of a package: a [`Source`](source::Source) knows versions and tells where a package is and how to check it
//! ([`PackageMeta`]); the [`Installer`] selects, fetches, checks and unpacks into a [`PackageDir`]; what was found out
//! goes into the [`Locks`]. A directory of a package appears whole or not at all.

mod authentication;
mod builtins;
mod cache;
mod error;
mod events;
mod fetching;
mod hash;
mod installer;
mod lock_command;
mod locks;
mod mirror_command;
mod package;
mod placing;
mod platform;
mod selected;
mod selection;
mod signature;
pub mod source;
#[cfg(any(all(test, feature = "wire"), feature = "testing"))]
pub mod testing;

pub use authentication::{
    Authentication, AuthenticationResult, Disposition, RegistryAuthentication, RegistryPackage, Trust,
};
pub use builtins::{BuiltIn, BuiltInUse, Builtins, NoBuiltins};
pub use cache::{CachedPackage, PackageDir};
pub use error::{AuthenticationError, Failure, InstallError, PackageError, SourceError, Step};
pub use events::{Event, Observer, Quiet};
pub use hash::{Hash, HashError, HashScheme};
pub use installer::{Installed, Installer, Mode, Settings};
pub use lock_command::{LockChange, LockCommandError, LockedPlatform, LocksForPlatforms, lock_for_platforms};
pub use locks::{Locks, ProviderLock, Requirements};
pub use mirror_command::{Mirrored, mirror};
pub use package::{Location, PackageMeta};
pub use platform::{Platform, PlatformError};
pub use selected::{Selected, SelectionError, find_selected, verify_selections};
pub use signature::SignaturePolicy;

#[cfg(test)]
#[cfg(feature = "wire")]
mod tests;
