//! The providers inside the program, as the installer asks about them.

use groma_kit::Builtin;
use groma_model::address::Provider;
use groma_model::version::Version;
use groma_provider::install::{BuiltIn, Builtins};

/// Knows all providers that run inside the program.
#[derive(Debug, Clone, Copy, Default)]
pub struct ProgramBuiltins;

/// The host of providers that exist only here.
const OWN_HOST: &str = "groma.dev";

/// The provider inside the program that has this address.
pub(super) fn find(provider: &Provider) -> Option<&'static Builtin> {
    let kubernetes = || Some(&groma_kubernetes::BUILTIN).filter(|builtin| builtin.is_at(provider));
    groma_builtin::find(provider).or_else(kubernetes)
}

impl Builtins for ProgramBuiltins {
    fn find(&self, provider: &Provider) -> Option<BuiltIn> {
        let Some(found) = find(provider) else {
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
