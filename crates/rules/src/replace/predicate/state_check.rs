//! `state_check`: a condition in the language, about the object and nothing else. It cannot reach anything outside.

mod plain;
mod scope;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use groma_lang::eval::{evaluate, walk_steps};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::schema::Schema;
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_model::value::Value;
use groma_syntax::ast::{Call, Expr, ExprKind, Literal, Step as AstStep, StepKey, Traversal};

use super::field_changed::FieldChanged;
use super::{Found, Predicate};
use crate::replace::case::Case;
use crate::replace::path::{FieldPath, FieldStep};
use crate::replace::problem::Code;
use crate::replace::secrecy::sensitive_reads;
use crate::replace::step::Step;
use crate::replace::truth::Truth;
use plain::Plain;
use scope::{CHANGED, Names, name_problem};

pub(crate) use scope::{NoOutside, function_problem};

/// `predicate "state_check" { … }`
#[derive(Debug, Clone)]
pub struct StateCheck {
    /// What must hold.
    pub condition: Arc<Expr>,
    reads: Vec<FieldPath>,
    reads_meta: bool,
    /// The fields that `changed` is called with, by how they are written.
    changed: BTreeMap<Str, FieldChanged>,
    /// The same, if it takes no more than a look at fields.
    plain: Option<Plain>,
}

