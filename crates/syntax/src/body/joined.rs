//! Reading two bodies as one: what an escaping block `_ { … }` holds counts as content of the block around it.

use groma_model::diag::{Diagnostic, Diagnostics};

use super::{Attribute, Body, BodySchema, Content, native};

pub(super) fn content(first: &Body, second: &Body, schema: &BodySchema) -> (Content, Diagnostics) {
    let relaxed = without_required(schema);
    let (content, mut diagnostics) = first.content(&relaxed);
    let (more, problems) = second.content(&relaxed);
    diagnostics.extend(problems);
    let content = join(content, more, schema, &mut diagnostics);
    (content, diagnostics)
}

pub(super) fn partial_content(first: &Body, second: &Body, schema: &BodySchema) -> (Content, Body, Diagnostics) {
    let relaxed = without_required(schema);
    let (content, rest, mut diagnostics) = first.partial_content(&relaxed);
    let (more, other_rest, problems) = second.partial_content(&relaxed);
    diagnostics.extend(problems);
    let content = join(content, more, schema, &mut diagnostics);
    (content, rest.joined_with(&other_rest), diagnostics)
}

pub(super) fn just_attributes(first: &Body, second: &Body) -> (Vec<Attribute>, Diagnostics) {
    let (mut attributes, mut diagnostics) = first.just_attributes();
    let (more, problems) = second.just_attributes();
    diagnostics.extend(problems);
    add_attributes(&mut attributes, more, &mut diagnostics);
    (attributes, diagnostics)
}

fn without_required(schema: &BodySchema) -> BodySchema {
    let mut schema = schema.clone();
    for attribute in &mut schema.attributes {
        attribute.required = false;
    }
    schema
}

fn join(mut content: Content, more: Content, schema: &BodySchema, diagnostics: &mut Diagnostics) -> Content {
    add_attributes(&mut content.attributes, more.attributes, diagnostics);
    content.blocks.extend(more.blocks);
    for wanted in schema.attributes.iter().filter(|wanted| wanted.required) {
        if content.attr(&wanted.name).is_none() {
            diagnostics.push(native::missing_argument(&wanted.name).at(content.missing_item_span));
        }
    }
    content
}

fn add_attributes(attributes: &mut Vec<Attribute>, more: Vec<Attribute>, diagnostics: &mut Diagnostics) {
    for attribute in more {
        if attributes.iter().any(|known| known.name.name == attribute.name.name) {
            let detail =
                format!("Argument {:?} was already set outside the escaping block.", attribute.name.name.as_str());
            diagnostics.push(Diagnostic::error("Duplicate argument", detail).at(attribute.name.span));
        } else {
            attributes.push(attribute);
        }
    }
}
