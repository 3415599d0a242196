//! The assertions of a run: conditions about what was planned or made.

use std::collections::BTreeMap;

use groma_lang::config::{CheckRule, Expr, Module, Step, Traversal};
use groma_lang::eval::{CallSettings, Cause, FunctionLookup, Resolved, Scope, evaluate, value_notes};
use groma_lang::walk::ModuleScope;
use groma_model::convert::convert;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::span::Span;
use groma_model::text::{Str, suggestion};
use groma_model::ty::Type;
use groma_model::value::Value;

use super::Status;

/// What assertions may refer to: everything in the root module, its outputs, the variables of the test, and earlier runs.
pub(super) struct AssertionScope<'a> {
    pub(super) module: ModuleScope<'a>,
    pub(super) declared: &'a Module,
    /// `output`
    pub(super) outputs: BTreeMap<Str, Value>,
    /// `var`, as far as the module does not declare them.
    pub(super) variables: BTreeMap<Str, Value>,
    /// `run`
    pub(super) runs: BTreeMap<Str, Value>,
}

impl AssertionScope<'_> {
    fn output(&self, traversal: &Traversal) -> Result<Resolved, Diagnostics> {
        let Some(Step::Attr { name, span }) = traversal.steps.first() else {
            let detail =
                "The \"output\" object cannot be used alone. It must be followed by a dot and the name of an output.";
            return Err(Diagnostic::error("Invalid reference", detail).at(traversal.root.span).into());
        };
        if !self.declared.outputs.contains_key(name) {
            let meant = suggestion(name, self.declared.outputs.keys().map(Str::as_str));
            let advice = meant.map_or_else(String::new, |meant| format!(" Did you mean \"{meant}\"?"));
            let detail = format!("An output value with the name \"{name}\" has not been declared.{advice}");
            let place = traversal.root.span.to(*span);
            return Err(Diagnostic::error("Reference to undeclared output value", detail).at(place).into());
        }
        let value = self.outputs.get(name).cloned();
        // One that is null is not kept.
        Ok(Resolved { value: value.unwrap_or_else(|| Value::null(Type::Dynamic)), steps_used: 1 })
    }
}

impl Scope for AssertionScope<'_> {
    fn resolve(&self, traversal: &Traversal) -> Result<Resolved, Diagnostics> {
        let first = match traversal.steps.first() {
            Some(Step::Attr { name, .. }) => Some(name),
            _ => None,
        };
        match traversal.root.name.as_str() {
            "output" => self.output(traversal),
            "run" if first.is_some_and(|name| self.runs.contains_key(name)) => {
                let value = first.and_then(|name| self.runs.get(name)).cloned();
                Ok(Resolved { value: value.unwrap_or_else(Value::dynamic), steps_used: 1 })
            }
            "var" if first.is_some_and(|name| !self.declared.variables.contains_key(name)) => {
                match first.and_then(|name| self.variables.get(name)) {
                    Some(value) => Ok(Resolved { value: value.clone(), steps_used: 1 }),
                    None => self.module.resolve(traversal),
                }
            }
            _ => self.module.resolve(traversal),
        }
    }

    fn function(&self, name: &str) -> FunctionLookup<'_> {
        self.module.function(name)
    }

    fn function_names(&self) -> Vec<String> {
        self.module.function_names()
    }

    fn place(&self, span: Span) -> Option<String> {
        self.module.place(span)
    }

    fn call_settings(&self) -> Option<CallSettings<'_>> {
        self.module.call_settings()
    }
}

/// Judges all assertions.
pub(super) fn check(asserts: &[CheckRule], scope: &dyn Scope) -> (Status, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let mut status = Status::Pass;
    for rule in asserts {
        let (Some(condition), Some(message)) = (&rule.condition, &rule.error_message) else { continue };
        let (found, problems) = judge(condition, message, scope);
        status = status.max(found);
        diagnostics.extend(problems);
    }
    (status, diagnostics)
}

fn judge(condition: &Expr, message: &Expr, scope: &dyn Scope) -> (Status, Diagnostics) {
    let (message, mut diagnostics) = text(message, scope);
    let (value, found) = evaluate(condition, scope);
    diagnostics.extend(found);
    if diagnostics.has_errors() {
        return (Status::Error, diagnostics);
    }
    let mut fail = |status: Status, summary: &str, detail: String, cause: Cause| {
        let mut problem = Diagnostic::error(summary, detail).at(condition.span);
        problem.values = value_notes(condition, scope, cause);
        diagnostics.push(problem);
        status
    };
    let value = value.unmark_deep().0;
    let status = if value.is_null() {
        let detail = "The condition must be either true or false, not null.".to_owned();
        fail(Status::Error, "Invalid condition run", detail, Cause::Other)
    } else if !value.is_known() {
        let detail = "The condition depends on something that is not known yet, so it cannot be judged. A run that applies \
                      knows more than one that plans.";
        fail(Status::Error, "Unknown condition run", detail.to_owned(), Cause::Unknown)
    } else {
        match convert(&value, &Type::Bool).map(|value| value.as_bool()) {
            Err(problem) => {
                let detail = format!("The condition must be either true or false: {problem}.");
                fail(Status::Error, "Invalid condition run", detail, Cause::Other)
            }
            Ok(Some(false)) => fail(Status::Fail, "Test assertion failed", message, Cause::Other),
            Ok(_) => Status::Pass,
        }
    };
    (status, diagnostics)
}

/// What the author of an assertion says. What must not be shown is left out.
fn text(message: &Expr, scope: &dyn Scope) -> (String, Diagnostics) {
    let (value, mut diagnostics) = evaluate(message, scope);
    if diagnostics.has_errors() {
        return (String::new(), diagnostics);
    }
    let invalid = |problem: String| {
        let detail = format!("Unsuitable value for error message: {problem}.");
        Diagnostic::error("Invalid error message", detail).at(message.span)
    };
    let value = match convert(&value, &Type::String) {
        Ok(value) => value,
        Err(problem) => {
            diagnostics.push(invalid(problem.to_string()));
            return (String::new(), diagnostics);
        }
    };
    let (value, marks) = value.unmark_deep();
    if marks.is_sensitive() || marks.is_ephemeral() {
        let kind = if marks.is_sensitive() { "sensitive" } else { "ephemeral" };
        let detail = format!(
            "The expression that explains this condition refers to {kind} values, so the message is not shown.\n\nRemove what \
             refers to them from the error_message."
        );
        let problem = Diagnostic::warning(format!("Error message refers to {kind} values"), detail);
        diagnostics.push(problem.at(message.span));
        let hidden = "The assertion failed, and its message refers to values that must not be shown.";
        return (hidden.to_owned(), diagnostics);
    }
    if value.is_null() {
        diagnostics.push(invalid("must not be null".to_owned()));
    }
    let unknown = "The assertion failed, and its message depends on something that is not known yet.";
    (value.as_str().map_or_else(|| unknown.to_owned(), |text| text.trim().to_owned()), diagnostics)
}
