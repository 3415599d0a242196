//! Plugin processes: start, handshake, gRPC, shutdown. Protocol details end here; everything above uses [`crate::api`].

mod convert;
mod handshake;
mod plugin;
mod process;

pub use handshake::HandshakeError;
pub use plugin::{OpenError, PluginProvider};
pub use process::StartError;

/// Code generated from `proto/` by `cargo xtask codegen`.
#[allow(clippy::all, clippy::pedantic, dead_code, missing_docs, unreachable_pub)]
mod generated {
    pub mod tfplugin5 {
        include!("wire/generated/tfplugin5.rs");
    }
    pub mod plugin {
        include!("wire/generated/plugin.rs");
    }
}
