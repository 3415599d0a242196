//! Predicates about the fields of an object: `field_changed`, `field_equals`, `field_matches` and `state_check`.

use std::sync::Arc;

use groma_syntax::ast::{Expr, ExprKind};

use crate::replace::compare::IgnoreOrder;
use crate::replace::decode::Reader;
use crate::replace::decode::arguments::Arguments;
use crate::replace::decode::literal::LiteralKind;
use crate::replace::path::FieldPath;
use crate::replace::predicate::Predicate;
use crate::replace::predicate::field_changed::{Against, FieldChanged, Threshold};
use crate::replace::predicate::field_equals::{FieldEquals, Literal};
use crate::replace::predicate::field_matches::{FieldMatches, TextPattern};
use crate::replace::predicate::scalar::{Match, On};
use crate::replace::predicate::state_check::StateCheck;
use crate::replace::problem::{Code, ParameterProblem};

const AGAINST: &[(&str, Against)] = &[("update", Against::Update), ("create", Against::Create)];

pub(super) fn field_changed(reader: &mut Reader<'_>, arguments: &Arguments) -> Option<Box<dyn Predicate>> {
    let field = reader.required_field(arguments);
    let ignore_order = reader.ignore_order(arguments).unwrap_or_default();
    let threshold = arguments.get("threshold").and_then(|literal| {
        let threshold = Threshold::of(&literal.value());
        threshold.map_err(|problem| reader.problem(arguments, &problem)).ok()
    });
    let against = reader.choice(arguments, "against", AGAINST).unwrap_or_default();
    let null_equals_empty = reader.null_equals_empty(arguments);
    let matching = reader.matching(arguments);
    let made = FieldChanged { field: field?, ignore_order, threshold, against, null_equals_empty, matching };
    let problems = made.problems();
    for problem in &problems {
        reader.problem(arguments, problem);
    }
    if problems.is_empty() { Some(Box::new(made)) } else { None }
}

pub(super) fn field_equals(reader: &mut Reader<'_>, arguments: &Arguments) -> Option<Box<dyn Predicate>> {
    let field = reader.required_field(arguments);
    let values = reader.one_or_several(arguments);
    let (on, matching) = (reader.on(arguments), reader.matching(arguments));
    Some(Box::new(FieldEquals { field: field?, values: values?, on, matching }))
}

pub(super) fn field_matches(reader: &mut Reader<'_>, arguments: &Arguments) -> Option<Box<dyn Predicate>> {
    let field = reader.required_field(arguments);
    let pattern = reader.either(arguments, "pattern", "glob");
    let case_insensitive = reader.bool(arguments, "case_insensitive").unwrap_or_default();
    let (on, matching) = (reader.on(arguments), reader.matching(arguments));
    let text = reader.text(arguments, pattern?)?.says.to_string();
    let pattern = if pattern == Some("pattern") { TextPattern::Regex(text) } else { TextPattern::Glob(text) };
    // A pattern is looked at even if there is no field for it.
    let nowhere = FieldPath::parse("x", None).ok()?;
    match FieldMatches::new(field.clone().unwrap_or(nowhere), pattern, case_insensitive) {
        Ok(mut made) => {
            (made.on, made.matching) = (on, matching);
            field.map(|_| Box::new(made) as Box<dyn Predicate>)
        }
        Err(problem) => {
            reader.problem(arguments, &problem);
            None
        }
    }
}

pub(super) fn state_check(reader: &mut Reader<'_>, arguments: &Arguments) -> Option<Box<dyn Predicate>> {
    reader.required(arguments, "condition");
    let condition = Arc::clone(&arguments.argument("condition")?.expr);
    // In JSON, an expression stands in a string of its own.
    let condition = match &condition.kind {
        ExprKind::TemplateWrap(inner) => Arc::new(Expr::clone(inner)),
        _ => condition,
    };
    let made = reader.diagnostics.take(StateCheck::new(condition))?;
    let misfit = made.misfit();
    let fits = misfit.is_none();
    reader.diagnostics.extend(misfit);
    fits.then(|| Box::new(made) as Box<dyn Predicate>)
}

