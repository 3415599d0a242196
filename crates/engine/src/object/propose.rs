//! The proposed new value: configuration where it is given, what is where the provider decides.

use groma_model::schema::{Attribute, AttributeKind, Block, NestedBlock, NestedObject, Nesting};
use groma_model::value::{Value, ValueKind};

use super::{items, part, same_but_refinements, with_contents};

/// Merges a configuration over a prior object. Computed attributes that are not configured keep their values; on create they are
/// null, and the provider makes them unknown.
pub fn proposed_new(schema: &Block, prior: &Value, config: &Value) -> Value {
    if config.is_null() && prior.is_null() {
        return prior.clone();
    }
    if prior.is_null() {
        merge_block(schema, &schema.empty_value(), config)
    } else {
        merge_block(schema, prior, config)
    }
}

/// The object that stands for a read that is put off: what is computed is unknown.
pub fn unknown_until_read(schema: &Block, config: &Value) -> Value {
    merge_block(schema, &Value::unknown(schema.implied_type()), config)
}

/// A level of an object: both kinds have attributes, blocks have blocks as well.
#[derive(Clone, Copy)]
enum Level<'s> {
    Block(&'s Block),
    Object(&'s NestedObject),
}

impl Level<'_> {
    fn merge(self, prior: &Value, config: &Value) -> Value {
        match self {
            Level::Block(block) => proposed_new(block, prior, config),
            Level::Object(_) if config.is_null() => config.clone(),
            Level::Object(object) => Value::object(object.attributes.iter().map(|(name, attribute)| {
                (name.clone(), merge_attribute(attribute, &attribute_part(prior, name, attribute), config, name))
            })),
        }
    }
}

fn attribute_part(object: &Value, name: &str, attribute: &Attribute) -> Value {
    part(object, name, || attribute.implied_type())
}

fn merge_block(schema: &Block, prior: &Value, config: &Value) -> Value {
    if config.is_null() || !config.is_known() {
        return prior.clone();
    }
    let attributes = schema.attributes.iter().map(|(name, attribute)| {
        (name.clone(), merge_attribute(attribute, &attribute_part(prior, name, attribute), config, name))
    });
    let blocks = schema.block_types.iter().map(|(name, nested)| {
        let ty = || nested.implied_type();
        (name.clone(), merge_nested_block(nested, &part(prior, name, ty), &part(config, name, ty)))
    });
    Value::object(attributes.chain(blocks))
}

fn merge_attribute(attribute: &Attribute, prior: &Value, config: &Value, name: &str) -> Value {
    let config = attribute_part(config, name, attribute);
    if attribute.computed && config.is_null() {
        // What can only have come from a configuration is gone with it.
        return if must_be_configured(attribute, prior) { config } else { prior.clone() };
    }
    match &attribute.ty {
        AttributeKind::Type(_) => config,
        AttributeKind::Nested(object) => merge_nesting(Level::Object(object), object.nesting, prior, &config),
    }
}

fn merge_nested_block(nested: &NestedBlock, prior: &Value, config: &Value) -> Value {
    merge_nesting(Level::Block(&nested.block), nested.nesting, prior, config)
}

fn merge_nesting(level: Level<'_>, nesting: Nesting, prior: &Value, config: &Value) -> Value {
    if !config.is_known() {
        return config.clone();
    }
    match nesting {
        Nesting::Single if config.is_null() => config.clone(),
        Nesting::Single | Nesting::Group => level.merge(prior, config),
        Nesting::List => merge_list(level, prior, config),
        Nesting::Map => merge_map(level, prior, config),
        Nesting::Set => merge_set(level, prior, config),
    }
}

fn merge_list(level: Level<'_>, prior: &Value, config: &Value) -> Value {
    let merged = items(config).iter().enumerate().map(|(at, config)| match (prior.is_known(), items(prior).get(at)) {
        (true, None) => config.clone(),
        (true, Some(prior)) => level.merge(prior, config),
        (false, _) => level.merge(&Value::unknown(config.ty()), config),
    });
    with_contents(config, merged.collect())
}

