//! What is to be looked at, and when. A key that is being looked at is not looked at by anybody else; if it is wanted meanwhile, it is
//! looked at again afterwards. Of several wishes for one key the earliest holds.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio::time::Instant;

/// Keys with times.
pub(crate) struct Agenda<K> {
    state: Mutex<State<K>>,
    changed: Notify,
}

struct State<K> {
    /// When a key is due.
    due: BTreeMap<K, Instant>,
    /// The same, by time.
    by_time: BTreeSet<(Instant, K)>,
    /// Keys that are being looked at.
    busy: BTreeSet<K>,
    closed: bool,
}

impl<K: Ord + Clone> Default for Agenda<K> {
    fn default() -> Self {
        let state = State { due: BTreeMap::new(), by_time: BTreeSet::new(), busy: BTreeSet::new(), closed: false };
        Self { state: Mutex::new(state), changed: Notify::new() }
    }
}

impl<K: Ord + Clone> Agenda<K> {
    fn state(&self) -> MutexGuard<'_, State<K>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A key is to be looked at then, or earlier.
    pub(crate) fn add(&self, key: K, at: Instant) {
        let mut state = self.state();
        match state.due.get(&key) {
            Some(known) if *known <= at => return,
            Some(known) => {
                let before = (*known, key.clone());
                state.by_time.remove(&before);
            }
            None => {}
        }
        state.by_time.insert((at, key.clone()));
        state.due.insert(key, at);
        drop(state);
        self.changed.notify_one();
    }

    /// Nothing is given out any more.
    pub(crate) fn close(&self) {
        self.state().closed = true;
        self.changed.notify_waiters();
        self.changed.notify_one();
    }

    /// The next key that is due and that nobody looks at. None when the agenda is closed.
    pub(crate) async fn next(&self) -> Option<K> {
        loop {
            let changed = self.changed.notified();
            let wait = {
                let mut state = self.state();
                if state.closed {
                    self.changed.notify_one();
                    return None;
                }
                match state.take_due(Instant::now()) {
                    Ok(key) => {
                        // Others may find something, too.
                        self.changed.notify_one();
                        return Some(key);
                    }
                    Err(next) => next,
                }
            };
            match wait {
                Some(at) => {
                    tokio::select! {
                        () = tokio::time::sleep_until(at) => {}
                        () = changed => {}
                    }
                }
                None => changed.await,
            }
        }
    }

    /// A key was looked at.
    pub(crate) fn done(&self, key: &K) {
        self.state().busy.remove(key);
        self.changed.notify_one();
    }

    /// How many keys are due or being looked at.
    pub(crate) fn pending(&self, now: Instant) -> usize {
        let state = self.state();
        state.by_time.iter().take_while(|(at, _)| *at <= now).count() + state.busy.len()
    }
}

impl<K: Ord + Clone> State<K> {
    /// A key that is due; or when the next one will be.
    fn take_due(&mut self, now: Instant) -> Result<K, Option<Instant>> {
        let found =
            self.by_time.iter().take_while(|(at, _)| *at <= now).find(|(_, key)| !self.busy.contains(key)).cloned();
        if let Some((at, key)) = found {
            self.by_time.remove(&(at, key.clone()));
            self.due.remove(&key);
            self.busy.insert(key.clone());
            return Ok(key);
        }
        Err(self.by_time.iter().map(|(at, _)| *at).find(|at| *at > now))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_earliest_comes_first() {
        let agenda = Agenda::default();
        let now = Instant::now();
        agenda.add("later", now + Duration::from_mins(1));
        agenda.add("soon", now + Duration::from_secs(1));
        agenda.add("later", now + Duration::from_secs(30));
        agenda.add("later", now + Duration::from_secs(90));
        assert_eq!(agenda.next().await, Some("soon"));
        assert_eq!(agenda.next().await, Some("later"));
        assert_eq!(now.elapsed(), Duration::from_secs(30));
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_looks_at_the_same_twice_at_once() {
        let agenda = Agenda::default();
        let now = Instant::now();
        agenda.add("a", now);
        assert_eq!(agenda.next().await, Some("a"));
        agenda.add("a", now);
        agenda.add("b", now);
        assert_eq!(agenda.next().await, Some("b"));
        assert!(tokio::time::timeout(Duration::from_secs(9), agenda.next()).await.is_err());
        agenda.done(&"a");
        assert_eq!(agenda.next().await, Some("a"));
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_is_given_out_after_the_end() {
        let agenda: Agenda<&str> = Agenda::default();
        agenda.add("a", Instant::now());
        agenda.close();
        assert_eq!(agenda.next().await, None);
        assert_eq!(agenda.next().await, None);
    }
}
