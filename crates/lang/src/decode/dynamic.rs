//! `dynamic` blocks: each stands for as many blocks as its `for_each` has elements.

use std::collections::BTreeMap;

use groma_model::convert::convert;
use groma_model::diag::Diagnostic;
use groma_model::mark::Marks;
use groma_model::schema::Block as Schema;
use groma_model::span::Span;
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_model::value::{Value, ValueKind};
use groma_syntax::ast::Expr;
use groma_syntax::body::{Block, Body, BodySchema, Content};

use super::block::{Decoding, labels_of};
use crate::eval::{Bound, Scope};

/// A block as it is decoded: as written, or as a `dynamic` block makes it.
pub(super) struct Written {
    pub(super) kind: Str,
    pub(super) labels: Vec<Str>,
    pub(super) body: Body,
    pub(super) header: Span,
    /// What the iterator stands for in it.
    pub(super) iteration: Option<Iteration>,
    /// Whether it stands for an unknown number of blocks.
    pub(super) unknown: bool,
    /// Marks of the collection that it was made from.
    pub(super) marks: Marks,
}

/// The iterator of a `dynamic` block.
#[derive(Clone)]
pub(super) struct Iteration {
    pub(super) name: Str,
    /// An object with `key` and `value`.
    pub(super) value: Value,
}

/// What a `dynamic` block says.
struct Template {
    iterator: Str,
    for_each: Value,
    labels: Vec<Expr>,
    content: Body,
}

impl Decoding {
    /// The blocks of a body, with `dynamic` ones worked out.
    pub(super) fn expand(
        &mut self,
        content: &Content,
        schema: &Schema,
        as_blocks: &BTreeMap<Str, Schema>,
        scope: &dyn Scope,
    ) -> Vec<Written> {
        let mut blocks = Vec::with_capacity(content.blocks.len());
        for block in &content.blocks {
            if block.kind.name != "dynamic" {
                blocks.push(Written {
                    kind: block.kind.name.clone(),
                    labels: block.labels.iter().map(|label| label.text.clone()).collect(),
                    body: block.body.clone(),
                    header: block.header_span,
                    iteration: None,
                    unknown: false,
                    marks: Marks::NONE,
                });
                continue;
            }
            let Some(label) = block.labels.first() else { continue };
            let label_count = match schema.block_types.get(&label.text) {
                Some(nested) => labels_of(nested).len(),
                None if as_blocks.contains_key(&label.text) => 0,
                None => {
                    let detail = format!("Blocks of type {:?} are not expected here.", label.text.as_str());
                    self.error("Unsupported block type", detail, label.span);
                    continue;
                }
            };
            if let Some(template) = self.template(block, &label.text, label_count, scope) {
                self.generate(block, &label.text, &template, scope, &mut blocks);
            }
        }
        blocks
    }

    fn template(&mut self, block: &Block, kind: &Str, label_count: usize, scope: &dyn Scope) -> Option<Template> {
        let mut schema = BodySchema::new().required("for_each").optional("iterator").block("content", &[]);
        if label_count > 0 {
            schema = schema.required("labels");
        }
        let (content, diagnostics) = block.body.content(&schema);
        let failed = diagnostics.has_errors();
        self.errors.extend(diagnostics);
        if failed {
            return None;
        }
        let iterator = self.iterator(&content, kind)?;
        let for_each = self.for_each(&content, scope)?;
        let labels = self.labels(&content, kind, label_count)?;
        match content.blocks.as_slice() {
            [only] => Some(Template { iterator, for_each, labels, content: only.body.clone() }),
            [] => {
                self.error(
                    "Missing dynamic content block",
                    "A dynamic block must have a nested block of type \"content\" to describe the body of each generated \
                     block.",
                    content.missing_item_span,
                );
                None
            }
            [_, second, ..] => {
                self.error(
                    "Extraneous dynamic content block",
                    "Only one nested content block is allowed for each dynamic block.",
                    second.header_span,
                );
                None
            }
        }
    }

    fn iterator(&mut self, content: &Content, kind: &Str) -> Option<Str> {
        let Some(attribute) = content.attr("iterator") else { return Some(kind.clone()) };
        match attribute.expr.as_traversal() {
            Ok(traversal) if traversal.steps.is_empty() => Some(traversal.root.name),
            Ok(traversal) => {
                self.error(
                    "Invalid dynamic iterator name",
                    "Dynamic iterator must be a single variable name.",
                    traversal.span,
                );
                None
            }
            Err(diagnostic) => {
                self.errors.push(diagnostic);
                None
            }
        }
    }

