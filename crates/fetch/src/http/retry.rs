//! When to try again, and after how long.

use std::time::Duration;

use reqwest::StatusCode;
use reqwest::header::{HeaderMap, RETRY_AFTER};

use super::settings::ClientSettings;

/// Whether a status may be another one the next time.
pub(super) fn is_transient(status: StatusCode) -> bool {
    status == StatusCode::TOO_MANY_REQUESTS || (status.is_server_error() && status != StatusCode::NOT_IMPLEMENTED)
}

/// How long to wait before attempt number `attempt + 1`. What the server asks for counts, up to a limit; otherwise it
/// doubles, less a random part, so that many clients do not come back at the same moment.
pub(super) fn pause(settings: &ClientSettings, attempt: u32, headers: Option<&HeaderMap>) -> Duration {
    if let Some(asked) = headers.and_then(retry_after) {
        return asked.min(settings.max_backoff);
    }
    let doubled = settings.backoff.saturating_mul(2_u32.saturating_pow(attempt.min(16)));
    let whole = doubled.min(settings.max_backoff);
    whole.mul_f64(0.5 + random_fraction() / 2.0)
}

/// `Retry-After` in seconds. A date is treated as absent: it needs a clock that agrees with the server's.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok().map(Duration::from_secs)
}

/// Between 0 and 1. Without randomness everybody waits the same, which is no reason to fail.
fn random_fraction() -> f64 {
    f64::from(getrandom::u32().unwrap_or(u32::MAX)) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_up_to_a_limit() {
        let settings = ClientSettings::default();
        for attempt in 0..40 {
            let pause = pause(&settings, attempt, None);
            let expected =
                settings.backoff.saturating_mul(2_u32.saturating_pow(attempt.min(16))).min(settings.max_backoff);
            assert!(pause <= expected && pause >= expected / 2, "{attempt}: {pause:?}");
        }
    }

    #[test]
    fn the_server_may_ask_for_a_pause_within_reason() {
        let settings = ClientSettings::default();
        let asked = |text: &'static str| {
            let headers = HeaderMap::from_iter([(RETRY_AFTER, text.parse().unwrap())]);
            pause(&settings, 0, Some(&headers))
        };
        assert_eq!(asked("2"), Duration::from_secs(2));
        assert_eq!(asked("999999"), settings.max_backoff);
        assert!(asked("Wed, 21 Oct 2065 07:28:00 GMT") <= settings.backoff);
    }

    #[test]
    fn only_some_answers_are_worth_another_try() {
        let again = |code: u16| is_transient(StatusCode::from_u16(code).unwrap());
        assert!([429, 500, 502, 503, 504].into_iter().all(again));
        assert!(![200, 301, 400, 401, 403, 404, 501].into_iter().any(again));
    }
}
