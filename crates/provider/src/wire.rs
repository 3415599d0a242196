//! Plugin processes: start, handshake, gRPC, shutdown. Protocol details end here; everything above uses [`crate::api`].

mod calls;
mod connection;
mod convert;
mod handshake;
mod launch;
mod log;
mod plugin;
mod pool;
mod process;
mod reattach;
mod schema_cache;
pub mod server;
mod stdio;
mod tls;

pub use handshake::{HandshakeError, ProtocolVersion};
pub use launch::{Launch, Security, Settings, Timeouts};
pub use plugin::{OpenError, PluginProvider, PluginSchema};
pub use pool::{Offered, Pool, Source};
pub use process::StartError;
pub use reattach::{Reattach, ReattachError};
pub use schema_cache::{SchemaCache, schema_of};
pub use tls::TlsError;

/// Code generated from `proto/` by `cargo xtask codegen`.
#[allow(clippy::all, clippy::pedantic, dead_code, missing_docs, unreachable_pub)]
mod generated {
    /// The provider protocol, versions 5 and 6.
    pub mod tfplugin {
        include!("wire/generated/tfplugin.rs");
    }
    /// What go-plugin adds to it.
    pub mod plugin {
        include!("wire/generated/plugin.rs");
    }
}
