//! Tests of the JSON syntax: reading, and what values are as expressions.

use groma_model::diag::Diagnostics;
use groma_model::span::SourceMap;

use crate::ast::ExprKind;
use crate::body::{Attribute, Body};
use crate::{Parsed, parse_json};

fn read(text: &str) -> (Parsed<Body>, SourceMap) {
    let mut map = SourceMap::new();
    let file = map.add("main.tf.json", text);
    (parse_json(&map, file), map)
}

#[track_caller]
fn attributes(text: &str) -> (Vec<Attribute>, Diagnostics) {
    let (parsed, _) = read(text);
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    parsed.value.just_attributes()
}

#[track_caller]
fn check(text: &str, expected: &[(u32, &str)]) {
    let (parsed, map) = read(text);
    let row = |diagnostic: &groma_model::diag::Diagnostic| {
        (diagnostic.subject.map_or(0, |span| map.start(span).line), diagnostic.summary.clone())
    };
    let found: Vec<_> = parsed.diagnostics.iter().map(row).collect();
    let found: Vec<_> = found.iter().map(|(line, summary)| (*line, summary.as_str())).collect();
    assert_eq!(found, expected, "in {text:?}");
}

#[test]
fn mistakes() {
    const ROOT: &str = "Root value must be object";
    check("{}", &[]);
    check("", &[(1, "Missing value"), (1, ROOT)]);
    check("1", &[(1, ROOT)]);
    check("{} {}", &[(1, "Extraneous data after value")]);
    check("{\"a\": 1,\n}", &[(1, "Trailing comma in object"), (1, ROOT)]);
    check("{\"a\": [1,]}", &[(1, "Trailing comma in array"), (1, "Mismatched braces"), (1, ROOT)]);
    check("{\"a\"\n= 1}", &[(2, "Missing property value colon"), (1, ROOT)]);
    check("{\"a\": 1", &[(1, "Unclosed object"), (1, ROOT)]);
    check("{\"a\": True}", &[(1, "Invalid JSON keyword")]);
    check("{\"a\": 01}", &[(1, "Invalid JSON number")]);
    check("{\"a\": \"\\x\"}", &[(1, "Invalid JSON string")]);
    check("{\"a\": \"b}", &[(1, "Invalid JSON string"), (1, "Unclosed object"), (1, ROOT)]);
    check("{a: 1}", &[(1, "Invalid JSON keyword"), (1, "Invalid object property name"), (1, ROOT)]);
}

#[test]
fn strings_are_templates() {
    let (found, diagnostics) = attributes(r#"{"a": "x", "b": "${c}", "d": "e ${f}", "g": "$${h}", "//": "${"}"#);
    assert!(diagnostics.is_empty());
    assert_eq!(found.len(), 4);
    assert_eq!(found[0].expr.as_constant_str().as_deref(), Some("x"));
    assert!(matches!(found[1].expr.kind, ExprKind::TemplateWrap(_)));
    assert!(matches!(found[2].expr.kind, ExprKind::Template(_)));
    assert_eq!(found[3].expr.as_constant_str().as_deref(), Some("${h}"));
}

#[test]
fn strings_of_variable_files_are_not_templates() {
    let (parsed, _) = read(r#"{"a": "${b}", "c": {"${d}": "e"}}"#);
    let (found, diagnostics) = parsed.value.literal_attributes();
    assert!(diagnostics.is_empty());
    assert_eq!(found[0].expr.as_constant_str().as_deref(), Some("${b}"));
    let items = found[1].expr.as_map().unwrap();
    assert_eq!(items[0].key.as_constant_str().as_deref(), Some("${d}"));
}

#[test]
fn mistakes_in_a_template_point_into_the_string() {
    let text = "{\n  \"a\": \"b ${c d}\"\n}";
    let (_, diagnostics) = attributes(text);
    let span = diagnostics.iter().next().and_then(|diagnostic| diagnostic.subject).unwrap();
    assert_eq!(&text[span.start as usize..span.end as usize], "d");
}

#[test]
fn strings_stand_for_references_keywords_and_calls() {
    let (found, _) = attributes(r#"{"a": "b.c[0]", "d": "string", "e": "list(string)", "f": "g h"}"#);
    assert_eq!(found[0].expr.as_traversal().unwrap().steps.len(), 2);
    assert_eq!(found[0].expr.as_keyword(), None);
    assert_eq!(found[1].expr.as_keyword().as_deref(), Some("string"));
    assert_eq!(found[2].expr.as_call().unwrap().name, "list");
    assert!(found[3].expr.as_traversal().is_err());
}

#[test]
fn escapes() {
    let (found, _) = attributes(r#"{"a": "\u00e9\ud83d\ude00\ud800x\n\/"}"#);
    assert_eq!(found[0].expr.as_constant_str().as_deref(), Some("é😀\u{fffd}x\n/"));
}

#[test]
fn places_are_named_by_their_path() {
    let text = r#"{"a": {"b": [{"c": 1}]}}"#;
    let (_, map) = read(text);
    let file = map.files().next().map(|(_, file)| file.clone()).unwrap();
    assert_eq!(file.enclosing_block(text.find('1').unwrap() as u32), Some("a.b[0]"));
}

#[test]
fn deep_nesting_is_refused() {
    let (parsed, _) = read(&"[".repeat(100_000));
    assert!(parsed.diagnostics.iter().any(|diagnostic| diagnostic.summary == "Too deeply nested"));
    let (parsed, _) = read(&"{\"a\":".repeat(100_000));
    assert!(parsed.diagnostics.iter().any(|diagnostic| diagnostic.summary == "Too deeply nested"));
}
