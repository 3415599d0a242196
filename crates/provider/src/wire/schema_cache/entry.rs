//! One entry: a header that says what it is, and the plugin's answers as they arrived.
//!
//! `groma schema 1\n`, protocol (4 bytes), length of the schemas (8 bytes), length of the identity schemas (8 bytes), the
//! SHA-256 of all that and of what follows (32 bytes), then both answers. Numbers are big endian.

use bytes::Bytes;
use sha2::{Digest as _, Sha256};

use crate::wire::handshake::ProtocolVersion;
use crate::wire::plugin::{PluginSchema, RawSchema};

/// The number counts up when older entries cannot be used any more.
const MAGIC: &[u8] = b"groma schema 1\n";
const LENGTHS: usize = 4 + 8 + 8;
const CHECKSUM: usize = 32;

/// Why an entry cannot be used.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(super) enum EntryError {
    /// Something else, or of another version.
    #[error("not an entry of this version")]
    Foreign,
    /// Not what was written.
    #[error("damaged")]
    Damaged,
}

/// An entry's header, and the parts that follow it.
pub(super) struct Entry {
    header: Vec<u8>,
    raw: RawSchema,
}

impl Entry {
    /// What to write, in order.
    pub(super) fn parts(&self) -> [&[u8]; 3] {
        [&self.header, &self.raw.schemas, &self.raw.identities]
    }
}

/// Makes an entry.
pub(super) fn write(schema: &PluginSchema) -> Entry {
    let raw = schema.raw().clone();
    let mut header = MAGIC.to_vec();
    header.extend(schema.protocol().number().to_be_bytes());
    header.extend((raw.schemas.len() as u64).to_be_bytes());
    header.extend((raw.identities.len() as u64).to_be_bytes());
    let sum = checksum(&header, &[&raw.schemas, &raw.identities]);
    header.extend(sum);
    Entry { header, raw }
}

/// Reads an entry.
pub(super) fn read(entry: Bytes) -> Result<PluginSchema, EntryError> {
    let rest = entry.strip_prefix(MAGIC).ok_or(EntryError::Foreign)?;
    let (lengths, rest) = rest.split_at_checked(LENGTHS).ok_or(EntryError::Damaged)?;
    let (sum, body) = rest.split_at_checked(CHECKSUM).ok_or(EntryError::Damaged)?;
    let (protocol, lengths) = lengths.split_first_chunk::<4>().ok_or(EntryError::Damaged)?;
    let (schemas, _) = lengths.split_first_chunk::<8>().ok_or(EntryError::Damaged)?;
    let header = &entry[..MAGIC.len() + LENGTHS];
    if checksum(header, &[body]) != *sum {
        return Err(EntryError::Damaged);
    }
    let protocol = ProtocolVersion::from_number(u32::from_be_bytes(*protocol)).ok_or(EntryError::Foreign)?;
    let at = usize::try_from(u64::from_be_bytes(*schemas)).ok().filter(|at| *at <= body.len());
    let at = at.ok_or(EntryError::Damaged)? + MAGIC.len() + LENGTHS + CHECKSUM;
    let raw = RawSchema { schemas: entry.slice(MAGIC.len() + LENGTHS + CHECKSUM..at), identities: entry.slice(at..) };
    let (schema, diagnostics) = PluginSchema::read(protocol, raw).map_err(|_| EntryError::Damaged)?;
    if diagnostics.has_errors() { Err(EntryError::Foreign) } else { Ok(schema) }
}

fn checksum(header: &[u8], body: &[&[u8]]) -> [u8; CHECKSUM] {
    let mut hash = Sha256::new();
    hash.update(header);
    for part in body {
        hash.update(part);
    }
    hash.finalize().into()
}
