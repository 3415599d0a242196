//! Sets: union, intersection, difference. Cartesian products have their own module.

use std::collections::HashSet;

use groma_model::convert::{convert, unify_unsafe};
use groma_model::ty::Type;
use groma_model::value::Value;

use super::super::support::Outcome;
use super::super::{CallContext, Function, FunctionError, Param};
use super::{element_type, set_of};

pub(super) fn functions() -> Vec<Function> {
    let set = |name: &'static str| Param::new(name, Type::set(Type::Dynamic)).dynamic();
    let first = || vec![set("first_set").about("A set.")];
    let others = || set("other_sets").about("More sets.");
    vec![
        Function::new("setunion", "Gives what is in any of several sets.", first(), Type::Dynamic, union)
            .typed(common_type)
            .rest(others()),
        Function::new("setintersection", "Gives what is in all of several sets.", first(), Type::Dynamic, intersection)
            .typed(common_type)
            .rest(others()),
        Function::new(
            "setsubtract",
            "Gives what is in one set but not in another.",
            vec![set("a").about("The set to take from."), set("b").about("What to take away.")],
            Type::Dynamic,
            difference,
        )
        .typed(common_type),
    ]
}

/// The set type that all arguments can be converted to.
fn common_type(args: &[Value]) -> Result<Type, FunctionError> {
    let is_blank =
        |set: &Value| set.as_elements().is_some_and(<[Value]>::is_empty) && set.element_type() == Some(&Type::Dynamic);
    let types: Vec<Type> = args.iter().filter(|set| !is_blank(set)).map(element_type).collect();
    if types.is_empty() {
        return Ok(Type::set(Type::Dynamic));
    }
    unify_unsafe(&types)
        .map(Type::set)
        .ok_or_else(|| FunctionError::new("given sets must all have compatible element types"))
}

/// The argument as a set of the common type.
fn converted(args: &[Value], at: usize, ty: &Type) -> Outcome {
    convert(&args[at], ty).map_err(|error| FunctionError::arg(at, error.message))
}

fn items(set: &Value) -> &[Value] {
    set.as_elements().unwrap_or_default()
}

fn set_type_element(ty: &Type) -> &Type {
    ty.element().unwrap_or(&Type::Dynamic)
}

fn union(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    let ty = common_type(args)?;
    let mut all = Vec::new();
    for at in 0..args.len() {
        all.extend_from_slice(items(&converted(args, at, &ty)?));
    }
    set_of(set_type_element(&ty), all)
}

fn intersection(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    keep(args, true)
}

fn difference(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    keep(args, false)
}

/// Elements of the first set for which it holds with every other set that they are in it, or are not in it.
fn keep(args: &[Value], is_in: bool) -> Outcome {
    let ty = common_type(args)?;
    let mut kept: Option<Vec<Value>> = None;
    for at in 0..args.len() {
        let set = converted(args, at, &ty)?;
        // What is unknown may turn out to be anything.
        if !set.is_wholly_known() {
            return Ok(Value::unknown(ty));
        }
        kept = Some(match kept {
            None => items(&set).to_vec(),
            Some(mut kept) => {
                let other: HashSet<&Value> = items(&set).iter().collect();
                kept.retain(|item| other.contains(item) == is_in);
                kept
            }
        });
    }
    set_of(set_type_element(&ty), kept.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use groma_model::ty::Type;
    use groma_model::value::Value;

    use crate::eval::testing::TestScope;
    use crate::func::support::table::{check_errors, check_values};

    #[test]
    fn values() {
        check_values(&[
            (
                "[setunion([\"b\"], [\"a\", \"b\"]), setunion([1], [\"a\"]), setunion([], [\"a\"])]",
                r#"[set["a", "b"], set["1", "a"], set["a"]]"#,
            ),
            (
                "[setunion([]), setunion([u_string], [\"a\"]), setunion(u_set, [\"a\"])]",
                r#"[set[], set["a", unknown string], unknown set]"#,
            ),
            ("type(setunion([], []))", "\"set(dynamic)\""),
            (
                "[setintersection([\"a\", \"b\"], [\"b\", \"c\"], [\"b\"]), setintersection([1], [\"1\"])]",
                r#"[set["b"], set["1"]]"#,
            ),
            ("[setintersection([u_string], [\"a\"]), setintersection([\"a\"])]", r#"[unknown set, set["a"]]"#),
            (
                "[setsubtract([\"a\", \"b\"], [\"b\"]), setsubtract([1, 2], [\"1\"]), setsubtract([\"a\"], [])]",
                r#"[set["a"], set["2"], set["a"]]"#,
            ),
            (
                "[setsubtract([{a = 1}, {a = 2}], [{a = 2}]), setsubtract([null, 1], [null])]",
                r#"[set[{"a": 1}], set[1]]"#,
            ),
            ("setunion([secret], [\"a\"])", "(sensitive)"),
        ]);
    }

    #[test]
    fn errors() {
        check_errors(&[
            ("setunion([\"a\"], [[]])", "given sets must all have compatible element types"),
            ("setunion([\"a\"], null)", "argument must not be null"),
            ("setsubtract([\"a\"])", "Missing value for \"b\""),
        ]);
    }

    #[test]
    fn much_takes_linear_time() {
        let numbers = |from: i64| Value::list(Type::Number, (from..from + 100_000).map(Value::number).collect());
        let scope = TestScope::with([("a", numbers(0)), ("b", numbers(50_000))]);
        for (function, length) in [("setunion", 150_000), ("setintersection", 50_000), ("setsubtract", 50_000)] {
            assert_eq!(scope.value(&format!("length({function}(a, b))")), Value::number(length));
        }
    }
}
