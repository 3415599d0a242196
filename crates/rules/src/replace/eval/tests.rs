//! Rules about made-up objects: whether they matter, and what comes of their conditions.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use groma_model::address::{AbsInstance, Module, Provider, Traversal};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::mark::Mark;
use groma_model::path::Path;
use groma_model::schema::Schema;
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_model::value::Value;
use serde_json::json;

use super::{Answer, Care, RuleResult, Verdict, clean, judge};
use crate::glob::Glob;
use crate::pattern::Pattern;
use crate::replace::case::{Case, Cause, Neighbours};
use crate::replace::path::FieldPath;
use crate::replace::predicate::attached::{HasAttached, Kind, Parameters, Via};
use crate::replace::predicate::field_changed::FieldChanged;
use crate::replace::predicate::{Found, Predicate};
use crate::replace::rule::{Behavior, Logic, Named, Order, Origin, Question, ReplaceRule};
use crate::replace::step::Step;
use crate::replace::testing::{Scene, boxed, cfg, disks, fields, items, path};
use crate::replace::truth::Truth;

/// An object that is to be replaced.
pub(crate) struct Fixture {
    pub(crate) address: AbsInstance,
    pub(crate) provider: Provider,
    pub(crate) version: Option<&'static str>,
    pub(crate) schema: Schema,
    pub(crate) old: Value,
    pub(crate) upd: Value,
    pub(crate) new: Value,
    pub(crate) config: Value,
    pub(crate) paths: Vec<Path>,
    pub(crate) cause: Cause,
    pub(crate) neighbours: Option<Box<dyn Neighbours>>,
}

impl Fixture {
    pub(crate) fn new(address: &str, old: Value, new: Value) -> Self {
        let traversal = Traversal::parse(address).unwrap();
        Self {
            address: AbsInstance::from_traversal(&traversal).unwrap(),
            provider: Provider::parse_source("hashicorp/sim").unwrap(),
            version: None,
            schema: Schema::default(),
            old,
            upd: new.clone(),
            config: new.clone(),
            new,
            paths: Vec::new(),
            cause: Cause::CannotUpdate,
            neighbours: None,
        }
    }

    pub(crate) fn case(&self) -> Case<'_> {
        Case {
            address: &self.address,
            provider: &self.provider,
            provider_version: self.version,
            workspace: "default",
            schema: &self.schema,
            old: &self.old,
            upd: &self.upd,
            new: &self.new,
            config: &self.config,
            replace_paths: &self.paths,
            cause: self.cause,
            legacy_type_system: false,
            neighbours: self.neighbours.as_deref(),
        }
    }
}

pub(crate) fn rule(resource: &str, logic: Option<Logic>) -> ReplaceRule {
    ReplaceRule {
        id: Str::from("r"),
        place: None,
        module: Module::root(),
        origin: Origin::Root,
        resource: Glob::new(resource),
        provider: None,
        provider_version: None,
        targets: Vec::new(),
        fields: Vec::new(),
        order: Order::DeleteFirst,
        behavior: Behavior::Warn,
        on_unknown: None,
        on_error: None,
        replace_dependents: Vec::new(),
        is_about_links: false,
        logic,
        reasoning: None,
        suggestions: Vec::new(),
        learn_more: None,
    }
}

/// A predicate whose answer is known beforehand.
#[derive(Debug)]
pub(crate) struct Says {
    pub(crate) answer: Answer,
    pub(crate) costly: bool,
    pub(crate) asked: Arc<AtomicUsize>,
}

impl Predicate for Says {
    fn kind(&self) -> &'static str {
        "says"
    }

    fn reads(&self) -> Vec<&FieldPath> {
        Vec::new()
    }

    fn needs_neighbours(&self) -> bool {
        self.costly
    }

    fn ask(&self, _: &Case<'_>, wants_steps: bool) -> Result<Found, Diagnostics> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        match self.answer {
            Answer::Truth(truth) => {
                let steps = if wants_steps { vec![Step::text("it is so")] } else { Vec::new() };
                Ok(Found { truth, steps })
            }
            _ => Err(Diagnostic::error("Division by zero", "").into()),
        }
    }
}

