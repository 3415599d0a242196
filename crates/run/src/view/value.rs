//! Values in the shapes that plans and states are told in: as they are, without what is not known yet, and what of them is unknown
//! or must not be shown.

use std::collections::{BTreeMap, BTreeSet};

use groma_model::address::InstanceKey;
use groma_model::codec::type_json;
use groma_model::number::Number;
use groma_model::path::{Path, PathKey, PathStep};
use groma_model::schema::{Attribute, AttributeKind, Block, NestedBlock, Nesting};
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_model::value::{PathMarks, Value, ValueKind};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;

/// A value with all of its parts. What is not known is null.
pub struct Plain<'v>(pub &'v Value);

impl Serialize for Plain<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.kind() {
            ValueKind::List(items) | ValueKind::Set(items) | ValueKind::Tuple(items) => {
                serializer.collect_seq(items.iter().map(Plain))
            }
            ValueKind::Map(entries) | ValueKind::Object(entries) => {
                serializer.collect_map(entries.iter().map(|(name, value)| (name.as_str(), Plain(value))))
            }
            _ => primitive(self.0, serializer),
        }
    }
}

/// A value without what is not known yet: attributes are left out, elements become null so that the others keep their places.
pub struct Known<'v>(pub &'v Value);

impl Serialize for Known<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.kind() {
            ValueKind::List(items) | ValueKind::Set(items) | ValueKind::Tuple(items) => {
                serializer.collect_seq(items.iter().map(Known))
            }
            ValueKind::Map(entries) | ValueKind::Object(entries) => {
                let known = entries.iter().filter(|(_, value)| value.is_known());
                serializer.collect_map(known.map(|(name, value)| (name.as_str(), Known(value))))
            }
            _ => primitive(self.0, serializer),
        }
    }
}

fn primitive<S: Serializer>(value: &Value, serializer: S) -> Result<S::Ok, S::Error> {
    match value.kind() {
        ValueKind::Bool(value) => serializer.serialize_bool(value),
        ValueKind::Number(number) => Numeric(number).serialize(serializer),
        ValueKind::String(text) => serializer.serialize_str(text),
        _ => serializer.serialize_unit(),
    }
}

/// A number with all of its digits.
struct Numeric<'n>(&'n Number);

impl Serialize for Numeric<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_infinite() {
            return Err(serde::ser::Error::custom("an infinite number cannot be written as JSON"));
        }
        if let Some(number) = self.0.to_i64() {
            return serializer.serialize_i64(number);
        }
        let raw = RawValue::from_string(self.0.to_string()).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

/// A type as machines are told.
pub fn type_value(ty: &Type) -> serde_json::Value {
    serde_json::from_str(&type_json::encode(ty)).unwrap_or_default()
}

/// The key of an instance; nothing if it has none.
pub fn index(key: &InstanceKey) -> Option<serde_json::Value> {
    match key {
        InstanceKey::None => None,
        InstanceKey::Int(number) => Some((*number).into()),
        InstanceKey::String(text) => Some(text.as_str().into()),
    }
}

/// A path as an array of names and keys. Attributes and string keys look the same.
pub struct PathSteps<'p>(pub &'p Path);

impl Serialize for PathSteps<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.steps().iter().map(PathStepJson))
    }
}

struct PathStepJson<'p>(&'p PathStep);

impl Serialize for PathStepJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            PathStep::Attr(name) | PathStep::Index(PathKey::String(name)) => serializer.serialize_str(name),
            PathStep::Index(PathKey::Number(number)) => Numeric(number).serialize(serializer),
            PathStep::Element(value) => Plain(value).serialize(serializer),
        }
    }
}

/// Which parts of a value have a property: a value of the same structure with true where they do. Attributes that do not have it
/// are left out, elements are false.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape<'v> {
    /// It has not.
    No,
    /// It has.
    Yes,
    /// Element by element.
    Items(Vec<Shape<'v>>),
    /// By name.
    Entries(Vec<(&'v Str, Shape<'v>)>),
}

impl Serialize for Shape<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Shape::No => serializer.serialize_bool(false),
            Shape::Yes => serializer.serialize_bool(true),
            Shape::Items(items) => serializer.collect_seq(items),
            Shape::Entries(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                for (name, shape) in entries {
                    map.serialize_entry(name.as_str(), shape)?;
                }
                map.end()
            }
        }
    }
}

