//! Addresses that something can be fetched from, in the forms that module sources have: URLs, forced getters (`git::`),
//! shorthands (`github.com/…`, `git@host:path`), a directory inside (`//dir`) and parameters.
//!
//! Reading has two steps, as users see two kinds of error: [`RemoteSource::parse`] finds the normal form (the one that
//! is written down in `modules.json`), [`RemoteSource::package`] says what to fetch and how.

mod detect;
mod go_url;
mod package;
mod subdir;

use std::fmt;

use thiserror::Error;

pub use package::{ArchiveChoice, Checksum, FileSource, GitSource, HashKind, HttpSource, Package};
pub use subdir::{clean_path, join_paths, split_subdir};

/// Where a package is, in normal form, and which directory of it is meant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RemoteSource {
    /// The package in normal form, such as `git::https://github.com/a/b.git?ref=v1`.
    pub address: String,
    /// The directory inside, with `/`, never leading outside. It can be a pattern, such as `*`.
    pub subdir: Option<String>,
}

/// Why an address cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum AddressError {
    /// It is nothing that is known; perhaps a path without `./`.
    #[error("cannot detect a supported external module source type for {0}")]
    MaybeRelativePath(String),
    /// The directory is outside.
    #[error("subdirectory path {0:?} leads outside of the module package")]
    Outside(String),
    /// A shorthand with too few parts, and other malformed text.
    #[error("{0}")]
    Malformed(String),
    /// A way of fetching that nobody knows.
    #[error("download not supported for scheme '{0}'")]
    UnknownScheme(String),
    /// A way of fetching that exists, but not here.
    #[error("{what} sources are not supported: {hint}")]
    NotSupported {
        /// What it is.
        what: &'static str,
        /// What to do instead.
        hint: &'static str,
    },
    /// Something that could run a command on this machine.
    #[error("refused for safety: {0}")]
    Unsafe(String),
}

impl RemoteSource {
    /// Reads an address. Local paths (`./…`) and registry addresses are not for here.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        let (package, subdir) = split_subdir(text);
        let subdir = subdir.map(|subdir| inside(clean_path(subdir))).transpose()?;
        let normal = detect::detect(&package)?;
        let (address, detected) = split_subdir(&normal);
        let subdir = match (detected, subdir) {
            // What was written is relative to what the shorthand contains.
            (Some(outer), Some(inner)) => Some(inside(join_paths(outer, &inner))?),
            (Some(outer), None) => Some(inside(clean_path(outer))?),
            (None, inner) => inner,
        };
        Ok(Self { address, subdir })
    }

    /// What to fetch, and how.
    pub fn package(&self) -> Result<Package, AddressError> {
        package::package(&self.address)
    }

    /// The same package, and a directory inside the one that is selected already.
    pub fn with_subdir(mut self, inner: &str) -> Result<Self, AddressError> {
        let joined = match self.subdir.as_deref() {
            Some(outer) => join_paths(outer, inner),
            None => clean_path(inner),
        };
        self.subdir = Some(inside(joined)?);
        Ok(self)
    }

    /// The address for people to see: without the secrets in it.
    pub fn for_display(&self) -> String {
        crate::redact::text(&self.to_string())
    }
}

impl fmt::Display for RemoteSource {
    /// The whole address, with its secrets: this form is written to files that decide what is installed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(subdir) = &self.subdir else { return f.write_str(&self.address) };
        match self.address.split_once('?') {
            Some((package, query)) => write!(f, "{package}//{subdir}?{query}"),
            None => write!(f, "{}//{subdir}", self.address),
        }
    }
}

fn inside(subdir: String) -> Result<String, AddressError> {
    if subdir == ".." || subdir.starts_with("../") { Err(AddressError::Outside(subdir)) } else { Ok(subdir) }
}

#[cfg(test)]
mod tests;
