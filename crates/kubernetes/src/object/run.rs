//! What all resources of one process know of each other: which ids their states have, and who works on which object right now.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use tokio::sync::OwnedMutexGuard;

use super::naming::group;
use crate::Json;
use crate::manifest::ObjectRef;

/// How long a plan may go by what was read.
const SEEN_LASTS: Duration = Duration::from_secs(10);

type Lock = Arc<tokio::sync::Mutex<()>>;

/// An object as it was read.
#[derive(Debug)]
struct Seen {
    at: SystemTime,
    reference: ObjectRef,
    live: Json,
}

/// What is shared.
#[derive(Debug, Default)]
pub(crate) struct Run {
    ids: Mutex<BTreeSet<String>>,
    seen: Mutex<BTreeMap<String, Seen>>,
    locks: Mutex<BTreeMap<String, Lock>>,
}

impl Run {
    /// A state that was read has this id.
    pub(crate) fn met(&self, id: &str) {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner).insert(id.to_owned());
    }

    /// Whether a resource of this very run has the id.
    pub(crate) fn has_met(&self, id: &str) -> bool {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner).contains(id)
    }

    /// An object was just read, by the id of its resource. The plan that follows need not ask for it again.
    pub(crate) fn saw(&self, id: &str, reference: &ObjectRef, live: &Json, at: SystemTime) {
        let seen = Seen { at, reference: reference.clone(), live: live.clone() };
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).insert(id.to_owned(), seen);
    }

    /// What was just read, once: who asks again wants to know how it is then.
    pub(crate) fn take_seen(&self, id: &str, reference: &ObjectRef, now: SystemTime) -> Option<Json> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner).remove(id)?;
        let is_fresh = now.duration_since(seen.at).is_ok_and(|age| age <= SEEN_LASTS);
        (is_fresh && seen.reference == *reference).then_some(seen.live)
    }

    /// Waits until nobody else works on the object, so that of two resources that are the same object one finds the other.
    pub(crate) async fn alone_with(&self, cluster: Option<&str>, object: &ObjectRef) -> OwnedMutexGuard<()> {
        let ObjectRef { api_version, kind, namespace, name } = object;
        let place = namespace.as_deref().unwrap_or_default();
        let key = format!("{}|{}|{kind}|{place}|{name}", cluster.unwrap_or_default(), group(api_version));
        let lock = {
            let mut locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
            locks.retain(|_, lock| Arc::strong_count(lock) > 1);
            Arc::clone(locks.entry(key).or_default())
        };
        lock.lock_owned().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(namespace: Option<&str>) -> ObjectRef {
        ObjectRef {
            api_version: "v1".to_owned(),
            kind: "ConfigMap".to_owned(),
            namespace: namespace.map(str::to_owned),
            name: "x".to_owned(),
        }
    }

    #[tokio::test]
    async fn an_object_is_worked_on_by_one_at_a_time() {
        let run = Run::default();
        let first = run.alone_with(Some("c"), &named(Some("a"))).await;
        let elsewhere = run.alone_with(Some("c"), &named(Some("b"))).await;
        let again = named(Some("a"));
        let second = run.alone_with(Some("c"), &again);
        tokio::pin!(second);
        tokio::select! {
            biased;
            _ = &mut second => panic!("two work on the same object"),
            () = std::future::ready(()) => {}
        }
        drop(first);
        drop(second.await);
        drop(elsewhere);
    }

    #[test]
    fn what_was_read_is_there_once_under_the_same_name() {
        let run = Run::default();
        let then = SystemTime::UNIX_EPOCH;
        let saw = || run.saw("a", &named(Some("x")), &Json::from(1), then);
        saw();
        assert_eq!(run.take_seen("a", &named(Some("x")), then), Some(Json::from(1)));
        assert_eq!(run.take_seen("a", &named(Some("x")), then), None);
        saw();
        assert_eq!(run.take_seen("a", &named(Some("y")), then), None);
        saw();
        assert_eq!(run.take_seen("a", &named(Some("x")), then + SEEN_LASTS * 2), None);
    }

    #[test]
    fn ids_are_remembered() {
        let run = Run::default();
        assert!(!run.has_met("a"));
        run.met("a");
        assert!(run.has_met("a"));
    }
}
