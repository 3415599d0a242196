//! The plugins made for tests, one with each of the usual libraries, and what they have made: for tests that run them.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::sandbox::Sandbox;

/// The program that the environment names.
#[expect(clippy::disallowed_methods, reason = "the peers are named by the environment")]
pub(crate) fn peer(variable: &str) -> PathBuf {
    std::env::var_os(variable).unwrap_or_else(|| panic!("{variable} is not set; run `cargo xtask test`")).into()
}

/// The text of a CLI configuration by which every tool finds them.
pub(crate) fn cli_configuration() -> String {
    let overrides = [("fixsdk", "GROMA_FIXTURE_SDK"), ("fixfw", "GROMA_FIXTURE_FRAMEWORK")]
        .map(|(name, variable)| format!("    \"groma/{name}\" = \"{}\"\n", peer(variable).parent().unwrap().display()));
    format!("provider_installation {{\n  dev_overrides {{\n{}  }}\n  direct {{}}\n}}\n", overrides.concat())
}

/// The objects that there really are, by file name.
pub(crate) fn objects(sandbox: &Sandbox) -> BTreeSet<String> {
    let names = std::fs::read_dir(sandbox.path("world")).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name != ".keep").collect()
}
