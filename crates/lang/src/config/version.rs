//! Version constraints of modules, providers and the core.

use groma_model::span::Span;
use groma_model::text::Str;

/// A version constraint as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionConstraint {
    /// Its text, e.g. `>= 1.2, < 2.0`.
    pub text: Str,
    /// Where it is written.
    pub span: Span,
}
