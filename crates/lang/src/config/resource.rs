//! `resource`, `data` and `ephemeral` blocks. Their `lifecycle` blocks are read in `lifecycle.rs`.

use std::sync::Arc;

use groma_model::span::Span;
use groma_model::text::Str;
use groma_syntax::ast::{Expr, ExprKind, Step, Traversal};
use groma_syntax::body::{Block, Body, BodySchema, Content};

use super::provider::source;
use super::provisioner::{When, only_self_references};
use super::read::{Decoder, label};
use super::{
    CheckRule, Connection, Declared, ProviderConfigKey, ProviderRef, ProviderSource, Provisioner, Repetition,
    ResourceKey, ResourceMode,
};

mod lifecycle;

/// A `resource`, `data` or `ephemeral` block.
#[derive(Debug, Clone)]
pub struct Resource {
    /// Mode, type and name.
    pub key: ResourceKey,
    /// What the provider's schema describes.
    pub config: Body,
    /// `count`, `for_each` or `enabled`.
    pub repetition: Repetition,
    /// `provider`, if given.
    pub provider_ref: Option<ProviderRef>,
    /// Which provider it belongs to.
    pub provider: ProviderSource,
    /// `depends_on`
    pub depends_on: Vec<Traversal>,
    /// `lifecycle { precondition }`, in order.
    pub preconditions: Vec<CheckRule>,
    /// `lifecycle { postcondition }`, in order.
    pub postconditions: Vec<CheckRule>,
    /// What only managed resources have; empty for the others.
    pub managed: Managed,
    /// The name of the `check` block that it stands in.
    pub check: Option<Str>,
    /// Where it is declared.
    pub declared: Declared,
    /// Where its type stands.
    pub kind_span: Span,
}

/// What only managed resources have.
#[derive(Debug, Clone, Default)]
pub struct Managed {
    /// `lifecycle { create_before_destroy }`, if said.
    pub create_before_destroy: Option<bool>,
    /// `lifecycle { prevent_destroy }`
    pub prevent_destroy: Option<Arc<Expr>>,
    /// `lifecycle { destroy }`, if said.
    pub destroy: Option<Arc<Expr>>,
    /// `lifecycle { ignore_changes }`
    pub ignore_changes: IgnoreChanges,
    /// `lifecycle { replace_triggered_by }`
    pub replace_triggered_by: Vec<Expr>,
    /// `connection`
    pub connection: Option<Connection>,
    /// `provisioner` blocks, in order.
    pub provisioners: Vec<Provisioner>,
}

impl Resource {
    /// What one attribute, or the blocks of one type, refer to.
    pub fn references_in(&self, name: &str) -> Vec<Traversal> {
        let (content, rest, _) = self.config.partial_content(&BodySchema::new().optional(name));
        if let Some(attribute) = content.attr(name) {
            return attribute.expr.references().into_iter().cloned().collect();
        }
        let schema = BodySchema::new().block(name, &[]).block("dynamic", &["type"]);
        let (content, _, _) = rest.partial_content(&schema);
        let own = |block: &&Block| {
            block.kind.name == *name || block.labels.first().is_some_and(|label| label.text.as_str() == name)
        };
        content.blocks.iter().filter(own).flat_map(|block| block.body.references()).collect()
    }

    /// A managed resource without a block, for which something else in the configuration stands.
    pub fn stand_in(key: ResourceKey, provider: ProviderSource, place: Span) -> Self {
        Self {
            key,
            config: Body::empty(place),
            repetition: Repetition::Once,
            provider_ref: None,
            provider,
            depends_on: Vec::new(),
            preconditions: Vec::new(),
            postconditions: Vec::new(),
            managed: Managed::default(),
            check: None,
            declared: Declared { header: place, name: place, missing: place },
            kind_span: place,
        }
    }
}

/// `lifecycle { ignore_changes }`
#[derive(Debug, Clone, Default)]
pub enum IgnoreChanges {
    /// Changes count.
    #[default]
    None,
    /// `all`
    All,
    /// The listed attributes.
    Paths(Vec<RelativePath>),
}

/// A reference relative to the resource's own object.
#[derive(Debug, Clone, PartialEq)]
pub struct RelativePath {
    /// The steps, the first of which is an attribute.
    pub steps: Vec<Step>,
    /// All of it.
    pub span: Span,
}

