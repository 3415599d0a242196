//! How many elements there are.

use super::OpError;
use crate::number::Number;
use crate::ty::Type;
use crate::value::{Bound, Data, Refinement, Value};

impl Value {
    /// How many elements a list, set, map or tuple has, or attributes an object. A set with unknown elements may turn out shorter than it looks.
    pub fn length(&self) -> Result<Value, OpError> {
        let count = |length: usize| Value::number(Number::from(length));
        let result = match &self.data {
            Data::List(list) => count(list.items.len()),
            Data::Map(map) => count(map.entries.len()),
            Data::Tuple(tuple) => count(tuple.items.len()),
            Data::Object(object) => count(object.entries.len()),
            Data::Set(set) if set.items.len() == 1 || !set.summary.has_unknown => count(set.items.len()),
            Data::Set(set) => bounded_count(1, Some(set.items.len() as u64)),
            Data::Unknown(unknown) => match &unknown.ty {
                Type::Tuple(elements) => count(elements.len()),
                Type::Object(object) => count(object.len()),
                ty if ty.is_collection() || *ty == Type::Dynamic => {
                    bounded_count(unknown.refinement.min_length, unknown.refinement.max_length)
                }
                ty => return Err(OpError::NoLength(ty.friendly_name())),
            },
            Data::Null(Type::Tuple(elements)) => count(elements.len()),
            Data::Null(Type::Object(object)) => count(object.len()),
            Data::Null(_) => return Err(OpError::NullOperand),
            _ => return Err(OpError::NoLength(self.friendly_type_name())),
        };
        Ok(result.with_marks(&self.marks))
    }
}

fn bounded_count(min: u64, max: Option<u64>) -> Value {
    // Even where no greatest length is known there is one: no collection can have more elements than can be counted.
    let bound = |count: u64| Some(Bound { number: Number::from(count), inclusive: true });
    let upper = bound(max.unwrap_or(i64::MAX as u64));
    Value::unknown_refined(
        Type::Number,
        Refinement { not_null: true, lower: bound(min), upper, ..Refinement::default() },
    )
}
