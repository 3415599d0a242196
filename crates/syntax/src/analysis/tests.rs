//! Tests of static analysis.

use groma_model::span::SourceMap;

use crate::ast::Expr;
use crate::parse_expr;

#[track_caller]
fn expr(text: &str) -> Expr {
    let mut map = SourceMap::new();
    let file = map.add("", text);
    let parsed = parse_expr(&map, file);
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    parsed.value
}

fn roots(text: &str) -> Vec<String> {
    expr(text).references().iter().map(|traversal| traversal.root.name.to_string()).collect()
}

#[test]
fn references_come_in_source_order() {
    assert_eq!(roots("a.b + f(c, [d], { (e) = g }) ? h[i] : \"${j}\""), ["a", "c", "d", "e", "g", "h", "i", "j"]);
}

#[test]
fn a_bare_key_of_an_object_is_no_reference() {
    assert_eq!(roots("{ a = 1, (b) = 2, \"${c}\" = 3, d.e = 4 }"), ["b", "c", "d"]);
}

#[test]
fn names_bound_by_for_are_no_references() {
    assert_eq!(roots("[for k, v in k : v + w if k]"), ["k", "w"]);
    assert_eq!(roots("{for v in a : v => [for v in v : v]}"), ["a"]);
    assert_eq!(roots("[for a in x : a] == a"), ["x", "a"]);
    assert_eq!(roots("\"%{for a in b}${a}${c}%{endfor}%{if a}%{endif}\""), ["b", "c", "a"]);
}

#[test]
fn calls_are_found_at_any_depth() {
    let expr = expr("f(g(1), [core::h()])");
    let names: Vec<_> = expr.calls().iter().map(|call| call.name.to_string()).collect();
    assert_eq!(names, ["f", "g", "core::h"]);
}

#[test]
fn expressions_as_plain_syntax() {
    assert_eq!(expr("a.b[0]").as_traversal().unwrap().steps.len(), 2);
    assert_eq!(expr("null").as_keyword().as_deref(), Some("null"));
    assert_eq!(expr("a").as_keyword().as_deref(), Some("a"));
    assert_eq!(expr("a.b").as_keyword(), None);
    assert_eq!(expr("[a, b]").as_list().unwrap().len(), 2);
    assert_eq!(expr("{ a = b }").as_map().unwrap().len(), 1);
    assert_eq!(expr("f(a)").as_call().unwrap().name, "f");
    for text in ["(a)", "\"a\"", "a[b]", "f(a)", "1"] {
        assert!(expr(text).as_traversal().is_err(), "{text}");
    }
    assert!(expr("a").as_list().is_err() && expr("a").as_map().is_err() && expr("a").as_call().is_err());
}

#[test]
fn constants() {
    assert_eq!(expr("\"a\"").as_constant_str().as_deref(), Some("a"));
    assert_eq!(expr("\"a${b}\"").as_constant_str(), None);
    assert_eq!(expr("(true)").as_constant_bool(), Some(true));
}