pub(crate) fn question(id: &str, predicate: impl Predicate + 'static) -> Logic {
    let predicate = Box::new(predicate);
    let description = Some(Str::from(format!("What {id} says")));
    Logic::Ask(Arc::new(Question { id: Str::from(id), description, place: None, allow_sensitive: false, predicate }))
}

pub(crate) fn says(id: &str, answer: Answer, costly: bool) -> Logic {
    question(id, Says { answer, costly, asked: Arc::default() })
}

const T: Answer = Answer::Truth(Truth::True);
const F: Answer = Answer::Truth(Truth::False);
const U: Answer = Answer::Truth(Truth::Unknown);
const E: Answer = Answer::Error;

fn object() -> Value {
    Value::object([("name", Value::from("a"))])
}

fn fixture() -> Fixture {
    Fixture::new("sim_box.a", object(), object())
}

fn result(logic: Logic, care: Care) -> RuleResult {
    judge(&Arc::new(rule("sim_box", Some(logic))), &fixture().case(), care)
}

fn verdict(logic: &Logic) -> Verdict {
    let found = [Care::Verdict, Care::Quick, Care::Full].map(|care| result(logic.clone(), care).verdict);
    assert!(found.iter().all(|verdict| *verdict == found[0]), "{found:?}");
    found[0]
}

/// T-28, T-57a
#[test]
fn three_valued_logic() {
    let cases: [(&[Answer], Verdict, Verdict, Verdict); 15] = [
        (&[], Verdict::True, Verdict::False, Verdict::True),
        (&[T], Verdict::True, Verdict::True, Verdict::False),
        (&[F], Verdict::False, Verdict::False, Verdict::True),
        (&[U], Verdict::Unknown, Verdict::Unknown, Verdict::Unknown),
        (&[E], Verdict::Error, Verdict::Error, Verdict::Error),
        (&[T, T], Verdict::True, Verdict::True, Verdict::False),
        (&[F, F], Verdict::False, Verdict::False, Verdict::True),
        (&[F, T], Verdict::False, Verdict::True, Verdict::False),
        (&[U, F], Verdict::False, Verdict::Unknown, Verdict::Unknown),
        (&[U, T], Verdict::Unknown, Verdict::True, Verdict::False),
        (&[U, U], Verdict::Unknown, Verdict::Unknown, Verdict::Unknown),
        (&[E, U], Verdict::Error, Verdict::Error, Verdict::Error),
        (&[E, T], Verdict::Error, Verdict::True, Verdict::False),
        (&[E, F], Verdict::False, Verdict::Error, Verdict::Error),
        (&[T, U, F], Verdict::False, Verdict::True, Verdict::False),
    ];
    for (answers, all, any, none) in cases {
        let parts = || answers.iter().map(|answer| says("x", *answer, false)).collect::<Vec<_>>();
        assert_eq!(verdict(&Logic::All(parts())), all, "AND {answers:?}");
        assert_eq!(verdict(&Logic::Any(parts())), any, "OR {answers:?}");
        assert_eq!(verdict(&Logic::NoneOf(parts())), none, "NOT {answers:?}");
    }
    assert_eq!(verdict(&Logic::Constant(true)), Verdict::True);
    assert_eq!(verdict(&Logic::NoneOf(vec![Logic::Constant(true)])), Verdict::False);
}

#[test]
fn an_error_is_told_where_it_matters() {
    let matters = result(Logic::All(vec![says("a", E, false), says("b", T, false)]), Care::Full);
    assert_eq!(matters.verdict, Verdict::Error);
    let found: Vec<_> = matters.diagnostics.iter().map(|d| (d.summary.as_str(), d.address.as_deref())).collect();
    assert_eq!(found, [("Division by zero", Some("sim_box.a"))]);
    let does_not = result(Logic::Any(vec![says("a", E, false), says("b", T, false)]), Care::Full);
    assert_eq!((does_not.verdict, does_not.diagnostics.len()), (Verdict::True, 0));
}

