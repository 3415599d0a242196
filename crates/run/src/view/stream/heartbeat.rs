//! What runs, since when, and a thread that says so every ten seconds.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use groma_engine::change::Action;
use groma_model::address::{AbsInstance, DeposedKey};

use super::Clock;

/// How often it is told that something still runs.
const INTERVAL: Duration = Duration::from_secs(10);

/// An operation on an object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Running {
    pub(super) address: AbsInstance,
    pub(super) deposed: Option<DeposedKey>,
    pub(super) action: Action,
}

/// Knows what runs.
pub(super) struct Heart {
    shared: Arc<Shared>,
    clock: Clock,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<Beating>,
    changed: Condvar,
}

/// What runs, and when it is told next.
#[derive(Default)]
struct Beating {
    running: BTreeMap<Running, Times>,
    stopped: bool,
}

struct Times {
    started: SystemTime,
    next: SystemTime,
}

impl Beating {
    /// What is to be told now, with the seconds that it has run. Each is told again an interval later.
    fn due(&mut self, now: SystemTime) -> Vec<(Running, u64)> {
        let mut due = Vec::new();
        for (running, times) in &mut self.running {
            if times.next <= now {
                due.push((running.clone(), elapsed(times.started, now)));
                times.next = now + INTERVAL;
            }
        }
        due
    }

    /// How long nothing is to be told. None if nothing runs.
    fn pause(&self, now: SystemTime) -> Option<Duration> {
        let next = self.running.values().map(|times| times.next).min()?;
        Some(next.duration_since(now).unwrap_or_default())
    }
}

/// Whole seconds between two times that are both rounded, so that what is told adds up.
fn elapsed(started: SystemTime, now: SystemTime) -> u64 {
    let rounded = |at: SystemTime| {
        let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
        since.as_secs() + u64::from(since.subsec_millis() >= 500)
    };
    rounded(now).saturating_sub(rounded(started))
}

impl Heart {
    /// Silent until it beats.
    pub(super) fn new(clock: Clock) -> Self {
        Self { shared: Arc::default(), clock, thread: Mutex::new(None) }
    }

    /// Tells what still runs, from a thread of its own. Without one (the system may refuse it) nothing is told.
    pub(super) fn beat(&self, tell: impl Fn(&Running, u64) + Send + 'static) {
        let (shared, clock) = (Arc::clone(&self.shared), Arc::clone(&self.clock));
        let work = move || {
            while let Some(due) = shared.wait(&clock) {
                for (running, elapsed) in due {
                    tell(&running, elapsed);
                }
            }
        };
        let thread = std::thread::Builder::new().name("heartbeat".into()).spawn(work).ok();
        *self.thread.lock().unwrap_or_else(PoisonError::into_inner) = thread;
    }

    /// An operation starts.
    pub(super) fn start(&self, running: Running) {
        let started = (self.clock)();
        let mut state = self.shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        // Those that started earlier are due earlier, so the thread needs to know only about the first.
        let is_first = state.running.is_empty();
        state.running.insert(running, Times { started, next: started + INTERVAL });
        if is_first {
            self.shared.changed.notify_all();
        }
    }

    /// It ended. Gives the seconds that it ran.
    pub(super) fn end(&self, running: &Running) -> u64 {
        let mut state = self.shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.running.remove(running).map_or(0, |times| elapsed(times.started, (self.clock)()))
    }
}

impl Shared {
    /// Waits until something is to be told. None when it is over.
    fn wait(&self, clock: &Clock) -> Option<Vec<(Running, u64)>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if state.stopped {
                return None;
            }
            let now = clock();
            let due = state.due(now);
            if !due.is_empty() {
                return Some(due);
            }
            state = match state.pause(now) {
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(pause) => self.changed.wait_timeout(state, pause).unwrap_or_else(PoisonError::into_inner).0,
            };
        }
    }
}

impl Drop for Heart {
    fn drop(&mut self) {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner).stopped = true;
        self.shared.changed.notify_all();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // It ends by itself; if it has panicked there is nothing left to tell.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_millis(millis)
    }

    fn create(address: &str) -> Running {
        Running { address: address.parse().unwrap(), deposed: None, action: Action::Create }
    }

    #[test]
    fn each_is_told_every_ten_seconds() {
        let mut beating = Beating::default();
        assert_eq!(beating.pause(at(0)), None);
        for (name, started) in [("t.a", 400), ("t.b", 3_000)] {
            let times = Times { started: at(started), next: at(started) + INTERVAL };
            beating.running.insert(create(name), times);
        }
        assert_eq!(beating.pause(at(3_000)), Some(Duration::from_millis(7_400)));
        assert_eq!(beating.due(at(10_399)), []);
        assert_eq!(beating.due(at(10_400)), [(create("t.a"), 10)]);
        assert_eq!(beating.due(at(13_600)), [(create("t.b"), 11)]);
        assert_eq!(beating.pause(at(13_600)), Some(Duration::from_millis(6_800)));
        assert_eq!(beating.due(at(20_400)), [(create("t.a"), 20)]);
    }

    #[test]
    fn the_thread_ends_with_its_owner() {
        let told = Arc::new(Mutex::new(Vec::new()));
        let times = Arc::new(Mutex::new(0));
        let clock: Clock = {
            let times = Arc::clone(&times);
            // Every look at this clock is eleven seconds later.
            Arc::new(move || {
                let mut now = times.lock().unwrap();
                *now += 11_000;
                at(*now)
            })
        };
        let heart = Heart::new(clock);
        let (sender, receiver) = std::sync::mpsc::channel();
        {
            let told = Arc::clone(&told);
            heart.beat(move |running, elapsed| {
                told.lock().unwrap().push((running.clone(), elapsed));
                let _ = sender.send(());
            });
        }
        heart.start(create("t.a"));
        receiver.recv().unwrap();
        let (running, elapsed) = told.lock().unwrap()[0].clone();
        assert_eq!(running, create("t.a"));
        assert!(elapsed >= 11, "{elapsed}");
        assert!(heart.end(&create("t.a")) >= 22);
        assert_eq!(heart.end(&create("t.a")), 0);
        drop(heart);
        assert_eq!(Arc::strong_count(&told), 1);
    }
}
