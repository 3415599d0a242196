//! When somebody who holds a lock counts as gone: what a waiter has seen of the lock, by its own clock alone, and how a holder
//! shows that it is there. How locks are stored is for the backends.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// How often a holder renews its lock.
pub(crate) const RENEWAL: Duration = Duration::from_secs(5);
/// How long a lock may stay as it is before its holder counts as gone.
pub(crate) const SILENCE: Duration = Duration::from_secs(15);
/// How often a waiter looks.
const LOOK: Duration = Duration::from_millis(500);

/// What is known about a holder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holder {
    /// It has not been watched for long enough. Look again after this time.
    Unknown(Duration),
    /// It was seen to renew, or the lock has changed hands.
    Alive,
    /// It has been silent for too long.
    Silent,
}

/// The lock of somebody else, as a waiter has seen it. `T` is everything that changes when a holder renews. Kept from one try to
/// the next, so that what was seen before counts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Watch<T> {
    /// What was seen, and since when.
    seen: Option<(T, Duration)>,
}

impl<T: PartialEq> Watch<T> {
    /// Nothing was seen yet.
    pub(crate) fn new() -> Self {
        Self { seen: None }
    }

    /// The lock is so now. `now` is the waiter's own clock, which never goes back. Only for locks that are renewed: others never
    /// change, and nobody can tell.
    pub(crate) fn see(&mut self, lock: T, now: Duration) -> Holder {
        match &self.seen {
            Some((seen, since)) if *seen == lock => {
                let silent = now.saturating_sub(*since);
                if silent >= SILENCE {
                    return Holder::Silent;
                }
                Holder::Unknown(LOOK.min(SILENCE.saturating_sub(silent)))
            }
            seen => {
                let holder = if seen.is_some() { Holder::Alive } else { Holder::Unknown(LOOK) };
                self.seen = Some((lock, now));
                holder
            }
        }
    }

    /// Nobody has the lock, or somebody whose lock is not renewed.
    pub(crate) fn forget(&mut self) {
        self.seen = None;
    }
}

/// What came of renewing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Renewed {
    /// The lock is still ours.
    Yes,
    /// It did not work this time; the lock may still be ours.
    NotNow,
    /// Somebody else has it, or nobody.
    Lost,
}

/// Whether a lock is held, for all that want to know.
#[derive(Debug, Default)]
pub(crate) struct Grip {
    held: AtomicBool,
    lost: AtomicBool,
}

impl Grip {
    /// Whether it is held, and nobody has taken it.
    pub(crate) fn is_firm(&self) -> bool {
        self.held.load(Ordering::SeqCst) && !self.lost.load(Ordering::SeqCst)
    }

    /// It was taken.
    pub(crate) fn take(&self) {
        self.lost.store(false, Ordering::SeqCst);
        self.held.store(true, Ordering::SeqCst);
    }

    /// Somebody else has it.
    pub(crate) fn lose(&self) {
        self.lost.store(true, Ordering::SeqCst);
    }

    /// It is given back. Whether somebody else had it by then.
    pub(crate) fn release(&self) -> bool {
        self.held.store(false, Ordering::SeqCst);
        self.lost.swap(false, Ordering::SeqCst)
    }
}

/// A lock that is renewed in the background, until this is dropped or the lock is lost.
#[derive(Debug)]
pub(crate) struct Renewal {
    task: JoinHandle<()>,
    lost: Arc<AtomicBool>,
    stop: Arc<Notify>,
}

impl Renewal {
    /// Begins to renew. The first time is after one interval.
    pub(crate) fn start<R, F>(runtime: &Handle, mut renew: R) -> Self
    where
        R: FnMut() -> F + Send + 'static,
        F: Future<Output = Renewed> + Send,
    {
        let lost = Arc::new(AtomicBool::new(false));
        let stop = Arc::new(Notify::new());
        let (told, stopped) = (Arc::clone(&lost), Arc::clone(&stop));
        let task = runtime.spawn(async move {
            let mut ticks = tokio::time::interval(RENEWAL);
            // After a pause there is nothing to catch up with.
            ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
            ticks.tick().await;
            loop {
                tokio::select! {
                    _ = ticks.tick() => {}
                    () = stopped.notified() => return,
                }
                // A server that does not answer must not keep the next try from being made.
                if let Ok(Renewed::Lost) = tokio::time::timeout(RENEWAL, renew()).await {
                    told.store(true, Ordering::SeqCst);
                    return;
                }
            }
        });
        Self { task, lost, stop }
    }

