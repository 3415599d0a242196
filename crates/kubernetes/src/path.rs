//! Places inside of an object, as steps. A key may have dots in it, so a path is never cut out of a text by them.

mod literal;
mod text;

#[cfg(test)]
mod tests;

pub(crate) use literal::{LARGEST_WHOLE, Literal};

use crate::Json;

/// One step.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Step {
    /// A field of an object or a key of a map.
    Field(String),
    /// An element of a list, by the values of its merge keys (`containers[name=nginx]`).
    Key(Vec<(String, Literal)>),
    /// An element of a set, by its value (`finalizers[="x"]`).
    Value(Literal),
    /// An element of a list, by its place.
    Index(usize),
}

/// A place inside of an object. Its text (`Display`) stands for it alone, and can be read back (`FromStr`).
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FieldPath(pub(crate) Vec<Step>);

impl FieldPath {
    /// A place by the names of fields alone.
    pub(crate) fn of<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        Self(names.into_iter().map(|name| Step::Field(name.to_owned())).collect())
    }

    /// One step further.
    pub(crate) fn join(&self, step: Step) -> Self {
        let mut steps = self.0.clone();
        steps.push(step);
        Self(steps)
    }

    /// A field of what is there.
    pub(crate) fn field(&self, name: &str) -> Self {
        self.join(Step::Field(name.to_owned()))
    }

    /// The names of fields that it begins with.
    pub(crate) fn names(&self) -> Vec<&str> {
        self.0.iter().map_while(|step| if let Step::Field(name) = step { Some(name.as_str()) } else { None }).collect()
    }

    /// What is there.
    pub(crate) fn find<'j>(&self, object: &'j Json) -> Option<&'j Json> {
        self.0.iter().try_fold(object, |inside, step| step.find(inside))
    }

    /// Takes out what is there. Containers that become empty by that are taken out too.
    pub(crate) fn remove(&self, object: &mut Json) -> Option<Json> {
        remove(&self.0, object)
    }

    /// Whether the other is this place or one inside it.
    pub(crate) fn covers(&self, other: &FieldPath) -> bool {
        other.0.starts_with(&self.0)
    }

    /// The same place with elements of lists by their index, as they are in this object. None if there is nothing there.
    pub(crate) fn located(&self, object: &Json) -> Option<FieldPath> {
        let mut inside = object;
        let mut steps = Vec::with_capacity(self.0.len());
        for step in &self.0 {
            let found = step.locate(inside)?;
            inside = found.find(inside)?;
            steps.push(found);
        }
        Some(FieldPath(steps))
    }
}

impl Step {
    fn find<'j>(&self, inside: &'j Json) -> Option<&'j Json> {
        match self {
            Step::Field(name) => inside.as_object()?.get(name),
            _ => inside.as_array()?.get(self.index(inside)?),
        }
    }

    /// The same step by name or index.
    fn locate(&self, inside: &Json) -> Option<Step> {
        match self {
            Step::Field(_) => Some(self.clone()),
            _ => self.index(inside).map(Step::Index),
        }
    }

    /// Which element of a list this is.
    fn index(&self, inside: &Json) -> Option<usize> {
        let items = inside.as_array()?;
        match self {
            Step::Field(_) => None,
            Step::Key(keys) => {
                let position = |quality| items.iter().position(|item| fits(keys, item) == quality);
                position(Fit::Wholly).or_else(|| position(Fit::Partly))
            }
            Step::Value(value) => items.iter().position(|item| value.is(item)),
            Step::Index(index) => (*index < items.len()).then_some(*index),
        }
    }
}

#[derive(PartialEq, Eq)]
enum Fit {
    Wholly,
    /// What is there fits, but some keys are missing: the server would fill them in (`protocol` of a port).
    Partly,
    NotAtAll,
}

fn fits(keys: &[(String, Literal)], item: &Json) -> Fit {
    let Some(members) = item.as_object() else { return Fit::NotAtAll };
    let mut given = 0;
    for (name, value) in keys {
        match members.get(name) {
            Some(member) if value.is(member) => given += 1,
            Some(_) => return Fit::NotAtAll,
            None => {}
        }
    }
    match given {
        0 => Fit::NotAtAll,
        given if given == keys.len() => Fit::Wholly,
        _ => Fit::Partly,
    }
}

fn remove(steps: &[Step], object: &mut Json) -> Option<Json> {
    let (step, rest) = steps.split_first()?;
    let place = step.locate(object)?;
    match (&place, object) {
        (Step::Field(name), Json::Object(members)) => {
            if rest.is_empty() {
                // Not `swap_remove`, which is what `remove` stands for: what is left keeps its order.
                return members.shift_remove(name);
            }
            let inside = members.get_mut(name)?;
            let removed = remove(rest, inside)?;
            if is_empty(inside) {
                members.shift_remove(name);
            }
            Some(removed)
        }
        (Step::Index(index), Json::Array(items)) => {
            if rest.is_empty() {
                return Some(items.remove(*index));
            }
            let inside = items.get_mut(*index)?;
            let removed = remove(rest, inside)?;
            if is_empty(inside) {
                items.remove(*index);
            }
            Some(removed)
        }
        _ => None,
    }
}

/// Whether there is nothing in a container.
pub(crate) fn is_empty(json: &Json) -> bool {
    match json {
        Json::Object(members) => members.is_empty(),
        Json::Array(items) => items.is_empty(),
        _ => false,
    }
}
