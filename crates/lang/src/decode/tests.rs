//! Bodies decoded against small schemas.

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::mark::{Mark, Marks};
use groma_model::path::Path;
use groma_model::schema::{Attribute, Block, NestedBlock, Nesting};
use groma_model::span::SourceMap;
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_model::value::Value;
use groma_syntax::ast::{Step, Traversal};
use groma_syntax::body::Body;
use groma_syntax::{parse_native, parse_quoted_traversal};

use super::{attribute_at, check_traversal, decode_block, locate, refuse_ephemeral};
use crate::eval::{CallSettings, FunctionLookup, Resolved, Scope};

/// Knows `known`, `unknown`, `secret` and `passing`, and refuses every other name.
struct Names;

impl Scope for Names {
    fn resolve(&self, traversal: &Traversal) -> Result<Resolved, Diagnostics> {
        let value = match traversal.root.name.as_str() {
            "known" => Value::strings(["a", "b"]),
            "unknown" => Value::unknown(Type::list(Type::String)),
            "secret" => Value::strings(["s"]).mark(Mark::Sensitive),
            "passing" => Value::string("p").mark(Mark::Ephemeral),
            _ => return Err(Diagnostic::error("Undeclared", "").at(traversal.span).into()),
        };
        Ok(Resolved { value, steps_used: 0 })
    }

    fn function(&self, _: &str) -> FunctionLookup<'_> {
        FunctionLookup::NotAllowed
    }

    fn call_settings(&self) -> Option<CallSettings<'_>> {
        None
    }
}

fn attribute(ty: Type, required: bool) -> Attribute {
    Attribute { required, optional: !required, ..Attribute::of_type(ty) }
}

fn block<const N: usize>(attributes: [(&str, Attribute); N]) -> Block {
    let attributes = attributes.into_iter().map(|(name, attribute)| (Str::new(name), attribute)).collect();
    Block { attributes, ..Block::default() }
}

fn with_blocks(nesting: Nesting, min_items: u64, max_items: u64) -> Block {
    let inner = block([("x", attribute(Type::String, true)), ("y", attribute(Type::Number, false))]);
    let mut outer = block([("name", attribute(Type::String, false))]);
    outer.block_types.insert("b".into(), NestedBlock { block: inner, nesting, min_items, max_items });
    outer
}

fn parse(text: &str) -> (SourceMap, Body) {
    let mut map = SourceMap::new();
    let file = map.add("main.tf", text);
    let parsed = parse_native(&map, file);
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    (map, parsed.value)
}

fn decode(text: &str, schema: &Block) -> (Value, Vec<String>) {
    let (map, body) = parse(text);
    let (value, diagnostics) = decode_block(&body, schema, &Names);
    let shown = diagnostics.iter().map(|diagnostic| match diagnostic.subject {
        Some(span) => format!("{} {}", map.start(span).line, diagnostic.summary),
        None => diagnostic.summary.clone(),
    });
    (value, shown.collect())
}

fn part(value: &Value, name: &str) -> Value {
    value.as_entries().unwrap().get(name).unwrap().clone()
}

#[test]
fn attributes_are_converted() {
    let schema = block([("a", attribute(Type::String, true)), ("b", attribute(Type::list(Type::Number), false))]);
    let (value, found) = decode("a = 5\n", &schema);
    assert!(found.is_empty());
    assert_eq!(part(&value, "a"), Value::string("5"));
    assert_eq!(part(&value, "b"), Value::null(Type::list(Type::Number)));
    let (_, found) = decode("b = \"x\"\nc = 1\n", &schema);
    assert_eq!(found, ["1 Missing required argument", "2 Unsupported argument", "1 Incorrect attribute value type"]);
}

#[test]
fn wrong_references_are_all_that_is_said() {
    let schema = block([("a", attribute(Type::Number, true)), ("b", attribute(Type::String, false))]);
    let (value, found) = decode("b = nope.x\nc = 1\n", &schema);
    assert_eq!(found, ["1 Undeclared"]);
    assert!(!value.is_known());
}