#[test]
fn what_needs_other_objects_is_asked_last_and_the_order_shown_is_the_written_one() {
    let logic = Logic::Any(vec![says("far", T, true), says("near", T, false)]);
    let found = result(logic.clone(), Care::Quick);
    let tree = found.tree.unwrap();
    let shown: Vec<_> = tree.children.iter().map(|part| (part.id.as_deref().unwrap(), part.result.name())).collect();
    assert_eq!(shown, [("far", "skipped"), ("near", "true")]);
    assert_eq!(found.matched, ["near"].map(Str::from));
    let full = result(logic, Care::Full);
    assert_eq!(full.matched, ["far", "near"].map(Str::from));
}

#[test]
fn what_is_named_often_is_asked_once() {
    let asked = Arc::new(AtomicUsize::new(0));
    let mut logic = question("x", Says { answer: U, costly: false, asked: Arc::clone(&asked) });
    // Without that, this would be two to the power of sixty questions.
    for depth in 0..60 {
        let id = Str::from(format!("level{depth}"));
        let named = Logic::Named(Arc::new(Named { id, description: None, logic }));
        logic = Logic::All(vec![named.clone(), named]);
    }
    assert_eq!(result(logic.clone(), Care::Verdict).verdict, Verdict::Unknown);
    assert_eq!(asked.swap(0, Ordering::Relaxed), 1);
    assert_eq!(result(logic, Care::Full).verdict, Verdict::Unknown);
    assert_eq!(asked.load(Ordering::Relaxed), 1);
}

#[test]
fn for_machines() {
    let inner = Logic::NoneOf(vec![says("b", F, false)]);
    let named =
        Logic::Named(Arc::new(Named { id: Str::from("held"), description: Some(Str::from("Held")), logic: inner }));
    let mut rule = rule("sim_*", Some(Logic::All(vec![says("a", T, false), named, Logic::Constant(true)])));
    rule.reasoning = Some(Str::from("Names are \u{1b}[31munique\u{1b}[0m"));
    rule.suggestions = vec![Str::from("Another name")];
    let found = judge(&Arc::new(rule), &fixture().case(), Care::Full);
    let wanted = json!({
        "id": "r", "layer": "root_rule", "order": "delete_first", "behavior": "warn", "field": null,
        "result": "true", "status": "recommended", "matched": ["a"],
        "tree": {"op": "AND", "result": "true", "children": [
            {"id": "a", "kind": "says", "result": "true", "description": "What a says", "steps": ["it is so"]},
            {"id": "held", "op": "NOT", "result": "true", "description": "Held", "children": [
                {"id": "b", "kind": "says", "result": "false", "description": "What b says", "steps": ["it is so"]}]},
            {"op": "TRUE", "result": "true"}]},
        "reasoning": ["Names are unique"], "suggestions": ["Another name"], "learn_more": "groma explain rule r",
    });
    let json = found.to_json("root_rule", "recommended");
    assert_eq!(serde_json::to_string(&json).unwrap(), serde_json::to_string(&wanted).unwrap());
    assert_eq!(found.conditions(), ["What a says: true (it is so)", "What b says: false (it is so)"]);
}

#[test]
fn texts_of_rules_cannot_move_the_terminal() {
    assert_eq!(clean("a\u{1b}[31mred\u{1b}[0m\nb\u{7}\u{9b}1mc\u{1b}"), "ared bc");
    assert_eq!(clean("\u{202e}evil\u{1b}]0;title\u{7}"), "evil");
}

