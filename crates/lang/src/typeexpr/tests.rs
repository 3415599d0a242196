//! Constraints and defaults.

use groma_model::convert::convert;
use groma_model::value::Value;

use super::*;
use crate::eval::testing::{TestScope, expr};

fn details(text: &str) -> Vec<String> {
    let errors = variable_type(&expr(text)).unwrap_err();
    errors.into_iter().map(|error| error.detail).collect()
}

fn ty(text: &str) -> String {
    variable_type(&expr(text)).unwrap().ty.to_string()
}

/// A value given for a variable of a type.
fn given(constraint: &str, value: &str) -> String {
    let constraint = variable_type(&expr(constraint)).unwrap();
    let value = TestScope::new().value(value);
    let value = constraint.defaults.map_or(value.clone(), |defaults| defaults.apply(&value));
    crate::display::console(&convert(&value, &constraint.ty).unwrap()).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn constraints_are_read() {
    assert_eq!(ty("string"), "string");
    assert_eq!(ty("any"), "any");
    assert_eq!(ty("list"), "list(any)");
    assert_eq!(ty("map(set(tuple([bool, number])))"), "map(set(tuple([bool, number])))");
    assert_eq!(
        ty("object({a = string, b = optional(list(any), [])})"),
        "object({a = string, b = optional(list(any))})"
    );
}

#[test]
fn every_mistake_is_reported() {
    assert_eq!(
        details("object({a = strng, b = list, a = bool, \"c d\" = bool, e = optional()})"),
        [
            "The keyword \"strng\" is not a valid type specification.",
            "The list type constructor requires one argument specifying the element type.",
            "Object constructor map keys must be unique.",
            "Object constructor map keys must be attribute names.",
            "Optional attribute modifier requires the attribute type as its argument.",
        ]
    );
    assert_eq!(details("set"), ["The set type constructor requires one argument specifying the element type."]);
    assert_eq!(details("string(1)"), ["Primitive type keyword \"string\" does not expect arguments."]);
    assert_eq!(details("foo(string)"), ["Keyword \"foo\" is not a valid type constructor."]);
    assert_eq!(
        details("optional(string)"),
        ["Keyword \"optional\" is valid only as a modifier for object type attributes."]
    );
    assert_eq!(
        details("list(string, bool)"),
        ["The list type constructor requires one argument specifying the element type."]
    );
}

#[test]
fn defaults_must_fit() {
    let errors =
        variable_type(&expr("object({a = optional(number, \"x\"), b = optional(string, upper(\"a\"))})")).unwrap_err();
    let summaries: Vec<&str> = errors.iter().map(|error| error.summary.as_str()).collect();
    assert_eq!(summaries, ["Invalid default value for optional attribute", "Function calls not allowed"]);
}

#[test]
fn types_in_quotes_are_refused() {
    let summary = |text| variable_type(&expr(text)).unwrap_err().into_iter().next().unwrap().summary;
    assert_eq!(summary("\"list\""), "Invalid quoted type constraints");
    assert_eq!(summary("\"list(string)\""), "Invalid legacy variable type hint");
}

#[test]
fn defaults_fill_what_is_missing_or_null() {
    let constraint = "object({a = optional(number, 7), b = optional(string)})";
    assert_eq!(given(constraint, "{}"), "{ \"a\" = 7 \"b\" = tostring(null) }");
    assert_eq!(given(constraint, "{a = null, b = 1}"), "{ \"a\" = 7 \"b\" = \"1\" }");
    assert_eq!(given(constraint, "{a = 1, c = 2}"), "{ \"a\" = 1 \"b\" = tostring(null) }");
}

#[test]
fn defaults_reach_inside_collections() {
    let constraint = "map(object({a = optional(list(object({x = optional(bool, true)})), [{}])}))";
    assert_eq!(
        given(constraint, "{k = {}, l = {a = [{x = false}, {}]}}"),
        "tomap({ \"k\" = { \"a\" = tolist([ { \"x\" = true }, ]) } \
         \"l\" = { \"a\" = tolist([ { \"x\" = false }, { \"x\" = true }, ]) } })"
    );
}

#[test]
fn null_containers_stay_null() {
    let constraint = "object({o = optional(object({x = optional(number, 1)}))})";
    assert_eq!(given(constraint, "{o = null}"), "{ \"o\" = null /* object */ }");
    assert_eq!(given(constraint, "{o = {}}"), "{ \"o\" = { \"x\" = 1 } }");
}

#[test]
fn tuples_have_defaults_by_position() {
    let constraint = "tuple([string, object({x = optional(number, 1)})])";
    assert_eq!(given(constraint, "[\"a\", {}]"), "[ \"a\", { \"x\" = 1 }, ]");
}

#[test]
fn unknown_values_stay() {
    let constraint = variable_type(&expr("object({x = optional(number, 1)})")).unwrap();
    assert!(!constraint.defaults.unwrap().apply(&Value::dynamic()).is_known());
}
