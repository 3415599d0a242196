//! Bodies: arguments and blocks, whichever syntax they were written in, read through a [`BodySchema`].
//!
//! The JSON syntax cannot be told apart into arguments and blocks without a schema, so every reader names what it expects.

use std::collections::BTreeSet;
use std::sync::Arc;

use groma_model::diag::Diagnostics;
use groma_model::span::Span;
use groma_model::text::Str;

use crate::ast::{Expr, Ident};
use crate::json::Node;

mod from_json;
mod joined;
mod merged;
mod native;
mod references;
#[cfg(test)]
mod tests;

/// `name = expr`
#[derive(Debug, Clone)]
pub struct Attribute {
    /// The name.
    pub name: Ident,
    /// The value. Shared, because every reading of a body hands out its attributes anew.
    pub expr: Arc<Expr>,
    /// All of it.
    pub span: Span,
}

/// A label of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// Its text.
    pub text: Str,
    /// With the quotes.
    pub span: Span,
}

/// `kind "label" { … }`
#[derive(Debug, Clone)]
pub struct Block {
    /// The word it starts with.
    pub kind: Ident,
    /// Its labels.
    pub labels: Vec<Label>,
    /// What is between the braces.
    pub body: Body,
    /// All of it.
    pub span: Span,
    /// From the kind to the last label; in the JSON syntax the opening bracket.
    pub header_span: Span,
    /// The opening brace.
    pub open_span: Span,
    /// The closing brace.
    pub close_span: Span,
}

/// What a reader of a body expects.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BodySchema {
    /// Arguments.
    pub attributes: Vec<AttributeSchema>,
    /// Kinds of blocks.
    pub blocks: Vec<BlockSchema>,
}

impl BodySchema {
    /// A schema that expects nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an argument that may be left out.
    pub fn optional(mut self, name: &str) -> Self {
        self.attributes.push(AttributeSchema { name: name.into(), required: false });
        self
    }

    /// Adds an argument that must be there.
    pub fn required(mut self, name: &str) -> Self {
        self.attributes.push(AttributeSchema { name: name.into(), required: true });
        self
    }

    /// Adds a kind of block, with the names of its labels.
    pub fn block(mut self, kind: &str, labels: &[&'static str]) -> Self {
        self.blocks.push(BlockSchema { kind: kind.into(), labels: labels.to_vec() });
        self
    }
}

/// An expected argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttributeSchema {
    /// Its name.
    pub name: Str,
    /// Whether its absence is an error.
    pub required: bool,
}

/// An expected kind of block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockSchema {
    /// Its kind.
    pub kind: Str,
    /// What its labels are called in messages, in order.
    pub labels: Vec<&'static str>,
}

/// What a body holds, told apart by a schema.
#[derive(Debug, Clone)]
pub struct Content {
    /// The arguments, in source order.
    pub attributes: Vec<Attribute>,
    /// The blocks, in source order.
    pub blocks: Vec<Block>,
    /// Where to point when something is missing.
    pub missing_item_span: Span,
}

impl Content {
    /// The argument of that name.
    pub fn attr(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| attribute.name.name == *name)
    }

    /// The blocks of that kind, in source order.
    pub fn blocks_of<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Block> {
        self.blocks.iter().filter(move |block| block.kind.name == *kind)
    }
}

/// Arguments and blocks. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Body(Repr);

#[derive(Debug, Clone)]
enum Repr {
    Native { items: Arc<NativeItems>, hidden: Hidden },
    Json { value: Arc<Node>, hidden: Hidden },
    Merged(Arc<(Body, Body)>),
    Joined(Arc<(Body, Body)>),
}

/// What the native parser found between two braces (or in a whole file).
#[derive(Debug)]
pub(crate) struct NativeItems {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) span: Span,
}

/// Names that an earlier [`Body::partial_content`] has taken already.
#[derive(Debug, Clone, Default)]
struct Hidden {
    attributes: Arc<BTreeSet<Str>>,
    blocks: Arc<BTreeSet<Str>>,
}

impl Body {
    pub(crate) fn native(items: NativeItems) -> Self {
        Self(Repr::Native { items: Arc::new(items), hidden: Hidden::default() })
    }

    pub(crate) fn json(value: Arc<Node>) -> Self {
        Self(Repr::Json { value, hidden: Hidden::default() })
    }

    /// A body without content.
    pub fn empty(at: Span) -> Self {
        Self::native(NativeItems { attributes: Vec::new(), blocks: Vec::new(), span: at })
    }

