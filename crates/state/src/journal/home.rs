//! Where a journal is kept: what every such place can do, and files on a disk. Companion objects of remote states do the
//! same, one object for each time that something is made durable.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::reader::JournalPart;
use crate::Digest;
use crate::disk::{Disk, DiskFile, remove_durably, replace_whole};
use crate::local::replace::resolve;

/// Where the journal of one state is kept.
pub trait JournalHome: Send {
    /// What is there now: the journal first, then what it goes on with elsewhere.
    fn read(&mut self) -> io::Result<Vec<JournalPart>>;

    /// Begins a journal with these bytes, durably, and only then lets go of what was there before. If it fails, that is
    /// still there.
    fn begin(&mut self, start: &[u8]) -> io::Result<Box<dyn JournalFile>>;

    /// Goes on in another place, where [`Self::read`] finds it, beside what is there.
    fn go_on_elsewhere(&mut self, start: &[u8]) -> io::Result<Box<dyn JournalFile>>;

    /// Removes everything, durably.
    fn remove(&mut self) -> io::Result<()>;
}

/// A journal that is written to.
pub trait JournalFile: Send {
    /// Adds to its end.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Makes everything durable that was added. If that fails, the file is not used any more.
    fn sync(&mut self) -> io::Result<()>;

    /// Where it is, for people.
    fn place(&self) -> String;
}

/// Journals in files: beside the state, or in a spool.
pub struct FileHome {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    spares: Vec<PathBuf>,
    /// Whether the first place is one like the spares, in a folder of ours and not beside a state.
    is_spooled: bool,
    /// How many spares this run has tried.
    tried: usize,
}

/// How the journal of a state file is called.
const SUFFIX: &str = ".groma-journal";

impl FileHome {
    /// A journal in a file, and where to go on, in this order, when that cannot be written any more.
    pub fn new(disk: Arc<dyn Disk>, path: PathBuf, spares: Vec<PathBuf>) -> Self {
        Self { disk, path, spares, is_spooled: false, tried: 0 }
    }

    /// A journal in a folder of ours, far from its state.
    pub fn spooled(disk: Arc<dyn Disk>, path: PathBuf, spares: Vec<PathBuf>) -> Self {
        Self { is_spooled: true, ..Self::new(disk, path, spares) }
    }

    /// The name of the journal beside a state file. Beside the file itself and not a link to it, so that whoever comes
    /// by another way finds the same.
    pub fn beside(state: &Path) -> io::Result<PathBuf> {
        let mut name = resolve(state)?.into_os_string();
        name.push(SUFFIX);
        Ok(name.into())
    }

    /// A name for the journal of a state in a folder that others have journals in too: the same for everybody who knows the
    /// state by the same name, be it a path or an address.
    pub fn name_for(state: &str) -> String {
        format!("{}{SUFFIX}", &Digest::of(state.as_bytes()).to_string()[..32])
    }

    fn remove_spares(&mut self) -> io::Result<()> {
        for spare in &self.spares {
            if self.disk.read(spare)?.is_some() {
                remove_durably(&*self.disk, spare)?;
            }
        }
        self.tried = 0;
        Ok(())
    }
}

impl JournalHome for FileHome {
    fn read(&mut self) -> io::Result<Vec<JournalPart>> {
        let mut parts = Vec::new();
        for path in std::iter::once(&self.path).chain(&self.spares) {
            if let Some(bytes) = self.disk.read(path)? {
                let is_ours = self.is_spooled || *path != self.path;
                if is_ours && !self.disk.is_ours_alone(path)? {
                    return Err(not_believed(path));
                }
                parts.push(JournalPart { place: path.display().to_string(), bytes });
            }
        }
        Ok(parts)
    }

    fn begin(&mut self, start: &[u8]) -> io::Result<Box<dyn JournalFile>> {
        // The state beside it may have got its name from a run that was killed right then.
        self.disk.sync_names(&self.path)?;
        if self.is_spooled {
            self.disk.create_private_folder(&self.path)?;
        }
        let file = replace_whole(&*self.disk, &self.path, start)?;
        // They are of another run, or of this one and in what was begun now; in both cases they do no harm.
        let _ = self.remove_spares();
        Ok(Box::new(NamedFile { file, path: self.path.clone() }))
    }

    fn go_on_elsewhere(&mut self, start: &[u8]) -> io::Result<Box<dyn JournalFile>> {
        let mut last = io::Error::from(io::ErrorKind::StorageFull);
        while let Some(path) = self.spares.get(self.tried) {
            self.tried += 1;
            let begun = self.disk.create_private_folder(path).and_then(|()| replace_whole(&*self.disk, path, start));
            match begun {
                Ok(file) => return Ok(Box::new(NamedFile { file, path: path.clone() })),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// The journal goes first: spares alone say which snapshot they were stored in.
    fn remove(&mut self) -> io::Result<()> {
        self.disk.sync_names(&self.path)?;
        remove_durably(&*self.disk, &self.path)?;
        self.remove_spares()
    }
}

/// What lies in a folder of ours is believed, so nobody else may have put it there.
fn not_believed(path: &Path) -> io::Error {
    let problem = format!(
        "others may write to {} or its folder, so it is not believed; look at it, then take the permission away or the file",
        path.display()
    );
    io::Error::new(io::ErrorKind::PermissionDenied, problem)
}

/// The home of a journal that has ended.
pub(super) struct Nowhere;

impl JournalHome for Nowhere {
    fn read(&mut self) -> io::Result<Vec<JournalPart>> {
        Ok(Vec::new())
    }

    fn begin(&mut self, _: &[u8]) -> io::Result<Box<dyn JournalFile>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn go_on_elsewhere(&mut self, _: &[u8]) -> io::Result<Box<dyn JournalFile>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn remove(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct NamedFile {
    file: Box<dyn DiskFile>,
    path: PathBuf,
}

impl JournalFile for NamedFile {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.append(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync()
    }

    fn place(&self) -> String {
        self.path.display().to_string()
    }
}
