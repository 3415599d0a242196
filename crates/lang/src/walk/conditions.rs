//! Conditions: `validation`, `precondition`, `postcondition` and `assert`.

use groma_model::convert::convert;
use groma_model::diag::{Diagnostic, Diagnostics, Severity};
use groma_model::span::Span;
use groma_model::ty::Type;
use groma_model::value::Value;
use groma_syntax::ast::Expr;

use super::ModuleScope;
use crate::config::CheckRule;
use crate::eval::{Cause, evaluate, value_notes};

/// How a condition went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleStatus {
    /// It holds.
    Pass,
    /// It does not.
    Fail,
    /// It could not be evaluated.
    Error,
    /// It depends on something that is not known yet.
    Unknown,
}

/// What came of a condition.
#[derive(Debug, Clone)]
pub struct RuleResult {
    /// How it went.
    pub status: RuleStatus,
    /// What its author says about a failure, where that can be shown.
    pub failure: Option<String>,
    /// What the user is told.
    pub diagnostics: Diagnostics,
}

/// Checks a condition. `what` names it in messages, e.g. `Resource precondition`.
pub(super) fn check_rule(rule: &CheckRule, scope: &ModuleScope<'_>, what: &str, severity: Severity) -> RuleResult {
    let mut result = RuleResult { status: RuleStatus::Error, failure: None, diagnostics: Diagnostics::new() };
    let (Some(condition), Some(message)) = (&rule.condition, &rule.error_message) else { return result };
    let diagnostics = &mut result.diagnostics;
    let (message, found) = message_text(message, scope);
    diagnostics.extend(found);
    let (value, found) = evaluate(condition, scope);
    diagnostics.extend(found);
    if diagnostics.has_errors() {
        return result;
    }
    match truth(&value, condition, "Invalid condition result", "Condition") {
        Err(diagnostic) => diagnostics.push(diagnostic),
        Ok(Some(true)) => result.status = RuleStatus::Pass,
        Ok(Some(false)) => {
            result.status = RuleStatus::Fail;
            result.failure.clone_from(&message);
            let detail = message.unwrap_or_else(|| {
                "This check failed, but has an invalid error message as described in the other accompanying messages."
                    .into()
            });
            let mut diagnostic = Diagnostic::error(format!("{what} failed"), detail).at(condition.span);
            diagnostic.severity = severity;
            diagnostic.values = value_notes(condition, scope, Cause::Other);
            diagnostics.push(diagnostic);
        }
        Ok(None) => {
            result.status = RuleStatus::Unknown;
            if what == "Check block assertion" {
                let detail = "The condition could not be evaluated at this time, a result will be known when this plan \
                              is applied.";
                diagnostics.push(Diagnostic::warning(format!("{what} known after apply"), detail).at(condition.span));
            }
        }
    }
    result
}

/// Checks that a condition can be evaluated, whatever it says.
pub(super) fn check_evaluates(rule: &CheckRule, scope: &ModuleScope<'_>) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    for expr in [&rule.condition, &rule.error_message].into_iter().flatten() {
        diagnostics.extend(evaluate(expr, scope).1);
    }
    diagnostics
}

/// Checks the references of a condition and its message, without deciding it.
pub(super) fn check_message(rule: &CheckRule, scope: &ModuleScope<'_>) -> Diagnostics {
    use crate::eval::Scope as _;

    let mut diagnostics = Diagnostics::new();
    if let Some(condition) = &rule.condition {
        for traversal in condition.references() {
            diagnostics.extend(scope.resolve(traversal).err().unwrap_or_default());
        }
    }
    if let Some(message) = &rule.error_message {
        diagnostics.extend(message_text(message, scope).1);
    }
    diagnostics
}

/// Checks a `validation` of a variable. `blame` is where the value was given.
pub(super) fn check_validation(rule: &CheckRule, scope: &ModuleScope<'_>, blame: Span) -> RuleResult {
    let mut result = RuleResult { status: RuleStatus::Error, failure: None, diagnostics: Diagnostics::new() };
    let (Some(condition), Some(message)) = (&rule.condition, &rule.error_message) else { return result };
    let (value, found) = evaluate(condition, scope);
    result.diagnostics.extend(found);
    let (text, found) = evaluate(message, scope);
    result.diagnostics.extend(found);
    if result.diagnostics.has_errors() {
        return result;
    }
    match truth(&value, condition, "Invalid variable validation result", "Validation condition") {
        Err(diagnostic) => result.diagnostics.push(diagnostic),
        Ok(Some(true)) => result.status = RuleStatus::Pass,
        Ok(None) => result.status = RuleStatus::Unknown,
        Ok(Some(false)) => {
            result.status = RuleStatus::Fail;
            let (shown, found) = failed_validation(&text, message, blame);
            result.failure = shown;
            result.diagnostics.extend(found);
        }
    }
    result
}