#[test]
fn blocks_are_collected_by_their_nesting() {
    let text = "b {\n  x = 2\n}\nb {\n  x = 1\n}\n";
    let object = |x: &str| Value::object([("x", Value::string(x)), ("y", Value::null(Type::Number))]);
    let (value, found) = decode(text, &with_blocks(Nesting::List, 0, 0));
    assert!(found.is_empty());
    assert_eq!(part(&value, "b").as_elements().unwrap(), [object("2"), object("1")]);
    let (value, _) = decode(text, &with_blocks(Nesting::Set, 0, 0));
    assert_eq!(part(&value, "b").as_elements().unwrap(), [object("1"), object("2")]);
    let (value, found) = decode("b \"k\" {\n  x = 1\n}\n", &with_blocks(Nesting::Map, 0, 0));
    assert!(found.is_empty());
    assert_eq!(part(&part(&value, "b"), "k"), object("1"));
    let (value, _) = decode("", &with_blocks(Nesting::Single, 0, 0));
    assert!(part(&value, "b").is_null());
    let (value, _) = decode("", &with_blocks(Nesting::Group, 0, 0));
    assert_eq!(part(&part(&value, "b"), "x"), Value::null(Type::String));
}

#[test]
fn blocks_are_counted() {
    let (_, found) = decode("", &with_blocks(Nesting::List, 1, 0));
    assert_eq!(found, ["1 Insufficient b blocks"]);
    let text = "b {\n  x = 2\n}\nb {\n  x = 1\n}\n";
    let (_, found) = decode(text, &with_blocks(Nesting::Set, 0, 1));
    assert_eq!(found, ["4 Too many b blocks"]);
    let (_, found) = decode(text, &with_blocks(Nesting::Single, 0, 1));
    assert_eq!(found, ["4 Duplicate b block"]);
    let (_, found) = decode("", &with_blocks(Nesting::Single, 1, 1));
    assert_eq!(found, ["1 Missing b block"]);
}

#[test]
fn dynamic_blocks_repeat_their_content() {
    let text = "dynamic \"b\" {\n  for_each = known\n  content {\n    x = \"${b.key}=${b.value}\"\n  }\n}\nb {\n  x = \"z\"\n}\n";
    let (value, found) = decode(text, &with_blocks(Nesting::List, 0, 0));
    assert!(found.is_empty(), "{found:?}");
    let blocks = part(&value, "b");
    let texts: Vec<Value> = blocks.as_elements().unwrap().iter().map(|block| part(block, "x")).collect();
    assert_eq!(texts, [Value::string("0=a"), Value::string("1=b"), Value::string("z")]);

    let text = "dynamic \"b\" {\n  for_each = unknown\n  iterator = it\n  content {\n    x = it.value\n  }\n}\n";
    let (value, found) = decode(text, &with_blocks(Nesting::List, 1, 1));
    assert!(found.is_empty(), "{found:?}");
    assert!(!part(&value, "b").is_known());
}

#[test]
fn marks_of_a_collection_reach_what_is_made_of_it() {
    let text = "dynamic \"b\" {\n  for_each = secret\n  content {\n    x = \"plain\"\n  }\n}\n";
    let (value, found) = decode(text, &with_blocks(Nesting::List, 0, 0));
    assert!(found.is_empty(), "{found:?}");
    let first = part(&value, "b").as_elements().unwrap()[0].clone();
    assert_eq!(part(&first, "x").marks(), &Marks::one(Mark::Sensitive));
}

#[test]
fn dynamic_blocks_are_checked() {
    let schema = with_blocks(Nesting::List, 0, 0);
    let (_, found) = decode("dynamic \"c\" {\n  for_each = known\n  content {}\n}\n", &schema);
    assert_eq!(found, ["1 Unsupported block type"]);
    let (_, found) = decode("dynamic \"b\" {\n  for_each = known\n}\n", &schema);
    assert_eq!(found, ["1 Missing dynamic content block"]);
    let (_, found) = decode("dynamic \"b\" {\n  for_each = \"x\"\n  content {}\n}\n", &schema);
    assert_eq!(found, ["2 Invalid dynamic for_each value"]);
    let (_, found) = decode("dynamic \"b\" {\n  for_each = known\n  iterator = a.b\n  content {}\n}\n", &schema);
    assert_eq!(found, ["3 Invalid dynamic iterator name"]);
    let (_, found) = decode("dynamic \"b\" {\n  for_each = known\n  content {}\n}\n", &schema);
    assert_eq!(found, ["3 Missing required argument", "3 Missing required argument"]);
}

