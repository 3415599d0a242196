//! Rules as documentation, and the page about the catalogue in the manual.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(clippy::needless_raw_string_hashes, reason = "the tool that updates snapshots writes hashes")]

use std::sync::Arc;

use expect_test::{expect, expect_file};
use groma_model::schema::{Attribute, Block, Description, NestedBlock, Nesting, Schema};
use groma_model::text::Str;
use groma_model::ty::Type;

use super::{Documented, Options, condition, json, markdown, plain};
use crate::Glob;
use crate::replace::eval::Answer;
use crate::replace::eval::tests::{rule, says};
use crate::replace::rule::{Behavior, Logic, Named, ReplaceRule};
use crate::replace::testing::path;
use crate::replace::truth::Truth;

fn asked(id: &str) -> Logic {
    says(id, Answer::Truth(Truth::True), false)
}

fn example() -> ReplaceRule {
    let named = Named { id: Str::from("g"), description: None, logic: Logic::Any(vec![asked("b"), asked("c")]) };
    let none = Logic::NoneOf(vec![Logic::Named(Arc::new(named))]);
    let mut rule = rule("sim_box", Some(Logic::All(vec![asked("a"), none])));
    rule.fields = vec![path("cfg[0].private"), path("name")];
    rule.behavior = Behavior::Auto;
    rule.reasoning = Some(Str::from("Names | are\nunique"));
    rule.suggestions = vec![Str::from("Another name")];
    rule
}

fn schema() -> Schema {
    let described = |text: &str| Attribute {
        description: Description { text: text.to_owned(), ..Description::default() },
        ..Attribute::of_type(Type::String)
    };
    let inner =
        Block { attributes: [(Str::from("private"), described("Whether it is private."))].into(), ..Block::default() };
    let nested = NestedBlock { block: inner, nesting: Nesting::List, min_items: 0, max_items: 1 };
    let block = Block {
        attributes: [(Str::from("name"), described("The name."))].into(),
        block_types: [(Str::from("cfg"), nested)].into(),
        ..Block::default()
    };
    Schema { version: 0, block }
}

