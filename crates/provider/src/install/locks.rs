//! What is locked: which version of each provider was selected, and which hashes its packages may have.

use std::collections::BTreeMap;
use std::collections::btree_map;

use groma_model::address::{DEFAULT_HOST, DEFAULT_NAMESPACE, Provider, TERRAFORM_HOST};
use groma_model::version::{Constraints, Version};

use super::hash::Hash;

/// What a configuration needs: providers, and what it says about their versions.
pub type Requirements = BTreeMap<Provider, Constraints>;

/// One locked provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderLock {
    /// Which provider.
    pub provider: Provider,
    /// The version that was selected.
    pub version: Version,
    /// What the configuration said when it was selected.
    pub constraints: Constraints,
    hashes: Vec<Hash>,
}

/// All locked providers, by address.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Locks {
    providers: BTreeMap<Provider, ProviderLock>,
}

impl ProviderLock {
    /// A lock. Hashes are put in order, and each is kept once.
    pub fn new(provider: Provider, version: Version, constraints: Constraints, mut hashes: Vec<Hash>) -> Self {
        hashes.sort();
        hashes.dedup();
        Self { provider, version, constraints, hashes }
    }

    /// The hashes, in order.
    pub fn hashes(&self) -> &[Hash] {
        &self.hashes
    }

    /// The hashes that can be checked here.
    pub fn usable_hashes(&self) -> Vec<Hash> {
        Hash::usable(&self.hashes)
    }

    /// Whether every hash of the other is here.
    pub fn contains_all(&self, other: &ProviderLock) -> bool {
        other.hashes.iter().all(|hash| self.hashes.binary_search(hash).is_ok())
    }
}

impl Locks {
    /// Nothing locked.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether a provider can be locked at all: those that are part of the program cannot.
    pub fn is_lockable(provider: &Provider) -> bool {
        !provider.is_builtin() && !provider.is_legacy()
    }

    /// The lock of a provider.
    pub fn get(&self, provider: &Provider) -> Option<&ProviderLock> {
        self.providers.get(provider)
    }

    /// Locks a provider, instead of what was there.
    pub fn set(&mut self, lock: ProviderLock) {
        self.providers.insert(lock.provider.clone(), lock);
    }

    /// Unlocks a provider.
    pub fn remove(&mut self, provider: &Provider) -> Option<ProviderLock> {
        self.providers.remove(provider)
    }

    /// Whether nothing is locked.
    pub fn is_empty(&self) -> bool {
        self.providers.is_empty()
    }

    /// All locks, in the order of the file.
    pub fn iter(&self) -> btree_map::Values<'_, Provider, ProviderLock> {
        self.providers.values()
    }

    /// Keeps only what a condition holds for.
    pub fn retain(&mut self, mut condition: impl FnMut(&ProviderLock) -> bool) {
        self.providers.retain(|_, lock| condition(lock));
    }

    /// Whether both select the same, with the same hashes. Constraints do not count: they only tell why.
    pub fn selects_same(&self, other: &Locks) -> bool {
        let same = |a: &ProviderLock, b: &ProviderLock| {
            a.provider == b.provider && a.version == b.version && a.hashes == b.hashes
        };
        self.providers.len() == other.providers.len()
            && self.iter().zip(other.iter()).all(|(mine, theirs)| same(mine, theirs))
    }

    /// Whether both are about the same providers.
    pub fn has_same_providers(&self, other: &Locks) -> bool {
        self.providers.keys().eq(other.providers.keys())
    }

    /// Selects for `registry.opentofu.org/hashicorp/x` the version that is locked for Terraform's address of it, unless
    /// there is one already. The hashes are not taken over: the packages are built by others. Gives what was added, as
    /// pairs of old and new address.
    pub fn adopt_terraform_selections(&mut self) -> Vec<(Provider, Provider)> {
        let mut added: Vec<(Provider, ProviderLock)> = Vec::new();
        for lock in self.providers.values() {
            if lock.provider.host.as_str() != TERRAFORM_HOST || lock.provider.namespace.as_str() != DEFAULT_NAMESPACE {
                continue;
            }
            let ours = Provider::new(DEFAULT_HOST, DEFAULT_NAMESPACE, lock.provider.ty.clone());
            if !self.providers.contains_key(&ours) {
                let adopted = ProviderLock::new(ours, lock.version.clone(), lock.constraints.clone(), Vec::new());
                added.push((lock.provider.clone(), adopted));
            }
        }
        let mut pairs = Vec::with_capacity(added.len());
        for (theirs, adopted) in added {
            pairs.push((theirs, adopted.provider.clone()));
            self.set(adopted);
        }
        pairs
    }
}

impl<'a> IntoIterator for &'a Locks {
    type Item = &'a ProviderLock;
    type IntoIter = btree_map::Values<'a, Provider, ProviderLock>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl FromIterator<ProviderLock> for Locks {
    fn from_iter<T: IntoIterator<Item = ProviderLock>>(locks: T) -> Self {
        let mut all = Self::new();
        for lock in locks {
            all.set(lock);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock(source: &str, version: &str, hashes: &[&str]) -> ProviderLock {
        let hashes = hashes.iter().map(|text| Hash::parse(text).unwrap()).collect();
        ProviderLock::new(
            Provider::parse_source(source).unwrap(),
            Version::parse_release(version).unwrap(),
            Constraints::default(),
            hashes,
        )
    }

    #[test]
    fn hashes_are_in_order_and_once() {
        let lock = lock("a/b", "1.0.0", &["zh:1", "h1:b", "h1:a", "zh:1"]);
        let texts: Vec<&str> = lock.hashes().iter().map(Hash::as_str).collect();
        assert_eq!(texts, ["h1:a", "h1:b", "zh:1"]);
    }

    #[test]
    fn terraforms_selection_is_adopted_without_its_hashes() {
        let mut locks: Locks = [
            lock("registry.terraform.io/hashicorp/null", "3.1.0", &["h1:x"]),
            lock("registry.terraform.io/hashicorp/time", "0.9.0", &["h1:x"]),
            lock("hashicorp/time", "0.12.0", &["h1:y"]),
            lock("registry.terraform.io/other/thing", "1.0.0", &["h1:z"]),
        ]
        .into_iter()
        .collect();
        let added = locks.adopt_terraform_selections();
        assert_eq!(added.len(), 1);
        let adopted = locks.get(&Provider::parse_source("hashicorp/null").unwrap()).unwrap();
        assert_eq!((adopted.version.to_string().as_str(), adopted.hashes().len()), ("3.1.0", 0));
        let kept = locks.get(&Provider::parse_source("hashicorp/time").unwrap()).unwrap();
        assert_eq!(kept.version.to_string(), "0.12.0");
    }

    #[test]
    fn constraints_do_not_make_a_difference() {
        let one: Locks = [lock("a/b", "1.0.0", &["h1:a"])].into_iter().collect();
        let mut other = lock("a/b", "1.0.0", &["h1:a"]);
        other.constraints = Constraints::parse_provider("~> 1.0").unwrap();
        let other: Locks = [other].into_iter().collect();
        assert!(one.selects_same(&other) && one.has_same_providers(&other));
        let newer: Locks = [lock("a/b", "1.0.1", &["h1:a"])].into_iter().collect();
        assert!(!one.selects_same(&newer) && one.has_same_providers(&newer));
        assert!(!one.has_same_providers(&Locks::new()));
    }
}
