//! A state in a file: read whole, replaced whole.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::{DecodeError, EncodeError, Layout, State, decode, encode};

/// Why a state file could not be used.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It cannot be read or written.
    #[error("could not use the state file {path}")]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// It is not a state.
    #[error("the state file {path} cannot be read; it was left as it is")]
    Decode {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: DecodeError,
    },
    /// The state has no text.
    #[error("the state could not be written to {path}, which was left as it is")]
    Encode {
        /// Where it should go.
        path: PathBuf,
        /// Why.
        #[source]
        source: EncodeError,
    },
}

/// Reads a state. None if there is no file; an empty file is damage, not "no state".
pub fn read_file(path: &Path) -> Result<Option<State>, FileError> {
    match fs::read_to_string(path) {
        Ok(text) => decode(&text).map(Some).map_err(|source| FileError::Decode { path: path.to_owned(), source }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(FileError::Io { path: path.to_owned(), source }),
    }
}

/// Replaces a state. The old one is there until the new one is safely on disk.
pub fn write_file(path: &Path, state: &State) -> Result<(), FileError> {
    let failed = |source| FileError::Io { path: path.to_owned(), source };
    let text = encode(state, Layout::Indented).map_err(|source| FileError::Encode { path: path.to_owned(), source })?;
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(dir).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    file.as_file().sync_all().map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    // The name is durable only once the directory is.
    File::open(dir).and_then(|dir| dir.sync_all()).map_err(failed)
}
