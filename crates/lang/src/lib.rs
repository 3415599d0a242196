//! The configuration language: module tree, expressions, functions, expansion and validation. No IO: files, clock and randomness are passed in.
//!
//! Start with [`eval`] for how an expression becomes a value and [`func`] for the functions it may call.

pub mod builtin_schema;
pub mod config;
pub mod decode;
mod deprecation;
pub mod display;
pub mod environment;
pub mod eval;
pub mod func;
pub mod graph;
pub mod load;
mod merge;
pub mod oracle;
pub mod places;
pub mod provisioners;
pub mod refs;
pub mod static_eval;
pub mod typeexpr;
pub mod walk;
pub mod written;
