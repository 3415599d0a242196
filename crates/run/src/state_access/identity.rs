//! Who takes a lock, when, and how long they wait for it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use groma_builtin::kit::Moment;
use groma_state::Pause;

/// `user@host`, as far as the system says.
pub(super) fn user_and_host() -> String {
    format!("{}@{}", user(), host())
}

fn host() -> String {
    let read = |path: &str| std::fs::read_to_string(path).ok().map(|text| text.trim().to_owned());
    let found = read("/proc/sys/kernel/hostname").or_else(|| read("/etc/hostname"));
    found.filter(|name| !name.is_empty()).unwrap_or_else(|| "localhost".to_owned())
}

#[cfg(unix)]
fn user() -> String {
    use std::os::unix::fs::MetadataExt as _;
    // Without asking the C library, the owner of our own process tells who we are.
    let uid = std::fs::metadata("/proc/self").map(|data| data.uid()).ok();
    let Some(uid) = uid else { return "unknown".to_owned() };
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let named = users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(uid)).then(|| name.to_owned())
    });
    named.unwrap_or_else(|| uid.to_string())
}

#[cfg(not(unix))]
fn user() -> String {
    "unknown".to_owned()
}

/// RFC 3339 with as many decimals as there are.
pub(crate) fn utc_text((unix, nanos): (i64, u32)) -> String {
    let whole = Moment::from_unix(unix).to_rfc3339();
    let decimals = format!("{nanos:09}");
    match (decimals.trim_end_matches('0'), whole.strip_suffix('Z')) {
        ("", _) | (_, None) => whole,
        (decimals, Some(whole)) => format!("{whole}.{decimals}Z"),
    }
}

/// Waits until somebody loses patience.
pub(super) struct Waiting<'a> {
    since: Instant,
    given_up: &'a AtomicBool,
}

/// How long somebody who loses patience must wait at most.
const SHORT: Duration = Duration::from_millis(100);
/// After what time it is worth saying that something takes time.
const QUIET: Duration = Duration::from_millis(400);

impl<'a> Waiting<'a> {
    fn new(given_up: &'a AtomicBool) -> Self {
        #[expect(clippy::disallowed_methods, reason = "waiting for a lock takes real time")]
        let since = Instant::now();
        Self { since, given_up }
    }

    fn goes_on(&self) -> bool {
        !self.given_up.load(Ordering::Relaxed)
    }
}

impl Pause for Waiting<'_> {
    fn elapsed(&self) -> Duration {
        self.since.elapsed()
    }

    fn pause(&mut self, duration: Duration) -> bool {
        let mut left = duration;
        while !left.is_zero() {
            if !self.goes_on() {
                return false;
            }
            let part = left.min(SHORT);
            std::thread::sleep(part);
            left -= part;
        }
        self.goes_on()
    }
}

/// Does something that may take a while, on another thread; meanwhile `patience` is asked here, again and again, whether to go on
/// waiting.
pub(super) fn patiently<T: Send>(patience: &dyn Fn() -> bool, work: impl FnOnce(&mut Waiting<'_>) -> T + Send) -> T {
    let given_up = &AtomicBool::new(false);
    let (done, ended) = mpsc::channel::<()>();
    let result = std::thread::scope(|scope| {
        let worker = scope.spawn(move || {
            let result = work(&mut Waiting::new(given_up));
            drop(done);
            result
        });
        let mut quiet = QUIET;
        while ended.recv_timeout(quiet) == Err(RecvTimeoutError::Timeout) {
            quiet = SHORT;
            if !patience() {
                given_up.store(true, Ordering::Relaxed);
            }
        }
        worker.join()
    });
    result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_as_others_write_them() {
        assert_eq!(utc_text((0, 0)), "1970-01-01T00:00:00Z");
        assert_eq!(utc_text((0, 120_000_000)), "1970-01-01T00:00:00.12Z");
    }

    #[test]
    fn patience_is_asked_while_something_takes_time() {
        let asked = std::cell::Cell::new(0);
        assert_eq!(patiently(&|| unreachable!("it was quick"), |_| 7), 7);
        let patience = || {
            asked.set(asked.get() + 1);
            asked.get() < 3
        };
        let waited = patiently(&patience, |waiting| waiting.pause(Duration::from_mins(1)));
        assert!(!waited && asked.get() >= 3, "{waited} {}", asked.get());
    }

    #[test]
    fn we_have_a_name() {
        let name = user_and_host();
        assert!(name.split_once('@').is_some_and(|(user, host)| !user.is_empty() && !host.is_empty()), "{name}");
    }
}
