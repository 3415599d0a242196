//! The plugin `terraform-provider-k8sconnect`, for Terraform, OpenTofu and groma.

use std::process::ExitCode;
use std::sync::Arc;

use groma_kit::outside::Outside;
use groma_kubernetes::{Host, provider};
use groma_provider::wire::ProtocolVersion;
use groma_provider::wire::server::plugin_main;

/// Set by groma for the plugins that it starts.
const PLUGIN_HOST: &str = "GROMA_PLUGIN_HOST";

#[expect(clippy::disallowed_methods, reason = "the host tells a plugin through the environment")]
fn host() -> Host {
    if std::env::var_os(PLUGIN_HOST).is_some() { Host::Groma } else { Host::Other }
}

fn main() -> ExitCode {
    let address = groma_kubernetes::BUILTIN.address().to_string();
    plugin_main(&address, &[ProtocolVersion::V6], || Arc::new(provider(&Outside::system("."), host())))
}
