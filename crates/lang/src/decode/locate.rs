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

/// Where a body gives what a path leads to. If it does not, where that is missing.
pub fn locate(body: &Body, path: &Path) -> Span {
    let steps = path.steps();
    let (steps, index) = match steps {
        [rest @ .., PathStep::Index(key)] => (rest, Some(key)),
        _ => (steps, None),
    };
    let Some((PathStep::Attr(name), around)) = steps.split_last() else { return body.missing_item_span() };
    let body = containing(body, around);
    let (content, _, _) = body.partial_content(&BodySchema::new().optional(name));
    match (content.attr(name), index) {
        (None, _) => body.missing_item_span(),
        (Some(attribute), None) => attribute.expr.span,
        (Some(attribute), Some(key)) => element(&attribute.expr, key).unwrap_or(attribute.name.span),
    }
}

/// The body that steps lead to, as far as they lead through blocks.
fn containing(body: &Body, steps: &[PathStep]) -> Body {
    let mut body = body.clone();
    let mut rest = steps;
    while let [PathStep::Attr(kind), behind @ ..] = rest {
        let (key, behind) = match behind {
            [PathStep::Index(key), behind @ ..] => (Some(key), behind),
            _ => (None, behind),
        };
        rest = behind;
        let labels: &[&'static str] = if matches!(key, Some(PathKey::String(_))) { &["key"] } else { &[] };
        let (content, _, _) = body.partial_content(&BodySchema::new().block(kind, labels));
        if content.blocks.is_empty() {
            continue;
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
            None => return body,
        }
    }
    body
}

/// Where an element of a list or map stands. None if the expression is one but has no such element.
fn element(expr: &Expr, key: &PathKey) -> Option<Span> {
    match (&expr.kind, key) {
        (ExprKind::Tuple(items), PathKey::Number(number)) => Some(items.get(number.to_usize()?)?.span),
        (ExprKind::Object(items), PathKey::String(key)) => {
            let item = items.iter().find(|item| item.key.constant_key().as_ref() == Some(key))?;
            Some(item.value.span)
        }
        _ => Some(expr.span),
    }
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
