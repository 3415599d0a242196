//! Saying why a value of one type cannot be one of another.

use super::{Conversion, Safety};
use crate::ty::{ObjectType, Type};
use crate::value::go_quote;

/// Why values of the one type cannot be converted to the other, in words for users.
pub fn mismatch_message(got: &Type, want: &Type) -> String {
    match (got, want) {
        (Type::Object(got), Type::Object(want)) => objects(got, want),
        (Type::Tuple(_), Type::List(element)) if **element == Type::Dynamic => {
            "all list elements must have the same type".to_owned()
        }
        (Type::Tuple(_), Type::Set(element)) if **element == Type::Dynamic => {
            "all set elements must have the same type".to_owned()
        }
        (Type::Object(_), Type::Map(element)) if **element == Type::Dynamic => {
            "all map elements must have the same type".to_owned()
        }
        (Type::Tuple(elements), Type::List(want) | Type::Set(want)) => tuple_elements(elements, want),
        (Type::Object(object), Type::Map(want)) => object_elements(object, want),
        (Type::List(got) | Type::Set(got), Type::List(want)) => element_mismatch("list", got, want),
        (Type::List(got) | Type::Set(got), Type::Set(want)) => element_mismatch("set", got, want),
        (Type::Map(got), Type::Map(want)) => element_mismatch("map", got, want),
        _ if want.is_collection() && !got.is_primitive() && *got != Type::Dynamic => required(want),
        _ if both_are_worth_telling(got, want) => {
            format!("{} required, but have {}", want.friendly_name(), got.friendly_name())
        }
        _ => required(want),
    }
}

fn required(want: &Type) -> String {
    format!("{} required", want.friendly_constraint())
}

fn element_mismatch(kind: &str, got: &Type, want: &Type) -> String {
    format!("incorrect {kind} element type: {}", mismatch_message(got, want))
}

fn has_conversion(got: &Type, want: &Type, safety: Safety) -> bool {
    got == want || Conversion::find(got, want, safety).is_some()
}

fn tuple_elements(elements: &[Type], want: &Type) -> String {
    match elements.iter().enumerate().find(|(_, got)| !has_conversion(got, want, Safety::Unsafe)) {
        Some((at, got)) => format!("element {at}: {}", mismatch_message(got, want)),
        None => format!("all elements must be {}", want.friendly_constraint()),
    }
}

fn object_elements(object: &ObjectType, want: &Type) -> String {
    match object.iter().find(|(_, got)| !has_conversion(&got.ty, want, Safety::Unsafe)) {
        Some((name, got)) => format!("element {}: {}", go_quote(name), mismatch_message(&got.ty, want)),
        None => format!("all elements must be {}", want.friendly_constraint()),
    }
}

fn objects(got: &ObjectType, want: &ObjectType) -> String {
    let missing: Vec<String> = want
        .iter()
        .filter(|(name, attribute)| !attribute.optional && got.get(name).is_none())
        .map(|(name, _)| go_quote(name))
        .collect();
    match missing.as_slice() {
        [] => {}
        [one] => return format!("attribute {one} is required"),
        [one, other] => return format!("attributes {one} and {other} are required"),
        [rest @ .., last] => return format!("attributes {}, and {last} are required", rest.join(", ")),
    }
    // What can never be converted matters more than what may fail.
    for safety in [Safety::Unsafe, Safety::Safe] {
        for (name, want) in want.iter() {
            if let Some(got) = got.get(name)
                && !has_conversion(got, &want.ty, safety)
            {
                return format!("attribute {}: {}", go_quote(name), mismatch_message(got, &want.ty));
            }
        }
    }
    "incorrect object attributes".to_owned()
}

/// Whether naming both types helps. Between strings and numbers or bools it does not: there the value is wrong, not the
/// type.
fn both_are_worth_telling(got: &Type, want: &Type) -> bool {
    if got.is_primitive() != want.is_primitive() {
        return true;
    }
    matches!(
        (got, want),
        (_, Type::String) | (Type::Number, Type::Bool) | (Type::Bool, Type::Number) | (Type::Tuple(_), Type::Object(_))
    )
}