fn merge_map(level: Level<'_>, prior: &Value, config: &Value) -> Value {
    let Some(entries) = config.as_entries() else { return config.clone() };
    let merged = entries.iter().map(|(name, config)| match prior.as_entries().and_then(|entries| entries.get(name)) {
        None => config.clone(),
        Some(prior) => level.merge(prior, config),
    });
    with_contents(config, merged.collect())
}

/// Elements of sets have no keys: each is merged with the first element that may have come from it.
fn merge_set(level: Level<'_>, prior: &Value, config: &Value) -> Value {
    let mut candidates: Vec<Option<&Value>> = items(prior).iter().map(Some).collect();
    let merged = items(config).iter().map(|config| {
        let fits = |prior: &&mut Option<&Value>| prior.is_some_and(|prior| may_come_from(level, prior, config));
        let prior = candidates.iter_mut().find(fits).and_then(Option::take);
        level.merge(&prior.cloned().unwrap_or_else(|| Value::null(config.ty())), config)
    });
    with_contents(config, merged.collect())
}

/// Whether a value has something in it that no provider computes.
fn must_be_configured(attribute: &Attribute, value: &Value) -> bool {
    match &attribute.ty {
        AttributeKind::Nested(object) => attribute.optional && has_configured(object, value),
        AttributeKind::Type(_) => false,
    }
}

fn has_configured(object: &NestedObject, value: &Value) -> bool {
    let in_one = |value: &Value| {
        object.attributes.iter().any(|(name, attribute)| {
            let inner = attribute_part(value, name, attribute);
            if inner.is_null() {
                return false;
            }
            let nested = match &attribute.ty {
                AttributeKind::Nested(nested) => has_configured(nested, &inner),
                AttributeKind::Type(_) => false,
            };
            !attribute.computed || nested
        })
    };
    if value.is_null() || !value.is_known() {
        return false;
    }
    match object.nesting {
        Nesting::Single | Nesting::Group => in_one(value),
        Nesting::List | Nesting::Set => items(value).iter().any(in_one),
        Nesting::Map => value.as_entries().is_some_and(|entries| entries.values().iter().any(in_one)),
    }
}

/// Whether an element of a set may be what a provider made of a configured one: equal but for computed attributes that are
/// not configured.
fn may_come_from(level: Level<'_>, prior: &Value, config: &Value) -> bool {
    if same_but_refinements(prior, config) {
        return true;
    }
    let attributes = match level {
        Level::Block(block) => &block.attributes,
        Level::Object(object) => &object.attributes,
    };
    let attributes_fit = attributes.iter().all(|(name, attribute)| {
        let (prior, config) = (attribute_part(prior, name, attribute), attribute_part(config, name, attribute));
        if same_but_refinements(&prior, &config) {
            return true;
        }
        match &attribute.ty {
            AttributeKind::Nested(object) => {
                nested_may_come_from(Level::Object(object), object.nesting, &prior, &config)
            }
            AttributeKind::Type(_) => {
                attribute.computed && config.is_null() && !matches!(config.ty(), groma_model::ty::Type::Set(_))
            }
        }
    });
    let Level::Block(block) = level else { return attributes_fit };
    attributes_fit
        && block.block_types.iter().all(|(name, nested)| {
            let ty = || nested.implied_type();
            let (prior, config) = (part(prior, name, ty), part(config, name, ty));
            nested_may_come_from(Level::Block(&nested.block), nested.nesting, &prior, &config)
        })
}

fn nested_may_come_from(level: Level<'_>, nesting: Nesting, prior: &Value, config: &Value) -> bool {
    if same_but_refinements(prior, config) {
        return true;
    }
    match (nesting, prior.kind()) {
        // Elements of inner sets cannot be told apart, so nothing less than equality will do.
        (Nesting::Set, _) => false,
        // Nothing is in it that could disagree.
        (_, ValueKind::Null | ValueKind::Unknown(_)) => true,
        (Nesting::Single | Nesting::Group, _) => !config.is_null() && may_come_from(level, prior, config),
        (Nesting::List, _) => items(prior)
            .iter()
            .enumerate()
            .all(|(at, prior)| items(config).get(at).is_some_and(|config| may_come_from(level, prior, config))),
        (Nesting::Map, _) => prior.as_entries().is_some_and(|entries| {
            entries.iter().all(|(name, prior)| {
                let config = config.as_entries().and_then(|entries| entries.get(name));
                config.is_some_and(|config| may_come_from(level, prior, config))
            })
        }),
    }
}