impl StateCheck {
    /// With a condition, unless it uses what it cannot.
    pub fn new(condition: Arc<Expr>) -> Result<Self, Diagnostics> {
        let mut problems = Diagnostics::new();
        let (mut reads, mut reads_meta) = (Vec::new(), false);
        for traversal in condition.references() {
            match traversal.root.name.as_str() {
                "old" | "new" | "upd" => reads.push(path_of(traversal)),
                "meta" => reads_meta = true,
                _ => problems.push(name_problem(traversal)),
            }
        }
        let mut changed = BTreeMap::new();
        for call in condition.calls() {
            if *call.name != *CHANGED {
                problems.extend(function_problem(&call.name).map(|problem| problem.at(call.name_span)));
                continue;
            }
            match changed_path(call) {
                Ok(path) => _ = changed.insert(Str::from(path.as_str()), FieldChanged::new(path)),
                Err(problem) => problems.push(problem),
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let plain = Plain::of(&condition);
        Ok(Self { condition, reads, reads_meta, changed, plain })
    }

    /// What is wrong with a condition that is no bool as it is written, whatever it is about.
    pub fn misfit(&self) -> Option<Diagnostic> {
        let mut expr = &*self.condition;
        while let ExprKind::Parens(inner) = &expr.kind {
            expr = inner;
        }
        let what = match &expr.kind {
            ExprKind::Literal(Literal::Null) => "null",
            ExprKind::Literal(Literal::Number(_)) => "a number",
            ExprKind::Template(_) => "a string",
            ExprKind::Tuple(_) => "a tuple",
            ExprKind::Object(_) => "an object",
            _ => return None,
        };
        Some(self.not_a_bool(what))
    }

    fn not_a_bool(&self, what: &str) -> Diagnostic {
        let detail = format!("The condition of state_check must be true or false, and this one is {what}.");
        let problem = Code(2004).error("Condition is not a bool", detail).at(self.condition.span);
        if matches!(self.condition.kind, ExprKind::Template(_)) {
            return problem.hint(
                "An expression is written without quotes; in JSON files, in braces behind a dollar: \"${old.size > 10}\".",
            );
        }
        problem
    }

    /// The names in the condition, for an object.
    fn names(&self, case: &Case<'_>) -> Result<Names, Diagnostics> {
        let mut changed = BTreeMap::new();
        for (text, predicate) in &self.changed {
            changed.insert(text.to_string(), predicate.truth(case)?);
        }
        Ok(Names::new(case, self.reads_meta, changed))
    }

    fn truth(&self, names: &Names) -> Result<Truth, Diagnostics> {
        let (value, found) = evaluate(&self.condition, names);
        if found.has_errors() {
            return Err(found.into_iter().filter(Diagnostic::is_error).collect());
        }
        // What it says of a secret was allowed, or was asked before.
        let value = value.unmark_deep().0;
        let may_be_bool = matches!(value.ty(), Type::Bool | Type::Dynamic);
        match value.as_bool() {
            Some(holds) => Ok(holds.into()),
            None if !value.is_known() && may_be_bool => Ok(Truth::Unknown),
            None => {
                let what = if value.is_null() {
                    "null".to_owned()
                } else {
                    super::field_equals::article(&value.friendly_type_name())
                };
                Err(self.not_a_bool(&what).into())
            }
        }
    }

    /// What the names in the condition stand for.
    fn told(&self, names: &Names) -> Vec<Step> {
        let mut steps = Vec::new();
        for traversal in self.condition.references() {
            let value = names.root(&traversal.root.name).and_then(|value| walk_steps(value, &traversal.steps).ok());
            let text = written(traversal);
            let Some(value) = value else { continue };
            let step = Step::text(format!("{text} = ")).and_value(&value);
            if !steps.contains(&step) {
                steps.push(step);
            }
        }
        for (text, truth) in names.changes() {
            steps.push(Step::text(format!("{CHANGED}({text:?}): {}", truth.name())));
        }
        steps
    }
}

/// The field that `changed` is called with. It must be a constant, so that it is known beforehand what is read.
fn changed_path(call: &Call) -> Result<FieldPath, Diagnostic> {
    let problem =
        |detail: &str| Code(1115).error("Not allowed in a condition", detail).at(call.name_span.to(call.close_span));
    let [argument] = call.args.as_slice() else {
        return Err(problem("changed takes one field: changed(\"zone\")."));
    };
    let Some(text) = argument.as_constant_str().filter(|_| !call.expand_final) else {
        return Err(problem("changed takes the name of a field, which must be a constant: changed(\"zone\")."));
    };
    FieldPath::parse(&text, Some(argument.span)).map_err(|wrong| wrong.diagnostic(&text, Some(argument.span)))
}

/// The field that a reference reads, as far as its steps are constants.
fn path_of(traversal: &Traversal) -> FieldPath {
    let step = |step: &AstStep| match step {
        AstStep::Attr { name, .. } => Some(FieldStep::Name(name.clone())),
        AstStep::Index { key: StepKey::String(key), .. } => Some(FieldStep::Key(key.clone())),
        AstStep::Index { key: StepKey::Number(number), .. } => number.to_u64().map(FieldStep::Index),
    };
    FieldPath::of_steps(traversal.span, traversal.steps.iter().map_while(step).collect())
}

/// A reference as it is written: `old.size`.
fn written(traversal: &Traversal) -> String {
    let path = path_of(traversal);
    let dot = match path.steps().first() {
        Some(FieldStep::Name(_)) => ".",
        Some(_) => "",
        None => return traversal.root.name.to_string(),
    };
    format!("{}{dot}{path}", traversal.root.name)
}

impl Predicate for StateCheck {
    fn kind(&self) -> &'static str {
        "state_check"
    }

    fn reads(&self) -> Vec<&FieldPath> {
        self.reads.iter().collect()
    }

    fn check(&self, schema: &Schema) -> Vec<Diagnostic> {
        let paths = self.reads.iter().chain(self.changed.values().map(|changed| &changed.field));
        let found: Vec<Diagnostic> = paths.flat_map(|path| path.check(schema)).collect();
        if !found.is_empty() {
            return found;
        }
        // With the types alone: what is wrong whatever the values.
        let object = Value::unknown(schema.block.implied_type());
        let changed = self.changed.keys().map(|text| (text.to_string(), Truth::Unknown));
        let names = Names::of_types(object, changed.collect());
        let (value, found) = evaluate(&self.condition, &names);
        let mut found: Vec<Diagnostic> = found.into_iter().filter(Diagnostic::is_error).collect();
        let may_be_bool = matches!(value.ty(), Type::Bool | Type::Dynamic) && !value.is_null();
        if found.is_empty() && !may_be_bool {
            let what = if value.is_null() {
                "null".to_owned()
            } else {
                super::field_equals::article(&value.friendly_type_name())
            };
            found.push(self.not_a_bool(&what));
        }
        found
    }

    fn ask(&self, case: &Case<'_>, wants_steps: bool) -> Result<Found, Diagnostics> {
        let at_a_glance = self.plain.as_ref().filter(|_| !wants_steps).and_then(|plain| plain.holds(self, case));
        if let Some(holds) = at_a_glance {
            return Ok(Found { truth: holds.into(), steps: Vec::new() });
        }
        let names = self.names(case)?;
        let truth = self.truth(&names).map_err(|found| {
            let of_secrets = !sensitive_reads(self, case).is_empty();
            found
                .into_iter()
                .map(|problem| if of_secrets { without_values(problem) } else { problem })
                .collect::<Diagnostics>()
        })?;
        if !wants_steps {
            return Ok(Found { truth, steps: Vec::new() });
        }
        let secret = sensitive_reads(self, case);
        let steps = if secret.is_empty() { self.told(&names) } else { vec![Step::text("(sensitive)")] };
        Ok(Found { truth, steps })
    }
}

/// What went wrong, without anything that the values could show through.
fn without_values(problem: Diagnostic) -> Diagnostic {
    let detail =
        "The condition cannot be evaluated. The reason is not shown, because the condition reads something sensitive.";
    let mut told = Diagnostic::error(problem.summary, detail);
    told.subject = problem.subject;
    told
}
