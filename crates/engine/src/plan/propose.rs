//! The proposed new value: configuration where it is given, what is where the provider decides.

use groma_model::schema::Block;
use groma_model::value::Value;

/// Merges a configuration over a prior object. Computed attributes that are not configured keep their values; on create they are
/// null, and the provider makes them unknown.
pub(super) fn proposed_new(schema: &Block, prior: &Value, config: &Value) -> Value {
    let attribute_of = |object: &Value, name: &str| object.as_entries().and_then(|entries| entries.get(name).cloned());
    Value::object(schema.attributes.iter().map(|(name, attribute)| {
        let null = || Value::null(attribute.implied_type());
        let configured = attribute_of(config, name).unwrap_or_else(null);
        let value = if attribute.computed && configured.is_null() {
            attribute_of(prior, name).unwrap_or_else(null)
        } else {
            configured
        };
        (name.clone(), value)
    }))
}

#[cfg(test)]
mod tests {
    use groma_model::schema::Attribute;
    use groma_model::ty::Type;

    use super::*;

    #[test]
    fn computed_attributes_keep_what_is() {
        let computed = Attribute { computed: true, optional: true, ..Attribute::of_type(Type::String) };
        let plain = Attribute { optional: true, ..Attribute::of_type(Type::String) };
        let mut block = Block::default();
        block.attributes.insert("a".into(), computed);
        block.attributes.insert("b".into(), plain);
        let nothing = Value::object([("a", Value::null(Type::String)), ("b", Value::null(Type::String))]);
        let prior = Value::object([("a", Value::string("x")), ("b", Value::string("y"))]);
        let expected = Value::object([("a", Value::string("x")), ("b", Value::null(Type::String))]);
        assert_eq!(proposed_new(&block, &prior, &nothing), expected);
        assert_eq!(proposed_new(&block, &Value::null(block.implied_type()), &nothing), nothing);
    }
}
