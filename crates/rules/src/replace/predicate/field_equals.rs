//! `field_equals`: whether a field has one of some values.

use std::fmt;

use groma_model::convert::convert;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::schema::Schema;
use groma_model::span::Span;
use groma_model::value::{Value, ValueKind};

use super::scalar::{Look, Match, On, Test, lints};
use super::{Found, Predicate};
use crate::replace::case::Case;
use crate::replace::compare::Comparison;
use crate::replace::path::FieldPath;
use crate::replace::problem::Code;
use crate::replace::step::Step;
use crate::replace::truth::Truth;

/// `predicate "field_equals" { … }`
#[derive(Debug, Clone)]
pub struct FieldEquals {
    /// Which field.
    pub field: FieldPath,
    /// What it may be.
    pub values: Vec<Literal>,
    /// Where it is looked at. None if nothing is said, which means the old object.
    pub on: Option<On>,
    /// How many of several values must be one of those.
    pub matching: Match,
}

/// A constant in a rule.
#[derive(Clone)]
pub struct Literal {
    /// As it is written.
    pub value: Value,
    /// Where. None in the catalogue.
    pub place: Option<Span>,
}

/// It may be what a secret is compared with, so it is not shown.
impl fmt::Debug for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Literal").field("place", &self.place).finish_non_exhaustive()
    }
}

impl FieldEquals {
    /// Whether a field of the old object is one of these.
    pub fn new(field: FieldPath, values: Vec<Literal>) -> Self {
        Self { field, values, on: None, matching: Match::default() }
    }
}

impl Predicate for FieldEquals {
    fn kind(&self) -> &'static str {
        "field_equals"
    }

    fn reads(&self) -> Vec<&FieldPath> {
        vec![&self.field]
    }

    fn check(&self, schema: &Schema) -> Vec<Diagnostic> {
        let mut found = self.field.check(schema);
        let Some(ty) = self.field.ty(schema) else { return found };
        for literal in &self.values {
            // The value itself is not repeated: it may be compared with a secret.
            if let Err(error) = convert(&literal.value, &ty) {
                let detail = format!(
                    "{} is {}, and this value cannot be made one: {error}.",
                    self.field,
                    article(&ty.friendly_name())
                );
                let diagnostic = Code(1104).error("Value does not fit the field", detail);
                let place = literal.place.or(self.field.place);
                found.push(place.map_or(diagnostic.clone(), |place| diagnostic.at(place)));
            }
        }
        found
    }

    fn lints(&self, schema: Option<&Schema>) -> Vec<Diagnostic> {
        lints(&self.field, self.on, schema)
    }

    fn ask(&self, case: &Case<'_>, wants_steps: bool) -> Result<Found, Diagnostics> {
        let on = self.on.unwrap_or_default();
        Look { field: &self.field, on, matching: self.matching }.ask(case, self, wants_steps)
    }
}

/// A noun with its article.
pub(super) fn article(noun: &str) -> String {
    let article = if noun.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" };
    format!("{article} {noun}")
}

impl Test for FieldEquals {
    fn test(&self, value: &Value) -> Result<Truth, Diagnostics> {
        Ok(self.values.iter().fold(Truth::False, |truth, literal| truth.or(equals(value, &literal.value))))
    }

    fn told(&self, step: Step, truth: Truth) -> Step {
        let words = match truth {
            Truth::True => ", one of ",
            Truth::False => ", none of ",
            Truth::Unknown => ", perhaps one of ",
        };
        step.and_text(words).and_values(self.values.iter().map(|literal| &literal.value))
    }
}

