//! Schemas without what is written in them for people: the built-in providers say that in their own words.

use std::collections::BTreeMap;
use std::sync::Arc;

use groma_model::schema::{Attribute, AttributeKind, Block, FunctionSignature, NestedObject, Schema};
use groma_model::text::Str;

/// Names, types, flags and nesting, and what kind of text describes them.
pub fn without_texts(schema: &Schema) -> Schema {
    let mut schema = schema.clone();
    clear_block(&mut schema.block);
    schema
}

/// Names of parameters, types, and what kind of text describes them.
pub fn function_without_texts(function: &FunctionSignature) -> FunctionSignature {
    let mut function = function.clone();
    function.summary.clear();
    function.description.text.clear();
    function.deprecation_message = None;
    for parameter in function.parameters.iter_mut().chain(&mut function.variadic) {
        parameter.description.text.clear();
    }
    function
}

fn clear_block(block: &mut Block) {
    block.description.text.clear();
    block.deprecation_message = None;
    clear_attributes(&mut block.attributes);
    for nested in block.block_types.values_mut() {
        clear_block(&mut nested.block);
    }
}

fn clear_attributes(attributes: &mut BTreeMap<Str, Attribute>) {
    for attribute in attributes.values_mut() {
        attribute.description.text.clear();
        attribute.deprecation_message = None;
        if let AttributeKind::Nested(nested) = &attribute.ty {
            let mut inner = NestedObject::clone(nested);
            clear_attributes(&mut inner.attributes);
            attribute.ty = AttributeKind::Nested(Arc::new(inner));
        }
    }
}