    /// Everything that the schema names. Anything else is an error.
    pub fn content(&self, schema: &BodySchema) -> (Content, Diagnostics) {
        match &self.0 {
            Repr::Native { items, hidden } => native::content(items, hidden, schema),
            Repr::Json { value, hidden } => from_json::content(value, hidden, schema),
            // As in OpenTofu, what an override does not understand is not looked at again.
            Repr::Merged(pair) => {
                let (content, _, diagnostics) = merged::partial_content(&pair.0, &pair.1, schema);
                (content, diagnostics)
            }
            Repr::Joined(pair) => joined::content(&pair.0, &pair.1, schema),
        }
    }

    /// Everything that the schema names, and a body with the rest.
    pub fn partial_content(&self, schema: &BodySchema) -> (Content, Body, Diagnostics) {
        match &self.0 {
            Repr::Native { items, hidden } => {
                let (content, hidden, diagnostics) = native::partial_content(items, hidden, schema);
                (content, Self(Repr::Native { items: Arc::clone(items), hidden }), diagnostics)
            }
            Repr::Json { value, hidden } => {
                let (content, hidden, diagnostics) = from_json::partial_content(value, hidden, schema);
                (content, Self(Repr::Json { value: Arc::clone(value), hidden }), diagnostics)
            }
            Repr::Merged(pair) => merged::partial_content(&pair.0, &pair.1, schema),
            Repr::Joined(pair) => joined::partial_content(&pair.0, &pair.1, schema),
        }
    }

    /// All arguments, whatever their names; blocks are errors.
    pub fn just_attributes(&self) -> (Vec<Attribute>, Diagnostics) {
        match &self.0 {
            Repr::Native { items, hidden } => native::just_attributes(items, hidden),
            Repr::Json { value, hidden } => from_json::just_attributes(value, hidden, false),
            Repr::Merged(pair) => merged::just_attributes(&pair.0, &pair.1),
            Repr::Joined(pair) => joined::just_attributes(&pair.0, &pair.1),
        }
    }

    /// As [`Body::just_attributes`], but strings of the JSON syntax are plain texts and no templates, as in `.tfvars.json`.
    pub fn literal_attributes(&self) -> (Vec<Attribute>, Diagnostics) {
        match &self.0 {
            Repr::Json { value, hidden } => from_json::just_attributes(value, hidden, true),
            _ => self.just_attributes(),
        }
    }

    /// Where to point when something is missing.
    pub fn missing_item_span(&self) -> Span {
        match &self.0 {
            Repr::Native { items, .. } => items.span.before(),
            Repr::Json { value, .. } => value.missing_item_span(),
            Repr::Merged(pair) | Repr::Joined(pair) => pair.0.missing_item_span(),
        }
    }

    /// The body that an override file makes of this one: arguments are replaced by name, and a kind of block that occurs in
    /// `over` (also as `dynamic`) replaces all blocks of that kind.
    pub fn overridden_by(&self, over: &Body) -> Body {
        Self(Repr::Merged(Arc::new((self.clone(), over.clone()))))
    }

    /// A body with the content of both, none of which may set the same argument.
    pub fn joined_with(&self, other: &Body) -> Body {
        Self(Repr::Joined(Arc::new((self.clone(), other.clone()))))
    }

    /// All of its text, with the braces.
    pub fn span(&self) -> Span {
        match &self.0 {
            Repr::Native { items, .. } => items.span,
            Repr::Json { value, .. } => value.span,
            Repr::Merged(pair) | Repr::Joined(pair) => pair.0.span(),
        }
    }

    /// Whether it was written in the JSON syntax.
    pub fn is_json(&self) -> bool {
        match &self.0 {
            Repr::Native { .. } => false,
            Repr::Json { .. } => true,
            Repr::Merged(pair) | Repr::Joined(pair) => pair.0.is_json(),
        }
    }

    /// Whether nothing is left in it.
    pub fn is_empty(&self) -> bool {
        match &self.0 {
            Repr::Native { items, hidden } => {
                items.attributes.iter().all(|a| hidden.attributes.contains(&a.name.name))
                    && items.blocks.iter().all(|b| hidden.blocks.contains(&b.kind.name))
            }
            Repr::Json { value, hidden } => {
                value.properties().all(|p| p.name == "//" || hidden.attributes.contains(&p.name))
            }
            Repr::Merged(pair) | Repr::Joined(pair) => pair.0.is_empty() && pair.1.is_empty(),
        }
    }

    /// What the native parser read, if this is a native body. For callers that look at syntax as such, e.g. `fmt`.
    pub fn native_items(&self) -> Option<(&[Attribute], &[Block])> {
        match &self.0 {
            Repr::Native { items, .. } => Some((&items.attributes, &items.blocks)),
            _ => None,
        }
    }
}
