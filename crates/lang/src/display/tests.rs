//! What the console prints.

use groma_model::mark::Mark;

use super::*;

#[test]
fn compound_values_take_several_lines() {
    let value = Value::object([
        ("a", Value::strings(["x"])),
        ("b", Value::tuple(vec![])),
        ("s", Value::string("secret").mark(Mark::Sensitive)),
    ]);
    assert_eq!(
        console(&value),
        "{\n  \"a\" = tolist([\n    \"x\",\n  ])\n  \"b\" = []\n  \"s\" = (sensitive value)\n}"
    );
}

#[test]
fn strings_of_several_lines_are_heredocs() {
    assert_eq!(console(&Value::string("a\nEOT\n")), "<<EOT_\na\nEOT\n\nEOT_");
    assert_eq!(console(&Value::tuple(vec!["a\nb".into()])), "[\n  <<-EOT\n  a\n  b\n  EOT,\n]");
}

#[test]
fn nulls_tell_their_type() {
    assert_eq!(console(&Value::null(Type::Dynamic)), "null");
    assert_eq!(console(&Value::null(Type::String)), "tostring(null)");
    assert_eq!(console(&Value::null(Type::list(Type::Bool))), "tolist(null) /* of bool */");
    assert_eq!(console(&Value::null(Type::empty_object())), "null /* object */");
    assert_eq!(console(&Value::unknown(Type::Bool)), "(known after apply)");
}

#[test]
fn the_short_form_shows_nothing_of_what_is_inside() {
    assert_eq!(compact(&Value::strings(["a", "b"])), "list of string with 2 elements");
    assert_eq!(compact(&Value::object([("a", Value::bool(true))])), "object with 1 attribute \"a\"");
    assert_eq!(compact(&Value::empty_object()), "object with no attributes");
    assert_eq!(compact(&Value::string("a").mark(Mark::Sensitive)), "(sensitive value)");
}
