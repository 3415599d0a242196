//! What is wrong with an archive. Names from inside are shown escaped: they are not to be trusted with a terminal.

use std::io;
use std::path::Path;

use thiserror::Error;

use super::format::Format;

/// Why an archive is not unpacked.
#[derive(Debug, Error)]
pub enum ArchiveError {
    /// A name that leads elsewhere, or cannot be a name everywhere.
    #[error("the archive contains the unsafe name {name:?}: {reason}")]
    Name {
        /// The name.
        name: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A link that leads elsewhere.
    #[error("the archive contains the unsafe link {name:?} to {target:?}: {reason}")]
    Link {
        /// The name.
        name: String,
        /// Where it leads.
        target: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// Something that is no file, directory or link.
    #[error("the archive contains {name:?}, which is a {kind}")]
    Kind {
        /// The name.
        name: String,
        /// What it is.
        kind: &'static str,
    },
    /// Two things with one name, at least on some systems.
    #[error("the archive contains both {first:?} and {second:?}, which cannot exist together")]
    Collision {
        /// What came first.
        first: String,
        /// What came then.
        second: String,
    },
    /// More bytes than allowed, be it in all or for an archive of that size.
    #[error("the archive unpacks to more than {limit} bytes, which is the limit for an archive of its size")]
    TooLarge {
        /// The limit.
        limit: u64,
    },
    /// More files than allowed.
    #[error("the archive contains more than {limit} files")]
    TooMany {
        /// The limit.
        limit: u64,
    },
    /// There is nothing in it.
    #[error("the archive is empty")]
    Empty,
    /// It is one compressed file where a directory is wanted.
    #[error("{0}-compressed files can only be unpacked to a single file, but a directory is needed here")]
    SingleFile(Format),
    /// It is a directory where one file is wanted.
    #[error("{0} archives hold directories, but a single file is needed here")]
    NotSingleFile(Format),
    /// It is damaged, or not what it is said to be.
    #[error("the archive cannot be read: {0}")]
    Damaged(String),
    /// It cannot be written down.
    #[error("cannot write {path}: {source}")]
    Write {
        /// What.
        path: String,
        /// What the system says.
        source: io::Error,
    },
}

impl ArchiveError {
    pub(super) fn read(error: io::Error) -> Self {
        Self::Damaged(error.to_string())
    }

    pub(super) fn write(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.display().to_string();
        move |source| Self::Write { path, source }
    }
}
