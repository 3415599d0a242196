//! The plugin. `SIMULATED_CLOUD` names the file that describes the cloud, `SIMULATED_WORLD` the one that its objects are in;
//! `SIMULATED_PROTOCOL=5` makes it a plugin of protocol 5.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use groma_provider::wire::ProtocolVersion;
use groma_provider::wire::server::plugin_main;
use groma_simulated::description::Description;
use groma_simulated::provider::Simulated;
use groma_simulated::world::World;

#[expect(clippy::disallowed_methods, reason = "whoever starts it tells it through the environment")]
fn told(variable: &str) -> Result<String, String> {
    std::env::var(variable).map_err(|_| format!("{variable} is not set"))
}

fn simulated() -> Result<Simulated, String> {
    let path = told("SIMULATED_CLOUD")?;
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    let description = Description::parse(&text).map_err(|error| format!("{path}: {error}"))?;
    Ok(Simulated::new(description, World::at(PathBuf::from(told("SIMULATED_WORLD")?))))
}

fn main() -> ExitCode {
    let simulated = match simulated() {
        Ok(simulated) => simulated,
        Err(problem) => {
            // If even this cannot be written, the exit code must do.
            let _ = writeln!(std::io::stderr(), "{problem}");
            return ExitCode::FAILURE;
        }
    };
    let protocol = match told("SIMULATED_PROTOCOL").as_deref() {
        Ok("5") => ProtocolVersion::V5,
        _ => ProtocolVersion::V6,
    };
    plugin_main("example.com/test/simulated", &[protocol], || Arc::new(simulated))
}
