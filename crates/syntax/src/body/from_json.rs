//! Reading a body of the JSON syntax through a schema: only the schema tells arguments and blocks apart.

use std::collections::BTreeSet;
use std::sync::Arc;

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::span::Span;
use groma_model::text::suggestion;

use super::native::missing_argument;
use super::{Attribute, Block, BlockSchema, Body, BodySchema, Content, Hidden, Label};
use crate::ast::Ident;
use crate::json::{Node, NodeKind, Property, to_expr, to_literal};

const WRONG_TYPE: &str = "Incorrect JSON value type";

pub(super) fn content(value: &Arc<Node>, hidden: &Hidden, schema: &BodySchema) -> (Content, Diagnostics) {
    let (content, rest, mut diagnostics) = partial_content(value, hidden, schema);
    let unused = schema.attributes.iter().filter(|known| !rest.attributes.contains(&known.name));
    let known: Vec<&str> = unused
        .map(|attribute| attribute.name.as_str())
        .chain(schema.blocks.iter().map(|block| block.kind.as_str()))
        .collect();
    // The wrong types among them are reported already.
    let (properties, _) = deep_properties(value, None);
    for property in properties {
        if property.name == "//" || rest.attributes.contains(&property.name) {
            continue;
        }
        let advice = suggestion(&property.name, known.iter().copied())
            .map_or(String::new(), |meant| format!(" Did you mean {meant:?}?"));
        let detail = format!("No argument or block type is named {:?}.{advice}", property.name.as_str());
        diagnostics.push(
            Diagnostic::error("Extraneous JSON object property", detail).at(property.name_span).within(property.span()),
        );
    }
    (content, diagnostics)
}

pub(super) fn partial_content(
    value: &Arc<Node>,
    hidden: &Hidden,
    schema: &BodySchema,
) -> (Content, Hidden, Diagnostics) {
    let (properties, mut diagnostics) = deep_properties(value, None);
    let missing_item_span = value.missing_item_span();
    let mut content = Content { attributes: Vec::new(), blocks: Vec::new(), missing_item_span };
    let mut used = BTreeSet::clone(&hidden.attributes);
    for property in properties {
        if hidden.attributes.contains(&property.name) {
            continue;
        }
        if schema.attributes.iter().any(|known| known.name == property.name) {
            if let Some(existing) = content.attr(&property.name) {
                diagnostics.push(already_set("Duplicate argument", property, existing).within(property.span()));
                continue;
            }
            content.attributes.push(attribute(property, false, &mut diagnostics));
        } else if let Some(expected) = schema.blocks.iter().find(|known| known.kind == property.name) {
            let mut unpacker = Unpacker { property, expected, labels: Vec::new(), blocks: &mut content.blocks };
            unpacker.unpack(&property.value, &mut diagnostics);
        } else {
            continue;
        }
        used.insert(property.name.clone());
    }
    for expected in schema.attributes.iter().filter(|expected| expected.required) {
        if content.attr(&expected.name).is_none() {
            diagnostics.push(missing_argument(&expected.name).at(missing_item_span));
        }
    }
    let used = Arc::new(used);
    (content, Hidden { attributes: Arc::clone(&used), blocks: used }, diagnostics)
}

pub(super) fn just_attributes(value: &Arc<Node>, hidden: &Hidden, literal: bool) -> (Vec<Attribute>, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let mut attributes: Vec<Attribute> = Vec::new();
    let NodeKind::Object { properties, .. } = &value.kind else {
        let detail = "A JSON object is required here, setting the arguments for this block.";
        diagnostics.push(Diagnostic::error(WRONG_TYPE, detail).at(value.start_span()));
        return (attributes, diagnostics);
    };
    let mut seen = std::collections::HashMap::new();
    for property in properties {
        if property.name == "//" || hidden.attributes.contains(&property.name) {
            continue;
        }
        if let Some(existing) = seen.get(&property.name) {
            diagnostics.push(already_set("Duplicate attribute definition", property, &attributes[*existing]));
            continue;
        }
        seen.insert(property.name.clone(), attributes.len());
        attributes.push(attribute(property, literal, &mut diagnostics));
    }
    (attributes, diagnostics)
}

