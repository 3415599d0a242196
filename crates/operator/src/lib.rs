//! From objects in a cluster to infrastructure. [`api`] has the kinds that people write; [`stack`] decides what becomes of them;
//! [`objects`] is where they are kept, which everything else sees as a trait.

pub mod api;
mod blobs;
pub mod blueprint;
pub mod bundle;
pub mod inputs;
pub mod install;
pub mod metrics;
pub mod objects;
pub mod operator;
pub mod outputs;
pub mod runs;
pub mod serve;
pub mod sources;
pub mod stack;
pub mod template;
pub mod terraform;
pub mod territory;
pub mod voices;
pub mod work;
