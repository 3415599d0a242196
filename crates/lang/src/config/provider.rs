//! `provider` blocks and references to provider configurations. Which provider a name means is in [`requirements`].

use std::sync::Arc;

use groma_model::address::provider_part;
use groma_model::span::Span;
use groma_model::text::Str;
use groma_model::value::Value;
use groma_syntax::ast::{Expr, ExprKind, Literal, Step, StepKey, Template, TemplateKind, TemplatePart};
use groma_syntax::body::{Block, Body, BodySchema, Content};
use groma_syntax::is_identifier;

use super::read::{Decoder, NAME_RULE, label};
use super::{Declared, ProviderConfigKey, ProviderSource, VersionConstraint};

pub mod requirements;
pub mod source;

/// `provider "name" { … }`
#[derive(Debug, Clone)]
pub struct ProviderConfig {
    /// Name and alias.
    pub key: ProviderConfigKey,
    /// Where the alias stands.
    pub alias_span: Option<Span>,
    /// `version` (deprecated here).
    pub version: Option<VersionConstraint>,
    /// `for_each`, evaluated statically.
    pub for_each: Option<Arc<Expr>>,
    /// What the provider itself understands.
    pub config: Body,
    /// What it holds, if that was worked out elsewhere: then nothing is read from the body.
    pub evaluated: Option<Value>,
    /// Which provider it is.
    pub provider: ProviderSource,
    /// Where it is declared.
    pub declared: Declared,
}

impl ProviderConfig {
    /// Reads a `provider` block. None if its name cannot be that of a provider.
    pub(crate) fn decode(decoder: &mut Decoder<'_>, block: &Block) -> Option<Self> {
        let schema = ["alias", "version", "for_each", "count", "depends_on", "source"]
            .into_iter()
            .fold(BodySchema::new(), BodySchema::optional)
            .block("_", &[])
            .block("lifecycle", &[])
            .block("locals", &[]);
        let (content, config) = decoder.partial_content(&block.body, &schema);
        let name = label(block, 0);
        if !decoder.check_provider_name(&name.text, block.header_span) {
            return None;
        }
        let mut provider = Self {
            provider: source::implied(&name.text),
            key: ProviderConfigKey { name: name.text, alias: None },
            alias_span: None,
            version: None,
            for_each: content.attr("for_each").map(|attribute| Arc::clone(&attribute.expr)),
            config,
            evaluated: None,
            declared: Declared::of(block),
        };
        provider.decode_alias(decoder, &content);
        if let Some(attribute) = content.attr("version") {
            decoder.warning(
                "Version constraints inside provider configuration blocks are deprecated",
                "To silence this warning, move the provider version constraint into the required_providers block.",
                attribute.expr.span,
            );
            provider.version = VersionConstraint::decode(decoder, attribute);
        }
        if let (None, Some(for_each)) = (&provider.key.alias, &provider.for_each) {
            decoder.error(
                "Alias required when using \"for_each\"",
                "The for_each argument is allowed only for provider configurations with an alias.",
                for_each.span,
            );
        }
        provider.refuse_reserved(decoder, &content);
        Some(provider)
    }

    fn decode_alias(&mut self, decoder: &mut Decoder<'_>, content: &Content) {
        let Some(attribute) = content.attr("alias") else { return };
        let alias = decoder.constant_string(attribute).unwrap_or_else(|| Str::new(""));
        self.alias_span = Some(attribute.expr.span);
        if !is_identifier(&alias) {
            decoder.diagnostics.push(groma_model::diag::Diagnostic::error(
                "Invalid provider configuration alias",
                format!("An alias must be a valid name. {NAME_RULE}"),
            ));
        }
        self.key.alias = Some(alias).filter(|alias| !alias.is_empty());
    }

    fn refuse_reserved(&mut self, decoder: &mut Decoder<'_>, content: &Content) {
        for name in ["count", "depends_on", "source"] {
            if let Some(attribute) = content.attr(name) {
                decoder.error(
                    "Reserved argument name in provider block",
                    format!("The provider argument name {name:?} is reserved for a future version."),
                    attribute.name.span,
                );
            }
        }
        let mut seen_escape = None;
        for inner in &content.blocks {
            if inner.kind.name == "_" {
                decoder.escaping_block(&mut seen_escape, inner, &mut self.config, "provider-specific");
            } else {
                decoder.reserved_block(inner, "provider");
            }
        }
    }
}

