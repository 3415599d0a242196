//! Tar archives, after decompression.

use std::io::Read;

use tar::EntryType;

use super::error::ArchiveError;
use super::metered::Metered;
use super::tree::Tree;

/// What headers may take up between two files, long names and extended attributes included. The tar reader keeps them
/// in memory, so that an endless one would fill it.
const HEADER_ALLOWANCE: u64 = 256 << 10;

/// What may come after the last file: nothing but padding, whose size is a matter of taste.
const PADDING_ALLOWANCE: u64 = 4 << 20;

pub(super) fn unpack(stream: impl Read, tree: &mut Tree<'_>) -> Result<(), ArchiveError> {
    let (metered, allowance) = Metered::new(stream);
    let mut archive = tar::Archive::new(metered);
    let mut entries = archive.entries().map_err(ArchiveError::read)?;
    loop {
        allowance.set(HEADER_ALLOWANCE);
        let Some(entry) = entries.next() else { break };
        let mut entry = entry.map_err(ArchiveError::read)?;
        let name = entry.path_bytes().into_owned();
        let kind = entry.header().entry_type();
        match kind {
            EntryType::Regular | EntryType::Continuous => {
                // Very old archives mark directories by a slash only.
                if name.ends_with(b"/") {
                    tree.directory(&name)?;
                    continue;
                }
                let executable = entry.header().mode().is_ok_and(|mode| mode & 0o111 != 0);
                // Content has its own limit, which looks at what is written.
                allowance.set(u64::MAX);
                let promised = entry.size();
                let before = tree.unpacked().bytes;
                tree.file(&name, executable, &mut entry)?;
                let written = tree.unpacked().bytes - before;
                if written != promised {
                    let words =
                        format!("{:?} ends after {written} of {promised} bytes", String::from_utf8_lossy(&name));
                    return Err(ArchiveError::Damaged(words));
                }
            }
            EntryType::Directory => tree.directory(&name)?,
            EntryType::Symlink | EntryType::Link => {
                let target = entry.link_name_bytes().unwrap_or_default().into_owned();
                if kind == EntryType::Link {
                    tree.hard_link(&name, &target)?;
                } else {
                    tree.symbolic_link(&name, &target)?;
                }
            }
            // Remarks about the whole archive.
            EntryType::XGlobalHeader => tree.count()?,
            other => {
                let name = String::from_utf8_lossy(&name).into_owned();
                return Err(ArchiveError::Kind { name, kind: kind_name(other) });
            }
        }
    }
    // Compressed streams have their checksum at the very end, behind the padding.
    allowance.set(PADDING_ALLOWANCE);
    std::io::copy(&mut archive.into_inner(), &mut std::io::sink()).map_err(ArchiveError::read)?;
    Ok(())
}

fn kind_name(kind: EntryType) -> &'static str {
    match kind {
        EntryType::Char | EntryType::Block => "device",
        EntryType::Fifo => "named pipe",
        EntryType::GNUSparse => "sparse file",
        _ => "thing of an unknown kind",
    }
}
