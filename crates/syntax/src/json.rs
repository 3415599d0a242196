//! The JSON syntax: values with their places, and how they become expressions.

use std::sync::Arc;

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::number::Number;
use groma_model::span::{FileId, OutlineEntry, SourceFile, Span};
use groma_model::text::Str;

use crate::Parsed;
use crate::ast::{Expr, ExprKind, Literal, ObjectItem, Template, TemplateKind, TemplatePart};
use crate::body::Body;
use crate::parser;

mod reader;
mod scanner;
#[cfg(test)]
mod tests;

/// A JSON value.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) kind: NodeKind,
    pub(crate) span: Span,
}

#[derive(Debug)]
pub(crate) enum NodeKind {
    Null,
    Bool(bool),
    Number(Number),
    String(Str),
    Array {
        items: Vec<Arc<Node>>,
        open_span: Span,
    },
    /// Equal names are all kept: repeated blocks may be written like that.
    Object {
        properties: Vec<Property>,
        open_span: Span,
        close_span: Span,
    },
    /// Its error is reported already.
    Invalid,
}

/// `"name": value`
#[derive(Debug)]
pub(crate) struct Property {
    pub(crate) name: Str,
    pub(crate) name_span: Span,
    pub(crate) value: Arc<Node>,
}

impl Property {
    /// All of it.
    pub(crate) fn span(&self) -> Span {
        self.name_span.to(self.value.span)
    }
}

impl Node {
    /// The opening bracket, or all of a value that has none.
    pub(crate) fn start_span(&self) -> Span {
        match &self.kind {
            NodeKind::Array { open_span, .. } | NodeKind::Object { open_span, .. } => *open_span,
            _ => self.span,
        }
    }

    /// Where to point when something is missing in a body.
    pub(crate) fn missing_item_span(&self) -> Span {
        match &self.kind {
            NodeKind::Object { close_span, .. } => *close_span,
            _ => self.start_span(),
        }
    }

    /// The properties of this object, or of all objects in this array.
    pub(crate) fn properties(&self) -> impl Iterator<Item = &Property> {
        let own: &[Property] = match &self.kind {
            NodeKind::Object { properties, .. } => properties,
            _ => &[],
        };
        let items: &[Arc<Node>] = match &self.kind {
            NodeKind::Array { items, .. } => items,
            _ => &[],
        };
        let nested = items.iter().flat_map(|item| match &item.kind {
            NodeKind::Object { properties, .. } => properties.as_slice(),
            _ => &[],
        });
        own.iter().chain(nested)
    }
}

/// Reads a whole file.
pub(crate) fn file(source: &SourceFile, file: FileId) -> Parsed<Body> {
    let (root, mut diagnostics) = reader::read(source.text(), file);
    let root = match root.kind {
        NodeKind::Object { .. } | NodeKind::Array { .. } => root,
        _ => {
            diagnostics.push(
                Diagnostic::error(
                    "Root value must be object",
                    "The root value in a JSON-based configuration must be either a JSON object or a JSON array of objects.",
                )
                .at(root.start_span()),
            );
            let start = Span::new(file, 0, 0);
            let kind = NodeKind::Object { properties: Vec::new(), open_span: start, close_span: start };
            Arc::new(Node { kind, span: start })
        }
    };
    let mut outline = Vec::new();
    collect_outline(&root, "", &mut outline);
    source.set_outline(outline);
    Parsed { value: Body::json(root), diagnostics }
}

/// Places in larger files are not named: the names are for people, and files of that size are made by machines.
const MAX_OUTLINE: usize = 10_000;

/// The innermost object or array around a place names it, so inner ones come first.
fn collect_outline(node: &Node, path: &str, outline: &mut Vec<OutlineEntry>) {
    if outline.len() >= MAX_OUTLINE {
        return;
    }
    let mut enter = |child: &Node, path: String| {
        if matches!(child.kind, NodeKind::Array { .. } | NodeKind::Object { .. }) {
            collect_outline(child, &path, outline);
            let header = path.strip_prefix('.').unwrap_or(&path).to_owned();
            outline.push(OutlineEntry { span: child.span, header });
        }
    };
    match &node.kind {
        NodeKind::Object { properties, .. } => {
            for property in properties {
                enter(&property.value, format!("{path}.{}", property.name));
            }
        }
        NodeKind::Array { items, .. } => {
            for (at, item) in items.iter().enumerate() {
                enter(item, format!("{path}[{at}]"));
            }
        }
        _ => {}
    }
}

/// The value as an expression: strings are templates, and so are the names of objects.
pub(crate) fn to_expr(node: &Node, diagnostics: &mut Diagnostics) -> Expr {
    let kind = match &node.kind {
        NodeKind::Null => ExprKind::Literal(Literal::Null),
        NodeKind::Bool(value) => ExprKind::Literal(Literal::Bool(*value)),
        NodeKind::Number(value) => ExprKind::Literal(Literal::Number(value.clone())),
        NodeKind::String(text) => return string_expr(text, node.span, diagnostics),
        NodeKind::Array { items, .. } => ExprKind::Tuple(items.iter().map(|item| to_expr(item, diagnostics)).collect()),
        NodeKind::Object { properties, .. } => {
            let item = |property: &Property| ObjectItem {
                key: string_expr(&property.name, property.name_span, diagnostics),
                value: to_expr(&property.value, diagnostics),
            };
            ExprKind::Object(properties.iter().map(item).collect())
        }
        NodeKind::Invalid => ExprKind::Invalid,
    };
    Expr { kind, span: node.span }
}

/// The value as an expression in which strings are plain texts.
pub(crate) fn to_literal(node: &Node) -> Expr {
    let kind = match &node.kind {
        NodeKind::Null => ExprKind::Literal(Literal::Null),
        NodeKind::Bool(value) => ExprKind::Literal(Literal::Bool(*value)),
        NodeKind::Number(value) => ExprKind::Literal(Literal::Number(value.clone())),
        NodeKind::String(text) => return string_literal(text, node.span),
        NodeKind::Array { items, .. } => ExprKind::Tuple(items.iter().map(|item| to_literal(item)).collect()),
        NodeKind::Object { properties, .. } => {
            let item = |property: &Property| ObjectItem {
                key: string_literal(&property.name, property.name_span),
                value: to_literal(&property.value),
            };
            ExprKind::Object(properties.iter().map(item).collect())
        }
        NodeKind::Invalid => ExprKind::Invalid,
    };
    Expr { kind, span: node.span }
}

fn string_literal(text: &Str, span: Span) -> Expr {
    let parts = if text.is_empty() { Vec::new() } else { vec![TemplatePart::Literal { text: text.clone(), span }] };
    let template = Template { kind: TemplateKind::Json, parts, raw: Some(text.clone()) };
    Expr { kind: ExprKind::Template(Box::new(template)), span }
}

fn string_expr(text: &Str, span: Span, diagnostics: &mut Diagnostics) -> Expr {
    if !text.contains("${") && !text.contains("%{") {
        return string_literal(text, span);
    }
    let parsed = parser::template(text, parser::Origin::quoted(text, span), TemplateKind::Json);
    let kind = if parsed.diagnostics.has_errors() {
        // The text may still be wanted as such, but it has no value.
        let part = TemplatePart::Interpolation { expr: Expr { kind: ExprKind::Invalid, span }, span };
        ExprKind::Template(Box::new(Template { kind: TemplateKind::Json, parts: vec![part], raw: Some(text.clone()) }))
    } else {
        parsed.value.kind
    };
    diagnostics.extend(parsed.diagnostics);
    Expr { kind, span }
}
