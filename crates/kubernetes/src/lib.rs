//! Kubernetes objects as resources: the provider `k8sconnect`, inside groma and as a plugin for others. What drives it is elsewhere.

mod api;
mod builtin;
mod cluster;
mod data;
mod failure;
mod ignore;
mod jsonpath;
mod manifest;
mod object;
mod ownership;
mod patch;
mod path;
mod private;
mod projection;
mod provider;
mod set;
mod wait;

pub use builtin::BUILTIN;
pub use provider::{Host, provider};

/// JSON, as the API server speaks it.
pub(crate) type Json = serde_json::Value;
