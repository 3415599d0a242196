//! Reading a body together with one that overrides it.

use groma_model::diag::Diagnostics;

use super::{Attribute, Block, Body, BodySchema, Content};

pub(super) fn partial_content(base: &Body, over: &Body, schema: &BodySchema) -> (Content, Body, Diagnostics) {
    let base_schema = with_dynamic(schema);
    let over_schema = without_required(&base_schema);
    let (base_content, base_rest, mut diagnostics) = base.partial_content(&base_schema);
    let (over_content, over_rest, over_diagnostics) = over.partial_content(&over_schema);
    diagnostics.extend(over_diagnostics);
    (merge(base_content, over_content), base_rest.overridden_by(&over_rest), diagnostics)
}

pub(super) fn just_attributes(base: &Body, over: &Body) -> (Vec<Attribute>, Diagnostics) {
    let (base_attributes, mut diagnostics) = base.just_attributes();
    let (over_attributes, over_diagnostics) = over.just_attributes();
    diagnostics.extend(over_diagnostics);
    (merge_attributes(base_attributes, over_attributes), diagnostics)
}

/// A `dynamic` block stands for blocks of the kind that its label names, so it always has to be looked at.
fn with_dynamic(schema: &BodySchema) -> BodySchema {
    if schema.blocks.iter().any(|block| block.kind == "dynamic") {
        return schema.clone();
    }
    schema.clone().block("dynamic", &["type"])
}

fn without_required(schema: &BodySchema) -> BodySchema {
    let mut schema = schema.clone();
    for attribute in &mut schema.attributes {
        attribute.required = false;
    }
    schema
}

fn merge(base: Content, over: Content) -> Content {
    let overridden: Vec<_> = over.blocks.iter().map(|block| replaced_kind(block).to_owned()).collect();
    let kept = base.blocks.into_iter().filter(|block| !overridden.iter().any(|kind| kind == replaced_kind(block)));
    Content {
        attributes: merge_attributes(base.attributes, over.attributes),
        blocks: kept.chain(over.blocks).collect(),
        missing_item_span: base.missing_item_span,
    }
}

fn replaced_kind(block: &Block) -> &str {
    match block.labels.first() {
        Some(label) if block.kind.name == "dynamic" => &label.text,
        _ => &block.kind.name,
    }
}

fn merge_attributes(mut base: Vec<Attribute>, over: Vec<Attribute>) -> Vec<Attribute> {
    for attribute in over {
        match base.iter_mut().find(|old| old.name.name == attribute.name.name) {
            Some(old) => *old = attribute,
            None => base.push(attribute),
        }
    }
    base
}
