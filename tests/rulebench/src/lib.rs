//! What rules about the order of replacements cost: plans of many objects of a provider in this process, with rules and without.
//!
//! Nothing waits for a process or a network here, so that the engine is all that is measured; beside real plugins it would hardly be seen.

pub mod figure;
pub mod pair;
pub mod stub;
pub mod world;
