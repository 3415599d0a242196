//! Providers that run inside groma: the small ones that everybody uses, with the schemas, behaviour and state of the
//! published plugins of the same name. What drives them is elsewhere.

pub mod kit;
pub mod registry;
mod time;

pub use kit::outside::{Clock, Outside, Randomness, RandomnessError, RemoteStates, Tfvars};
pub use registry::{Builtin, all, find};
