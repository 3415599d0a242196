//! Whether a configuration says what was planned from it: then nothing is known that was not known when the plan was made.

use groma_model::schema::Block;
use groma_model::value::Value;

use super::part;

/// Whether a configuration that is wholly known by now must be the one that an object was planned from. In doubt it is not: where values are
/// not simply taken over, nobody can tell.
pub fn is_settled(schema: &Block, config: &Value, planned: &Value) -> bool {
    if config.is_null() || planned.is_null() || !config.is_wholly_known() {
        return false;
    }
    let attributes = schema.attributes.iter().all(|(name, attribute)| {
        let of = |object: &Value| part(object, name, || attribute.implied_type());
        let (config, planned) = (of(config), of(planned));
        // What is not configured may have been not known, where the provider could have filled it in.
        let left_to_provider = config.is_null() && attribute.computed;
        if left_to_provider { !attribute.optional || planned.is_wholly_known() } else { config == planned }
    });
    let blocks = schema.block_types.iter().all(|(name, nested)| {
        let of = |object: &Value| part(object, name, || nested.implied_type());
        of(config) == of(planned)
    });
    attributes && blocks
}

#[cfg(test)]
mod tests {
    use groma_model::ty::Type;

    use super::*;
    use crate::object::testing::{computed, optional};

    fn schema() -> Block {
        let mut block = Block::default();
        let only_made = groma_model::schema::Attribute::of_type(Type::String);
        block.attributes.insert("given".into(), optional(Type::String));
        block.attributes.insert("made".into(), computed(only_made));
        block.attributes.insert("either".into(), computed(optional(Type::String)));
        block
    }

    fn object(given: Value, made: Value, either: Value) -> Value {
        Value::object([("given", given), ("made", made), ("either", either)])
    }

    fn text(value: &str) -> Value {
        Value::string(value)
    }

    fn none() -> Value {
        Value::null(Type::String)
    }

    fn unknown() -> Value {
        Value::unknown(Type::String)
    }

    #[test]
    fn what_is_planned_from_the_same_is_settled() {
        let config = object(text("a"), none(), none());
        assert!(is_settled(&schema(), &config, &object(text("a"), unknown(), text("usual"))));
        let config = object(text("a"), none(), text("b"));
        assert!(is_settled(&schema(), &config, &object(text("a"), text("made"), text("b"))));
    }

    #[test]
    fn what_was_not_known_or_may_not_have_been_is_not() {
        let config = object(text("a"), none(), none());
        assert!(!is_settled(&schema(), &config, &object(unknown(), unknown(), text("usual"))));
        assert!(!is_settled(&schema(), &config, &object(text("other"), unknown(), text("usual"))));
        assert!(!is_settled(&schema(), &config, &object(text("a"), unknown(), unknown())));
        assert!(!is_settled(&schema(), &object(unknown(), none(), none()), &object(unknown(), unknown(), text("x"))));
        assert!(!is_settled(&schema(), &config, &Value::null(schema().implied_type())));
    }
}
