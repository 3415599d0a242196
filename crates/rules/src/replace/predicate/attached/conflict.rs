//! Whether elements of the old object and of the new one are after the same thing.

use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hash, Hasher};

use groma_model::schema::Block;
use groma_model::ty::Type;
use groma_model::value::{Value, ValueKind};

use crate::replace::compare::{Comparison, Mixer};
use crate::replace::path::{FieldPath, FieldStep, Reading};
use crate::replace::truth::Truth;

/// What an element claims, without marks.
#[derive(PartialEq, Eq)]
enum Tuple<'v> {
    Whole(Cow<'v, Value>),
    Parts(Vec<Value>),
}

impl Tuple<'_> {
    fn parts(&self) -> &[Value] {
        match self {
            Tuple::Whole(value) => std::slice::from_ref(value),
            Tuple::Parts(parts) => parts,
        }
    }
}

/// What is the same is found by a number.
impl Hash for Tuple<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.parts().iter().for_each(|part| state.write_u64(Comparison::default().digest(part)));
    }
}

/// What the elements of the new object claim.
pub(super) struct New<'v> {
    known: HashSet<Tuple<'v>, BuildHasherDefault<Mixer>>,
    /// Those with something in them that is not known yet.
    partly: Vec<Tuple<'v>>,
    /// Whether there may be elements that are not known at all.
    open: bool,
}

impl<'v> New<'v> {
    pub(super) fn of(reading: &'v Reading, exclusive: &[FieldPath], block: Option<&Block>) -> Self {
        let mut new = Self { known: HashSet::default(), partly: Vec::new(), open: false };
        for value in reading.values() {
            new.open |= !value.is_known();
            let elements = elements(value);
            new.known.reserve(elements.len());
            for element in elements {
                let tuple = tuple(element, exclusive, block);
                if tuple.parts().iter().all(Value::is_wholly_known) {
                    new.known.insert(tuple);
                } else if tuple.parts().iter().all(|part| !part.is_known()) {
                    new.open = true;
                } else {
                    new.partly.push(tuple);
                }
            }
        }
        new
    }

    /// Whether one of them claims what an element of the old object has.
    pub(super) fn holds(&self, old: &Value, exclusive: &[FieldPath], block: Option<&Block>) -> Truth {
        let tuple = tuple(old, exclusive, block);
        if tuple.parts().iter().all(is_nothing) {
            return Truth::False;
        }
        if self.known.contains(&tuple) {
            return Truth::True;
        }
        let may = |new: &Tuple<'_>| {
            let parts = new.parts().iter().zip(tuple.parts());
            parts.fold(Truth::True, |so_far, (new, old)| so_far.and(same(new, old)))
        };
        if self.open || self.partly.iter().any(|new| may(new) != Truth::False) { Truth::Unknown } else { Truth::False }
    }
}

/// The elements of a collection, or the one object that it is.
pub(super) fn elements(value: &Value) -> &[Value] {
    match value.kind() {
        ValueKind::List(items) | ValueKind::Set(items) | ValueKind::Tuple(items) => items,
        ValueKind::Map(entries) => entries.values(),
        ValueKind::Null | ValueKind::Unknown(_) => &[],
        _ => std::slice::from_ref(value),
    }
}

/// The block that a path leads to.
pub(super) fn block_at<'s>(block: &'s Block, steps: &[FieldStep]) -> Option<&'s Block> {
    let names = steps.iter().filter_map(|step| match step {
        FieldStep::Name(name) => Some(name),
        _ => None,
    });
    let mut block = block;
    for name in names {
        block = &block.block_types.get(name)?.block;
    }
    Some(block)
}

fn tuple<'v>(element: &'v Value, exclusive: &[FieldPath], block: Option<&Block>) -> Tuple<'v> {
    if !exclusive.is_empty() {
        return Tuple::Parts(exclusive.iter().map(|path| one(path.read(element))).collect());
    }
    Tuple::Whole(match block {
        Some(block) => Cow::Owned(configured(element, block).unmark_deep().0),
        None if element.contains_marks() => Cow::Owned(element.clone().unmark_deep().0),
        None => Cow::Borrowed(element),
    })
}

fn one(reading: Reading) -> Value {
    let plain = |value: Value| {
        let value = value.unmark_deep().0;
        if value.is_null() { Value::null(Type::Dynamic) } else { value }
    };
    match reading {
        Reading::One(value) => plain(value),
        Reading::Many(elements) => {
            let mut values: Vec<Value> = elements.into_iter().map(|element| plain(element.value)).collect();
            values.sort();
            Value::tuple(values)
        }
    }
}

/// An element without what the provider decides.
fn configured(element: &Value, block: &Block) -> Value {
    let ValueKind::Object(entries) = element.kind() else { return element.clone() };
    let kept =
        entries.iter().filter_map(|(name, value)| match (block.attributes.get(name), block.block_types.get(name)) {
            (Some(attribute), _) if attribute.computed => None,
            (None, Some(nested)) if value.is_known() => {
                let inner = elements(value).iter().map(|inner| configured(inner, &nested.block)).collect();
                Some((name.clone(), Value::tuple(inner)))
            }
            _ => Some((name.clone(), value.clone())),
        });
    Value::object(kept)
}

/// Whether nothing at all is in it.
fn is_nothing(value: &Value) -> bool {
    match value.kind() {
        ValueKind::Null => true,
        ValueKind::List(items) | ValueKind::Set(items) | ValueKind::Tuple(items) => items.iter().all(is_nothing),
        ValueKind::Map(entries) | ValueKind::Object(entries) => entries.values().iter().all(is_nothing),
        _ => false,
    }
}

/// Whether two values are the same, as far as that is known.
fn same(new: &Value, old: &Value) -> Truth {
    match (new.kind(), old.kind()) {
        (ValueKind::Unknown(_), _) | (_, ValueKind::Unknown(_)) => Truth::Unknown,
        (ValueKind::Null, ValueKind::Null) => Truth::True,
        (ValueKind::Object(a) | ValueKind::Map(a), ValueKind::Object(b) | ValueKind::Map(b)) => {
            let alike = a.len() == b.len() && a.iter().zip(b.iter()).all(|((a, _), (b, _))| a == b);
            if alike { all(a.values(), b.values()) } else { Truth::False }
        }
        (ValueKind::List(a) | ValueKind::Tuple(a), ValueKind::List(b) | ValueKind::Tuple(b)) => {
            if a.len() == b.len() {
                all(a, b)
            } else {
                Truth::False
            }
        }
        (ValueKind::Set(_), ValueKind::Set(_)) if !new.is_wholly_known() => Truth::Unknown,
        _ => Truth::from(new == old),
    }
}

fn all(a: &[Value], b: &[Value]) -> Truth {
    a.iter().zip(b).fold(Truth::True, |so_far, (a, b)| so_far.and(same(a, b)))
}
