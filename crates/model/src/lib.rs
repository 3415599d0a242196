//! The nouns under everything: spans, diagnostics, addresses, types, values, paths, schemas and their codecs.
//!
//! No IO, no async, no clock. Start with [`value::Value`] and [`diag::Diagnostic`].

pub mod address;
pub mod codec;
pub mod convert;
pub mod diag;
pub mod mark;
pub mod number;
pub mod path;
pub mod schema;
pub mod secrets;
pub mod span;
pub mod text;
pub mod ty;
pub mod value;
pub mod version;
