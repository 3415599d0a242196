//! Which of two numbers is greater. Ranges of unknown numbers decide it where they do not meet.

use std::cmp::Ordering;

use super::OpError;
use crate::ty::Type;
use crate::value::{Bound, Value};

impl Value {
    /// `self < other`
    pub fn less_than(&self, other: &Value) -> Result<Value, OpError> {
        self.ordered(other, Ordering::Less)
    }

    /// `self > other`
    pub fn greater_than(&self, other: &Value) -> Result<Value, OpError> {
        self.ordered(other, Ordering::Greater)
    }

    /// `self <= other`
    pub fn less_or_equal(&self, other: &Value) -> Result<Value, OpError> {
        self.less_than(other)?.or(&self.equals(other))
    }

    /// `self >= other`
    pub fn greater_or_equal(&self, other: &Value) -> Result<Value, OpError> {
        self.greater_than(other)?.or(&self.equals(other))
    }

    fn ordered(&self, other: &Value, want: Ordering) -> Result<Value, OpError> {
        self.check_operand(&Type::Number)?;
        other.check_operand(&Type::Number)?;
        let result = match (self.as_number(), other.as_number()) {
            (Some(a), Some(b)) => Value::bool(a.compare(b) == want),
            _ => match self.apart_from(other) {
                Some(order) => Value::bool(order == want),
                None => Value::unknown_bool(),
            },
        };
        Ok(result.with_marks(&self.joint_marks(other)))
    }

    /// The order of two numbers whose ranges have nothing in common, not even an end.
    fn apart_from(&self, other: &Value) -> Option<Ordering> {
        let (a, b) = (self.range(), other.range());
        let below = |upper: &Option<Bound>, lower: &Option<Bound>| match (upper, lower) {
            (Some(upper), Some(lower)) => upper.number.compare(&lower.number) == Ordering::Less,
            _ => false,
        };
        if below(&a.upper, &b.lower) {
            return Some(Ordering::Less);
        }
        below(&b.upper, &a.lower).then_some(Ordering::Greater)
    }
}
