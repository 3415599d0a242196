//! Choosing: the first argument that has something to it, the only element of a list.

use groma_model::convert::{convert, unify_unsafe};
use groma_model::ty::Type;
use groma_model::value::{Value, ValueKind};

use super::super::support::{Outcome, any_param};
use super::super::{CallContext, Function, FunctionError};

pub(super) fn functions() -> Vec<Function> {
    let vals = || any_param("vals").null().unknown().dynamic();
    vec![
        Function::new(
            "coalesce",
            "Gives the first argument that is neither null nor an empty string.",
            vec![],
            Type::Dynamic,
            coalesce,
        )
        .typed(coalesce_type)
        .rest(vals().about("The values to choose from.")),
        Function::new("coalescelist", "Gives the first list that has elements.", vec![], Type::Dynamic, coalesce_list)
            .typed(coalesce_list_type)
            .rest(vals().about("The lists or tuples to choose from.")),
        Function::new(
            "one",
            "Gives the only element of a list, set or tuple; null if there is none.",
            vec![any_param("list").about("What has one element at most.")],
            Type::Dynamic,
            one,
        )
        .typed(one_type)
        .or_null(),
    ]
}

fn coalesce_type(args: &[Value]) -> Result<Type, FunctionError> {
    let types: Vec<Type> = args.iter().map(Value::ty).collect();
    unify_unsafe(&types).ok_or_else(|| FunctionError::new("all arguments must have the same type"))
}

fn coalesce(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    let ty = coalesce_type(args)?;
    for arg in args {
        // Compatible: what cannot be converted after all is passed over like null.
        let Ok(arg) = convert(arg, &ty) else { continue };
        match arg.kind() {
            ValueKind::Unknown(_) => return Ok(Value::unknown(ty)),
            ValueKind::Null => {}
            ValueKind::String(text) if text.is_empty() && ty == Type::String => {}
            _ => return Ok(arg),
        }
    }
    Err(FunctionError::new("no non-null, non-empty-string arguments"))
}

fn coalesce_list_type(args: &[Value]) -> Result<Type, FunctionError> {
    let Some(first) = args.first() else { return Err(FunctionError::new("at least one argument is required")) };
    for arg in args {
        if !arg.is_known() {
            return Ok(Type::Dynamic);
        }
        if !matches!(arg.kind(), ValueKind::List(_) | ValueKind::Tuple(_))
            && !matches!(arg.ty(), Type::List(_) | Type::Tuple(_))
        {
            return Err(FunctionError::new("coalescelist arguments must be lists or tuples"));
        }
    }
    Ok(if args.iter().all(|arg| arg.has_type_of(first)) { first.ty() } else { Type::Dynamic })
}

fn coalesce_list(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    for arg in args {
        if !arg.is_known() {
            return Ok(Value::dynamic());
        }
        if arg.as_elements().is_some_and(|items| !items.is_empty()) {
            return Ok(arg.clone());
        }
    }
    Err(FunctionError::new("no non-null arguments"))
}

fn not_one() -> FunctionError {
    FunctionError::arg(0, "must be a list, set, or tuple value with either zero or one elements")
}

fn one_type(args: &[Value]) -> Result<Type, FunctionError> {
    match args[0].ty() {
        Type::List(element) | Type::Set(element) => Ok(element.as_ref().clone()),
        Type::Tuple(types) if types.len() < 2 => Ok(types.first().cloned().unwrap_or(Type::Dynamic)),
        _ => Err(not_one()),
    }
}

fn one(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    let ty = one_type(args)?;
    if args[0].length().is_ok_and(|length| !length.is_known()) {
        return Ok(Value::unknown(ty));
    }
    match args[0].as_elements() {
        Some([]) => Ok(Value::null(ty)),
        Some([only]) => Ok(only.clone()),
        _ => Err(not_one()),
    }
}

#[cfg(test)]
mod tests {
    use crate::func::support::table::{check_errors, check_values};

    #[test]
    fn values() {
        check_values(&[
            ("[coalesce(null, \"\", \"a\", \"b\"), coalesce(\"\", null, 3), coalesce(1, \"a\")]", r#"["a", "3", "1"]"#),
            ("[coalesce([], [1]), coalesce(null, {a = 1})]", r#"[list[], {"a": 1}]"#),
            (
                "[coalesce(\"a\", u_string), coalesce(u_string, \"a\"), coalesce(null, u_any)]",
                "[\"a\", unknown string, unknown any]",
            ),
            ("[coalesce(secret, \"a\") != null, coalesce(u_string, \"a\") != null]", "[(sensitive), true]"),
            (
                "[coalescelist([], [1]), coalescelist(tolist([]), tolist([\"a\"])), coalescelist([1], u_list)]",
                r#"[[1], list["a"], [1]]"#,
            ),
            ("[coalescelist([], u_list), coalescelist(u_any, [])]", "[unknown any, unknown any]"),
            ("[one([]), one([\"a\"]), one(toset([1])), one(tolist([])), one([null])]", r#"[null, "a", 1, null, null]"#),
            (
                "[one(u_list), one(toset([u_string])), one(toset([u_string, \"a\"]))]",
                "[unknown string, unknown string, unknown string]",
            ),
            ("one([secret])", "(sensitive)"),
        ]);
    }

    #[test]
    fn errors() {
        check_errors(&[
            ("coalesce()", "all arguments must have the same type"),
            ("coalesce(1, true)", "all arguments must have the same type"),
            ("coalesce([], {})", "all arguments must have the same type"),
            ("coalesce(null, \"\")", "no non-null, non-empty-string arguments"),
            ("coalescelist()", "at least one argument is required"),
            ("coalescelist(\"a\")", "coalescelist arguments must be lists or tuples"),
            ("coalescelist(null, [1])", "coalescelist arguments must be lists or tuples"),
            ("coalescelist([], [])", "no non-null arguments"),
            ("one([1, 2])", "must be a list, set, or tuple value with either zero or one elements"),
            ("one(tolist([1, 2]))", "must be a list, set, or tuple value with either zero or one elements"),
            ("one(u_tuple)", "must be a list, set, or tuple value with either zero or one elements"),
            ("one(\"a\")", "must be a list, set, or tuple value with either zero or one elements"),
        ]);
    }
}
