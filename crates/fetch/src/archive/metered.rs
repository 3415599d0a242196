//! Decompression, and a reader that stops when more is read than the caller allowed for the step it is at.

use std::cell::Cell;
use std::io::{self, BufRead, Read};
use std::rc::Rc;

use super::format::Format;

/// The largest dictionary that the strongest usual setting of xz needs, with room for the rest.
const XZ_MEMORY_KIB: u32 = 96 << 10;

/// A reader of what is inside a compressed stream. Streams after the first are read too, as the usual tools do.
pub(super) fn decompressor<'a>(archive: impl BufRead + 'a, format: Format) -> Box<dyn Read + 'a> {
    match format {
        Format::TarGz | Format::Gz => Box::new(flate2::bufread::MultiGzDecoder::new(archive)),
        Format::TarBz2 | Format::Bz2 => Box::new(bzip2::bufread::MultiBzDecoder::new(archive)),
        Format::TarXz | Format::Xz => Box::new(lzma_rust2::XzReader::new_mem_limit(archive, true, XZ_MEMORY_KIB)),
        Format::Zip | Format::Tar => Box::new(archive),
    }
}

/// How many more bytes may be read. Shared with the reader that counts them.
#[derive(Debug, Clone, Default)]
pub(super) struct Allowance(Rc<Cell<u64>>);

impl Allowance {
    pub(super) fn set(&self, bytes: u64) {
        self.0.set(bytes);
    }
}

/// Reads within an allowance.
pub(super) struct Metered<R> {
    inner: R,
    allowance: Allowance,
}

impl<R: Read> Metered<R> {
    pub(super) fn new(inner: R) -> (Self, Allowance) {
        let allowance = Allowance::default();
        (Self { inner, allowance: allowance.clone() }, allowance)
    }
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.allowance.0.get();
        if left == 0 && !buffer.is_empty() {
            return Err(io::Error::other("a header or the padding is larger than any real one"));
        }
        let most = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
        let count = self.inner.read(&mut buffer[..most])?;
        self.allowance.set(left - count as u64);
        Ok(count)
    }
}
