//! What goes wrong when providers are installed, and how that is told. Everything names the thing that it is about.

mod diagnostics;

use std::collections::BTreeMap;
use std::path::PathBuf;

use groma_fetch::http::HttpError;
use groma_model::address::Provider;
use groma_model::version::{Constraints, Version};
use thiserror::Error;

use super::platform::Platform;

/// Why a source has no answer.
#[derive(Debug, Clone, Error)]
pub enum SourceError {
    /// The host is no registry of providers.
    #[error("{}", if *.other_version {
        format!("host {host} does not support the provider registry protocol required here, but may be compatible with another version")
    } else {
        format!("host {host} does not offer a provider registry")
    })]
    HostNoProviders {
        /// Which host.
        host: String,
        /// Whether it offers another version of the protocol.
        other_version: bool,
    },
    /// The host could not be asked what it offers.
    #[error("could not connect to {host}: {reason}")]
    HostUnreachable {
        /// Which host.
        host: String,
        /// What happened.
        reason: String,
    },
    /// The host does not answer to us.
    #[error("host {host} {}", if *.had_credentials { "rejected the given authentication credentials" } else { "requires authentication credentials" })]
    Unauthorized {
        /// Which host.
        host: String,
        /// Whether it was told who asks.
        had_credentials: bool,
    },
    /// None of the places that were searched has it.
    #[error("provider {provider} was not found in any of the search locations")]
    NotFound {
        /// Which provider.
        provider: Provider,
        /// Where it was looked for.
        searched: Vec<String>,
    },
    /// Its registry does not have it.
    #[error("provider registry {} does not have a provider named {}", .0.host, .0)]
    NotInRegistry(Provider),
    /// There is no package for this platform.
    #[error("{}", platform_words(.provider, .version, .platform, .mirror.as_deref()))]
    PlatformNotSupported {
        /// Which provider.
        provider: Provider,
        /// Which version.
        version: Version,
        /// Which platform.
        platform: Platform,
        /// The mirror that lacks it.
        mirror: Option<String>,
        /// The platforms that there are packages for, where the source tells.
        available: Vec<Platform>,
    },
    /// The package speaks no protocol that is known here.
    #[error("provider {provider} {version} is not supported: it speaks plugin protocol {}, and only 5 and 6 are known here", list(.offered))]
    ProtocolNotSupported {
        /// Which provider.
        provider: Provider,
        /// Which version.
        version: Version,
        /// The protocols that it speaks.
        offered: Vec<Version>,
        /// The versions that speak a known one, newest first.
        compatible: Vec<Version>,
    },
    /// The question could not be put, or the answer not be read.
    #[error("{}", query_words(.provider, .mirror.as_deref(), .reason))]
    QueryFailed {
        /// Which provider.
        provider: Provider,
        /// The mirror that was asked, if it was not the registry.
        mirror: Option<String>,
        /// What happened.
        reason: String,
    },
    /// A directory could not be searched.
    #[error("cannot search {}: {reason}", .path.display())]
    Directory {
        /// Which one.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// A kind of source that is not built.
    #[error("{0}")]
    Unsupported(String),
}

impl SourceError {
    /// Whether it only says that this source does not have it, so that another may be asked.
    pub fn is_absence(&self) -> bool {
        matches!(self, Self::NotFound { .. } | Self::NotInRegistry(_) | Self::PlatformNotSupported { .. })
    }
}

/// Why a package is not to be trusted.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum AuthenticationError {
    /// None of the hashes is of a known kind.
    #[error("none of the checksum formats given for this provider is supported")]
    NoUsableHash,
    /// The package has another hash.
    #[error("provider package doesn't match the expected checksum {0:?}")]
    Hash(String),
    /// The package has none of the hashes.
    #[error("provider package doesn't match any of the expected checksums")]
    AnyHash,
    /// The archive has another digest.
    #[error("archive has incorrect checksum {actual} (expected {expected})")]
    Archive {
        /// What it has.
        actual: String,
        /// What it should have.
        expected: String,
    },
    /// The list of checksums lacks the archive.
    #[error("checksum list has no SHA-256 hash for {0:?}")]
    NotListed(String),
    /// The list of checksums has something else.
    #[error("checksum list has invalid SHA256 hash {0:?}")]
    BadList(String),
    /// The list of checksums contradicts the registry.
    #[error("checksum list has unexpected SHA-256 hash {listed} (expected {expected})")]
    ListDiffers {
        /// What the list says.
        listed: String,
        /// What the registry says.
        expected: String,
    },
    /// What the registry says about the packages contradicts itself, or the package.
    #[error("registry response {0}")]
    Registry(String),
    /// The signature is not good.
    #[error("the provider is not signed with a valid signing key; please contact the provider author ({0})")]
    Signature(String),
    /// The check needs an archive.
    #[error("cannot check archive hash for non-archive location {0}")]
    NotAnArchive(String),
    /// The package cannot be read.
    #[error("failed to verify provider package checksums: {0}")]
    Read(String),
}

