//! Objects against their schemas: what to propose to a provider, and what its answers may say. Pure functions on values
//! without marks.

pub mod compatible;
pub mod legacy;
pub mod plan_valid;
pub mod propose;
pub mod settled;

#[cfg(test)]
mod testing;

use groma_model::path::{Path, PathKey, PathStep};
use groma_model::ty::Type;
use groma_model::value::{Entries, Value, ValueKind};

/// Something that an answer must not say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// Where in the object.
    pub path: Path,
    /// What is wrong.
    pub message: String,
}

impl Mismatch {
    fn new(path: &Path, message: impl Into<String>) -> Self {
        Self { path: path.clone(), message: message.into() }
    }
}

impl std::fmt::Display for Mismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.path.is_empty() { f.write_str(&self.message) } else { write!(f, "{}: {}", self.path, self.message) }
    }
}

/// A part of an object that may be null or unknown as a whole.
fn part(object: &Value, name: &str, ty: impl FnOnce() -> Type) -> Value {
    match object.kind() {
        ValueKind::Object(entries) | ValueKind::Map(entries) => {
            entries.get(name).cloned().unwrap_or_else(|| Value::null(ty()))
        }
        ValueKind::Unknown(_) => Value::unknown(ty()),
        _ => Value::null(ty()),
    }
}

/// The items of a list or tuple.
fn items(value: &Value) -> &[Value] {
    match value.kind() {
        ValueKind::List(items) | ValueKind::Tuple(items) | ValueKind::Set(items) => items,
        _ => &[],
    }
}

/// A collection of the same kind with other contents. `values` come in the order of the old ones.
fn with_contents(like: &Value, values: Vec<Value>) -> Value {
    let element = || like.element_type().cloned().unwrap_or(Type::Dynamic);
    match like.kind() {
        ValueKind::List(_) => Value::list(element(), values),
        ValueKind::Set(_) => Value::set(element(), values),
        ValueKind::Tuple(_) => Value::tuple(values),
        ValueKind::Map(entries) => {
            Value::map(element(), Entries::with_names(std::sync::Arc::clone(entries.names()), values))
        }
        ValueKind::Object(entries) => {
            Value::object_of(Entries::with_names(std::sync::Arc::clone(entries.names()), values))
        }
        _ => like.clone(),
    }
}

/// Whether two values are the same if nothing but the type of unknown parts counts.
fn same_but_refinements(a: &Value, b: &Value) -> bool {
    if a == b {
        return true;
    }
    match (a.kind(), b.kind()) {
        (ValueKind::Unknown(_), ValueKind::Unknown(_)) => a.ty() == b.ty(),
        (ValueKind::List(x), ValueKind::List(y))
        | (ValueKind::Tuple(x), ValueKind::Tuple(y))
        | (ValueKind::Set(x), ValueKind::Set(y)) => {
            x.len() == y.len() && x.iter().zip(y).all(|(x, y)| same_but_refinements(x, y))
        }
        (ValueKind::Map(x), ValueKind::Map(y)) | (ValueKind::Object(x), ValueKind::Object(y)) => {
            x.names() == y.names() && x.values().iter().zip(y.values()).all(|(x, y)| same_but_refinements(x, y))
        }
        _ => false,
    }
}

/// A value for the people who will mend the provider.
fn shown(value: &Value) -> String {
    groma_lang::display::compact(value)
}

/// A value with another part at a step. As it was if there is nothing at it.
pub(crate) fn with_part(value: &Value, step: &PathStep, part: Value) -> Value {
    let replaced = |values: &[Value], at: usize| {
        let mut values = values.to_vec();
        if let Some(place) = values.get_mut(at) {
            *place = part.clone();
        }
        with_contents(value, values)
    };
    match (value.kind(), step) {
        (
            ValueKind::Object(entries) | ValueKind::Map(entries),
            PathStep::Attr(name) | PathStep::Index(PathKey::String(name)),
        ) => {
            let at = entries.iter().position(|(known, _)| known == name);
            at.map_or_else(|| value.clone(), |at| replaced(entries.values(), at))
        }
        (ValueKind::List(items) | ValueKind::Tuple(items), PathStep::Index(PathKey::Number(at))) => {
            at.to_usize().map_or_else(|| value.clone(), |at| replaced(items, at))
        }
        _ => value.clone(),
    }
}

/// A value with null wherever it is unknown: nothing unknown is ever stored.
pub(crate) fn known_only(value: &Value) -> Value {
    let known = value.transform::<std::convert::Infallible>(&mut |_, part| {
        Ok(if part.is_known() { part } else { Value::null(part.ty()) })
    });
    match known {
        Ok(value) => value,
        Err(never) => match never {},
    }
}
