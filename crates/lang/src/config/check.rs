//! Conditions (`validation`, `precondition`, `postcondition`, `assert`) and `check` blocks.

use std::sync::Arc;

use groma_model::span::Span;
use groma_model::text::Str;
use groma_syntax::ast::Expr;
use groma_syntax::body::{Block, BodySchema};

use super::read::{Decoder, label};
use super::resource::{self, Placement};
use super::{Declared, Resource, ResourceKey};
use crate::refs::{Reference, Subject};

/// A condition with the message for when it does not hold.
#[derive(Debug, Clone)]
pub struct CheckRule {
    /// Must be true. None only if the declaration is broken.
    pub condition: Option<Arc<Expr>>,
    /// Says what is wrong. None only if the declaration is broken.
    pub error_message: Option<Arc<Expr>>,
    /// The header of its block.
    pub header: Span,
}

/// `check "name" { … }`
#[derive(Debug, Clone)]
pub struct Check {
    /// Its name.
    pub name: Str,
    /// The data source that only this check sees; it is among the module's resources.
    pub data: Option<ResourceKey>,
    /// `assert` blocks, in order.
    pub asserts: Vec<CheckRule>,
    /// Where it is declared.
    pub declared: Declared,
}

impl CheckRule {
    /// Reads any block that is made of a condition and a message.
    pub(crate) fn decode(decoder: &mut Decoder<'_>, block: &Block) -> Self {
        let mut rule = Self { condition: None, error_message: None, header: block.header_span };
        let kind = &block.kind.name;
        if decoder.is_override {
            decoder.error(
                format!("Can't override {kind} blocks"),
                format!("Override files cannot override {:?} blocks.", kind.as_str()),
                block.header_span,
            );
            return rule;
        }
        let schema = BodySchema::new().required("condition").required("error_message");
        let content = decoder.content(&block.body, &schema);
        if let Some(attribute) = content.attr("condition") {
            if attribute.expr.references().is_empty() {
                decoder.error(
                    format!("Invalid {kind} expression"),
                    "The condition expression must refer to at least one object from elsewhere in the configuration, or \
                     else its result would not be checking anything.",
                    attribute.expr.span,
                );
            }
            rule.condition = Some(Arc::clone(&attribute.expr));
        }
        rule.error_message = content.attr("error_message").map(|attribute| Arc::clone(&attribute.expr));
        rule
    }

    /// Its expressions.
    pub fn exprs(&self) -> impl Iterator<Item = &Arc<Expr>> {
        self.condition.iter().chain(&self.error_message)
    }

    /// Complains if the condition of a resource refers to that resource other than by `self`.
    pub(crate) fn refuse_self_reference(&self, decoder: &mut Decoder<'_>, kind: &str, key: &ResourceKey) {
        for expr in self.exprs() {
            let refers = expr.references().into_iter().any(|traversal| {
                Reference::parse(traversal).is_ok_and(|reference| match reference.subject {
                    Subject::Resource { resource, .. } => resource == *key,
                    _ => false,
                })
            });
            if refers {
                decoder.error(
                    format!("Invalid reference in {kind}"),
                    format!("Configuration for {key} may not refer to itself."),
                    expr.span,
                );
            }
        }
    }
}

impl Check {
    /// Reads a `check` block. Its data source belongs to the module and is handed out beside it.
    pub(crate) fn decode(decoder: &mut Decoder<'_>, block: &Block) -> (Self, Option<Resource>) {
        let name = label(block, 0);
        let mut check =
            Self { name: name.text.clone(), data: None, asserts: Vec::new(), declared: Declared::of(block) };
        if decoder.is_override {
            decoder.error(
                "Can't override check blocks",
                "Override files cannot override check blocks.",
                block.header_span,
            );
            return (check, None);
        }
        let schema = BodySchema::new().block("data", &["type", "name"]).block("assert", &[]);
        let content = decoder.content(&block.body, &schema);
        decoder.check_name(&name, "Invalid check block name");

        let mut data: Option<Resource> = None;
        for inner in &content.blocks {
            let errors_before = decoder.diagnostics.len();
            if inner.kind.name == "assert" {
                let rule = CheckRule::decode(decoder, inner);
                if decoder.diagnostics.len() == errors_before {
                    check.asserts.push(rule);
                }
                continue;
            }
            if let Some(first) = &data {
                let place = decoder.place(first.declared.header);
                decoder.error(
                    "Multiple data resource blocks",
                    format!("This check block already has a data resource defined at {place}."),
                    inner.header_span,
                );
                continue;
            }
            let mut resource = resource::decode_data(decoder, inner, Placement::InCheck);
            if decoder.diagnostics.len() == errors_before {
                resource.check = Some(check.name.clone());
                check.data = Some(resource.key.clone());
                data = Some(resource);
            }
        }
        if check.asserts.is_empty() {
            decoder.error("Zero assert blocks", "Check blocks must have at least one assert block.", block.header_span);
        }
        (check, data)
    }
}
