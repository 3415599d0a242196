//! What differences look like.

#![allow(clippy::needless_raw_string_hashes, reason = "the tool that updates snapshots writes hashes")]

use std::collections::BTreeMap;
use std::sync::Arc;

use expect_test::{Expect, expect};
use groma_model::mark::Mark;
use groma_model::path::Path;
use groma_model::schema::{Attribute, AttributeKind, Block, NestedBlock, NestedObject, Nesting};
use groma_model::ty::Type;
use groma_model::value::Value;

use super::*;
use crate::render::paint::Paint;

fn argument(ty: Type) -> Attribute {
    Attribute { optional: true, ..Attribute::of_type(ty) }
}

fn nested(nesting: Nesting) -> Attribute {
    let attributes = BTreeMap::from([("kind".into(), argument(Type::String)), ("name".into(), argument(Type::String))]);
    let ty = AttributeKind::Nested(Arc::new(NestedObject { attributes, nesting }));
    Attribute { ty, optional: true, ..Attribute::of_type(Type::Dynamic) }
}

fn blocks(nesting: Nesting) -> NestedBlock {
    let block = Block {
        attributes: BTreeMap::from([("a".into(), argument(Type::Number)), ("b".into(), argument(Type::Number))]),
        ..Block::default()
    };
    NestedBlock { block, nesting, min_items: 0, max_items: 0 }
}

fn schema_of(attributes: &[(&str, Attribute)], block_types: &[(&str, NestedBlock)]) -> Block {
    Block {
        attributes: attributes.iter().map(|(name, attribute)| ((*name).into(), attribute.clone())).collect(),
        block_types: block_types.iter().map(|(name, block)| ((*name).into(), block.clone())).collect(),
        ..Block::default()
    }
}

fn shown(schema: &Block, before: Option<&Value>, after: Option<&Value>, replace: &[Path]) -> String {
    let pair = Pair { replace: Paths::exactly(replace), ..Pair::new(before, after) };
    let mut out = String::new();
    Printer::new(&mut out, Paint(false), false).diff(&block(&pair, schema), 0, Mode::default());
    out
}

fn check(schema: &Block, before: &Value, after: &Value, expected: Expect) {
    expected.assert_eq(&shown(schema, Some(before), Some(after), &[]));
}

/// An object with one attribute or kind of blocks.
fn only(name: &str, value: Value) -> Value {
    Value::object([(name, value)])
}

fn text(text: &str) -> Value {
    Value::string(text)
}

fn part(name: &str) -> Value {
    Value::object([("kind", Value::null(Type::String)), ("name", text(name))])
}

fn part_type() -> Type {
    Type::object([("kind", Type::String), ("name", Type::String)])
}

fn numbers(a: i64, b: i64) -> Value {
    Value::object([("a", Value::number(a)), ("b", Value::number(b))])
}

/// A schema with nested attributes of every kind, and objects that follow it.
fn nested_objects() -> (Block, impl Fn(&str, &[&str]) -> Value) {
    let list = |names: &[&str]| Value::list(part_type(), names.iter().map(|name| part(name)).collect());
    let set = |names: &[&str]| Value::set(part_type(), names.iter().map(|name| part(name)).collect());
    let map = |names: &[&str]| Value::map(part_type(), names.iter().map(|name| (*name, part(name))).collect());
    let schema = schema_of(
        &[
            ("list", nested(Nesting::List)),
            ("map", nested(Nesting::Map)),
            ("set", nested(Nesting::Set)),
            ("single", nested(Nesting::Single)),
        ],
        &[],
    );
    let object = move |one: &str, names: &[&str]| {
        Value::object([("list", list(names)), ("map", map(names)), ("set", set(names)), ("single", part(one))])
    };
    (schema, object)
}

