//! A state in a local file, under the lock that OpenTofu and Terraform take, with a backup. Where the files of
//! workspaces are is not decided here.
//!
//! The lock is on the file itself, and a write replaces the file. So the replacement is locked before it gets the
//! name, and the file that loses the name is made unreadable: another tool may have opened it before and still wait
//! for its lock, and must not take what is in it for the state.

mod platform;
pub(crate) mod replace;

#[cfg(test)]
mod tests;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use platform::TryLock;

#[cfg(not(test))]
use crate::crash;
use crate::{FileError, LockError, LockInfo, PlainCodec, State, StateCodec, StateStore, StoreError, Version};

/// How often to begin anew when the file is replaced between two steps.
const MOST_ATTEMPTS: usize = 100;
/// What is left in a file that lost its name. No tool takes it for a state, and those that waited for its lock show
/// the version that wrote it.
const RETIRED: &[u8] = br#"{"version":4,"terraform_version":"another tool that replaced this state while its lock was waited for: run the command again","serial":0,"lineage":"","outputs":{"replaced":{}},"resources":[]}
"#;

/// The files of a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatePaths {
    /// Where the first snapshot is read from.
    pub read: PathBuf,
    /// Where snapshots are written to, and read from afterwards.
    pub write: PathBuf,
    /// Where what was in the latter before the first write is kept.
    pub backup: Option<PathBuf>,
}

impl StatePaths {
    /// One file, and its backup beside it.
    pub fn of(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        let mut backup = path.clone().into_os_string();
        backup.push(".backup");
        Self { read: path.clone(), write: path, backup: Some(backup.into()) }
    }
}

/// A state in a local file.
pub struct LocalStore {
    paths: StatePaths,
    held: Option<Held>,
    /// What the source looked like, and which snapshot it held, when it was last read or written.
    seen: Option<([i128; 7], Version)>,
    codec: Arc<dyn StateCodec>,
    backed_up: bool,
    written: bool,
    #[cfg(test)]
    faults: Option<Box<dyn FnMut(Step) -> io::Result<()> + Send>>,
}

/// The lock on the file that has the name now.
struct Held {
    id: String,
    file: File,
    /// Whether the file was made only to be locked.
    placeholder: bool,
}

/// Whether a file system that has no locks will do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Need {
    /// No.
    Lock,
    /// Yes, because nobody asked for a lock.
    LockIfPossible,
}

/// What locking and writing consist of; tests make each fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Lock,
    Backup,
    Stage,
    Rename,
    Sync,
    Retire,
}

impl LocalStore {
    /// The state in these files. Nothing is touched yet.
    pub fn new(paths: StatePaths) -> Self {
        Self {
            paths,
            held: None,
            seen: None,
            codec: Arc::new(PlainCodec),
            backed_up: false,
            written: false,
            #[cfg(test)]
            faults: None,
        }
    }

    /// With states that become bytes in another way.
    pub fn with_codec(mut self, codec: Arc<dyn StateCodec>) -> Self {
        self.codec = codec;
        self
    }

    /// The files.
    pub fn paths(&self) -> &StatePaths {
        &self.paths
    }

    /// Who says to hold the lock. Only said, so that people know; what counts is the lock of the file.
    pub fn lock_info(&self) -> Option<LockInfo> {
        LockInfo::from_json(&fs::read_to_string(self.info_path()).ok()?)
    }

    fn info_path(&self) -> PathBuf {
        let name = self.paths.write.file_name().unwrap_or_default().to_string_lossy();
        let name = name.strip_prefix('.').unwrap_or(&name);
        replace::dir_of(&self.paths.write).join(format!(".{name}.lock.info"))
    }

    fn source(&self) -> &Path {
        if self.written { &self.paths.write } else { &self.paths.read }
    }

    #[cfg(test)]
    fn at(&mut self, step: Step) -> io::Result<()> {
        self.faults.as_mut().map_or(Ok(()), |faults| faults(step))
    }