/// Why a package could not be put in place.
#[derive(Debug, Clone, Error)]
pub enum PackageError {
    /// It did not arrive.
    #[error("{0}")]
    Download(#[from] HttpError),
    /// It is not to be trusted.
    #[error("{0}")]
    Authentication(#[from] AuthenticationError),
    /// It is not the one that was locked.
    #[error(
        "the {} package for {provider} {version} doesn't match any of the checksums previously recorded in the dependency lock file{}",
        if *.local { "local" } else { "current" },
        if *.local { " (this might be because the available checksums are for packages targeting different platforms)" } else { "" }
    )]
    NotLocked {
        /// Which provider.
        provider: Provider,
        /// Which version.
        version: Version,
        /// Whether it is a directory on this machine.
        local: bool,
    },
    /// Something else is where it should go.
    #[error("existing cached package at {} does not match the content of the downloaded package; does it contain local modifications?", .0.display())]
    Occupied(PathBuf),
    /// The archive cannot be unpacked.
    #[error("cannot unpack {archive}: {reason}")]
    Unpack {
        /// Which archive.
        archive: String,
        /// What is wrong with it.
        reason: String,
    },
    /// It has no program in it.
    #[error("provider binary not found: could not find executable file starting with terraform-provider-{ty} in {}", .directory.display())]
    NoExecutable {
        /// The type of the provider.
        ty: String,
        /// Where it was looked for.
        directory: PathBuf,
    },
    /// The file system does not do what is asked.
    #[error("{action} {}: {reason}", .path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// With what.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
}

/// At which point a provider failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// When its version was selected.
    Query,
    /// When its package was fetched.
    Fetch,
    /// When it was linked from the shared cache.
    Link,
}

/// Why one provider is not installed.
#[derive(Debug, Clone, Error)]
pub enum Failure {
    /// It is part of the program, and asked for in a way that it cannot be.
    #[error("{0}")]
    BuiltIn(String),
    /// The lock file says one thing, the configuration another.
    #[error("locked provider {provider} {locked} does not match configured version constraint {}; must use groma init -upgrade to allow selection of new versions", .constraints.canonical())]
    LockedVersion {
        /// Which provider.
        provider: Provider,
        /// The version in the lock file.
        locked: Version,
        /// What the configuration says.
        constraints: Constraints,
    },
    /// Nobody publishes this version.
    #[error(
        "0.0.0 is not a valid provider version. \nIf the version 0.0.0 is intended to represent a non-published provider, consider using dev_overrides"
    )]
    Unspecified,
    /// The version in the lock file has been withdrawn.
    #[error("the previously-selected version {0} is no longer available")]
    Withdrawn(Version),
    /// No version fits.
    #[error("no available releases match the given constraints {}", .constraints.canonical())]
    NoMatch {
        /// What the configuration says.
        constraints: Constraints,
        /// The newest versions that there are.
        newest: Vec<Version>,
    },
    /// The source has no versions for us.
    #[error("{0}")]
    Query(Box<SourceError>),
    /// The source has no package for us.
    #[error("{error}")]
    Meta {
        /// Which version.
        version: Version,
        /// Why.
        error: Box<SourceError>,
    },
    /// The package could not be put in place.
    #[error("{error}")]
    Package {
        /// Which version.
        version: Version,
        /// Whether it was to be linked from the shared cache, or fetched.
        step: Step,
        /// Why.
        error: Box<PackageError>,
    },
}

/// Why an installation failed.
#[derive(Debug, Clone, Error)]
pub enum InstallError {
    /// Some providers could not be installed. Others may be installed now; the lock file stays as it was.
    #[error("some providers could not be installed:{}", each_failure(.0))]
    Providers(BTreeMap<Provider, (Failure, Constraints)>),
    /// The lock file would have to change, and may not.
    #[error("changes to the required provider dependencies were detected, but the lock file is read-only")]
    ReadOnly {
        /// Providers that it lacks.
        missing: Vec<Provider>,
        /// Providers that are not needed.
        superfluous: Vec<Provider>,
    },
}

fn each_failure(failures: &BTreeMap<Provider, (Failure, Constraints)>) -> String {
    let lines: Vec<String> =
        failures.iter().map(|(provider, (failure, _))| format!("\n- {provider}: {failure}")).collect();
    lines.concat()
}

fn list(versions: &[Version]) -> String {
    versions.iter().map(|version| format!("{}.{}", version.number(0), version.number(1))).collect::<Vec<_>>().join(", ")
}

fn platform_words(provider: &Provider, version: &Version, platform: &Platform, mirror: Option<&str>) -> String {
    match mirror {
        Some(mirror) => {
            format!("provider mirror {mirror} does not have a package of {provider} {version} for {platform}")
        }
        None => format!("provider {provider} {version} is not available for {platform}"),
    }
}

fn query_words(provider: &Provider, mirror: Option<&str>, reason: &str) -> String {
    match mirror {
        Some(mirror) => format!("failed to query provider mirror {mirror} for {provider}: {reason}"),
        None => format!("could not query provider registry for {provider}: {reason}"),
    }
}
