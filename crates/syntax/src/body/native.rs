//! Reading a body of the native syntax through a schema.

use std::collections::BTreeSet;
use std::sync::Arc;

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::text::{Str, suggestion};

use super::{Attribute, Block, BlockSchema, BodySchema, Content, Hidden, NativeItems};

pub(super) fn content(items: &NativeItems, hidden: &Hidden, schema: &BodySchema) -> (Content, Diagnostics) {
    let (content, rest, mut diagnostics) = partial_content(items, hidden, schema);
    for attribute in &items.attributes {
        if !rest.attributes.contains(&attribute.name.name) {
            diagnostics.push(unsupported_argument(attribute, &content, schema));
        }
    }
    for block in &items.blocks {
        if !rest.blocks.contains(&block.kind.name) {
            diagnostics.push(unsupported_block(block, schema));
        }
    }
    (content, diagnostics)
}

fn unsupported_argument(attribute: &Attribute, content: &Content, schema: &BodySchema) -> Diagnostic {
    let name = &attribute.name.name;
    let unused = schema.attributes.iter().filter(|known| content.attr(&known.name).is_none());
    let advice = match suggestion(name, unused.map(|known| known.name.as_str())) {
        Some(meant) => format!(" Did you mean {meant:?}?"),
        None if schema.blocks.iter().any(|block| block.kind == *name) => {
            format!(" Did you mean to define a block of type {:?}?", name.as_str())
        }
        None => String::new(),
    };
    let detail = format!("An argument named {:?} is not expected here.{advice}", name.as_str());
    Diagnostic::error("Unsupported argument", detail).at(attribute.name.span)
}

fn unsupported_block(block: &Block, schema: &BodySchema) -> Diagnostic {
    let kind = &block.kind.name;
    let advice = match suggestion(kind, schema.blocks.iter().map(|known| known.kind.as_str())) {
        Some(meant) => format!(" Did you mean {meant:?}?"),
        None if schema.attributes.iter().any(|attribute| attribute.name == *kind) => format!(
            " Did you mean to define argument {:?}? If so, use the equals sign to assign it a value.",
            kind.as_str()
        ),
        None => String::new(),
    };
    let detail = format!("Blocks of type {:?} are not expected here.{advice}", kind.as_str());
    Diagnostic::error("Unsupported block type", detail).at(block.kind.span)
}

pub(super) fn partial_content(
    items: &NativeItems,
    hidden: &Hidden,
    schema: &BodySchema,
) -> (Content, Hidden, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let missing_item_span = items.span.before();
    let mut found: Vec<usize> = Vec::new();
    let mut hidden_attributes = BTreeSet::clone(&hidden.attributes);
    for expected in &schema.attributes {
        let at = items.attributes.iter().position(|attribute| attribute.name.name == expected.name);
        match at.filter(|_| !hidden_attributes.contains(&expected.name)) {
            Some(at) => {
                found.push(at);
                hidden_attributes.insert(expected.name.clone());
            }
            None if expected.required => {
                diagnostics.push(missing_argument(&expected.name).at(missing_item_span));
            }
            None => {}
        }
    }
    found.sort_unstable();
    let attributes = found.into_iter().map(|at| items.attributes[at].clone()).collect();

    let mut blocks = Vec::new();
    for block in items.blocks.iter().filter(|block| !hidden.blocks.contains(&block.kind.name)) {
        let Some(expected) = schema.blocks.iter().find(|known| known.kind == block.kind.name) else { continue };
        match wrong_labels(block, expected) {
            Some(problem) => diagnostics.push(problem),
            None => blocks.push(block.clone()),
        }
    }
    let mut hidden_blocks = BTreeSet::clone(&hidden.blocks);
    hidden_blocks.extend(schema.blocks.iter().map(|known| known.kind.clone()));

    let rest = Hidden { attributes: Arc::new(hidden_attributes), blocks: Arc::new(hidden_blocks) };
    (Content { attributes, blocks, missing_item_span }, rest, diagnostics)
}

pub(super) fn missing_argument(name: &Str) -> Diagnostic {
    let detail = format!("The argument {:?} is required, but no definition was found.", name.as_str());
    Diagnostic::error("Missing required argument", detail)
}

fn wrong_labels(block: &Block, expected: &BlockSchema) -> Option<Diagnostic> {
    let kind = &block.kind.name;
    let names = expected.labels.join(", ");
    let context = block.kind.span.to(block.open_span);
    if let Some(extra) = block.labels.get(expected.labels.len()) {
        let detail = if expected.labels.is_empty() {
            format!("No labels are expected for {kind} blocks.")
        } else {
            format!("Only {} labels ({names}) are expected for {kind} blocks.", expected.labels.len())
        };
        return Some(Diagnostic::error(format!("Extraneous label for {kind}"), detail).at(extra.span).within(context));
    }
    let missing = expected.labels.get(block.labels.len())?;
    let detail = format!("All {kind} blocks must have {} labels ({names}).", expected.labels.len());
    Some(Diagnostic::error(format!("Missing {missing} for {kind}"), detail).at(block.open_span).within(context))
}

pub(super) fn just_attributes(items: &NativeItems, hidden: &Hidden) -> (Vec<Attribute>, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    if let Some(block) = items.blocks.first() {
        let summary = format!("Unexpected {:?} block", block.kind.name.as_str());
        diagnostics.push(Diagnostic::error(summary, "Blocks are not allowed here.").at(block.kind.span));
    }
    let attributes = items.attributes.iter().filter(|attribute| !hidden.attributes.contains(&attribute.name.name));
    (attributes.cloned().collect(), diagnostics)
}
