//! One body: its arguments, and its blocks collected as their nesting says.

use std::collections::BTreeMap;
use std::sync::Arc;

use groma_model::convert::{convert, unify_values};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::mark::Marks;
use groma_model::schema::{
    Attribute as AttributeSchema, AttributeKind, Block as Schema, NestedBlock, NestedObject, Nesting,
};
use groma_model::span::Span;
use groma_model::text::Str;
use groma_model::ty::{AttributeType, ObjectType, Type};
use groma_model::value::{Entries, Value};
use groma_syntax::ast::{Expr, Traversal};
use groma_syntax::body::{Attribute, Body, BodySchema, Content};

use super::as_blocks;
use super::dynamic::{Iteration, Written};
use crate::eval::{Bound, Cause, Scope, evaluate_marked, value_notes};

/// Collects what is wrong while a body is decoded.
#[derive(Default)]
pub(super) struct Decoding {
    /// References to what does not exist.
    pub(super) reference_errors: Vec<(Traversal, Diagnostics)>,
    /// Everything else.
    pub(super) errors: Diagnostics,
}

/// What holds for a whole body.
#[derive(Clone)]
pub(super) struct Context {
    /// Whether list and set attributes of objects may be written as blocks.
    as_blocks: bool,
    /// Whether the body stands for an unknown number of blocks, so that nothing in it has a value.
    unknown: bool,
    /// Marks of the collection that the body was repeated over.
    marks: Marks,
}

impl Context {
    /// The context of the outermost body.
    pub(super) fn of(schema: &Schema) -> Self {
        Self { as_blocks: as_blocks::applies_to(schema), unknown: false, marks: Marks::NONE }
    }

    fn inside(&self, written: &Written) -> Self {
        Self {
            as_blocks: self.as_blocks,
            unknown: self.unknown || written.unknown,
            marks: self.marks.union(&written.marks),
        }
    }
}

/// What names mean in a body, and what holds for all of it.
#[derive(Clone, Copy)]
pub(super) struct Frame<'f> {
    pub(super) scope: &'f dyn Scope,
    pub(super) context: &'f Context,
}

impl Decoding {
    pub(super) fn error(&mut self, summary: impl Into<String>, detail: impl Into<String>, at: Span) {
        self.errors.push(Diagnostic::error(summary, detail).at(at));
    }

    /// The object that a body is.
    pub(super) fn object(&mut self, body: &Body, schema: &Schema, frame: Frame<'_>) -> Value {
        let Frame { scope, context } = frame;
        let written_as_blocks = if context.as_blocks { as_blocks::written(body, schema) } else { BTreeMap::new() };
        let content = self.content(body, schema, &written_as_blocks);
        let blocks = self.expand(&content, schema, &written_as_blocks, scope);
        let mut object: BTreeMap<Str, Value> = BTreeMap::new();
        for (name, attribute) in &schema.attributes {
            let value = match written_as_blocks.get(name) {
                Some(element) => self.attribute_of_blocks(name, attribute, element, &blocks, frame),
                None => self.attribute(name, attribute, content.attr(name), frame),
            };
            object.insert(name.clone(), value);
        }
        for (kind, nested) in &schema.block_types {
            if object.contains_key(kind) {
                continue;
            }
            let written: Vec<&Written> = blocks.iter().filter(|block| block.kind == *kind).collect();
            let value = self.blocks(kind, nested, &written, frame, content.missing_item_span);
            object.insert(kind.clone(), value);
        }
        Value::object(object).with_marks(&context.marks)
    }

    fn content(&mut self, body: &Body, schema: &Schema, as_blocks: &BTreeMap<Str, Schema>) -> Content {
        let mut wanted = BodySchema::new();
        for (name, attribute) in &schema.attributes {
            wanted = match (as_blocks.contains_key(name), attribute.required) {
                (true, _) => wanted.block(name, &[]),
                (false, true) => wanted.required(name),
                (false, false) => wanted.optional(name),
            };
        }
        for (kind, nested) in &schema.block_types {
            wanted = wanted.block(kind, labels_of(nested));
        }
        let (content, diagnostics) = body.content(&wanted.block("dynamic", &["type"]));
        self.errors.extend(diagnostics);
        content
    }