#[test]
fn as_markdown() {
    let (rule, schema) = (example(), schema());
    let schemas = |ty: &str| (ty == "sim_box").then_some(&schema);
    let options = Options { ty: None, schemas: Some(&schemas) };
    expect![[r"
        ## `sim_box`

        | rule | field | order | when | behavior | reason | threads |
        |---|---|---|---|---|---|---|
        | `r` | `cfg[0].private`, `name` | delete-first | what a says and not: (what b says or what c says) | auto | Names \| are unique |  |

        What else can be done: Another name.

        - `cfg[0].private`: Whether it is private. Replacement order: delete-first when what a says and not: (what b says or what c says).
        - `name`: The name. Replacement order: delete-first when what a says and not: (what b says or what c says).

    "]]
    .assert_eq(&markdown(&[Documented::by_user(&rule)], &options));
    let other = Options { ty: Some("sim_user"), schemas: None };
    assert_eq!(markdown(&[Documented::by_user(&rule)], &other), "");
}

#[test]
fn for_machines() {
    let (rule, schema) = (example(), schema());
    let schemas = |_: &str| Some(&schema);
    let found = json(&[Documented::by_user(&rule)], &Options { ty: Some("sim_box"), schemas: Some(&schemas) });
    expect![[r#"
        {
          "catalogue": "2026.11",
          "resource_types": {
            "sim_box": {
              "rules": [
                {
                  "id": "r",
                  "origin": "root_rule",
                  "fields": [
                    "cfg[0].private",
                    "name"
                  ],
                  "order": "delete_first",
                  "when": "what a says and not: (what b says or what c says)",
                  "behavior": "auto",
                  "reasoning": "Names | are unique",
                  "suggestions": [
                    "Another name"
                  ],
                  "learn_more": "groma explain rule r",
                  "threads": []
                }
              ],
              "fields": {
                "cfg[0].private": {
                  "description": "Whether it is private.",
                  "notes": [
                    "Replacement order: delete-first when what a says and not: (what b says or what c says)."
                  ]
                },
                "name": {
                  "description": "The name.",
                  "notes": [
                    "Replacement order: delete-first when what a says and not: (what b says or what c says)."
                  ]
                }
              }
            }
          }
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&found).unwrap());
}

#[test]
fn conditions_in_words() {
    let (a, b) = (asked("a"), asked("b"));
    let known = Logic::Any(vec![a.clone(), Logic::NoneOf(vec![a.clone()])]);
    assert_eq!(condition(&known), "it is known whether what a says");
    assert_eq!(condition(&Logic::NoneOf(vec![a.clone(), b.clone()])), "none of: what a says; what b says");
    let or = Logic::Any(vec![a.clone(), b]);
    assert_eq!(condition(&Logic::All(vec![or.clone(), a])), "(what a says or what b says) and what a says");
    assert_eq!(condition(&Logic::All(Vec::new())), "always");
    assert_eq!(condition(&Logic::Constant(false)), "never");
    let deep = (0..100).fold(or, |inner, _| Logic::All(vec![inner]));
    assert_eq!(condition(&deep), "…");
}

/// The page must say what the tables say. `UPDATE_EXPECT=1` writes it anew.
#[test]
fn the_page_about_the_catalogue() {
    let introduction = "\
# What is known about resource types

<!-- Made from the tables in crates/rules/src/replace/catalogue. A test writes it anew with UPDATE_EXPECT=1. -->

When an object is replaced, groma knows for some resource types which of both objects has to be there first: the new one cannot have what
the old one still has, or the old one cannot go while others use it. This is what it knows. Rules with the behavior `auto` are obeyed if
the mode is `auto`; all others, and all of them otherwise, are told as warnings. Where a rule of each order holds, no order is safe, and
the warning says what can be done instead. `catalogue = false` in `replace_settings` turns all of it off, `disable_rules` some of it.

";
    let page = format!("{introduction}{}", markdown(&Documented::catalogue(), &Options::default()).trim_end());
    expect_file!["../../../../../docs/book/src/replacement-catalogue.md"].assert_eq(&(page + "\n"));
}

#[test]
fn every_rule_of_the_catalogue_is_documented() {
    let all = Documented::catalogue();
    let json = json(&all, &Options::default());
    let types = json["resource_types"].as_object().unwrap();
    assert_eq!(types.values().map(|about| about["rules"].as_array().unwrap().len()).sum::<usize>(), all.len());
    assert!(types["kubernetes_*"]["rules"][0]["fields"].as_array().unwrap().iter().all(|field| field == "metadata"));
    let schema = schema();
    let schemas = |ty: &str| (ty == "kubernetes_pod").then_some(&schema);
    let pods = markdown(&all, &Options { ty: Some("kubernetes_pod"), schemas: Some(&schemas) });
    assert!(pods.starts_with("## `kubernetes_*`\n"));
    assert!(pods.contains("- `metadata`: Replacement order: delete-first when the new object uses one of"));
}

#[test]
fn for_a_person() {
    let rule = ReplaceRule { replace_dependents: vec![Glob::new("sim_user"), Glob::new("sim_link")], ..example() };
    expect![[r#"
        Rule r
          from         rules.groma.hcl:3
          about        sim_box
          fields       cfg[0].private, name
          order        delete-first
          when         what a says and not: (what b says or what c says)
          behavior     auto: it is obeyed with -replace-rules=auto, and told otherwise
          takes along  sim_user, sim_link
          reason       Names | are unique
          instead      Another name
    "#]]
    .assert_eq(&plain(&Documented::by_user(&rule), Some("rules.groma.hcl:3")));
    let known = Documented::catalogue();
    let known = known.iter().find(|known| known.rule.id.as_str() == "kubernetes.name").unwrap();
    expect![[r#"
        Rule kubernetes.name
          from         comes with groma
          about        kubernetes_*
          fields       metadata
          order        delete-first
          when         the new object uses one of metadata[0].name, manifest.metadata.name of the old one again
          behavior     auto: it is obeyed with -replace-rules=auto, and told otherwise
          reason       Names are unique in a namespace (otherwise: already exists)
          instead      Use generate_name instead of name, or give the new object another name
          seen in      pulumi/pulumi-kubernetes#2459
          seen in      pulumi/pulumi-kubernetes#21
          seen in      pulumi/pulumi-terraform#383
    "#]]
    .assert_eq(&plain(known, None));
}
