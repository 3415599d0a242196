//! Tests of generated configuration. The texts are what OpenTofu writes for the same schemas and objects.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;

use expect_test::expect;
use groma_model::address::{Module, Provider};

use super::*;

fn attribute(ty: Type) -> Attribute {
    Attribute { optional: true, ..Attribute::of_type(ty) }
}

fn nested(nesting: Nesting, attributes: &[(&str, Attribute)]) -> Attribute {
    let attributes = attributes.iter().map(|(name, attribute)| ((*name).into(), attribute.clone())).collect();
    let ty = AttributeKind::Nested(Arc::new(NestedObject { attributes, nesting }));
    Attribute { ty, ..attribute(Type::String) }
}

fn block(attributes: &[(&str, Attribute)], blocks: &[(&str, Nesting, Block)]) -> Block {
    let nested = |(name, nesting, block): &(&str, Nesting, Block)| {
        ((*name).into(), NestedBlock { block: block.clone(), nesting: *nesting, min_items: 0, max_items: 0 })
    };
    Block {
        attributes: attributes.iter().map(|(name, attribute)| ((*name).into(), attribute.clone())).collect(),
        block_types: blocks.iter().map(nested).collect(),
        ..Block::default()
    }
}

fn provider(source: &str, alias: Option<&str>) -> ProviderConfig {
    let provider = Provider::parse_source(source).unwrap();
    ProviderConfig { module: Module::default(), provider, alias: alias.map(Into::into) }
}

fn text(block: &Block, object: &Value) -> String {
    resource_block(&"thing_sort.a".parse().unwrap(), &provider("x/thing", None), block, object)
}

fn string(text: &str) -> Value {
    Value::string(text)
}