/// The reference that an entry of `replace_triggered_by` is, without keys that are not constant.
pub fn trigger_target(expr: &Expr) -> Option<Traversal> {
    match &expr.kind {
        ExprKind::Traversal(traversal) => Some(Traversal::clone(traversal)),
        ExprKind::RelTraversal(relative) => {
            let mut traversal = trigger_target(&relative.base)?;
            traversal.steps.extend_from_slice(&relative.steps);
            traversal.span = expr.span;
            Some(traversal)
        }
        ExprKind::Index(index) => trigger_target(&index.collection),
        ExprKind::Parens(inner) => trigger_target(inner),
        _ => None,
    }
}

/// The keys in an entry of `replace_triggered_by` that are not constant.
pub fn trigger_keys(expr: &Expr) -> Vec<&Expr> {
    match &expr.kind {
        ExprKind::RelTraversal(relative) => trigger_keys(&relative.base),
        ExprKind::Index(index) => {
            let mut keys = trigger_keys(&index.collection);
            keys.push(&index.key);
            keys
        }
        ExprKind::Parens(inner) => trigger_keys(inner),
        _ => Vec::new(),
    }
}

/// Where a `data` block stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Placement {
    /// In a file.
    TopLevel,
    /// In a `check` block, which has fewer meta-arguments.
    InCheck,
}

/// Where `count`, `enabled` and `for_each` are written.
#[derive(Default)]
struct RepetitionSpans {
    count: Option<Span>,
    enabled: Option<Span>,
    for_each: Option<Span>,
}

fn meta_arguments() -> BodySchema {
    ["count", "for_each", "provider", "depends_on"].into_iter().fold(BodySchema::new(), BodySchema::optional)
}

fn managed_schema() -> BodySchema {
    meta_arguments()
        .block("locals", &[])
        .block("lifecycle", &[])
        .block("connection", &[])
        .block("provisioner", &["type"])
        .block("_", &[])
}

impl Resource {
    /// The local name and alias of the provider configuration that it uses.
    pub fn provider_key(&self) -> ProviderConfigKey {
        match &self.provider_ref {
            Some(reference) => reference.key.clone(),
            None => ProviderConfigKey { name: self.key.implied_provider().into(), alias: None },
        }
    }

    /// All conditions, preconditions first.
    pub fn conditions(&self) -> impl Iterator<Item = &CheckRule> {
        self.preconditions.iter().chain(&self.postconditions)
    }

    /// Reads what all three kinds have in common. The caller reads the blocks.
    fn start(
        decoder: &mut Decoder<'_>,
        mode: ResourceMode,
        block: &Block,
        content: &Content,
        config: Body,
    ) -> (Self, RepetitionSpans) {
        let (kind, name) = (label(block, 0), label(block, 1));
        let (bad_kind, bad_name) = match mode {
            ResourceMode::Managed => ("Invalid resource type name", "Invalid resource name"),
            ResourceMode::Data => ("Invalid data source name", "Invalid data resource name"),
            ResourceMode::Ephemeral => ("Invalid ephemeral resource type name", "Invalid ephemeral resource name"),
        };
        decoder.check_name(&kind, bad_kind);
        decoder.check_name(&name, bad_name);
        let mut resource = Self {
            provider: source::implied(&kind.text),
            key: ResourceKey { mode, ty: kind.text, name: name.text },
            config,
            repetition: Repetition::Once,
            provider_ref: None,
            depends_on: Vec::new(),
            preconditions: Vec::new(),
            postconditions: Vec::new(),
            managed: Managed::default(),
            check: None,
            declared: Declared::of(block),
            kind_span: kind.span,
        };
        let mut spans = RepetitionSpans::default();
        if let Some(attribute) = content.attr("count") {
            resource.repetition = Repetition::Count(Arc::clone(&attribute.expr));
            spans.count = Some(attribute.name.span);
        }
        if let Some(attribute) = content.attr("for_each") {
            resource.repetition = Repetition::ForEach(Arc::clone(&attribute.expr));
            spans.for_each = Some(attribute.name.span);
        }
        if let Some(attribute) = content.attr("provider") {
            resource.provider_ref = ProviderRef::decode(decoder, &attribute.expr, "provider");
        }
        resource.depends_on = decoder.depends_on(content);
        (resource, spans)
    }
}

