//! Defaults of optional attributes, at any depth, and applying them to a value before it is converted.

use std::collections::BTreeMap;

use groma_model::convert::unify_values;
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_model::value::{Entries, Value, ValueKind};

/// Defaults for one place in a type and for the places inside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Defaults {
    ty: Type,
    values: BTreeMap<Str, Value>,
    /// By attribute name or tuple position; elements of collections are all under the empty name.
    children: BTreeMap<Str, Defaults>,
}

impl Defaults {
    /// Defaults of the elements of a collection.
    pub(super) fn of_elements(ty: Type, element: Defaults) -> Self {
        Self { ty, values: BTreeMap::new(), children: BTreeMap::from([("".into(), element)]) }
    }

    /// Defaults of an object or tuple; none if there are none inside.
    pub(super) fn structured(
        ty: &Type,
        values: BTreeMap<Str, Value>,
        children: BTreeMap<Str, Defaults>,
    ) -> Option<Self> {
        if values.is_empty() && children.is_empty() {
            return None;
        }
        Some(Self { ty: ty.clone(), values, children })
    }

    /// Puts defaults where optional attributes are missing or null. Null and unknown values as a whole stay as they are.
    /// The result may still have to be converted.
    pub fn apply(&self, value: &Value) -> Value {
        if !value.is_known() || value.is_null() {
            return value.clone();
        }
        let (plain, marks) = value.clone().unmark();
        let changed = match plain.kind() {
            ValueKind::List(items) => self.to_sequence(items, &plain.ty(), Value::list),
            ValueKind::Set(items) => self.to_sequence(items, &plain.ty(), Value::set),
            ValueKind::Tuple(items) => Value::tuple(self.items(items)),
            ValueKind::Map(entries) => self.to_map(entries, &plain.ty()),
            ValueKind::Object(entries) => Value::object(self.attributes(entries)),
            _ => plain.clone(),
        };
        changed.with_marks(&marks)
    }

    fn items(&self, items: &[Value]) -> Vec<Value> {
        let child = |at: usize| match &self.ty {
            Type::Tuple(_) => self.children.get(at.to_string().as_str()),
            _ => self.children.get(""),
        };
        items
            .iter()
            .enumerate()
            .map(|(at, item)| child(at).map_or_else(|| item.clone(), |child| child.apply(item)))
            .collect()
    }

    fn to_sequence(&self, items: &[Value], ty: &Type, of: fn(Type, Vec<Value>) -> Value) -> Value {
        let element = ty.element().cloned().unwrap_or(Type::Dynamic);
        if items.is_empty() {
            return of(element, Vec::new());
        }
        let items = self.items(items);
        match unify_values(&items) {
            Some((element, items)) => of(element, items),
            None => Value::tuple(items),
        }
    }

    fn attributes(&self, entries: &Entries) -> BTreeMap<Str, Value> {
        let child = |name: &str| match &self.ty {
            Type::Object(_) => self.children.get(name),
            _ => self.children.get(""),
        };
        let mut attributes: BTreeMap<Str, Value> = entries
            .iter()
            .map(|(name, value)| (name.clone(), child(name).map_or_else(|| value.clone(), |child| child.apply(value))))
            .collect();
        for (name, default) in &self.values {
            let given = attributes.get(name).filter(|given| !given.is_null());
            let value = match given {
                Some(given) if default.is_definitely_not_null() => given.clone().refine_not_null(),
                Some(_) => continue,
                None => self.children.get(name).map_or_else(|| default.clone(), |child| child.apply(default)),
            };
            attributes.insert(name.clone(), value);
        }
        attributes
    }

    fn to_map(&self, entries: &Entries, ty: &Type) -> Value {
        let attributes = self.attributes(entries);
        if attributes.is_empty() {
            return Value::map(ty.element().cloned().unwrap_or(Type::Dynamic), Entries::default());
        }
        let (names, values): (Vec<Str>, Vec<Value>) = attributes.into_iter().unzip();
        match unify_values(&values) {
            Some((element, values)) => Value::map(element, names.into_iter().zip(values).collect()),
            None => Value::object(names.into_iter().zip(values)),
        }
    }
}
