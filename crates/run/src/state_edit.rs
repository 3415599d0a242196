//! Edits of a state that need neither configuration nor providers: what an address stands for in it, moving, removing,
//! tainting, other providers. They change a state in memory; reading, locking and saving it is the caller's business.
//!
//! An edit that fails may leave the state half done: whoever made it drops the state then, and saves nothing.

mod differences;
mod find;
mod moving;
mod provider;
mod remove;
mod taint;

#[cfg(test)]
mod testing;

use groma_model::address::AddressError;
use groma_model::diag::Diagnostic;

pub use differences::{Difference, differences};
pub use find::{all_instances, find_instance, find_instances, object_id};
pub use moving::{Moved, move_objects};
pub use provider::{provider_arguments, replace_provider, resources_of_provider};
pub use remove::{nothing_found, remove_instances};
pub use taint::{Missing, Taint, set_taint, taint_address};

/// For a text that is no address. The text is shown, because it does not stand in any file.
pub fn address_error(text: &str, error: &AddressError) -> Diagnostic {
    Diagnostic::error(error.summary, format!("Cannot read the address {text:?}: {}", error.detail))
}

/// For a command that needs a state where there is none.
pub fn no_state() -> Diagnostic {
    Diagnostic::error(
        "No state file was found",
        "Commands that manage the state need one. Run them in a directory where groma has applied a configuration, or name \
         the state file with the \"-state\" option.",
    )
}
