//! Functions that say more about an unknown value than could be found out, and check it once the value is known.
//!
//! Newer versions of the language list them; here they can be called but are not listed.

use groma_model::convert::convert;
use groma_model::mark::Mark;
use groma_model::text::safe_prefix;
use groma_model::ty::Type;
use groma_model::value::{PathMarks, Refinement, Value, ValueKind};

use super::support::{Outcome, any_param, number, number_param, text, text_param};
use super::{CallContext, Function, FunctionError, Param};

/// The functions of this group.
pub(super) fn functions() -> Vec<Function> {
    let mut all = vec![equal(), not_null(), string_prefix()];
    let list = || Type::list(Type::Dynamic);
    let set = || Type::set(Type::Dynamic);
    let map = || Type::map(Type::Dynamic);
    all.extend([
        length_between("assumelistlength", list()),
        length_between("assumesetlength", set()),
        length_between("assumemaplength", map()),
        length_at_least("assumelistlengthmin", list()),
        length_at_least("assumesetlengthmin", set()),
        length_at_least("assumemaplengthmin", map()),
        length_at_most("assumelistlengthmax", list()),
        length_at_most("assumesetlengthmax", set()),
        length_at_most("assumemaplengthmax", map()),
    ]);
    all
}

/// The value that something is assumed about.
fn value_param(ty: Type) -> Param {
    Param::new("value", ty).null().unknown().dynamic().about("The value to assume something about.")
}

fn not_upheld() -> FunctionError {
    FunctionError::arg(0, "assumption was not upheld")
}

fn equal() -> Function {
    let as_is = |name: &'static str| any_param(name).null().unknown().dynamic().marked();
    let params = vec![
        as_is("actual_value").about("The value to assume something about."),
        as_is("expected_value").about("What it is assumed to be."),
    ];
    let about = "Gives the expected value. Fails if the actual value turns out to be another.";
    Function::new("assumeequal", about, params, Type::Dynamic, assume_equal).typed(|args| Ok(args[1].ty())).or_null()
}

fn assume_equal(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    let (actual, expected) = (&args[0], &args[1]);
    let Ok(converted) = convert(actual, &expected.ty()) else {
        let message = format!(
            "actual value type {} does not match assumed value type {}",
            actual.friendly_type_name(),
            expected.friendly_type_name()
        );
        return Err(FunctionError::arg(0, message));
    };
    if converted.equals(expected).as_bool() == Some(false) {
        return Err(FunctionError::arg(0, "the actual value does not match the assumed value"));
    }
    // Whoever knows the expected value knows the actual one, so only marks that tell where a value is from stay.
    let (_, marks) = converted.unmark_deep_with_paths();
    let origins: Vec<PathMarks> = marks
        .into_iter()
        .map(|at| PathMarks { marks: at.marks.without(|mark| matches!(mark, Mark::Sensitive | Mark::Ephemeral)), ..at })
        .filter(|at| !at.marks.is_empty())
        .collect();
    Ok(expected.clone().with_path_marks(&origins))
}

fn not_null() -> Function {
    let about = "Says that a value is not null. Fails if it turns out to be.";
    let run = |_: &CallContext<'_>, args: &[Value]| {
        if args[0].is_dynamic() {
            let message = "given value must have a known type; consider using the \"convert\" function to specify a type to assume";
            return Err(FunctionError::arg(0, message));
        }
        if args[0].is_null() { Err(not_upheld()) } else { Ok(args[0].clone().refine_not_null()) }
    };
    Function::new("assumenotnull", about, vec![value_param(Type::Dynamic)], Type::Dynamic, run).or_null()
}

fn string_prefix() -> Function {
    let about = "Says how a string begins. Fails if it turns out to begin otherwise.";
    let params = vec![value_param(Type::String), text_param("prefix").about("What it begins with.")];
    Function::new("assumestringprefix", about, params, Type::String, assume_prefix).or_null()
}

fn assume_prefix(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    // What comes behind may change the last character.
    let prefix = safe_prefix(text(args, 1));
    let known = match args[0].kind() {
        ValueKind::String(text) => text.as_str(),
        ValueKind::Unknown(known) => known.prefix.as_deref().unwrap_or_default(),
        _ => "",
    };
    let overlap = prefix.len().min(known.len());
    if prefix.as_bytes()[..overlap] != known.as_bytes()[..overlap] {
        return Err(not_upheld());
    }
    Ok(args[0].clone().refine(Refinement { not_null: false, ..Refinement::prefix(prefix) }))
}

fn min_param() -> Param {
    number_param("min_length").about("How many elements there are at least.")
}

fn max_param() -> Param {
    number_param("max_length").about("How many elements there are at most.")
}

fn length_between(name: &'static str, ty: Type) -> Function {
    let about = "Says between which bounds a length is. Fails if it turns out to be outside.";
    let params = vec![value_param(ty.clone()), min_param(), max_param()];
    Function::new(name, about, params, ty, |_, args| assume_length(args, Some(1), Some(2))).or_null()
}

fn length_at_least(name: &'static str, ty: Type) -> Function {
    let about = "Says how many elements there are at least. Fails if there turn out to be fewer.";
    let params = vec![value_param(ty.clone()), min_param()];
    Function::new(name, about, params, ty, |_, args| assume_length(args, Some(1), None)).or_null()
}

