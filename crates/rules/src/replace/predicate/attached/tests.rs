//! What is attached to a `sim_box`, and what follows from that (T-44 to T-51).

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;

use groma_model::mark::Mark;
use groma_model::schema::{Attribute, Block, NestedBlock, Nesting, Schema};
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_model::value::Value;

use super::{HasAttached, Kind, Parameters, Via};
use crate::glob::Glob;
use crate::replace::case::{Attached, Case, Neighbours};
use crate::replace::predicate::{Found, Predicate};
use crate::replace::rule::Attachment;
use crate::replace::testing::{Scene, boxed, cfg, disks, fields, nics, path, sim_box};
use crate::replace::truth::Truth;

/// Objects around a `sim_box`.
pub(crate) struct Around {
    pub(crate) dependents: Vec<Attached>,
    pub(crate) references: Vec<Attached>,
    pub(crate) siblings: usize,
    /// The attributes that dependents must be asked for by.
    pub(crate) identity: &'static [&'static str],
}

impl Around {
    pub(crate) fn users(count: usize) -> Self {
        let user = |at| attached(&format!("sim_user.u{at}"), Truth::True);
        Self { dependents: (0..count).map(user).collect(), references: Vec::new(), siblings: 1, identity: &[] }
    }

    fn of(dependents: impl IntoIterator<Item = (&'static str, Truth)>) -> Self {
        let dependents = dependents.into_iter().map(|(address, holds)| attached(address, holds)).collect();
        Self { dependents, ..Self::users(0) }
    }
}

fn attached(address: &str, holds: Truth) -> Attached {
    Attached { address: address.to_owned(), holds, outside_plan: false }
}

fn like(objects: &[Attached], types: &[Glob]) -> Vec<Attached> {
    let is_like = |object: &&Attached| {
        let ty = object.address.split('.').next().unwrap();
        types.iter().any(|glob| glob.matches(ty))
    };
    objects.iter().filter(is_like).cloned().collect()
}

impl Neighbours for Around {
    fn dependents(&self, types: &[Glob], identity: &[Str]) -> Vec<Attached> {
        assert_eq!(identity.iter().map(Str::as_str).collect::<Vec<_>>(), self.identity);
        like(&self.dependents, types)
    }

    fn references(&self, types: &[Glob], _: &[Str]) -> Vec<Attached> {
        like(&self.references, types)
    }

