//! One session: where files, environment and inputs come from, and what is done with a configuration.
//!
//! Nothing here prints. Start with [`session::Session`].

pub mod console;
pub mod disk;
pub mod inputs;
pub mod outside;
pub mod session;
pub mod view;
