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
pub mod source;
pub mod state_access;
pub mod state_edit;
pub mod testing;
pub mod view;

pub use online::trace;
pub use view::showing;

/// Where files may be, for those who hand in configurations of others.
pub mod confines {
    pub use groma_kit::confines::{Confines, Ledger};
}

/// How transfers tell how far they are; for those who show it.
pub mod progress {
    pub use groma_fetch::progress::{Progress, Silent};
}

/// What plans and changes are, for those who show them.
pub mod engine {
    pub use groma_engine::{
        apply, change, checks, events, execution, interrupt, pending, plan, provision, replacement, report,
    };
    pub use groma_provider::api::ImportTarget;
}

/// Rules about the order of replacements, for those who say or show something about them.
pub mod rules {
    pub use groma_rules::replace::ReplaceRules;
    pub use groma_rules::replace::catalogue::Catalogue;
    pub use groma_rules::replace::docs::{
        Documented, Options as DocsOptions, json as docs_json, markdown as docs_markdown, plain as docs_plain,
    };
    pub use groma_rules::replace::eval::clean;
    pub use groma_rules::replace::problem::Code;
    pub use groma_rules::replace::rule::{Behavior, Mode, Order, Origin, ReplaceRule};
    pub use groma_rules::replace::trial::{Difference, Trial, Tried};
}

/// What is remembered, for those who show it.
pub mod state {
    pub use groma_state::*;
}