    fn siblings(&self) -> usize {
        self.siblings
    }
}

pub(crate) fn steps(found: &Found) -> Vec<String> {
    found.steps.iter().map(ToString::to_string).collect()
}

fn kind(name: &str) -> Kind {
    Kind { name: Str::from(name), place: None, via: Via::Auto, aliases: Arc::default() }
}

fn given(name: &str) -> Parameters {
    Parameters { resource_types: vec![kind(name)], ..Parameters::default() }
}

fn ask(parameters: Parameters, around: &Around) -> Found {
    let scene = Scene::change(boxed([]), boxed([]));
    HasAttached::new(parameters).unwrap().ask(&scene.among(around), true).unwrap()
}

fn bounded(minimum: Option<i64>, maximum: Option<i64>, count: usize) -> Found {
    let parameters = Parameters { minimum_count: minimum, maximum_count: maximum, ..given("sim_user") };
    ask(parameters, &Around::users(count))
}

/// T-44, T-45
#[test]
fn how_many_are_attached() {
    assert_eq!(bounded(None, None, 0).truth, Truth::False);
    assert_eq!(bounded(None, None, 1).truth, Truth::True);
    assert_eq!(bounded(Some(2), None, 1).truth, Truth::False);
    assert_eq!(bounded(None, Some(1), 2).truth, Truth::False);
    assert_eq!(bounded(Some(0), Some(0), 0).truth, Truth::True);
    let found = bounded(Some(2), Some(3), 2);
    assert_eq!(steps(&found), ["2 attached: sim_user.u0, sim_user.u1", "minimum 2: met", "maximum 3: met"]);
    let names: Vec<String> = (0..10).map(|at| format!("sim_user.u{at}")).collect();
    let many = bounded(None, None, 12);
    assert_eq!(steps(&many)[0], format!("12 attached: {}, and 2 more", names.join(", ")));
}

/// T-46
#[test]
fn impossible_bounds() {
    let problem = |minimum, maximum| {
        let parameters = Parameters { minimum_count: minimum, maximum_count: maximum, ..given("x") };
        let problems = HasAttached::new(parameters).unwrap_err();
        problems.iter().map(|problem| problem.summary.clone()).collect::<Vec<_>>()
    };
    assert_eq!(problem(Some(3), Some(2)), ["Minimum above maximum (GR1110)"]);
    assert_eq!(problem(None, Some(0)), ["Minimum above maximum (GR1110)"]);
    assert_eq!(problem(Some(-1), Some(-2)), ["Invalid count (GR1111)", "Invalid count (GR1111)"]);
}

fn disk_conflict(new: Value, exclusive: &[&str]) -> Found {
    let scene = Scene::change(boxed([("disk", disks(["a", "b"]))]), boxed([("disk", new)]));
    let exclusive = exclusive.iter().map(|text| path(text)).collect();
    let parameters = Parameters { check_conflicts: true, exclusive, ..given("disk") };
    HasAttached::new(parameters).unwrap().ask(&scene.case(), true).unwrap()
}

fn disk(source: Value, mode: Value) -> Value {
    let disk = fields([("source", source), ("mode", mode)]);
    let ty = Type::object([("source", Type::String), ("mode", Type::String)]);
    Value::list(ty, vec![disk])
}

/// T-47
#[test]
fn elements_that_are_used_again() {
    let null = || Value::null(Type::String);
    let unknown = || Value::unknown(Type::String);
    let same = disk_conflict(disk("b".into(), "ro".into()), &["source"]);
    assert_eq!(same.truth, Truth::True);
    assert_eq!(steps(&same), ["2 attached: disk[0], disk[1]", "minimum 1: met", "1 conflicts: disk[1]"]);
    let other = disk_conflict(disk("c".into(), null()), &["source"]);
    assert_eq!((other.truth, steps(&other)[2].as_str()), (Truth::False, "0 conflict"));
    let open = disk_conflict(disk(unknown(), null()), &["source"]);
    assert_eq!((open.truth, steps(&open)[3].as_str()), (Truth::Unknown, "2 may conflict: disk[0], disk[1]"));
    // All that is configured, if nothing is said about what is exclusive.
    assert_eq!(disk_conflict(disk("b".into(), "ro".into()), &[]).truth, Truth::False);
    assert_eq!(disk_conflict(disk("b".into(), null()), &[]).truth, Truth::True);
    assert_eq!(disk_conflict(disk("c".into(), unknown()), &["source", "mode"]).truth, Truth::False);
    assert_eq!(disk_conflict(disk("b".into(), unknown()), &["source", "mode"]).truth, Truth::Unknown);
    // What is nothing is not claimed.
    assert_eq!(disk_conflict(disk(null(), null()), &["mode"]).truth, Truth::False);
    let all = Value::unknown(Type::list(Type::object([("source", Type::String), ("mode", Type::String)])));
    assert_eq!(disk_conflict(all, &["source"]).truth, Truth::Unknown);
}

#[test]
fn elements_of_sets_and_sensitive_ones() {
    let conflict = Parameters { check_conflicts: true, ..given("nic") };
    let asked = HasAttached::new(conflict).unwrap();
    let scene = Scene::change(boxed([("nic", nics(["1", "2"]))]), boxed([("nic", nics(["2", "3"]))]));
    let found = asked.ask(&scene.case(), true).unwrap();
    assert_eq!(found.truth, Truth::True);
    assert_eq!(steps(&found)[2], "1 conflicts: nic");
    let secret = boxed([("nic", nics(["10.0.0.1"]).mark(Mark::Sensitive))]);
    let found = asked.ask(&Scene::change(secret.clone(), secret).case(), true).unwrap();
    assert_eq!(found.truth, Truth::True);
    assert_eq!(steps(&found), ["attached: (sensitive) nic", "minimum 1: met", "conflicts: (sensitive)"]);
}

/// T-48
#[test]
fn dependents_that_hold_the_old_object() {
    let conflict = || Parameters { check_conflicts: true, ..given("sim_*") };
    let updated = ask(conflict(), &Around::of([("sim_user.a", Truth::True), ("sim_link.b", Truth::False)]));
    assert_eq!((updated.truth, steps(&updated)[2].as_str()), (Truth::True, "1 conflicts: sim_user.a"));
    let replaced = ask(conflict(), &Around::of([("sim_user.a", Truth::False)]));
    assert_eq!((replaced.truth, steps(&replaced)[2].as_str()), (Truth::False, "0 conflict"));
    let put_off = ask(conflict(), &Around::of([("sim_user.a", Truth::Unknown)]));
    assert_eq!((put_off.truth, steps(&put_off)[3].as_str()), (Truth::Unknown, "1 may conflict: sim_user.a"));
}

#[test]
fn what_two_entries_mean_is_counted_once() {
    let around = Around::of([("sim_user.a", Truth::True), ("sim_link.b", Truth::True)]);
    let parameters = Parameters { resource_types: vec![kind("sim_user"), kind("sim_*")], ..Parameters::default() };
    assert_eq!(steps(&ask(parameters, &around))[0], "2 attached: sim_user.a, sim_link.b");
}

#[test]
fn outside_the_plan_the_state_is_asked() {
    let mut around = Around::users(1);
    around.dependents[0].outside_plan = true;
    let found = ask(given("sim_user"), &around);
    assert_eq!(steps(&found)[0], "1 attached: sim_user.u0 (not part of this plan: as the state has it)");
}

#[test]
fn objects_that_it_refers_to() {
    let mut around = Around::users(0);
    around.references = vec![attached("sim_user.x", Truth::True)];
    let parameters =
        |via| Parameters { resource_types: vec![Kind { via, ..kind("sim_user") }], ..Parameters::default() };
    assert_eq!(ask(parameters(Via::References), &around).truth, Truth::True);
    assert_eq!(ask(parameters(Via::Dependents), &around).truth, Truth::False);
}

fn alias(resource: &str) -> Attachment {
    Attachment {
        alias: Str::from("networkInterface"),
        place: None,
        resource: Some(Glob::new(resource)),
        block: None,
        types: vec![Glob::new("sim_user")],
        exclusive: Vec::new(),
        identity: vec![Str::from("arn")],
    }
}

/// T-50
#[test]
fn names_that_stand_for_something() {
    let around = Around { identity: &["arn"], ..Around::users(1) };
    let named = |aliases: Vec<Attachment>| {
        let kind = Kind { aliases: aliases.into(), ..kind("networkInterface") };
        Parameters { resource_types: vec![kind], ..Parameters::default() }
    };
    assert_eq!(ask(named(vec![alias("sim_box"), alias("sim_other")]), &around).truth, Truth::True);
    let blocks =
        Attachment { types: Vec::new(), block: Some(path("disk")), exclusive: vec![path("source")], ..alias("*") };
    let scene = Scene::change(boxed([("disk", disks(["a"]))]), boxed([("disk", disks(["a"]))]));
    let asked = HasAttached::new(Parameters { check_conflicts: true, ..named(vec![blocks]) }).unwrap();
    let found = asked.ask(&scene.case(), true).unwrap();
    assert_eq!((found.truth, steps(&found)[0].as_str()), (Truth::True, "1 attached: disk[0]"));
}

#[test]
fn names_that_stand_for_nothing() {
    let problems = |kind: Kind| {
        let parameters = Parameters { resource_types: vec![kind], ..Parameters::default() };
        let knows = |glob: &Glob| glob.matches("sim_user");
        let problems = HasAttached::new(parameters).unwrap().check_attached("sim_box", sim_box(), &knows);
        problems.iter().map(|problem| format!("{}: {}", problem.summary, problem.detail)).collect::<Vec<_>>()
    };
    for known in ["disk", "ports", "sim_user", "sim_*"] {
        assert_eq!(problems(kind(known)), Vec::<String>::new(), "{known}");
    }
    let aliased = Kind { aliases: vec![alias("sim_box")].into(), ..kind("networkInterface") };
    assert_eq!(problems(aliased.clone()), Vec::<String>::new());
    assert_eq!(problems(Kind { aliases: vec![alias("sim_b")].into(), ..aliased }).len(), 1);
    assert_eq!(problems(Kind { via: Via::Embedded, ..kind("name") }).len(), 1);
    assert_eq!(problems(Kind { via: Via::Dependents, ..kind("disk") }).len(), 1);
    let found = problems(kind("dsk"));
    assert!(found[0].starts_with("Unknown attachment type (GR1107)") && found[0].ends_with("Did you mean \"disk\"?"));
}

/// T-51
#[test]
fn nothing_known_about_others() {
    let scene = Scene::change(boxed([]), boxed([]));
    let found = HasAttached::new(given("sim_user")).unwrap().ask(&scene.case(), true).unwrap();
    assert_eq!((found.truth, steps(&found)), (Truth::Unknown, vec!["attachment data unavailable".to_owned()]));
    let elements = HasAttached::new(given("disk")).unwrap().ask(&scene.case(), false).unwrap();
    assert_eq!((elements.truth, elements.steps.len()), (Truth::False, 0));
}

#[test]
fn elements_of_maps_and_of_nested_blocks() {
    let labels = || fields([("a", Value::from("x")), ("b", Value::from("y"))]);
    let scene = Scene::change(boxed([("labels", labels()), ("cfg", cfg(true))]), boxed([("cfg", cfg(true))]));
    let found = HasAttached::new(given("labels")).unwrap().ask(&scene.case(), true).unwrap();
    assert_eq!(steps(&found)[0], "2 attached: labels[\"a\"], labels[\"b\"]");
    let nets = Attachment { types: Vec::new(), block: Some(path("cfg[0].net")), ..alias("sim_box") };
    let kind = Kind { via: Via::Embedded, aliases: vec![nets].into(), ..kind("networkInterface") };
    let parameters = Parameters { resource_types: vec![kind], check_conflicts: true, ..Parameters::default() };
    let asked = HasAttached::new(parameters).unwrap();
    assert!(!asked.needs_neighbours());
    assert_eq!(asked.reads().iter().map(ToString::to_string).collect::<Vec<_>>(), ["cfg[0].net"]);
    let found = asked.ask(&scene.case(), true).unwrap();
    assert_eq!(steps(&found), ["1 attached: cfg[0].net[0]", "minimum 1: met", "1 conflicts: cfg[0].net[0]"]);
    let other = Scene::change(boxed([("cfg", cfg(true))]), boxed([("cfg", cfg(false))]));
    assert_eq!(asked.ask(&other.case(), true).unwrap().truth, Truth::False);
}

/// What the provider decides is no claim, whatever it is.
#[test]
fn only_what_is_configured_is_exclusive() {
    let string = |computed: bool| Attribute { optional: true, computed, ..Attribute::of_type(Type::String) };
    let inner = Block { attributes: [(Str::from("tag"), string(false))].into(), ..Block::default() };
    let block = Block {
        attributes: [(Str::from("ip"), string(false)), (Str::from("mac"), string(true))].into(),
        block_types: [(Str::from("vlan"), nested(inner))].into(),
        ..Block::default()
    };
    let schema = Schema {
        version: 0,
        block: Block { block_types: [(Str::from("nic"), nested(block))].into(), ..Block::default() },
    };
    let nic = |mac: Value, tag: &str| {
        let vlan = Value::tuple(vec![fields([("tag", tag.into())])]);
        let nic = fields([("ip", "1".into()), ("mac", mac), ("vlan", vlan)]);
        fields([("nic", Value::tuple(vec![nic]))])
    };
    let asked = HasAttached::new(Parameters { check_conflicts: true, ..given("nic") }).unwrap();
    let truth = |new: Value| {
        let scene = Scene::change(nic("aa".into(), "7"), new);
        asked.ask(&Case { schema: &schema, ..scene.case() }, false).unwrap().truth
    };
    assert_eq!(truth(nic(Value::unknown(Type::String), "7")), Truth::True);
    assert_eq!(truth(nic("bb".into(), "7")), Truth::True);
    assert_eq!(truth(nic("aa".into(), "8")), Truth::False);
    assert_eq!(truth(fields([("nic", Value::tuple(Vec::new()))])), Truth::False);
    // Without a schema, everything counts, and what is a collection is seen in the value.
    let bare = Schema::default();
    let scene = Scene::change(nic("aa".into(), "7"), nic("bb".into(), "7"));
    let found = asked.ask(&Case { schema: &bare, ..scene.case() }, true).unwrap();
    assert_eq!((found.truth, steps(&found)[0].as_str()), (Truth::False, "1 attached: nic[0]"));
}

fn nested(block: Block) -> NestedBlock {
    NestedBlock { block, nesting: Nesting::List, min_items: 0, max_items: 0 }
}

#[test]
fn ways_of_being_attached_have_names() {
    let names = ["auto", "dependents", "embedded", "references", "siblings"];
    let known = [Via::Auto, Via::Dependents, Via::Embedded, Via::References, Via::Siblings];
    assert_eq!(names.map(Via::parse), known.map(Some));
    assert_eq!(Via::parse("magic"), None);
}

#[test]
fn what_is_exclusive_must_be_in_the_elements() {
    let problems = |kind: Kind, exclusive: &[&str]| {
        let exclusive = exclusive.iter().map(|text| path(text)).collect();
        let parameters = Parameters { resource_types: vec![kind], exclusive, ..Parameters::default() };
        let problems = HasAttached::new(parameters).unwrap().check_attached("sim_box", sim_box(), &|_| true);
        problems.iter().map(|problem| problem.detail.clone()).collect::<Vec<_>>()
    };
    assert_eq!(problems(kind("disk"), &["source", "mode"]), Vec::<String>::new());
    assert_eq!(problems(kind("sim_user"), &["whatever"]), Vec::<String>::new());
    let found = problems(kind("disk"), &["source", "sorce"]);
    assert!(found.len() == 1 && found[0].ends_with("Did you mean \"source\"?"), "{found:?}");
    let blocks = Attachment { block: Some(path("nic")), exclusive: vec![path("address")], ..alias("sim_box") };
    assert_eq!(problems(Kind { aliases: vec![blocks].into(), ..kind("networkInterface") }, &[]).len(), 1);
}
