//! `provider` blocks, `required_providers`, and references to provider configurations.

use std::collections::BTreeMap;
use std::sync::Arc;

use groma_model::span::Span;
use groma_model::text::Str;
use groma_syntax::ast::Expr;
use groma_syntax::body::Body;

use super::{Declared, VersionConstraint};

/// How a module names a provider configuration: `name` or `name.alias`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProviderConfigKey {
    /// The local name of the provider.
    pub name: Str,
    /// The alias, if it is not the default configuration.
    pub alias: Option<Str>,
}

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
    /// Where it is declared.
    pub declared: Declared,
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

/// The global name of a provider: `host/namespace/type`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProviderSource {
    /// The registry's host name.
    pub host: Str,
    /// The namespace in that registry.
    pub namespace: Str,
    /// The type.
    pub kind: Str,
}
