//! When to ask again, and how long to wait before.

use std::time::Duration;

use groma_kit::outside::Outside;
use http::HeaderMap;
use http::header::RETRY_AFTER;

use crate::failure::{Failure, FailureKind};

/// So often.
const MOST: u32 = 5;
/// And so often if the server was there a moment ago and cannot be reached now: it restarts.
const MOST_OF_RESTARTING: u32 = 8;
/// The first wait; it doubles each time.
const FIRST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(30);
/// Altogether.
pub(super) const ALTOGETHER: Duration = Duration::from_mins(2);

/// A request that failed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Failed<'f> {
    pub(super) failure: &'f Failure,
    /// Whether it may be done twice.
    pub(super) repeatable: bool,
    /// How long the server asks to wait.
    pub(super) asked: Option<Duration>,
    /// Whether the server has answered before.
    pub(super) was_there: bool,
}

/// How long to wait before asking again; none if that is useless or not safe. `again` is 0 the first time.
pub(super) fn wait_before(again: u32, failed: Failed<'_>, outside: &Outside) -> Option<Duration> {
    let Failed { failure, repeatable, asked, was_there } = failed;
    let most = if was_there && failure.is_before_sending() { MOST_OF_RESTARTING } else { MOST };
    if again >= most || !is_worth_it(failure, repeatable) {
        return None;
    }
    let doubled = FIRST.saturating_mul(1 << again.min(20)).min(LONGEST);
    let wait = with_jitter(doubled, outside);
    Some(asked.map_or(wait, |asked| asked.max(wait)))
}

fn is_worth_it(failure: &Failure, repeatable: bool) -> bool {
    match failure.kind {
        FailureKind::Unreachable if failure.is_about_certificate() => false,
        FailureKind::Unreachable => repeatable || failure.is_before_sending(),
        // The server has done nothing yet.
        FailureKind::Busy if failure.code == Some(429) => true,
        FailureKind::Busy => repeatable,
        _ => false,
    }
}

/// Up to a tenth more or less, so that many do not ask at the same time.
fn with_jitter(wait: Duration, outside: &Outside) -> Duration {
    let mut byte = [128];
    if outside.randomness.fill(&mut byte).is_err() {
        return wait;
    }
    let [byte] = byte;
    wait.mul_f64(0.9 + 0.2 * f64::from(byte) / 255.0)
}

/// How long the server asks to wait, in seconds.
pub(super) fn asked_for(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?;
    Some(Duration::from_secs(text.trim().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(failure: &Failure, repeatable: bool) -> Vec<Option<Duration>> {
        let outside = Outside::system(".");
        let failed = Failed { failure, repeatable, asked: None, was_there: false };
        (0..7).map(|again| wait_before(again, failed, &outside)).collect()
    }

    #[test]
    fn a_server_that_restarts_is_given_time() {
        let refused = Failure::new(FailureKind::Unreachable, "client error (Connect): connection refused");
        let reset = Failure::new(FailureKind::Unreachable, "connection reset by peer");
        let tries = |failure: &Failure, was_there: bool| {
            let failed = Failed { failure, repeatable: true, asked: None, was_there };
            (0..20).take_while(|again| wait_before(*again, failed, &Outside::system(".")).is_some()).count()
        };
        assert_eq!([tries(&refused, true), tries(&refused, false), tries(&reset, true)], [8, 5, 5]);
    }

    #[test]
    fn waits_double_and_end() {
        let busy = Failure { code: Some(503), ..Failure::new(FailureKind::Busy, "") };
        let waits = waits(&busy, true);
        for (again, wait) in waits.iter().take(5).enumerate() {
            let middle = 100.0 * f64::from(1_u32 << again);
            let wait = wait.expect("asked again").as_secs_f64() * 1000.0;
            assert!((wait - middle).abs() <= middle * 0.1001, "{again}: {wait}");
        }
        assert_eq!(waits[5..], [None, None]);
    }

    #[test]
    fn what_may_have_been_done_is_not_done_twice() {
        let busy = |code| Failure { code: Some(code), ..Failure::new(FailureKind::Busy, "") };
        assert_eq!(waits(&busy(503), false)[0], None);
        assert!(waits(&busy(429), false)[0].is_some());
        let reset = Failure::new(FailureKind::Unreachable, "connection reset by peer");
        assert_eq!(waits(&reset, false)[0], None);
        let refused = Failure::new(FailureKind::Unreachable, "client error (Connect): connection refused");
        assert!(waits(&refused, false)[0].is_some());
    }

    #[test]
    fn what_does_not_change_is_not_asked_again() {
        for kind in [FailureKind::Invalid, FailureKind::Denied, FailureKind::UnknownField, FailureKind::Unauthenticated]
        {
            assert_eq!(waits(&Failure::new(kind, ""), true)[0], None);
        }
        let untrusted = Failure::new(FailureKind::Unreachable, "invalid peer certificate: UnknownIssuer");
        assert_eq!(waits(&untrusted, true)[0], None);
    }

    #[test]
    fn the_server_may_ask_for_more_patience() {
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, http::HeaderValue::from_static("7"));
        assert_eq!(asked_for(&headers), Some(Duration::from_secs(7)));
        let busy = Failure { code: Some(429), ..Failure::new(FailureKind::Busy, "") };
        let failed = Failed { failure: &busy, repeatable: true, asked: asked_for(&headers), was_there: true };
        let wait = wait_before(0, failed, &Outside::system("."));
        assert_eq!(wait, Some(Duration::from_secs(7)));
    }
}