    #[cfg(not(test))]
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "only tests have faults")]
    fn at(&mut self, step: Step) -> io::Result<()> {
        match step {
            Step::Lock => {}
            Step::Backup => crash::point("state.backup"),
            Step::Stage => crash::point("state.stage"),
            Step::Rename => crash::point("state.rename"),
            Step::Sync => crash::point("state.sync"),
            Step::Retire => crash::point("state.retire"),
        }
        Ok(())
    }

    /// What is in the source, and what the file looked like before it was read.
    fn read_source(&self) -> io::Result<Option<(Vec<u8>, fs::Metadata)>> {
        if let Some(held) = self.held.as_ref().filter(|_| self.source() == self.paths.write) {
            if held.placeholder {
                return Ok(None);
            }
            // Not opened again: closing that could give the lock away on systems other than Linux.
            let data = held.file.metadata()?;
            return read_whole(&held.file).map(|bytes| Some((bytes, data)));
        }
        match File::open(self.source()) {
            Ok(file) => {
                let data = file.metadata()?;
                read_whole(&file).map(|bytes| Some((bytes, data)))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn read_snapshot(&mut self) -> Result<Option<State>, StoreError> {
        let path = self.source().to_owned();
        let failed = |source| FileError::Io { path: path.clone(), source };
        self.seen = None;
        for attempt in 1.. {
            let Some((bytes, data)) = self.read_source().map_err(failed)? else { return Ok(None) };
            match self.codec.decode(&bytes, &path.display().to_string()) {
                Ok(state) => {
                    self.seen = Some((platform::fingerprint(&data), Version::from(&state)));
                    return Ok(Some(state));
                }
                Err(error) => {
                    // Replaced by somebody while it was being read? Its number alone does not tell: a new file may get that of an old one.
                    let seen = platform::fingerprint(&data);
                    let replaced = fs::metadata(&path).is_ok_and(|now| platform::fingerprint(&now) != seen);
                    if !replaced || attempt >= MOST_ATTEMPTS {
                        return Err(match error {
                            StoreError::Unreadable { source, .. } => {
                                FileError::Decode { path: path.clone(), source, advice: self.advice() }.into()
                            }
                            other => other,
                        });
                    }
                }
            }
        }
        Ok(None)
    }

    /// What may help with a file that is no state.
    fn advice(&self) -> Vec<String> {
        let mut advice = Vec::new();
        if self.held.is_none()
            && let Some(info) = self.lock_info()
        {
            advice.push(format!(
                "{} of {} may be writing it, or was stopped while it did: try again when that has ended.",
                info.operation, info.who
            ));
        }
        if let Some(backup) = self.paths.backup.as_ref().filter(|backup| backup.exists()) {
            advice.push(format!(
                "{} has the state from before the last change: copy it to {} to go back to it.",
                backup.display(),
                self.source().display()
            ));
        } else {
            advice.push(format!("If nothing was ever made with this state, remove {}.", self.source().display()));
        }
        advice
    }

    /// Which snapshot the source holds now. Reads only what has changed since it was last looked at.
    fn current(&mut self) -> Result<Option<Version>, StoreError> {
        let unchanged = self.seen.as_ref().filter(|(print, _)| {
            let now = fs::metadata(self.source());
            now.is_ok_and(|now| platform::fingerprint(&now) == *print)
        });
        if let Some((_, version)) = unchanged {
            return Ok(Some(version.clone()));
        }
        self.read_snapshot().map(|state| state.as_ref().map(Version::from))
    }

    /// Locks the file, and makes it first if need be: as a state without anything in it, because an empty file would
    /// be damage if this process were killed now.
    fn acquire(&mut self, id: &str, lineage: &str, need: Need) -> Result<Held, LockError> {
        let given = self.paths.write.clone();
        let failed = |doing| {
            let path = given.clone();
            move |source| LockError::Io { doing, path, source }
        };
        fs::create_dir_all(replace::dir_of(&given)).map_err(failed("make the folder of"))?;
        for _ in 0..MOST_ATTEMPTS {
            let path = replace::resolve(&given).map_err(failed("find"))?;
            let held = |file, placeholder| Held { id: id.to_owned(), file, placeholder };
            match OpenOptions::new().read(true).write(true).open(&path) {
                Ok(file) => {
                    self.at(Step::Lock).map_err(failed("lock"))?;
                    match platform::try_lock(&file) {
                        Ok(TryLock::Busy(process)) => return Err(self.busy(process)),
                        Err(error) if need == Need::Lock => return Err(failed("lock")(error)),
                        Ok(TryLock::Locked) | Err(_) => {}
                    }
                    if has_name(&file, &path) {
                        return Ok(held(file, false));
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    if let Some(file) = placeholder(&path, &*self.codec, lineage, need).map_err(failed("make"))? {
                        return Ok(held(file, true));
                    }
                }
                Err(error) => return Err(failed("open")(error)),
            }
        }
        Err(self.busy(None))
    }

    fn busy(&self, process: Option<u32>) -> LockError {
        let reason = "resource temporarily unavailable".to_owned();
        LockError::Held { reason, info: self.lock_info().map(Box::new), process }
    }

    /// Gives the lock of the file back, and removes the file if it was only made to be locked.
    fn release(&self, held: Held) {
        if held.placeholder
            && let Ok(path) = replace::resolve(&self.paths.write)
            && has_name(&held.file, &path)
            && fs::remove_file(&path).is_ok()
        {
            retire(&held.file);
        }
        // Closing is not enough: a process that is just being started has the file open too, until it becomes another program.
        platform::unlock(&held.file);
    }

    /// Keeps what is there before it is replaced for the first time.
    fn back_up(&mut self, held: &Held) -> Result<(), StoreError> {
        if self.backed_up {
            return Ok(());
        }
        if let Some(backup) = self.paths.backup.clone()
            && !held.placeholder
        {
            let failed = |source| FileError::Io { path: backup.clone(), source };
            self.at(Step::Backup).map_err(failed)?;
            let content = read_whole(&held.file).map_err(failed)?;
            if !content.is_empty() {
                // What was in the clear until now is not left lying about.
                let renewed = self.codec.renewed(&content, &self.paths.write.display().to_string())?;
                replace::replace(&backup, renewed.as_ref().unwrap_or(&content)).map_err(failed)?;
            }
        }
        self.backed_up = true;
        Ok(())
    }

    fn write_held(&mut self, held: &mut Held, next: &State) -> Result<(), StoreError> {
        let given = self.paths.write.clone();
        let failed = |source| FileError::Io { path: given.clone(), source };
        let path = replace::resolve(&given).map_err(failed)?;
        if !has_name(&held.file, &path) {
            return Err(StoreError::LockLost { path: given });
        }
        let bytes = self.codec.encode(next)?;
        self.back_up(held)?;
        self.at(Step::Stage).map_err(failed)?;
        let staged = replace::stage(&path, &bytes).map_err(failed)?;
        // Nobody knows the file yet, so this cannot be refused, only be impossible here, as it was for the first.
        let _ = platform::try_lock(staged.as_file());
        self.at(Step::Rename).map_err(failed)?;
        let file = staged.persist(&path).map_err(|error| failed(error.error))?;
        let print = file.metadata().map(|data| (platform::fingerprint(&data), Version::from(next)));
        let old = std::mem::replace(&mut held.file, file);
        held.placeholder = false;
        self.written = true;
        self.seen = print.ok();
        self.at(Step::Sync).map_err(failed)?;
        replace::sync_dir(&path).map_err(failed)?;
        self.at(Step::Retire).map_err(failed)?;
        retire(&old);
        Ok(())
    }
}

impl StateStore for LocalStore {
    fn read(&mut self) -> Result<Option<State>, StoreError> {
        self.read_snapshot()
    }

    fn write(&mut self, expected: Option<&Version>, next: &State) -> Result<(), StoreError> {
        // Without a lock that was asked for, the file is locked for this moment only.
        let lasting = self.held.is_some();
        if !lasting {
            self.held = Some(self.acquire("", &next.lineage, Need::LockIfPossible).map_err(StoreError::Locked)?);
        }
        let found = self.current();
        let Some(mut held) = self.held.take() else {
            return Err(StoreError::LockLost { path: self.paths.write.clone() });
        };
        let result = match found {
            Err(error) => Err(error),
            Ok(found) if found.as_ref() != expected => Err(StoreError::Conflict { expected: expected.cloned(), found }),
            Ok(_) => self.write_held(&mut held, next),
        };
        if lasting {
            self.held = Some(held);
        } else {
            self.release(held);
        }
        result
    }

    fn lock(&mut self, info: &LockInfo) -> Result<(), LockError> {
        if self.held.is_some() {
            return Err(LockError::AlreadyLocked);
        }
        let held = self.acquire(&info.id, &info.id, Need::Lock)?;
        if let Ok(path) = replace::resolve(&self.paths.write) {
            replace::clean_up(&path);
        }
        let path = self.info_path();
        let mut info = info.clone();
        if info.path.is_empty() {
            info.path = self.paths.read.display().to_string();
        }
        if let Err(source) = write_info(&path, &info) {
            self.release(held);
            return Err(LockError::Io { doing: "write lock info to", path, source });
        }
        self.held = Some(held);
        self.seen = None;
        Ok(())
    }

    fn unlock(&mut self, id: &str) -> Result<(), LockError> {
        let held = self.held.take().ok_or(LockError::NotLocked)?;
        if held.id != id {
            self.held = Some(held);
            return Err(LockError::WrongId { given: id.to_owned(), info: self.lock_info().map(Box::new) });
        }
        // While the lock still holds, or it could be the next holder's that is removed.
        let _ = fs::remove_file(self.info_path());
        self.release(held);
        Ok(())
    }

    /// The system takes the lock away from processes that end, so all that can be left is what is said about it.
    fn force_unlock(&mut self, id: &str) -> Result<(), LockError> {
        if self.held.is_some() {
            return self.unlock(id);
        }
        let Some(info) = self.lock_info() else {
            return match OpenOptions::new().read(true).write(true).open(&self.paths.write) {
                Ok(file) => {
                    if let Ok(TryLock::Busy(process)) = platform::try_lock(&file) {
                        return Err(self.busy(process));
                    }
                    platform::unlock(&file);
                    Err(LockError::NotLocked)
                }
                Err(_) => Err(LockError::NotLocked),
            };
        };
        let held = self.acquire("", &info.id, Need::Lock)?;
        let result = if info.id == id {
            let path = self.info_path();
            fs::remove_file(&path).map_err(|source| LockError::Io { doing: "remove", path, source })
        } else {
            Err(LockError::WrongId { given: id.to_owned(), info: Some(Box::new(info)) })
        };
        self.release(held);
        result
    }
}

impl Drop for LocalStore {
    fn drop(&mut self) {
        if let Some(held) = self.held.take() {
            let _ = fs::remove_file(self.info_path());
            self.release(held);
        }
    }
}

fn read_whole(mut file: &File) -> io::Result<Vec<u8>> {
    file.rewind()?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Whether a name leads to this open file.
fn has_name(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::metadata(path)) {
        (Ok(open), Ok(named)) => platform::same_file(&open, &named),
        _ => false,
    }
}

/// A state with nothing in it, locked before it gets its name. None if somebody else made one first.
fn placeholder(path: &Path, codec: &dyn StateCodec, lineage: &str, need: Need) -> io::Result<Option<File>> {
    let empty = State { tool_version: "0.0.0".to_owned(), lineage: lineage.to_owned(), ..State::default() };
    // Encrypted like any other: whoever finds it after a crash must be able to read it.
    let staged = replace::stage(path, &codec.encode(&empty).map_err(io::Error::other)?)?;
    if let Err(error) = platform::try_lock(staged.as_file())
        && need == Need::Lock
    {
        return Err(error);
    }
    match staged.persist_noclobber(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if matches!(error.error.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound) => Ok(None),
        Err(error) => Err(error.error),
    }
}

/// Makes a file that lost its name unreadable, for those who opened it when it still had it.
fn retire(mut file: &File) {
    // It may have another name that somebody gave it: then it is theirs.
    if file.metadata().is_ok_and(|data| platform::is_nameless(&data)) {
        let emptied = file.set_len(0).and_then(|()| file.rewind());
        let _ = emptied.and_then(|()| file.write_all(RETIRED));
    }
}

/// Not replaced as states are: it says something only as long as the lock holds.
fn write_info(path: &Path, info: &LockInfo) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(info.to_json().as_bytes())
}
