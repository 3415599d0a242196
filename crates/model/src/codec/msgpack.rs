//! MessagePack, as values travel between the engine and its providers.
//!
//! Unknown values are extensions: type 0 for those of which nothing is known, type 12 with a small map for refined ones.

mod read;
mod write;

#[cfg(test)]
mod tests;

pub use read::decode;
pub use write::encode;

/// Extension type of an unknown value of which nothing is known.
const UNKNOWN: i8 = 0;
/// Extension type of an unknown value of which something is known.
const REFINED: i8 = 12;
/// A refinement of more bytes is refused, as no honest one needs them.
const MAX_REFINEMENT: usize = 1024;
/// A longer prefix is cut before it is sent.
const MAX_PREFIX: usize = 256;

/// The keys of a refinement.
mod refinement_key {
    pub(super) const NULLNESS: i64 = 1;
    pub(super) const PREFIX: i64 = 2;
    pub(super) const NUMBER_LOWER: i64 = 3;
    pub(super) const NUMBER_UPPER: i64 = 4;
    pub(super) const LENGTH_LOWER: i64 = 5;
    pub(super) const LENGTH_UPPER: i64 = 6;
}
