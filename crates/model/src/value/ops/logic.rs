//! Logic on bools. A known operand that decides the result wins over an unknown one.

use super::OpError;
use crate::ty::Type;
use crate::value::Value;

impl Value {
    /// `!self`
    pub fn not(&self) -> Result<Value, OpError> {
        self.check_operand(&Type::Bool)?;
        let result = self.as_bool().map_or_else(Value::unknown_bool, |value| Value::bool(!value));
        Ok(result.with_marks(&self.marks))
    }

    /// `self && other`
    pub fn and(&self, other: &Value) -> Result<Value, OpError> {
        self.decide(other, false)
    }

    /// `self || other`
    pub fn or(&self, other: &Value) -> Result<Value, OpError> {
        self.decide(other, true)
    }

    /// `deciding` if one side is that, its opposite if both sides are the opposite.
    fn decide(&self, other: &Value, deciding: bool) -> Result<Value, OpError> {
        self.check_operand(&Type::Bool)?;
        other.check_operand(&Type::Bool)?;
        let result = match (self.as_bool(), other.as_bool()) {
            (Some(side), _) | (_, Some(side)) if side == deciding => Value::bool(deciding),
            (Some(_), Some(_)) => Value::bool(!deciding),
            _ => Value::unknown_bool(),
        };
        Ok(result.with_marks(&self.joint_marks(other)))
    }
}
