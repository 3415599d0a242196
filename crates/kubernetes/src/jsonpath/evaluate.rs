//! Where a path leads in an object.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::{Filter, Operand, Operator, Part};
use crate::Json;
use crate::path::{FieldPath, Step};

type Found<'j> = Vec<(FieldPath, &'j Json)>;

/// All places that the parts lead to, each once, in the order of the object. `through_lists`: a name is looked for in all elements of a
/// list.
pub(super) fn all<'j>(parts: &[Part], object: &'j Json, through_lists: bool) -> Found<'j> {
    let mut found = vec![(FieldPath::default(), object)];
    for part in parts {
        let mut next = Vec::new();
        for (path, json) in found {
            apply(part, &path, json, through_lists, &mut next);
        }
        // Only these can lead to a place twice; and each `..` would multiply what it finds.
        if matches!(part, Part::Below | Part::Union(_)) {
            let mut seen = BTreeSet::new();
            next.retain(|(path, _): &(FieldPath, _)| seen.insert(path.clone()));
        }
        found = next;
    }
    found
}

fn apply<'j>(part: &Part, path: &FieldPath, json: &'j Json, through_lists: bool, found: &mut Found<'j>) {
    match (part, json) {
        (Part::Field(name), Json::Object(members)) => {
            found.extend(members.get(name).map(|value| (path.field(name), value)));
        }
        (Part::Field(_), Json::Array(items)) if through_lists => {
            for (index, item) in items.iter().enumerate() {
                apply(part, &path.join(Step::Index(index)), item, through_lists, found);
            }
        }
        (Part::All, _) => found.extend(children(path, json)),
        (Part::Below, _) => below(path, json, found),
        (Part::Union(parts), _) => {
            for part in parts {
                apply(part, path, json, through_lists, found);
            }
        }
        (_, Json::Array(items)) => {
            for index in indices(part, items) {
                found.extend(items.get(index).map(|item| (path.join(Step::Index(index)), item)));
            }
        }
        _ => {}
    }
}

fn children<'j>(path: &FieldPath, json: &'j Json) -> Found<'j> {
    match json {
        Json::Object(members) => members.iter().map(|(name, value)| (path.field(name), value)).collect(),
        Json::Array(items) => items.iter().enumerate().map(|(at, item)| (path.join(Step::Index(at)), item)).collect(),
        _ => Vec::new(),
    }
}

fn below<'j>(path: &FieldPath, json: &'j Json, found: &mut Found<'j>) {
    found.push((path.clone(), json));
    for (path, json) in children(path, json) {
        below(&path, json, found);
    }
}

/// Which elements of a list a part is about.
fn indices(part: &Part, items: &[Json]) -> Vec<usize> {
    let fitting = |fits: &dyn Fn(&Json) -> bool| {
        items.iter().enumerate().filter(|(_, item)| fits(item)).map(|(index, _)| index).collect()
    };
    match part {
        Part::Index(index) => from_either_end(*index, items.len()).into_iter().collect(),
        Part::Slice { start, end, step } => slice(*start, *end, *step, items.len()),
        Part::Key(keys) => {
            fitting(&|item| keys.iter().all(|(name, wanted)| item.get(name).is_some_and(|value| wanted.is(value))))
        }
        Part::Value(value) => fitting(&|item| value.is(item)),
        Part::Filter(filter) => fitting(&|item| filter.holds(item)),
        _ => Vec::new(),
    }
}

fn from_either_end(index: i64, length: usize) -> Option<usize> {
    let index = if index < 0 { index.checked_add_unsigned(length as u64)? } else { index };
    usize::try_from(index).ok().filter(|index| *index < length)
}

fn slice(start: Option<i64>, end: Option<i64>, step: i64, length: usize) -> Vec<usize> {
    let bound = |at: i64| {
        let at = if at < 0 { at.saturating_add_unsigned(length as u64).max(0) } else { at };
        usize::try_from(at).unwrap_or(length).min(length)
    };
    let range = start.map_or(0, bound)..end.map_or(length, bound);
    range.step_by(usize::try_from(step).unwrap_or(1).max(1)).collect()
}

impl Filter {
    fn holds(&self, item: &Json) -> bool {
        let Some((operator, right)) = &self.compared else {
            return !self.left.values(item).is_empty();
        };
        let (left, right) = (self.left.values(item), right.values(item));
        // As in kubectl, the first value counts where a path leads to several.
        let (left, right) = (left.first(), right.first());
        match (left, right) {
            (Some(left), Some(right)) => operator.holds(compare(left, right)),
            _ => false,
        }
    }
}

impl Operand {
    fn values<'j>(&'j self, item: &'j Json) -> Vec<&'j Json> {
        match self {
            Operand::Path(path) => path.find(item),
            Operand::Literal(json) => vec![json],
        }
    }
}

impl Operator {
    /// None stands for values that are different and have no order.
    fn holds(self, ordering: Option<Ordering>) -> bool {
        match self {
            Operator::Equal => ordering == Some(Ordering::Equal),
            Operator::NotEqual => ordering != Some(Ordering::Equal),
            Operator::Less => ordering == Some(Ordering::Less),
            Operator::LessOrEqual => matches!(ordering, Some(Ordering::Less | Ordering::Equal)),
            Operator::Greater => ordering == Some(Ordering::Greater),
            Operator::GreaterOrEqual => matches!(ordering, Some(Ordering::Greater | Ordering::Equal)),
        }
    }
}

fn compare(left: &Json, right: &Json) -> Option<Ordering> {
    match (left, right) {
        (Json::String(left), Json::String(right)) => Some(left.cmp(right)),
        (Json::Number(left), Json::Number(right)) => match (left.as_i64(), right.as_i64()) {
            (Some(left), Some(right)) => Some(left.cmp(&right)),
            _ => left.as_f64()?.partial_cmp(&right.as_f64()?),
        },
        _ => (left == right).then_some(Ordering::Equal),
    }
}
