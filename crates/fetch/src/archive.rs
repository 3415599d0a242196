//! Unpacking archives that somebody else made. Everything is streamed, nothing is written outside the directory, sizes
//! and numbers have limits, and whatever is not a plain file, directory or harmless link is refused.

mod error;
mod format;
mod metered;
mod names;
mod tarball;
mod tree;
mod zipped;

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

pub use error::ArchiveError;
pub use format::Format;

use crate::staging::Staging;
use metered::decompressor;
use tree::Tree;

/// What an archive may unpack to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// All files together.
    pub bytes: u64,
    /// Files, directories and links together.
    pub files: u64,
    /// How many times larger than the archive the files may be.
    pub ratio: u64,
    /// Below this many bytes the ratio does not count: small files compress very well.
    pub ratio_from: u64,
    /// Directories inside directories.
    pub depth: usize,
}

impl Limits {
    /// For modules and other sources.
    pub const SOURCE: Self = Self { bytes: 512 << 20, files: 50_000, ratio: 100, ratio_from: 1 << 20, depth: 64 };
    /// For provider packages: few files, large programs.
    pub const PROVIDER: Self = Self { bytes: 4 << 30, files: 50_000, ratio: 100, ratio_from: 64 << 20, depth: 64 };

    /// How many bytes may come out of an archive of this size.
    fn budget(&self, archive: u64) -> u64 {
        archive.saturating_mul(self.ratio).max(self.ratio_from).min(self.bytes)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::SOURCE
    }
}

/// What was unpacked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Unpacked {
    /// Files, directories and links.
    pub files: u64,
    /// All files together.
    pub bytes: u64,
}

/// Unpacks an archive into a directory that must not exist yet (or be empty). If anything is wrong with the archive,
/// nothing is left behind.
pub fn unpack(
    archive: &mut File,
    format: Format,
    destination: &Path,
    limits: &Limits,
) -> Result<Unpacked, ArchiveError> {
    let staging = Staging::beside(destination).map_err(ArchiveError::write(destination))?;
    let dir = Dir::open_ambient_dir(staging.path(), ambient_authority()).map_err(ArchiveError::write(destination))?;
    let unpacked = unpack_into(archive, format, &dir, limits)?;
    drop(dir);
    staging.publish().map_err(ArchiveError::write(destination))?;
    Ok(unpacked)
}

/// Unpacks an archive into an open, empty directory. After an error, part of it may be there: the caller removes it.
pub fn unpack_into(
    archive: &mut File,
    format: Format,
    directory: &Dir,
    limits: &Limits,
) -> Result<Unpacked, ArchiveError> {
    let size = archive.seek(SeekFrom::End(0)).map_err(ArchiveError::read)?;
    archive.rewind().map_err(ArchiveError::read)?;
    let mut tree = Tree::new(directory, limits, limits.budget(size));
    match format {
        Format::Zip => zipped::unpack(archive, &mut tree)?,
        Format::Tar | Format::TarGz | Format::TarBz2 | Format::TarXz => {
            tarball::unpack(decompressor(BufReader::new(archive), format), &mut tree)?;
        }
        Format::Gz | Format::Bz2 | Format::Xz => return Err(ArchiveError::SingleFile(format)),
    }
    if tree.unpacked().files == 0 {
        return Err(ArchiveError::Empty);
    }
    Ok(tree.unpacked())
}

/// Unpacks a single compressed file. Returns how many bytes were written.
pub fn decompress(
    archive: &mut File,
    format: Format,
    output: &mut impl Write,
    limits: &Limits,
) -> Result<u64, ArchiveError> {
    if !matches!(format, Format::Gz | Format::Bz2 | Format::Xz) {
        return Err(ArchiveError::NotSingleFile(format));
    }
    let size = archive.seek(SeekFrom::End(0)).map_err(ArchiveError::read)?;
    archive.rewind().map_err(ArchiveError::read)?;
    let budget = limits.budget(size);
    let mut reader = decompressor(BufReader::new(archive), format);
    let mut buffer = vec![0; 64 << 10];
    let mut written: u64 = 0;
    loop {
        let count = reader.read(&mut buffer).map_err(ArchiveError::read)?;
        if count == 0 {
            return Ok(written);
        }
        written = written.saturating_add(count as u64);
        if written > budget {
            return Err(ArchiveError::TooLarge { limit: budget });
        }
        output.write_all(&buffer[..count]).map_err(ArchiveError::write(Path::new("the file")))?;
    }
}

#[cfg(test)]
mod tests;