fn length_at_most(name: &'static str, ty: Type) -> Function {
    let about = "Says how many elements there are at most. Fails if there turn out to be more.";
    let params = vec![value_param(ty.clone()), max_param()];
    Function::new(name, about, params, ty, |_, args| assume_length(args, None, Some(1))).or_null()
}

/// Says that a length is between the bounds that the arguments at these positions give.
fn assume_length(args: &[Value], min_at: Option<usize>, max_at: Option<usize>) -> Outcome {
    let bound = |at: usize| match number(args, at).to_i64() {
        Some(bound) if bound < i64::MAX => Ok(bound),
        _ => Err(FunctionError::arg(at, format!("must be a whole number between 0 and {}", i64::MAX))),
    };
    let min = min_at.map_or(Ok(0), bound)?;
    let max = max_at.map_or(Ok(i64::MAX), bound)?;
    let value = &args[0];
    let (least, greatest) = length_bounds(value).ok_or_else(not_upheld)?;
    if min > max || min > greatest || max < least {
        return Err(not_upheld());
    }
    let count = |bound: i64| u64::try_from(bound).unwrap_or(0);
    let max_length = max_at.map(|_| count(max));
    Ok(value.clone().refine(Refinement { min_length: count(min), max_length, ..Refinement::default() }))
}

/// The least and the greatest length that a collection may have; none for null.
fn length_bounds(value: &Value) -> Option<(i64, i64)> {
    let range = value.length().ok()?.range();
    let lower = range.lower.and_then(|bound| bound.number.to_i64());
    let upper = range.upper.and_then(|bound| bound.number.to_i64());
    Some((lower.unwrap_or(0), upper.unwrap_or(i64::MAX)))
}

#[cfg(test)]
mod tests {
    use groma_model::mark::{Deprecation, Mark};

    use super::*;
    use crate::eval::testing::TestScope;
    use crate::func::support::table::{check_errors, check_values};

    #[test]
    fn values() {
        check_values(&[
            ("[assumeequal(u_string, \"a\"), assumeequal(\"1\", 1), assumeequal(u_any, null)]", r#"["a", 1, null]"#),
            ("[assumeequal(secret, \"hidden\"), assumeequal(\"hidden\", secret)]", r#"["hidden", (sensitive)]"#),
            (
                "[assumenotnull(u_string) == null, assumenotnull([1]), assumenotnull(secret)]",
                "[false, [1], (sensitive)]",
            ),
            (
                "[startswith(assumestringprefix(u_any, \"ami-\"), \"ami-\"), assumestringprefix(null, \"a\")]",
                "[true, null]",
            ),
            (
                "[assumestringprefix(\"abc\", \"ab\"), assumestringprefix(u_string, u_string)]",
                r#"["abc", unknown string]"#,
            ),
            ("assumenotnull(assumelistlength(u_list, 2, 2))", "list[unknown string, unknown string]"),
            ("assumelistlengthmax(assumenotnull(u_list), 0)", "list[]"),
            ("[assumesetlength([1, 2], 1, 2), assumemaplengthmin({a = 1}, 1)]", r#"[set[1, 2], map{"a": 1}]"#),
            ("[assumesetlengthmax(u_set, 3), assumemaplength(u_any, 0, 1)]", "[unknown set, unknown map]"),
            ("assumesetlengthmin(toset([u_string, \"a\"]), 2)", r#"set["a", unknown string]"#),
        ]);
    }

    #[test]
    fn errors() {
        check_errors(&[
            ("assumeequal(1, 2)", "the actual value does not match the assumed value"),
            ("assumeequal([], 2)", "actual value type tuple does not match assumed value type number"),
            ("assumenotnull(tostring(null))", "assumption was not upheld"),
            ("assumenotnull(u_any)", "given value must have a known type"),
            ("assumestringprefix(\"abc\", \"bc\")", "assumption was not upheld"),
            ("assumestringprefix(\"ami-${u_string}\", \"vpc-\")", "assumption was not upheld"),
            ("assumelistlength([1], 2, 3)", "assumption was not upheld"),
            ("assumelistlength(u_list, 3, 2)", "assumption was not upheld"),
            ("assumelistlengthmin(assumelistlengthmax(u_list, 1), 2)", "assumption was not upheld"),
            ("assumelistlengthmax(u_list, -1)", "assumption was not upheld"),
            ("assumelistlengthmax(null, 1)", "assumption was not upheld"),
            ("assumesetlengthmin(toset([u_string, \"a\"]), 3)", "assumption was not upheld"),
            ("assumemaplengthmin({}, 0.5)", "must be a whole number between 0 and 9223372036854775807"),
        ]);
    }

    #[test]
    fn marks_of_origin_stay() {
        let origin = Deprecation { origin: "x".into(), message: "old".into(), remote: false };
        let mark = Mark::Deprecated(std::sync::Arc::new(origin));
        let actual = Value::tuple(vec![Value::string("a").mark(mark.clone()).mark(Mark::Sensitive)]);
        let value = TestScope::with([("actual", actual)]).value("assumeequal(actual, [\"a\"])");
        let element = &value.as_elements().unwrap()[0];
        assert!(element.marks().contains(&mark) && !element.marks().is_sensitive());
    }
}