    fn for_each(&mut self, content: &Content, scope: &dyn Scope) -> Option<Value> {
        let expr = &content.attr("for_each")?.expr;
        let problems = self.errors.len() + self.reference_errors.len();
        let value = self.evaluate(expr, scope);
        if self.errors.len() + self.reference_errors.len() > problems {
            return None;
        }
        let ty = value.ty();
        let iterable = ty.is_collection() || matches!(ty, Type::Tuple(_) | Type::Object(_));
        let detail = if !iterable && ty != Type::Dynamic {
            format!("Cannot use a {} value in for_each. An iterable collection is required.", ty.friendly_name())
        } else if value.is_null() {
            "Cannot use a null value in for_each.".to_owned()
        } else {
            return Some(value);
        };
        self.error("Invalid dynamic for_each value", detail, expr.span);
        None
    }

    fn labels(&mut self, content: &Content, kind: &Str, count: usize) -> Option<Vec<Expr>> {
        let Some(attribute) = content.attr("labels") else { return Some(Vec::new()) };
        let labels = match attribute.expr.as_list() {
            Ok(labels) => labels,
            Err(diagnostic) => {
                self.errors.push(diagnostic);
                return None;
            }
        };
        let detail = format!("Blocks of type {:?} require {count} label(s).", kind.as_str());
        if let Some(extra) = labels.get(count) {
            self.error("Extraneous dynamic block label", detail, extra.span);
            return None;
        }
        if labels.len() < count {
            self.error("Insufficient dynamic block labels", detail, attribute.expr.span);
            return None;
        }
        Some(labels.to_vec())
    }

    fn generate(
        &mut self,
        block: &Block,
        kind: &Str,
        template: &Template,
        scope: &dyn Scope,
        blocks: &mut Vec<Written>,
    ) {
        let (collection, marks) = template.for_each.clone().unmark();
        let unknown = !collection.is_known();
        let elements = if unknown { vec![(Value::dynamic(), Value::dynamic())] } else { elements(&collection) };
        for (key, value) in elements {
            let value = Value::object([("key", key), ("value", value)]);
            let iteration = Iteration { name: template.iterator.clone(), value };
            let Some(labels) = self.label_values(&template.labels, &iteration, scope, unknown) else { continue };
            blocks.push(Written {
                kind: kind.clone(),
                labels,
                body: template.content.clone(),
                header: block.header_span,
                iteration: Some(iteration),
                unknown,
                marks: marks.clone(),
            });
        }
    }

    fn label_values(
        &mut self,
        labels: &[Expr],
        iteration: &Iteration,
        scope: &dyn Scope,
        unknown: bool,
    ) -> Option<Vec<Str>> {
        let scope = Bound::new(scope, iteration.name.clone(), iteration.value.clone());
        let mut values = Vec::with_capacity(labels.len());
        for label in labels {
            let problems = self.errors.len() + self.reference_errors.len();
            let value = self.evaluate(label, &scope);
            if self.errors.len() + self.reference_errors.len() > problems {
                return None;
            }
            let problem = match convert(&value, &Type::String) {
                Ok(value) if value.is_null() => "Cannot use a null value as a dynamic block label.".to_owned(),
                Ok(value) if !value.is_known() && unknown => {
                    values.push(Str::new(""));
                    continue;
                }
                Ok(value) if !value.is_known() => {
                    "This value is not yet known. Dynamic block labels must be immediately-known values.".to_owned()
                }
                Ok(value) if !value.marks().is_empty() => {
                    "This value is marked, for example as sensitive, and cannot be a dynamic block label.".to_owned()
                }
                Ok(value) => {
                    values.extend(value.as_str().map(Str::from));
                    continue;
                }
                Err(error) => format!("Cannot use this value as a dynamic block label: {error}."),
            };
            self.errors.push(Diagnostic::error("Invalid dynamic block label", problem).at(label.span));
            return None;
        }
        Some(values)
    }
}

/// Keys and values of a collection. The elements of a set are their own keys.
fn elements(collection: &Value) -> Vec<(Value, Value)> {
    match collection.kind() {
        ValueKind::List(items) | ValueKind::Tuple(items) => {
            items.iter().enumerate().map(|(at, item)| (Value::number(at as i64), item.clone())).collect()
        }
        ValueKind::Set(items) => items.iter().map(|item| (item.clone(), item.clone())).collect(),
        ValueKind::Map(entries) | ValueKind::Object(entries) => {
            entries.iter().map(|(key, value)| (Value::string(key.clone()), value.clone())).collect()
        }
        _ => Vec::new(),
    }
}
