//! Tests of reading bodies through schemas, in both syntaxes.

use groma_model::diag::Diagnostics;
use groma_model::span::SourceMap;

use super::{Body, BodySchema};
use crate::{parse_json, parse_native};

#[track_caller]
fn native(text: &str) -> Body {
    let mut map = SourceMap::new();
    let file = map.add("main.tf", text);
    let parsed = parse_native(&map, file);
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    parsed.value
}

#[track_caller]
fn json(text: &str) -> Body {
    let mut map = SourceMap::new();
    let file = map.add("main.tf.json", text);
    let parsed = parse_json(&map, file);
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    parsed.value
}

fn schema() -> BodySchema {
    BodySchema::new().required("count").optional("name").block("item", &[]).block("resource", &["type", "name"])
}

fn messages(diagnostics: &Diagnostics) -> Vec<String> {
    diagnostics.iter().map(|diagnostic| format!("{}: {}", diagnostic.summary, diagnostic.detail)).collect()
}

#[test]
fn content_that_fits() {
    for body in [
        native("name = \"x\"\ncount = 1\nitem {}\nresource \"a\" \"b\" {}\nresource \"a\" \"c\" {}\n"),
        json(r#"{"name": "x", "count": 1, "item": [{}], "resource": {"a": {"b": {}, "c": {}}}}"#),
    ] {
        let (content, diagnostics) = body.content(&schema());
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        let names: Vec<_> = content.attributes.iter().map(|attribute| attribute.name.name.as_str()).collect();
        assert_eq!(names, ["name", "count"]);
        let labels: Vec<_> = content.blocks_of("resource").map(|block| block.labels[1].text.as_str()).collect();
        assert_eq!(labels, ["b", "c"]);
        assert_eq!(content.blocks_of("item").count(), 1);
    }
}

#[test]
fn native_content_that_does_not_fit() {
    let body = native(
        "nmae = 1\nitem = 2\nitme {}\nname {}\nresource \"a\" {}\nresource \"a\" \"b\" \"c\" {}\nitem \"x\" {}\n",
    );
    let (_, diagnostics) = body.content(&schema());
    assert_eq!(
        messages(&diagnostics),
        [
            "Missing required argument: The argument \"count\" is required, but no definition was found.",
            "Missing name for resource: All resource blocks must have 2 labels (type, name).",
            "Extraneous label for resource: Only 2 labels (type, name) are expected for resource blocks.",
            "Extraneous label for item: No labels are expected for item blocks.",
            "Unsupported argument: An argument named \"nmae\" is not expected here. Did you mean \"name\"?",
            "Unsupported argument: An argument named \"item\" is not expected here. Did you mean to define a block of type \
             \"item\"?",
            "Unsupported block type: Blocks of type \"itme\" are not expected here. Did you mean \"item\"?",
            "Unsupported block type: Blocks of type \"name\" are not expected here. Did you mean to define argument \"name\"? \
             If so, use the equals sign to assign it a value.",
        ]
    );
}

#[test]
fn json_content_that_does_not_fit() {
    let body = json(r#"{"count": 1, "count": 2, "nmae": 1, "item": 3, "resource": {"a": 1}, "//": "fine"}"#);
    let (_, diagnostics) = body.content(&schema());
    let summaries: Vec<_> = diagnostics.iter().map(|diagnostic| diagnostic.summary.as_str()).collect();
    let expected = [
        "Duplicate argument",
        "Incorrect JSON value type",
        "Incorrect JSON value type",
        "Missing block label",
        "Extraneous JSON object property",
    ];
    assert_eq!(summaries, expected);
}

#[test]
fn repeated_json_properties_are_repeated_blocks() {
    let body = json(r#"{"count": 1, "item": {}, "item": [{}, {}]}"#);
    let (content, diagnostics) = body.content(&schema());
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    assert_eq!(content.blocks_of("item").count(), 3);
}

#[test]
fn the_rest_is_what_was_not_taken() {
    for body in [native("a = 1\nb = 2\nc {}\nd {}\n"), json(r#"{"a": 1, "b": 2, "c": {}, "d": {}}"#)] {
        let (_, rest, diagnostics) = body.partial_content(&BodySchema::new().optional("a").block("c", &[]));
        assert!(diagnostics.is_empty());
        assert!(!rest.is_empty());
        let (content, rest, _) = rest.partial_content(&BodySchema::new().optional("a").optional("b").block("d", &[]));
        assert!(content.attr("a").is_none());
        assert!(content.attr("b").is_some());
        assert_eq!(content.blocks.len(), 1);
        assert!(rest.is_empty());
    }
}

#[test]
fn just_attributes_refuses_blocks() {
    let (attributes, diagnostics) = native("a = 1\nb {}\n").just_attributes();
    assert_eq!(attributes.len(), 1);
    assert_eq!(messages(&diagnostics), ["Unexpected \"b\" block: Blocks are not allowed here."]);
}

#[test]
fn an_override_replaces_arguments_and_kinds_of_blocks() {
    let base = native("count = 1\nname = \"x\"\nitem {}\nitem {}\ndynamic \"resource\" {}\n");
    let over = native("name = \"y\"\ndynamic \"item\" {}\nresource \"a\" \"b\" {}\n");
    let (content, diagnostics) = base.overridden_by(&over).content(&schema());
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let name = content.attr("name").and_then(|attribute| attribute.expr.as_constant_str());
    assert_eq!(name.as_deref(), Some("y"));
    assert!(content.attr("count").is_some());
    let kinds: Vec<_> = content.blocks.iter().map(|block| block.kind.name.as_str()).collect();
    assert_eq!(kinds, ["dynamic", "resource"]);
}
