//! Visiting and changing every part of a value.

use super::{Data, Entries, Value, common_type};
use crate::path::{Path, PathKey, PathStep};

/// What a visitor wants next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WalkControl {
    /// Look inside as well.
    Enter,
    /// Leave the inside out.
    Skip,
    /// Stop altogether.
    Stop,
}

impl Value {
    /// Visits the value and everything inside, outer parts first. Gives false if the visitor stopped it.
    pub fn walk(&self, visit: &mut dyn FnMut(&Path, &Value) -> WalkControl) -> bool {
        self.walk_at(&mut Path::root(), visit)
    }

    fn walk_at(&self, path: &mut Path, visit: &mut dyn FnMut(&Path, &Value) -> WalkControl) -> bool {
        match visit(path, self) {
            WalkControl::Stop => return false,
            WalkControl::Skip => return true,
            WalkControl::Enter => {}
        }
        for (step, inner) in self.children() {
            path.push(step);
            let goes_on = inner.walk_at(path, visit);
            path.pop();
            if !goes_on {
                return false;
            }
        }
        true
    }

    /// The direct parts of a known value with the steps that lead to them.
    pub fn children(&self) -> Vec<(PathStep, &Value)> {
        match &self.data {
            Data::List(list) => indexed(&list.items).collect(),
            Data::Tuple(tuple) => indexed(&tuple.items).collect(),
            Data::Set(set) => set.items.iter().map(|item| (PathStep::Element(Box::new(item.clone())), item)).collect(),
            Data::Map(map) => {
                map.entries.iter().map(|(name, item)| (PathStep::Index(PathKey::String(name.clone())), item)).collect()
            }
            Data::Object(object) => {
                object.entries.iter().map(|(name, item)| (PathStep::Attr(name.clone()), item)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Builds a changed value, inner parts first. `change` gets each part with its inside changed already.
    /// Elements of lists, sets and maps must keep one common type, or the result is a tuple or object.
    pub fn transform<E>(&self, change: &mut dyn FnMut(&Path, Value) -> Result<Value, E>) -> Result<Value, E> {
        self.transform_at(&mut Path::root(), change)
    }

    fn transform_at<E>(
        &self,
        path: &mut Path,
        change: &mut dyn FnMut(&Path, Value) -> Result<Value, E>,
    ) -> Result<Value, E> {
        let children = self.children();
        if children.is_empty() {
            return change(path, self.clone());
        }
        let mut changed = Vec::with_capacity(children.len());
        for (step, inner) in children {
            path.push(step);
            let result = inner.transform_at(path, change);
            path.pop();
            changed.push(result?);
        }
        let rebuilt = self.rebuilt(changed).with_marks(&self.marks);
        change(path, rebuilt)
    }

    fn rebuilt(&self, items: Vec<Value>) -> Value {
        let entries = |entries: &Entries, items: Vec<Value>| Entries::with_names(entries.names().clone(), items);
        match &self.data {
            Data::List(_) => match common_type(&items) {
                Some(element) => Value::list(element, items),
                None => Value::tuple(items),
            },
            Data::Set(_) => match common_type(&items) {
                Some(element) => Value::set(element, items),
                None => Value::tuple(items),
            },
            Data::Map(map) => match common_type(&items) {
                Some(element) => Value::map(element, entries(&map.entries, items)),
                None => Value::object_of(entries(&map.entries, items)),
            },
            Data::Tuple(_) => Value::tuple(items),
            Data::Object(object) => Value::object_of(entries(&object.entries, items)),
            _ => self.clone(),
        }
    }
}

fn indexed(items: &[Value]) -> impl Iterator<Item = (PathStep, &Value)> {
    items.iter().enumerate().map(|(at, item)| (PathStep::Index(PathKey::Number((at as u64).into())), item))
}
