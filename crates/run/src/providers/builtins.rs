//! The providers inside the program, as the installer asks about them.

use groma_model::address::Provider;
use groma_model::version::Version;
use groma_provider::install::{BuiltIn, Builtins};

/// Knows all providers that run inside the program.
#[derive(Debug, Clone, Copy, Default)]
pub struct ProgramBuiltins;

/// The host of providers that exist only here.
const OWN_HOST: &str = "groma.dev";

impl Builtins for ProgramBuiltins {
    fn find(&self, provider: &Provider) -> Option<BuiltIn> {
        let Some(found) = groma_builtin::find(provider) else {
            let is_core = provider.is_builtin() && provider.ty.as_str() == "terraform";
            return is_core.then_some(BuiltIn::Unversioned);
        };
        let version = found.version.and_then(|text| Version::parse_release(text).ok());
        Some(match version {
            None => BuiltIn::Unversioned,
            Some(version) if found.host == OWN_HOST => BuiltIn::Own(version),
            Some(version) => BuiltIn::Mirrors(version),
        })
    }
}
