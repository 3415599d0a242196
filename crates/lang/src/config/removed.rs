//! `removed` blocks.

use groma_model::span::Span;
use groma_syntax::ast::Traversal;

use super::Provisioner;

/// `removed { from, lifecycle { destroy } }`
#[derive(Debug, Clone)]
pub struct Removed {
    /// What is not declared any more. None only if the declaration is broken.
    pub from: Option<Traversal>,
    /// Whether the object is destroyed; otherwise it is forgotten.
    pub destroy: bool,
    /// Destroy-time provisioners, in order.
    pub provisioners: Vec<Provisioner>,
    /// The header of its block.
    pub header: Span,
}