#[test]
fn attributes_stand_in_the_order_of_their_names() {
    let computed = Attribute { computed: true, optional: false, ..attribute(Type::String) };
    let id = Attribute { computed: true, ..attribute(Type::String) };
    let secret = Attribute { sensitive: true, ..attribute(Type::String) };
    let schema = block(
        &[
            ("tags", attribute(Type::map(Type::String))),
            ("name", Attribute { required: true, optional: false, ..attribute(Type::String) }),
            ("policy", attribute(Type::String)),
            ("broken", attribute(Type::String)),
            ("size", attribute(Type::Number)),
            ("nothing", attribute(Type::String)),
            ("empty", attribute(Type::String)),
            ("arn", computed),
            ("id", id),
            ("old", Attribute { deprecated: true, ..attribute(Type::String) }),
            ("secret", secret.clone()),
            ("write", Attribute { write_only: true, ..attribute(Type::String) }),
            ("both", Attribute { write_only: true, ..secret }),
        ],
        &[],
    );
    let object = Value::object([
        (
            "tags",
            Value::map(Type::String, Entries::from_iter([("owner", string("me")), ("two words", string("${x}"))])),
        ),
        ("name", string("a \"b\"")),
        ("policy", string(" {\"b\": [1, 2.50, null], \"a\": \"x<y\"}")),
        ("broken", string("{\"b\"")),
        ("size", Value::number(3)),
        ("nothing", Value::null(Type::String)),
        ("empty", string("")),
        ("arn", string("made")),
        ("id", string("one")),
        ("old", string("x")),
        ("secret", string("hunter2")),
        ("write", Value::null(Type::String)),
        ("both", Value::null(Type::String)),
    ]);
    expect![[r#"
        resource "thing_sort" "a" {
          both    = null # sensitive write-only
          broken  = "{\"b\""
          empty   = ""
          name    = "a \"b\""
          nothing = null
          policy = jsonencode({
            a = "x<y"
            b = [1, 2.5, null]
          })
          secret = null # sensitive
          size   = 3
          tags = {
            owner       = "me"
            "two words" = "$${x}"
          }
          write = null # write-only
        }"#]]
    .assert_eq(&text(&schema, &object));

    let config = configuration(&schema, &object);
    let read = |name: &str| config.as_entries().unwrap().get(name).unwrap().clone();
    for name in ["arn", "id", "old", "secret", "both", "nothing"] {
        assert!(read(name).is_null(), "{name}");
    }
    assert_eq!(read("policy"), string("{\"a\":\"x\\u003cy\",\"b\":[1,2.5,null]}"), "as jsonencode writes it");
    assert_eq!(read("broken"), string("{\"b\""));
    assert_eq!(config.ty(), schema.implied_type());
}

#[test]
fn objects_in_attributes_and_blocks() {
    let inner = [
        ("a", attribute(Type::String)),
        ("b", Attribute { computed: true, optional: false, ..attribute(Type::String) }),
    ];
    let secret = Attribute { sensitive: true, ..nested(Nesting::List, &inner) };
    let deprecated = Block { deprecated: true, ..block(&inner, &[]) };
    let schema = block(
        &[
            ("one", nested(Nesting::Single, &inner)),
            ("none", nested(Nesting::Single, &inner)),
            ("some", nested(Nesting::List, &inner)),
            ("named", nested(Nesting::Map, &inner)),
            ("hidden", secret.clone()),
            ("hidden_none", secret),
        ],
        &[
            ("single", Nesting::Single, block(&inner, &[("deep", Nesting::Set, block(&inner, &[]))])),
            ("absent", Nesting::Single, block(&inner, &[])),
            ("list", Nesting::List, block(&inner, &[])),
            ("map", Nesting::Map, block(&inner, &[])),
            ("gone", Nesting::List, deprecated),
        ],
    );
    let item = |text: &str| Value::object([("a", string(text)), ("b", string("made"))]);
    let ty = item("x").ty();
    let list = |items: &[&str]| Value::list(ty.clone(), items.iter().map(|text| item(text)).collect());
    let map = |keys: &[&str]| Value::map(ty.clone(), keys.iter().map(|key| (*key, item(key))).collect::<Entries>());
    let single =
        Value::object([("a", string("s")), ("b", string("made")), ("deep", Value::set(ty.clone(), vec![item("d")]))]);
    let object = Value::object([
        ("one", item("1")),
        ("none", Value::null(ty.clone())),
        ("some", list(&["x", "y"])),
        ("named", map(&["k", "two words"])),
        ("hidden", list(&["secret"])),
        ("hidden_none", Value::null(Type::list(ty.clone()))),
        ("single", single),
        ("absent", Value::null(ty.clone())),
        ("list", list(&["l"])),
        ("map", map(&["k"])),
        ("gone", list(&["g"])),
    ]);
    expect![[r#"
        resource "thing_sort" "a" {
          hidden      = []   # sensitive
          hidden_none = null # sensitive
          named = {
            k = {
              a = "k"
            }
            "two words" = {
              a = "two words"
            }
          }
          none = null
          one = {
            a = "1"
          }
          some = [
            {
              a = "x"
            },
            {
              a = "y"
            },
          ]
          list {
            a = "l"
          }
          map "k" {
            a = "k"
          }
          single {
            a = "s"
            deep {
              a = "d"
            }
          }
        }"#]]
    .assert_eq(&text(&schema, &object));
    let config = configuration(&schema, &object);
    assert_eq!(config.ty(), schema.implied_type());
    let read = |name: &str| config.as_entries().unwrap().get(name).unwrap().clone();
    assert_eq!(read("hidden").as_elements().map(<[Value]>::len), Some(0));
    assert_eq!(read("gone").as_elements().map(<[Value]>::len), Some(0));
    assert!(read("one").as_entries().unwrap().get("b").unwrap().is_null());
}

#[test]
fn a_provider_is_named_where_it_does_not_follow() {
    let address = "thing_sort.a".parse().unwrap();
    let nothing = Value::object(Vec::<(&str, Value)>::new());
    let text = |provider| resource_block(&address, &provider, &Block::default(), &nothing);
    assert_eq!(text(provider("x/thing", None)), "resource \"thing_sort\" \"a\" {\n}");
    assert_eq!(text(provider("x/thing", Some("b"))), "resource \"thing_sort\" \"a\" {\n  provider = thing.b\n}");
    assert_eq!(text(provider("x/thing-beta", None)), "resource \"thing_sort\" \"a\" {\n  provider = thing-beta\n}");
}
