//! Earlier states, kept on this machine after every command that stored one: so that what somebody did by mistake can be looked at
//! and undone. What is kept is a convenience; nothing depends on it.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use groma_model::diag::Diagnostic;
use groma_state::{State, StateCodec};

/// How many states are kept.
const MOST: usize = 30;
/// How much all of them may take. The last one is kept whatever its size.
const MOST_BYTES: u64 = 256 << 20;
const ENDING: &str = ".tfstate";

/// Earlier states of one workspace.
#[derive(Debug, Clone)]
pub(crate) struct History {
    folder: PathBuf,
    /// Files that other tools and older versions keep.
    backups: Vec<PathBuf>,
}

/// An earlier state.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Where it is.
    pub path: PathBuf,
    /// How many bytes it has.
    pub bytes: u64,
    /// When it was stored.
    pub time: SystemTime,
    /// Its serial, as far as its name tells.
    pub serial: Option<u64>,
}

impl History {
    /// In a folder of its own. `state` is the file of the state, if it is in one: backups beside it count too.
    pub(crate) fn new(folder: PathBuf, state: Option<&Path>) -> Self {
        let backups = state.map(backups_of).unwrap_or_default();
        Self { folder, backups }
    }

    /// Keeps a state that was just stored.
    pub(crate) fn keep(&self, state: &State, codec: &dyn StateCodec, now: (i64, u32)) {
        // Without it everything else works.
        let _ = self.try_to_keep(state, codec, now);
    }

    fn try_to_keep(&self, state: &State, codec: &dyn StateCodec, (seconds, _): (i64, u32)) -> io::Result<()> {
        let bytes = codec.encode(state).map_err(io::Error::other)?;
        fs::create_dir_all(&self.folder)?;
        let path = self.folder.join(format!("{:010}-{seconds}{ENDING}", state.serial));
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        file.write_all(&bytes)?;
        file.persist(&path).map_err(|error| error.error)?;
        self.prune()
    }

    /// Encrypts earlier states as the current one is, so that none stays in the clear, or with a key that will be gone.
    pub(crate) fn renew(&self, codec: &dyn StateCodec) {
        for entry in self.entries() {
            // One that cannot be read cannot be mended either, and is named when somebody wants it.
            let Ok(bytes) = fs::read(&entry.path) else { continue };
            if let Ok(Some(renewed)) = codec.renewed(&bytes, &entry.path.display().to_string()) {
                let _ = groma_state::replace_whole(&groma_state::RealDisk, &entry.path, &renewed);
            }
        }
    }

    fn prune(&self) -> io::Result<()> {
        let mut kept: u64 = 0;
        for (at, entry) in self.own()?.iter().rev().enumerate() {
            kept += entry.bytes;
            if at > 0 && (at >= MOST || kept > MOST_BYTES) {
                fs::remove_file(&entry.path)?;
            }
        }
        Ok(())
    }

    /// What is kept, oldest first.
    pub(crate) fn entries(&self) -> Vec<Entry> {
        let mut found = self.own().unwrap_or_default();
        found.extend(self.backups.iter().filter_map(|path| entry(path.clone()).ok()));
        found.sort_by(|a, b| (a.time, a.serial, &a.path).cmp(&(b.time, b.serial, &b.path)));
        found
    }

    fn own(&self) -> io::Result<Vec<Entry>> {
        let mut found = Vec::new();
        for file in fs::read_dir(&self.folder)? {
            let path = file?.path();
            if path.to_string_lossy().ends_with(ENDING) {
                found.push(entry(path)?);
            }
        }
        found.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(found)
    }
}

fn entry(path: PathBuf) -> io::Result<Entry> {
    let data = fs::metadata(&path)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let named = name.strip_suffix(ENDING).and_then(|name| name.split_once('-'));
    let seconds = named.and_then(|(_, seconds)| seconds.parse::<u64>().ok());
    let time = match seconds {
        Some(seconds) => SystemTime::UNIX_EPOCH + Duration::from_secs(seconds),
        None => data.modified()?,
    };
    let serial = named.and_then(|(serial, _)| serial.parse().ok());
    Ok(Entry { path, bytes: data.len(), time, serial })
}

/// What is beside a state file and was one once.
fn backups_of(state: &Path) -> Vec<PathBuf> {
    let name = state.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let dir = state.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    let is_backup = |path: &PathBuf| {
        let own = path.file_name().unwrap_or_default().to_string_lossy();
        own.starts_with(&name) && own.ends_with(".backup")
    };
    let mut found: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(is_backup).collect();
    found.sort();
    found
}

impl Entry {
    /// The state.
    pub fn read(&self, codec: &dyn StateCodec) -> Result<State, Diagnostic> {
        let place = self.path.display().to_string();
        let failed = |detail: String| Diagnostic::error("Failed to read an earlier state", detail);
        let bytes = fs::read(&self.path).map_err(|problem| failed(format!("{place}: {problem}.")))?;
        codec.decode(&bytes, &place).map_err(|problem| failed(format!("{problem}.")))
    }
}

#[cfg(test)]
mod tests {
    use groma_state::PlainCodec;

    use super::*;

    #[test]
    fn the_last_states_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join("terraform.tfstate");
        let history = History::new(dir.path().join("history"), Some(&state));
        assert!(history.entries().is_empty());
        for serial in 1..=40 {
            let state = State { serial, lineage: "l".to_owned(), ..State::default() };
            history.keep(&state, &PlainCodec, (1_000 + i64::try_from(serial).unwrap(), 0));
        }
        let entries = history.entries();
        let serials: Vec<u64> = entries.iter().filter_map(|entry| entry.serial).collect();
        assert_eq!(serials, (11..=40).collect::<Vec<_>>());
        assert_eq!(entries[0].read(&PlainCodec).unwrap().serial, 11);
        fs::write(dir.path().join("terraform.tfstate.5.backup"), "{").unwrap();
        let history = History::new(dir.path().join("history"), Some(&state));
        assert_eq!(history.entries().len(), 31);
        assert!(history.entries().last().unwrap().read(&PlainCodec).is_err());
    }
}
