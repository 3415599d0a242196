//! A tree of files that was fetched, in a directory of its own that goes with it. Links are files here; states, `.terraform` and what git keeps are
//! left out.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Read as _, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use super::artifact::{encoded, hashed};
use super::relevance::{Files, Question, Relevance, relevance};
use super::{Limits, SourceError, Trouble};

/// A tree that packs to no more than that goes with runs as it is.
const SMALL: u64 = 4 << 20;
/// No run takes more files with it than that, unpacked.
const MOST_CARRIED: u64 = 64 << 20;
/// Directories inside directories.
const MOST_DEPTH: usize = 64;

/// A tree of files.
#[derive(Debug)]
pub struct Tree {
    /// What people know it by: `main@sha1:…`.
    pub revision: String,
    /// What is in it: `sha256:…`.
    pub digest: String,
    /// States that are in it and were left out.
    pub states: Vec<String>,
    files: BTreeMap<String, Entry>,
    /// Whether all of it goes with runs.
    is_small: bool,
    root: PathBuf,
    selected: Mutex<BTreeMap<Question, Arc<Selection>>>,
    _directory: TempDir,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    size: u64,
    hash: Vec<u8>,
    is_program: bool,
}

/// What of a tree goes with the runs of a root module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// Made of what matters, and of nothing else.
    pub hash: String,
    /// Why everything matters, if it does.
    pub everything: Option<String>,
    /// What goes with runs, whether it matters or not.
    paths: Vec<String>,
}

/// A directory for one tree.
pub(super) fn directory_in(folder: &Path) -> Result<TempDir, SourceError> {
    let made = fs::create_dir_all(folder).and_then(|()| tempfile::Builder::new().prefix("source-").tempdir_in(folder));
    made.map_err(|source| SourceError::new(Trouble::Passing, format!("cannot make a directory for it: {source}")))
}

impl Tree {
    /// Takes in what is at `root`, in a directory that is kept with it. Without a digest, one is made of the files.
    pub(super) async fn take_in(
        directory: TempDir,
        root: PathBuf,
        revision: String,
        digest: Option<String>,
        limits: Limits,
    ) -> Result<Self, SourceError> {
        let taken = tokio::task::spawn_blocking(move || {
            let mut reading = Reading { limits, files: BTreeMap::new(), states: Vec::new(), bytes: 0, seen: 0 };
            let real = root.canonicalize().map_err(unreadable(""))?;
            reading.directory(&real, &real, "", 0)?;
            let Reading { files, states, .. } = reading;
            let digest = digest.unwrap_or_else(|| format!("sha256:{}", hash_of("", files.iter())));
            let is_small = packs_small(&real, &files);
            Ok(Self {
                revision,
                digest,
                states,
                files,
                is_small,
                root: real,
                selected: Mutex::default(),
                _directory: directory,
            })
        });
        taken.await.map_err(|problem| SourceError::new(Trouble::Passing, problem.to_string()))?
    }

    /// Whether there is anything in a directory.
    pub fn has_directory(&self, path: &str) -> bool {
        let prefix = if path.is_empty() || path == "." { String::new() } else { format!("{path}/") };
        self.files.keys().any(|file| file.starts_with(&prefix))
    }

    /// Whether there is such a file.
    pub fn has_file(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    /// What goes with the runs of a root module. Found out once.
    pub fn select(&self, question: &Question) -> Result<Arc<Selection>, SourceError> {
        let mut selected = self.selected.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = selected.get(question) {
            return Ok(Arc::clone(known));
        }
        let (relevant, everything): (BTreeSet<String>, _) = match relevance(self, question) {
            Relevance::Everything(why) => (self.files.keys().cloned().collect(), Some(why)),
            Relevance::Files(found) => (found, None),
        };
        let matters = |path: &&String| relevant.contains(path.as_str());
        let hash = hash_of(&question.root, self.files.iter().filter(|(path, _)| matters(path)));
        let carried = self.files.iter().filter(|(path, _)| self.is_small || matters(path));
        let size: u64 = carried.clone().map(|(_, entry)| entry.size).sum();
        if size > MOST_CARRIED {
            let what = everything.as_ref().map_or_else(String::new, |why| format!(", as {why}"));
            let message = format!(
                "what matters of {} to {:?} has {size} bytes, which is more than the limit of {MOST_CARRIED}{what}",
                self.revision, question.root
            );
            return Err(SourceError::new(Trouble::TooLarge, message));
        }
        let paths = carried.map(|(path, _)| path.clone()).collect();
        let found = Arc::new(Selection { hash, everything, paths });
        selected.insert(question.clone(), Arc::clone(&found));
        Ok(found)
    }

    /// What goes with runs: contents by paths.
    pub fn contents(&self, selection: &Selection) -> Result<BTreeMap<String, Vec<u8>>, SourceError> {
        let read = |path: &String| Ok((path.clone(), fs::read(self.root.join(path)).map_err(unreadable(path))?));
        selection.paths.iter().map(read).collect()
    }

    /// Which of them are programs.
    pub fn programs(&self, selection: &Selection) -> BTreeSet<String> {
        let is_program = |path: &&String| self.files.get(*path).is_some_and(|entry| entry.is_program);
        selection.paths.iter().filter(is_program).cloned().collect()
    }
}

impl Files for Tree {
    fn paths(&self) -> Vec<&str> {
        self.files.keys().map(String::as_str).collect()
    }

