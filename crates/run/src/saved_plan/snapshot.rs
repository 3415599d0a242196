//! The configuration as it was read, so that an apply reads the same however the files have changed since.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use groma_lang::load::{ModuleRequest, SourceTree};
use groma_model::diag::Diagnostics;
use groma_model::text::Str;

/// The files of a configuration and where its modules are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Directories that were looked into, also if nothing was read there.
    dirs: BTreeSet<String>,
    /// What was read, by path.
    files: BTreeMap<String, Vec<u8>>,
    /// The directories of modules, by the names of the calls that lead to them.
    modules: BTreeMap<String, String>,
}

/// Passes questions on, and remembers the answers.
pub struct Recorder<'t> {
    tree: &'t dyn SourceTree,
    seen: RefCell<Snapshot>,
}

impl<'t> Recorder<'t> {
    /// Over a tree.
    pub fn new(tree: &'t dyn SourceTree) -> Self {
        Self { tree, seen: RefCell::default() }
    }

    /// What was read.
    pub fn finish(self) -> Snapshot {
        self.seen.into_inner()
    }
}

impl SourceTree for Recorder<'_> {
    fn list_files(&self, dir: &Path) -> io::Result<Vec<String>> {
        let names = self.tree.list_files(dir)?;
        self.seen.borrow_mut().dirs.insert(text(dir));
        Ok(names)
    }

    fn read_file(&self, path: &Path) -> io::Result<Vec<u8>> {
        let bytes = self.tree.read_file(path)?;
        self.seen.borrow_mut().files.insert(text(path), bytes.clone());
        Ok(bytes)
    }

    fn locate(&self, request: &ModuleRequest<'_>) -> Result<PathBuf, Diagnostics> {
        let dir = self.tree.locate(request)?;
        self.seen.borrow_mut().modules.insert(key(request), text(&dir));
        Ok(dir)
    }
}

/// Only what was read is there; directories have no other files.
impl SourceTree for Snapshot {
    fn list_files(&self, dir: &Path) -> io::Result<Vec<String>> {
        if !self.dirs.contains(&text(dir)) {
            return Err(io::Error::new(io::ErrorKind::NotFound, "the saved plan has no such directory"));
        }
        let in_dir = |path: &String| {
            let path = Path::new(path);
            if path.parent().map(text) == Some(text(dir)) {
                path.file_name().map(|name| text(Path::new(name)))
            } else {
                None
            }
        };
        Ok(self.files.keys().filter_map(in_dir).collect())
    }

    fn read_file(&self, path: &Path) -> io::Result<Vec<u8>> {
        let missing = || io::Error::new(io::ErrorKind::NotFound, "the saved plan has no such file");
        self.files.get(&text(path)).cloned().ok_or_else(missing)
    }

    fn locate(&self, request: &ModuleRequest<'_>) -> Result<PathBuf, Diagnostics> {
        self.modules.get(&key(request)).map(PathBuf::from).ok_or_else(|| request.not_installed().into())
    }
}

impl Snapshot {
    /// The files, by path.
    pub fn files(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice()))
    }

    /// As a part of a file: how many entries, then kind, name and content of each.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let dirs = self.dirs.iter().map(|dir| (b'd', dir, &[][..]));
        let files = self.files.iter().map(|(path, bytes)| (b'f', path, bytes.as_slice()));
        let modules = self.modules.iter().map(|(key, dir)| (b'm', key, dir.as_bytes()));
        let mut out = Vec::new();
        for (kind, name, content) in dirs.chain(files).chain(modules) {
            out.push(kind);
            out.extend((name.len() as u64).to_le_bytes());
            out.extend((content.len() as u64).to_le_bytes());
            out.extend(name.as_bytes());
            out.extend(content);
        }
        out
    }

    /// None if these are no such bytes.
    pub(super) fn from_bytes(mut bytes: &[u8]) -> Option<Self> {
        let mut snapshot = Snapshot::default();
        while let Some((kind, rest)) = bytes.split_first() {
            let (name_length, rest) = rest.split_first_chunk::<8>()?;
            let (content_length, rest) = rest.split_first_chunk::<8>()?;
            let (name, rest) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*name_length)).ok()?)?;
            let (content, rest) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*content_length)).ok()?)?;
            let name = std::str::from_utf8(name).ok()?.to_owned();
            match kind {
                b'd' => drop(snapshot.dirs.insert(name)),
                b'f' => drop(snapshot.files.insert(name, content.to_vec())),
                b'm' => drop(snapshot.modules.insert(name, std::str::from_utf8(content).ok()?.to_owned())),
                _ => return None,
            }
            bytes = rest;
        }
        Some(snapshot)
    }
}

/// A path as text. Names that are none are not read as configuration.
fn text(path: &Path) -> String {
    let text = path.to_string_lossy();
    if text.is_empty() { ".".to_owned() } else { text.strip_prefix("./").unwrap_or(&text).to_owned() }
}

fn key(request: &ModuleRequest<'_>) -> String {
    let names: Vec<&str> = request.path.iter().map(Str::as_str).collect();
    names.join(".")
}