#[test]
fn which_objects_a_rule_is_about() {
    let mut fixture = Fixture::new("module.a[\"x\"].module.b.sim_box.web[0]", object(), object());
    fixture.version = Some("5.3.1");
    let holds = |fixture: &Fixture, change: &dyn Fn(&mut ReplaceRule)| {
        let mut rule = rule("sim_*", None);
        change(&mut rule);
        judge(&Arc::new(rule), &fixture.case(), Care::Full).verdict == Verdict::True
    };
    assert!(holds(&fixture, &|_| {}));
    assert!(!holds(&fixture, &|rule| rule.resource = Glob::new("aws_*")));
    assert!(holds(&fixture, &|rule| rule.provider = Some(Str::from("registry.terraform.io/hashicorp/sim"))));
    assert!(holds(&fixture, &|rule| rule.provider = Some(Str::from("hashicorp/sim"))));
    assert!(!holds(&fixture, &|rule| rule.provider = Some(Str::from("other/sim"))));
    assert!(holds(&fixture, &|rule| rule.provider_version = Some(Str::from(">= 5.0, < 6.0"))));
    assert!(!holds(&fixture, &|rule| rule.provider_version = Some(Str::from("< 5.0"))));
    assert!(holds(&fixture, &|rule| rule.module = Module::new(["a"])));
    assert!(!holds(&fixture, &|rule| rule.module = Module::new(["b"])));
    let target = |text: &str| vec![Pattern::parse("sim_box.other").unwrap(), Pattern::parse(text).unwrap()];
    assert!(holds(&fixture, &|rule| rule.targets = target("module.a.module.b.sim_box.w*")));
    assert!(holds(&fixture, &|rule| {
        rule.module = Module::new(["a", "b"]);
        rule.targets = target("sim_box.web[0]");
    }));
    assert!(!holds(&fixture, &|rule| rule.targets = target("module.a.module.b.sim_box.web[1]")));
    fixture.version = None;
    assert!(!holds(&fixture, &|rule| rule.provider_version = Some(Str::from("> 1.0"))));
}

/// A predicate that reads a field and would tell about it.
#[derive(Debug)]
struct Reads(FieldPath, bool);

impl Predicate for Reads {
    fn kind(&self) -> &'static str {
        "reads"
    }

    fn reads(&self) -> Vec<&FieldPath> {
        vec![&self.0]
    }

    fn is_oracle(&self) -> bool {
        self.1
    }

    fn ask(&self, _: &Case<'_>, _: bool) -> Result<Found, Diagnostics> {
        Ok(Found { truth: Truth::True, steps: Vec::new() })
    }
}

fn reads(field: &str, oracle: bool, allowed: bool, scene: &Scene) -> RuleResult {
    let predicate = Box::new(Reads(path(field), oracle));
    let (id, place, description) = (Str::from("a"), None, None);
    let asked = Logic::Ask(Arc::new(Question { id, description, place, allow_sensitive: allowed, predicate }));
    judge(&Arc::new(rule("sim_box", Some(asked))), &scene.case(), Care::Full)
}

#[test]
fn sensitive_values_are_not_asked_about() {
    let old = boxed([("secret", "hunter2".into()), ("labels", fields([("a", "x".into()), ("b", "y".into())]))]);
    let labels = fields([("a", Value::from("x")), ("b", Value::from("y").mark(Mark::Sensitive))]);
    let scene = Scene::change(old, boxed([("secret", "hunter3".into()), ("labels", labels)]));
    let refused = reads("secret", true, false, &scene);
    assert_eq!(refused.verdict, Verdict::Error);
    let problem = refused.diagnostics.iter().next().unwrap();
    assert_eq!(problem.summary, "Sensitive field in a rule (GR2005)");
    assert!(problem.detail.starts_with("secret of sim_box.a is sensitive"));
    assert!(!format!("{refused:?}").contains("hunter"));
    assert_eq!(reads("secret", true, true, &scene).verdict, Verdict::True);
    assert_eq!(reads("secret", false, false, &scene).verdict, Verdict::True);
    assert_eq!(reads("token_wo", true, false, &scene).verdict, Verdict::Error);
    // One key is sensitive, the other is not; the whole map has one that is.
    assert_eq!(reads("labels[\"a\"]", true, false, &scene).verdict, Verdict::True);
    assert_eq!(reads("labels[\"b\"]", true, false, &scene).verdict, Verdict::Error);
    assert_eq!(reads("labels", true, false, &scene).verdict, Verdict::Error);
}

