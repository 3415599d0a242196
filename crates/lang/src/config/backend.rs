//! What stands in `terraform` blocks besides versions and required providers: `backend`, `cloud`, `encryption`, `provider_meta`.

use groma_model::span::Span;
use groma_model::text::Str;
use groma_syntax::body::Body;

/// `backend "kind" { … }`
#[derive(Debug, Clone)]
pub struct Backend {
    /// Its kind, e.g. `local`.
    pub kind: Str,
    /// Where the kind stands.
    pub kind_span: Span,
    /// Its settings, evaluated statically.
    pub config: Body,
    /// The header of its block.
    pub header: Span,
}

/// `cloud { … }`
#[derive(Debug, Clone)]
pub struct Cloud {
    /// Its settings.
    pub config: Body,
    /// The header of its block.
    pub header: Span,
}

/// `provider_meta "name" { … }`
#[derive(Debug, Clone)]
pub struct ProviderMeta {
    /// Local name of the provider.
    pub provider: Str,
    /// Where the name stands.
    pub provider_span: Span,
    /// Constant settings for the provider's own use.
    pub config: Body,
    /// The header of its block.
    pub header: Span,
}

/// `encryption { … }`
#[derive(Debug, Clone)]
pub struct Encryption {
    /// Its settings, evaluated statically.
    pub config: Body,
    /// The header of its block.
    pub header: Span,
}
