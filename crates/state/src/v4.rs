//! The version 4 format of state files. What it has no field for is ignored on reading, as the other tools do.

mod decode;
mod encode;
mod writer;

#[cfg(test)]
mod tests;

pub(crate) use decode::{decode, decode_object, provider_config};
pub(crate) use encode::write_object;
pub use encode::{EncodeError, encode};
pub(crate) use writer::Writer;

/// How a state is laid out as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// For files that people look at.
    Indented,
    /// For everything else.
    Compact,
}
