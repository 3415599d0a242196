//! Making values. The constructors keep the invariants: elements have the element type, sets are ordered and distinct.

use std::sync::Arc;

use super::{Data, Entries, MapData, ObjectData, Refinement, Sequence, Summary, TupleData, TypeCache, Unknown, Value};
use crate::mark::Marks;
use crate::number::Number;
use crate::text::Str;
use crate::ty::Type;

impl Value {
    fn plain(data: Data) -> Value {
        Value { data, marks: Marks::NONE }
    }

    /// Null of a type.
    pub fn null(ty: Type) -> Value {
        Value::plain(Data::Null(ty))
    }

    /// An unknown value of a type.
    pub fn unknown(ty: Type) -> Value {
        Value::unknown_of(ty, Refinement::default())
    }

    /// An unknown value of which nothing is known, not even its type.
    pub fn dynamic() -> Value {
        Value::unknown(Type::Dynamic)
    }

    /// An unknown value of which something is known. Becomes a known value where only one is left.
    pub fn unknown_refined(ty: Type, refinement: Refinement) -> Value {
        let (refinement, only) = refinement.settle(&ty);
        only.unwrap_or_else(|| Value::unknown_of(ty, refinement))
    }

    fn unknown_of(ty: Type, refinement: Refinement) -> Value {
        let untyped = ty.has_dynamic();
        Value::plain(Data::Unknown(Arc::new(Unknown { ty, refinement, untyped })))
    }

    /// A bool.
    pub fn bool(value: bool) -> Value {
        Value::plain(Data::Bool(value))
    }

    /// A number.
    pub fn number(number: impl Into<Number>) -> Value {
        Value::plain(Data::Number(number.into()))
    }

    /// A string, normalised.
    pub fn string(text: impl Into<Str>) -> Value {
        Value::plain(Data::String(text.into()))
    }

    /// A list. Elements must have the element type; nulls and unknowns of no type get it. If the element type is `any`,
    /// it is that of the first element that has one.
    pub fn list(element: Type, items: Vec<Value>) -> Value {
        let element = settled_element(element, &items);
        let items: Vec<Value> = items.into_iter().map(|item| item.settled_as(&element)).collect();
        let summary = Summary::of(&items);
        Value::plain(Data::List(Arc::new(Sequence { element, items, summary })))
    }

    /// A set, in iteration order and without duplicates. Marks of elements move to the set. Types are as for lists.
    pub fn set(element: Type, items: Vec<Value>) -> Value {
        let element = settled_element(element, &items);
        let mut marks = Marks::NONE;
        let mut plain = Vec::with_capacity(items.len());
        for item in items {
            let (item, inner) = item.settled_as(&element).unmark_deep();
            marks = marks.union(&inner);
            plain.push(item);
        }
        let items = super::canonical::ordered_set(&element, plain);
        let summary = Summary::of(&items);
        Value { data: Data::Set(Arc::new(Sequence { element, items, summary })), marks }
    }

    /// A map. Types are as for lists.
    pub fn map(element: Type, entries: Entries) -> Value {
        let element = settled_element(element, entries.values());
        let entries = entries.map_values(|item| item.clone().settled_as(&element));
        let summary = Summary::of(entries.values());
        Value::plain(Data::Map(Arc::new(MapData { element, entries, summary })))
    }

    /// A tuple.
    pub fn tuple(items: Vec<Value>) -> Value {
        let summary = Summary::of(&items);
        Value::plain(Data::Tuple(Arc::new(TupleData { items, summary, ty: TypeCache::default() })))
    }

    /// An object from its entries.
    pub fn object_of(entries: Entries) -> Value {
        let summary = Summary::of(entries.values());
        Value::plain(Data::Object(Arc::new(ObjectData { entries, summary, ty: TypeCache::default() })))
    }

    /// An object. Of equal names the last one wins.
    pub fn object<N: Into<Str>>(attributes: impl IntoIterator<Item = (N, Value)>) -> Value {
        Value::object_of(attributes.into_iter().collect())
    }

    /// The object without attributes.
    pub fn empty_object() -> Value {
        Value::object_of(Entries::default())
    }

    /// A list of strings.
    pub fn strings<S: Into<Str>>(items: impl IntoIterator<Item = S>) -> Value {
        Value::list(Type::String, items.into_iter().map(Value::string).collect())
    }

    /// Nulls and unknowns of no type take on the type of the collection that they are put into.
    fn settled_as(self, element: &Type) -> Value {
        match &self.data {
            Data::Null(Type::Dynamic) if *element != Type::Dynamic => {
                Value { data: Data::Null(element.clone()), marks: self.marks }
            }
            Data::Unknown(unknown) if unknown.ty == Type::Dynamic && *element != Type::Dynamic => {
                Value { marks: self.marks.clone(), ..Value::unknown(element.clone()) }
            }
            _ => self,
        }
    }
}

/// The element type of a collection: the given one, unless that is open and the elements say more.
fn settled_element(element: Type, items: &[Value]) -> Type {
    if element != Type::Dynamic {
        return element;
    }
    items.iter().find(|item| !item.is_dynamic()).map_or(element, Value::ty)
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Value::bool(value)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::string(text)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::string(text)
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Value::number(number)
    }
}
