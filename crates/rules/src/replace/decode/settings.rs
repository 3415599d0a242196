//! `replace_settings` and `attachment` blocks.

use std::sync::Arc;

use groma_model::span::Span;
use groma_syntax::body::Block;

use super::arguments::Names;
use super::{ON_ERROR, ON_UNKNOWN, Reader};
use crate::glob::Glob;
use crate::replace::problem::Code;
use crate::replace::rule::{Attachment, Mode, ReplaceSettings};

const SETTINGS: Names =
    Names { known: &["mode", "catalogue", "disable_rules", "on_unknown", "on_error"], expression: None };

const ATTACHMENT: Names = Names { known: &["resource", "block", "types", "exclusive", "identity"], expression: None };

const MODES: &[(&str, Mode)] = &[("off", Mode::Off), ("warn", Mode::Warn), ("auto", Mode::Auto)];

impl Reader<'_> {
    pub(super) fn settings(&mut self, block: &Block) -> ReplaceSettings {
        let arguments = self.arguments_of(block, SETTINGS);
        ReplaceSettings {
            mode: self.choice(&arguments, "mode", MODES),
            catalogue: self.bool(&arguments, "catalogue"),
            disable_rules: self.globs(&arguments, "disable_rules"),
            on_unknown: self.choice(&arguments, "on_unknown", ON_UNKNOWN).unwrap_or_default(),
            on_error: self.choice(&arguments, "on_error", ON_ERROR).unwrap_or_default(),
        }
    }

    /// Reads an attachment. One name can stand for several things if they are for different resources.
    pub(super) fn add_attachment(&mut self, block: &Block) {
        let Some(attachment) = self.attachment(block) else { return };
        let is_same =
            |known: &&Arc<Attachment>| known.alias == attachment.alias && known.resource == attachment.resource;
        if let Some(earlier) = self.attachments.iter().find(is_same).and_then(|known| known.place) {
            let (alias, line) = (attachment.alias.as_str(), self.line(earlier));
            let detail = format!("There is an attachment named {alias:?} already, at {line}.");
            let place = attachment.place.unwrap_or(block.header_span);
            self.diagnostics.push(Code(1118).error("Duplicate name", detail).at(place));
            return;
        }
        self.attachments.push(Arc::new(attachment));
    }

    fn attachment(&mut self, block: &Block) -> Option<Attachment> {
        let label = block.labels.first()?;
        let arguments = self.arguments_of(block, ATTACHMENT);
        let attachment = Attachment {
            alias: label.text.clone(),
            place: Some(label.span),
            resource: self.words(&arguments, "resource").map(Glob::new),
            block: self.field(&arguments, "block"),
            types: self.globs(&arguments, "types"),
            exclusive: self.fields(&arguments, "exclusive"),
            identity: self.texts(&arguments, "identity").into_iter().map(|text| text.says).collect(),
        };
        if arguments.given("block").is_none() && arguments.given("types").is_none() {
            self.stands_for_nothing(block.body.missing_item_span());
        }
        Some(attachment)
    }

    fn stands_for_nothing(&mut self, at: Span) {
        let detail =
            "An attachment needs \"block\", a block of the object itself, or \"types\", the types of other objects.";
        self.diagnostics.push(Code(1101).error("Missing required argument", detail).at(at));
    }
}
