//! Conversions between types.

use groma_model::convert::{Conversion, Safety, convert};
use groma_model::ty::Type;
use groma_model::value::{Value, go_quote};

use super::support::{Outcome, any_param};
use super::{Function, FunctionError};

/// The functions of this group.
pub(super) fn functions() -> Vec<Function> {
    let v = || vec![any_param("v").null().dynamic().marked().about("The value to convert.")];
    let list = || Type::list(Type::Dynamic);
    let set = || Type::set(Type::Dynamic);
    let map = || Type::map(Type::Dynamic);
    // The functions do not know their own names, so each says what it converts to.
    vec![
        Function::new("tobool", "Makes a value a bool.", v(), Type::Bool, |_, args| to(args, &Type::Bool))
            .typed(|args| check(args, &Type::Bool))
            .or_null(),
        Function::new("tonumber", "Makes a value a number.", v(), Type::Number, |_, args| to(args, &Type::Number))
            .typed(|args| check(args, &Type::Number))
            .or_null(),
        Function::new("tostring", "Makes a value a string.", v(), Type::String, |_, args| to(args, &Type::String))
            .typed(|args| check(args, &Type::String))
            .or_null(),
        Function::new("tolist", "Makes a value a list.", v(), list(), |_, args| to(args, &Type::list(Type::Dynamic)))
            .typed(|args| check(args, &Type::list(Type::Dynamic)))
            .or_null(),
        Function::new("toset", "Makes a value a set.", v(), set(), |_, args| to(args, &Type::set(Type::Dynamic)))
            .typed(|args| check(args, &Type::set(Type::Dynamic)))
            .or_null(),
        Function::new("tomap", "Makes a value a map.", v(), map(), |_, args| to(args, &Type::map(Type::Dynamic)))
            .typed(|args| check(args, &Type::map(Type::Dynamic)))
            .or_null(),
    ]
}

/// The type of the result, if there may be one. Known values are left for the conversion itself to judge.
fn check(args: &[Value], want: &Type) -> Result<Type, FunctionError> {
    if args[0].is_known() || has_way(&args[0], want) {
        return Ok(want.clone());
    }
    Err(no_way(&args[0].friendly_type_name(), want))
}

fn has_way(value: &Value, want: &Type) -> bool {
    Conversion::find(&value.ty(), want, Safety::Unsafe).is_some()
}

fn no_way(what: &str, want: &Type) -> FunctionError {
    FunctionError::arg(0, format!("cannot convert {what} to {}", want.friendly_constraint()))
}

fn to(args: &[Value], want: &Type) -> Outcome {
    convert(&args[0], want).map_err(|_| failure(&args[0], want))
}

/// Why a value cannot be converted. Of one that must not be shown, only the type is told.
fn failure(value: &Value, want: &Type) -> FunctionError {
    let given = value.friendly_type_name();
    let marks = value.marks_deep();
    if has_way(value, want) {
        if marks.is_ephemeral() {
            return no_way(&format!("this ephemeral {given}"), want);
        }
        if marks.is_sensitive() {
            return no_way(&format!("this sensitive {given}"), want);
        }
    }
    let Some(text) = value.as_str().map(go_quote) else { return no_way(&given, want) };
    let message = match want {
        Type::Bool => format!("cannot convert {text} to bool; only the strings \"true\" or \"false\" are allowed"),
        Type::Number => {
            format!("cannot convert {text} to number; given string must be a decimal representation of a number")
        }
        _ => return no_way(&given, want),
    };
    FunctionError::arg(0, message)
}

#[cfg(test)]
mod tests {
    use crate::func::support::table::{check_errors, check_values};

    #[test]
    fn values() {
        check_values(&[
            (
                "[tobool(\"true\"), tobool(null), tonumber(\"1.5\"), tostring(1), tostring(true)]",
                r#"[true, null, 1.5, "1", "true"]"#,
            ),
            (
                "[tolist([1, \"a\"]), toset([1, 1]), tomap({a = 1, b = \"x\"})]",
                r#"[list["1", "a"], set[1], map{"a": "1", "b": "x"}]"#,
            ),
            (
                "[tolist(toset([2, 1])), tolist([]), toset([]), tomap({}), tolist(null)]",
                "[list[1, 2], list[], set[], map{}, null]",
            ),
            (
                "[type(tolist([])), type(tolist(u_set)), type(tomap({a = 1}))]",
                r#"["list(dynamic)", "list(dynamic)", "map(number)"]"#,
            ),
            ("[tostring(u_number), tonumber(u_any), tolist(u_any)]", "[unknown string, unknown number, unknown list]"),
            ("[tostring(secret), tolist([secret]), toset([secret])]", "[(sensitive), list[(sensitive)], (sensitive)]"),
        ]);
    }

    #[test]
    fn errors() {
        check_errors(&[
            ("tobool(\"yes\")", "cannot convert \"yes\" to bool; only the strings \"true\" or \"false\" are allowed"),
            (
                "tonumber(\"a\")",
                "cannot convert \"a\" to number; given string must be a decimal representation of a number",
            ),
            ("tonumber(true)", "cannot convert bool to number"),
            ("tonumber(secret)", "cannot convert this sensitive string to number"),
            ("tonumber(ephemeral)", "cannot convert this ephemeral string to number"),
            ("tostring([])", "cannot convert tuple to string"),
            ("tostring(u_list)", "cannot convert list of string to string"),
            ("tolist(\"a\")", "cannot convert string to list of any single type"),
            ("tolist([1, {}])", "cannot convert tuple to list of any single type"),
            ("tomap([])", "cannot convert tuple to map of any single type"),
            ("toset({})", "cannot convert object to set of any single type"),
        ]);
    }
}
