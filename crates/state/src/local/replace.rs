//! Replacing a file as a whole: whatever happens, either the old content or the new is there, and the new one is on
//! disk before this returns.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::platform;

/// How files that are not complete yet end.
const UNFINISHED: &str = ".groma-tmp";
/// As many links as systems follow.
const MOST_LINKS: usize = 40;

/// Replaces a file or makes it.
pub(crate) fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let path = resolve(path)?;
    let staged = stage(&path, content)?;
    staged.persist(&path).map_err(|error| error.error)?;
    sync_dir(&path)
}

/// The file that a name leads to, which need not be there.
pub(crate) fn resolve(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::symlink_metadata(&path) {
            Ok(data) if data.is_symlink() => path = dir_of(&path).join(fs::read_link(&path)?),
            _ => return Ok(path),
        }
    }
    Err(io::Error::other("too many levels of symbolic links"))
}

/// The folder that a file is in.
pub(crate) fn dir_of(path: &Path) -> &Path {
    path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn unfinished_prefix(path: &Path) -> OsString {
    let mut prefix = OsString::from(".");
    prefix.push(path.file_name().unwrap_or(OsStr::new("state")));
    prefix.push(".");
    prefix
}

/// A complete and durable file that only lacks its name.
pub(super) fn stage(path: &Path, content: &[u8]) -> io::Result<NamedTempFile> {
    let prefix = unfinished_prefix(path);
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(UNFINISHED);
    // Only their owner can read such files.
    let mut file = builder.tempfile_in(dir_of(path))?;
    if let Ok(old) = fs::metadata(path) {
        platform::take_after(file.as_file(), &old)?;
    }
    file.write_all(content)?;
    file.as_file().sync_all()?;
    Ok(file)
}

/// A name is durable only once its folder is.
pub(crate) fn sync_dir(path: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(dir_of(path))?.sync_all() } else { Ok(()) }
}

/// Removes what runs that were killed left of files that they did not finish. Only for who holds the lock.
pub(super) fn clean_up(path: &Path) {
    let prefix = unfinished_prefix(path);
    // Litter is not worth failing for.
    let Ok(entries) = fs::read_dir(dir_of(path)) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.as_encoded_bytes();
        if name.starts_with(prefix.as_encoded_bytes()) && name.ends_with(UNFINISHED.as_bytes()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}