    fn attribute(
        &mut self,
        name: &Str,
        schema: &AttributeSchema,
        written: Option<&Attribute>,
        frame: Frame<'_>,
    ) -> Value {
        let ty = constraint_of(schema);
        let Some(written) = written else { return Value::null(ty.without_optional()) };
        let Frame { scope, context } = frame;
        if context.unknown {
            return Value::unknown(ty.without_optional()).with_marks(&context.marks);
        }
        let value = self.evaluate(&written.expr, scope);
        let value = match convert(&value, &ty) {
            Ok(value) => value,
            Err(error) => {
                let detail = format!("Inappropriate value for attribute {:?}: {}.", name.as_str(), error.with_path());
                let mut diagnostic = Diagnostic::error("Incorrect attribute value type", detail).at(written.expr.span);
                diagnostic.values = value_notes(&written.expr, scope, Cause::Other);
                self.errors.push(diagnostic);
                Value::unknown(ty.without_optional())
            }
        };
        value.with_marks(&context.marks)
    }

    /// The value of an expression. If it refers to what does not exist, that is all there is to say about it.
    pub(super) fn evaluate(&mut self, expr: &Expr, scope: &dyn Scope) -> Value {
        if scope.checks_references_first() {
            let errors_before = self.reference_errors.len();
            for traversal in expr.references() {
                if let Err(diagnostics) = scope.resolve(traversal) {
                    self.reference_errors.push((traversal.clone(), diagnostics));
                }
            }
            if self.reference_errors.len() > errors_before {
                return Value::dynamic();
            }
        }
        let (value, diagnostics) = evaluate_marked(expr, scope);
        self.errors.extend(diagnostics);
        value
    }

    fn attribute_of_blocks(
        &mut self,
        name: &Str,
        schema: &AttributeSchema,
        element: &Schema,
        blocks: &[Written],
        frame: Frame<'_>,
    ) -> Value {
        let ty = constraint_of(schema);
        let written: Vec<&Written> = blocks.iter().filter(|block| block.kind == *name).collect();
        let Some(first) = written.first() else { return Value::null(ty.without_optional()) };
        let items: Vec<Value> = written.iter().map(|block| self.one(block, element, frame)).collect();
        let list = Value::tuple(items);
        convert(&list, &ty).unwrap_or_else(|error| {
            let detail = format!("Inappropriate value for attribute {:?}: {}.", name.as_str(), error.with_path());
            self.error("Incorrect attribute value type", detail, first.header);
            Value::unknown(ty.without_optional())
        })
    }

    /// The object that one block is.
    fn one(&mut self, block: &Written, schema: &Schema, frame: Frame<'_>) -> Value {
        let Frame { scope, context } = frame;
        let context = context.inside(block);
        match &block.iteration {
            None => self.object(&block.body, schema, Frame { scope, context: &context }),
            Some(Iteration { name, value }) => {
                let scope = Bound::new(scope, name.clone(), value.clone());
                self.object(&block.body, schema, Frame { scope: &scope, context: &context })
            }
        }
    }

    fn blocks(
        &mut self,
        kind: &Str,
        nested: &NestedBlock,
        written: &[&Written],
        frame: Frame<'_>,
        missing: Span,
    ) -> Value {
        match nested.nesting {
            Nesting::Single | Nesting::Group => self.single(kind, nested, written, frame, missing),
            Nesting::List | Nesting::Set => self.sequence(kind, nested, written, frame, missing),
            Nesting::Map => self.map(kind, nested, written, frame),
        }
    }

