//! `import` blocks.

use std::sync::Arc;

use groma_model::span::Span;
use groma_model::text::Str;
use groma_syntax::ast::Expr;

use super::provider::ProviderSource;
use super::{ProviderRef, ResourceKey};

/// `import { to, id }`
#[derive(Debug, Clone)]
pub struct Import {
    /// The address of the instance; instance keys may be expressions. None only if the declaration is broken.
    pub to: Option<Arc<Expr>>,
    /// The names of the modules on the way to the resource, and the resource.
    pub target: Option<(Vec<Str>, ResourceKey)>,
    /// `id`
    pub id: Option<Arc<Expr>>,
    /// `identity`
    pub identity: Option<Arc<Expr>>,
    /// `for_each`
    pub for_each: Option<Arc<Expr>>,
    /// `provider`, if given.
    pub provider_ref: Option<ProviderRef>,
    /// Which provider it belongs to.
    pub provider: Option<ProviderSource>,
    /// The header of its block.
    pub header: Span,
}
