//! Putting marks on values and taking them off, with their paths where they must come back.

use std::sync::Arc;

use super::{Data, Entries, MapData, ObjectData, Sequence, Summary, TupleData, TypeCache, Value};
use crate::mark::{Mark, Marks};
use crate::path::{Path, PathKey, PathStep};

/// Marks that were found at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathMarks {
    /// Where.
    pub path: Path,
    /// Which.
    pub marks: Marks,
}

impl Value {
    /// The same value with these marks added.
    pub fn with_marks(mut self, marks: &Marks) -> Value {
        self.marks = self.marks.union(marks);
        self
    }

    /// The same value with one mark added.
    pub fn mark(self, mark: Mark) -> Value {
        let marks = Marks::one(mark);
        self.with_marks(&marks)
    }

    /// The value without its own marks, and those. Marks of what is inside stay.
    pub fn unmark(self) -> (Value, Marks) {
        (Value { data: self.data, marks: Marks::NONE }, self.marks)
    }

    /// The value without any marks, and all that were found.
    pub fn unmark_deep(self) -> (Value, Marks) {
        if !self.contains_marks() {
            return (self, Marks::NONE);
        }
        let mut found = Marks::NONE;
        let value = self.strip(&mut Path::root(), &mut |_, marks| found = found.union(marks));
        (value, found)
    }

    /// The value without any marks, and where each was.
    pub fn unmark_deep_with_paths(self) -> (Value, Vec<PathMarks>) {
        if !self.contains_marks() {
            return (self, Vec::new());
        }
        let mut found = Vec::new();
        let value = self.strip(&mut Path::root(), &mut |path, marks| {
            found.push(PathMarks { path: path.clone(), marks: marks.clone() });
        });
        (value, found)
    }

    /// All marks of the value and of everything inside.
    pub fn marks_deep(&self) -> Marks {
        if !self.contains_marks() {
            return Marks::NONE;
        }
        self.clone().unmark_deep().1
    }

    /// Puts marks back where they were. Paths that the value does not have are ignored.
    pub fn with_path_marks(self, marks: &[PathMarks]) -> Value {
        marks.iter().fold(self, |value, at| value.mark_at(at.path.steps(), &at.marks))
    }

    fn mark_at(self, steps: &[PathStep], marks: &Marks) -> Value {
        let Some((first, rest)) = steps.split_first() else { return self.with_marks(marks) };
        let own = self.marks.clone();
        let inner = |value: &Value| value.clone().mark_at(rest, marks);
        let at_index = |items: &[Value], key: &PathKey| -> Option<Vec<Value>> {
            let PathKey::Number(number) = key else { return None };
            let at = number.to_usize().filter(|at| *at < items.len())?;
            let mut items = items.to_vec();
            items[at] = inner(&items[at]);
            Some(items)
        };
        let at_name = |entries: &Entries, name: &str| -> Option<Entries> {
            let target = entries.get(name)?;
            Some(entries.map_values(|value| if std::ptr::eq(value, target) { inner(value) } else { value.clone() }))
        };
        let changed = match (&self.data, first) {
            (Data::List(list), PathStep::Index(key)) => {
                at_index(&list.items, key).map(|items| Value::list(list.element.clone(), items))
            }
            (Data::Tuple(tuple), PathStep::Index(key)) => at_index(&tuple.items, key).map(Value::tuple),
            (Data::Map(map), PathStep::Index(PathKey::String(name))) => {
                at_name(&map.entries, name).map(|entries| Value::map(map.element.clone(), entries))
            }
            (Data::Object(object), PathStep::Attr(name)) => at_name(&object.entries, name).map(Value::object_of),
            // A set cannot hold marked elements, so the whole set is marked.
            (Data::Set(_), _) => Some(Value { data: self.data.clone(), marks: marks.clone() }),
            _ => None,
        };
        match changed {
            Some(value) => value.with_marks(&own),
            None => self,
        }
    }

    /// Takes all marks off, telling `found` about each. Parts without marks are shared, not copied.
    fn strip(&self, path: &mut Path, found: &mut dyn FnMut(&Path, &Marks)) -> Value {
        if !self.marks.is_empty() {
            found(path, &self.marks);
        }
        if !self.summary_inside_has_marks() {
            return Value { data: self.data.clone(), marks: Marks::NONE };
        }
        let data = match &self.data {
            Data::List(list) => {
                let items = strip_items(&list.items, path, found);
                let summary = Summary::of(&items);
                Data::List(Arc::new(Sequence { element: list.element.clone(), items, summary }))
            }
            Data::Tuple(tuple) => {
                let items = strip_items(&tuple.items, path, found);
                let summary = Summary::of(&items);
                Data::Tuple(Arc::new(TupleData { items, summary, ty: TypeCache::default() }))
            }
            Data::Map(map) => {
                let key = |name: &crate::text::Str| PathStep::Index(PathKey::String(name.clone()));
                let entries = strip_entries(&map.entries, &key, path, found);
                let summary = Summary::of(entries.values());
                Data::Map(Arc::new(MapData { element: map.element.clone(), entries, summary }))
            }
            Data::Object(object) => {
                let key = |name: &crate::text::Str| PathStep::Attr(name.clone());
                let entries = strip_entries(&object.entries, &key, path, found);
                let summary = Summary::of(entries.values());
                Data::Object(Arc::new(ObjectData { entries, summary, ty: TypeCache::default() }))
            }
            other => other.clone(),
        };
        Value { data, marks: Marks::NONE }
    }

    fn summary_inside_has_marks(&self) -> bool {
        match &self.data {
            Data::List(list) => list.summary.has_marks,
            Data::Map(map) => map.summary.has_marks,
            Data::Tuple(tuple) => tuple.summary.has_marks,
            Data::Object(object) => object.summary.has_marks,
            _ => false,
        }
    }
}

fn strip_items(items: &[Value], path: &mut Path, found: &mut dyn FnMut(&Path, &Marks)) -> Vec<Value> {
    let mut stripped = Vec::with_capacity(items.len());
    for (at, item) in items.iter().enumerate() {
        path.push(PathStep::Index(PathKey::Number((at as u64).into())));
        stripped.push(item.strip(path, found));
        path.pop();
    }
    stripped
}

fn strip_entries(
    entries: &Entries,
    step: &dyn Fn(&crate::text::Str) -> PathStep,
    path: &mut Path,
    found: &mut dyn FnMut(&Path, &Marks),
) -> Entries {
    let mut stripped = Vec::with_capacity(entries.len());
    for (name, item) in entries.iter() {
        path.push(step(name));
        stripped.push(item.strip(path, found));
        path.pop();
    }
    Entries::with_names(entries.names().clone(), stripped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_come_off_and_go_back() {
        let value = Value::object([
            ("a", Value::string("x").mark(Mark::Sensitive)),
            ("b", Value::tuple(vec![1.into(), Value::from(2).mark(Mark::Ephemeral)])),
        ]);
        assert!(value.contains_marks());
        let (plain, marks) = value.clone().unmark_deep_with_paths();
        assert!(!plain.contains_marks());
        assert_eq!(marks.len(), 2);
        assert_eq!(marks[1].path.to_string(), ".b[1]");
        assert_eq!(plain.with_path_marks(&marks), value);
    }

    #[test]
    fn sets_take_the_marks_of_their_elements() {
        let set = Value::set(crate::ty::Type::String, vec![Value::string("x").mark(Mark::Sensitive)]);
        assert!(set.marks().is_sensitive());
        assert!(!set.as_elements().unwrap()[0].contains_marks());
    }
}
