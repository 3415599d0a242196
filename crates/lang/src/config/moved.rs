//! `moved` blocks.

use groma_model::span::Span;
use groma_syntax::body::{Block, BodySchema, Content};

use super::ResourceMode;
use super::addresses::{self, Keys, ObjectAddress};
use super::read::Decoder;

/// `moved { from, to }`
#[derive(Debug, Clone)]
pub struct Moved {
    /// Where the object was. None only if the declaration is broken.
    pub from: Option<ObjectAddress>,
    /// Where it is now. None only if the declaration is broken.
    pub to: Option<ObjectAddress>,
    /// The header of its block.
    pub header: Span,
}

impl Moved {
    /// Reads a `moved` block.
    pub(crate) fn decode(decoder: &mut Decoder<'_>, block: &Block) -> Self {
        let errors_before = decoder.diagnostics.len();
        let content = decoder.content(&block.body, &BodySchema::new().required("from").required("to"));
        let moved = Self {
            from: endpoint(decoder, &content, "from"),
            to: endpoint(decoder, &content, "to"),
            header: block.header_span,
        };
        for (side, address) in [("from", &moved.from), ("to", &moved.to)] {
            if !address.as_ref().is_some_and(may_move) {
                decoder.error(
                    "Invalid \"moved\" address",
                    format!("The resource referenced by the \"{side}\" attribute is not allowed to be moved."),
                    block.header_span,
                );
            }
        }
        if let (Some(from), Some(to)) = (&moved.from, &moved.to)
            && decoder.diagnostics.len() == errors_before
            && from.resource.is_some() != to.resource.is_some()
        {
            decoder.error(
                "Invalid \"moved\" addresses",
                "The \"from\" and \"to\" addresses must either both refer to resources or both refer to modules.",
                block.header_span,
            );
        }
        moved
    }
}

fn may_move(address: &ObjectAddress) -> bool {
    address.resource.as_ref().is_none_or(|(resource, _)| resource.mode != ResourceMode::Ephemeral)
}

fn endpoint(decoder: &mut Decoder<'_>, content: &Content, name: &str) -> Option<ObjectAddress> {
    let traversal = decoder.traversal(&content.attr(name)?.expr)?;
    match addresses::parse(&traversal, Keys::Allowed) {
        Ok(address) => Some(address),
        Err(diagnostic) => {
            decoder.diagnostics.push(*diagnostic);
            None
        }
    }
}
