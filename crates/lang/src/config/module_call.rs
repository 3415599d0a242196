//! `module` blocks.

use std::collections::BTreeMap;
use std::sync::Arc;

use groma_model::span::Span;
use groma_model::text::Str;
use groma_syntax::ast::{Expr, Traversal};
use groma_syntax::body::{Attribute, Block, Body, BodySchema, Content};

use super::read::{Decoder, label, relaxed};
use super::{Declared, ProviderRef, Repetition};

/// Names that mean something inside a `module` block, so that no variable can have them.
pub(crate) const RESERVED_NAMES: [&str; 10] =
    ["source", "version", "count", "for_each", "depends_on", "providers", "_", "lifecycle", "locals", "provider"];

/// `module "name" { … }`
#[derive(Debug, Clone)]
pub struct ModuleCall {
    /// Its name.
    pub name: Str,
    /// Where the module comes from, evaluated statically. None only if the declaration is broken.
    pub source: Option<Arc<Expr>>,
    /// `version`, evaluated statically.
    pub version: Option<Attribute>,
    /// The values of the module's variables.
    pub config: Body,
    /// `count`, `for_each` or `enabled`.
    pub repetition: Repetition,
    /// `providers`
    pub providers: Vec<PassedProvider>,
    /// `depends_on`
    pub depends_on: Vec<Traversal>,
    /// Where it is declared.
    pub declared: Declared,
}

/// One entry of `providers`: `in_child = in_parent`.
#[derive(Debug, Clone)]
pub struct PassedProvider {
    /// The configuration as the called module names it.
    pub in_child: ProviderRef,
    /// The configuration as the caller names it.
    pub in_parent: ProviderRef,
}

impl ModuleCall {
    /// Reads a `module` block.
    pub(crate) fn decode(decoder: &mut Decoder<'_>, block: &Block) -> Self {
        let name = label(block, 0);
        let schema = ["version", "count", "for_each", "depends_on", "providers"]
            .into_iter()
            .fold(BodySchema::new().required("source"), BodySchema::optional)
            .block("_", &[])
            .block("lifecycle", &[])
            .block("locals", &[])
            .block("provider", &["type"]);
        let (content, config) = decoder.partial_content(&block.body, &relaxed(schema, decoder.is_override));
        decoder.check_name(&name, "Invalid module instance name");
        let mut call = Self {
            name: name.text,
            source: content.attr("source").map(|attribute| Arc::clone(&attribute.expr)),
            version: content.attr("version").cloned(),
            config,
            repetition: Repetition::Once,
            providers: Vec::new(),
            depends_on: decoder.depends_on(&content),
            declared: Declared::of(block),
        };
        if let Some(attribute) = content.attr("providers") {
            call.providers = decode_providers(decoder, &attribute.expr);
        }
        let count = content.attr("count");
        let for_each = content.attr("for_each");
        if let Some(attribute) = count {
            call.repetition = Repetition::Count(Arc::clone(&attribute.expr));
        }
        if let Some(attribute) = for_each {
            call.repetition = Repetition::ForEach(Arc::clone(&attribute.expr));
        }
        let enabled = call.decode_blocks(decoder, &content);
        let span = |attribute: Option<&Attribute>| attribute.map(|attribute| attribute.name.span);
        decoder.exclusive_repetition(span(count), enabled, span(for_each), "module instances");
        call
    }

    fn decode_blocks(&mut self, decoder: &mut Decoder<'_>, content: &Content) -> Option<Span> {
        let (mut seen_lifecycle, mut seen_escape, mut enabled) = (None, None, None);
        for inner in &content.blocks {
            match inner.kind.name.as_str() {
                "lifecycle" => {
                    let already = "This module call already has a lifecycle block";
                    if decoder.only_once(&mut seen_lifecycle, inner, "Duplicate lifecycle block", already) {
                        let content = decoder.content(&inner.body, &BodySchema::new().optional("enabled"));
                        if let Some(attribute) = content.attr("enabled") {
                            self.repetition = Repetition::Enabled(Arc::clone(&attribute.expr));
                            enabled = Some(attribute.name.span);
                        }
                    }
                }
                "_" => decoder.escaping_block(&mut seen_escape, inner, &mut self.config, "module input variables"),
                _ => decoder.reserved_block(inner, "module"),
            }
        }
        enabled
    }
}

/// Reads a map of provider configurations: those of a module as it names them, to those of its caller.
pub(super) fn decode_providers(decoder: &mut Decoder<'_>, expr: &Expr) -> Vec<PassedProvider> {
    let items = match expr.as_map() {
        Ok(items) => items,
        Err(diagnostic) => {
            decoder.diagnostics.push(diagnostic);
            return Vec::new();
        }
    };
    let mut passed = Vec::new();
    let mut seen: BTreeMap<super::ProviderConfigKey, Span> = BTreeMap::new();
    for item in items {
        let in_child = ProviderRef::decode(decoder, &item.key, "providers");
        let in_parent = ProviderRef::decode(decoder, &item.value, "providers");
        let (Some(in_child), Some(in_parent)) = (in_child, in_parent) else { continue };
        if let Some(first) = seen.get(&in_child.key) {
            let place = decoder.place(*first);
            decoder.error(
                "Duplicate provider address",
                format!(
                    "A provider configuration was already passed to {} at {place}. \
                     Each child provider configuration can be assigned only once.",
                    in_child.key
                ),
                item.value.span,
            );
            continue;
        }
        seen.insert(in_child.key.clone(), item.key.span.to(item.value.span));
        passed.push(PassedProvider { in_child, in_parent });
    }
    passed
}
