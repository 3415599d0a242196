//! Providers that run inside groma: the small ones that everybody uses, with the schemas, behaviour and state of the
//! published plugins of the same name. What drives them is elsewhere.

mod chance;
mod combinations;
#[cfg(test)]
mod drive;
mod exec;
mod external;
mod http;
mod local;
mod null;
#[cfg(test)]
mod published;
mod random;
pub mod registry;
mod rest;
#[cfg(test)]
mod served;
mod terraform;
mod time;
mod tls;
mod web;

pub use groma_kit as kit;
pub use kit::outside::{Clock, Outside, Randomness, RandomnessError, RemoteStates, Tfvars, WantedState};
pub use random::go_rand::GoRand;
pub use registry::{all, find};
