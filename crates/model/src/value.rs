//! Values: shared, immutable, typed; possibly null, unknown (with refinements) or marked. Operations are in the submodules.
//!
//! A value is 32 bytes; collections share their contents, so cloning costs a reference count. Every compound value knows
//! whether anything inside is unknown or marked, how many nodes it spans and how deep it is, so those questions cost nothing.

mod build;
mod canonical;
mod entries;
mod marks;
mod ops;
mod refinement;
mod typing;
mod walk;

use std::sync::{Arc, OnceLock};

use crate::mark::Marks;
use crate::number::Number;
use crate::text::Str;
use crate::ty::{ObjectType, Type};

pub use canonical::go_quote;
pub(crate) use canonical::is_printable;
pub use entries::Entries;
pub use marks::PathMarks;
pub use ops::OpError;
pub use refinement::{Bound, Refinement};
pub(crate) use typing::common_type;
pub use walk::WalkControl;

/// How deeply values may be nested. What reads or computes values refuses deeper ones, because everything that walks a
/// value (even freeing it) needs stack for each level.
pub const MAX_DEPTH: u32 = 500;

/// A value of the language.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Value {
    data: Data,
    marks: Marks,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Data {
    Null(Type),
    Unknown(Arc<Unknown>),
    Bool(bool),
    Number(Number),
    String(Str),
    List(Arc<Sequence>),
    Set(Arc<Sequence>),
    Map(Arc<MapData>),
    Tuple(Arc<TupleData>),
    Object(Arc<ObjectData>),
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Unknown {
    ty: Type,
    refinement: Refinement,
    /// Whether the type is not settled: `any` occurs in it.
    untyped: bool,
}

/// Elements of a list (in order) or of a set (in the order that all tools iterate it).
#[derive(PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Sequence {
    element: Type,
    items: Vec<Value>,
    summary: Summary,
}

#[derive(PartialEq, Eq, PartialOrd, Ord, Hash)]
struct MapData {
    element: Type,
    entries: Entries,
    summary: Summary,
}

#[derive(PartialEq, Eq, PartialOrd, Ord, Hash)]
struct TupleData {
    items: Vec<Value>,
    summary: Summary,
    ty: TypeCache,
}

#[derive(PartialEq, Eq, PartialOrd, Ord, Hash)]
struct ObjectData {
    entries: Entries,
    summary: Summary,
    ty: TypeCache,
}

/// What is worth knowing about everything inside a compound value.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Summary {
    has_unknown: bool,
    /// Something unknown whose type is not settled.
    has_untyped: bool,
    has_marks: bool,
    depth: u32,
    nodes: u64,
}

impl Summary {
    fn of<'a>(children: impl IntoIterator<Item = &'a Value>) -> Self {
        let mut summary = Summary { nodes: 1, ..Summary::default() };
        for child in children {
            let inner = child.summary();
            summary.has_unknown |= inner.has_unknown;
            summary.has_untyped |= inner.has_untyped;
            summary.has_marks |= inner.has_marks;
            summary.depth = summary.depth.max(inner.depth);
            summary.nodes = summary.nodes.saturating_add(inner.nodes);
        }
        summary.depth += 1;
        summary
    }
}

/// The type of a tuple or object, worked out when first asked for; says nothing new, so it takes no part in comparisons.
#[derive(Default)]
struct TypeCache(OnceLock<Type>);

