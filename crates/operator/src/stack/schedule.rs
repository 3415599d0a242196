//! When a schedule says that it is time: five fields, as cron has them, in UTC.

use croner::Cron;
use croner::parser::{CronParser, Seconds};
use jiff::tz::TimeZone;

use crate::api::shared::Moment;

/// The next time after a moment; or what is wrong with the schedule.
pub fn next(schedule: &str, after: Moment) -> Result<Moment, String> {
    let wrong = |problem: String| format!("spec.schedule: {schedule:?} is no schedule: {problem}");
    let cron = parse(schedule).map_err(wrong)?;
    let after = after.0.to_zoned(TimeZone::UTC);
    let next = cron.find_next_occurrence(&after, false).map_err(|problem| wrong(problem.to_string()))?;
    Ok(Moment(next.timestamp()))
}

/// Seconds are no part of it: nobody wants to look so often.
fn parse(schedule: &str) -> Result<Cron, String> {
    let parser = CronParser::builder().seconds(Seconds::Disallowed).build();
    parser.parse(schedule).map_err(|problem| problem.to_string())
}

#[cfg(test)]
mod tests {
    use std::str::FromStr as _;

    use super::*;

    fn moment(text: &str) -> Moment {
        Moment(jiff::Timestamp::from_str(text).unwrap())
    }

    #[test]
    fn schedules_are_in_utc_and_never_now() {
        let next = |schedule: &str, after: &str| next(schedule, moment(after)).map(|at| at.0.to_string());
        assert_eq!(next("30 4 * * *", "2026-01-01T04:30:00Z").unwrap(), "2026-01-02T04:30:00Z");
        assert_eq!(next("*/15 * * * 1-5", "2026-01-02T23:50:00Z").unwrap(), "2026-01-05T00:00:00Z");
        assert!(
            next("every day", "2026-01-01T00:00:00Z")
                .unwrap_err()
                .starts_with("spec.schedule: \"every day\" is no schedule")
        );
        assert!(next("* * * * * *", "2026-01-01T00:00:00Z").is_err());
    }
}
