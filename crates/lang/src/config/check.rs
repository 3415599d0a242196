//! Conditions (`validation`, `precondition`, `postcondition`, `assert`) and `check` blocks.

use std::sync::Arc;

use groma_model::span::Span;
use groma_model::text::Str;
use groma_syntax::ast::Expr;

use super::{Declared, ResourceKey};

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
