//! Following a path through a value. What kind of value is there decides whether a name means one attribute or one of each element.

use std::fmt;

use groma_model::mark::Marks;
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_model::value::{Entries, Value, ValueKind, go_quote};

use super::{FieldPath, FieldStep};
use crate::replace::case::View;

/// What a path leads to. It has the marks of everything that it is a part of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reading {
    /// One value: null if it is not there, unknown if what it is a part of is.
    One(Value),
    /// One for each element of the collections on the way.
    Many(Vec<Element>),
}

/// A value that was found on a path with collections on the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Element {
    /// Which element of each of the collections.
    pub at: Spots,
    /// The value.
    pub value: Value,
}

/// Which element of a collection.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Spot {
    /// Of a list.
    Index(usize),
    /// Of a map.
    Key(Str),
    /// Some element of a set.
    Member,
}

/// Which elements of collections inside each other, the outermost first. Mostly there is only one, which then needs no memory of its own.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spots {
    first: Option<Spot>,
    others: Vec<Spot>,
}

impl Spots {
    /// The elements.
    pub fn iter(&self) -> impl Iterator<Item = &Spot> {
        self.first.iter().chain(&self.others)
    }

    fn push(&mut self, spot: Spot) {
        match self.first {
            None => self.first = Some(spot),
            Some(_) => self.others.push(spot),
        }
    }

    fn pop(&mut self) {
        if self.others.pop().is_none() {
            self.first = None;
        }
    }
}

impl FromIterator<Spot> for Spots {
    fn from_iter<I: IntoIterator<Item = Spot>>(iter: I) -> Self {
        let mut spots = iter.into_iter();
        Self { first: spots.next(), others: spots.collect() }
    }
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Spot::Index(index) => write!(f, "[{index}]"),
            Spot::Key(key) => write!(f, "[{}]", go_quote(key)),
            Spot::Member => f.write_str("[*]"),
        }
    }
}

impl Reading {
    /// The values.
    pub fn values(&self) -> impl Iterator<Item = &Value> {
        let (one, many) = match self {
            Reading::One(value) => (Some(value), &[][..]),
            Reading::Many(elements) => (None, &elements[..]),
        };
        one.into_iter().chain(many.iter().map(|element| &element.value))
    }
}

/// Where one step leads.
enum Down<'v> {
    To(&'v Value),
    Nothing,
    Unknown,
    /// To each of several; whether the step is used up by that.
    Each(Each<'v>, bool),
}

/// The elements of a collection.
#[derive(Clone, Copy)]
enum Each<'v> {
    List(&'v [Value]),
    Set(&'v [Value]),
    Named(&'v Entries),
}

impl<'v> Each<'v> {
    fn len(self) -> usize {
        match self {
            Each::List(items) | Each::Set(items) => items.len(),
            Each::Named(entries) => entries.len(),
        }
    }

    fn values(self) -> &'v [Value] {
        match self {
            Each::List(items) | Each::Set(items) => items,
            Each::Named(entries) => entries.values(),
        }
    }

    fn get(self, at: usize) -> Option<(Spot, &'v Value)> {
        match self {
            Each::List(items) => Some((Spot::Index(at), items.get(at)?)),
            Each::Set(items) => Some((Spot::Member, items.get(at)?)),
            Each::Named(entries) => Some((Spot::Key(entries.names().get(at)?.clone()), entries.values().get(at)?)),
        }
    }

    fn iter(self) -> impl Iterator<Item = (Spot, &'v Value)> {
        (0..self.len()).filter_map(move |at| self.get(at))
    }
}

impl FieldPath {
    /// What it leads to in an object.
    pub fn read(&self, object: &Value) -> Reading {
        let mut elements = Vec::new();
        match follow(object, Marks::NONE, &self.steps, &mut Spots::default(), &mut elements) {
            Some(value) => Reading::One(value),
            None => Reading::Many(elements),
        }
    }

    /// The one value that it leads to, if it does so without further ado: not through elements, and not through anything with marks.
    pub(crate) fn lookup<'v>(&self, object: &'v Value) -> Option<&'v Value> {
        if let (ValueKind::Object(entries), [FieldStep::Name(name), rest @ ..]) = (object.kind(), self.steps.as_slice())
            && object.marks().is_empty()
        {
            return straight_on(self.place_of_first.find(|place| entries.get_near(name, place))?, rest);
        }
        straight_on(object, &self.steps)
    }

    /// The same, in a view that need not be there as a whole for that.
    pub(crate) fn lookup_in<'v>(&self, view: &'v dyn View) -> Option<&'v Value> {
        if let [FieldStep::Name(name), rest @ ..] = self.steps.as_slice()
            && let Some(value) = self.place_of_first.find(|place| view.attribute(name, place))
        {
            return straight_on(value, rest);
        }
        self.lookup(view.value())
    }

    /// The same as `read`, of values where they stand, without the marks of what they are a part of.
    pub(crate) fn sight<'v>(&self, object: &'v Value) -> Sights<'v> {
        let mut many = Vec::new();
        match see(object, &self.steps, &mut many) {
            Some(one) => Sights::One(one),
            None => Sights::Many(many),
        }
    }
}

/// Where steps lead to, not through elements and not through anything with marks.
fn straight_on<'v>(mut value: &'v Value, steps: &[FieldStep]) -> Option<&'v Value> {
    for step in steps {
        match down(value, step) {
            Down::To(inner) if value.marks().is_empty() => value = inner,
            _ => return None,
        }
    }
    Some(value)
}