/// What is said about a value that is refused: for the record, and to the user.
fn failed_validation(text: &Value, message: &Expr, blame: Span) -> (Option<String>, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let mut invalid = |summary: &str, detail: String| {
        diagnostics.push(Diagnostic::error(summary, detail).at(message.span));
    };
    let mut shown = String::new();
    if !text.is_known() {
        let detail = "Value used in error message is not known and can not be used in error_message until after apply.";
        invalid("Invalid error message", detail.into());
        return (None, diagnostics);
    }
    match convert(text, &Type::String) {
        Err(error) => invalid("Invalid error message", format!("Unsuitable value for error message: {error}.")),
        Ok(value) if value.marks().is_sensitive() => {
            invalid("Error message refers to sensitive values", hidden_message("sensitive"));
            shown = "The error message included a sensitive value, so it will not be displayed.".into();
        }
        Ok(value) if value.marks().is_ephemeral() => {
            invalid("Error message refers to ephemeral values", hidden_message("ephemeral"));
            shown = "The error message included an ephemeral value, so it will not be displayed.".into();
        }
        Ok(value) => value.as_str().unwrap_or_default().trim().clone_into(&mut shown),
    }
    if shown.is_empty() {
        shown = "Failed to evaluate condition error message.".into();
    }
    let detail = format!("{shown}\n\nThis was checked by a validation rule of the variable.");
    diagnostics.push(Diagnostic::error("Invalid value for variable", detail).at(blame).within(blame));
    (Some(shown), diagnostics)
}

fn hidden_message(kind: &str) -> String {
    let cure = match kind {
        "sensitive" => {
            "removing references to sensitive values, or by carefully using the nonsensitive() function if the expression \
             will not reveal the sensitive data"
        }
        _ => "removing references to ephemeral values or by using the ephemeralasnull() function",
    };
    format!(
        "The error expression used to explain this condition refers to {kind} values, so the resulting message will not \
         be displayed.\n\nYou can correct this by {cure}."
    )
}

/// True, false, or not known yet.
fn truth(value: &Value, condition: &Expr, summary: &str, what: &str) -> Result<Option<bool>, Diagnostic> {
    let invalid = |detail: String| Diagnostic::error(summary, detail).at(condition.span);
    if !value.is_known() {
        return Ok(None);
    }
    if value.is_null() {
        return Err(invalid(format!("{what} expression must return either true or false, not null.")));
    }
    match convert(value, &Type::Bool) {
        Ok(value) => Ok(value.as_bool()),
        Err(error) => Err(invalid(format!("Invalid {} result value: {error}.", what.to_lowercase()))),
    }
}

/// The text of an error message; none if it cannot be shown.
fn message_text(expr: &Expr, scope: &ModuleScope<'_>) -> (Option<String>, Diagnostics) {
    let (value, mut diagnostics) = evaluate(expr, scope);
    if diagnostics.has_errors() {
        return (None, diagnostics);
    }
    let invalid = |reason: String| {
        Diagnostic::error("Invalid error message", format!("Unsuitable value for error message: {reason}."))
            .at(expr.span)
    };
    let value = match convert(&value, &Type::String) {
        Ok(value) => value,
        Err(error) => {
            diagnostics.push(invalid(error.to_string()));
            return (None, diagnostics);
        }
    };
    if !value.is_known() {
        return (None, diagnostics);
    }
    if value.is_null() {
        diagnostics.push(invalid("must not be null".into()));
        return (None, diagnostics);
    }
    for (marked, kind) in [(value.marks().is_sensitive(), "sensitive"), (value.marks().is_ephemeral(), "ephemeral")] {
        if marked {
            let summary = format!("Error message refers to {kind} values");
            diagnostics.push(Diagnostic::warning(summary, hidden_message(kind)).at(expr.span));
            return (None, diagnostics);
        }
    }
    (value.as_str().map(|text| text.trim().to_owned()), diagnostics)
}
