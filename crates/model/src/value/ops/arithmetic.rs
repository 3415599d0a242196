//! Arithmetic. Unknown operands give unknown numbers with the range that follows from the ranges of the operands.

use super::OpError;
use crate::number::Number;
use crate::ty::Type;
use crate::value::{Bound, Refinement, Value};

type NumberOperation = fn(&Number, &Number) -> Option<Number>;

impl Value {
    /// `self + other`
    pub fn add(&self, other: &Value) -> Result<Value, OpError> {
        self.monotone(other, Number::add, OpError::SumOfInfinities)
    }

    /// `self - other`
    pub fn subtract(&self, other: &Value) -> Result<Value, OpError> {
        self.monotone(other, Number::sub, OpError::DifferenceOfInfinities)
    }

    /// `self * other`
    pub fn multiply(&self, other: &Value) -> Result<Value, OpError> {
        self.monotone(other, Number::mul, OpError::ZeroTimesInfinity)
    }

    /// `self / other`; by zero it is infinite.
    pub fn divide(&self, other: &Value) -> Result<Value, OpError> {
        self.unbounded(other, Number::div, OpError::UndefinedQuotient)
    }

    /// `self % other`, with the sign of `self`; by zero it is `self`.
    pub fn modulo(&self, other: &Value) -> Result<Value, OpError> {
        self.unbounded(other, Number::rem, OpError::UndefinedRemainder)
    }

    /// `-self`
    pub fn negate(&self) -> Result<Value, OpError> {
        self.check_operand(&Type::Number)?;
        let result = match self.as_number() {
            Some(number) => Value::number(number.neg()),
            None => Value::unknown_operand(),
        };
        Ok(result.with_marks(&self.marks))
    }

    /// The distance from zero.
    pub fn absolute(&self) -> Result<Value, OpError> {
        self.check_operand(&Type::Number)?;
        let result = if let Some(number) = self.as_number() {
            Value::number(number.abs())
        } else {
            let lower = Some(Bound { number: Number::ZERO, inclusive: true });
            Value::unknown_refined(Type::Number, Refinement { not_null: true, lower, ..Refinement::default() })
        };
        Ok(result.with_marks(&self.marks))
    }

    /// An operation whose extremes lie at the extremes of its operands.
    fn monotone(&self, other: &Value, operation: NumberOperation, failure: OpError) -> Result<Value, OpError> {
        self.compute(other, operation, failure, |a, b| range_of(a, b, operation))
    }

    fn unbounded(&self, other: &Value, operation: NumberOperation, failure: OpError) -> Result<Value, OpError> {
        self.compute(other, operation, failure, |_, _| Refinement::not_null())
    }

    fn compute(
        &self,
        other: &Value,
        operation: NumberOperation,
        failure: OpError,
        range: impl Fn(&Refinement, &Refinement) -> Refinement,
    ) -> Result<Value, OpError> {
        self.check_operand(&Type::Number)?;
        other.check_operand(&Type::Number)?;
        let result = match (self.as_number(), other.as_number()) {
            (Some(a), Some(b)) => Value::number(operation(a, b).ok_or(failure)?),
            _ => Value::unknown_refined(Type::Number, range(&self.range(), &other.range())),
        };
        Ok(result.with_marks(&self.joint_marks(other)))
    }
}

/// The range of a result: from the least to the greatest of the results at the ends of the operands' ranges.
fn range_of(a: &Refinement, b: &Refinement, operation: NumberOperation) -> Refinement {
    let ends = |range: &Refinement| {
        let lower = range.lower.as_ref().map_or_else(|| Number::infinity(true), |bound| bound.number.clone());
        let upper = range.upper.as_ref().map_or_else(|| Number::infinity(false), |bound| bound.number.clone());
        [lower, upper]
    };
    let anything = Refinement::not_null();
    let mut results = Vec::with_capacity(4);
    for a in &ends(a) {
        for b in &ends(b) {
            let Some(result) = operation(a, b) else { return anything };
            results.push(result);
        }
    }
    let bound = |number: Option<Number>| {
        number.filter(|number| !number.is_infinite()).map(|number| Bound { number, inclusive: true })
    };
    let least = results.iter().min_by(|a, b| a.compare(b)).cloned();
    let greatest = results.into_iter().max_by(Number::compare);
    Refinement { lower: bound(least), upper: bound(greatest), ..anything }
}
