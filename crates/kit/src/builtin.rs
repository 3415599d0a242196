//! A provider that is part of the program: under which address it is known, and which published version it mirrors.

use std::sync::Arc;

use groma_model::address::Provider as Address;
use groma_provider::api::{Effects, Provider};

use super::in_process::InProcess;
use super::outside::Outside;

/// A provider that is built in.
#[derive(Clone, Copy)]
pub struct Builtin {
    /// Its name, as in the address.
    pub name: &'static str,
    /// Its namespace.
    pub namespace: &'static str,
    /// The registry that its namesake is published in; the two public ones are the same.
    pub host: &'static str,
    /// The published version that it mirrors; none for what has no versions of its own.
    pub version: Option<&'static str>,
    /// What its changes do outside.
    pub effects: Effects,
    /// Makes one.
    pub make: fn(&Outside) -> InProcess,
}

impl Builtin {
    /// Its address.
    pub fn address(&self) -> Address {
        Address::new(self.host, self.namespace, self.name)
    }

    /// Whether that is its address, whichever of the public registries it names.
    pub fn is_at(&self, address: &Address) -> bool {
        self.address().same_as(address)
    }

    /// A provider that works with what is outside.
    pub fn provider(&self, outside: &Outside) -> Arc<dyn Provider> {
        Arc::new((self.make)(outside).with_effects(self.effects))
    }
}

impl std::fmt::Debug for Builtin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.address(), self.version.unwrap_or("-"))
    }
}