#[cfg(test)]
mod tests {
    use groma_model::ty::Type;

    use super::super::testing::{block, computed, list_of, nested, object, optional, set_of, text, with_blocks};
    use super::*;

    fn null() -> Value {
        Value::null(Type::String)
    }

    #[test]
    fn computed_attributes_keep_what_is() {
        let schema = block([("a", computed(optional(Type::String))), ("b", optional(Type::String))]);
        let nothing = object([("a", null()), ("b", null())]);
        let prior = object([("a", text("x")), ("b", text("y"))]);
        assert_eq!(proposed_new(&schema, &prior, &nothing), object([("a", text("x")), ("b", null())]));
        assert_eq!(proposed_new(&schema, &Value::null(schema.implied_type()), &nothing), nothing);
        let gone = Value::null(schema.implied_type());
        assert!(proposed_new(&schema, &gone, &gone).is_null());
    }

    #[test]
    fn lists_of_blocks_go_by_index() {
        let inner = block([("id", computed(optional(Type::String))), ("name", optional(Type::String))]);
        let schema = with_blocks(block([]), [("disk", Nesting::List, inner.clone())]);
        let disk = |id: Value, name: &str| object([("id", id), ("name", text(name))]);
        let disks = |items: Vec<Value>| object([("disk", list_of(&inner, items))]);
        let prior = disks(vec![disk(text("1"), "a"), disk(text("2"), "b")]);
        let config = disks(vec![disk(null(), "c"), disk(null(), "b"), disk(null(), "d")]);
        let expected = disks(vec![disk(text("1"), "c"), disk(text("2"), "b"), disk(null(), "d")]);
        assert_eq!(proposed_new(&schema, &prior, &config), expected);
    }

    #[test]
    fn sets_of_blocks_go_by_what_is_configured() {
        let inner = block([("id", computed(optional(Type::String))), ("name", optional(Type::String))]);
        let schema = with_blocks(block([]), [("disk", Nesting::Set, inner.clone())]);
        let disk = |id: Value, name: &str| object([("id", id), ("name", text(name))]);
        let disks = |items: Vec<Value>| object([("disk", set_of(&inner, items))]);
        let prior = disks(vec![disk(text("1"), "a"), disk(text("2"), "b")]);
        let config = disks(vec![disk(null(), "b"), disk(null(), "c")]);
        let expected = disks(vec![disk(text("2"), "b"), disk(null(), "c")]);
        assert_eq!(proposed_new(&schema, &prior, &config), expected);
    }

    #[test]
    fn a_computed_nested_value_is_kept_unless_it_was_configured() {
        let by_provider = nested(Nesting::Single, [("id", computed(optional(Type::String)))]);
        let by_user = nested(Nesting::Single, [("name", optional(Type::String))]);
        let schema = block([("a", computed(by_provider.clone())), ("b", computed(by_user.clone()))]);
        let prior = object([("a", object([("id", text("1"))])), ("b", object([("name", text("n"))]))]);
        let config =
            object([("a", Value::null(by_provider.implied_type())), ("b", Value::null(by_user.implied_type()))]);
        let expected = object([("a", object([("id", text("1"))])), ("b", Value::null(by_user.implied_type()))]);
        assert_eq!(proposed_new(&schema, &prior, &config), expected);
    }

    #[test]
    fn what_will_be_read_is_unknown_where_it_is_computed() {
        let inner = block([("id", computed(optional(Type::String))), ("name", optional(Type::String))]);
        let schema = with_blocks(
            block([("id", computed(optional(Type::String))), ("key", optional(Type::String))]),
            [("disk", Nesting::List, inner.clone())],
        );
        let disk = |id: Value| list_of(&inner, vec![object([("id", id), ("name", text("a"))])]);
        let config = object([("id", null()), ("key", text("k")), ("disk", disk(null()))]);
        let unknown = Value::unknown(Type::String);
        let expected = object([("id", unknown.clone()), ("key", text("k")), ("disk", disk(unknown))]);
        assert_eq!(unknown_until_read(&schema, &config), expected);
    }
}
