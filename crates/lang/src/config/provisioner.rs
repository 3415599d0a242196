//! `provisioner` and `connection` blocks.

use groma_model::span::Span;
use groma_model::text::Str;
use groma_syntax::body::Body;

/// `provisioner "kind" { … }`
#[derive(Debug, Clone)]
pub struct Provisioner {
    /// Its kind, e.g. `local-exec`.
    pub kind: Str,
    /// Where the kind stands.
    pub kind_span: Span,
    /// What the provisioner itself understands.
    pub config: Body,
    /// Its own `connection`.
    pub connection: Option<Connection>,
    /// `when`
    pub when: When,
    /// `on_failure`
    pub on_failure: OnFailure,
    /// The header of its block.
    pub header: Span,
}

/// `connection { … }`
#[derive(Debug, Clone)]
pub struct Connection {
    /// Its settings.
    pub config: Body,
    /// The header of its block.
    pub header: Span,
}

/// When a provisioner runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// After the resource is made.
    Create,
    /// Before it is destroyed.
    Destroy,
}

/// What a failed provisioner means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnFailure {
    /// The operation fails.
    Fail,
    /// Nothing.
    Continue,
}
