//! Spans of what is done with resources. They are made for nobody unless somebody takes them; no values are in them.

use groma_model::address::AbsInstance;
use groma_model::diag::Diagnostics;
use tracing::Span;
use tracing::field::Empty;

/// What spans are made under that are sent.
const TARGET: &str = "groma::trace";

/// Something is done with an instance.
pub(crate) fn resource(doing: &str, address: &AbsInstance) -> Span {
    tracing::info_span!(
        target: TARGET,
        "resource",
        otel.name = format!("{doing} {}", address.instance.resource.ty),
        groma.resource.address = %address,
        groma.resource.type = %address.instance.resource.ty,
        groma.action = doing,
        otel.status_code = Empty,
    )
}

/// How what the current span is about has ended.
pub(crate) fn ended(found: &Diagnostics) {
    if found.has_errors() {
        Span::current().record("otel.status_code", "ERROR");
    }
}
