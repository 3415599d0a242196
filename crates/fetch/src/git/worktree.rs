//! What was checked out, judged before anybody reads it, and the removal of git's own files.

use std::io;
use std::path::Path;

use super::GitError;
use crate::links::{self, LinkError};

/// Refuses links that lead outside. Unless they are kept, removes git's own files, also those of submodules.
pub(super) fn judge(root: &Path, keep_repository: bool) -> Result<(), GitError> {
    if !keep_repository {
        remove_git(root)?;
    }
    links::check(root, ".git").map_err(|error| match error {
        LinkError::Outside { name, target } => GitError::Link { name, target },
        LinkError::Io { path, source } => GitError::Write { path, source },
    })
}

fn remove_git(root: &Path) -> Result<(), GitError> {
    let mut pending = vec![root.to_owned()];
    while let Some(directory) = pending.pop() {
        for entry in std::fs::read_dir(&directory).map_err(write(&directory))? {
            let entry = entry.map_err(write(&directory))?;
            let path = entry.path();
            let is_dir = entry.file_type().map_err(write(&path))?.is_dir();
            match (entry.file_name() == ".git", is_dir) {
                (true, true) => std::fs::remove_dir_all(&path).map_err(write(&path))?,
                (true, false) => std::fs::remove_file(&path).map_err(write(&path))?,
                (false, true) => pending.push(path),
                (false, false) => {}
            }
        }
    }
    Ok(())
}

fn write(path: &Path) -> impl FnOnce(io::Error) -> GitError + use<> {
    let path = path.display().to_string();
    move |source| GitError::Write { path, source }
}
