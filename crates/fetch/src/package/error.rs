//! What goes wrong when a package is fetched.

use std::io;
use std::path::Path;

use thiserror::Error;

use crate::address::AddressError;
use crate::archive::ArchiveError;
use crate::git::GitError;
use crate::http::HttpError;
use crate::links::LinkError;

/// Why a package was not fetched. Nothing of it is at the destination.
#[derive(Debug, Error)]
pub enum PackageError {
    /// The address cannot be used.
    #[error("{0}")]
    Address(#[from] AddressError),
    /// The server did not answer well.
    #[error("{0}")]
    Http(#[from] HttpError),
    /// Git failed.
    #[error("{0}")]
    Git(#[from] GitError),
    /// The archive is bad.
    #[error("cannot unpack {from}: {source}")]
    Archive {
        /// Where it came from.
        from: String,
        /// What is wrong with it.
        source: ArchiveError,
    },
    /// The archive is none that is known.
    #[error("{0} is not a zip archive, or a tar archive with gz, xz, or bzip2 compression")]
    UnknownArchive(String),
    /// The page names no package.
    #[error("no source URL was returned by {0}")]
    NoSource(String),
    /// Pages lead to pages.
    #[error("too many X-Terraform-Get redirects from {0}")]
    TooManyHops(String),
    /// A page leads somewhere it may not.
    #[error("{from} leads {reason}, which is refused")]
    Hop {
        /// The page.
        from: String,
        /// Where to.
        reason: &'static str,
    },
    /// The bytes are not the expected ones.
    #[error("checksums did not match for {from}: expected {expected}, got {actual}")]
    Checksum {
        /// Where they came from.
        from: String,
        /// What was wanted.
        expected: String,
        /// What came.
        actual: String,
    },
    /// There are no single bytes to check.
    #[error("checksum cannot be specified for directory download")]
    ChecksumOfDirectory,
    /// The directory inside does not exist, or is not one.
    #[error("subdir {subdir:?} {reason}")]
    Subdir {
        /// What was wanted.
        subdir: String,
        /// What is wrong.
        reason: &'static str,
    },
    /// The selected directory is not complete without the rest.
    #[error("the selected directory contains the link {name:?} to {target:?}, which leads outside of it")]
    Link {
        /// Its name.
        name: String,
        /// Where it leads.
        target: String,
    },
    /// Files of this machine are out of reach here.
    #[error("{0} is on this machine, where sources may not come from here")]
    LocalFile(String),
    /// A plain file where a directory is needed.
    #[error("source path must be a directory: {0}")]
    NotDirectory(String),
    /// The source cannot be read.
    #[error("source path error: cannot read {path}: {source}")]
    Read {
        /// What.
        path: String,
        /// What the system says.
        source: io::Error,
    },
    /// The destination cannot be written.
    #[error("cannot write {path}: {source}")]
    Write {
        /// What.
        path: String,
        /// What the system says.
        source: io::Error,
    },
}

impl PackageError {
    pub(super) fn write(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.display().to_string();
        move |source| Self::Write { path, source }
    }

    pub(super) fn link(error: LinkError) -> Self {
        match error {
            LinkError::Outside { name, target } => Self::Link { name, target },
            LinkError::Io { path, source } => Self::Write { path, source },
        }
    }

    pub(super) fn temporary(source: io::Error) -> Self {
        Self::Write { path: "a temporary file".to_owned(), source }
    }
}
