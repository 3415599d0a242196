//! Write-only attributes: they go to a provider and must not come back.

use std::convert::Infallible;

use groma_model::path::Path;
use groma_model::schema::Block;
use groma_model::value::Value;

/// A value in an answer where none may be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the write-only attribute {} has a value", path.to_string().trim_start_matches('.'))]
pub(in crate::wire) struct WriteOnlyValue {
    /// Where.
    pub(in crate::wire) path: Path,
}

/// The first value in an answer where none may be.
pub(in crate::wire) fn write_only_value(block: &Block, value: &Value) -> Option<WriteOnlyValue> {
    let mut first = None;
    block.visit_attributes(value, &mut |path, attribute, inner| {
        if first.is_none() && attribute.write_only && !inner.is_null() {
            first = Some(WriteOnlyValue { path: path.clone() });
        }
        first.is_none()
    });
    first
}

/// The value with null in the place of everything that must not come back.
pub(in crate::wire) fn without_write_only(block: &Block, value: &Value) -> Value {
    let changed: Result<Value, Infallible> = value.transform(&mut |path, inner| match block.attribute_at(path) {
        Some(attribute) if attribute.write_only => Ok(Value::null(attribute.implied_type())),
        _ => Ok(inner),
    });
    match changed {
        Ok(changed) => changed,
        Err(never) => match never {},
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use groma_model::schema::{Attribute, AttributeKind, NestedBlock, NestedObject, Nesting};
    use groma_model::ty::Type;

    use super::*;

    fn block() -> Block {
        let secret = Attribute { optional: true, write_only: true, ..Attribute::of_type(Type::map(Type::String)) };
        let name = Attribute { optional: true, ..Attribute::of_type(Type::String) };
        let inner = Block {
            attributes: [("secret".into(), secret.clone()), ("name".into(), name.clone())].into(),
            ..Block::default()
        };
        let nested = NestedObject {
            attributes: [("secret".into(), secret.clone()), ("name".into(), name.clone())].into(),
            nesting: Nesting::Map,
        };
        let nested = Attribute { ty: AttributeKind::Nested(Arc::new(nested)), ..name.clone() };
        let disk = NestedBlock { block: inner, nesting: Nesting::Set, min_items: 0, max_items: 0 };
        Block {
            attributes: [("secret".into(), secret), ("name".into(), name), ("nested".into(), nested)].into(),
            block_types: [("disk".into(), disk)].into(),
            ..Block::default()
        }
    }

    fn map(given: Option<&str>) -> Value {
        match given {
            Some(text) => Value::map(Type::String, [("k", Value::string(text))].into_iter().collect()),
            None => Value::null(Type::map(Type::String)),
        }
    }

    fn object(secret: Option<&str>) -> Value {
        Value::object([("secret", map(secret)), ("name", Value::string("n"))])
    }

    fn value(top: Option<&str>, nested: Option<&str>, disk: Option<&str>) -> Value {
        let inner = object(None).ty();
        Value::object([
            ("secret", map(top)),
            ("name", Value::string("n")),
            ("nested", Value::map(inner.clone(), [("a", object(nested))].into_iter().collect())),
            ("disk", Value::set(inner, vec![object(disk)])),
        ])
    }

    #[test]
    fn they_are_found_wherever_they_are() {
        let found = |value: Value| write_only_value(&block(), &value).map(|found| found.to_string());
        assert_eq!(found(value(None, None, None)), None);
        assert_eq!(found(value(Some("x"), None, None)).unwrap(), "the write-only attribute secret has a value");
        let nested = found(value(None, Some("x"), None)).unwrap();
        assert_eq!(nested, "the write-only attribute nested[\"a\"].secret has a value");
        let set = found(value(None, None, Some("x"))).unwrap();
        assert_eq!(set, "the write-only attribute disk[...].secret has a value");
        assert_eq!(found(Value::null(block().implied_type())), None);
    }

    #[test]
    fn nothing_else_is_taken_out() {
        let clean = without_write_only(&block(), &value(Some("x"), Some("y"), Some("z")));
        assert_eq!(clean, value(None, None, None));
    }
}
