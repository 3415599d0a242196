//! What providers that make nothing answer, what must fail, and what the results look like to other programs.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeMap;
use std::time::Duration;

use expect_test::expect;
use groma_model::diag::Diagnostic;
use groma_model::schema::{Attribute, Block, NestedBlock, Nesting};
use groma_model::span::SourceMap;
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_model::value::Value;

use super::compose::{self, Values};
use super::{FileReport, RunReport, Status, junit, literal};

fn attribute(ty: Type, given: &str) -> Attribute {
    Attribute {
        required: given.contains('r'),
        optional: given.contains('o'),
        computed: given.contains('c'),
        ..Attribute::of_type(ty)
    }
}

fn block() -> Block {
    let inner = Block {
        attributes: BTreeMap::from([
            (Str::from("kind"), attribute(Type::String, "o")),
            (Str::from("serial"), attribute(Type::String, "c")),
        ]),
        ..Block::default()
    };
    let nested = NestedBlock { block: inner, nesting: Nesting::List, min_items: 0, max_items: 0 };
    Block {
        attributes: BTreeMap::from([
            (Str::from("id"), attribute(Type::String, "c")),
            (Str::from("name"), attribute(Type::String, "r")),
            (Str::from("note"), attribute(Type::String, "o")),
            (Str::from("ports"), attribute(Type::list(Type::Number), "c")),
            (Str::from("size"), attribute(Type::Number, "oc")),
        ]),
        block_types: BTreeMap::from([(Str::from("disk"), nested)]),
        ..Block::default()
    }
}

fn config(entries: &[(&str, Value)]) -> Value {
    let mut all: BTreeMap<&str, Value> = BTreeMap::from([("name", Value::string("x"))]);
    all.extend(entries.iter().cloned());
    let empty = block().empty_value();
    let empty = empty.as_entries().unwrap();
    Value::object(empty.iter().map(|(name, none)| {
        let value = all.get(name.as_str()).cloned().unwrap_or_else(|| none.clone());
        (name.clone(), value)
    }))
}

fn composed(entries: &[(&str, Value)], values: &[(&str, Value)]) -> (Value, Vec<String>) {
    let values: Values = values.iter().map(|(name, value)| (Str::from(*name), value.clone())).collect();
    let (value, found) = compose::object("thing", &block(), &config(entries), &values);
    (value, found.into_iter().map(|found| found.summary).collect())
}

fn get(value: &Value, name: &str) -> Value {
    value.as_entries().unwrap().get(name).unwrap().clone()
}

#[test]
fn what_nobody_says_is_made_up() {
    let (value, problems) = composed(&[], &[]);
    assert!(problems.is_empty(), "{problems:?}");
    assert!(value.is_of_type(&block().implied_type()));
    let id = get(&value, "id").as_str().unwrap().to_owned();
    assert!((4..16).contains(&id.len()) && id.chars().all(|c| c.is_ascii_alphanumeric()), "{id}");
    assert_eq!(get(&value, "name"), Value::string("x"));
    assert!(get(&value, "note").is_null());
    assert_eq!(get(&value, "size"), Value::number(0));
    assert_eq!(get(&value, "ports"), Value::list(Type::Number, Vec::new()));
    // A test sees the same each time.
    assert_eq!(composed(&[], &[]).0, value);
}

#[test]
fn blocks_are_as_configured_and_filled() {
    let disk = |kind: &str| Value::object([("kind", Value::string(kind)), ("serial", Value::null(Type::String))]);
    let ty = block().block_types["disk"].object_type();
    let disks = Value::list(ty, vec![disk("a"), disk("b")]);
    let given = Value::object([("serial", Value::string("s"))]);
    let (value, problems) = composed(&[("disk", disks)], &[("disk", given)]);
    assert!(problems.is_empty(), "{problems:?}");
    let serials: Vec<Value> =
        get(&value, "disk").as_elements().unwrap().iter().map(|disk| get(disk, "serial")).collect();
    assert_eq!(serials, [Value::string("s"), Value::string("s")]);
}

#[test]
fn what_a_test_may_not_say_is_refused() {
    let cases = [
        ("name", Value::string("y"), "Invalid mock/override field `name`"),
        ("note", Value::string("y"), "Non-computed field `note` is not allowed to be overridden"),
        ("ports", Value::bool(true), "Invalid mock/override field `ports`"),
        ("nothing", Value::bool(true), "Invalid override for block field `nothing`"),
        ("disk", Value::bool(true), "Invalid override for block field `disk`"),
        ("disk", Value::empty_object(), "Invalid override for block field `disk`"),
    ];
    for (name, value, expected) in cases {
        let (_, problems) = composed(&[], &[(name, value)]);
        assert!(problems.iter().any(|problem| problem == expected), "{name}: {problems:?}");
    }
}

#[test]
fn values_are_written_as_expressions() {
    let mut map = SourceMap::new();
    let file = map.add("x", "x");
    let span = groma_model::span::Span::new(file, 0, 1);
    let value = Value::object([
        ("list", Value::tuple(vec![Value::number(1), Value::bool(true), Value::null(Type::Dynamic)])),
        ("text", Value::string("a ${b} \"c\"")),
        ("none", Value::string("")),
    ]);
    let (evaluated, found) =
        groma_lang::eval::evaluate(&literal::expression(&value, span), &groma_lang::eval::EmptyScope);
    assert!(found.is_empty());
    assert_eq!(evaluated, value);
}

#[test]
fn results_as_junit_xml() {
    let run = |name: &str, status, found: &[Diagnostic]| RunReport {
        name: name.to_owned(),
        status,
        diagnostics: found.iter().cloned().collect(),
        shown: None,
        took: Duration::from_millis(1500),
    };
    let file = FileReport {
        name: "a <&> \"b\".tftest.hcl".to_owned(),
        status: Status::Error,
        runs: vec![
            run("good", Status::Pass, &[Diagnostic::warning("Careful", "")]),
            run("bad", Status::Fail, &[Diagnostic::error("Test assertion failed", "ends ]]> here\u{1}")]),
            run("worse", Status::Error, &[Diagnostic::error("Broken", "it is")]),
            run("none", Status::Skip, &[]),
        ],
    };
    expect![[r#"
        <?xml version="1.0" encoding="UTF-8"?><testsuites>
          <testsuite name="a &lt;&amp;&gt; &#34;b&#34;.tftest.hcl" tests="4" skipped="1" failures="1" errors="1" time="6">
            <testcase name="good" classname="a &lt;&amp;&gt; &#34;b&#34;.tftest.hcl" time="1.5">
              <system-err><![CDATA[Warning: Careful
        ]]></system-err>
            </testcase>
            <testcase name="bad" classname="a &lt;&amp;&gt; &#34;b&#34;.tftest.hcl" time="1.5">
              <failure message="Test run failed"><![CDATA[Error: Test assertion failed

        ends ]]]]><![CDATA[> here�
        ]]></failure>
            </testcase>
            <testcase name="worse" classname="a &lt;&amp;&gt; &#34;b&#34;.tftest.hcl" time="1.5">
              <error message="Encountered an error"><![CDATA[Error: Broken

        it is
        ]]></error>
            </testcase>
            <testcase name="none" classname="a &lt;&amp;&gt; &#34;b&#34;.tftest.hcl" time="1.5">
              <skipped message="Left out because an earlier run could not be carried through, or because of an interrupt"></skipped>
            </testcase>
          </testsuite>
        </testsuites>
    "#]]
    .assert_eq(&junit::document(&[file], &SourceMap::new()));
}
