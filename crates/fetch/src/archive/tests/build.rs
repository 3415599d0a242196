//! Archives made by hand, so that they can be as wrong as one likes.

use std::io::Write;

/// Something in an archive.
#[derive(Debug, Clone)]
pub(super) enum Thing {
    File(Vec<u8>, Vec<u8>, u32),
    Directory(Vec<u8>),
    Symlink(Vec<u8>, Vec<u8>),
    Hardlink(Vec<u8>, Vec<u8>),
    /// A tar type, with a Unix kind for zip.
    Special(Vec<u8>, u8, u32),
}

pub(super) fn file(name: &str, content: &str) -> Thing {
    Thing::File(name.into(), content.into(), 0o644)
}

pub(super) fn directory(name: &str) -> Thing {
    Thing::Directory(name.into())
}

pub(super) fn symlink(name: &str, target: &str) -> Thing {
    Thing::Symlink(name.into(), target.into())
}

pub(super) fn hardlink(name: &str, target: &str) -> Thing {
    Thing::Hardlink(name.into(), target.into())
}

/// One tar header with its content.
pub(super) fn tar_entry(name: &[u8], kind: u8, mode: u32, link: &[u8], content: &[u8]) -> Vec<u8> {
    if name.len() > 100 {
        let long = tar_entry(b"././@LongLink", b'L', 0, b"", &[name, b"\0"].concat());
        return [long, tar_entry(&name[..100], kind, mode, link, content)].concat();
    }
    if link.len() > 100 {
        let long = tar_entry(b"././@LongLink", b'K', 0, b"", &[link, b"\0"].concat());
        return [long, tar_entry(name, kind, mode, &link[..100], content)].concat();
    }
    let mut header = [0_u8; 512];
    header[..name.len()].copy_from_slice(name);
    header[100..108].copy_from_slice(format!("{mode:07o}\0").as_bytes());
    header[108..116].copy_from_slice(b"0000000\0");
    header[116..124].copy_from_slice(b"0000000\0");
    header[124..136].copy_from_slice(format!("{:011o}\0", content.len()).as_bytes());
    header[136..148].copy_from_slice(b"00000000000\0");
    header[148..156].copy_from_slice(b"        ");
    header[156] = kind;
    header[157..157 + link.len()].copy_from_slice(link);
    header[257..265].copy_from_slice(b"ustar  \0");
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    let padding = vec![0; content.len().next_multiple_of(512) - content.len()];
    [&header[..], content, &padding].concat()
}

pub(super) fn tar(things: &[Thing]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for thing in things {
        bytes.extend(match thing {
            Thing::File(name, content, mode) => tar_entry(name, b'0', *mode, b"", content),
            Thing::Directory(name) => tar_entry(name, b'5', 0o755, b"", b""),
            Thing::Symlink(name, target) => tar_entry(name, b'2', 0o777, target, b""),
            Thing::Hardlink(name, target) => tar_entry(name, b'1', 0o644, target, b""),
            Thing::Special(name, kind, _) => tar_entry(name, *kind, 0o644, b"", b""),
        });
    }
    bytes.extend([0; 1024]);
    bytes
}

/// A zip archive with everything stored or deflated as given.
#[derive(Default)]
pub(super) struct Zip {
    pub(super) bytes: Vec<u8>,
    pub(super) directory: Vec<u8>,
    pub(super) entries: u16,
}

impl Zip {
    /// Adds the data once; the directory may point to it several times.
    pub(super) fn data(&mut self, name: &[u8], content: &[u8], deflate: bool) -> Stored {
        let offset = self.bytes.len() as u32;
        let packed = if deflate { deflated(content) } else { content.to_vec() };
        let stored =
            Stored { offset, crc: crc(content), packed: packed.len() as u32, size: content.len() as u32, deflate };
        self.bytes.extend(b"PK\x03\x04");
        self.bytes.extend([20, 0, 0, 0, u8::from(deflate) * 8, 0, 0, 0, 0x21, 0]);
        for number in [stored.crc, stored.packed, stored.size] {
            self.bytes.extend(number.to_le_bytes());
        }
        self.bytes.extend((name.len() as u16).to_le_bytes());
        self.bytes.extend([0, 0]);
        self.bytes.extend(name);
        self.bytes.extend(packed);
        stored
    }

    pub(super) fn entry(&mut self, name: &[u8], mode: u32, stored: Stored) {
        self.entries += 1;
        self.directory.extend(b"PK\x01\x02");
        // Made on Unix, so that the mode counts.
        self.directory.extend([20, 3, 20, 0, 0, 0, u8::from(stored.deflate) * 8, 0, 0, 0, 0x21, 0]);
        for number in [stored.crc, stored.packed, stored.size] {
            self.directory.extend(number.to_le_bytes());
        }
        self.directory.extend((name.len() as u16).to_le_bytes());
        self.directory.extend([0; 8]);
        self.directory.extend((mode << 16).to_le_bytes());
        self.directory.extend(stored.offset.to_le_bytes());
        self.directory.extend(name);
    }

    pub(super) fn finish(self) -> Vec<u8> {
        let mut end = b"PK\x05\x06\0\0\0\0".to_vec();
        end.extend(self.entries.to_le_bytes());
        end.extend(self.entries.to_le_bytes());
        end.extend((self.directory.len() as u32).to_le_bytes());
        end.extend((self.bytes.len() as u32).to_le_bytes());
        end.extend([0, 0]);
        [self.bytes, self.directory, end].concat()
    }
}

/// Where data is in a zip archive.
#[derive(Clone, Copy)]
pub(super) struct Stored {
    pub(super) offset: u32,
    pub(super) crc: u32,
    pub(super) packed: u32,
    pub(super) size: u32,
    pub(super) deflate: bool,
}

pub(super) fn zip(things: &[Thing]) -> Vec<u8> {
    let mut zip = Zip::default();
    for thing in things {
        let (name, content, mode) = match thing {
            Thing::File(name, content, mode) => (name, content.clone(), 0o100_000 | mode),
            Thing::Directory(name) => (name, Vec::new(), 0o040_755),
            // Zip has no hard links; it is a file then.
            Thing::Symlink(name, target) | Thing::Hardlink(name, target) => (name, target.clone(), 0o120_777),
            Thing::Special(name, _, kind) => (name, Vec::new(), *kind),
        };
        let stored = zip.data(name, &content, content.len() > 100);
        zip.entry(name, mode, stored);
    }
    zip.finish()
}

fn crc(content: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(content);
    crc.sum()
}

pub(super) fn deflated(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

pub(super) fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

pub(super) fn bzip2(content: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

pub(super) fn xz(content: &[u8]) -> Vec<u8> {
    let options = lzma_rust2::XzOptions::with_preset(1);
    let mut encoder = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}
