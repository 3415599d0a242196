//! Where sources of Flux are watched: only in namespaces in which a Stack refers to one of that kind.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use tokio::task::AbortHandle;

use crate::api::source::{FluxKind, FluxSource};

/// A kind in a namespace.
pub type Watched = (FluxKind, String);

/// What is watched, and for whom.
#[derive(Default)]
pub struct Watches {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// What Stacks refer to, by their namespaces and names.
    wanted: BTreeMap<(String, String), (Watched, String)>,
    tasks: BTreeMap<Watched, Vec<AbortHandle>>,
}

impl Watches {
    /// A Stack refers to that, or to nothing. What is watched for nobody ends.
    pub fn learn(&self, namespace: &str, name: &str, source: Option<&FluxSource>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let stack = (namespace.to_owned(), name.to_owned());
        let wanted = source.map(|source| {
            let place = source.namespace.clone().unwrap_or_else(|| namespace.to_owned());
            ((source.kind, place), source.name.clone())
        });
        let before = match wanted {
            Some(wanted) => state.wanted.insert(stack, wanted),
            None => state.wanted.remove(&stack),
        };
        let Some((before, _)) = before else { return };
        if !state.wanted.values().any(|(watched, _)| *watched == before) {
            state.tasks.remove(&before).iter().flatten().for_each(AbortHandle::abort);
        }
    }

    /// Sees to it that what a Stack refers to is watched, with what `begin` begins.
    pub fn ensure(&self, namespace: &str, name: &str, begin: impl FnOnce(&Watched) -> AbortHandle) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((watched, _)) = state.wanted.get(&(namespace.to_owned(), name.to_owned())).cloned() else { return };
        if let Entry::Vacant(place) = state.tasks.entry(watched) {
            let task = begin(place.key());
            place.insert(vec![task]);
        }
    }

    /// The Stacks that refer to a source: namespaces and names.
    pub fn referring(&self, kind: &str, namespace: &str, name: &str) -> BTreeSet<(String, String)> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |((of, place), called): &(Watched, String)| {
            super::flux::kind(*of).kind == kind && place == namespace && called == name
        };
        state.wanted.iter().filter(|(_, wanted)| is_it(wanted)).map(|(stack, _)| stack.clone()).collect()
    }

    /// Nothing is watched any more.
    pub fn stop(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut state.tasks).values().flatten().for_each(AbortHandle::abort);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(name: &str, namespace: Option<&str>) -> FluxSource {
        FluxSource { kind: FluxKind::GitRepository, name: name.to_owned(), namespace: namespace.map(str::to_owned) }
    }

    #[tokio::test]
    async fn a_kind_is_watched_while_somebody_refers_to_one() {
        let watches = Watches::default();
        let task = tokio::spawn(std::future::pending::<()>());
        watches.learn("a", "one", Some(&source("repo", None)));
        watches.learn("a", "two", Some(&source("other", None)));
        watches.ensure("a", "one", |watched| {
            assert_eq!(*watched, (FluxKind::GitRepository, "a".to_owned()));
            task.abort_handle()
        });
        watches.ensure("a", "two", |_| unreachable!());
        let one = BTreeSet::from([("a".to_owned(), "one".to_owned())]);
        assert_eq!(watches.referring("GitRepository", "a", "repo"), one);
        assert!(watches.referring("Bucket", "a", "repo").is_empty());
        watches.learn("a", "one", None);
        assert!(!task.is_finished());
        watches.learn("a", "two", Some(&source("other", Some("b"))));
        assert!(task.await.unwrap_err().is_cancelled());
    }
}
