//! Who takes a lock, when, and how long they wait for it.

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

/// Waits on this thread.
pub(super) struct Waiting<'a> {
    since: Instant,
    patience: &'a dyn Fn() -> bool,
}

/// How long somebody who loses patience must wait at most.
const SHORT: Duration = Duration::from_millis(100);

impl<'a> Waiting<'a> {
    /// As long as `patience` says to go on.
    pub(super) fn new(patience: &'a dyn Fn() -> bool) -> Self {
        #[expect(clippy::disallowed_methods, reason = "waiting for a lock takes real time")]
        let since = Instant::now();
        Self { since, patience }
    }
}

impl Pause for Waiting<'_> {
    fn elapsed(&self) -> Duration {
        self.since.elapsed()
    }

    fn pause(&mut self, duration: Duration) -> bool {
        let mut left = duration;
        while !left.is_zero() {
            if !(self.patience)() {
                return false;
            }
            let part = left.min(SHORT);
            std::thread::sleep(part);
            left -= part;
        }
        (self.patience)()
    }
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
    fn we_have_a_name() {
        let name = user_and_host();
        assert!(name.split_once('@').is_some_and(|(user, host)| !user.is_empty() && !host.is_empty()), "{name}");
    }
}