/// T-58
#[test]
fn a_rule_about_a_field_matters_where_that_is_the_cause() {
    let mut rule = rule("sim_box", None);
    rule.fields = vec![path("ports"), path("disk[*].source")];
    let rule = Arc::new(rule);
    let found = |path: Path| {
        let mut scene = Scene::change(boxed([]), boxed([]));
        scene.replace_paths = vec![path];
        let result = judge(&rule, &scene.case(), Care::Quick);
        (result.verdict, result.field().map(ToString::to_string))
    };
    assert_eq!(found(Path::root().attr("name")), (Verdict::NotApplicable, None));
    assert_eq!(found(Path::root().attr("ports").index(1)), (Verdict::True, Some("ports".to_owned())));
    let source = Path::root().attr("disk").index(3).attr("source");
    assert_eq!(found(source), (Verdict::True, Some("disk[*].source".to_owned())));
    assert_eq!(found(Path::root().attr("disk").index(3).attr("mode")), (Verdict::NotApplicable, None));
}

/// T-59
#[test]
fn where_a_replacement_is_forced_the_field_must_change() {
    let mut about_ports = rule("sim_box", None);
    about_ports.fields = vec![path("ports")];
    let (about_ports, about_all) = (Arc::new(about_ports), Arc::new(rule("sim_box", None)));
    let ports = |ports: [i64; 1]| boxed([("ports", items(ports))]);
    for cause in [Cause::Tainted, Cause::Requested, Cause::Triggered] {
        let mut same = Scene::change(ports([80]), ports([80]));
        same.cause = cause;
        assert_eq!(judge(&about_ports, &same.case(), Care::Quick).verdict, Verdict::NotApplicable);
        assert_eq!(judge(&about_all, &same.case(), Care::Quick).verdict, Verdict::True);
        let mut other = Scene::change(ports([80]), ports([81]));
        other.cause = cause;
        assert_eq!(judge(&about_ports, &other.case(), Care::Quick).verdict, Verdict::True);
        let mut open = Scene::change(ports([80]), boxed([("ports", Value::unknown(Type::list(Type::Number)))]));
        open.cause = cause;
        assert_eq!(judge(&about_ports, &open.case(), Care::Quick).verdict, Verdict::NotApplicable);
    }
}

/// The rule that the specification of the field begins with, as people and machines see it.
#[test]
fn a_whole_rule() {
    let changed = FieldChanged::new(path("cfg[0].net[0].private"));
    let disks_given = Parameters {
        resource_types: vec![Kind { name: Str::from("disk"), place: None, via: Via::Auto, aliases: Arc::default() }],
        check_conflicts: true,
        exclusive: vec![path("source")],
        ..Parameters::default()
    };
    let parts = vec![question("changed", changed), question("disks", HasAttached::new(disks_given).unwrap())];
    let rule = Arc::new(rule("sim_box", Some(Logic::All(parts))));
    let scene = Scene::change(
        boxed([("cfg", cfg(false)), ("disk", disks(["a", "b"]))]),
        boxed([("cfg", cfg(true)), ("disk", disks(["b", "c"]))]),
    );
    let found = judge(&rule, &scene.case(), Care::Full);
    assert_eq!(found.verdict, Verdict::True);
    assert_eq!(
        found.conditions(),
        ["What changed says: true (false -> true)", "What disks says: true (2 attached, 1 conflicts)"]
    );
}