#[test]
fn nested_attributes_of_every_kind() {
    let (schema, object) = nested_objects();
    check(
        &schema,
        &object("x", &["a", "b"]),
        &object("y", &["a", "c", "d"]),
        expect![[r#"
        {
              ~ list   = [
                  ~ {
                      ~ name = "b" -> "c"
                    },
                  + {
                      + name = "d"
                    },
                    # (1 unchanged element hidden)
                ]
              ~ map    = {
                  - "b" = {
                      - name = "b" -> null
                    },
                  + "c" = {
                      + name = "c"
                    },
                  + "d" = {
                      + name = "d"
                    },
                    # (1 unchanged element hidden)
                }
              ~ set    = [
                  - {
                      - name = "b" -> null
                    },
                  + {
                      + name = "c"
                    },
                  + {
                      + name = "d"
                    },
                    # (1 unchanged element hidden)
                ]
              ~ single = {
                  ~ name = "x" -> "y"
                }
            }"#]],
    );
}

#[test]
fn nested_attributes_that_force_a_replacement_go_or_are_not_known() {
    let (schema, object) = nested_objects();
    let replace = ["list", "map", "set", "single"].map(|name| Path::root().attr(name));
    let (before, after) = (object("x", &["a"]), object("y", &["b"]));
    expect![[r#"
        {
              ~ list   = [ # forces replacement
                  ~ {
                      ~ name = "a" -> "b"
                    },
                ]
              ~ map    = {
                  - "a" = { # forces replacement
                      - name = "a" -> null
                    },
                  + "b" = { # forces replacement
                      + name = "b"
                    },
                }
              ~ set    = [
                  - { # forces replacement
                      - name = "a" -> null
                    },
                  + { # forces replacement
                      + name = "b"
                    },
                ]
              ~ single = { # forces replacement
                  ~ name = "x" -> "y"
                }
            }"#]]
    .assert_eq(&shown(&schema, Some(&before), Some(&after), &replace));
    expect![[r#"
        {
              - list   = [
                  - {
                      - name = "a" -> null
                    },
                ] -> null
              - map    = {
                  - "a" = {
                      - name = "a" -> null
                    },
                } -> null
              - set    = [
                  - {
                      - name = "a" -> null
                    },
                ] -> null
              - single = {
                  - name = "x" -> null
                } -> null
            }"#]]
    .assert_eq(&shown(&schema, Some(&before), None, &[]));
    let unknown = Value::object([
        ("list", Value::unknown(Type::list(part_type()))),
        ("map", Value::unknown(Type::map(part_type()))),
        ("set", Value::unknown(Type::set(part_type()))),
        ("single", Value::unknown(part_type())),
    ]);
    expect![[r#"
        {
              ~ list   = [
                  - {
                      - name = "a" -> null
                    },
                ] -> (known after apply)
              ~ map    = {
                  - "a" = {
                      - name = "a" -> null
                    },
                } -> (known after apply)
              ~ set    = [
                  - {
                      - name = "a" -> null
                    },
                ] -> (known after apply)
              ~ single = {
                  + kind = (known after apply)
                  ~ name = "x" -> (known after apply)
                } -> (known after apply)
            }"#]]
    .assert_eq(&shown(&schema, Some(&before), Some(&unknown), &[]));
}

#[test]
fn blocks_of_every_kind() {
    let ty = || Type::object([("a", Type::Number), ("b", Type::Number)]);
    let schema = schema_of(
        &[("name", argument(Type::String))],
        &[
            ("group", blocks(Nesting::Group)),
            ("list", blocks(Nesting::List)),
            ("map", blocks(Nesting::Map)),
            ("set", blocks(Nesting::Set)),
            ("single", blocks(Nesting::Single)),
        ],
    );
    let object = |numbers_of: &[(i64, i64)]| {
        let all: Vec<Value> = numbers_of.iter().map(|(a, b)| numbers(*a, *b)).collect();
        let named = numbers_of.iter().map(|(a, b)| (format!("n{a}"), numbers(*a, *b))).collect();
        Value::object([
            ("group", all[0].clone()),
            ("list", Value::list(ty(), all.clone())),
            ("map", Value::map(ty(), named)),
            ("name", text("n")),
            ("set", Value::set(ty(), all.clone())),
            ("single", all[0].clone()),
        ])
    };
    check(
        &schema,
        &object(&[(1, 1), (2, 2)]),
        &object(&[(1, 2), (2, 2), (3, 3)]),
        expect![[r#"
        {
                name = "n"

              ~ group {
                  ~ b = 1 -> 2
                    # (1 unchanged attribute hidden)
                }

              ~ list {
                  ~ b = 1 -> 2
                    # (1 unchanged attribute hidden)
                }
              + list {
                  + a = 3
                  + b = 3
                }

              ~ map "n1" {
                  ~ b = 1 -> 2
                    # (1 unchanged attribute hidden)
                }
              + map "n3" {
                  + a = 3
                  + b = 3
                }

              - set {
                  - a = 1 -> null
                  - b = 1 -> null
                }
              + set {
                  + a = 1
                  + b = 2
                }
              + set {
                  + a = 3
                  + b = 3
                }

              ~ single {
                  ~ b = 1 -> 2
                    # (1 unchanged attribute hidden)
                }

                # (3 unchanged blocks hidden)
            }"#]],
    );
    check(
        &schema,
        &object(&[(1, 1)]),
        &object(&[(1, 1)]),
        expect![[r#"
        {
                name = "n"

                # (5 unchanged blocks hidden)
            }"#]],
    );
    let unknown = |kind: &str| Value::object([("name", text("n")), (kind, Value::unknown(Type::list(ty())))]);
    let before = object(&[(1, 1)]);
    let lists = schema_of(&[], &[("list", blocks(Nesting::List))]);
    check(
        &lists,
        &before,
        &unknown("list"),
        expect![[r#"
        {
              ~ list (known after apply)
            }"#]],
    );
    check(
        &lists,
        &only("list", Value::list(ty(), Vec::new())),
        &unknown("list"),
        expect![[r#"
        {
              + list (known after apply)
            }"#]],
    );
}

#[test]
fn secrets_are_never_shown() {
    let schema = schema_of(
        &[
            ("always", Attribute { sensitive: true, ..argument(Type::String) }),
            ("becomes", argument(Type::String)),
            ("inside", argument(Type::map(Type::String))),
            ("stays", argument(Type::String)),
            ("was", argument(Type::String)),
        ],
        &[("list", blocks(Nesting::List))],
    );
    let secret = |text: &str| Value::string(text).mark(Mark::Sensitive);
    let object = |always: &str, becomes: Value, inside: Value, was: Value, blocks: Value| {
        let inside = Value::map(Type::String, [("k", inside), ("open", text("o"))].into_iter().collect());
        Value::object([
            ("always", text(always)),
            ("becomes", becomes),
            ("inside", inside),
            ("list", blocks),
            ("stays", secret("hush")),
            ("was", was),
        ])
    };
    let ty = Type::object([("a", Type::Number), ("b", Type::Number)]);
    let plain = Value::list(ty.clone(), vec![numbers(4711, 1)]);
    let hidden = plain.clone().mark(Mark::Sensitive);
    let before = object("hush1", text("hush2"), secret("hush3"), secret("hush4"), plain);
    let after = object("hush5", secret("hush2"), secret("hush6"), text("hush7"), hidden);
    let both = shown(&schema, Some(&before), Some(&after), &[]);
    expect![[r#"
        {
              ~ always  = (sensitive value)
              # Warning: this attribute value will be marked as sensitive and will not
              # display in UI output after applying this change. The value is unchanged.
              ~ becomes = (sensitive value)
              ~ inside  = {
                  ~ "k"    = (sensitive value)
                    # (1 unchanged element hidden)
                }
              # Warning: this attribute value will no longer be marked as sensitive
              # after applying this change.
              ~ was     = (sensitive value)
                # (1 unchanged attribute hidden)

              # Warning: this block will be marked as sensitive and will not
              # display in UI output after applying this change.
              ~ list {
                  # At least one attribute in this block is (or was) sensitive,
                  # so its contents will not be displayed.
                }
            }"#]]
    .assert_eq(&both);
    let gone = shown(&schema, Some(&after), None, &[]);
    let new = shown(&schema, None, Some(&after), &[]);
    for text in [&both, &gone, &new] {
        assert!(
            !text.contains("hush3") && !text.contains("hush5") && !text.contains("hush6") && !text.contains("4711")
        );
    }
    let mut out = String::new();
    let pair = Pair::new(Some(&before), Some(&after));
    Printer::new(&mut out, Paint(false), true).diff(&block(&pair, &schema), 0, Mode::default());
    assert!(out.contains("\"hush1\" -> \"hush5\"") && out.contains("\"hush4\" -> \"hush7\""));
}

#[test]
fn what_is_never_stored_goes_along() {
    let schema = schema_of(
        &[("a", argument(Type::Number)), ("secret_wo", Attribute { write_only: true, ..argument(Type::String) })],
        &[],
    );
    let object = |a: i64| Value::object([("a", Value::number(a)), ("secret_wo", Value::null(Type::String))]);
    check(
        &schema,
        &object(1),
        &object(2),
        expect![[r#"
        {
              ~ a         = 1 -> 2
              ~ secret_wo = (write-only attribute)
            }"#]],
    );
    expect![[r#"
        {
              - a         = 1 -> null
              - secret_wo = (write-only attribute) -> null
            }"#]]
    .assert_eq(&shown(&schema, Some(&object(1)), None, &[]));
    expect![[r#"
        {
              ~ secret_wo = (write-only attribute) # forces replacement
                # (1 unchanged attribute hidden)
            }"#]]
    .assert_eq(&shown(&schema, Some(&object(1)), Some(&object(1)), &[Path::root().attr("secret_wo")]));
}

#[test]
fn collections_of_simple_values() {
    let schema = schema_of(
        &[
            ("list", argument(Type::list(Type::String))),
            ("map", argument(Type::map(Type::String))),
            ("object", argument(Type::object([("x", Type::Bool), ("y", Type::Number)]))),
            ("set", argument(Type::set(Type::String))),
            ("tuple", argument(Type::tuple(vec![Type::String, Type::Number]))),
        ],
        &[],
    );
    let before = Value::object([
        ("list", Value::strings(["a", "b", "c", "d"])),
        ("map", Value::map(Type::String, [("k", text("1")), ("kk", text("2"))].into_iter().collect())),
        ("object", Value::object([("x", Value::bool(true)), ("y", Value::null(Type::Number))])),
        ("set", Value::set(Type::String, vec![text("a"), text("b")])),
        ("tuple", Value::tuple(vec![text("a"), Value::number(1)])),
    ]);
    let after = Value::object([
        ("list", Value::list(Type::String, vec![text("a"), text("c"), Value::unknown(Type::String), text("d")])),
        ("map", Value::map(Type::String, [("k", text("1")), ("l", Value::null(Type::String))].into_iter().collect())),
        ("object", Value::object([("x", Value::bool(false)), ("y", Value::number(1))])),
        ("set", Value::set(Type::String, vec![text("b"), text("c")])),
        ("tuple", Value::tuple(vec![text("a"), Value::number(2)])),
    ]);
    check(
        &schema,
        &before,
        &after,
        expect![[r#"
        {
              ~ list   = [
                    "a",
                  - "b",
                    "c",
                  + (known after apply),
                    "d",
                ]
              ~ map    = {
                  - "kk" = "2" -> null
                  + "l"  = null
                    # (1 unchanged element hidden)
                }
              ~ object = {
                  ~ x = true -> false
                  + y = 1
                }
              ~ set    = [
                  - "a",
                  + "c",
                    # (1 unchanged element hidden)
                ]
              ~ tuple  = [
                    "a",
                  ~ 1 -> 2,
                ]
            }"#]],
    );
    expect![[r#"
        {
              + list   = [
                  + "a",
                  + "b",
                  + "c",
                  + "d",
                ]
              + map    = {
                  + "k"  = "1"
                  + "kk" = "2"
                }
              + object = {
                  + x = true
                }
              + set    = [
                  + "a",
                  + "b",
                ]
              + tuple  = [
                  + "a",
                  + 1,
                ]
            }"#]]
    .assert_eq(&shown(&schema, None, Some(&before), &[]));
}

#[test]
fn a_text_may_hold_a_document_or_lines() {
    let schema = schema_of(&[("t", argument(Type::String))], &[]);
    let change = |before: &str, after: &str| {
        shown(&schema, Some(&only("t", text(before))), Some(&only("t", text(after))), &[Path::root().attr("t")])
    };
    expect![[r#"
        {
              ~ t = jsonencode(
                  ~ {
                      ~ a = 1 -> 2
                      + b = []
                    } # forces replacement
                )
            }"#]]
    .assert_eq(&change("{\"a\":1}", "{\"a\":2,\"b\":[]}"));
    expect![[r#"
        {
              ~ t = jsonencode( # whitespace changes force replacement
                    {
                        a = 1
                    }
                )
            }"#]]
    .assert_eq(&change("{\"a\":1}", "{ \"a\": 1 }"));
    expect![[r#"
        {
              ~ t = jsonencode([]) # whitespace changes force replacement
            }"#]]
    .assert_eq(&change("[]", "[ ]"));
    expect![[r#"
        {
              ~ t = "plain" -> jsonencode(
                    [
                      + 1,
                    ]
                ) # forces replacement
            }"#]]
    .assert_eq(&change("plain", "[1]"));
    expect![[r#"
        {
              ~ t = <<-EOT # forces replacement
                    one
                  - two
                  + three
                EOT
            }"#]]
    .assert_eq(&change("one\ntwo\n", "one\nthree\n"));
    expect![[r#"
        {
              ~ t = <<-EOT # forces replacement
                    one
                  + two
                EOT
            }"#]]
    .assert_eq(&change("one", "one\ntwo"));
    // What only begins like a document is none.
    expect![[r#"
        {
              ~ t = "[1] and more" -> "{" # forces replacement
            }"#]]
    .assert_eq(&change("[1] and more", "{"));
}

#[test]
fn deep_values_are_walked() {
    let mut deep = Value::string("x");
    for _ in 0..400 {
        deep = Value::tuple(vec![deep]);
    }
    let schema = schema_of(&[("t", argument(Type::Dynamic))], &[]);
    let worker = std::thread::Builder::new()
        .stack_size(64 << 20)
        .spawn(move || shown(&schema, None, Some(&only("t", deep)), &[]).lines().count());
    assert_eq!(worker.unwrap().join().unwrap(), 803);
}

#[test]
fn zero_has_no_sign_in_plans() {
    let schema = schema_of(&[("n", argument(Type::Number))], &[]);
    let zero = Value::number(groma_model::number::Number::parse("-0").unwrap());
    check(
        &schema,
        &only("n", Value::from(1)),
        &only("n", zero.clone()),
        expect![[r#"
            {
                  ~ n = 1 -> 0
                }"#]],
    );
    let mut state = String::new();
    let zero = only("n", zero);
    let mut printer = Printer { hide_symbols: true, ..Printer::new(&mut state, Paint(false), false) };
    printer.diff(&block(&Pair::same(&zero), &schema), 0, Mode { everything: true, ..Mode::default() });
    assert!(state.contains("n = -0"), "{state}");
}
