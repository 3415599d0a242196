//! `resource`, `data` and `ephemeral` blocks.

use std::fmt;
use std::sync::Arc;

use groma_model::span::Span;
use groma_model::text::Str;
use groma_syntax::ast::{Expr, Step, Traversal};
use groma_syntax::body::Body;

use super::provider::ProviderSource;
use super::{CheckRule, Connection, Declared, ProviderRef, Provisioner, Repetition};

/// What kind of object a block stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ResourceMode {
    /// `resource`
    Managed,
    /// `data`
    Data,
    /// `ephemeral`
    Ephemeral,
}

/// How a module names a resource: `kind.name`, `data.kind.name`, `ephemeral.kind.name`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResourceKey {
    /// Managed, data or ephemeral.
    pub mode: ResourceMode,
    /// Its type, the first label.
    pub kind: Str,
    /// Its name, the second label.
    pub name: Str,
}

impl fmt::Display for ResourceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let prefix = match self.mode {
            ResourceMode::Managed => "",
            ResourceMode::Data => "data.",
            ResourceMode::Ephemeral => "ephemeral.",
        };
        write!(f, "{prefix}{}.{}", self.kind, self.name)
    }
}

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
