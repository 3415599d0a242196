//! Version constraints as a configuration has them. What they mean is in the model.

use groma_model::span::Span;
use groma_model::text::Str;
use groma_model::version::{Comparison, Constraints, Version};
use groma_syntax::body::Attribute;

use super::read::Decoder;

/// The OpenTofu version whose language this is.
pub const COMPATIBLE_VERSION: &str = "1.12.6";

/// A version constraint with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionConstraint {
    /// As written, e.g. `>= 1.2, < 2.0`.
    pub text: Str,
    /// What it says.
    pub parts: Vec<Comparison>,
    /// Where it is written.
    pub span: Span,
}

impl VersionConstraint {
    /// Reads comparisons that are separated by commas.
    pub fn parse(text: &str, span: Span) -> Option<VersionConstraint> {
        Some(VersionConstraint { text: text.into(), parts: Constraints::parse(text)?.parts, span })
    }

    /// Whether a version satisfies all of it.
    pub fn admits(&self, version: &Version) -> bool {
        self.parts.iter().all(|part| part.admits(version))
    }

    /// Reads an argument that is a constant constraint. None if it is null, or wrong and reported.
    pub(crate) fn decode(decoder: &mut Decoder<'_>, attribute: &Attribute) -> Option<VersionConstraint> {
        let errors_before = decoder.diagnostics.len();
        let value = decoder.constant(&attribute.expr);
        if decoder.diagnostics.len() > errors_before {
            return None;
        }
        let name = &attribute.name.name;
        let problem = match groma_model::convert::convert(&value, &groma_model::ty::Type::String) {
            Ok(value) if value.is_null() || !value.is_known() => return None,
            Ok(value) => match value.as_str().and_then(|text| Self::parse(text, attribute.span)) {
                Some(constraint) => return Some(constraint),
                None => "This string does not use correct version constraint syntax.".to_owned(),
            },
            Err(_) => format!("A string value is required for {name}."),
        };
        decoder.error("Invalid version constraint", problem, attribute.expr.span);
        None
    }
}