fn attribute(property: &Property, literal: bool, diagnostics: &mut Diagnostics) -> Attribute {
    let expr = if literal { to_literal(&property.value) } else { to_expr(&property.value, diagnostics) };
    Attribute {
        name: Ident { name: property.name.clone(), span: property.name_span },
        expr: Arc::new(expr),
        span: property.span(),
    }
}

fn already_set(summary: &str, property: &Property, _existing: &Attribute) -> Diagnostic {
    let detail = format!("The argument {:?} was already set.", property.name.as_str());
    Diagnostic::error(summary, detail).at(property.name_span)
}

/// Takes the labels of a block off the nested objects that name them.
struct Unpacker<'a> {
    property: &'a Property,
    expected: &'a BlockSchema,
    labels: Vec<Label>,
    blocks: &'a mut Vec<Block>,
}

impl Unpacker<'_> {
    fn unpack(&mut self, value: &Arc<Node>, diagnostics: &mut Diagnostics) {
        let kind = &self.property.name;
        if let Some(label) = self.expected.labels.get(self.labels.len()) {
            let (properties, found) = deep_properties(value, Some(label));
            diagnostics.extend(found);
            if properties.is_empty() {
                let detail = format!(
                    "At least one object property is required, whose name represents the {kind} block's {label}."
                );
                diagnostics.push(Diagnostic::error("Missing block label", detail).at(value.start_span()));
            }
            for property in properties {
                self.labels.push(Label { text: property.name.clone(), span: property.name_span });
                self.unpack(&property.value, diagnostics);
                self.labels.pop();
            }
            return;
        }
        match &value.kind {
            NodeKind::Null => {}
            NodeKind::Object { open_span, .. } => self.add(value, *open_span),
            NodeKind::Array { items, open_span } => {
                for item in items {
                    self.add(item, *open_span);
                }
            }
            _ => {
                let detail = format!(
                    "Either a JSON object or a JSON array is required, representing the contents of one or more {:?} blocks.",
                    kind.as_str()
                );
                diagnostics.push(Diagnostic::error(WRONG_TYPE, detail).at(value.start_span()));
            }
        }
    }

    fn add(&mut self, value: &Arc<Node>, header_span: Span) {
        self.blocks.push(Block {
            kind: Ident { name: self.property.name.clone(), span: self.property.name_span },
            labels: self.labels.clone(),
            body: Body::json(Arc::clone(value)),
            span: self.property.name_span.to(value.span),
            header_span,
            open_span: value.start_span(),
            close_span: value.missing_item_span(),
        });
    }
}

/// The properties of an object, or of all objects in an array. With `label` they are names of blocks.
fn deep_properties<'a>(value: &'a Node, label: Option<&str>) -> (Vec<&'a Property>, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let mut properties = Vec::new();
    match &value.kind {
        NodeKind::Null => {}
        NodeKind::Object { properties: own, .. } => properties.extend(own),
        NodeKind::Array { items, .. } => {
            for item in items {
                if let NodeKind::Object { properties: own, .. } = &item.kind {
                    properties.extend(own);
                    continue;
                }
                let detail = match label {
                    Some(label) => {
                        format!("A JSON object is required here, to specify {label} labels for this block.")
                    }
                    None => "A JSON object is required here, to define arguments and child blocks.".to_owned(),
                };
                diagnostics.push(Diagnostic::error(WRONG_TYPE, detail).at(item.start_span()));
            }
        }
        _ => {
            let purpose = match label {
                Some(label) => format!("to specify {label} labels for this block."),
                None => "to define arguments and child blocks.".to_owned(),
            };
            let detail = format!("Either a JSON object or JSON array of objects is required here, {purpose}");
            diagnostics.push(Diagnostic::error(WRONG_TYPE, detail).at(value.start_span()));
        }
    }
    (properties, diagnostics)
}
