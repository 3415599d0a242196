//! Terraform and OpenTofu as engines: their command lines are driven with the configuration, the inputs and the state that are there, and
//! what a failed creation left tainted is kept where it is safe to say so.
//!
//! Start with [`drive()`]. Nothing here prints: whoever calls is told through an [`Audience`].

mod drive;
mod edit;
mod line;
mod look;
mod process;
mod programs;
mod tied;
mod tool;
mod verdict;

pub use drive::{Audience, InitWish, Outcome, Wishes, drive};
pub use line::{Command, Line};
pub use process::{Answer, Program};
pub use programs::{programs_of_root, programs_of_tree};
pub use tied::become_ordered;
pub use tool::{Kind, Tool, find, recognise};
pub use verdict::{RuleKind, Settled, Verdict, WhyKept, WhyTainted};
