//! JSON that can be compared and ordered.

use crate::Json;

/// JSON as its compact text, with members of objects by name and whole numbers without a fraction.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Literal(String);

impl Literal {
    /// Of any JSON.
    pub(crate) fn of(json: &Json) -> Self {
        Self(settled(json).to_string())
    }

    /// Of a text.
    pub(crate) fn text(text: &str) -> Self {
        Self::of(&Json::String(text.to_owned()))
    }

    /// The JSON that a text begins with, and what comes after it.
    pub(super) fn read(text: &str) -> Option<(Self, &str)> {
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<Json>();
        let json = values.next()?.ok()?;
        let (own, rest) = text.split_at_checked(values.byte_offset())?;
        // A number as it is written: reading and writing it may change its last digit.
        Some((if json.is_number() { Self(own.to_owned()) } else { Self::of(&json) }, rest))
    }

    /// Whether it is the same as this JSON.
    pub(crate) fn is(&self, json: &Json) -> bool {
        match json {
            // Most comparisons are of texts that differ.
            Json::String(text) => self.0.starts_with('"') && self.0.len() >= text.len() + 2 && *self == Self::of(json),
            _ => *self == Self::of(json),
        }
    }

    /// The compact text.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// As JSON again.
    pub(crate) fn json(&self) -> Json {
        serde_json::from_str(&self.0).unwrap_or(Json::Null)
    }
}

fn settled(json: &Json) -> Json {
    match json {
        Json::Object(members) => {
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_by_key(|(name, _)| *name);
            Json::Object(sorted.into_iter().map(|(name, value)| (name.clone(), settled(value))).collect())
        }
        Json::Array(items) => Json::Array(items.iter().map(settled).collect()),
        Json::Number(number) => whole(number).map_or_else(|| json.clone(), Json::from),
        _ => json.clone(),
    }
}

/// Beyond this there is no `i64`.
pub(crate) const LARGEST_WHOLE: f64 = 9.2e18;

/// The whole number that a number with a fraction of zero is.
fn whole(number: &serde_json::Number) -> Option<i64> {
    let float = number.is_f64().then(|| number.as_f64())??;
    (float.fract() == 0.0 && float.abs() < LARGEST_WHOLE).then_some(float as i64)
}
