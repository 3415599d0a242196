//! Fetching from outside: git, archives and http(s), hardened against hostile content. Knows nothing of the language.
//!
//! Whatever arrives here was written by somebody else: sizes, names, links and redirects are judged before they are
//! followed, everything is streamed, and a destination appears whole or not at all.

pub mod address;
pub mod archive;
pub mod credentials;
pub mod dirhash;
pub mod discovery;
pub mod git;
pub mod host;
pub mod http;
mod links;
pub mod netrc;
pub mod oauth;
pub mod package;
pub mod progress;
pub mod redact;
pub mod registry;
pub mod staging;