    /// Ends renewing, and waits for what is under way: it must not come after the lock is given back.
    pub(crate) async fn end(mut self) {
        self.stop.notify_one();
        let _ = (&mut self.task).await;
    }

    /// Whether somebody else is known to have taken the lock.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::SeqCst)
    }
}

impl Drop for Renewal {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A clock that never goes back, from whenever it was made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock(std::time::Instant);

impl Clock {
    /// Begins now.
    #[expect(clippy::disallowed_methods, reason = "silence is real time, and comes to nothing that is stored")]
    pub(crate) fn new() -> Self {
        Self(std::time::Instant::now())
    }

    /// How much time has gone by.
    pub(crate) fn now(self) -> Duration {
        self.0.elapsed()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use super::*;

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn silence_counts_from_when_the_waiter_saw_the_lock() {
        let mut watch = Watch::new();
        assert_eq!(watch.see("a 1", at(100)), Holder::Unknown(LOOK));
        assert_eq!(watch.see("a 1", at(114)), Holder::Unknown(LOOK));
        assert_eq!(watch.see("a 1", Duration::from_millis(114_999)), Holder::Unknown(Duration::from_millis(1)));
        assert_eq!(watch.see("a 1", at(115)), Holder::Silent);
        assert_eq!(watch.see("a 1", at(116)), Holder::Silent);
    }

    #[test]
    fn every_renewal_begins_anew() {
        let mut watch = Watch::new();
        watch.see("a 1", at(0));
        assert_eq!(watch.see("a 2", at(14)), Holder::Alive);
        assert_eq!(watch.see("a 2", at(28)), Holder::Unknown(LOOK));
        assert_eq!(watch.see("a 2", at(29)), Holder::Silent);
        // It was only slow.
        assert_eq!(watch.see("a 3", at(30)), Holder::Alive);
        assert_eq!(watch.see("b 1", at(44)), Holder::Alive);
        assert_eq!(watch.see("b 1", at(58)), Holder::Unknown(LOOK));
    }

    #[test]
    fn what_was_forgotten_does_not_count() {
        let mut watch = Watch::new();
        watch.see("a 1", at(0));
        watch.forget();
        assert_eq!(watch.see("a 1", at(20)), Holder::Unknown(LOOK));
    }

    #[test]
    fn a_dead_holder_is_found_out_in_time_however_often_one_looks() {
        for pace in [1, 3, 7, 16] {
            let mut watch = Watch::new();
            let (mut now, mut last) = (0, at(0));
            let found = loop {
                // It renews at 5 and at 10, and is gone then.
                let renewed = now.min(10) / 5;
                match watch.see(renewed, at(now)) {
                    Holder::Silent => break now,
                    Holder::Alive => last = at(now),
                    Holder::Unknown(_) => {}
                }
                now += pace;
            };
            let silent = at(found).saturating_sub(last);
            assert!(silent >= SILENCE && silent < SILENCE + at(pace), "{pace}: {found}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_lock_is_renewed_until_it_is_lost() {
        let count = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&count);
        let renewal = Renewal::start(&Handle::current(), move || {
            let count = counted.fetch_add(1, Ordering::SeqCst) + 1;
            async move {
                match count {
                    // No answer, which is given up in time.
                    2 => std::future::pending().await,
                    3 => Renewed::NotNow,
                    5 => Renewed::Lost,
                    _ => Renewed::Yes,
                }
            }
        });
        tokio::time::sleep(at(11)).await;
        assert_eq!(count.load(Ordering::SeqCst), 2);
        tokio::time::sleep(at(10)).await;
        assert!(count.load(Ordering::SeqCst) >= 3 && !renewal.is_lost());
        tokio::time::sleep(at(60)).await;
        assert!(renewal.is_lost());
        assert_eq!(count.load(Ordering::SeqCst), 5);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_ended_waits_for_the_last_answer() {
        let done = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&done);
        let renewal = Renewal::start(&Handle::current(), move || {
            let told = Arc::clone(&told);
            async move {
                tokio::time::sleep(at(3)).await;
                told.store(true, Ordering::SeqCst);
                Renewed::Yes
            }
        });
        tokio::time::sleep(at(6)).await;
        renewal.end().await;
        assert!(done.load(Ordering::SeqCst));
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_dropped_renews_no_more() {
        let count = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&count);
        let renewal = Renewal::start(&Handle::current(), move || {
            counted.fetch_add(1, Ordering::SeqCst);
            std::future::ready(Renewed::Yes)
        });
        tokio::time::sleep(at(6)).await;
        drop(renewal);
        tokio::time::sleep(at(60)).await;
        assert_eq!(count.load(Ordering::SeqCst), 1);
    }
}