impl Decoder<'_> {
    /// Complains about a local name that is not written as providers are named. Returns whether it is fine.
    pub(super) fn check_provider_name(&mut self, name: &str, at: Span) -> bool {
        let detail = match provider_part(name) {
            Ok(normal) if normal == *name => return true,
            Ok(normal) => {
                format!(
                    "Provider names must be normalized. Replace {name:?} with {:?} to fix this error.",
                    normal.as_str()
                )
            }
            Err(problem) => format!("{name} is an invalid provider local name: {problem}"),
        };
        self.error("Invalid provider local name", detail, at);
        false
    }
}

/// A reference to a provider configuration: `name`, `name.alias` or `name.alias[key]`.
#[derive(Debug, Clone)]
pub struct ProviderRef {
    /// Name and alias.
    pub key: ProviderConfigKey,
    /// Where the name stands.
    pub name_span: Span,
    /// Where the alias stands.
    pub alias_span: Option<Span>,
    /// Chooses one instance of a configuration with `for_each`.
    pub instance: Option<Arc<Expr>>,
}

const BAD_REFERENCE: &str = "Invalid provider configuration reference";

impl ProviderRef {
    /// Reads a reference to a provider configuration, the value of the argument `argument`.
    pub(crate) fn decode(decoder: &mut Decoder<'_>, expr: &Expr, argument: &str) -> Option<Self> {
        // In the JSON syntax the reference stands in a string.
        if let Some(parsed) = expr.json_expr() {
            let failed = parsed.diagnostics.has_errors();
            decoder.diagnostics.extend(parsed.diagnostics);
            return if failed { None } else { Self::decode_native(decoder, &parsed.value, argument) };
        }
        Self::decode_native(decoder, expr, argument)
    }

    fn decode_native(decoder: &mut Decoder<'_>, expr: &Expr, argument: &str) -> Option<Self> {
        let (expr, mut instance, most_steps) = match &expr.kind {
            ExprKind::Index(index) => (&index.collection, Some(Arc::new(index.key.clone())), 1),
            _ => (expr, None, 2),
        };
        let expr = decoder.unquoted(expr, false);
        let Some(traversal) = expr.as_traversal().ok().filter(|found| found.steps.len() <= most_steps) else {
            let detail = if expr.is_native_string() {
                "A provider configuration reference must not be given in quotes.".to_owned()
            } else {
                format!(
                    "The {argument} argument requires a provider type name, optionally followed by a period and then \
                     a configuration alias and optional instance key."
                )
            };
            decoder.error(BAD_REFERENCE, detail, expr.span);
            return None;
        };
        if !decoder.check_provider_name(&traversal.root.name, traversal.root.span) {
            return None;
        }
        let mut key = ProviderConfigKey { name: traversal.root.name.clone(), alias: None };
        let mut alias_span = None;
        match traversal.steps.first() {
            Some(Step::Attr { name, span }) => {
                key.alias = Some(name.clone());
                alias_span = Some(*span);
            }
            Some(step @ Step::Index { .. }) => {
                decoder.error(
                    BAD_REFERENCE,
                    "Provider name must either stand alone or be followed by a period and then a configuration alias.",
                    step.span(),
                );
                return Some(Self { key, name_span: traversal.root.span, alias_span, instance });
            }
            None => {}
        }
        match traversal.steps.get(1) {
            Some(Step::Index { key, .. }) => instance = Some(Arc::new(constant_key(key, traversal.span))),
            Some(step @ Step::Attr { .. }) => decoder.error(
                BAD_REFERENCE,
                "Provider name must either stand alone or be followed by a period and then a configuration alias.",
                step.span(),
            ),
            None => {}
        }
        if key.alias.is_none() && instance.is_some() {
            decoder.error(
                BAD_REFERENCE,
                "Provider assignment requires an alias when specifying an instance key, in the form of \
                 provider.name[instance_key]",
                traversal.span,
            );
        }
        Some(Self { key, name_span: traversal.root.span, alias_span, instance })
    }
}

/// The constant index of a reference as an expression.
fn constant_key(key: &StepKey, span: Span) -> Expr {
    let kind = match key {
        StepKey::Number(number) => ExprKind::Literal(Literal::Number(number.clone())),
        StepKey::String(text) => ExprKind::Template(Box::new(Template {
            kind: TemplateKind::Quoted,
            parts: vec![TemplatePart::Literal { text: text.clone(), span }],
            raw: None,
        })),
    };
    Expr { kind, span }
}
