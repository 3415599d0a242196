//! `terraform { encryption { … } }`: how state and plan files are encrypted. Only read and checked here.

use std::sync::Arc;

use groma_model::diag::Diagnostics;
use groma_model::span::{SourceMap, Span};
use groma_model::text::Str;
use groma_syntax::ast::Expr;
use groma_syntax::body::{Block, Body, BodySchema, Content};

use super::read::{Decoder, label};

/// `encryption { … }`
#[derive(Debug, Clone)]
pub struct Encryption {
    /// `key_provider "kind" "name"` blocks.
    pub key_providers: Vec<EncryptionPart>,
    /// `method "kind" "name"` blocks.
    pub methods: Vec<EncryptionPart>,
    /// `state { … }`
    pub state: Option<EncryptionTarget>,
    /// `plan { … }`
    pub plan: Option<EncryptionTarget>,
    /// `remote_state_data_sources { default { … } }`
    pub remote_default: Option<EncryptionTarget>,
    /// `remote_state_data_sources { remote_state_data_source "name" { … } }`
    pub remote: Vec<(Str, EncryptionTarget)>,
    /// The header of its block.
    pub header: Span,
}

/// A key provider or a method.
#[derive(Debug, Clone)]
pub struct EncryptionPart {
    /// Its kind, the first label.
    pub kind: Str,
    /// Its name, the second label.
    pub name: Str,
    /// `encrypted_metadata_alias`, of key providers.
    pub metadata_alias: Option<Str>,
    /// Its settings, evaluated statically.
    pub config: Body,
    /// The header of its block.
    pub header: Span,
}

/// What is done with one kind of file.
#[derive(Debug, Clone, Default)]
pub struct EncryptionTarget {
    /// `enforced`
    pub enforced: bool,
    /// `method`, a reference to a method.
    pub method: Option<Arc<Expr>>,
    /// `fallback { … }`: what else may be read.
    pub fallback: Option<Box<EncryptionTarget>>,
}

impl Encryption {
    /// Reads an `encryption` block.
    pub(crate) fn decode(decoder: &mut Decoder<'_>, block: &Block) -> Self {
        Self::decode_body(decoder, &block.body, block.header_span)
    }

    /// Reads what would stand in an `encryption` block, from a text of its own.
    pub fn of_body(map: &SourceMap, body: &Body) -> (Self, Diagnostics) {
        let mut decoder = Decoder::new(map, true);
        let encryption = Self::decode_body(&mut decoder, body, body.missing_item_span());
        (encryption, decoder.diagnostics)
    }

    fn decode_body(decoder: &mut Decoder<'_>, body: &Body, header: Span) -> Self {
        let schema = BodySchema::new()
            .block("key_provider", &["type", "name"])
            .block("method", &["type", "name"])
            .block("state", &[])
            .block("plan", &[])
            .block("remote_state_data_sources", &[]);
        let content = decoder.content(body, &schema);
        let mut encryption = Self {
            key_providers: EncryptionPart::decode_all(decoder, &content, "key_provider", header),
            methods: EncryptionPart::decode_all(decoder, &content, "method", header),
            state: single(decoder, &content, "state").map(|block| EncryptionTarget::decode(decoder, block, true)),
            plan: single(decoder, &content, "plan").map(|block| EncryptionTarget::decode(decoder, block, true)),
            remote_default: None,
            remote: Vec::new(),
            header,
        };
        if let Some(remote) = single(decoder, &content, "remote_state_data_sources") {
            encryption.decode_remote(decoder, remote);
        }
        encryption
    }

    fn decode_remote(&mut self, decoder: &mut Decoder<'_>, block: &Block) {
        let schema = BodySchema::new().block("default", &[]).block("remote_state_data_source", &["name"]);
        let content = decoder.content(&block.body, &schema);
        let default = single(decoder, &content, "default");
        self.remote_default = default.map(|block| EncryptionTarget::decode(decoder, block, false));
        for inner in content.blocks_of("remote_state_data_source") {
            let name = label(inner, 0).text;
            if self.remote.iter().any(|(known, _)| *known == name) {
                decoder.error(
                    "Duplicate remote_data_source",
                    format!("Found multiple instances of remote_data_source.{name}"),
                    self.header,
                );
                continue;
            }
            let target = EncryptionTarget::decode(decoder, inner, false);
            self.remote.push((name, target));
        }
    }

