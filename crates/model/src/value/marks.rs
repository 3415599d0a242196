//! Putting marks on values and taking them off, with their paths where they must come back.

use std::collections::BTreeMap;
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

/// Marks and the rest of the way to where they belong.
type Located<'a> = (&'a [PathStep], &'a Marks);

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
        if marks.is_empty() {
            return self;
        }
        let marks: Vec<Located> = marks.iter().map(|at| (at.path.steps(), &at.marks)).collect();
        self.mark_at(&marks)
    }

    /// Adds marks here and inside, copying each part once however many marks it gets.
    fn mark_at(self, marks: &[Located]) -> Value {
        let mut own = self.marks.clone();
        let mut inside: BTreeMap<usize, Vec<Located>> = BTreeMap::new();
        for (steps, marks) in marks {
            match steps.split_first() {
                None => own = own.union(marks),
                // A set cannot hold marked elements, so the whole set is marked.
                Some(_) if matches!(self.data, Data::Set(_)) => own = own.union(marks),
                Some((first, rest)) => {
                    if let Some(at) = self.part_at(first) {
                        inside.entry(at).or_default().push((rest, marks));
                    }
                }
            }
        }
        if inside.is_empty() {
            return Value { data: self.data, marks: own };
        }
        let mut parts = self.parts().to_vec();
        for (at, marks) in inside {
            parts[at] = parts[at].clone().mark_at(&marks);
        }
        Value { data: self.data.with_parts(parts), marks: own }
    }

    /// The same value with each direct part replaced by one of the same type.
    pub(crate) fn map_parts(self, change: impl Fn(Value) -> Value) -> Value {
        if self.parts().is_empty() {
            return self;
        }
        let parts = self.parts().iter().cloned().map(change).collect();
        Value { data: self.data.with_parts(parts), marks: self.marks }
    }

    /// Which part a step leads to.
    fn part_at(&self, step: &PathStep) -> Option<usize> {
        match (&self.data, step) {
            (Data::List(_) | Data::Tuple(_), PathStep::Index(PathKey::Number(number))) => {
                number.to_usize().filter(|at| *at < self.parts().len())
            }
            (Data::Map(map), PathStep::Index(PathKey::String(name))) => map.entries.position(name),
            (Data::Object(object), PathStep::Attr(name)) => object.entries.position(name),
            _ => None,
        }
    }

    /// Takes all marks off, telling `found` about each. Parts without marks are shared, not copied.
    fn strip(&self, path: &mut Path, found: &mut dyn FnMut(&Path, &Marks)) -> Value {
        if !self.marks.is_empty() {
            found(path, &self.marks);
        }
        if !self.data.summary().has_marks {
            return Value { data: self.data.clone(), marks: Marks::NONE };
        }
        let mut stripped = Vec::with_capacity(self.parts().len());
        for (step, part) in self.children() {
            path.push(step);
            stripped.push(part.strip(path, found));
            path.pop();
        }
        Value { data: self.data.with_parts(stripped), marks: Marks::NONE }
    }
}

impl Data {
    /// The same kind of data with other parts that have the same types.
    fn with_parts(&self, parts: Vec<Value>) -> Data {
        let summary = Summary::of(&parts);
        let sequence =
            |of: &Sequence, items: Vec<Value>| Arc::new(Sequence { element: of.element.clone(), items, summary });
        match self {
            Data::List(list) => Data::List(sequence(list, parts)),
            Data::Set(set) => Data::Set(sequence(set, parts)),
            Data::Map(map) => {
                let entries = Entries::with_names(map.entries.names().clone(), parts);
                Data::Map(Arc::new(MapData { element: map.element.clone(), entries, summary }))
            }
            Data::Tuple(tuple) => {
                Data::Tuple(Arc::new(TupleData { items: parts, summary, ty: TypeCache(tuple.ty.0.clone()) }))
            }
            Data::Object(object) => {
                let entries = Entries::with_names(object.entries.names().clone(), parts);
                Data::Object(Arc::new(ObjectData { entries, summary, ty: TypeCache(object.ty.0.clone()) }))
            }
            other => other.clone(),
        }
    }
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
    fn marks_inside_of_sets_and_at_no_place() {
        let at = |path: Path| PathMarks { path, marks: Marks::one(Mark::Sensitive) };
        let set = Value::set(crate::ty::Type::String, vec!["x".into()]);
        let inside = Path::root().join(PathStep::Element(Box::new("x".into())));
        assert!(set.clone().with_path_marks(&[at(inside)]).marks().is_sensitive());
        let tuple = Value::tuple(vec![set]);
        assert_eq!(tuple.clone().with_path_marks(&[at(Path::root().index(1))]), tuple);
        assert_eq!(tuple.clone().with_path_marks(&[at(Path::root().attr("a"))]), tuple);
        assert!(tuple.with_path_marks(&[at(Path::root())]).marks().is_sensitive());
    }

    #[test]
    fn sets_take_the_marks_of_their_elements() {
        let set = Value::set(crate::ty::Type::String, vec![Value::string("x").mark(Mark::Sensitive)]);
        assert!(set.marks().is_sensitive());
        assert!(!set.as_elements().unwrap()[0].contains_marks());
    }
}