/// Whether a value is that constant, once that has its type.
fn equals(value: &Value, literal: &Value) -> Truth {
    let comparison = Comparison::default();
    match (value.kind(), literal.kind()) {
        (ValueKind::Unknown(_), _) => Truth::Unknown,
        (ValueKind::Null, _) | (_, ValueKind::Null) => (value.is_null() && literal.is_null()).into(),
        (ValueKind::String(value), ValueKind::String(literal)) => (value == literal).into(),
        (ValueKind::Number(value), ValueKind::Number(literal)) => (value == literal).into(),
        (ValueKind::Bool(value), ValueKind::Bool(literal)) => (value == literal).into(),
        _ => convert(literal, &value.ty()).map_or(Truth::False, |literal| comparison.same(value, &literal, None)),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use groma_model::mark::Mark;
    use groma_model::ty::Type;

    use super::*;
    use crate::replace::secrecy::sensitive_reads;
    use crate::replace::testing::{Scene, boxed, disks, items, path, sim_box};

    fn equals_one_of<V: Into<Value>>(field: &str, values: impl IntoIterator<Item = V>) -> FieldEquals {
        let literal = |value: V| Literal { value: value.into(), place: None };
        FieldEquals::new(path(field), values.into_iter().map(literal).collect())
    }

    fn told(predicate: &FieldEquals, scene: &Scene) -> (Truth, Vec<String>) {
        let found = predicate.ask(&scene.case(), true).unwrap();
        assert_eq!(predicate.ask(&scene.case(), false).unwrap(), Found { truth: found.truth, steps: Vec::new() });
        (found.truth, found.steps.iter().map(Step::to_string).collect())
    }

    #[test]
    fn each_view_can_be_looked_at() {
        let scene = Scene::change(boxed([("zone", "a".into())]), boxed([("zone", "b".into())]));
        let on = |on| told(&FieldEquals { on: Some(on), ..equals_one_of("zone", ["a", "c"]) }, &scene);
        assert_eq!(on(On::Old), (Truth::True, vec![r#"old: "a", one of "a", "c""#.to_owned()]));
        assert_eq!(on(On::New), (Truth::False, vec![r#"new: "b", none of "a", "c""#.to_owned()]));
        assert_eq!((on(On::Either).0, on(On::Both).0), (Truth::True, Truth::False));
        assert_eq!(on(On::Both).1.len(), 2);
        assert_eq!(told(&equals_one_of("zone", ["a"]), &scene).0, Truth::True);
        assert_eq!(On::named("either"), Some(On::Either));
        assert_eq!(On::named("x"), None);
    }

    #[test]
    fn null_is_what_is_not_there() {
        let scene = Scene::change(boxed([]), boxed([]));
        let null = || [Value::null(Type::Dynamic)];
        for field in ["zone", "labels[\"a\"]", "ports[0]"] {
            assert_eq!(told(&equals_one_of(field, null()), &scene).0, Truth::True, "{field}");
            assert_eq!(told(&equals_one_of(field, [""]), &scene).0, Truth::False, "{field}");
        }
        assert_eq!(told(&equals_one_of("zone", null()), &scene).1, ["old: null, one of null"]);
    }

    #[test]
    fn constants_are_converted_or_refused() {
        let scene =
            Scene::change(boxed([("size", 3.into()), ("active", true.into()), ("ports", items([1]))]), boxed([]));
        let ask = |predicate: FieldEquals| (predicate.check(sim_box()), told(&predicate, &scene).0);
        assert_eq!(ask(equals_one_of("size", ["3"])), (vec![], Truth::True));
        assert_eq!(ask(equals_one_of("active", ["true"])), (vec![], Truth::True));
        assert_eq!(ask(equals_one_of("ports", [items(["1"])])), (vec![], Truth::True));
        assert_eq!(ask(equals_one_of("size", [Value::null(Type::Dynamic)])), (vec![], Truth::False));
        let (found, truth) = ask(equals_one_of("size", ["abc"]));
        assert_eq!(truth, Truth::False);
        assert_eq!(found[0].summary, "Value does not fit the field (GR1104)");
        assert!(found[0].detail.starts_with("size is a number,") && !found[0].detail.contains("abc"));
        assert_eq!(ask(equals_one_of("siz", ["abc"])).0[0].summary, "No such field (GR1103)");
        assert_eq!(ask(equals_one_of("blob.x", ["abc"])).0, []);
    }

    #[test]
    fn where_to_look_is_better_said() {
        let codes = |predicate: &FieldEquals| -> Vec<String> {
            predicate.lints(Some(sim_box())).into_iter().map(|lint| lint.summary).collect()
        };
        let hint = "Nothing is said about which object (GR4003)";
        assert_eq!(codes(&equals_one_of("zone", ["a"])), [hint]);
        assert_eq!(codes(&equals_one_of("id", ["a"])), Vec::<String>::new());
        assert_eq!(codes(&FieldEquals { on: Some(On::Old), ..equals_one_of("zone", ["a"]) }), Vec::<String>::new());
        assert_eq!(codes(&equals_one_of("disk.0.source", ["a"])), ["Index in the old form (GR4002)", hint]);
        assert_eq!(equals_one_of("zone", ["a"]).lints(None), []);
    }

    #[test]
    fn of_several_values_any_all_or_none() {
        let scene = Scene::change(boxed([("disk", disks(["a", "b"]))]), boxed([]));
        let matching = |matching, values: &[&str]| {
            told(&FieldEquals { matching, ..equals_one_of("disk[*].source", values.iter().copied()) }, &scene).0
        };
        let all = |values: &[&str]| [Match::Any, Match::All, Match::None].map(|kind| matching(kind, values));
        assert_eq!(all(&["a"]), [Truth::True, Truth::False, Truth::False]);
        assert_eq!(all(&["a", "b"]), [Truth::True, Truth::True, Truth::False]);
        assert_eq!(all(&["c"]), [Truth::False, Truth::False, Truth::True]);
        let steps = told(&equals_one_of("disk.source", ["a"]), &scene).1;
        assert_eq!(steps, [r#"old disk[0].source: "a", one of "a""#, r#"old disk[1].source: "b", none of "a""#]);
        let none = Scene::change(boxed([]), boxed([]));
        let empty = |matching| told(&FieldEquals { matching, ..equals_one_of("disk.source", ["a"]) }, &none);
        assert_eq!(empty(Match::All).0, Truth::False);
        assert_eq!(empty(Match::None), (Truth::True, vec!["old: no elements".to_owned()]));
    }

    #[test]
    fn what_is_not_known_is_not_decided() {
        let scene = Scene::change(boxed([("zone", "a".into())]), boxed([("zone", Value::unknown(Type::String))]));
        let on = |on| told(&FieldEquals { on: Some(on), ..equals_one_of("zone", ["a"]) }, &scene).0;
        assert_eq!([On::New, On::Either, On::Both].map(on), [Truth::Unknown, Truth::True, Truth::Unknown]);
    }

    #[test]
    fn secrets_are_found_and_never_shown() {
        let old = boxed([("secret", "hunter2".into()), ("name", Value::from("hunter2").mark(Mark::Sensitive))]);
        let scene = Scene::change(old, boxed([]));
        for field in ["secret", "name", "token_wo"] {
            let predicate = equals_one_of(field, ["hunter2", "other"]);
            assert_eq!(sensitive_reads(&predicate, &scene.case()), [&path(field)]);
            assert!(!format!("{predicate:?}").contains("hunter2"));
            let (truth, steps) = told(&predicate, &scene);
            assert_eq!(truth, Truth::from(field != "token_wo"));
            assert_eq!(steps, ["old: (sensitive)"]);
        }
        assert!(sensitive_reads(&equals_one_of("zone", ["a"]), &scene.case()).is_empty());
    }
}
