//! Conversion of what is unknown or null: only the type changes, and what is known about the value.

use super::Safety;
use super::unify::unify_types;
use crate::text::Str;
use crate::ty::{ObjectType, Type};
use crate::value::{Refinement, Value};

/// An unknown value after conversion, given what was known about it before.
pub(super) fn unknown_result(known: &Refinement, from: &Type, to: Type) -> Value {
    let length = |min: usize, max: usize| Refinement {
        not_null: known.not_null,
        min_length: min as u64,
        max_length: Some(max as u64),
        ..Refinement::default()
    };
    let refinement = match (from, &to) {
        (Type::Object(object), Type::Map(_)) => length(object.len(), object.len()),
        (Type::Tuple(elements), Type::List(_)) => length(elements.len(), elements.len()),
        // Elements may turn out equal, but not all of them can go.
        (Type::Tuple(elements), Type::Set(_)) => length(elements.len().min(1), elements.len()),
        (_, Type::Set(_)) if from.is_collection() => Refinement {
            not_null: known.not_null,
            min_length: known.min_length.min(1),
            max_length: known.max_length,
            ..Refinement::default()
        },
        _ if from.is_collection() && to.is_collection() => Refinement {
            not_null: known.not_null,
            min_length: known.min_length,
            max_length: known.max_length,
            ..Refinement::default()
        },
        _ => Refinement { not_null: known.not_null, ..Refinement::default() },
    };
    Value::unknown_refined(to, refinement)
}

/// The target type with every `any` in it replaced by what the source has there.
pub(super) fn settle_dynamic(from: &Type, to: &Type) -> Type {
    if !to.has_dynamic() {
        return to.clone();
    }
    let from_many = |parts: &[Type], element: &Type| match unify_types(parts, Safety::Unsafe) {
        Some(common) => settle_dynamic(&common, element),
        None => element.clone(),
    };
    match (from, to) {
        (Type::Dynamic, _) => to.clone(),
        (_, Type::Dynamic) => from.clone(),
        (Type::Map(from), Type::Map(to)) => Type::map(settle_dynamic(from, to)),
        (Type::Object(from), Type::Map(to)) => {
            let parts: Vec<Type> = from.iter().map(|(_, attribute)| attribute.ty.clone()).collect();
            Type::map(from_many(&parts, to))
        }
        (Type::List(from) | Type::Set(from), Type::List(to)) => Type::list(settle_dynamic(from, to)),
        (Type::List(from) | Type::Set(from), Type::Set(to)) => Type::set(settle_dynamic(from, to)),
        (Type::Tuple(from), Type::List(to)) => Type::list(from_many(from, to)),
        (Type::Tuple(from), Type::Set(to)) => Type::set(from_many(from, to)),
        (Type::Tuple(from), Type::Tuple(to)) if from.len() == to.len() => {
            Type::tuple(from.iter().zip(&**to).map(|(from, to)| settle_dynamic(from, to)).collect())
        }
        (Type::Map(from), Type::Object(to)) => settle_attributes(to, |_| Some(from)),
        (Type::Object(from), Type::Object(to)) => settle_attributes(to, |name| from.get(name)),
        _ => to.clone(),
    }
}

fn settle_attributes<'a>(to: &ObjectType, from: impl Fn(&Str) -> Option<&'a Type>) -> Type {
    Type::object(to.iter().map(|(name, attribute)| {
        let ty = from(name).map_or_else(|| attribute.ty.clone(), |from| settle_dynamic(from, &attribute.ty));
        (name.clone(), ty)
    }))
}
