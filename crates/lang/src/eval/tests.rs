//! Evaluation as a whole. What needs no marks, unknowns or broken scopes is tested in the language itself.

use groma_model::mark::Mark;
use groma_model::ty::Type;
use groma_model::value::{Refinement, Value};

use super::testing::TestScope;

fn scope() -> TestScope {
    TestScope::with([
        ("x", Value::string("a")),
        ("secret", Value::string("hidden").mark(Mark::Sensitive)),
        ("u", Value::dynamic()),
        ("u_text", Value::unknown(Type::String)),
        ("u_bool", Value::unknown(Type::Bool)),
        ("u_list", Value::unknown_refined(Type::list(Type::String), Refinement::length(1, Some(3)))),
        ("list", Value::strings(["p", "q"])),
    ])
}

#[test]
fn several_errors_are_found_at_once() {
    assert_eq!(
        scope().errors("[1 + \"a\", {a = nope}, upper()]"),
        ["Invalid operand", "Unknown variable", "Not enough function arguments"]
    );
}

#[test]
fn only_the_branch_that_is_taken_may_fail() {
    assert_eq!(scope().value("true ? 1 : 1 + \"a\""), Value::number(1));
    assert_eq!(scope().errors("false ? 1 : 1 + \"a\""), ["Invalid operand"]);
}

#[test]
fn a_guard_works_on_either_side() {
    assert_eq!(scope().value("false && null.a"), Value::bool(false));
    assert_eq!(scope().value("null.a && false"), Value::bool(false));
    assert_eq!(scope().value("true || null.a"), Value::bool(true));
    assert_eq!(scope().errors("true && null.a"), ["Attempt to get attribute from null value"]);
    assert_eq!(scope().value("null && true"), Value::bool(false));
    assert_eq!(scope().errors("null || false"), ["Operation failed"]);
}

#[test]
fn unknown_templates_keep_their_beginning() {
    let value = scope().value("\"ami-${u_text}-x\"");
    assert_eq!(value.range().prefix.unwrap(), "ami-");
    assert!(value.is_definitely_not_null());
}

#[test]
fn unknown_conditions_keep_what_both_branches_share() {
    let range = scope().value("u_bool ? 1 : 5").range();
    assert_eq!(range.lower.unwrap().number, 1.into());
    assert_eq!(range.upper.unwrap().number, 5.into());
    assert!(scope().value("u_bool ? null : null").is_null());
}

#[test]
fn marks_spread() {
    for text in [
        "\"${secret}\"",
        "secret == \"a\"",
        "true ? x : secret",
        "{(secret) = 1}",
        "[for i in list : i if secret != i]",
    ] {
        assert!(scope().value(text).marks().is_sensitive(), "{text}");
    }
    assert!(!scope().value("[secret]").marks().is_sensitive());
}

#[test]
fn splats_go_over_anything() {
    assert_eq!(scope().value("null[*].a"), Value::tuple(vec![]));
    assert_eq!(scope().value("{a = 1}[*].a"), Value::tuple(vec![Value::number(1)]));
    assert_eq!(scope().value("[{a = [1, 2]}][*].a[0]"), Value::tuple(vec![Value::number(1)]));
    assert_eq!(scope().value("list[*]"), Value::strings(["p", "q"]));
    let range = scope().value("u_list[*]").range();
    assert_eq!((range.min_length, range.max_length), (1, Some(3)));
    assert_eq!(scope().value("u_text[*]").ty(), Type::Dynamic);
}

#[test]
fn loops_bind_names_and_shadow() {
    assert_eq!(scope().value("[for x in [1, 2] : x]"), Value::tuple(vec![Value::number(1), Value::number(2)]));
    assert_eq!(scope().value("{for k, v in {a = 1} : v => k}"), Value::object([("1", Value::string("a"))]));
    assert_eq!(scope().errors("{for v in [1, 1] : v => v}"), ["Duplicate object key"]);
    assert_eq!(scope().value("[for v in u : v]").ty(), Type::Dynamic);
}

#[test]
fn try_takes_what_works() {
    assert_eq!(scope().value("try(null.a, 2)"), Value::number(2));
    assert_eq!(scope().value("can(null.a)"), Value::bool(false));
    assert_eq!(scope().value("try([u_text], 1)").ty(), Type::Dynamic);
    let (_, errors) = scope().eval("try(null.a)");
    let detail = &errors.iter().next().unwrap().detail;
    assert!(detail.contains("no expression succeeded"), "{detail}");
}

#[test]
fn errors_tell_the_values() {
    let (_, errors) = scope().eval("upper(x, list)");
    let error = errors.iter().next().unwrap();
    let notes: Vec<String> = error.values.iter().map(|note| format!("{} {}", note.traversal, note.statement)).collect();
    assert_eq!(notes, ["list is list of string with 2 elements", "x is \"a\""]);
    assert_eq!(error.call.as_ref().unwrap().signature.as_deref(), Some("upper(str)"));
    let (_, errors) = scope().eval("secret + u");
    assert!(errors.iter().next().unwrap().values.is_empty());
}

#[test]
fn templates_see_only_their_own_names() {
    let scope = TestScope::with([("outer", Value::bool(true))])
        .file("greet.tftpl", "Hello ${name}!")
        .file("bad.tftpl", "${outer}")
        .file("loop.tftpl", "${templatefile(\"loop.tftpl\", {})}");
    assert_eq!(scope.value("templatestring(\"Hello $${name}!\", {name = \"you\"})"), Value::string("Hello you!"));
    assert_eq!(scope.value("templatestring(\"$${n}\", {n = [1]})"), Value::tuple(vec![Value::number(1)]));
    let (_, errors) = scope.eval("templatestring(\"$${n}\", {})");
    assert_eq!(
        errors.iter().next().unwrap().detail,
        "Invalid value for \"vars\" parameter: vars map does not contain key \"n\"."
    );
}

#[test]
fn bombs_are_refused() {
    let mut text = String::from("[1]");
    for _ in 0..9 {
        text = format!("[for b in [{text}] : [b, b, b, b, b, b, b, b, b, b]]");
    }
    assert_eq!(scope().errors(&text), ["Value too large"]);
}

#[test]
fn deep_expressions_do_not_overflow_the_stack() {
    let chain = format!("1{}", " + 1".repeat(400));
    assert_eq!(scope().value(&chain), Value::number(401));
    let nested = format!("{}1{}", "[".repeat(150), "]".repeat(150));
    assert_eq!(scope().value(&nested).depth(), 150);
}
