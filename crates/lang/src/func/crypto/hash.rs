//! The hashes that functions on texts and on files share.

use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha512};

use super::super::encoding::base64;

/// A hash.
#[derive(Debug, Clone, Copy)]
pub(in super::super) enum Hash {
    Md5,
    Sha1,
    Sha256,
    Sha512,
}

/// How a hash is written.
#[derive(Debug, Clone, Copy)]
pub(in super::super) enum Encoding {
    Hex,
    Base64,
}

impl Hash {
    /// The hash of bytes, as text.
    pub(in super::super) fn of(self, bytes: &[u8], encoding: Encoding) -> String {
        let digest = match self {
            Hash::Md5 => Md5::digest(bytes).to_vec(),
            Hash::Sha1 => Sha1::digest(bytes).to_vec(),
            Hash::Sha256 => Sha256::digest(bytes).to_vec(),
            Hash::Sha512 => Sha512::digest(bytes).to_vec(),
        };
        match encoding {
            Encoding::Hex => hex(&digest),
            Encoding::Base64 => base64::encode(&digest),
        }
    }
}

/// Bytes as hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(value.into(), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}
