//! Which providers are built in, under which address, and which published version each one mirrors.

use groma_model::address::Provider as Address;

use crate::kit::Builtin;

static ALL: [Builtin; 9] = [
    crate::external::BUILTIN,
    crate::http::BUILTIN,
    crate::local::BUILTIN,
    crate::null::BUILTIN,
    crate::random::BUILTIN,
    crate::rest::BUILTIN,
    crate::terraform::BUILTIN,
    crate::time::BUILTIN,
    crate::tls::BUILTIN,
];

/// All of them, by name.
pub fn all() -> &'static [Builtin] {
    &ALL
}

/// The one with that address, whichever of the public registries it names.
pub fn find(address: &Address) -> Option<&'static Builtin> {
    all().iter().find(|builtin| builtin.is_at(address))
}

#[cfg(test)]
mod tests;
