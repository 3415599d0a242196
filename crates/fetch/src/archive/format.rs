//! Which kinds of archive there are, and how to tell them apart.

use std::fmt;
use std::io::{self, Read, Seek};

/// A kind of archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Format {
    Zip,
    Tar,
    TarGz,
    TarBz2,
    TarXz,
    /// A single file.
    Gz,
    /// A single file.
    Bz2,
    /// A single file.
    Xz,
}

/// Longer endings come before those that they end with.
const EXTENSIONS: [(&str, Format); 14] = [
    ("tar.gz", Format::TarGz),
    ("tgz", Format::TarGz),
    ("tar.bz2", Format::TarBz2),
    ("tar.tbz2", Format::TarBz2),
    ("tbz2", Format::TarBz2),
    ("tbz", Format::TarBz2),
    ("tar.xz", Format::TarXz),
    ("txz", Format::TarXz),
    ("tar", Format::Tar),
    ("zip", Format::Zip),
    ("gz", Format::Gz),
    ("bz2", Format::Bz2),
    ("xz", Format::Xz),
    ("bzip2", Format::Bz2),
];

impl Format {
    /// By an ending without its dot, as the `archive` parameter has it.
    pub fn of_extension(extension: &str) -> Option<Self> {
        EXTENSIONS.iter().find(|(known, _)| *known == extension).map(|(_, format)| *format)
    }

    /// By how a name ends.
    pub fn of_name(name: &str) -> Option<Self> {
        let ends = |extension: &str| name.strip_suffix(extension).is_some_and(|stem| stem.ends_with('.'));
        EXTENSIONS.iter().find(|(known, _)| ends(known)).map(|(_, format)| *format)
    }

    /// By how the bytes begin, for archives that hold directories. A compressed stream is taken for a tar archive.
    pub fn sniff(archive: &mut (impl Read + Seek)) -> io::Result<Option<Self>> {
        archive.rewind()?;
        let mut start = Vec::new();
        archive.by_ref().take(512).read_to_end(&mut start)?;
        archive.rewind()?;
        let magic = |at: usize, bytes: &[u8]| start.get(at..).is_some_and(|rest| rest.starts_with(bytes));
        Ok(if magic(0, b"PK\x03\x04") || magic(0, b"PK\x05\x06") {
            Some(Self::Zip)
        } else if magic(0, &[0x1f, 0x8b]) {
            Some(Self::TarGz)
        } else if magic(0, &[0xfd, b'7', b'z', b'X', b'Z', 0]) {
            Some(Self::TarXz)
        } else if magic(0, b"BZh") {
            Some(Self::TarBz2)
        } else if magic(257, b"ustar") {
            Some(Self::Tar)
        } else {
            None
        })
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = EXTENSIONS.iter().find(|(_, format)| format == self).map(|(name, _)| *name);
        f.write_str(name.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_ending_counts() {
        assert_eq!(Format::of_name("/a/b.tar.gz"), Some(Format::TarGz));
        assert_eq!(Format::of_name("/a/b.gz"), Some(Format::Gz));
        assert_eq!(Format::of_name("/a/b.tgz"), Some(Format::TarGz));
        assert_eq!(Format::of_name("/a/b.tar.xz"), Some(Format::TarXz));
        assert_eq!(Format::of_name("/a/zip"), None);
        assert_eq!(Format::of_name("/a/b.git"), None);
        assert_eq!(Format::of_extension("tbz2"), Some(Format::TarBz2));
        assert_eq!(Format::of_extension("rar"), None);
        assert_eq!(Format::TarXz.to_string(), "tar.xz");
        assert_eq!(Format::Xz.to_string(), "xz");
    }

    #[test]
    fn bytes_tell_their_format() {
        let sniff = |bytes: &[u8]| Format::sniff(&mut io::Cursor::new(bytes.to_vec())).unwrap();
        assert_eq!(sniff(b"PK\x03\x04rest"), Some(Format::Zip));
        assert_eq!(sniff(&[0x1f, 0x8b, 8]), Some(Format::TarGz));
        assert_eq!(sniff(b"BZh9"), Some(Format::TarBz2));
        assert_eq!(sniff(b""), None);
        assert_eq!(sniff(b"<html>"), None);
    }
}
