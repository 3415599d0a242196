//! `removed` blocks.

use groma_model::span::Span;
use groma_syntax::body::{Block, BodySchema, Content};

use super::addresses::{self, Keys, ObjectAddress};
use super::read::Decoder;
use super::{Provisioner, ResourceMode, When};

/// `removed { from, lifecycle { destroy } }`
#[derive(Debug, Clone)]
pub struct Removed {
    /// What is not declared any more, without keys. None only if the declaration is broken.
    pub from: Option<ObjectAddress>,
    /// Whether the object is destroyed, if said; otherwise it is forgotten.
    pub destroy: Option<bool>,
    /// Destroy-time provisioners, in order.
    pub provisioners: Vec<Provisioner>,
    /// The header of its block.
    pub header: Span,
}

impl Removed {
    /// Reads a `removed` block.
    pub(crate) fn decode(decoder: &mut Decoder<'_>, block: &Block) -> Self {
        let errors_before = decoder.diagnostics.len();
        let schema = BodySchema::new().required("from").block("lifecycle", &[]).block("provisioner", &["type"]);
        let content = decoder.content(&block.body, &schema);
        let mut removed = Self {
            from: decode_from(decoder, &content),
            destroy: None,
            provisioners: Vec::new(),
            header: block.header_span,
        };
        let mut seen_lifecycle = None;
        for inner in &content.blocks {
            if inner.kind.name == "provisioner" {
                removed.decode_provisioner(decoder, inner);
                continue;
            }
            let already = "The removed block already has a lifecycle block";
            if decoder.only_once(&mut seen_lifecycle, inner, "Duplicate lifecycle block", already) {
                let content = decoder.content(&inner.body, &BodySchema::new().optional("destroy"));
                if let Some(attribute) = content.attr("destroy") {
                    removed.destroy = Some(decoder.constant_bool(attribute).unwrap_or(false));
                }
            }
        }
        if decoder.diagnostics.len() == errors_before {
            removed.warn(decoder);
        }
        removed
    }

    fn decode_provisioner(&mut self, decoder: &mut Decoder<'_>, block: &Block) {
        let Some(provisioner) = Provisioner::decode(decoder, block) else { return };
        if provisioner.when != When::Destroy {
            decoder.error(
                "Invalid \"removed.provisioner\" block",
                "\"removed\" blocks can only contain destroy provisioners. \"removed.provisioner.when = destroy\" expected",
                block.header_span,
            );
        } else if self.from.as_ref().is_some_and(|from| from.resource.is_none()) {
            decoder.error(
                "Invalid \"removed\" block",
                "\"removed\" blocks containing \"provisioner\"s can only target resources. \
                 Found one block that is targeting a module",
                self.header,
            );
        } else {
            self.provisioners.push(provisioner);
        }
    }

    fn warn(&self, decoder: &mut Decoder<'_>) {
        if self.destroy.is_none() {
            decoder.warning(
                "Missing lifecycle from the removed block",
                "It is recommended for each 'removed' block configured to have also the 'lifecycle' block defined. \
                 Without it, the object is forgotten and not destroyed.",
                self.header,
            );
        } else if self.destroy == Some(false) && !self.provisioners.is_empty() {
            decoder.warning(
                "Removed block provisioners will not be executed",
                "The 'removed' block has marked the resource to be forgotten and not destroyed. \
                 Therefore, the provisioners configured for it will not be executed.",
                self.header,
            );
        }
    }
}

fn decode_from(decoder: &mut Decoder<'_>, content: &Content) -> Option<ObjectAddress> {
    let traversal = decoder.traversal(&content.attr("from")?.expr)?;
    let address = match addresses::parse(&traversal, Keys::Refused) {
        Ok(address) => address,
        Err(diagnostic) => {
            decoder.diagnostics.push(*diagnostic);
            return None;
        }
    };
    let (summary, kind) = match address.resource.as_ref().map(|(resource, _)| resource.mode) {
        Some(ResourceMode::Data) => ("Data source address is not allowed", "Data sources"),
        Some(ResourceMode::Ephemeral) => ("Ephemeral resource address is not allowed", "Ephemeral resources"),
        Some(ResourceMode::Managed) | None => return Some(address),
    };
    decoder.error(
        summary,
        format!("{kind} cannot be destroyed, and therefore, 'removed' blocks are not allowed to target them."),
        traversal.span,
    );
    None
}
