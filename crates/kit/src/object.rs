//! An object of a schema, with typed access to its attributes.

use std::collections::BTreeMap;

use groma_model::number::Number;
use groma_model::path::{Path, PathKey, PathStep};
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_model::value::{Entries, Value};

/// An object: a configuration, a plan or a stored one. Attributes that are null or unknown read as none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object(BTreeMap<Str, Value>);

impl Object {
    /// The attributes of a value; none at all if it is null or unknown.
    pub fn of(value: &Value) -> Self {
        let entries = value.as_entries();
        Self(entries.into_iter().flat_map(Entries::iter).map(|(n, v)| (n.clone(), v.clone())).collect())
    }

    /// The value again.
    pub fn into_value(self) -> Value {
        Value::object(self.0)
    }

    /// The value again, from a copy.
    pub fn to_value(&self) -> Value {
        self.clone().into_value()
    }

    /// An attribute, whatever it is. Null if there is none of that name.
    pub fn get(&self, name: &str) -> Value {
        self.0.get(name).cloned().unwrap_or_else(|| Value::null(Type::Dynamic))
    }

    /// A string.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str)
    }

    /// A number.
    pub fn number(&self, name: &str) -> Option<&Number> {
        self.0.get(name).and_then(Value::as_number)
    }

    /// A whole number.
    pub fn int(&self, name: &str) -> Option<i64> {
        self.number(name).and_then(Number::to_i64)
    }

    /// A bool.
    pub fn flag(&self, name: &str) -> Option<bool> {
        self.0.get(name).and_then(Value::as_bool)
    }

    /// The strings of a list or set; those that are null or unknown are left out.
    pub fn texts(&self, name: &str) -> Option<Vec<&str>> {
        let items = self.0.get(name)?.as_elements()?;
        Some(items.iter().filter_map(Value::as_str).collect())
    }

    /// The strings of a map; those that are null or unknown are left out.
    pub fn text_map(&self, name: &str) -> Option<Vec<(&str, &str)>> {
        let entries = self.0.get(name)?.as_entries()?;
        Some(entries.iter().filter_map(|(key, value)| Some((key.as_str(), value.as_str()?))).collect())
    }

    /// The objects in a list or set of blocks, or the one in a single block.
    pub fn objects(&self, name: &str) -> Vec<Object> {
        let Some(value) = self.0.get(name) else { return Vec::new() };
        match value.as_elements() {
            Some(items) => items.iter().map(Object::of).collect(),
            None if value.as_entries().is_some() => vec![Object::of(value)],
            None => Vec::new(),
        }
    }

    /// Whether an attribute is null (or not there at all).
    pub fn is_null(&self, name: &str) -> bool {
        self.0.get(name).is_none_or(Value::is_null)
    }

    /// Whether an attribute is not known yet.
    pub fn is_unknown(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|value| !value.is_known())
    }

    /// Whether an attribute and everything inside it is known.
    pub fn is_wholly_known(&self, name: &str) -> bool {
        self.0.get(name).is_none_or(Value::is_wholly_known)
    }

    /// Sets an attribute. The value must be of the attribute's type.
    pub fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.0.insert(Str::from(name), value.into());
    }

    /// Sets an attribute to a string, or to null.
    pub fn set_text(&mut self, name: &str, text: Option<&str>) {
        self.set(name, text.map_or_else(|| Value::null(Type::String), Value::string));
    }

    /// Sets an attribute to a whole number.
    pub fn set_int(&mut self, name: &str, number: i64) {
        self.set(name, Value::number(number));
    }

    /// Makes an attribute null, of the type that it has.
    pub fn set_null(&mut self, name: &str) {
        let ty = self.get(name).ty();
        self.set(name, Value::null(ty));
    }

    /// Makes an attribute unknown, of the type that it has.
    pub fn set_unknown(&mut self, name: &str) {
        let ty = self.get(name).ty();
        self.set(name, Value::unknown(ty));
    }

    /// Names and attributes, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&Str, &Value)> {
        self.0.iter()
    }
}

/// A path as the published plugins write it in messages: `subject[0].common_name`.
pub fn shown(path: &Path) -> String {
    let step = |(at, step): (usize, &PathStep)| match step {
        PathStep::Attr(name) if at == 0 => name.to_string(),
        PathStep::Attr(name) => format!(".{name}"),
        PathStep::Index(PathKey::Number(number)) => format!("[{number}]"),
        PathStep::Index(PathKey::String(key)) => format!("[{key:?}]"),
        PathStep::Element(_) => "[Value(...)]".to_owned(),
    };
    path.steps().iter().enumerate().map(step).collect()
}

/// The path of an attribute.
pub fn at(name: &str) -> Path {
    Path::root().attr(name)
}
