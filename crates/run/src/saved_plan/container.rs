//! The file around the parts: a heading, a table of contents with checksums, and the parts one after the other.
//!
//! Checksums find what broke and what somebody edited. They are no signature: who can write the file can write another one, with
//! another id.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::recognise::{self, FileKind};

/// What every file begins with.
pub(super) const MAGIC: &[u8] = b"groma plan\n";
/// Counts up with every change of this layout.
const FORMAT: u32 = 1;
/// The part that says when the plan was made and by whom. Not in the id: the same plan made again is the same plan.
pub(super) const ABOUT: &str = "about";

/// A part of the file.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
}

/// All parts.
pub(super) struct Container {
    parts: Vec<Part>,
}

/// The table of contents.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    groma_version: String,
    id: String,
    parts: Vec<Entry>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    bytes: usize,
    sha256: String,
}

impl Container {
    pub(super) fn new(parts: Vec<Part>) -> Self {
        Self { parts }
    }

    /// A part by name.
    pub(super) fn part(&self, name: &str) -> Result<&[u8], String> {
        let found = self.parts.iter().find(|part| part.name == name);
        found.map(|part| part.bytes.as_slice()).ok_or_else(|| format!("The plan file has no part {name:?}."))
    }

    /// A hash of all parts that make the plan what it is.
    pub(super) fn id(&self) -> String {
        let entries = self.parts.iter().map(|part| (part.name.as_str(), sha256(&part.bytes)));
        id_of(entries)
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let entry =
            |part: &Part| Entry { name: part.name.clone(), bytes: part.bytes.len(), sha256: sha256(&part.bytes) };
        let table = Table {
            groma_version: super::GROMA_VERSION.to_owned(),
            id: self.id(),
            parts: self.parts.iter().map(entry).collect(),
        };
        // Strings and numbers always have a text.
        let table = serde_json::to_vec(&table).unwrap_or_default();
        let mut bytes = MAGIC.to_vec();
        bytes.extend(FORMAT.to_le_bytes());
        bytes.extend((table.len() as u64).to_le_bytes());
        bytes.extend(Sha256::digest(&table));
        bytes.extend(&table);
        self.parts.iter().for_each(|part| bytes.extend(&part.bytes));
        bytes
    }

    /// Reads a file and checks every part of it.
    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        let Some(rest) = bytes.strip_prefix(MAGIC) else {
            return Err(recognise::complaint(recognise::recognise(bytes)));
        };
        let (format, rest) = take::<4>(rest)?;
        let format = u32::from_le_bytes(format);
        if format != FORMAT {
            return Err(format!(
                "The plan file has format {format}, and this version of groma reads format {FORMAT}. Plan files cannot be \
                 used by another version than the one that made them; make a new plan."
            ));
        }
        let (length, rest) = take::<8>(rest)?;
        let (digest, rest) = take::<32>(rest)?;
        let length = usize::try_from(u64::from_le_bytes(length)).map_err(|_| damaged("table of contents"))?;
        let (table, rest) = rest.split_at_checked(length).ok_or_else(|| damaged("table of contents"))?;
        if <[u8; 32]>::from(Sha256::digest(table)) != digest {
            return Err(damaged("table of contents"));
        }
        let table: Table = serde_json::from_slice(table).map_err(|_| damaged("table of contents"))?;
        if table.groma_version != super::GROMA_VERSION {
            return Err(format!(
                "The plan file was made by groma {}, and this is {}. Plan files cannot be used by another version than the \
                 one that made them; make a new plan.",
                table.groma_version,
                super::GROMA_VERSION
            ));
        }
        Self::parts_of(&table, rest)
    }

    fn parts_of(table: &Table, mut rest: &[u8]) -> Result<Self, String> {
        let mut parts = Vec::new();
        for Entry { name, bytes, sha256: expected } in &table.parts {
            let (taken, behind) = rest.split_at_checked(*bytes).ok_or_else(|| damaged(name))?;
            if sha256(taken) != *expected {
                return Err(damaged(name));
            }
            rest = behind;
            parts.push(Part { name: name.clone(), bytes: taken.to_vec() });
        }
        if !rest.is_empty() {
            return Err("The plan file was changed after it was written: there is something behind its end.".to_owned());
        }
        let container = Self { parts };
        if container.id() != table.id {
            return Err(damaged("id"));
        }
        Ok(container)
    }
}

/// What to say of a part whose checksum is wrong.
fn damaged(part: &str) -> String {
    format!(
        "The plan file was changed or damaged after it was written: its part {part:?} is not what it was. It cannot be used; \
         make a new plan."
    )
}

fn id_of<'p>(parts: impl Iterator<Item = (&'p str, String)>) -> String {
    let mut listed = String::from("groma plan\n");
    for (name, digest) in parts.filter(|(name, _)| *name != ABOUT) {
        // Writing to a string does not fail.
        let _ = writeln!(listed, "{name} {digest}");
    }
    sha256(listed.as_bytes())
}

fn take<const N: usize>(bytes: &[u8]) -> Result<([u8; N], &[u8]), String> {
    let (taken, rest) = bytes.split_first_chunk::<N>().ok_or_else(|| damaged("heading"))?;
    Ok((*taken, rest))
}

/// As 64 hexadecimal digits.
pub(super) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Writes a file that only its owner can read, since plans hold secrets. Readers see the old or the new one, never a part.
pub(super) fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // Whoever writes to a device or a pipe means it.
    if std::fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir()) {
        return std::fs::write(path, bytes);
    }
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Files of this kind are made for their owner alone.
    let mut file = tempfile::Builder::new().prefix(".groma-").tempfile_in(dir)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

/// Whether a file is one of ours.
pub(super) fn is_ours(bytes: &[u8]) -> Option<FileKind> {
    bytes.starts_with(MAGIC).then_some(FileKind::GromaPlan)
}
