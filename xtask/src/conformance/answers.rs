//! What the peers answered in earlier runs, kept below the target directory. The key is all that an
//! answer depends on: the program's version, the files it saw and the input.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use sha2::{Digest as _, Sha256};

use super::program::Program;
use super::scratch;

/// Answers of one corpus.
pub(super) struct Answers {
    file: PathBuf,
    known: BTreeMap<String, String>,
}

impl Answers {
    /// Reads what earlier runs kept; a file that cannot be read is as good as none.
    pub(super) fn load(suite: &str) -> Result<Self> {
        let file = scratch::root()?.join(format!("answers-{suite}.json"));
        let known = std::fs::read_to_string(&file).ok().and_then(|text| serde_json::from_str(&text).ok());
        Ok(Self { file, known: known.unwrap_or_default() })
    }

    /// Keeps everything for later runs.
    pub(super) fn save(&self) -> Result<()> {
        let text = serde_json::to_string_pretty(&self.known)?;
        let unfinished = self.file.with_extension(format!("{}.tmp", std::process::id()));
        std::fs::write(&unfinished, text).with_context(|| format!("cannot write {}", unfinished.display()))?;
        std::fs::rename(&unfinished, &self.file).context("cannot move the answers into place")
    }

    pub(super) fn get(&self, key: &str) -> Option<&str> {
        self.known.get(key).map(String::as_str)
    }

    pub(super) fn put(&mut self, key: String, answer: String) {
        self.known.insert(key, answer);
    }
}

/// The key of an answer.
pub(super) fn key(program: &Program, parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    for part in [program.name.as_bytes(), program.version.as_bytes()].iter().chain(parts) {
        // Lengths keep apart what concatenation would make equal.
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hex(&hash.finalize())
}

/// A hash over the names and contents of all files below a directory.
pub(super) fn hash_tree(dir: &Path) -> Result<String> {
    let mut hash = Sha256::new();
    hash_into(&mut hash, dir)?;
    Ok(hex(&hash.finalize()))
}

fn hash_into(hash: &mut Sha256, dir: &Path) -> Result<()> {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(dir)?.map(|entry| Ok(entry?.path())).collect::<Result<_, std::io::Error>>()?;
    entries.sort();
    for path in entries {
        hash.update(path.file_name().unwrap_or_default().as_encoded_bytes());
        hash.update([0]);
        if path.is_dir() {
            hash_into(hash, &path)?;
        } else {
            let content = std::fs::read(&path)?;
            hash.update((content.len() as u64).to_le_bytes());
            hash.update(content);
        }
    }
    hash.update([1]);
    Ok(())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
