//! Schemas and values in few words, for tests.

use std::sync::Arc;

use groma_model::schema::{Attribute, AttributeKind, Block, NestedBlock, NestedObject, Nesting};
use groma_model::ty::Type;
use groma_model::value::Value;

pub(super) fn optional(ty: Type) -> Attribute {
    Attribute { optional: true, ..Attribute::of_type(ty) }
}

pub(super) fn computed(attribute: Attribute) -> Attribute {
    Attribute { computed: true, ..attribute }
}

pub(super) fn nested<const N: usize>(nesting: Nesting, attributes: [(&str, Attribute); N]) -> Attribute {
    let attributes = attributes.into_iter().map(|(name, attribute)| (name.into(), attribute)).collect();
    let ty = AttributeKind::Nested(Arc::new(NestedObject { attributes, nesting }));
    Attribute { ty, optional: true, ..Attribute::of_type(Type::Dynamic) }
}

pub(super) fn block<const N: usize>(attributes: [(&str, Attribute); N]) -> Block {
    let attributes = attributes.into_iter().map(|(name, attribute)| (name.into(), attribute)).collect();
    Block { attributes, ..Block::default() }
}

pub(super) fn with_blocks<const N: usize>(mut outer: Block, blocks: [(&str, Nesting, Block); N]) -> Block {
    for (name, nesting, block) in blocks {
        outer.block_types.insert(name.into(), NestedBlock { block, nesting, min_items: 0, max_items: 0 });
    }
    outer
}

pub(super) fn text(text: &str) -> Value {
    Value::string(text)
}

pub(super) fn object<const N: usize>(attributes: [(&str, Value); N]) -> Value {
    Value::object(attributes)
}

pub(super) fn list_of(block: &Block, items: Vec<Value>) -> Value {
    Value::list(block.implied_type(), items)
}

pub(super) fn set_of(block: &Block, items: Vec<Value>) -> Value {
    Value::set(block.implied_type(), items)
}