/// What a path leads to, where it stands.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Sight<'v> {
    /// A value.
    Value(&'v Value),
    /// Nothing is there.
    Nothing,
    /// Something may be there.
    Unknown,
}

/// What a path leads to: one, or one for each element of the collections on the way.
pub(crate) enum Sights<'v> {
    One(Sight<'v>),
    Many(Vec<Sight<'v>>),
}

fn see<'v>(value: &'v Value, steps: &[FieldStep], out: &mut Vec<Sight<'v>>) -> Option<Sight<'v>> {
    let mut value = value;
    for (used, step) in steps.iter().enumerate() {
        match down(value, step) {
            Down::To(inner) => value = inner,
            Down::Nothing => return Some(Sight::Nothing),
            Down::Unknown => return Some(Sight::Unknown),
            Down::Each(items, uses_step) => {
                let rest = &steps[used + usize::from(uses_step)..];
                out.reserve(items.len());
                for item in items.values() {
                    let found = see(item, rest, out);
                    out.extend(found);
                }
                return None;
            }
        }
    }
    Some(Sight::Value(value))
}

impl FieldPath {
    /// The path to one of the elements that were found in an object: `disk[1].source` for `disk[*].source` and for `disk.source`.
    pub(crate) fn concrete(&self, object: &Value, spots: &Spots) -> String {
        let (mut value, mut spots, mut text) = (Some(object), spots.iter(), String::new());
        for step in &self.steps {
            let mut is_used = false;
            while let Some(Down::Each(items, uses_step)) = value.map(|value| down(value, step))
                && !is_used
            {
                let spot = spots.next();
                text.push_str(&spot.map_or_else(|| "[*]".to_owned(), Spot::to_string));
                value = items.iter().find(|(own, _)| spot.is_none_or(|spot| own == spot)).map(|(_, item)| item);
                is_used = uses_step;
            }
            if is_used {
                continue;
            }
            value = match value.map(|value| down(value, step)) {
                Some(Down::To(inner)) => Some(inner),
                _ => None,
            };
            match step {
                FieldStep::Every => text.push_str(&spots.next().map_or_else(|| "[*]".to_owned(), Spot::to_string)),
                other => other.write_to(&mut text),
            }
        }
        text
    }
}

/// The value, unless there are several, which go to `out`.
fn follow(
    value: &Value,
    mut marks: Marks,
    steps: &[FieldStep],
    at: &mut Spots,
    out: &mut Vec<Element>,
) -> Option<Value> {
    let mut value = value;
    for (used, step) in steps.iter().enumerate() {
        if !value.marks().is_empty() {
            marks = marks.union(value.marks());
        }
        match down(value, step) {
            Down::To(inner) => value = inner,
            Down::Nothing => return Some(Value::null(Type::Dynamic).with_marks(&marks)),
            Down::Unknown => return Some(Value::dynamic().with_marks(&marks)),
            Down::Each(items, uses_step) => {
                let rest = &steps[used + usize::from(uses_step)..];
                out.reserve(items.len());
                for (spot, item) in items.iter() {
                    at.push(spot);
                    if let Some(value) = follow(item, marks.clone(), rest, at, out) {
                        out.push(Element { at: at.clone(), value });
                    }
                    at.pop();
                }
                return None;
            }
        }
    }
    Some(if marks.is_empty() { value.clone() } else { value.clone().with_marks(&marks) })
}

fn down<'v>(value: &'v Value, step: &FieldStep) -> Down<'v> {
    let to = |inner: Option<&'v Value>| inner.map_or(Down::Nothing, Down::To);
    match (value.kind(), step) {
        (ValueKind::Null, _) => Down::Nothing,
        (ValueKind::Unknown(_), _) => Down::Unknown,
        (ValueKind::List(items) | ValueKind::Tuple(items), FieldStep::Every | FieldStep::Name(_)) => {
            Down::Each(Each::List(items), *step == FieldStep::Every)
        }
        (ValueKind::Set(items), FieldStep::Every | FieldStep::Name(_)) => {
            Down::Each(Each::Set(items), *step == FieldStep::Every)
        }
        (ValueKind::List(items) | ValueKind::Tuple(items), FieldStep::Index(index)) => {
            to(usize::try_from(*index).ok().and_then(|index| items.get(index)))
        }
        (ValueKind::Map(entries) | ValueKind::Object(entries), FieldStep::Every) => {
            Down::Each(Each::Named(entries), true)
        }
        (ValueKind::Map(entries), FieldStep::Name(_)) if holds_objects(value, entries) => {
            Down::Each(Each::Named(entries), false)
        }
        (ValueKind::Map(entries) | ValueKind::Object(entries), FieldStep::Name(name) | FieldStep::Key(name)) => {
            to(entries.get(name))
        }
        (ValueKind::Map(entries) | ValueKind::Object(entries), FieldStep::Index(index)) => {
            to(entries.get(&index.to_string()))
        }
        _ => Down::Nothing,
    }
}

/// Whether a name on a map means an attribute of each of its elements, and not one of its keys.
fn holds_objects(map: &Value, entries: &Entries) -> bool {
    match entries.values().first().map(Value::kind) {
        Some(ValueKind::Object(_)) => true,
        Some(ValueKind::Bool(_) | ValueKind::Number(_) | ValueKind::String(_)) => false,
        _ => matches!(map.ty().element(), Some(Type::Object(_))),
    }
}
