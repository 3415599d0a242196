//! The engine: from a configuration and a state to a plan, and from a plan to a new state.
//!
//! So far it is the thin slice: managed resources of the root module, one after the other, created and updated in place.
//! What it cannot do yet it refuses by name. Providers are reached through the API that they are handed in as.

pub mod apply;
pub mod object;
pub mod plan;
pub mod schemas;
