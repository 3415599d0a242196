//! The engine: from a configuration and a state to a plan, and from a plan to a new state. Providers are reached through the API
//! that they are handed in as; nothing here knows a terminal, a network or a disk.

pub mod apply;
pub mod change;
pub mod checks;
mod ephemeral;
pub mod events;
pub mod execution;
pub mod import;
pub mod interrupt;
pub mod object;
pub mod pending;
pub mod plan;
pub mod plan_file;
pub mod providers;
pub mod provision;
pub mod replacement;
pub mod report;
mod schedule;
pub mod stored;
mod values;