#[test]
fn old_attributes_may_be_written_as_blocks() {
    let object = Type::object([("x", Type::String)]);
    let schema = block([("things", attribute(Type::list(object.clone()), false))]);
    let expected = Value::list(object, vec![Value::object([("x", Value::string("1"))])]);
    let (value, found) = decode("things {\n  x = 1\n}\n", &schema);
    assert!(found.is_empty(), "{found:?}");
    assert_eq!(part(&value, "things"), expected);
    let (value, _) = decode("things = [{ x = 1 }]\n", &schema);
    assert_eq!(part(&value, "things"), expected);
}

fn steps(text: &str) -> Vec<Step> {
    let mut map = SourceMap::new();
    let file = map.add("x", format!("\"{text}\""));
    let span = groma_model::span::Span::new(file, 0, text.len() + 2);
    let traversal = parse_quoted_traversal(text, span).value.unwrap();
    let root = Step::Attr { name: traversal.root.name, span: traversal.root.span };
    std::iter::once(root).chain(traversal.steps).collect()
}

#[test]
fn references_are_checked_against_schemas() {
    let problem = |text: &str, schema: &Block| {
        check_traversal(schema, &steps(text)).iter().map(|diagnostic| diagnostic.summary.clone()).collect::<Vec<_>>()
    };
    let list = with_blocks(Nesting::List, 0, 0);
    assert_eq!(problem("name", &list), Vec::<String>::new());
    assert_eq!(problem("nam", &list), ["Unsupported attribute"]);
    assert_eq!(problem("b[0].x", &list), Vec::<String>::new());
    assert_eq!(problem("b.x", &list), ["Invalid operation"]);
    assert_eq!(problem("b[0].z", &list), ["Unsupported attribute"]);
    assert_eq!(problem("name.x", &list), ["Unsupported attribute"]);
    assert_eq!(problem("b[0]", &with_blocks(Nesting::Set, 0, 0)), ["Cannot index a set value"]);
    assert!(attribute_at(&list, &steps("b[0].x")).is_some_and(|found| found.required));
    assert!(attribute_at(&list, &steps("b[0]")).is_none());
}

#[test]
fn values_are_found_in_the_text_again() {
    let (map, body) = parse("name = \"n\"\nb {\n  x = 1\n}\nb {\n  x = [\n    2,\n  ]\n}\n");
    let line = |path: &Path| map.start(locate(&body, path)).line;
    assert_eq!(line(&Path::root().attr("name")), 1);
    assert_eq!(line(&Path::root().attr("b").index(1).attr("x")), 6);
    assert_eq!(line(&Path::root().attr("b").index(1).attr("x").index(0)), 7);
}

#[test]
fn values_inside_of_expressions_are_found_as_far_as_they_are_written_out() {
    let (map, body) = parse("c = {\n  x = \"1\"\n  y = [\n    { z = 1 },\n  ]\n  w = local.w\n}\n");
    let line = |path: &Path| map.start(locate(&body, path)).line;
    let inside = |name: &str| Path::root().attr("c").attr(name);
    assert_eq!(line(&inside("x")), 2);
    assert_eq!(line(&inside("y").index(0).attr("z")), 4);
    assert_eq!(line(&inside("w").attr("deep").attr("deeper")), 6);
    assert_eq!(line(&inside("missing")), 1);
    assert_eq!(line(&Path::root().attr("c")), 1);
}

#[test]
fn ephemeral_values_are_not_stored() {
    let mut schema = block([("a", attribute(Type::String, false)), ("w", attribute(Type::String, false))]);
    schema.attributes.get_mut("w").unwrap().write_only = true;
    let (_, body) = parse("a = passing\nw = passing\n");
    let (value, diagnostics) = decode_block(&body, &schema, &Names);
    assert!(diagnostics.is_empty());
    let found = refuse_ephemeral(&value, &schema, &body);
    assert_eq!(found.len(), 1);
    assert_eq!(found.iter().next().unwrap().path, Some(Path::root().attr("a")));
}
