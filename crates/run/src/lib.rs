//! One session: where files, environment and inputs come from, and what is done with a configuration.
//!
//! Nothing here prints. Start with [`session::Session`].

pub mod backend;
pub mod cli_config;
pub mod console;
pub mod disk;
pub mod inputs;
pub mod lock_file;
pub mod modules;
pub mod online;
pub mod operate;
pub mod outside;
pub mod providers;
pub mod provisioners;
pub mod saved_plan;
pub mod session;
pub mod showing;
pub mod state_access;
pub mod state_edit;
pub mod testing;
pub mod view;

/// How transfers tell how far they are; for those who show it.
pub mod progress {
    pub use groma_fetch::progress::{Progress, Silent};
}

/// What plans and changes are, for those who show them.
pub mod engine {
    pub use groma_engine::{apply, change, checks, events, execution, interrupt, pending, plan, provision, report};
    pub use groma_provider::api::ImportTarget;
}

/// What is remembered, for those who show it.
pub mod state {
    pub use groma_state::*;
}
