//! `on_create_error` blocks: what becomes of an object whose provider has failed in the middle of making it.

use groma_syntax::body::{Block, BodySchema};

use crate::read::Reader;

/// `on_create_error "pattern" { … }`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OnCreateError {
    /// Whether the object is kept and repaired, instead of being replaced.
    pub keep: bool,
}

impl OnCreateError {
    pub(crate) fn decode(reader: &mut Reader<'_>, block: &Block) -> Option<Self> {
        let content = reader.content(block, &BodySchema::new().required("keep"));
        Some(Self { keep: reader.constant_bool(content.attr("keep")?)? })
    }
}
