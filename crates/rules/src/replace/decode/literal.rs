//! Arguments of rules are literals: texts, numbers, bools, lists of those, null. Here they are taken from the tree, with their places.

use std::ops::Range;

use groma_model::number::Number;
use groma_model::span::{SourceMap, Span};
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_model::value::Value;
use groma_syntax::ast::{Expr, ExprKind, Literal as Constant, TemplateKind, TemplatePart, UnaryOp};

use super::Reader;
use crate::replace::problem::Code;

/// A literal and where it stands.
#[derive(Debug, Clone)]
pub(super) struct Literal {
    pub(super) kind: LiteralKind,
    pub(super) span: Span,
}

#[derive(Debug, Clone)]
pub(super) enum LiteralKind {
    Null,
    Bool(bool),
    Number(Number),
    Text(Text),
    List(Vec<Literal>),
}

impl Literal {
    /// What it is, in words.
    pub(super) fn what(&self) -> &'static str {
        match self.kind {
            LiteralKind::Null => "null",
            LiteralKind::Bool(_) => "a bool",
            LiteralKind::Number(_) => "a number",
            LiteralKind::Text(_) => "a string",
            LiteralKind::List(_) => "a list",
        }
    }

    pub(super) fn value(&self) -> Value {
        match &self.kind {
            LiteralKind::Null => Value::null(Type::Dynamic),
            LiteralKind::Bool(value) => Value::from(*value),
            LiteralKind::Number(number) => Value::number(number.clone()),
            LiteralKind::Text(text) => Value::from(text.says.as_str()),
            LiteralKind::List(items) => Value::tuple(items.iter().map(Literal::value).collect()),
        }
    }
}

/// A text, and where its bytes stand.
#[derive(Debug, Clone)]
pub(super) struct Text {
    pub(super) says: Str,
    /// With the quotes.
    pub(super) span: Span,
    /// Without the quotes, if the file has it letter by letter: not if there are escapes, or if it is a heredoc.
    inside: Option<Span>,
}

impl Text {
    /// Where a part of it stands; and if that can only be told by an offset, the words for that.
    pub(super) fn place(&self, part: &Range<usize>) -> (Span, String) {
        match self.inside {
            Some(inside) => {
                let start = inside.start as usize;
                (Span::new(inside.file, start + part.start, start + part.end), String::new())
            }
            None => (self.span, format!(" This is at offset {} of the text.", part.start)),
        }
    }
}

/// A string of the tree, with what is known of its place.
fn text(map: &SourceMap, span: Span, kind: TemplateKind, parts: &[TemplatePart]) -> Option<Text> {
    let mut joined = String::new();
    for part in parts {
        let TemplatePart::Literal { text, .. } = part else { return None };
        joined.push_str(text);
    }
    let quoted = matches!(kind, TemplateKind::Quoted | TemplateKind::Json) && span.len() == joined.len() + 2;
    let inner = Span { start: span.start + 1, end: span.end.saturating_sub(1), ..span };
    let inside = (quoted && map.text(inner) == joined).then_some(inner);
    Some(Text { says: Str::new(joined), span, inside })
}

impl Reader<'_> {
    /// The literal that an expression is. What is none is an error, which is told.
    pub(super) fn literal(&mut self, expr: &Expr) -> Option<Literal> {
        let kind = match &expr.kind {
            ExprKind::Literal(Constant::Null) => LiteralKind::Null,
            ExprKind::Literal(Constant::Bool(value)) => LiteralKind::Bool(*value),
            ExprKind::Literal(Constant::Number(number)) => LiteralKind::Number(number.clone()),
            ExprKind::Template(template) => {
                let Some(text) = text(self.map, expr.span, template.kind, &template.parts) else {
                    self.only_literals(expr.span, "A string with \"${\" or \"%{\" in it");
                    return None;
                };
                LiteralKind::Text(text)
            }
            ExprKind::Tuple(items) => {
                let read: Vec<Option<Literal>> = items.iter().map(|item| self.literal(item)).collect();
                LiteralKind::List(read.into_iter().collect::<Option<_>>()?)
            }
            ExprKind::Parens(inner) => return self.literal(inner),
            ExprKind::Unary(unary) if unary.op == UnaryOp::Negate => {
                let LiteralKind::Number(number) = self.literal(&unary.operand)?.kind else {
                    self.only_literals(expr.span, "This");
                    return None;
                };
                LiteralKind::Number(number.neg())
            }
            _ => {
                self.refuse(expr);
                return None;
            }
        };
        Some(Literal { kind, span: expr.span })
    }

    fn refuse(&mut self, expr: &Expr) {
        match &expr.kind {
            // It was told when it was read.
            ExprKind::Invalid => {}
            ExprKind::Traversal(word) if word.steps.is_empty() => {
                let what = format!("The name {}", word.root.name);
                let found =
                    not_literal(&what).at(expr.span).hint(format!("Write it in quotes: \"{}\".", word.root.name));
                self.diagnostics.push(found);
            }
            ExprKind::Traversal(_) => {
                let what = format!("The reference {}", self.map.text(expr.span));
                self.only_literals(expr.span, &what);
            }
            ExprKind::Call(call) => self.only_literals(expr.span, &format!("A call of {}", call.name)),
            _ => self.only_literals(expr.span, "This"),
        }
    }

    fn only_literals(&mut self, span: Span, what: &str) {
        self.diagnostics.push(not_literal(what).at(span));
    }
}

fn not_literal(what: &str) -> groma_model::diag::Diagnostic {
    let detail =
        format!("{what} cannot stand here: arguments of rules are strings, numbers, bools, null, and lists of those.");
    Code(1115).error("Only literals are allowed", detail)
}
