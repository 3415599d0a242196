//! From a path into a value back to the text: where in a body an attribute is given.

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::path::{Path, PathKey, PathStep};
use groma_model::schema::{Block as Schema, Nesting};
use groma_model::span::Span;
use groma_model::text::Str;
use groma_model::value::Value;
use groma_syntax::ast::{Expr, ExprKind};
use groma_syntax::body::{Body, BodySchema};

use super::traversal::attribute_named;

/// Where a body gives what a path leads to, or as much of it as is written out. If nothing is, where that is missing.
pub fn locate(body: &Body, path: &Path) -> Span {
    let (body, steps) = containing(body, path.steps());
    let Some((PathStep::Attr(name), inside)) = steps.split_first() else { return body.missing_item_span() };
    let (content, _, _) = body.partial_content(&BodySchema::new().optional(name));
    match content.attr(name) {
        None => body.missing_item_span(),
        Some(attribute) => within(&attribute.expr, inside).unwrap_or(attribute.name.span),
    }
}

/// The body that steps lead to, as far as they lead through blocks, and where they lead from there.
fn containing<'p>(body: &Body, steps: &'p [PathStep]) -> (Body, &'p [PathStep]) {
    let mut body = body.clone();
    let mut rest = steps;
    while let [PathStep::Attr(kind), behind @ ..] = rest {
        let (key, behind) = match behind {
            [PathStep::Index(key), behind @ ..] => (Some(key), behind),
            _ => (None, behind),
        };
        let labels: &[&'static str] = if matches!(key, Some(PathKey::String(_))) { &["key"] } else { &[] };
        let (content, _, _) = body.partial_content(&BodySchema::new().block(kind, labels));
        if content.blocks.is_empty() {
            return (body, rest);
        }
        let found = match key {
            None if content.blocks.len() == 1 => content.blocks.first(),
            None => None,
            Some(PathKey::Number(number)) => number.to_usize().and_then(|at| content.blocks.get(at)),
            Some(PathKey::String(key)) => {
                content.blocks.iter().find(|block| block.labels.first().is_some_and(|label| label.text == *key))
            }
        };
        match found {
            Some(block) => body = block.body.clone(),
            None => return (body, &[]),
        }
        rest = behind;
    }
    (body, rest)
}

/// Where something stands in an expression, as far as the expression writes out what it is in. None if it should be there and is not.
fn within(expr: &Expr, steps: &[PathStep]) -> Option<Span> {
    let mut expr = expr;
    for step in steps {
        let part = match (&expr.kind, step) {
            (ExprKind::Tuple(items), PathStep::Index(PathKey::Number(number))) => items.get(number.to_usize()?)?,
            (ExprKind::Object(items), PathStep::Index(PathKey::String(key)) | PathStep::Attr(key)) => {
                &items.iter().find(|item| item.key.constant_key().as_ref() == Some(key))?.value
            }
            _ => break,
        };
        expr = part;
    }
    Some(expr.span)
}

/// Complains about ephemeral values in attributes that are stored. Write-only ones may have them.
pub fn refuse_ephemeral(value: &Value, schema: &Schema, body: &Body) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    if !value.contains_marks() {
        return diagnostics;
    }
    let (_, marks) = value.clone().unmark_deep_with_paths();
    for marked in marks.iter().filter(|marked| marked.marks.is_ephemeral()) {
        let (path, write_only) = nearest_attribute(schema, &marked.path);
        if write_only {
            continue;
        }
        let detail = format!(
            "Attribute \"{path}\" is referencing an ephemeral value but ephemeral values can be referenced only by other \
             ephemeral attributes or by write-only ones."
        );
        let diagnostic = Diagnostic::error("Ephemeral value used in non-ephemeral context", detail);
        diagnostics.push(diagnostic.at(locate(body, &path)).at_path(path));
    }
    diagnostics
}

/// The attribute of the schema that a path leads to or into, and whether it is write-only.
fn nearest_attribute(schema: &Schema, path: &Path) -> (Path, bool) {
    let mut schema = schema;
    let mut steps = path.steps();
    let mut taken = Path::root();
    while let [PathStep::Attr(name), rest @ ..] = steps {
        taken.push(PathStep::Attr(Str::clone(name)));
        if let Some(nested) = schema.block_types.get(name) {
            schema = &nested.block;
            steps = rest;
            let collected = !matches!(nested.nesting, Nesting::Single | Nesting::Group);
            if let ([first, rest @ ..], true) = (steps, collected) {
                taken.push(first.clone());
                steps = rest;
            }
            continue;
        }
        let write_only = attribute_named(schema, name).is_some_and(|attribute| attribute.write_only);
        return (taken, write_only);
    }
    (path.clone(), false)
}
