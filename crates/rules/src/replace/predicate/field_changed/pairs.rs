//! Which old value belongs to which new one: in lists those of one index, in maps those of one key, in sets what is left over once
//! everything is taken away that both have.

use std::cmp::Ordering;
use std::iter::Peekable;
use std::vec::IntoIter;

use groma_model::diag::Diagnostics;
use groma_model::ty::Type;
use groma_model::value::Value;

use crate::replace::compare::Comparison;
use crate::replace::path::{Element, Reading, Spot, Spots};
use crate::replace::truth::Truth;

/// An old value and the new one that belongs to it.
#[derive(Debug)]
pub(super) struct Pair {
    /// Which of several.
    pub(super) at: Spots,
    pub(super) old: Value,
    pub(super) new: Value,
    /// Whether it changes.
    pub(super) truth: Truth,
    /// Whether that needs no further look.
    pub(super) is_settled: bool,
    /// Whether it is of a set, so that nobody knows what became of what.
    pub(super) is_member: bool,
    /// Whether it is not known, and counts as changed because it is a reason for the replacement.
    pub(super) is_counted: bool,
    /// Whether it is not known, and is another one because the provider makes it up.
    pub(super) is_generated: bool,
    /// Whether it is not stored, so that only the provider knows.
    pub(super) is_write_only: bool,
}

impl Pair {
    fn new(at: Spots, old: Value, new: Value) -> Self {
        Self {
            at,
            old,
            new,
            truth: Truth::False,
            is_settled: false,
            is_member: false,
            is_counted: false,
            is_generated: false,
            is_write_only: false,
        }
    }

    /// Something that is not stored is written anew.
    pub(super) fn rewritten() -> Self {
        let pair = Pair::new(Spots::default(), nothing(), nothing());
        Pair { truth: Truth::True, is_settled: true, is_write_only: true, ..pair }
    }
}

fn nothing() -> Value {
    Value::null(Type::Dynamic)
}

/// What is done with each pair. False if no more are wanted.
type Visit<'f> = dyn FnMut(Pair) -> Result<bool, Diagnostics> + 'f;

/// Shows pairs of what was and what will be.
pub(super) fn visit_pairs(
    old: Reading,
    new: Reading,
    comparison: Comparison,
    visit: &mut Visit<'_>,
) -> Result<(), Diagnostics> {
    let pair = match (old, new) {
        (Reading::Many(old), Reading::Many(new)) => return joined(old, new, comparison, visit),
        (Reading::One(old), Reading::Many(new)) if old.is_null() => return joined(Vec::new(), new, comparison, visit),
        (Reading::Many(old), Reading::One(new)) if new.is_null() => return joined(old, Vec::new(), comparison, visit),
        (Reading::One(old), Reading::One(new)) => Pair::new(Spots::default(), old, new),
        (Reading::One(old), Reading::Many(new)) => Pair::new(Spots::default(), old, together(new)),
        (Reading::Many(old), Reading::One(new)) => Pair::new(Spots::default(), together(old), new),
    };
    visit(pair).map(|_| ())
}

fn together(elements: Vec<Element>) -> Value {
    Value::tuple(elements.into_iter().map(|element| element.value).collect())
}

/// Both are in the order of their places, as a value is walked.
fn joined(
    old: Vec<Element>,
    new: Vec<Element>,
    comparison: Comparison,
    visit: &mut Visit<'_>,
) -> Result<(), Diagnostics> {
    let (mut old, mut new) = (old.into_iter().peekable(), new.into_iter().peekable());
    loop {
        let order = match (old.peek(), new.peek()) {
            (Some(old), Some(new)) => old.at.cmp(&new.at),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => return Ok(()),
        };
        let before = if order.is_le() { old.next() } else { None };
        let after = if order.is_ge() { new.next() } else { None };
        let (before, after, at) = match (before, after) {
            (Some(before), Some(after)) => (Some(before.value), Some(after.value), before.at),
            (Some(before), None) => (Some(before.value), None, before.at),
            (None, Some(after)) => (None, Some(after.value), after.at),
            (None, None) => return Ok(()),
        };
        if at.iter().any(|spot| *spot == Spot::Member) {
            let rest = |elements: &mut Peekable<IntoIter<Element>>| {
                std::iter::from_fn(|| elements.next_if(|element| element.at == at).map(|element| element.value))
                    .collect()
            };
            let (old_rest, new_rest): (Vec<Value>, Vec<Value>) = (rest(&mut old), rest(&mut new));
            let old: Vec<Value> = before.into_iter().chain(old_rest).collect();
            let new: Vec<Value> = after.into_iter().chain(new_rest).collect();
            for pair in of_sets(&at, &old, &new, comparison) {
                if !visit(pair)? {
                    return Ok(());
                }
            }
        } else if !visit(Pair::new(at, before.unwrap_or_else(nothing), after.unwrap_or_else(nothing)))? {
            return Ok(());
        }
    }
}

fn of_sets(at: &Spots, old: &[Value], new: &[Value], comparison: Comparison) -> Vec<Pair> {
    let mut pairs = Vec::with_capacity(old.len().max(new.len()));
    let left = comparison.left_over(old, new);
    let open =
        |values: &[Value]| -> Vec<Value> { values.iter().filter(|value| !value.is_wholly_known()).cloned().collect() };
    for _ in 0..left.alike {
        pairs.push(Pair { is_settled: true, ..Pair::new(at.clone(), nothing(), nothing()) });
    }
    // What is known on one side may be what is unknown on the other one.
    let mut before: Vec<Value> = left.old.into_iter().cloned().collect();
    let mut after = open(new);
    after.extend(left.new.into_iter().cloned());
    before.extend(open(old));
    for number in 0..before.len().max(after.len()) {
        let get = |values: &[Value]| values.get(number).cloned().unwrap_or_else(nothing);
        pairs.push(Pair { is_member: true, ..Pair::new(at.clone(), get(&before), get(&after)) });
    }
    pairs
}
