//! Zip archives.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};

use zip::read::ZipFile;
use zip::result::ZipError;

use super::error::ArchiveError;
use super::tree::Tree;

/// The bits of a Unix mode that say what kind of thing it is.
const KIND_MASK: u32 = 0o170_000;
const REGULAR: u32 = 0o100_000;
const DIRECTORY: u32 = 0o040_000;
const LINK: u32 = 0o120_000;
/// No target of a link is longer.
const MAX_TARGET: u64 = 4096;

pub(super) fn unpack(archive: &mut File, tree: &mut Tree<'_>) -> Result<(), ArchiveError> {
    // The directory of an archive is read into memory: it must not be larger than what we would unpack anyway.
    if promised_entries(archive)? > tree.limits().files {
        return Err(ArchiveError::TooMany { limit: tree.limits().files });
    }
    archive.rewind().map_err(ArchiveError::read)?;
    let mut archive = zip::ZipArchive::new(BufReader::new(&*archive)).map_err(damaged)?;
    if archive.has_duplicate_names() {
        let name = "a name that occurs twice".to_owned();
        return Err(ArchiveError::Collision { first: name.clone(), second: name });
    }
    for index in 0..archive.len() {
        unpack_entry(archive.by_index(index).map_err(damaged)?, tree)?;
    }
    Ok(())
}

/// How many entries the end of the archive promises at most. A comment can hold things that look like the record in
/// question, and readers disagree about which one counts, so that the largest number does.
fn promised_entries(archive: &mut File) -> Result<u64, ArchiveError> {
    const RECORD: usize = 22;
    const LOCATOR: usize = 20;
    let size = archive.seek(SeekFrom::End(0)).map_err(ArchiveError::read)?;
    let tail_length = size.min((u16::MAX as usize + RECORD + LOCATOR) as u64);
    archive.seek(SeekFrom::Start(size - tail_length)).map_err(ArchiveError::read)?;
    let mut tail = Vec::new();
    archive.take(tail_length).read_to_end(&mut tail).map_err(ArchiveError::read)?;
    let mut most = 0;
    for at in 0..tail.len().saturating_sub(RECORD - 1) {
        if !tail[at..].starts_with(b"PK\x05\x06") {
            continue;
        }
        most = most.max(u64::from(u16::from_le_bytes([tail[at + 10], tail[at + 11]])));
        let locator = at.checked_sub(LOCATOR).map(|start| &tail[start..at]);
        if let Some(locator) = locator.filter(|locator| locator.starts_with(b"PK\x06\x07")) {
            let mut offset = [0; 8];
            offset.copy_from_slice(&locator[8..16]);
            most = most.max(large_count(archive, u64::from_le_bytes(offset))?);
        }
    }
    Ok(most)
}

/// The number of entries in the record for large archives.
fn large_count(archive: &mut File, offset: u64) -> Result<u64, ArchiveError> {
    let mut record = [0; 40];
    archive.seek(SeekFrom::Start(offset)).map_err(ArchiveError::read)?;
    archive.read_exact(&mut record).map_err(ArchiveError::read)?;
    if !record.starts_with(b"PK\x06\x06") {
        return Err(ArchiveError::Damaged("the record about its size is not where it should be".to_owned()));
    }
    let mut count = [0; 8];
    count.copy_from_slice(&record[32..40]);
    Ok(u64::from_le_bytes(count))
}

fn unpack_entry<R: Read>(mut entry: ZipFile<'_, R>, tree: &mut Tree<'_>) -> Result<(), ArchiveError> {
    let name = entry.name_raw().to_vec();
    let mode = entry.unix_mode().unwrap_or(0);
    let by_name = if name.ends_with(b"/") { DIRECTORY } else { REGULAR };
    let kind = if mode & KIND_MASK == 0 { by_name } else { mode & KIND_MASK };
    match kind {
        DIRECTORY => tree.directory(&name),
        REGULAR if by_name == REGULAR => tree.file(&name, mode & 0o111 != 0, &mut entry),
        REGULAR => tree.directory(&name),
        LINK => {
            let mut target = Vec::new();
            entry.by_ref().take(MAX_TARGET).read_to_end(&mut target).map_err(ArchiveError::read)?;
            tree.symbolic_link(&name, &target)
        }
        _ => {
            let kind = "device, pipe or socket";
            Err(ArchiveError::Kind { name: String::from_utf8_lossy(&name).into_owned(), kind })
        }
    }
}

fn damaged(error: ZipError) -> ArchiveError {
    ArchiveError::Damaged(error.to_string())
}
