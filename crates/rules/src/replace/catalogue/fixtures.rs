//! Every row of the catalogue on objects of its types: some that it is right about, and some that it has nothing to say about.
//!
//! In the new objects of `fixtures/*.json`, `(known after apply)` is a configured value that is not known yet, and `(generated)` one that
//! nobody has configured.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::{BTreeMap, BTreeSet};

use groma_model::number::Number;
use groma_model::schema::{Attribute, Block, Schema};
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_model::value::Value;
use serde_json::Value as Json;

use super::{Catalogue, Class, TABLES, row};
use crate::glob::Glob;
use crate::replace::case::{Attached, Cause, Neighbours};
use crate::replace::eval::tests::Fixture;
use crate::replace::eval::{Care, Verdict, judge};
use crate::replace::rule::{Behavior, Order};
use crate::replace::truth::Truth;

const FIXTURES: [&str; 11] = [
    include_str!("fixtures/aws.json"),
    include_str!("fixtures/google.json"),
    include_str!("fixtures/azurerm.json"),
    include_str!("fixtures/linode.json"),
    include_str!("fixtures/openstack.json"),
    include_str!("fixtures/digitalocean.json"),
    include_str!("fixtures/hcloud.json"),
    include_str!("fixtures/docker.json"),
    include_str!("fixtures/kubernetes.json"),
    include_str!("fixtures/local.json"),
    include_str!("fixtures/mongodbatlas.json"),
];

/// Dependents of an object, by type.
struct Dependents(Vec<Attached>);

impl Neighbours for Dependents {
    fn dependents(&self, types: &[Glob], _: &[Str]) -> Vec<Attached> {
        let of_type = |one: &&Attached| types.iter().any(|ty| ty.matches(one.address.split('.').next().unwrap()));
        self.0.iter().filter(of_type).cloned().collect()
    }

    fn references(&self, _: &[Glob], _: &[Str]) -> Vec<Attached> {
        Vec::new()
    }

    fn siblings(&self) -> usize {
        1
    }
}

fn value(json: &Json, open: &Value, made_up: &Value) -> Value {
    match json {
        Json::Null => Value::null(Type::Dynamic),
        Json::Bool(truth) => Value::bool(*truth),
        Json::Number(number) => Value::number(Number::from(number.as_u64().unwrap())),
        Json::String(text) if text == "(known after apply)" => open.clone(),
        Json::String(text) if text == "(generated)" => made_up.clone(),
        Json::String(text) => Value::string(text.as_str()),
        Json::Array(items) => Value::tuple(items.iter().map(|item| value(item, open, made_up)).collect()),
        Json::Object(fields) => {
            Value::object(fields.iter().map(|(name, field)| (name.as_str(), value(field, open, made_up))))
        }
    }
}

fn fixture(json: &Json) -> Fixture {
    let (open, none) = (Value::dynamic(), Value::null(Type::Dynamic));
    let address = format!("{}.x", json["resource"].as_str().unwrap());
    let mut fixture = Fixture::new(&address, value(&json["old"], &open, &open), value(&json["new"], &open, &open));
    fixture.config = value(&json["new"], &open, &none);
    fixture.cause = Cause::CannotUpdate;
    let dependents = json["dependents"].as_object().into_iter().flatten().map(|(address, action)| Attached {
        address: address.clone(),
        holds: match action.as_str().unwrap() {
            "none" | "update" => Truth::True,
            "replace" | "delete" => Truth::False,
            "deferred" => Truth::Unknown,
            other => unreachable!("{other}"),
        },
        outside_plan: false,
    });
    fixture.neighbours = Some(Box::new(Dependents(dependents.collect())));
    fixture
}

/// What comes of all rows about an object, and those that have an opinion.
fn outcome(fixture: &Fixture) -> (&'static str, BTreeSet<&'static str>) {
    let ty = fixture.address.instance.resource.ty.as_str();
    let (mut orders, mut open, mut rows) = (BTreeSet::new(), false, BTreeSet::new());
    for entry in Catalogue::shared().about(ty) {
        let [quick, full] = [Care::Verdict, Care::Full].map(|care| judge(&entry.rule, &fixture.case(), care));
        assert_eq!(quick.verdict, full.verdict);
        match full.verdict {
            Verdict::True => {
                orders.insert(entry.rule.order);
                rows.insert(entry.row.id);
                assert!(full.conditions().iter().any(|line| line.contains(": true (")), "{:?}", full.conditions());
            }
            Verdict::Unknown => {
                open = true;
                rows.insert(entry.row.id);
            }
            Verdict::False => {}
            other => unreachable!("{other:?}: {:?}", full.diagnostics),
        }
    }
    let outcome = match orders.iter().collect::<Vec<_>>().as_slice() {
        _ if open => "unknown",
        [] => "none",
        [Order::DeleteFirst] => "delete_first",
        [Order::CreateFirst] => "create_first",
        _ => "no_safe_order",
    };
    (outcome, rows)
}

