//! The directory that is being filled: what may be put where, and how much.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::Path;

use cap_std::fs::{Dir, OpenOptions};

use super::error::ArchiveError;
use super::names::{checked, folded, link_problem};
use super::{Limits, Unpacked};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    File,
    Directory,
    Link,
}

struct Entry {
    name: String,
    kind: Kind,
}

/// A directory that is being filled.
pub(super) struct Tree<'a> {
    root: &'a Dir,
    limits: &'a Limits,
    budget: u64,
    /// By the form in which names collide.
    entries: BTreeMap<String, Entry>,
    unpacked: Unpacked,
    buffer: Vec<u8>,
}

impl<'a> Tree<'a> {
    pub(super) fn new(root: &'a Dir, limits: &'a Limits, budget: u64) -> Self {
        Self {
            root,
            limits,
            budget,
            entries: BTreeMap::new(),
            unpacked: Unpacked::default(),
            buffer: vec![0; 64 << 10],
        }
    }

    pub(super) fn unpacked(&self) -> Unpacked {
        self.unpacked
    }

    pub(super) fn limits(&self) -> &Limits {
        self.limits
    }

    /// Counts one more thing, before anything is done about it.
    pub(super) fn count(&mut self) -> Result<(), ArchiveError> {
        self.unpacked.files += 1;
        if self.unpacked.files > self.limits.files {
            return Err(ArchiveError::TooMany { limit: self.limits.files });
        }
        Ok(())
    }

    pub(super) fn directory(&mut self, raw: &[u8]) -> Result<(), ArchiveError> {
        self.count()?;
        match checked(raw, self.limits.depth)? {
            Some(name) => self.make_directory(&name),
            None => Ok(()),
        }
    }

    pub(super) fn file(&mut self, raw: &[u8], executable: bool, content: &mut dyn Read) -> Result<(), ArchiveError> {
        self.count()?;
        let name = self.place(raw, Kind::File)?;
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        set_mode(&mut options, executable);
        let mut file = self.root.open_with(&name, &options).map_err(ArchiveError::write(Path::new(&name)))?;
        loop {
            let count = content.read(&mut self.buffer).map_err(|error| damaged(&name, &error))?;
            if count == 0 {
                return Ok(());
            }
            self.unpacked.bytes = self.unpacked.bytes.saturating_add(count as u64);
            if self.unpacked.bytes > self.budget {
                return Err(ArchiveError::TooLarge { limit: self.budget });
            }
            file.write_all(&self.buffer[..count]).map_err(ArchiveError::write(Path::new(&name)))?;
        }
    }

    pub(super) fn symbolic_link(&mut self, raw: &[u8], target: &[u8]) -> Result<(), ArchiveError> {
        self.count()?;
        let refuse = |reason: &'static str| ArchiveError::Link {
            name: String::from_utf8_lossy(raw).into_owned(),
            target: String::from_utf8_lossy(target).into_owned(),
            reason,
        };
        let text = std::str::from_utf8(target).map_err(|_| refuse("its target is not UTF-8"))?;
        let name = self.place(raw, Kind::Link)?;
        if let Some(reason) = link_problem(&name, text) {
            return Err(refuse(reason));
        }
        make_link(self.root, text, &name).map_err(ArchiveError::write(Path::new(&name)))
    }

    /// A second name for a file that came before.
    pub(super) fn hard_link(&mut self, raw: &[u8], target: &[u8]) -> Result<(), ArchiveError> {
        self.count()?;
        let refuse = |reason: &'static str| ArchiveError::Link {
            name: String::from_utf8_lossy(raw).into_owned(),
            target: String::from_utf8_lossy(target).into_owned(),
            reason,
        };
        let target_name = checked(target, self.limits.depth).ok().flatten();
        let known = target_name.filter(|target| {
            self.entries.get(&folded(target)).is_some_and(|entry| entry.kind == Kind::File && entry.name == *target)
        });
        let target_name = known.ok_or_else(|| refuse("its target is no file of the archive that came before"))?;
        let name = self.place(raw, Kind::File)?;
        self.root.hard_link(&target_name, self.root, &name).map_err(ArchiveError::write(Path::new(&name)))
    }

    /// Checks a name, makes the directories above it, and takes the place.
    fn place(&mut self, raw: &[u8], kind: Kind) -> Result<String, ArchiveError> {
        let unnamed = || ArchiveError::Name {
            name: String::from_utf8_lossy(raw).into_owned(),
            reason: "it is the directory itself",
        };
        let name = checked(raw, self.limits.depth)?.ok_or_else(unnamed)?;
        if let Some((parent, _)) = name.rsplit_once('/') {
            self.make_directory(parent)?;
        }
        let taken = self.entries.insert(folded(&name), Entry { name: name.clone(), kind });
        match taken {
            Some(taken) => Err(ArchiveError::Collision { first: taken.name, second: name }),
            None => Ok(name),
        }
    }

    /// Makes a directory and those above it. A link in the way is never followed.
    fn make_directory(&mut self, name: &str) -> Result<(), ArchiveError> {
        let mut end = 0;
        while end < name.len() {
            end = name[end + 1..].find('/').map_or(name.len(), |at| end + 1 + at);
            let path = &name[..end];
            match self.entries.get(&folded(path)) {
                Some(entry) if entry.kind == Kind::Directory && entry.name == path => {}
                Some(entry) => {
                    return Err(ArchiveError::Collision { first: entry.name.clone(), second: name.to_owned() });
                }
                None => {
                    self.root.create_dir(path).map_err(ArchiveError::write(Path::new(path)))?;
                    self.entries.insert(folded(path), Entry { name: path.to_owned(), kind: Kind::Directory });
                }
            }
        }
        Ok(())
    }
}

fn damaged(name: &str, error: &std::io::Error) -> ArchiveError {
    ArchiveError::Damaged(format!("{name:?}: {error}"))
}

/// Readable for all, and nothing else that the archive asks for: no set-user-id, no files that everybody can write.
#[cfg(unix)]
fn set_mode(options: &mut OpenOptions, executable: bool) {
    use cap_std::fs::OpenOptionsExt;
    options.mode(if executable { 0o755 } else { 0o644 });
}

#[cfg(not(unix))]
fn set_mode(_options: &mut OpenOptions, _executable: bool) {}

#[cfg(unix)]
fn make_link(root: &Dir, target: &str, name: &str) -> std::io::Result<()> {
    root.symlink(target, name)
}

#[cfg(not(unix))]
fn make_link(_root: &Dir, _target: &str, _name: &str) -> std::io::Result<()> {
    Err(std::io::Error::new(std::io::ErrorKind::Unsupported, "symbolic links are not supported here"))
}
