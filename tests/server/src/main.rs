//! The plugin. `SERVED_PROTOCOL=5` makes it one of protocol 5, which has no nested attributes; `SERVED_WANTS_TLS=1` makes
//! it refuse hosts without TLS.

mod note;
mod others;
mod provider;
mod schema;

use std::process::ExitCode;
use std::sync::Arc;

use groma_provider::wire::ProtocolVersion;
use groma_provider::wire::server::plugin_main;

use crate::provider::Served;

#[expect(clippy::disallowed_methods, reason = "the tests tell it through the environment")]
fn told(variable: &str) -> Option<String> {
    std::env::var(variable).ok()
}

fn main() -> ExitCode {
    if told("SERVED_WANTS_TLS").is_some() && told("PLUGIN_CLIENT_CERT").is_none() {
        return ExitCode::from(7);
    }
    let protocol = match told("SERVED_PROTOCOL").as_deref() {
        Some("5") => ProtocolVersion::V5,
        _ => ProtocolVersion::V6,
    };
    plugin_main("example.com/test/served", &[protocol], || Arc::new(Served::new(protocol)))
}
