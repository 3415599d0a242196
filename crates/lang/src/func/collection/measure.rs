//! How many elements there are, and whether any or all are true.

use groma_model::number::Number;
use groma_model::ty::Type;
use groma_model::value::{Bound, Refinement, Value, ValueKind};
use unicode_segmentation::UnicodeSegmentation;

use super::super::support::{Outcome, any_param, elements};
use super::super::{CallContext, Function, FunctionError, Param};

pub(super) fn functions() -> Vec<Function> {
    let bools = || vec![Param::new("list", Type::list(Type::Bool)).about("The bools to look at.")];
    vec![
        Function::new(
            "length",
            "Counts the elements of a collection or tuple, the attributes of an object or the characters of a string.",
            vec![any_param("value").unknown().dynamic().marked().about("What to measure.")],
            Type::Number,
            length,
        )
        .typed(length_type),
        Function::new(
            "alltrue",
            "Tells whether all elements of a list are true. Of none, all are.",
            bools(),
            Type::Bool,
            all_true,
        ),
        Function::new("anytrue", "Tells whether an element of a list is true.", bools(), Type::Bool, any_true),
    ]
}

fn length_type(args: &[Value]) -> Result<Type, FunctionError> {
    if args[0].as_elements().is_none() && matches!(args[0].ty(), Type::Bool | Type::Number) {
        return Err(FunctionError::new("argument must be a string, a collection type, or a structural type"));
    }
    Ok(Type::Number)
}

fn length(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    let value = &args[0];
    let count = match value.kind() {
        ValueKind::String(text) => Value::number(characters(text)),
        ValueKind::Unknown(known) if value.is_of_type(&Type::String) => {
            let least = known.prefix.as_deref().map_or(0, characters);
            let lower = Some(Bound { number: Number::from(least), inclusive: true });
            Value::unknown_refined(Type::Number, Refinement { not_null: true, lower, ..Refinement::default() })
        }
        ValueKind::Unknown(_) if value.is_dynamic() => Value::unknown(Type::Number),
        _ => value.length().map_err(|error| FunctionError::new(error.to_string()))?,
    };
    Ok(count.with_marks(value.marks()))
}

/// How many characters people see in a text.
fn characters(text: &str) -> usize {
    if text.is_ascii() && !text.contains("\r\n") { text.len() } else { text.graphemes(true).count() }
}

fn all_true(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    for item in elements(args, 0) {
        if !item.is_known() {
            return Ok(Value::unknown(Type::Bool));
        }
        if item.as_bool() != Some(true) {
            return Ok(Value::bool(false));
        }
    }
    Ok(Value::bool(true))
}

fn any_true(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    let items = elements(args, 0);
    if items.iter().any(|item| item.as_bool() == Some(true)) {
        return Ok(Value::bool(true));
    }
    Ok(if items.iter().all(Value::is_known) { Value::bool(false) } else { Value::unknown(Type::Bool) })
}

#[cfg(test)]
mod tests {
    use groma_model::value::Bound;

    use crate::func::support::table::{check_errors, check_values, scope};

    #[test]
    fn values() {
        check_values(&[
            ("[length([1, \"a\"]), length({a = 1}), length(tomap({a = 1})), length(toset([1, 1]))]", "[2, 1, 1, 1]"),
            ("[length(\"\"), length(\"e\u{301}x\"), length(\"a\\r\\nb\")]", "[0, 2, 3]"),
            ("[length(u_any), length(u_string), length(u_list)]", "[unknown number, unknown number, unknown number]"),
            ("[length(u_object), length(u_tuple), length(toset([u_string]))]", "[1, 2, 1]"),
            ("length(secret_list)", "(sensitive)"),
            ("[alltrue([]), alltrue([true, null]), alltrue([\"true\", true])]", "[true, false, true]"),
            ("[alltrue([false, u_bool]), alltrue([true, u_bool, false])]", "[false, unknown bool]"),
            ("[anytrue([]), anytrue([false, null]), anytrue([u_bool, true])]", "[false, false, true]"),
            ("anytrue([u_bool, false])", "unknown bool"),
        ]);
    }

    #[test]
    fn lengths_have_bounds() {
        let bounds = |expression: &str| {
            let range = scope().value(expression).range();
            let end = |bound: Option<Bound>| bound.and_then(|bound| bound.number.to_i64());
            (end(range.lower), end(range.upper))
        };
        assert_eq!(bounds("length(u_string)"), (Some(0), None));
        assert_eq!(bounds("length(\"abc${u_string}\")"), (Some(2), None));
        assert_eq!(bounds("length(toset([u_string, \"a\"]))"), (Some(1), Some(2)));
        assert_eq!(bounds("length(u_list)"), (Some(0), Some(i64::MAX)));
    }

    #[test]
    fn errors() {
        check_errors(&[
            ("length(1)", "argument must be a string, a collection type, or a structural type"),
            ("length(null)", "argument must not be null"),
            ("alltrue([1])", "element 0: bool required, but have number"),
        ]);
    }
}