    fn single(
        &mut self,
        kind: &Str,
        nested: &NestedBlock,
        written: &[&Written],
        frame: Frame<'_>,
        missing: Span,
    ) -> Value {
        if let Some(second) = written.get(1) {
            let detail = format!("Only one block of type {:?} is allowed.", kind.as_str());
            self.error(format!("Duplicate {kind} block"), detail, second.header);
        }
        if let Some(block) = written.first() {
            return self.one(block, &nested.block, frame);
        }
        if nested.min_items == 1 {
            let detail = format!("A block of type {:?} is required here.", kind.as_str());
            self.error(format!("Missing {kind} block"), detail, missing);
        }
        nested.empty_value()
    }

    fn sequence(
        &mut self,
        kind: &Str,
        nested: &NestedBlock,
        written: &[&Written],
        frame: Frame<'_>,
        missing: Span,
    ) -> Value {
        let mut items = Vec::with_capacity(written.len());
        for block in written {
            items.push(self.one(block, &nested.block, frame));
            if block.unknown || frame.context.unknown {
                return Value::unknown(nested.implied_type());
            }
        }
        let count = items.len() as u64;
        if count < nested.min_items {
            let detail = format!("At least {} {:?} blocks are required.", nested.min_items, kind.as_str());
            self.error(format!("Insufficient {kind} blocks"), detail, missing);
        } else if let Some(extra) = written.get(nested.max_items as usize).filter(|_| nested.max_items > 0) {
            let detail = format!("No more than {} {:?} blocks are allowed", nested.max_items, kind.as_str());
            self.error(format!("Too many {kind} blocks"), detail, extra.header);
        }
        let object = nested.block.implied_type();
        if items.is_empty() {
            return nested.empty_value();
        }
        if nested.nesting == Nesting::List && object.has_dynamic() {
            return Value::tuple(items);
        }
        let Some((element, items)) = unify_values(&items) else {
            let detail = "Corresponding attributes in all blocks of this type must be the same.";
            self.error(format!("Unconsistent argument types in {kind} blocks"), detail, written[0].header);
            return Value::dynamic();
        };
        if nested.nesting == Nesting::List { Value::list(element, items) } else { Value::set(element, items) }
    }

    fn map(&mut self, kind: &Str, nested: &NestedBlock, written: &[&Written], frame: Frame<'_>) -> Value {
        let mut entries: BTreeMap<Str, Value> = BTreeMap::new();
        for block in written {
            if block.unknown || frame.context.unknown {
                return Value::unknown(nested.implied_type());
            }
            let key = block.labels.first().cloned().unwrap_or_else(|| Str::new(""));
            let value = self.one(block, &nested.block, frame);
            if entries.contains_key(&key) {
                let detail = format!("A block for {kind} {:?} was already defined.", key.as_str());
                self.error(format!("Duplicate {kind} block"), detail, block.header);
                continue;
            }
            entries.insert(key, value);
        }
        let object = nested.block.implied_type();
        if entries.is_empty() {
            return nested.empty_value();
        }
        if object.has_dynamic() {
            return Value::object(entries);
        }
        Value::map(object, entries.into_iter().collect::<Entries>())
    }
}

/// The labels of blocks that are collected by name.
pub(super) fn labels_of(nested: &NestedBlock) -> &'static [&'static str] {
    if nested.nesting == Nesting::Map { &["key"] } else { &[] }
}

/// What values of an attribute are converted to. Nested attributes that need not be given are optional.
pub(super) fn constraint_of(attribute: &AttributeSchema) -> Type {
    match &attribute.ty {
        AttributeKind::Type(ty) => ty.clone(),
        AttributeKind::Nested(nested) => nested_constraint(nested),
    }
}

fn nested_constraint(nested: &NestedObject) -> Type {
    let attributes = nested.attributes.iter().map(|(name, attribute)| {
        let optional = attribute.optional || attribute.computed;
        (name.clone(), AttributeType { ty: constraint_of(attribute), optional })
    });
    let object = Type::Object(Arc::new(ObjectType::with_optional(attributes.collect())));
    match nested.nesting {
        Nesting::Single | Nesting::Group => object,
        Nesting::List | Nesting::Map if object.has_dynamic() => Type::Dynamic,
        Nesting::List => Type::list(object),
        Nesting::Map => Type::map(object),
        Nesting::Set => Type::set(object),
    }
}