/// What of a value is not known yet.
pub fn unknown(value: &Value) -> Shape<'_> {
    match value.kind() {
        ValueKind::Unknown(_) => Shape::Yes,
        ValueKind::List(items) | ValueKind::Set(items) | ValueKind::Tuple(items) => {
            Shape::Items(items.iter().map(unknown).collect())
        }
        ValueKind::Map(entries) | ValueKind::Object(entries) => {
            let shapes = entries.iter().map(|(name, value)| (name, unknown(value)));
            Shape::Entries(shapes.filter(|(_, shape)| *shape != Shape::No).collect())
        }
        _ => Shape::No,
    }
}

/// What of an object must not be shown: what is marked, and what its schema says.
///
/// A set cannot hold marks, so a secret in a marked set hides the whole set; the schema still tells the elements apart.
pub fn sensitive<'v>(value: &'v Value, block: &Block) -> Shape<'v> {
    shape_of(value, Some(Described { attributes: &block.attributes, blocks: Some(&block.block_types), many: false }))
}

/// What of a value is marked as secret.
pub fn marked(value: &Value) -> Shape<'_> {
    shape_of(value, None)
}

/// An object without the marks that its schema explains and that have no other reason.
pub fn without_marks_of(block: &Block, value: &Value, others: &[Path]) -> Value {
    let (plain, marks) = value.clone().unmark_deep_with_paths();
    let explained: BTreeSet<Path> =
        block.sensitive_marks(&plain).iter().map(|found| marked_place(&found.path)).collect();
    let is_kept = |path: &Path| !explained.contains(path) || others.contains(path);
    let kept: Vec<PathMarks> = marks.into_iter().filter(|found| is_kept(&found.path)).collect();
    plain.with_path_marks(&kept)
}

/// Where the marks for a place are: there, or at the outermost set around it.
fn marked_place(path: &Path) -> Path {
    let steps = path.steps().iter().take_while(|step| !matches!(step, PathStep::Element(_)));
    steps.cloned().collect::<Vec<_>>().into()
}

/// What is known about the objects that a value is, or consists of.
#[derive(Clone, Copy)]
struct Described<'s> {
    attributes: &'s BTreeMap<Str, Attribute>,
    blocks: Option<&'s BTreeMap<Str, NestedBlock>>,
    many: bool,
}

impl<'s> Described<'s> {
    fn element(self) -> Option<Self> {
        self.many.then_some(Self { many: false, ..self })
    }

    /// Whether the attribute is to be hidden, and what is known about its value.
    fn attribute(self, name: &str) -> (bool, Option<Described<'s>>) {
        let many = |nesting: Nesting| !matches!(nesting, Nesting::Single | Nesting::Group);
        if let Some(attribute) = self.attributes.get(name) {
            let inner = match &attribute.ty {
                AttributeKind::Type(_) => None,
                AttributeKind::Nested(nested) => {
                    Some(Described { attributes: &nested.attributes, blocks: None, many: many(nested.nesting) })
                }
            };
            return (attribute.sensitive, inner);
        }
        let inner = self.blocks.and_then(|blocks| blocks.get(name)).map(|nested| Described {
            attributes: &nested.block.attributes,
            blocks: Some(&nested.block.block_types),
            many: many(nested.nesting),
        });
        (false, inner)
    }
}

