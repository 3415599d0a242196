//! What in-process providers are made of: traits for what they offer, and [`InProcess`], which makes a provider of it.
//!
//! A type says its [`Spec`] (schema and rules) and what it does; planning, checking, upgrading and dispatch are done here,
//! by the rules of the framework that the published plugins are written with.

mod builtin;
pub mod checks;
pub mod confines;
mod duration;
pub mod functions;
mod in_process;
mod keepers;
mod moment;
mod object;
pub mod outside;
mod planning;
pub mod spec;
mod traits;
mod upgrading;

pub use builtin::Builtin;
pub use duration::parse_duration;
pub use in_process::InProcess;
pub use keepers::keepers_replace;
pub use moment::{Fields, Moment, OutOfRange};
pub use object::{Object, at, shown};
pub use planning::Planned;
pub use spec::{Attr, Spec};
pub use traits::{Call, Configure, DataSource, Ephemeral, Failed, Function, Listed, Opened, Resource, Stopped};
pub use upgrading::JsonObject;
