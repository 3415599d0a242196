//! What several kinds are written with: references, conditions, lengths of time, and values of any shape.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A Secret or a ConfigMap, by kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub enum HolderKind {
    /// Values that must not be shown.
    Secret,
    /// Values that anybody may see.
    ConfigMap,
}

impl HolderKind {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Secret => "Secret",
            Self::ConfigMap => "ConfigMap",
        }
    }
}

/// One key of a Secret or a ConfigMap in the namespace of who refers to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeyRef {
    /// The name of the object.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// The key in its data.
    #[schemars(length(min = 1, max = 253))]
    pub key: String,
    /// Whether it may be missing.
    #[serde(default, skip_serializing_if = "is_false")]
    pub optional: bool,
}

/// Another object of the same kind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObjectRef {
    /// Its name.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Its namespace, if it is another one. That has to be allowed there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
}

/// What `skip_serializing_if` asks.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
pub(crate) fn is_false(value: &bool) -> bool {
    !*value
}

/// What `skip_serializing_if` asks.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
pub(crate) fn is_zero(value: &u32) -> bool {
    *value == 0
}

/// A value of any shape, as JSON has it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AnyValue(pub serde_json::Value);

impl JsonSchema for AnyValue {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "AnyValue".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "x-kubernetes-preserve-unknown-fields": true })
    }
}

/// Values of any shape, by name.
pub type Values = BTreeMap<String, AnyValue>;

/// A length of time, as Go and Kubernetes write it: `90s`, `5m`, `1h30m`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Length(pub Duration);

impl Length {
    /// So many seconds.
    pub const fn seconds(seconds: u64) -> Self {
        Self(Duration::from_secs(seconds))
    }

    /// Reads `1h30m`. What is wrong with it is said in words.
    pub fn parse(text: &str) -> Result<Self, LengthError> {
        let wrong = || LengthError(text.to_owned());
        let mut rest = text;
        let mut total = Duration::ZERO;
        if rest.is_empty() {
            return Err(wrong());
        }
        while !rest.is_empty() {
            let digits = rest.find(|at: char| !at.is_ascii_digit() && at != '.').ok_or_else(wrong)?;
            let (number, after) = rest.split_at(digits);
            let unit_ends = after.find(|at: char| at.is_ascii_digit() || at == '.').unwrap_or(after.len());
            let (unit, after) = after.split_at(unit_ends);
            let seconds_each = match unit {
                "ms" => 0.001,
                "s" => 1.0,
                "m" => 60.0,
                "h" => 3600.0,
                _ => return Err(wrong()),
            };
            let number: f64 = number.parse().map_err(|_| wrong())?;
            let part = Duration::try_from_secs_f64(number * seconds_each).map_err(|_| wrong())?;
            total = total.checked_add(part).ok_or_else(wrong)?;
            rest = after;
        }
        Ok(Self(total))
    }
}

/// A text that is no length of time.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0:?} is not a length of time: write a number and a unit, such as 30s, 5m or 1h30m")]
pub struct LengthError(String);

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = self.0.subsec_millis();
        let seconds = self.0.as_secs();
        let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        if hours > 0 {
            write!(f, "{hours}h")?;
        }
        if minutes > 0 {
            write!(f, "{minutes}m")?;
        }
        if seconds > 0 || (hours == 0 && minutes == 0 && millis == 0) {
            write!(f, "{seconds}s")?;
        }
        if millis > 0 {
            write!(f, "{millis}ms")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl Serialize for Length {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Length {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(D::Error::custom)
    }
}

impl JsonSchema for Length {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Length".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$" })
    }
}

/// A moment, as Kubernetes writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Moment(pub jiff::Timestamp);

impl JsonSchema for Moment {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Moment".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "date-time" })
    }
}

/// One thing that is so, or is not, or is not known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    /// What it is about.
    #[serde(rename = "type")]
    pub kind: String,
    /// Whether it is so: `True`, `False` or `Unknown`.
    pub status: Truth,
    /// Which generation of the object that was said about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Since when it is so.
    pub last_transition_time: Moment,
    /// Why, in one word.
    pub reason: String,
    /// Why, for people.
    pub message: String,
}

/// Whether something is so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Truth {
    /// It is.
    True,
    /// It is not.
    False,
    /// That is being found out.
    Unknown,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        Length::parse(text).map_or_else(|problem| problem.to_string(), |length| length.to_string())
    }

    #[test]
    fn lengths_are_read_and_shown_as_go_does() {
        assert_eq!(shown("90s"), "1m30s");
        assert_eq!(shown("1h30m"), "1h30m");
        assert_eq!(shown("1.5h"), "1h30m");
        assert_eq!(shown("250ms"), "250ms");
        assert_eq!(shown("0s"), "0s");
    }

    #[test]
    fn what_is_no_length_is_told() {
        for text in ["", "5", "m", "5 m", "-5m", "5d", "1h-3m", "99999999999999999999h"] {
            assert!(shown(text).contains("write a number and a unit"), "{text}: {}", shown(text));
        }
    }
}
