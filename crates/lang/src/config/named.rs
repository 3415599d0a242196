//! `locals` and `output` blocks. Variables are in [`super::variable`].

use std::sync::Arc;

use groma_model::span::Span;
use groma_model::text::Str;
use groma_syntax::ast::{Expr, Traversal};
use groma_syntax::body::{Block, BodySchema};
use groma_syntax::is_identifier;

use super::read::{Decoder, NAME_RULE, label, relaxed};
use super::{CheckRule, Declared};

/// One entry of a `locals` block.
#[derive(Debug, Clone)]
pub struct Local {
    /// Its name.
    pub name: Str,
    /// Its value.
    pub expr: Arc<Expr>,
    /// Name and value.
    pub span: Span,
    /// Just the name.
    pub name_span: Span,
}

impl Local {
    /// Reads a `locals` block.
    pub(crate) fn decode_all(decoder: &mut Decoder<'_>, block: &Block) -> Vec<Self> {
        let (attributes, diagnostics) = block.body.just_attributes();
        decoder.diagnostics.extend(diagnostics);
        let mut locals = Vec::with_capacity(attributes.len());
        for attribute in attributes {
            if !is_identifier(&attribute.name.name) {
                decoder.error("Invalid local value name", NAME_RULE, attribute.name.span);
            }
            locals.push(Self {
                name: attribute.name.name,
                expr: attribute.expr,
                span: attribute.span,
                name_span: attribute.name.span,
            });
        }
        locals
    }
}

/// `output "name" { … }`
#[derive(Debug, Clone)]
pub struct Output {
    /// Its name.
    pub name: Str,
    /// What it is for.
    pub description: Option<Str>,
    /// Its value. None only if the declaration is broken.
    pub expr: Option<Arc<Expr>>,
    /// `sensitive`
    pub sensitive: bool,
    /// `ephemeral`
    pub ephemeral: bool,
    /// Which of the two are said at all, so that an override file changes only what it says.
    pub(crate) flags_said: (bool, bool),
    /// Why it should not be used any more.
    pub deprecated: Option<Str>,
    /// `depends_on`
    pub depends_on: Vec<Traversal>,
    /// `precondition` blocks, in order.
    pub preconditions: Vec<CheckRule>,
    /// Where it is declared.
    pub declared: Declared,
}

impl Output {
    /// Where its value stands, or its header if there is none.
    pub fn usage_span(&self) -> Span {
        self.expr.as_ref().map_or(self.declared.header, |expr| expr.span)
    }

    /// Reads an `output` block.
    pub(crate) fn decode(decoder: &mut Decoder<'_>, block: &Block) -> Self {
        let name = label(block, 0);
        let schema = BodySchema::new()
            .optional("description")
            .required("value")
            .optional("depends_on")
            .optional("sensitive")
            .optional("ephemeral")
            .optional("deprecated")
            .block("precondition", &[])
            .block("postcondition", &[]);
        let content = decoder.content(&block.body, &relaxed(schema, decoder.is_override));
        decoder.check_name(&name, "Invalid output name");

        let mut output = Self {
            name: name.text,
            description: content.attr("description").and_then(|attribute| decoder.constant_string(attribute)),
            expr: content.attr("value").map(|attribute| Arc::clone(&attribute.expr)),
            sensitive: content
                .attr("sensitive")
                .is_some_and(|attribute| decoder.constant_bool(attribute) == Some(true)),
            ephemeral: content
                .attr("ephemeral")
                .is_some_and(|attribute| decoder.constant_bool(attribute) == Some(true)),
            flags_said: (content.attr("sensitive").is_some(), content.attr("ephemeral").is_some()),
            deprecated: None,
            depends_on: decoder.depends_on(&content),
            preconditions: Vec::new(),
            declared: Declared::of(block),
        };
        if let Some(attribute) = content.attr("deprecated") {
            output.deprecated = decoder.constant_string(attribute);
            if output.deprecated.as_ref().is_some_and(|text| text.trim().is_empty()) {
                decoder.error(
                    "Invalid `deprecated` attribute",
                    "The \"deprecated\" argument must not be empty, and should provide instructions on how to migrate \
                     away from usage of this deprecated output value.",
                    attribute.expr.span,
                );
            }
        }
        for inner in &content.blocks {
            if inner.kind.name == "precondition" {
                output.preconditions.push(CheckRule::decode(decoder, inner));
            } else {
                decoder.error(
                    "Postconditions are not allowed",
                    "Output values can only have preconditions, not postconditions.",
                    inner.kind.span,
                );
            }
        }
        output
    }
}
