//! Where the journal of a remote state goes on when its objects cannot be added to any more: in files of this machine, a few for each
//! state, readable by their owner only. A file is locked as long as a process writes to it, so that no other takes it for left over.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use groma_state::journal::{FileHome, JournalFile, JournalPart};
use groma_state::{Disk as _, RealDisk};

/// How many runs can have left something for one state.
const SLOTS: usize = 8;

/// The files of one state.
pub(super) struct Spool {
    dir: PathBuf,
    name: String,
}

/// What an earlier run has left.
pub(super) struct Left {
    path: PathBuf,
    pub(super) bytes: Vec<u8>,
    /// So that nobody else uses it.
    _lock: Locked,
}

/// A file that is locked until this is dropped. Closing it would not be enough: a process that is just being started has it open too, until
/// it becomes another program.
struct Locked(File);

impl Drop for Locked {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

impl Left {
    pub(super) fn part(&self) -> JournalPart {
        JournalPart { place: self.path.display().to_string(), bytes: self.bytes.clone() }
    }

    pub(super) fn remove(self) -> io::Result<()> {
        remove(&self.path)
    }
}

/// Removes a file for good.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    RealDisk.remove(path)?;
    RealDisk.sync_names(path)
}

impl Spool {
    /// In a folder, for the state of that name.
    pub(super) fn new(dir: PathBuf, state: &str) -> Self {
        Self { dir, name: FileHome::name_for(state) }
    }

    fn paths(&self) -> impl Iterator<Item = PathBuf> {
        (1..=SLOTS).map(|slot| self.dir.join(format!("{slot}-{}", self.name)))
    }

    /// What earlier runs have left, and nobody writes to.
    pub(super) fn left(&self) -> io::Result<Vec<Left>> {
        let mut found = Vec::new();
        for path in self.paths() {
            let file = match File::open(&path) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            let mut bytes = Vec::new();
            if file.try_lock().is_err() {
                continue;
            }
            let mut lock = Locked(file);
            if lock.0.read_to_end(&mut bytes)? > 0 {
                found.push(Left { path, bytes, _lock: lock });
            }
        }
        Ok(found)
    }

    /// A new file with these bytes. Everything that becomes safe in it is added to `written`.
    pub(super) fn create(&self, bytes: &[u8], written: Arc<Mutex<Vec<u8>>>) -> io::Result<SpoolFile> {
        make_dir(&self.dir)?;
        let mut last =
            io::Error::other(format!("there are {SLOTS} journals for this state already in {}", self.dir.display()));
        for path in self.paths() {
            // Reserved by its name, and filled as a whole: an empty one says nothing.
            match options().create_new(true).open(&path) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
            }
            match fill(&path, bytes) {
                Ok(file) => return Ok(SpoolFile { path, file: Locked(file), added: Vec::new(), written }),
                Err(error) => {
                    let _ = RealDisk.remove(&path);
                    last = error;
                    break;
                }
            }
        }
        Err(last)
    }
}

fn fill(path: &Path, bytes: &[u8]) -> io::Result<File> {
    let unfinished = path.with_extension("groma-tmp");
    RealDisk.remove(&unfinished)?;
    let staged = || -> io::Result<File> {
        let mut file = options().create_new(true).open(&unfinished)?;
        file.write_all(bytes)?;
        file.sync_data()?;
        // Not every file system has locks. What is lost without them is that a file which is still in use is known to be.
        let _ = file.try_lock();
        fs::rename(&unfinished, path)?;
        Ok(file)
    };
    let file = staged().inspect_err(|_| drop(RealDisk.remove(&unfinished)))?;
    RealDisk.sync_names(path)?;
    Ok(file)
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

fn make_dir(dir: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
}

/// A file that is written to.
pub(super) struct SpoolFile {
    path: PathBuf,
    file: Locked,
    added: Vec<u8>,
    written: Arc<Mutex<Vec<u8>>>,
}

impl SpoolFile {
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl JournalFile for SpoolFile {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.0.write_all(bytes)?;
        self.added.extend(bytes);
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.0.sync_data()?;
        self.written.lock().unwrap_or_else(PoisonError::into_inner).append(&mut self.added);
        Ok(())
    }

    fn place(&self) -> String {
        self.path.display().to_string()
    }
}
