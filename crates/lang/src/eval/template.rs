//! Templates: text with interpolations and directives becomes a string.

use groma_model::convert::convert;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::mark::Marks;
use groma_model::span::Span;
use groma_model::ty::Type;
use groma_model::value::{Refinement, Value};
use groma_syntax::ast::{Expr, TemplatePart};

use super::conditional::Branch;
use super::for_expr::{Loop, Source};
use super::interpreter::Interpreter;
use super::limits::{MAX_LOOP_ERRORS, MAX_TEXT, oversize_text};

/// How much of the known beginning of an unknown string is kept.
const MAX_PREFIX: usize = 128;

impl Interpreter<'_> {
    /// The string that the parts make. `expr` is the whole template.
    pub(super) fn eval_template(&self, parts: &[TemplatePart], expr: &Expr, diagnostics: &mut Diagnostics) -> Value {
        // Nearly all strings have no interpolation.
        match parts {
            [] => return Value::string(""),
            [TemplatePart::Literal { text, .. }] => return Value::string(text.clone()),
            _ => {}
        }
        let mut errors = Diagnostics::new();
        let mut text = Text::default();
        for part in parts {
            let (value, span, of) = self.eval_part(part, expr, &mut errors);
            let problem = text.append(value, &errors);
            if let Some(problem) = problem {
                self.report(problem.within(expr.span), span, of, &mut errors);
            }
        }
        let value = text.into_value(errors.has_errors());
        diagnostics.extend(errors);
        value
    }

    fn eval_part<'e>(
        &self,
        part: &'e TemplatePart,
        expr: &'e Expr,
        errors: &mut Diagnostics,
    ) -> (Value, Span, &'e Expr) {
        match part {
            TemplatePart::Literal { text, span } => (Value::string(text.clone()), *span, expr),
            TemplatePart::Interpolation { expr: inner, .. } => (self.eval(inner, errors), inner.span, inner),
            TemplatePart::If { condition, then, otherwise, span } => {
                let branch = |parts: &[TemplatePart]| {
                    let mut errors = Diagnostics::new();
                    let value = self.eval_template(parts, expr, &mut errors);
                    Branch { value, errors, span: *span, expr: None }
                };
                let branches = [branch(then), branch(otherwise)];
                (self.choose(condition, branches, expr, errors), *span, expr)
            }
            TemplatePart::For { key, value, collection, body, span } => {
                let each = Loop { key: key.as_ref(), value, collection, span: *span };
                (self.join(&each, body, expr, errors), *span, expr)
            }
        }
    }

    /// The body of a `%{for}`, once for each element.
    fn join(&self, each: &Loop<'_>, body: &[TemplatePart], expr: &Expr, errors: &mut Diagnostics) -> Value {
        let Source::Elements(collection, marks) = self.source(each, errors) else {
            return Value::unknown(Type::String);
        };
        let mut joined = Joined { marks, ..Joined::default() };
        let before = errors.len();
        self.each(each, &collection, errors, &mut |item, errors| {
            joined.push(item.eval_template(body, expr, errors));
            errors.len() - before <= MAX_LOOP_ERRORS
        });
        if joined.too_long {
            errors.push(oversize_text().at(each.span));
        }
        joined.into_value()
    }
}

/// A string in the making.
#[derive(Default)]
struct Text {
    buffer: String,
    unknown: bool,
    marks: Marks,
}

impl Text {
    /// Puts the text of a part behind what is there. Gives back what is wrong with the part.
    fn append(&mut self, value: Value, errors: &Diagnostics) -> Option<Diagnostic> {
        let summary = "Invalid template interpolation value";
        if value.is_null() {
            let detail = "The expression result is null. Cannot include a null value in a string template.";
            return Some(Diagnostic::error(summary, detail));
        }
        let (value, marks) = value.unmark();
        self.marks = self.marks.union(&marks);
        if !value.is_known() {
            // The parts behind are still evaluated for their errors, but the text ends here.
            self.unknown = true;
            return None;
        }
        let string = match convert(&value, &Type::String) {
            Ok(string) => string,
            Err(error) => {
                let detail = format!("Cannot include the given value in a string template: {error}.");
                return Some(Diagnostic::error(summary, detail));
            }
        };
        if self.unknown || errors.has_errors() {
            return None;
        }
        self.buffer.push_str(string.as_str().unwrap_or_default());
        if self.buffer.len() <= MAX_TEXT {
            return None;
        }
        self.buffer.clear();
        Some(oversize_text())
    }

    fn into_value(self, failed: bool) -> Value {
        let value = if !self.unknown {
            Value::string(self.buffer)
        } else if failed {
            // What was collected before an error cannot be relied on.
            Value::unknown(Type::String).refine_not_null()
        } else {
            Value::unknown_refined(Type::String, Refinement::prefix(known_prefix(&self.buffer)))
        };
        value.with_marks(&self.marks)
    }
}

/// The beginning of a text that is certain to stay, however the text goes on.
fn known_prefix(text: &str) -> String {
    let mut end = text.len().min(MAX_PREFIX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    groma_model::text::safe_prefix(&text[..end]).to_owned()
}

/// The pieces of a `%{for}`, joined.
#[derive(Default)]
struct Joined {
    buffer: String,
    unknown: bool,
    too_long: bool,
    marks: Marks,
}

impl Joined {
    fn push(&mut self, piece: Value) {
        let (piece, marks) = piece.unmark();
        match piece.as_str() {
            Some(text) if !self.unknown && self.buffer.len() + text.len() <= MAX_TEXT => {
                self.marks = self.marks.union(&marks);
                self.buffer.push_str(text);
            }
            Some(_) if !self.unknown => {
                self.too_long = true;
                self.unknown = true;
            }
            _ => self.unknown = true,
        }
    }

    fn into_value(self) -> Value {
        let value = if self.unknown { Value::unknown(Type::String) } else { Value::string(self.buffer) };
        value.with_marks(&self.marks)
    }
}