impl PartialEq for TypeCache {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for TypeCache {}

impl PartialOrd for TypeCache {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for TypeCache {
    fn cmp(&self, _: &Self) -> std::cmp::Ordering {
        std::cmp::Ordering::Equal
    }
}

impl std::hash::Hash for TypeCache {
    fn hash<H: std::hash::Hasher>(&self, _: &mut H) {}
}

/// A look at a value without its marks.
#[derive(Clone, Copy)]
pub enum ValueKind<'a> {
    /// Null of some type.
    Null,
    /// Not known yet.
    Unknown(&'a Refinement),
    /// A bool.
    Bool(bool),
    /// A number.
    Number(&'a Number),
    /// A string.
    String(&'a Str),
    /// Elements of a list.
    List(&'a [Value]),
    /// Elements of a set, in iteration order, without duplicates.
    Set(&'a [Value]),
    /// Entries of a map.
    Map(&'a Entries),
    /// Elements of a tuple.
    Tuple(&'a [Value]),
    /// Attributes of an object.
    Object(&'a Entries),
}

impl Value {
    /// What it is, marks left aside.
    pub fn kind(&self) -> ValueKind<'_> {
        match &self.data {
            Data::Null(_) => ValueKind::Null,
            Data::Unknown(unknown) => ValueKind::Unknown(&unknown.refinement),
            Data::Bool(value) => ValueKind::Bool(*value),
            Data::Number(number) => ValueKind::Number(number),
            Data::String(text) => ValueKind::String(text),
            Data::List(list) => ValueKind::List(&list.items),
            Data::Set(set) => ValueKind::Set(&set.items),
            Data::Map(map) => ValueKind::Map(&map.entries),
            Data::Tuple(tuple) => ValueKind::Tuple(&tuple.items),
            Data::Object(object) => ValueKind::Object(&object.entries),
        }
    }

    /// Its type. Worked out once per tuple or object, then shared.
    pub fn ty(&self) -> Type {
        match &self.data {
            Data::Null(ty) => ty.clone(),
            Data::Unknown(unknown) => unknown.ty.clone(),
            Data::Bool(_) => Type::Bool,
            Data::Number(_) => Type::Number,
            Data::String(_) => Type::String,
            Data::List(list) => Type::list(list.element.clone()),
            Data::Set(set) => Type::set(set.element.clone()),
            Data::Map(map) => Type::map(map.element.clone()),
            Data::Tuple(tuple) => {
                tuple.ty.0.get_or_init(|| Type::tuple(tuple.items.iter().map(Value::ty).collect())).clone()
            }
            Data::Object(object) => object.ty.0.get_or_init(|| object_type(&object.entries)).clone(),
        }
    }

    /// Whether it is null.
    pub fn is_null(&self) -> bool {
        matches!(self.data, Data::Null(_))
    }

    /// Whether it is known itself; what is inside may still be unknown.
    pub fn is_known(&self) -> bool {
        !matches!(self.data, Data::Unknown(_))
    }

    /// Whether it and everything inside is known.
    pub fn is_wholly_known(&self) -> bool {
        !self.summary().has_unknown
    }

    /// Whether it is, or has inside, something unknown whose type is not settled.
    pub fn has_untyped_part(&self) -> bool {
        self.summary().has_untyped
    }

    /// Marks on the value itself.
    pub fn marks(&self) -> &Marks {
        &self.marks
    }

    /// Whether it or anything inside is marked.
    pub fn contains_marks(&self) -> bool {
        !self.marks.is_empty() || self.summary().has_marks
    }

    /// How many values it is made of, counting shared parts as often as they occur. Bounds the cost of walking it.
    pub fn node_count(&self) -> u64 {
        self.summary().nodes
    }

    /// Whether it is nested deeper than values may be.
    pub fn is_too_deep(&self) -> bool {
        self.depth() > MAX_DEPTH
    }

    /// How many levels of nesting it has; 0 for a primitive.
    pub fn depth(&self) -> u32 {
        self.summary().depth
    }

    /// The text of a known string.
    pub fn as_str(&self) -> Option<&str> {
        match &self.data {
            Data::String(text) => Some(text),
            _ => None,
        }
    }

    /// A known number.
    pub fn as_number(&self) -> Option<&Number> {
        match &self.data {
            Data::Number(number) => Some(number),
            _ => None,
        }
    }

    /// A known bool.
    pub fn as_bool(&self) -> Option<bool> {
        match &self.data {
            Data::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// Elements of a known list, set or tuple.
    pub fn as_elements(&self) -> Option<&[Value]> {
        match self.kind() {
            ValueKind::List(items) | ValueKind::Set(items) | ValueKind::Tuple(items) => Some(items),
            _ => None,
        }
    }

    /// Entries of a known map or object.
    pub fn as_entries(&self) -> Option<&Entries> {
        match self.kind() {
            ValueKind::Map(entries) | ValueKind::Object(entries) => Some(entries),
            _ => None,
        }
    }

    /// Whether nothing tells it from another one, not even how precise its numbers are, which may show once they are written or reckoned
    /// with.
    pub fn is_same(&self, other: &Value) -> bool {
        let (one, another) = (&self.data, &other.data);
        self.marks == other.marks && (one.is_shared_with(another) || one == another && self.is_as_precise_as(other))
    }

    /// Whether the numbers in both, which are equal, are equally precise.
    fn is_as_precise_as(&self, other: &Value) -> bool {
        match (&self.data, &other.data) {
            (Data::Null(_) | Data::Unknown(_) | Data::Bool(_) | Data::String(_), _) => true,
            (Data::Number(one), Data::Number(other)) => one.precision() == other.precision(),
            (one, another) if one.is_shared_with(another) => true,
            _ => self.parts().iter().zip(other.parts()).all(|(one, other)| one.is_as_precise_as(other)),
        }
    }

    /// The direct parts of a compound value.
    pub(crate) fn parts(&self) -> &[Value] {
        match self.kind() {
            ValueKind::List(items) | ValueKind::Set(items) | ValueKind::Tuple(items) => items,
            ValueKind::Map(entries) | ValueKind::Object(entries) => entries.values(),
            _ => &[],
        }
    }

    fn summary(&self) -> Summary {
        let mut summary = self.data.summary();
        summary.has_marks |= !self.marks.is_empty();
        summary
    }
}

impl Data {
    /// Whether both are in the same place, which is seen at a glance.
    fn is_shared_with(&self, other: &Data) -> bool {
        match (self, other) {
            (Data::Unknown(one), Data::Unknown(other)) => Arc::ptr_eq(one, other),
            (Data::String(one), Data::String(other)) => std::ptr::eq(one.as_str(), other.as_str()),
            (Data::List(one), Data::List(other)) | (Data::Set(one), Data::Set(other)) => Arc::ptr_eq(one, other),
            (Data::Map(one), Data::Map(other)) => Arc::ptr_eq(one, other),
            (Data::Tuple(one), Data::Tuple(other)) => Arc::ptr_eq(one, other),
            (Data::Object(one), Data::Object(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }

    fn summary(&self) -> Summary {
        match self {
            Data::Null(_) | Data::Bool(_) | Data::Number(_) | Data::String(_) => {
                Summary { nodes: 1, ..Summary::default() }
            }
            Data::Unknown(unknown) => {
                Summary { has_unknown: true, has_untyped: unknown.untyped, nodes: 1, ..Summary::default() }
            }
            Data::List(list) => list.summary,
            Data::Set(set) => set.summary,
            Data::Map(map) => map.summary,
            Data::Tuple(tuple) => tuple.summary,
            Data::Object(object) => object.summary,
        }
    }
}

fn object_type(entries: &Entries) -> Type {
    Type::Object(Arc::new(ObjectType::new(entries.iter().map(|(name, value)| (name.clone(), value.ty())))))
}

/// For developers and test failures. A sensitive value shows nothing.
impl std::fmt::Debug for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.marks.is_sensitive() {
            return f.write_str("(sensitive)");
        }
        match self.kind() {
            ValueKind::Null => write!(f, "null:{}", self.ty()),
            ValueKind::Unknown(refinement) if refinement.is_none() => write!(f, "unknown:{}", self.ty()),
            ValueKind::Unknown(refinement) => write!(f, "unknown:{} {refinement:?}", self.ty()),
            ValueKind::Bool(value) => write!(f, "{value}"),
            ValueKind::Number(number) => write!(f, "{number}"),
            ValueKind::String(text) => write!(f, "{text:?}"),
            ValueKind::List(items) => f.write_str("list").and_then(|()| f.debug_list().entries(items).finish()),
            ValueKind::Set(items) => f.write_str("set").and_then(|()| f.debug_list().entries(items).finish()),
            ValueKind::Tuple(items) => f.debug_list().entries(items).finish(),
            ValueKind::Map(entries) => f.write_str("map").and_then(|()| f.debug_map().entries(entries.iter()).finish()),
            ValueKind::Object(entries) => f.debug_map().entries(entries.iter()).finish(),
        }?;
        for mark in self.marks.iter() {
            write!(f, " marked {mark:?}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mark::Mark;

    #[test]
    fn a_value_is_four_words() {
        assert_eq!(size_of::<Value>(), 32);
    }

    #[test]
    fn equal_numbers_are_not_the_same_if_one_is_more_precise() {
        let numbers = [Number::from_f64(2_f64.powi(70)), Number::parse("1180591620717411303424")];
        let [rough, exact] = numbers.map(|number| number.map_or(Value::null(Type::Number), Value::number));
        assert_eq!(rough, exact);
        assert_ne!(rough.as_number().map(ToString::to_string), exact.as_number().map(ToString::to_string));
        assert!(!rough.is_same(&exact) && exact.is_same(&exact.clone()));
        let [rough, exact] = [rough, exact].map(|number| Value::tuple(vec![Value::string("a"), number]));
        assert_eq!(rough, exact);
        assert!(!rough.is_same(&exact) && exact.is_same(&exact.clone()));
        assert!(exact.is_same(&Value::tuple(exact.parts().to_vec())));
    }

    #[test]
    fn the_same_has_the_same_marks() {
        let (plain, secret) = (Value::string("a"), Value::string("a").mark(Mark::Sensitive));
        assert!(plain.is_same(&Value::string("a")) && secret.is_same(&secret.clone()));
        assert!(!plain.is_same(&secret) && !plain.is_same(&Value::string("b")));
    }
}
