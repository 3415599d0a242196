//! A state in a file: read whole, replaced whole. Locks and backups are the local store's.

use std::error::Error;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use groma_model::diag::Diagnostic;

use crate::local::replace;
use crate::{DecodeError, EncodeError, Layout, State, decode_bytes, encode};

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
        /// What is known about mending it.
        advice: Vec<String>,
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

impl FileError {
    /// For people.
    pub fn diagnostic(&self) -> Diagnostic {
        let cause = self.source().map(|source| format!(": {source}")).unwrap_or_default();
        let (summary, advice) = match self {
            FileError::Io { .. } => ("Failed to read or write the state file", Vec::new()),
            FileError::Decode { source, advice, .. } => (source.summary(), advice.clone()),
            FileError::Encode { .. } => ("Failed to save state", Vec::new()),
        };
        let mut diagnostic = Diagnostic::error(summary, format!("{self}{cause}."));
        diagnostic.hints = advice;
        diagnostic
    }
}

/// Reads a state. None if there is no file; an empty file is damage, not "no state".
pub fn read_file(path: &Path) -> Result<Option<State>, FileError> {
    match fs::read(path) {
        Ok(bytes) => decode_bytes(&bytes).map(Some).map_err(|source| FileError::Decode {
            path: path.to_owned(),
            source,
            advice: Vec::new(),
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(FileError::Io { path: path.to_owned(), source }),
    }
}

/// Replaces a state, whoever has it locked. The old one is there until the new one is safely on disk.
pub fn write_file(path: &Path, state: &State) -> Result<(), FileError> {
    let text = encode(state, Layout::Indented).map_err(|source| FileError::Encode { path: path.to_owned(), source })?;
    replace::replace(path, text.as_bytes()).map_err(|source| FileError::Io { path: path.to_owned(), source })
}
