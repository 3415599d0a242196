//! One line of the stream: who says what, when.

use std::time::{SystemTime, UNIX_EPOCH};

use groma_engine::providers::TERRAFORM_VERSION;
use serde_json::{Map, Value, json};

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// All is well.
    Info,
    /// It is not quite as it should be.
    Warn,
    /// Something went wrong.
    Error,
}

/// The module that all lines come from. Readers look for lines of this one.
const MODULE: &str = "tofu.ui";

/// The version of the stream.
const UI_VERSION: &str = "1.2";

/// A line with its end. What is said beyond the message is in `more`, which is written in the order of the names.
pub fn line(level: Level, message: &str, at: SystemTime, more: Map<String, Value>) -> String {
    let level = match level {
        Level::Info => "info",
        Level::Warn => "warn",
        Level::Error => "error",
    };
    let mut object = Map::new();
    object.insert("@level".into(), level.into());
    object.insert("@message".into(), message.into());
    object.insert("@module".into(), MODULE.into());
    object.insert("@timestamp".into(), timestamp(at).into());
    let mut more: Vec<(String, Value)> = more.into_iter().collect();
    more.sort_by(|a, b| a.0.cmp(&b.0));
    object.extend(more);
    format!("{}\n", Value::Object(object))
}

/// The first line of every stream. Readers that know the other tools find a version that they know; ours is beside it.
pub fn version_line(at: SystemTime) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let more = json!({
        "groma": { "version": version }, "tofu": TERRAFORM_VERSION, "type": "version", "ui": UI_VERSION,
    });
    let Value::Object(more) = more else { return String::new() };
    line(Level::Info, &format!("groma {version}"), at, more)
}

/// As `2026-11-16T00:52:15.993416Z`.
pub(in crate::view) fn timestamp(at: SystemTime) -> String {
    let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (seconds, micros) = (since.as_secs(), since.subsec_micros());
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Eras of 400 years from the first of March of year 0, so that leap days come last.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_index + 2) / 5 + 1;
    let month = if month_index < 10 { month_index + 3 } else { month_index - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (rest / 3_600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{micros:06}Z")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn times_are_written_as_machines_read_them() {
        let written =
            |seconds, micros: u64| timestamp(UNIX_EPOCH + Duration::from_secs(seconds) + Duration::from_micros(micros));
        assert_eq!(written(0, 0), "1970-01-01T00:00:00.000000Z");
        assert_eq!(written(951_782_400, 7), "2000-02-29T00:00:00.000007Z");
        assert_eq!(written(1_794_790_335, 993_416), "2026-11-16T00:52:15.993416Z");
    }

    #[test]
    fn members_are_in_the_order_of_their_names() {
        let mut more = Map::new();
        more.insert("type".into(), "log".into());
        more.insert("a".into(), 1.into());
        let expected = "{\"@level\":\"warn\",\"@message\":\"m <\",\"@module\":\"tofu.ui\",\
                        \"@timestamp\":\"1970-01-01T00:00:00.000000Z\",\"a\":1,\"type\":\"log\"}\n";
        assert_eq!(line(Level::Warn, "m <", UNIX_EPOCH, more), expected);
    }
}
