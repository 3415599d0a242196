//! `moved` blocks.

use groma_model::span::Span;
use groma_syntax::ast::Traversal;

/// `moved { from, to }`
#[derive(Debug, Clone)]
pub struct Moved {
    /// Where the object was. None only if the declaration is broken.
    pub from: Option<Traversal>,
    /// Where it is now. None only if the declaration is broken.
    pub to: Option<Traversal>,
    /// The header of its block.
    pub header: Span,
}
