//! Answers of providers with the old type system, brought to the shape that everything else relies on: what stands for nested
//! blocks is neither null nor unknown itself.

use groma_model::schema::{Block, NestedBlock, Nesting};
use groma_model::value::Value;

use super::{items, part};

/// The object with its blocks in shape.
pub fn normalised(object: &Value, schema: &Block) -> Value {
    if object.is_null() {
        return Value::null(schema.implied_type());
    }
    if schema.block_types.is_empty() || !object.is_known() {
        return object.clone();
    }
    let attributes = schema
        .attributes
        .iter()
        .map(|(name, attribute)| (name.clone(), part(object, name, || attribute.implied_type())));
    let blocks = schema.block_types.iter().map(|(name, nested)| {
        let value = part(object, name, || nested.implied_type());
        (name.clone(), normalised_block(value, nested))
    });
    Value::object(attributes.chain(blocks))
}

fn normalised_block(value: Value, nested: &NestedBlock) -> Value {
    let ty = nested.block.implied_type();
    // The old type system has no dynamic attributes: this is from another provider.
    if ty.has_dynamic() {
        return value;
    }
    let each = || items(&value).iter().map(|item| normalised(item, &nested.block)).collect::<Vec<_>>();
    match (nested.nesting, value.is_known()) {
        (Nesting::Single | Nesting::Group, false) => all_unknown(&nested.block),
        (Nesting::Group, true) if value.is_null() => nested.block.empty_value(),
        (Nesting::Single | Nesting::Group, true) => normalised(&value, &nested.block),
        (Nesting::List, false) => Value::list(ty, vec![all_unknown(&nested.block)]),
        (Nesting::List, true) => Value::list(ty, each()),
        (Nesting::Set, false) => Value::set(ty, vec![all_unknown(&nested.block)]),
        (Nesting::Set, true) => Value::set(ty, each()),
        (Nesting::Map, _) => value,
    }
}

/// A block of which nothing is known but that it is there.
fn all_unknown(schema: &Block) -> Value {
    let attributes =
        schema.attributes.iter().map(|(name, attribute)| (name.clone(), Value::unknown(attribute.implied_type())));
    let blocks = schema.block_types.iter().map(|(name, nested)| {
        let ty = || nested.block.implied_type();
        let value = match nested.nesting {
            Nesting::Single | Nesting::Group => all_unknown(&nested.block),
            Nesting::List => Value::list(ty(), vec![all_unknown(&nested.block)]),
            Nesting::Set => Value::set(ty(), vec![all_unknown(&nested.block)]),
            Nesting::Map => Value::map(ty(), groma_model::value::Entries::default()),
        };
        (name.clone(), value)
    });
    Value::object(attributes.chain(blocks))
}

#[cfg(test)]
mod tests {
    use groma_model::ty::Type;

    use super::super::testing::{block, list_of, object, optional, set_of, text, with_blocks};
    use super::*;

    #[test]
    fn blocks_are_never_null_or_unknown() {
        let inner = block([("name", optional(Type::String))]);
        let schema = with_blocks(
            block([("a", optional(Type::String))]),
            [("list", Nesting::List, inner.clone()), ("set", Nesting::Set, inner.clone())],
        );
        let given = object([
            ("a", text("x")),
            ("list", Value::null(Type::list(inner.implied_type()))),
            ("set", Value::unknown(Type::set(inner.implied_type()))),
        ]);
        let unknown = object([("name", Value::unknown(Type::String))]);
        let expected =
            object([("a", text("x")), ("list", list_of(&inner, Vec::new())), ("set", set_of(&inner, vec![unknown]))]);
        assert_eq!(normalised(&given, &schema), expected);
    }
}
