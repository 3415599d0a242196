//! Terraform and OpenTofu as engines: their command lines are driven with the configuration, the inputs and the state that are there, and
//! what a failed creation left tainted is kept where it is safe to say so.
//!
//! Start with [`drive()`]. Nothing here prints: whoever calls is told through an [`Audience`].

mod drive;
mod edit;
mod line;
mod look;
mod process;
mod tool;
mod verdict;

pub use drive::{Audience, InitWish, Outcome, Wishes, drive};
pub use line::{Command, Line};
pub use tool::{Kind, Tool};
pub use verdict::{RuleKind, Settled, Verdict, WhyKept, WhyTainted};
