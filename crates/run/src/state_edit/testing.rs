//! States for tests of edits.

use std::collections::BTreeMap;
use std::fmt::Display;

use groma_model::address::{AbsInstance, Module, Provider, ProviderConfig};
use groma_state::{Attributes, ObjectState, ResourceState, State};

/// A state with an object at each address; the attribute `id` is the address. Types are named after providers.
pub(super) fn state(addresses: &[&str]) -> State {
    let mut state = State { lineage: "test".to_owned(), serial: 1, ..State::default() };
    for text in addresses {
        let address: AbsInstance = text.parse().unwrap();
        let provider = Provider::implied(address.instance.resource.implied_provider()).unwrap();
        let resource = state.resources.entry(address.resource()).or_insert_with(|| ResourceState {
            provider: ProviderConfig::default_in(Module::root(), provider),
            instances: BTreeMap::new(),
        });
        let object = ObjectState::new(0, Attributes::Json(format!("{{\"id\":{text:?}}}")));
        resource.instances.insert(address.key().clone(), object.into());
    }
    state
}

/// Addresses in one line.
pub(super) fn shown(addresses: &[impl Display]) -> String {
    addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}
