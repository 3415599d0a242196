//! A directory for the trees of this process. Those of processes that are gone are removed.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;

use tempfile::TempDir;

/// Is locked as long as its process lives.
const LOCK: &str = "lock";

/// A directory of this process.
pub(super) struct Folder {
    directory: TempDir,
    _lock: File,
}

impl Folder {
    /// Makes one beside those of others.
    pub(super) fn open(beside: &Path) -> io::Result<Self> {
        fs::create_dir_all(beside)?;
        for other in fs::read_dir(beside)?.flatten() {
            if is_left(&other.path()) {
                let _ = fs::remove_dir_all(other.path());
            }
        }
        let directory = tempfile::Builder::new().prefix("of-").tempdir_in(beside)?;
        let lock = File::create(directory.path().join(LOCK))?;
        lock.lock()?;
        Ok(Self { directory, _lock: lock })
    }

    pub(super) fn path(&self) -> &Path {
        self.directory.path()
    }
}

/// Whether the process of a directory is gone. One that has no lock yet is just being made.
fn is_left(directory: &Path) -> bool {
    let Ok(lock) = File::open(directory.join(LOCK)) else { return false };
    !matches!(lock.try_lock(), Err(TryLockError::WouldBlock))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_processes_leave_is_removed_and_what_they_have_is_not() {
        let beside = tempfile::tempdir().unwrap();
        let left = beside.path().join("of-left");
        fs::create_dir(&left).unwrap();
        fs::write(left.join(LOCK), "").unwrap();
        let one = Folder::open(beside.path()).unwrap();
        assert!(!left.exists());
        let other = Folder::open(beside.path()).unwrap();
        assert!(one.path().exists() && other.path().exists() && one.path() != other.path());
    }
}
