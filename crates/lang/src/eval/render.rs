//! Templates that functions ask for: read, checked and evaluated with nothing but their own variables in scope.

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::span::SourceMap;
use groma_model::ty::Type;
use groma_model::value::{Value, go_quote};
use groma_syntax::ast::Expr;

use super::interpreter::{self, Interpreter};
use super::limits::TEMPLATE_COST;
use super::{MapScope, Scope};
use crate::func::{FunctionError, TemplateRenderer};

/// The file name that stands for "no file".
const NO_FILE: &str = "NoFileNeeded";

/// Renders templates with the functions of a scope.
pub(super) struct Renderer<'a> {
    scope: &'a dyn Scope,
    depth: usize,
    max_depth: usize,
    template_depth: usize,
}

impl<'a> Renderer<'a> {
    pub(super) fn new(interpreter: &'a Interpreter<'_>) -> Self {
        let template_depth = interpreter.shared.template_depth;
        let max_depth = interpreter.shared.max_depth;
        Self { scope: interpreter.scope, depth: interpreter.depth(), max_depth, template_depth }
    }

    fn limit(&self) -> usize {
        self.scope.call_settings().map_or(0, |settings| settings.environment.template_recursion_limit())
    }
}

impl TemplateRenderer for Renderer<'_> {
    fn render(&self, _caller: &str, name: &str, text: &str, variables: &Value) -> Result<Value, FunctionError> {
        if self.template_depth > self.limit() || self.depth + TEMPLATE_COST + ROOM > self.max_depth {
            return Err(FunctionError::new(format!("{TOO_DEEP} {} reached in", self.template_depth)));
        }
        let mut sources = SourceMap::new();
        let file = sources.add(name, text);
        let parsed = groma_syntax::parse_template(&sources, file);
        if parsed.diagnostics.has_errors() {
            return Err(FunctionError::new(summary(&parsed.diagnostics, &sources)));
        }
        check_variables(&parsed.value, name, variables, &sources)?;
        let scope = MapScope::new(variables, self.scope);
        let (value, diagnostics) =
            interpreter::run_nested(&parsed.value, &scope, self.depth + TEMPLATE_COST, self.template_depth + 1);
        match diagnostics.iter().find(|diagnostic| diagnostic.is_error()) {
            None => Ok(value),
            Some(error) => {
                Err(too_deep(error, &sources).unwrap_or_else(|| FunctionError::new(summary(&diagnostics, &sources))))
            }
        }
    }
}

/// How the message begins that a template calls templates too deep.
const TOO_DEEP: &str = "maximum recursion depth";

/// How deep the expressions of one template may be, at least.
const ROOM: usize = 50;

/// The error that templates call each other too deep, told once and not once for each level: the innermost calls are named.
fn too_deep(error: &Diagnostic, sources: &SourceMap) -> Option<FunctionError> {
    let at = error.detail.find(TOO_DEEP)?;
    let text = error.detail[at..].trim_end_matches('.');
    let place = error.subject.map_or(String::new(), |span| sources.place(span));
    if text.ends_with("reached in") {
        return Some(FunctionError::new(format!("{text} {place}")));
    }
    if text.ends_with(' ') {
        return Some(FunctionError::new(text));
    }
    Some(FunctionError::new(format!("{text}, {place} ... ")))
}

fn check_variables(expr: &Expr, name: &str, variables: &Value, sources: &SourceMap) -> Result<(), FunctionError> {
    if !matches!(variables.ty(), Type::Map(_) | Type::Object(_)) {
        return Err(FunctionError::arg(1, "invalid vars value: must be a map"));
    }
    let Some(entries) = variables.as_entries() else { return Ok(()) };
    if let Some(bad) = entries.names().iter().find(|name| !groma_syntax::is_identifier(name)) {
        return Err(FunctionError::arg(
            1,
            format!(
                "invalid template variable name {}: must start with a letter, followed by zero or more letters, \
                 digits, and underscores",
                go_quote(bad)
            ),
        ));
    }
    for reference in expr.references() {
        let root = &reference.root;
        if entries.contains(&root.name) {
            continue;
        }
        let quoted = go_quote(&root.name);
        let message = if name == NO_FILE {
            format!("vars map does not contain key {quoted}")
        } else {
            let place = sources.place(root.span);
            format!("vars map does not contain key {quoted}, referenced at {place}")
        };
        return Err(FunctionError::arg(1, message));
    }
    Ok(())
}

/// Diagnostics as the message of one error: the first, and how many more there are.
fn summary(diagnostics: &Diagnostics, sources: &SourceMap) -> String {
    let text = |error: &Diagnostic| match error.subject {
        Some(span) => format!("{}: {}; {}", sources.place(span), error.summary, error.detail),
        None => format!("{}; {}", error.summary, error.detail),
    };
    let mut errors = diagnostics.iter();
    let Some(first) = errors.next() else { return "no diagnostics".into() };
    match errors.count() {
        0 => text(first),
        more => format!("{}, and {more} other diagnostic(s)", text(first)),
    }
}
