//! Values written as expressions, for declarations that are replaced by values.

use groma_model::span::Span;
use groma_model::text::Str;
use groma_model::value::{Value, ValueKind};
use groma_syntax::ast::{Expr, ExprKind, Literal, ObjectItem, Template, TemplateKind, TemplatePart};

/// An expression that gives the value. What is not known has none, and is null.
pub(super) fn expression(value: &Value, at: Span) -> Expr {
    let kind = match value.kind() {
        ValueKind::Bool(value) => ExprKind::Literal(Literal::Bool(value)),
        ValueKind::Number(number) => ExprKind::Literal(Literal::Number(number.clone())),
        ValueKind::String(text) => return string(text, at),
        ValueKind::List(items) | ValueKind::Set(items) | ValueKind::Tuple(items) => {
            ExprKind::Tuple(items.iter().map(|item| expression(item, at)).collect())
        }
        ValueKind::Map(entries) | ValueKind::Object(entries) => {
            let item =
                |(name, value): (&Str, &Value)| ObjectItem { key: string(name, at), value: expression(value, at) };
            ExprKind::Object(entries.iter().map(item).collect())
        }
        ValueKind::Null | ValueKind::Unknown(_) => ExprKind::Literal(Literal::Null),
    };
    Expr { kind, span: at }
}

fn string(text: &str, at: Span) -> Expr {
    let text = Str::from(text);
    let parts = if text.is_empty() { Vec::new() } else { vec![TemplatePart::Literal { text, span: at }] };
    Expr { kind: ExprKind::Template(Box::new(Template { kind: TemplateKind::Quoted, parts, raw: None })), span: at }
}
