//! One package of a provider: for which platform, where it is, and how it is checked.

use std::fmt;
use std::path::PathBuf;

use groma_model::address::Provider;
use groma_model::version::Version;
use url::Url;

use super::authentication::Authentication;
use super::platform::Platform;

/// What a source knows about a package.
#[derive(Debug, Clone)]
pub struct PackageMeta {
    /// Which provider.
    pub provider: Provider,
    /// Which version.
    pub version: Version,
    /// For which platform.
    pub platform: Platform,
    /// The plugin protocols that it speaks, oldest first. Empty if the source does not say.
    pub protocols: Vec<Version>,
    /// What its archive is called.
    pub filename: String,
    /// Where it is.
    pub location: Location,
    /// How it is checked.
    pub authentication: Authentication,
}

/// Where a package is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// An archive at an address.
    Url {
        /// Which address.
        url: Url,
        /// Whether it may be fetched without encryption: what arrives is checked against something trusted.
        plain_http: bool,
    },
    /// An archive on this machine.
    Archive(PathBuf),
    /// A directory on this machine, unpacked.
    Directory(PathBuf),
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url { url, .. } => f.write_str(&groma_fetch::redact::url(url)),
            Self::Archive(path) | Self::Directory(path) => write!(f, "{}", path.display()),
        }
    }
}

/// What an archive is called by convention.
pub(super) fn archive_name(provider: &Provider, version: &Version, platform: &Platform) -> String {
    format!("terraform-provider-{}_{version}_{platform}.zip", provider.ty)
}