fn shape_of<'v>(value: &'v Value, described: Option<Described<'_>>) -> Shape<'v> {
    if value.marks().is_sensitive() {
        return Shape::Yes;
    }
    let element = || described.and_then(Described::element);
    match value.kind() {
        ValueKind::Null | ValueKind::Bool(_) | ValueKind::Number(_) | ValueKind::String(_) => Shape::No,
        // Nothing can be said about what is inside.
        ValueKind::Unknown(_) => match value.ty() {
            Type::List(_) | Type::Set(_) | Type::Tuple(_) => Shape::Items(Vec::new()),
            Type::Map(_) | Type::Object(_) => Shape::Entries(Vec::new()),
            _ => Shape::No,
        },
        ValueKind::List(items) | ValueKind::Set(items) | ValueKind::Tuple(items) => {
            Shape::Items(items.iter().map(|item| shape_of(item, element())).collect())
        }
        ValueKind::Map(entries) => collected(entries.iter().map(|(name, item)| (name, shape_of(item, element())))),
        // Maps of objects whose types differ are objects.
        ValueKind::Object(entries) if described.is_some_and(|described| described.many) => {
            collected(entries.iter().map(|(name, item)| (name, shape_of(item, element()))))
        }
        ValueKind::Object(entries) => collected(entries.iter().map(|(name, item)| {
            let (hidden, inner) = described.map_or((false, None), |described| described.attribute(name));
            (name, if hidden { Shape::Yes } else { shape_of(item, inner) })
        })),
    }
}

fn collected<'v>(shapes: impl Iterator<Item = (&'v Str, Shape<'v>)>) -> Shape<'v> {
    Shape::Entries(shapes.filter(|(_, shape)| *shape != Shape::No).collect())
}

#[cfg(test)]
mod tests {
    use groma_model::mark::Mark;
    use serde_json::json;

    use super::*;

    fn shown(value: &impl Serialize) -> serde_json::Value {
        serde_json::to_value(value).unwrap()
    }

    fn mixed() -> Value {
        Value::object([
            ("known", Value::from("a")),
            ("later", Value::unknown(Type::String)),
            ("list", Value::list(Type::String, vec!["a".into(), Value::unknown(Type::String)])),
            ("nothing", Value::null(Type::String)),
            ("object", Value::object([("a", Value::from(1)), ("b", Value::unknown(Type::Bool))])),
            ("unlisted", Value::unknown(Type::list(Type::String))),
        ])
    }

    #[test]
    fn what_is_not_known_is_left_out() {
        let expected = json!({"known": "a", "list": ["a", null], "nothing": null, "object": {"a": 1}});
        assert_eq!(shown(&Known(&mixed())), expected);
        let expected = json!({"later": true, "list": [false, true], "object": {"b": true}, "unlisted": true});
        assert_eq!(shown(&unknown(&mixed())), expected);
    }

    #[test]
    fn numbers_keep_their_digits() {
        let text = |number: &str| {
            let value = Value::number(Number::parse(number).unwrap());
            serde_json::to_string(&Plain(&value)).unwrap()
        };
        for number in ["0", "-7", "18446744073709551617", "0.1", "123456789012345678901234567890.5"] {
            assert_eq!(text(number), number);
        }
        assert_eq!(text("1e3"), "1000");
    }

    #[test]
    fn secrets_by_mark_and_by_schema() {
        let secret = Attribute { sensitive: true, ..Attribute::of_type(Type::String) };
        let inner = Block { attributes: [(Str::from("token"), secret.clone())].into(), ..Block::default() };
        let nested = |nesting| NestedBlock { block: inner.clone(), nesting, min_items: 0, max_items: 0 };
        let block = Block {
            attributes: [(Str::from("secret"), secret)].into(),
            block_types: [(Str::from("few"), nested(Nesting::List)), (Str::from("one"), nested(Nesting::Single))]
                .into(),
            ..Block::default()
        };
        let object = Value::object([("token", Value::from("t"))]);
        let value = Value::object([
            ("secret", Value::null(Type::String)),
            ("few", Value::list(object.ty(), vec![object.clone()])),
            ("one", object),
            ("plain", Value::list(Type::String, vec!["a".into()])),
            ("marked", Value::from("a").mark(Mark::Sensitive)),
            ("later", Value::unknown(Type::list(Type::String))),
        ]);
        let expected = json!({
            "few": [{"token": true}], "later": [], "marked": true, "one": {"token": true}, "plain": [false], "secret": true,
        });
        assert_eq!(shown(&sensitive(&value, &block)), expected);
        let all = value.clone().with_path_marks(&block.sensitive_marks(&value));
        assert_eq!(shown(&marked(&all)), expected);
        let expected = json!({"few": [{}], "later": [], "marked": true, "one": {}, "plain": [false]});
        assert_eq!(shown(&marked(&without_marks_of(&block, &all, &[]))), expected);
    }
}
