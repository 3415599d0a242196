//! The time, as a run is told it.

use std::time::{Duration, Instant, SystemTime};

/// A point in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Moment {
    /// Since the run began.
    pub(super) passed: Duration,
    /// Since midnight, in UTC.
    pub(super) of_day: Duration,
}

/// Says what time it is.
pub(super) trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> Moment;
}

/// The clock of the machine.
pub(super) struct SystemClock {
    start: Instant,
}

impl SystemClock {
    /// Starts at nought.
    #[expect(clippy::disallowed_methods, reason = "people are told how long things take")]
    pub(super) fn start() -> Self {
        Self { start: Instant::now() }
    }
}

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "people are told when things happen")]
    fn now(&self) -> Moment {
        let since_epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Moment { passed: self.start.elapsed(), of_day: Duration::from_secs(since_epoch.as_secs() % 86_400) }
    }
}
