//! gzip with exactly the bytes that Go's `compress/gzip` writes at its default level when flushed and closed.
//!
//! Compressed text ends up in arguments that force a replacement when they change, so the bytes must be those that the
//! other tools would write, not merely ones that unpack to the same text. [`mod@matches`] decides how text is divided into
//! literals and repetitions, [`block`] how those are coded. Unpacking is left to `flate2`.

mod block;
mod codes;
mod matches;

use block::BlockWriter;

/// What unpacking may give at most.
const MAX_UNPACKED: u64 = 512 << 20;

/// Packs bytes.
pub(super) fn compress(input: &[u8]) -> Vec<u8> {
    // Deflate, no flags, no time, no hint about the level, unknown operating system.
    let header = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
    let mut writer = BlockWriter::new(header.to_vec());
    matches::deflate(input, &mut writer);
    // A flush ends with an empty block, and so does the stream.
    writer.stored(&[], false);
    writer.stored(&[], true);
    let mut packed = writer.finish();
    let mut checksum = flate2::Crc::new();
    checksum.update(input);
    packed.extend_from_slice(&checksum.sum().to_le_bytes());
    packed.extend_from_slice(&(input.len() as u32).to_le_bytes());
    packed
}

/// Whether a stream begins as it should; otherwise what is wrong, in the words of Go.
pub(super) fn check_header(packed: &[u8]) -> Result<(), &'static str> {
    match packed {
        [] => Err("EOF"),
        [0x1f, 0x8b, 8, ..] if packed.len() >= 10 => Ok(()),
        _ if packed.len() < 10 => Err("unexpected EOF"),
        _ => Err("gzip: invalid header"),
    }
}

/// Unpacks bytes; one stream may follow another. Otherwise says what is wrong, in the words of Go.
pub(super) fn decompress(packed: &[u8]) -> Result<Vec<u8>, &'static str> {
    use std::io::Read as _;
    let mut unpacked = Vec::new();
    let mut reader = flate2::bufread::MultiGzDecoder::new(packed).take(MAX_UNPACKED + 1);
    match reader.read_to_end(&mut unpacked) {
        Ok(read) if read as u64 > MAX_UNPACKED => Err("the unpacked text is too long"),
        Ok(_) => Ok(unpacked),
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Err("unexpected EOF"),
        Err(error) if error.to_string().contains("header") => Err("gzip: invalid header"),
        Err(error) if error.to_string().contains("checksum") => Err("gzip: invalid checksum"),
        Err(_) => Err("flate: corrupt input"),
    }
}

#[cfg(test)]
mod tests;