impl Reader<'_> {
    fn required_field(&mut self, arguments: &Arguments) -> Option<FieldPath> {
        self.required(arguments, "field");
        self.field(arguments, "field")
    }

    fn matching(&mut self, arguments: &Arguments) -> Match {
        self.choice(arguments, "match", &Match::ALL).unwrap_or_default()
    }

    fn on(&mut self, arguments: &Arguments) -> Option<On> {
        self.choice(arguments, "on", &On::ALL)
    }

    fn ignore_order(&mut self, arguments: &Arguments) -> Option<IgnoreOrder> {
        let literal = arguments.get("ignore_order")?;
        match &literal.kind {
            LiteralKind::Bool(false) => Some(IgnoreOrder::No),
            LiteralKind::Bool(true) => Some(IgnoreOrder::Outer),
            LiteralKind::Text(text) if text.says == "deep" => Some(IgnoreOrder::Deep),
            _ => {
                self.unsuitable("ignore_order", "true, false or \"deep\"", literal);
                None
            }
        }
    }

    /// None if it is as the provider has it.
    fn null_equals_empty(&mut self, arguments: &Arguments) -> Option<bool> {
        let literal = arguments.get("null_equals_empty")?;
        match &literal.kind {
            LiteralKind::Bool(value) => Some(*value),
            LiteralKind::Text(text) if text.says == "auto" => None,
            _ => {
                self.unsuitable("null_equals_empty", "true, false or \"auto\"", literal);
                None
            }
        }
    }

    /// Which of two arguments is given. Exactly one must be.
    fn either(&mut self, arguments: &Arguments, one: &'static str, other: &'static str) -> Option<&'static str> {
        // Null is nothing, but it is a value.
        let given = |name: &str| if name == "value" { arguments.argument(name) } else { arguments.given(name) };
        match (given(one), given(other)) {
            (Some(_), None) => Some(one),
            (None, Some(_)) => Some(other),
            (Some(first), Some(second)) => {
                let later = if first.span.start < second.span.start { second } else { first };
                let detail = format!("Either {one} or {other} can be given, not both.");
                self.diagnostics.push(Code(1101).error("Unsupported argument", detail).at(later.name_span));
                None
            }
            (None, None) => {
                if !arguments.misspelt.iter().any(|meant| *meant == *one || *meant == *other) {
                    let detail =
                        format!("One of the arguments \"{one}\" and \"{other}\" is required, and there is neither.");
                    self.diagnostics.push(Code(1101).error("Missing required argument", detail).at(arguments.missing));
                }
                None
            }
        }
    }

    /// `value`, or each of `values`. Null is a value.
    fn one_or_several(&mut self, arguments: &Arguments) -> Option<Vec<Literal>> {
        let name = self.either(arguments, "value", "values")?;
        let literal = arguments.get_or_null(name)?;
        let given = match (&literal.kind, name) {
            (LiteralKind::List(items), "values") if items.is_empty() => {
                self.empty(name, "a value", literal);
                return None;
            }
            (LiteralKind::List(items), "values") => items.as_slice(),
            (_, "values") => {
                self.unsuitable(name, "a list of values", literal);
                return None;
            }
            _ => std::slice::from_ref(literal),
        };
        let given = given.iter().map(|literal| Literal { value: literal.value(), place: Some(literal.span) });
        Some(given.collect())
    }

    /// Tells what a predicate has against one of its parameters.
    fn problem(&mut self, arguments: &Arguments, problem: &ParameterProblem) {
        let literal = arguments.get(problem.parameter);
        let text = match literal.map(|literal| &literal.kind) {
            Some(LiteralKind::Text(text)) => text.says.as_str(),
            _ => "",
        };
        let place = literal.map_or(arguments.missing, |literal| literal.span);
        self.diagnostics.push(problem.diagnostic(Some(place), text));
    }
}
