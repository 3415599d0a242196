//! Watching a run: what is under way, for people. A live tree on a terminal, lines anywhere else.
//!
//! `tracker` knows what is under way and is told the time; `lines` has the words, `tree` the picture, `waits` who waits for
//! whom. Here is the thread that lets time pass, and the terminal.

mod clock;
mod lines;
mod screen;
mod tracker;
mod tree;
mod waits;

#[cfg(test)]
mod tests;

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use groma_run::engine::events::{Event, Events, Skipped};
use groma_run::engine::plan::Plan;

use self::clock::{Clock, SystemClock};
use self::screen::Screen;
use self::tracker::Tracker;
use crate::render::Style;

pub(crate) use lines::duration;

/// How often the tree is drawn anew.
const FRAME: Duration = Duration::from_millis(100);

/// How a run is shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    /// Colours and width.
    pub(crate) style: Style,
    /// Whether a person looks at a terminal, which can be drawn on.
    pub(crate) live: bool,
    /// Whether what is read and carried out is not told line by line (`-concise`).
    pub(crate) concise: bool,
}

/// What happened, in the end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Report {
    /// How many objects were made.
    pub(crate) added: usize,
    /// How many were changed.
    pub(crate) changed: usize,
    /// How many were deleted.
    pub(crate) destroyed: usize,
    /// How many were taken in.
    pub(crate) imported: usize,
    /// How many are not looked after any more.
    pub(crate) forgotten: usize,
    /// How long it took.
    pub(crate) took: Duration,
    /// What took longest, longest first.
    pub(crate) slowest: Vec<(String, Duration)>,
    /// What failed, and what was being done with it.
    pub(crate) failed: Vec<(String, &'static str)>,
    /// What was not even begun.
    pub(crate) skipped: Vec<Skipped>,
}

/// Shows what happens, until it is finished or dropped.
pub(crate) struct Watcher {
    shared: Arc<Shared>,
    ticker: Mutex<Option<JoinHandle<()>>>,
}

/// What the thread and those who tell have in common.
struct Shared {
    clock: Arc<dyn Clock>,
    stage: Mutex<Stage>,
    /// Something began, or everything is over.
    news: Condvar,
}

struct Stage {
    tracker: Tracker,
    screen: Screen,
    over: bool,
}

impl Watcher {
    /// Watches a plan being made.
    pub(crate) fn planning(settings: Settings) -> Arc<Self> {
        let tracker = Tracker::planning(settings);
        Self::start(tracker, Screen::new(settings), Arc::new(SystemClock::start()))
    }

    /// Watches a plan being carried out.
    pub(crate) fn applying(settings: Settings, plan: &Plan) -> Arc<Self> {
        let tracker = Tracker::applying(settings, plan);
        Self::start(tracker, Screen::new(settings), Arc::new(SystemClock::start()))
    }

    fn start(mut tracker: Tracker, mut screen: Screen, clock: Arc<dyn Clock>) -> Arc<Self> {
        screen.show(&mut tracker, clock.now());
        let stage = Mutex::new(Stage { tracker, screen, over: false });
        let shared = Arc::new(Shared { clock, stage, news: Condvar::new() });
        let ticking = Arc::clone(&shared);
        // Without the thread nothing is said while something takes long. That is no reason to give up.
        let ticker = std::thread::Builder::new().name("watch".into()).spawn(move || ticking.tick()).ok();
        Arc::new(Self { shared, ticker: Mutex::new(ticker) })
    }

    /// Runs something that prints, with what is drawn out of the way.
    pub(crate) fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        let mut stage = self.shared.stage();
        let Stage { tracker, screen, .. } = &mut *stage;
        screen.show(tracker, self.shared.clock.now());
        screen.aside(print)
    }

    /// The run is over: takes away what is drawn and says what happened. Nothing is shown any more.
    pub(crate) fn finish(&self) -> Report {
        let report = self.shared.end();
        let ticker = self.ticker.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(ticker) = ticker {
            // It has nothing to say about how it ended.
            let _ = ticker.join();
        }
        report
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.finish();
    }
}

impl Events for Watcher {
    fn tell(&self, event: Event) {
        let now = self.shared.clock.now();
        let mut stage = self.shared.stage();
        if stage.over {
            return;
        }
        let Stage { tracker, screen, .. } = &mut *stage;
        let was_idle = tracker.next_word().is_none();
        tracker.tell(event, now);
        screen.told(tracker, now);
        if was_idle && tracker.next_word().is_some() {
            self.shared.news.notify_one();
        }
    }
}

impl Shared {
    fn stage(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self) -> Report {
        let now = self.clock.now();
        let mut stage = self.stage();
        let Stage { tracker, screen, over } = &mut *stage;
        if !std::mem::replace(over, true) {
            screen.show(tracker, now);
            screen.clear();
            self.news.notify_all();
        }
        tracker.report(now)
    }

    /// Lets time pass: draws, and says what is still under way.
    fn tick(&self) {
        let mut stage = self.stage();
        while !stage.over {
            let now = self.clock.now();
            let Stage { tracker, screen, .. } = &mut *stage;
            tracker.pass(now);
            screen.show(tracker, now);
            let until_word = tracker.next_word().map(|due| due.saturating_sub(now.passed));
            let wait = if screen.is_live() { Some(until_word.unwrap_or(FRAME).min(FRAME)) } else { until_word };
            stage = match wait {
                // A little later than due, so that it is due then.
                Some(wait) => {
                    let waited = self.news.wait_timeout(stage, wait + Duration::from_millis(1));
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.news.wait(stage).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }
}
