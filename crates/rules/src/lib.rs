//! Rules beside a configuration: `*.groma.hcl` and `*.groma.json` files, which other tools do not read. Here is their grammar, which
//! resources a rule is about, and what it says about an object. Acting on it is the engine's business.
//!
//! [`load()`] reads the files of all modules of a tree. `file` has the table of the kinds of blocks; each kind has a file of its own.

mod check;
mod file;
mod glob;
mod load;
mod on_create_error;
mod pattern;
mod read;
pub mod replace;
mod scope;
mod set;
#[cfg(test)]
mod tests;
mod wait;

pub use check::{check, lint};
pub use glob::Glob;
pub use load::{is_rule_file, load};
pub use on_create_error::OnCreateError;
pub use pattern::{Pattern, Strength};
pub use scope::{Surroundings, WithSelf};
pub use set::{Rule, RuleSet};
pub use wait::{Seen, Verdict, Wait};

/// All rules of a configuration, by kind.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// `wait`: when an object is ready.
    pub waits: RuleSet<Wait>,
    /// `on_create_error`: what becomes of objects that were made in part.
    pub on_create_error: RuleSet<OnCreateError>,
    /// `replace_rule` and what belongs to it: the order of replacements.
    pub replace: replace::ReplaceRules,
}
