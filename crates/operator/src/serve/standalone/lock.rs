//! Who works with a directory: one operator, as long as it lives. The system takes locks away from those who die.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::Duration;

/// What the lock is called.
const LOCK: &str = "operator.lock";
/// Whoever only asks whether somebody works holds it for a moment.
const MOMENT: Duration = Duration::from_millis(50);
/// How often it is tried.
const ATTEMPTS: u32 = 10;

/// Nobody else works while this is there.
#[derive(Debug)]
pub(super) struct Held {
    _state: File,
    _directory: File,
}

/// Why it is not ours.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Somebody works with the same state.
    #[error("another operator works with it: {0}")]
    Taken(String),
    /// Somebody works with the same directory, and another state.
    #[error("another operator works with the files in {0}, and keeps its state elsewhere")]
    Followed(String),
    /// It could not be asked.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// Works with a directory from now on. `who` is what others are told.
pub(super) fn hold(directory: &Path, state: &Path, who: &str) -> Result<Held, LockError> {
    let mut file = open(state)?;
    if !taken(&file)? {
        let mut holder = String::new();
        file.read_to_string(&mut holder)?;
        let holder = holder.trim();
        return Err(LockError::Taken(if holder.is_empty() { "it does not say who it is" } else { holder }.to_owned()));
    }
    let followed = File::open(directory)?;
    if !taken(&followed)? {
        return Err(LockError::Followed(directory.display().to_string()));
    }
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(format!("{who}\n").as_bytes())?;
    Ok(Held { _state: file, _directory: followed })
}

/// Whether an operator works with a state.
pub fn is_held(state: &Path) -> bool {
    let Ok(file) = File::open(state.join(LOCK)) else { return false };
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

fn open(state: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600).open(state.join(LOCK))
}

fn taken(file: &File) -> io::Result<bool> {
    for attempt in 1..=ATTEMPTS {
        match file.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) if attempt < ATTEMPTS => std::thread::sleep(MOMENT),
            Err(TryLockError::WouldBlock) => break,
            Err(TryLockError::Error(problem)) => return Err(problem),
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_works_at_a_time_and_says_who_it_is() {
        let (directory, state, other) =
            (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        assert!(!is_held(state.path()));
        let held = hold(directory.path(), state.path(), "process 7").unwrap();
        assert!(is_held(state.path()));
        let refused = hold(directory.path(), state.path(), "process 8").unwrap_err().to_string();
        assert_eq!(refused, "another operator works with it: process 7");
        let refused = hold(directory.path(), other.path(), "process 8").unwrap_err();
        assert!(matches!(refused, LockError::Followed(_)), "{refused}");
        drop(held);
        assert!(!is_held(state.path()));
        hold(directory.path(), state.path(), "process 8").unwrap();
    }
}
