//! `random_integer`: a number from a range.

use async_trait::async_trait;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::ty::Type;

use super::go_rand::GoRand;
use super::{drawn, kept};
use crate::chance::Chance;
use crate::kit::spec::{computed, optional, required};
use crate::kit::{Call, Failed, Object, Resource, Spec};

pub(super) struct Integer(pub(super) Chance);

#[async_trait]
impl Resource for Integer {
    fn type_name(&self) -> &'static str {
        "random_integer"
    }

    fn spec(&self) -> Spec {
        kept()
            .doc("A whole number from a range.")
            .attr("min", required(Type::Number).doc("The least number that may be drawn.").replace())
            .attr("max", required(Type::Number).doc("The greatest number that may be drawn.").replace())
            .attr("seed", optional(Type::String).doc("The same seed draws the same number from a range.").replace())
            .attr("result", computed(Type::Number).doc("The number.").keep())
            .attr("id", drawn("The number as text."))
    }

    async fn create(&self, mut planned: Object, _: &Object, _: &mut Call) -> Result<Object, Failed> {
        let (Some(min), Some(max)) = (planned.int("min"), planned.int("max")) else {
            let detail = "The range must be given in whole numbers of 64 bits.";
            return Err(Diagnostic::error("Create Random Integer Error", detail).into());
        };
        if max < min {
            let detail = "The minimum (min) value needs to be smaller than or equal to maximum (max) value.";
            return Err(Diagnostic::error("Create Random Integer Error", detail).into());
        }
        let number = match planned.text("seed").filter(|seed| !seed.is_empty()) {
            Some(seed) => seeded(seed, min, max)?,
            None => self.unseeded(min, max)?,
        };
        planned.set_int("result", number);
        planned.set("id", number.to_string());
        Ok(planned)
    }

    async fn import(&self, id: &str, mut object: Object, _: &mut Call) -> Result<Object, Diagnostics> {
        let failed = |detail: &str| Diagnostic::error("Import Random Integer Error", detail);
        let parts: Vec<&str> = id.split(',').collect();
        let (result, min, max, seed) = match parts.as_slice() {
            [result, min, max] => (*result, *min, *max, None),
            [result, min, max, seed] => (*result, *min, *max, Some(*seed)),
            _ => {
                let usage = "Invalid import usage: expecting {result},{min},{max} or {result},{min},{max},{seed}";
                return Err(failed(usage).into());
            }
        };
        for (name, text, what) in [("result", result, "value"), ("min", min, "min value"), ("max", max, "max value")] {
            let number: i64 = text.parse().map_err(|error| {
                failed(&format!("The {what} supplied could not be parsed as an integer.\n\nOriginal Error: {error}"))
            })?;
            object.set_int(name, number);
        }
        object.set_text("seed", seed);
        object.set("id", result);
        Ok(object)
    }
}

impl Integer {
    fn unseeded(&self, min: i64, max: i64) -> Result<i64, Diagnostic> {
        let span = i128::from(max) - i128::from(min);
        let drawn = match u64::try_from(span + 1) {
            Ok(count) => self.0.below(count)?,
            // The whole range of 64 bits.
            Err(_) => self.0.bytes(8)?.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)),
        };
        Ok(i64::try_from(i128::from(min) + i128::from(drawn)).unwrap_or(max))
    }
}

/// The published plugin counts in 64 bits with a sign, and cannot draw from a range that needs more.
fn seeded(seed: &str, min: i64, max: i64) -> Result<i64, Diagnostic> {
    let count = max.checked_add(1).and_then(|end| end.checked_sub(min)).ok_or_else(|| {
        Diagnostic::error("Create Random Integer Error", "The range is too large for numbers from a seed.")
    })?;
    Ok(GoRand::seeded(seed).below(count) + min)
}