    /// What an override file, or the environment, makes of it.
    pub fn overridden_by(&mut self, over: Encryption) {
        merge_parts(&mut self.key_providers, over.key_providers);
        merge_parts(&mut self.methods, over.methods);
        merge_targets(&mut self.state, over.state);
        merge_targets(&mut self.plan, over.plan);
        merge_targets(&mut self.remote_default, over.remote_default);
        for (name, target) in over.remote {
            match self.remote.iter_mut().find(|(known, _)| *known == name) {
                Some((_, base)) => base.overridden_by(target),
                None => self.remote.push((name, target)),
            }
        }
    }
}

impl EncryptionPart {
    fn decode_all(decoder: &mut Decoder<'_>, content: &Content, kind: &str, header: Span) -> Vec<Self> {
        let mut parts: Vec<Self> = Vec::new();
        for block in content.blocks_of(kind) {
            let (given, config) =
                decoder.partial_content(&block.body, &BodySchema::new().optional("encrypted_metadata_alias"));
            let alias = given.attr("encrypted_metadata_alias").filter(|_| kind == "key_provider");
            let part = Self {
                kind: label(block, 0).text,
                name: label(block, 1).text,
                metadata_alias: alias.and_then(|attribute| decoder.constant_string(attribute)),
                config,
                header: block.header_span,
            };
            if parts.iter().any(|other| other.kind == part.kind && other.name == part.name) {
                // Each of the two is complained about, at the block around them.
                for _ in 0..2 {
                    decoder.error(
                        format!("Duplicate {kind}"),
                        format!("Found multiple instances of {kind}.{}.{}", part.kind, part.name),
                        header,
                    );
                }
            }
            parts.push(part);
        }
        parts
    }
}

impl EncryptionTarget {
    fn decode(decoder: &mut Decoder<'_>, block: &Block, enforceable: bool) -> Self {
        let mut schema = BodySchema::new().optional("method").block("fallback", &[]);
        if enforceable {
            schema = schema.optional("enforced");
        }
        let content = decoder.content(&block.body, &schema);
        let enforced = content.attr("enforced").and_then(|attribute| decoder.constant_bool(attribute));
        let fallback = single(decoder, &content, "fallback");
        Self {
            enforced: enforced == Some(true),
            method: content.attr("method").map(|attribute| Arc::clone(&attribute.expr)),
            fallback: fallback.map(|block| Box::new(Self::decode(decoder, block, false))),
        }
    }

    fn overridden_by(&mut self, over: EncryptionTarget) {
        self.enforced |= over.enforced;
        self.method = over.method.or_else(|| self.method.take());
        self.fallback = over.fallback.or_else(|| self.fallback.take());
    }
}

/// The only block of a kind; a second one is an error.
fn single<'c>(decoder: &mut Decoder<'_>, content: &'c Content, kind: &str) -> Option<&'c Block> {
    let mut blocks = content.blocks.iter().filter(|block| block.kind.name == *kind);
    let first = blocks.next()?;
    if let Some(second) = blocks.next() {
        let place = decoder.place(first.header_span);
        decoder.error(
            format!("Duplicate {kind} block"),
            format!("Only one {kind} block is allowed. Another was defined at {place}."),
            second.header_span,
        );
    }
    Some(first)
}

fn merge_parts(base: &mut Vec<EncryptionPart>, over: Vec<EncryptionPart>) {
    for part in over {
        match base.iter_mut().find(|known| known.kind == part.kind && known.name == part.name) {
            Some(known) => known.config = known.config.overridden_by(&part.config),
            None => base.push(part),
        }
    }
}

fn merge_targets(base: &mut Option<EncryptionTarget>, over: Option<EncryptionTarget>) {
    match (base.as_mut(), over) {
        (Some(base), Some(over)) => base.overridden_by(over),
        (None, Some(over)) => *base = Some(over),
        (_, None) => {}
    }
}
