//! `==`, which is three-valued: what is unknown may turn out equal, unless what is known about it says otherwise.

use crate::mark::Marks;
use crate::ty::Type;
use crate::value::canonical::set_contains;
use crate::value::{Data, Value};

impl Value {
    /// `self == other`: a bool, or an unknown bool that is not null. Values of different types are not equal, but nulls
    /// are equal whatever their types.
    pub fn equals(&self, other: &Value) -> Value {
        if !self.contains_marks() && !other.contains_marks() {
            return answer(self.equal_to(other));
        }
        // What is inside takes no part in telling null from not null, so then only the outer marks count.
        let shallow = self.is_null() != other.is_null();
        let (plain, inner) = self.clone().unmark_deep();
        let (plain_other, inner_other) = other.clone().unmark_deep();
        let marks: Marks = if shallow { self.joint_marks(other) } else { inner.union(&inner_other) };
        answer(plain.equal_to(&plain_other)).with_marks(&marks)
    }

    /// `self != other`
    pub fn not_equal(&self, other: &Value) -> Value {
        let (equal, marks) = self.equals(other).unmark();
        answer(equal.as_bool().map(|equal| !equal)).with_marks(&marks)
    }

    /// Whether two values without marks are equal; none if that is not known yet.
    fn equal_to(&self, other: &Value) -> Option<bool> {
        match (self.is_null(), other.is_null()) {
            (true, true) => return Some(true),
            (true, false) if other.is_definitely_not_null() => return Some(false),
            (false, true) if self.is_definitely_not_null() => return Some(false),
            _ => {}
        }
        match (&self.data, &other.data) {
            (Data::Unknown(_), Data::Unknown(_)) => None,
            (_, Data::Unknown(_)) => self.equal_to_unknown(other),
            (Data::Unknown(_), _) => other.equal_to_unknown(self),
            _ if self.is_wholly_known() && other.is_wholly_known() => Some(self.data == other.data),
            _ if self.has_untyped_part() || other.has_untyped_part() => self.equal_to_untyped(other),
            _ if !self.has_type_of(other) => Some(false),
            _ => self.parts_equal(other),
        }
    }

    fn equal_to_unknown(&self, unknown: &Value) -> Option<bool> {
        if self.is_outside(unknown) {
            return Some(false);
        }
        let ty = unknown.ty();
        if self.is_null() || ty.has_dynamic() || self.is_of_type(&ty) { None } else { Some(false) }
    }

    /// Where parts have no type yet, only types that cannot come to agree tell something.
    fn equal_to_untyped(&self, other: &Value) -> Option<bool> {
        let may_agree = self.conforms_to(&other.ty()) || other.conforms_to(&self.ty());
        if may_agree { None } else { Some(false) }
    }

    /// Whether two known values of one type are equal, of which something inside is unknown.
    fn parts_equal(&self, other: &Value) -> Option<bool> {
        match (&self.data, &other.data) {
            (Data::List(a), Data::List(b)) if a.items.len() != b.items.len() => Some(false),
            (Data::List(a), Data::List(b)) => in_order(&a.items, &b.items),
            (Data::Tuple(a), Data::Tuple(b)) => in_order(&a.items, &b.items),
            (Data::Object(a), Data::Object(b)) => in_any_order(a.entries.values(), b.entries.values()),
            (Data::Map(a), Data::Map(b)) if a.entries.names() != b.entries.names() => Some(false),
            (Data::Map(a), Data::Map(b)) => in_any_order(a.entries.values(), b.entries.values()),
            (Data::Set(a), Data::Set(b)) => sets_equal(&a.element, &a.items, &b.items),
            _ => Some(self.data == other.data),
        }
    }
}

fn answer(equal: Option<bool>) -> Value {
    equal.map_or_else(Value::unknown_bool, Value::bool)
}

/// The first pair that is not certain to be equal decides.
fn in_order(a: &[Value], b: &[Value]) -> Option<bool> {
    a.iter().zip(b).map(|(a, b)| a.equal_to(b)).find(|equal| *equal != Some(true)).unwrap_or(Some(true))
}

/// Any pair that is certain to differ decides.
fn in_any_order(a: &[Value], b: &[Value]) -> Option<bool> {
    let mut result = Some(true);
    for (a, b) in a.iter().zip(b) {
        match a.equal_to(b) {
            Some(true) => {}
            Some(false) => return Some(false),
            None => result = None,
        }
    }
    result
}

fn sets_equal(element: &Type, a: &[Value], b: &[Value]) -> Option<bool> {
    if a.iter().chain(b).any(|item| !item.is_known()) {
        return None;
    }
    // An element with something unknown inside is equal to no other.
    let within = || a.iter().all(|item| item.is_wholly_known() && set_contains(element, b, item));
    Some(a.len() == b.len() && within())
}
