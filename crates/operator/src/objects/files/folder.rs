//! The files that objects are in, and whose turn it is to work with them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use groma_run::state::{Disk, replace_whole};

use crate::objects::Place;

/// What the lock is called.
const LOCK: &str = ".lock";
/// How files end that have an object in them.
const ENDING: &str = ".json";
/// Stands for the namespace of what has none.
const NOWHERE: &str = "_";

/// A directory with objects.
pub(super) struct Folder {
    disk: Arc<dyn Disk>,
    directory: PathBuf,
}

/// What tells that a file was replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    inode: u64,
    size: u64,
    seconds: i64,
    nanoseconds: i64,
}

impl Stamp {
    /// The one of a file.
    pub fn of(metadata: &fs::Metadata) -> Self {
        Self {
            inode: metadata.ino(),
            size: metadata.size(),
            seconds: metadata.mtime(),
            nanoseconds: metadata.mtime_nsec(),
        }
    }
}

/// Makes a directory that only we can look into, unless it is there.
pub fn make_private(directory: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)
}

impl Folder {
    /// A directory, which is made if it is not there.
    pub(super) fn new(disk: Arc<dyn Disk>, directory: &Path) -> io::Result<Self> {
        make_private(directory)?;
        Ok(Self { disk, directory: directory.to_owned() })
    }

    /// Waits until nobody else reads or writes.
    pub(super) fn turn(&self) -> io::Result<Turn> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let mut file = options.open(self.directory.join(LOCK))?;
        file.lock()?;
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        Ok(Turn { file, sequence: text.trim().parse().unwrap_or_default() })
    }

    /// Where an object is.
    pub(super) fn path_of(&self, place: &Place) -> PathBuf {
        let kind = if place.kind.group.is_empty() {
            place.kind.plural.clone()
        } else {
            format!("{}.{}", place.kind.plural, place.kind.group)
        };
        let namespace = place.namespace.as_deref().map_or_else(|| NOWHERE.to_owned(), file_name);
        self.directory.join(file_name(&kind)).join(namespace).join(format!("{}{ENDING}", file_name(&place.name)))
    }

    /// What is in a file.
    pub(super) fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.disk.read(path)?.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Puts something in the place of a file: whatever happens, either the old content is there or the new.
    pub(super) fn replace(&self, path: &Path, content: &[u8]) -> io::Result<Stamp> {
        if let Some(parent) = path.parent() {
            make_private(parent)?;
        }
        replace_whole(&*self.disk, path, content)?;
        Ok(Stamp::of(&fs::metadata(path)?))
    }

    /// Removes a file for good.
    pub(super) fn remove(&self, path: &Path) -> io::Result<()> {
        self.disk.remove(path)?;
        self.disk.sync_names(path)
    }

    /// All files with objects.
    pub(super) fn scan(&self) -> io::Result<BTreeMap<PathBuf, Stamp>> {
        let mut found = BTreeMap::new();
        for kind in folders(&self.directory)? {
            for namespace in folders(&kind)? {
                for entry in fs::read_dir(&namespace)? {
                    let entry = entry?;
                    let name = entry.file_name();
                    let is_object = name.to_str().is_some_and(|name| name.ends_with(ENDING) && !name.starts_with('.'));
                    // What was never finished has a name that begins with a dot.
                    if is_object {
                        found.insert(entry.path(), Stamp::of(&entry.metadata()?));
                    }
                }
            }
        }
        Ok(found)
    }
}

fn folders(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            found.push(entry.path());
        }
    }
    Ok(found)
}

/// A name that leads nowhere else, and that no other one becomes.
fn file_name(name: &str) -> String {
    let mut safe = String::new();
    for (at, byte) in name.bytes().enumerate() {
        let is_plain = byte.is_ascii_alphanumeric() || byte == b'-' || (byte == b'.' && at > 0);
        if is_plain {
            safe.push(char::from(byte));
        } else {
            // Writing to a string does not fail.
            let _ = write!(safe, "%{byte:02x}");
        }
    }
    safe
}

/// Nobody else reads or writes until this is dropped.
pub(super) struct Turn {
    file: File,
    sequence: u64,
}

impl Turn {
    /// How often something was written, if everybody counted.
    pub(super) fn sequence(&self) -> u64 {
        self.sequence
    }

    /// Counts, before anything is written: whoever comes after a kill looks at everything.
    pub(super) fn count(&mut self) -> io::Result<u64> {
        let next = self.sequence.wrapping_add(1);
        self.file.rewind()?;
        self.file.write_all(format!("{next:020}\n").as_bytes())?;
        self.sequence = next;
        Ok(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_leads_elsewhere_or_to_another() {
        assert_eq!(file_name("app-1.x"), "app-1.x");
        assert_eq!(file_name("../etc/passwd"), "%2e.%2fetc%2fpasswd");
        assert_eq!(file_name("a%2fb"), "a%252fb");
        assert_eq!(file_name("_"), "%5f");
    }
}
