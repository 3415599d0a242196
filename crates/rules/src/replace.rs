//! The order of replacements: rules that say for which fields, and under which conditions, the old object has to go first or the new one
//! has to come first, and the reasons for it.
//!
//! `decode` reads the blocks, `check` finds mistakes with the schemas, `eval` asks the predicates of a rule about one object that is to be
//! replaced, `order` makes one order of what all rules want, `catalogue` has the rules that come with groma, and `trial` tries rules
//! on objects that are written down. Which objects are
//! replaced, what depends on them, and what is done about it is the engine's business.

pub mod case;
pub mod catalogue;
pub(crate) mod check;
pub mod compare;
pub(crate) mod decode;
pub mod docs;
pub mod eval;
pub mod expr;
pub mod order;
pub mod path;
pub mod predicate;
pub mod problem;
pub(crate) mod reach;
pub mod rule;
pub(crate) mod rules;
pub mod secrecy;
pub mod step;
#[cfg(test)]
pub(crate) mod testing;
pub mod trial;
pub mod truth;

pub use rules::{ReplaceRules, RuleFile};