#[test]
fn every_row_is_right_about_its_own_fixtures() {
    let (mut right, mut quiet): (BTreeMap<String, usize>, BTreeMap<String, usize>) = Default::default();
    let mut wrong = Vec::new();
    for file in FIXTURES {
        for json in serde_json::from_str::<Vec<Json>>(file).unwrap() {
            let (row, wanted) = (json["row"].as_str().unwrap(), json["expect"].as_str().unwrap());
            let (found, rows) = outcome(&fixture(&json));
            let quiet_one = wanted == "none";
            if found != wanted || rows.contains(row) == quiet_one {
                wrong.push(format!("{row}: {}: {found} ({rows:?}) instead of {wanted}", json["about"]));
            }
            *if quiet_one { &mut quiet } else { &mut right }.entry(row.to_owned()).or_default() += 1;
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    for row in TABLES.into_iter().flatten() {
        assert!(right.contains_key(row.id), "{} has no fixture that it holds for", row.id);
        assert!(quiet.contains_key(row.id), "{} has no fixture that it does not hold for", row.id);
    }
    assert_eq!(right.len(), TABLES.iter().map(|table| table.len()).sum::<usize>());
}

#[test]
fn tables_are_well_formed() {
    let mut ids = BTreeSet::new();
    for row in TABLES.into_iter().flatten() {
        assert!(ids.insert(row.id), "{} is there twice", row.id);
        assert!(
            row.id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "._-".contains(c)),
            "{}",
            row.id
        );
        assert_eq!(row.id.split('.').next(), row.resource.split(['_', '*']).next(), "{}", row.id);
        assert!(row.cells().all(|cell| row::path_of(cell.path).is_some()), "{}", row.id);
        assert!(!row.rules().is_empty() && !row.threads.is_empty() && !row.suggestions.is_empty(), "{}", row.id);
        assert!(row.threads.iter().all(|thread| thread.contains('/') && thread.contains('#')), "{}", row.id);
        let claims = !row.claims.is_empty() || !row.links.is_empty();
        assert_eq!(row.because.is_empty(), !claims, "{}", row.id);
        assert_eq!(row.held_by.is_empty(), row.identity.is_empty(), "{}", row.id);
        assert_eq!(row.classes.contains(&Class::Link), !row.links.is_empty(), "{}", row.id);
        assert_eq!(row.classes.contains(&Class::Held), !row.held_by.is_empty(), "{}", row.id);
    }
}

#[test]
fn only_what_is_certain_is_obeyed() {
    for entry in Catalogue::shared().entries() {
        let certain = entry.row.classes.iter().any(|class| matches!(class, Class::Link | Class::Claim));
        let obeyed = certain && entry.rule.order == Order::DeleteFirst;
        assert_eq!(entry.rule.behavior == Behavior::Auto, obeyed, "{}", entry.rule.id);
        assert!(Catalogue::shared().find(&entry.rule.id).is_some_and(|found| found.row.id == entry.row.id));
    }
    assert!(Catalogue::shared().find("nothing").is_none());
    assert_eq!(Catalogue::shared().about("null_resource").count(), 0);
    assert_eq!(Catalogue::shared().about("kubernetes_pod").count(), 1);
}

#[test]
fn tables_are_checked_with_schemas() {
    let attribute = |name: &str| (Str::from(name), Attribute { optional: true, ..Attribute::of_type(Type::String) });
    let schema = |names: &[&str]| {
        let attributes = names.iter().map(|name| attribute(name)).collect();
        Schema { version: 0, block: Block { attributes, ..Block::default() } }
    };
    let catalogue = Catalogue::shared();
    let whole = schema(&["content", "filename", "file_permission", "directory_permission"]);
    assert!(catalogue.check_against("local_file", &whole).is_empty());
    let renamed = schema(&["content", "file_name", "file_permission", "directory_permission"]);
    let found = catalogue.check_against("local_file", &renamed);
    let found: Vec<_> = found.iter().map(|problem| (problem.summary.as_str(), problem.address.as_deref())).collect();
    assert_eq!(found, [("No such field (GR1103)", Some("local.file"))]);
}
