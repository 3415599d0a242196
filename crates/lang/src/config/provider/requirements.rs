//! `required_providers`: which provider each local name of a module means.

use std::collections::BTreeMap;

use groma_model::address::provider_part;
use groma_model::span::Span;
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_syntax::ast::{Expr, ObjectItem, Step};
use groma_syntax::body::{Attribute, Block};

use super::source;
use crate::config::read::{Decoder, constant_value};
use crate::config::{ProviderConfigKey, ProviderSource, VersionConstraint};

/// All of `required_providers`.
#[derive(Debug, Clone, Default)]
pub struct RequiredProviders {
    /// By local name.
    pub entries: BTreeMap<Str, RequiredProvider>,
    /// The header of the block; None if there is no block.
    pub header: Option<Span>,
}

/// One entry of `required_providers`.
#[derive(Debug, Clone)]
pub struct RequiredProvider {
    /// The local name.
    pub name: Str,
    /// `source` as written.
    pub source: Option<Str>,
    /// Which provider it is.
    pub provider: ProviderSource,
    /// `version`
    pub version: Option<VersionConstraint>,
    /// `configuration_aliases`
    pub aliases: Vec<ProviderConfigKey>,
    /// Where its value stands.
    pub span: Span,
}

impl RequiredProviders {
    /// The provider that a local name means.
    pub fn provider_of(&self, name: &str) -> ProviderSource {
        match self.entries.get(name) {
            Some(entry) => entry.provider.clone(),
            None => source::implied(name),
        }
    }

    /// Reads a `required_providers` block.
    pub(crate) fn decode(decoder: &mut Decoder<'_>, block: &Block) -> Self {
        let mut all = Self { entries: BTreeMap::new(), header: Some(block.header_span) };
        let (attributes, diagnostics) = block.body.just_attributes();
        let failed = diagnostics.has_errors();
        decoder.diagnostics.extend(diagnostics);
        if failed {
            return all;
        }
        for attribute in &attributes {
            if let Some(entry) = RequiredProvider::decode(decoder, attribute) {
                all.entries.insert(entry.name.clone(), entry);
            }
        }
        all
    }
}

impl RequiredProvider {
    fn decode(decoder: &mut Decoder<'_>, attribute: &Attribute) -> Option<Self> {
        let name = attribute.name.name.clone();
        let span = attribute.expr.span;
        // Long ago the value was just a version.
        let (value, problems) = constant_value(decoder.map, &attribute.expr);
        if !problems.has_errors() && value.ty().is_primitive() {
            let version = VersionConstraint::decode(decoder, attribute);
            let provider = decoder.implied_provider(&name, span)?;
            return Some(Self { name, source: None, provider, version, aliases: Vec::new(), span });
        }
        if !decoder.check_provider_name(&name, span) {
            return None;
        }
        let Ok(items) = attribute.expr.as_map() else {
            decoder.error(
                "Invalid required_providers object",
                "required_providers entries must be strings or objects.",
                span,
            );
            return None;
        };
        let errors_before = decoder.diagnostics.len();
        let mut draft = Draft::default();
        for item in items {
            if !draft.take(decoder, item, &name, attribute.span) {
                break;
            }
        }
        if decoder.diagnostics.len() > errors_before {
            return None;
        }
        let provider = match draft.provider {
            Some(provider) => provider,
            None => decoder.implied_provider(&name, span)?,
        };
        Some(Self { name, source: draft.source, provider, version: draft.version, aliases: draft.aliases, span })
    }
}

impl Decoder<'_> {
    fn implied_provider(&mut self, name: &str, at: Span) -> Option<ProviderSource> {
        match provider_part(name) {
            Ok(name) => Some(source::implied(&name)),
            Err(problem) => {
                self.error("Invalid provider name", problem, at);
                None
            }
        }
    }
}

#[derive(Default)]
struct Draft {
    source: Option<Str>,
    provider: Option<ProviderSource>,
    version: Option<VersionConstraint>,
    aliases: Vec<ProviderConfigKey>,
}

impl Draft {
    /// Takes one item of the object. Returns false if the rest is not worth looking at.
    fn take(&mut self, decoder: &mut Decoder<'_>, item: &ObjectItem, name: &Str, whole: Span) -> bool {
        let Some(key) = object_key(decoder, &item.key) else { return true };
        let value = &item.value;
        match key.as_str() {
            "version" => match constant_text(decoder, value) {
                None => {
                    decoder.error("Invalid version constraint", "Version must be specified as a string.", value.span);
                }
                Some(text) => match VersionConstraint::parse(&text, whole) {
                    Some(version) => self.version = Some(version),
                    None => decoder.error(
                        "Invalid version constraint",
                        "This string does not use correct version constraint syntax.",
                        value.span,
                    ),
                },
            },
            "source" => match constant_text(decoder, value) {
                None => decoder.error("Invalid source", "Source must be specified as a string.", value.span),
                Some(text) => match ProviderSource::parse_source(&text) {
                    Ok(provider) => {
                        self.provider = Some(provider);
                        self.source = Some(text);
                    }
                    Err(problem) => decoder.error(problem.summary, problem.detail, value.span),
                },
            },
            "configuration_aliases" => self.take_aliases(decoder, value, name),
            _ => {
                decoder.error(
                    "Invalid required_providers object",
                    "required_providers objects can only contain \"version\", \"source\" and \"configuration_aliases\" \
                     attributes. To configure a provider, use a \"provider\" block.",
                    item.key.span,
                );
                return false;
            }
        }
        true
    }

    fn take_aliases(&mut self, decoder: &mut Decoder<'_>, value: &Expr, name: &Str) {
        const SUMMARY: &str = "Invalid configuration_aliases value";
        for item in decoder.list(value) {
            let Some(traversal) = decoder.traversal(item) else { continue };
            let alias = match traversal.steps.as_slice() {
                [] => None,
                // What follows the alias is not looked at, as in OpenTofu.
                [Step::Attr { name, .. }, ..] => Some(name.clone()),
                [Step::Index { .. }, ..] => {
                    decoder.error(
                        SUMMARY,
                        "Configuration aliases can only contain references to local provider configuration names in \
                         the format of provider.alias",
                        value.span,
                    );
                    continue;
                }
            };
            if traversal.root.name != *name {
                decoder.error(
                    SUMMARY,
                    format!(
                        "Configuration aliases must be prefixed with the provider name. Expected {:?}, but found {:?}.",
                        name.as_str(),
                        traversal.root.name.as_str()
                    ),
                    value.span,
                );
                continue;
            }
            self.aliases.push(ProviderConfigKey { name: name.clone(), alias });
        }
    }
}

/// The key of an object item: a bare word or a constant string.
fn object_key(decoder: &mut Decoder<'_>, key: &Expr) -> Option<Str> {
    if let Some(text) = key.as_constant_str() {
        return Some(text);
    }
    if let Some(word) = key.as_keyword() {
        return Some(word);
    }
    let errors_before = decoder.diagnostics.len();
    let value = decoder.constant(key);
    if decoder.diagnostics.len() == errors_before && value.as_str().is_none() {
        decoder.error("Invalid Attribute", "Invalid attribute value for provider requirement.", key.span);
    }
    value.as_str().map(Str::from)
}

/// A constant string, without a complaint if it is none.
fn constant_text(decoder: &Decoder<'_>, expr: &Expr) -> Option<Str> {
    let (value, diagnostics) = constant_value(decoder.map, expr);
    if diagnostics.has_errors() || value.ty() != Type::String {
        return None;
    }
    value.as_str().map(Str::from)
}
