//! The provider as a part of groma.

use groma_kit::Builtin;
use groma_provider::api::Effects;

use crate::provider::{Host, provider};

/// The provider, under the address of its published namesake.
pub const BUILTIN: Builtin = Builtin {
    name: "k8sconnect",
    namespace: "jmorris0x0",
    host: "registry.terraform.io",
    version: Some("0.3.8"),
    effects: Effects::Outside,
    make: |outside| provider(outside, Host::Groma),
};