/// Reads a `resource` block.
pub(crate) fn decode_managed(decoder: &mut Decoder<'_>, block: &Block) -> Resource {
    let (content, config) = decoder.partial_content(&block.body, &managed_schema());
    let (mut resource, mut spans) = Resource::start(decoder, ResourceMode::Managed, block, &content, config);
    let (mut seen_lifecycle, mut seen_connection, mut seen_escape) = (None, None, None);
    for inner in &content.blocks {
        match inner.kind.name.as_str() {
            "lifecycle" => {
                let already = "This resource already has a lifecycle block";
                if decoder.only_once(&mut seen_lifecycle, inner, "Duplicate lifecycle block", already) {
                    lifecycle::decode_managed(decoder, inner, &mut resource, &mut spans);
                }
            }
            "connection" => {
                let already = "This resource already has a connection block";
                if decoder.only_once(&mut seen_connection, inner, "Duplicate connection block", already) {
                    resource.managed.connection = Some(Connection::of(inner));
                }
            }
            "provisioner" => resource.managed.provisioners.extend(Provisioner::decode(decoder, inner)),
            "_" => decoder.escaping_block(&mut seen_escape, inner, &mut resource.config, "resource-type-specific"),
            _ => decoder.reserved_block(inner, "resource"),
        }
    }
    decoder.exclusive_repetition(spans.count, spans.enabled, spans.for_each, "resources");
    let has_destroy_provisioner = resource.managed.provisioners.iter().any(|one| one.when == When::Destroy);
    if let Some(connection) = resource.managed.connection.as_ref().filter(|_| has_destroy_provisioner) {
        only_self_references(decoder, &connection.config);
    }
    resource
}

/// Reads a `data` block.
pub(crate) fn decode_data(decoder: &mut Decoder<'_>, block: &Block, placement: Placement) -> Resource {
    let schema = meta_arguments().block("lifecycle", &[]).block("locals", &[]).block("_", &[]);
    let (content, config) = decoder.partial_content(&block.body, &schema);
    let (mut resource, mut spans) = Resource::start(decoder, ResourceMode::Data, block, &content, config);
    if placement == Placement::InCheck {
        for name in ["count", "for_each"] {
            if let Some(attribute) = content.attr(name) {
                decoder.error(
                    format!("Invalid \"{name}\" attribute"),
                    format!("The \"{name}\" meta-argument is not supported within nested data blocks."),
                    attribute.name.span,
                );
            }
        }
        resource.repetition = Repetition::Once;
        spans = RepetitionSpans::default();
    }
    let (mut seen_lifecycle, mut seen_escape) = (None, None);
    for inner in &content.blocks {
        match inner.kind.name.as_str() {
            "_" => decoder.escaping_block(&mut seen_escape, inner, &mut resource.config, "resource-type-specific"),
            "lifecycle" => {
                if placement == Placement::InCheck {
                    decoder.error(
                        "Invalid lifecycle block",
                        "Nested data blocks do not support \"lifecycle\" blocks as the lifecycle is managed by the \
                         containing block.",
                        inner.header_span,
                    );
                }
                let already = "This resource already has a lifecycle block";
                if decoder.only_once(&mut seen_lifecycle, inner, "Duplicate lifecycle block", already) {
                    lifecycle::decode_data(decoder, inner, &mut resource, &mut spans);
                }
            }
            _ => decoder.reserved_block(inner, "data"),
        }
    }
    decoder.exclusive_repetition(spans.count, spans.enabled, spans.for_each, "data sources");
    resource
}

/// Reads an `ephemeral` block.
pub(crate) fn decode_ephemeral(decoder: &mut Decoder<'_>, block: &Block) -> Resource {
    let (content, config) = decoder.partial_content(&block.body, &managed_schema());
    let (mut resource, mut spans) = Resource::start(decoder, ResourceMode::Ephemeral, block, &content, config);
    let (mut seen_lifecycle, mut seen_escape) = (None, None);
    for inner in &content.blocks {
        match inner.kind.name.as_str() {
            "lifecycle" => {
                let already = "This ephemeral resource already has a lifecycle block";
                if decoder.only_once(&mut seen_lifecycle, inner, "Duplicate lifecycle block", already) {
                    lifecycle::decode_ephemeral(decoder, inner, &mut resource, &mut spans);
                }
            }
            kind @ ("connection" | "provisioner") => decoder.error(
                "Invalid configuration block for ephemeral resource",
                format!(
                    "The block type \"{kind}\" cannot be used in ephemeral resources. \
                     This is meant to be used strictly in \"resource\" blocks."
                ),
                inner.header_span,
            ),
            "_" => decoder.escaping_block(&mut seen_escape, inner, &mut resource.config, "resource-type-specific"),
            _ => decoder.reserved_block(inner, "ephemeral"),
        }
    }
    decoder.exclusive_repetition(spans.count, spans.enabled, spans.for_each, "ephemeral resources");
    resource
}
