//! Under which of the two public registries providers are named in a state. They offer the same providers, but Terraform does not
//! know that: where it has locked a provider, the state keeps to its name, so that it can go on there.

use std::collections::BTreeMap;

use groma_model::address::{DEFAULT_HOST, Provider, TERRAFORM_HOST};
use groma_model::text::Str;
use groma_provider::install::Locks;
use groma_state::State;

/// Providers that are locked under Terraform's name alone, by the name that we would use.
#[derive(Debug, Clone, Default)]
pub(super) struct Hosts(BTreeMap<Provider, Provider>);

impl Hosts {
    /// As the lock file says.
    pub(super) fn new(locks: &Locks) -> Self {
        let theirs =
            locks.iter().map(|lock| &lock.provider).filter(|provider| provider.host.as_str() == TERRAFORM_HOST);
        let named = theirs.map(|theirs| (Provider { host: Str::from(DEFAULT_HOST), ..theirs.clone() }, theirs.clone()));
        Self(named.filter(|(ours, _)| locks.get(ours).is_none()).collect())
    }

    /// Names the providers of a state.
    pub(super) fn name(&self, state: &mut State) {
        if self.0.is_empty() {
            return;
        }
        for resource in state.resources.values_mut() {
            self.name_provider(&mut resource.provider.provider);
        }
    }

    /// Names one of them.
    pub(super) fn name_provider(&self, provider: &mut Provider) {
        if let Some(theirs) = self.0.get(provider) {
            *provider = theirs.clone();
        }
    }
}

#[cfg(test)]
mod tests {
    use groma_model::address::{Module, ProviderConfig};
    use groma_model::version::{Constraints, Version};
    use groma_provider::install::ProviderLock;
    use groma_state::ResourceState;

    use super::*;

    #[test]
    fn a_state_keeps_to_the_names_of_the_lock_file() {
        let lock = |source: &str| {
            let provider = Provider::parse_source(source).unwrap();
            ProviderLock::new(provider, Version::new(1, 0, 0), Constraints::default(), Vec::new())
        };
        let locks: Locks = ["registry.terraform.io/a/theirs", "registry.terraform.io/a/both", "a/both", "a/ours"]
            .map(lock)
            .into_iter()
            .collect();
        let mut state = State::default();
        for name in ["theirs", "both", "ours"] {
            let config =
                ProviderConfig::default_in(Module::root(), Provider::parse_source(&format!("a/{name}")).unwrap());
            let resource = ResourceState { provider: config, instances: BTreeMap::new() };
            state.resources.insert(format!("{name}_x.y").parse().unwrap(), resource);
        }
        Hosts::new(&locks).name(&mut state);
        let hosts: Vec<&str> = state.resources.values().map(|found| found.provider.provider.host.as_str()).collect();
        assert_eq!(hosts, [DEFAULT_HOST, DEFAULT_HOST, TERRAFORM_HOST]);
    }
}
