//! Providers. [`api`] is what the engine sees; `wire` runs plugin processes that speak the plugin protocol.

pub mod api;
#[cfg(any(feature = "install", feature = "wire"))]
mod fingerprint;
#[cfg(feature = "install")]
pub mod install;
#[cfg(feature = "wire")]
pub mod wire;