    fn read(&self, path: &str) -> Option<Vec<u8>> {
        let known = self.files.contains_key(path);
        known.then(|| fs::read(self.root.join(path)).ok()).flatten()
    }
}

struct Reading {
    limits: Limits,
    files: BTreeMap<String, Entry>,
    states: Vec<String>,
    bytes: u64,
    /// Files and directories.
    seen: u64,
}

impl Reading {
    fn directory(&mut self, root: &Path, directory: &Path, prefix: &str, depth: usize) -> Result<(), SourceError> {
        if depth > MOST_DEPTH {
            let message =
                format!("{prefix:?} is more than {MOST_DEPTH} directories deep, or a link that leads in a circle");
            return Err(SourceError::new(Trouble::Damaged, message));
        }
        for entry in fs::read_dir(directory).map_err(unreadable(prefix))? {
            let entry = entry.map_err(unreadable(prefix))?;
            // What has no name that can be written down is no file of a configuration.
            let Ok(name) = entry.file_name().into_string() else { continue };
            let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}/{name}") };
            self.seen += 1;
            // Directories count, too: links can make many of few.
            if self.seen > self.limits.files {
                let message = format!("the source has more files than the limit of {}", self.limits.files);
                return Err(SourceError::new(Trouble::TooLarge, message));
            }
            let kind = entry.file_type().map_err(unreadable(&path))?;
            let place = if kind.is_symlink() {
                match Self::followed(root, &entry.path(), &path)? {
                    Some(place) => place,
                    None => continue,
                }
            } else {
                entry.path()
            };
            let is_directory = place.is_dir();
            match name.as_str() {
                ".git" => {}
                ".terraform" if is_directory => {}
                _ if is_directory => self.directory(root, &place, &path, depth + 1)?,
                name if is_state(name) => self.states.push(path),
                _ => self.file(&place, path)?,
            }
        }
        Ok(())
    }

    /// Where a link leads. None if that is nowhere.
    fn followed(root: &Path, link: &Path, path: &str) -> Result<Option<PathBuf>, SourceError> {
        match link.canonicalize() {
            Ok(place) if place.starts_with(root) => Ok(Some(place)),
            Err(problem) if problem.kind() == io::ErrorKind::NotFound => Ok(None),
            _ => {
                let target = fs::read_link(link).unwrap_or_default().display().to_string();
                let message = format!("the link {path:?} to {target:?} leads out of the source, or in a circle");
                Err(SourceError::new(Trouble::Damaged, message))
            }
        }
    }

    fn file(&mut self, place: &Path, path: String) -> Result<(), SourceError> {
        let metadata = fs::metadata(place).map_err(unreadable(&path))?;
        if !metadata.is_file() {
            return Err(SourceError::new(Trouble::Damaged, format!("{path:?} is neither a file nor a directory")));
        }
        self.bytes = self.bytes.saturating_add(metadata.len());
        if self.bytes > self.limits.bytes {
            let message = format!("the source is larger than the limit of {} bytes", self.limits.bytes);
            return Err(SourceError::new(Trouble::TooLarge, message));
        }
        let mut opened = fs::File::open(place).map_err(unreadable(&path))?;
        let hash = hashed::<Sha256>(&mut opened).map_err(unreadable(&path))?;
        let entry = Entry { size: metadata.len(), hash, is_program: is_program(&metadata) };
        self.files.insert(path, entry);
        Ok(())
    }
}

/// A state, a copy of one, or what is left of one.
fn is_state(name: &str) -> bool {
    name.ends_with(".tfstate") || name.contains(".tfstate.")
}

#[cfg(unix)]
fn is_program(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    metadata.permissions().mode() & 0o100 != 0
}

#[cfg(not(unix))]
fn is_program(_: &fs::Metadata) -> bool {
    false
}

fn hash_of<'e>(root: &str, entries: impl Iterator<Item = (&'e String, &'e Entry)>) -> String {
    let mut hash = Sha256::new();
    let mut part = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_be_bytes());
        hash.update(bytes);
    };
    part(root.as_bytes());
    for (path, entry) in entries {
        part(path.as_bytes());
        part(&entry.hash);
        part(&[u8::from(entry.is_program)]);
    }
    encoded(&hash.finalize())
}

/// Whether everything is little enough to go with every run.
fn packs_small(root: &Path, files: &BTreeMap<String, Entry>) -> bool {
    if files.values().map(|entry| entry.size).sum::<u64>() > MOST_CARRIED {
        return false;
    }
    let mut packed = flate2::write::GzEncoder::new(Counting(0), flate2::Compression::fast());
    for path in files.keys() {
        let mut bytes = Vec::new();
        let read = fs::File::open(root.join(path)).and_then(|mut file| file.read_to_end(&mut bytes));
        if read.and_then(|_| packed.write_all(&bytes)).is_err() || packed.get_ref().0 > SMALL {
            return false;
        }
    }
    packed.finish().is_ok_and(|counted| counted.0 <= SMALL)
}

/// Forgets what is written, but for how much it was.
struct Counting(u64);

impl Write for Counting {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn unreadable(path: &str) -> impl FnOnce(io::Error) -> SourceError + use<> {
    let path = if path.is_empty() { "the source".to_owned() } else { format!("{path:?}") };
    move |source| SourceError::new(Trouble::Passing, format!("{path} cannot be read: {source}"))
}

#[cfg(test)]
mod tests;
