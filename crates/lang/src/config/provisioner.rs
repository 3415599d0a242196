//! `provisioner` and `connection` blocks.

use groma_model::span::Span;
use groma_model::text::Str;
use groma_syntax::ast::{Step, Traversal};
use groma_syntax::body::{Block, Body, BodySchema, Content};

use super::read::{Decoder, label};

/// `provisioner "kind" { … }`
#[derive(Debug, Clone)]
pub struct Provisioner {
    /// Its kind, e.g. `local-exec`.
    pub kind: Str,
    /// Where the kind stands.
    pub kind_span: Span,
    /// What the provisioner itself understands.
    pub config: Body,
    /// Its own `connection`.
    pub connection: Option<Connection>,
    /// `when`
    pub when: When,
    /// `on_failure`
    pub on_failure: OnFailure,
    /// The header of its block.
    pub header: Span,
}

/// `connection { … }`
#[derive(Debug, Clone)]
pub struct Connection {
    /// Its settings.
    pub config: Body,
    /// The header of its block.
    pub header: Span,
}

/// When a provisioner runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// After the resource is made.
    Create,
    /// Before it is destroyed.
    Destroy,
}

/// What a failed provisioner means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnFailure {
    /// The operation fails.
    Fail,
    /// Nothing.
    Continue,
}

/// Provisioners that once existed.
const REMOVED: [&str; 4] = ["chef", "habitat", "puppet", "salt-masterless"];

impl Provisioner {
    /// Reads a `provisioner` block. None if its kind does not exist any more.
    pub(crate) fn decode(decoder: &mut Decoder<'_>, block: &Block) -> Option<Self> {
        let kind = label(block, 0);
        let schema = BodySchema::new()
            .optional("when")
            .optional("on_failure")
            .block("_", &[])
            .block("connection", &[])
            .block("lifecycle", &[]);
        let (content, config) = decoder.partial_content(&block.body, &schema);
        if REMOVED.contains(&kind.text.as_str()) {
            decoder.error(
                format!("The \"{}\" provisioner has been removed", kind.text),
                format!("The \"{}\" provisioner is deprecated and has been removed.", kind.text),
                kind.span,
            );
            return None;
        }
        let mut provisioner = Self {
            kind: kind.text,
            kind_span: kind.span,
            config,
            connection: None,
            when: decode_when(decoder, &content),
            on_failure: OnFailure::Fail,
            header: block.header_span,
        };
        if provisioner.when == When::Destroy {
            only_self_references(decoder, &provisioner.config);
        }
        provisioner.on_failure = decode_on_failure(decoder, &content);
        provisioner.decode_blocks(decoder, &content);
        Some(provisioner)
    }

    fn decode_blocks(&mut self, decoder: &mut Decoder<'_>, content: &Content) {
        let (mut seen_escape, mut seen_connection) = (None, None);
        for inner in &content.blocks {
            match inner.kind.name.as_str() {
                "_" => {
                    decoder.escaping_block(&mut seen_escape, inner, &mut self.config, "provisioner-type-specific");
                }
                "connection" => {
                    let already = "This provisioner already has a connection block";
                    if decoder.only_once(&mut seen_connection, inner, "Duplicate connection block", already) {
                        if self.when == When::Destroy {
                            only_self_references(decoder, &inner.body);
                        }
                        self.connection = Some(Connection::of(inner));
                    }
                }
                _ => decoder.reserved_block(inner, "provisioner"),
            }
        }
    }
}

impl Connection {
    /// The `connection` that a block is.
    pub(crate) fn of(block: &Block) -> Self {
        Self { config: block.body.clone(), header: block.header_span }
    }
}

fn decode_when(decoder: &mut Decoder<'_>, content: &Content) -> When {
    let Some(attribute) = content.attr("when") else { return When::Create };
    let expr = decoder.unquoted(&attribute.expr, true);
    match expr.as_keyword().as_deref() {
        Some("create") => When::Create,
        Some("destroy") => When::Destroy,
        _ => {
            decoder.error(
                "Invalid \"when\" keyword",
                "The \"when\" argument requires one of the following keywords: create or destroy.",
                expr.span,
            );
            When::Create
        }
    }
}

fn decode_on_failure(decoder: &mut Decoder<'_>, content: &Content) -> OnFailure {
    let Some(attribute) = content.attr("on_failure") else { return OnFailure::Fail };
    let expr = decoder.unquoted(&attribute.expr, true);
    match expr.as_keyword().as_deref() {
        Some("continue") => OnFailure::Continue,
        Some("fail") => OnFailure::Fail,
        _ => {
            decoder.error(
                "Invalid \"on_failure\" keyword",
                "The \"on_failure\" argument requires one of the following keywords: continue or fail.",
                expr.span,
            );
            OnFailure::Fail
        }
    }
}

/// Complains about references that cannot be followed while a resource is destroyed.
pub(crate) fn only_self_references(decoder: &mut Decoder<'_>, body: &Body) {
    let (attributes, _) = body.just_attributes();
    for attribute in attributes {
        for reference in attribute.expr.references() {
            if !allowed_at_destroy(reference) {
                decoder.error(
                    "Invalid reference from destroy provisioner",
                    "Destroy-time provisioners and their connection configurations may only reference attributes of \
                     the related resource, via 'self', 'count.index', or 'each.key'.\n\nReferences to other resources \
                     during the destroy phase can cause dependency cycles and interact poorly with \
                     create_before_destroy.",
                    attribute.expr.span,
                );
            }
        }
    }
}

fn allowed_at_destroy(reference: &Traversal) -> bool {
    let only_step = |wanted: &str| match reference.steps.as_slice() {
        [Step::Attr { name, .. }] => *name == *wanted,
        _ => false,
    };
    match reference.root.name.as_str() {
        "self" | "path" | "terraform" | "tofu" => true,
        "count" => only_step("index"),
        "each" => only_step("key"),
        _ => false,
    }
}
