//! Whether something is claimed again, and nothing else: values are compared where they stand, each with as few others as possible.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hash, Hasher};

use groma_model::value::Value;

use super::{Claim, is_nothing, same_value};
use crate::replace::case::Case;
use crate::replace::compare::{Comparison, Mixer};
use crate::replace::path::{Sight, Sights};
use crate::replace::truth::Truth;

/// What one element claims, part by part.
struct Row<'s, 'v> {
    digest: u64,
    parts: &'s [Sight<'v>],
}

impl<'s, 'v> Row<'s, 'v> {
    fn new(parts: &'s [Sight<'v>]) -> Self {
        let digest = |part: &Sight<'v>| value_of(part).map_or(0, |value| Comparison::default().digest(value));
        let digest = parts.iter().fold(0_u64, |all, part| all.rotate_left(7) ^ digest(part));
        Self { digest, parts }
    }
}

impl Hash for Row<'_, '_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.digest);
    }
}

impl PartialEq for Row<'_, '_> {
    fn eq(&self, other: &Self) -> bool {
        let same = |(one, other): (&Sight<'_>, &Sight<'_>)| match (value_of(one), value_of(other)) {
            (Some(one), Some(other)) if one.contains_marks() || other.contains_marks() => same_value(one, other),
            (one, other) => one == other,
        };
        self.digest == other.digest && self.parts.iter().zip(other.parts).all(same)
    }
}

impl Eq for Row<'_, '_> {}

/// What is claimed with it, if anything is.
fn value_of<'v>(part: &Sight<'v>) -> Option<&'v Value> {
    match part {
        Sight::Value(value) => Some(*value).filter(|value| !is_nothing(value)),
        Sight::Nothing | Sight::Unknown => None,
    }
}

fn is_known(part: &Sight<'_>) -> bool {
    match part {
        Sight::Value(value) => value.is_wholly_known(),
        Sight::Nothing => true,
        Sight::Unknown => false,
    }
}

impl Claim {
    /// None if it takes a closer look, as with ranges and with what is not known yet.
    pub(super) fn brief(&self, case: &Case<'_>) -> Option<Truth> {
        let width = self.0.len();
        if width == 0 || self.0.iter().any(|part| part.range) {
            return None;
        }
        let (old, new) = (self.rows(case.old), self.rows(case.new));
        if !old.iter().chain(&new).all(is_known) {
            return None;
        }
        let claims = |row: &&[Sight<'_>]| row.first().is_some_and(|first| value_of(first).is_some());
        let mut rows = old.chunks_exact(width).filter(claims).map(Row::new).peekable();
        if rows.peek().is_none() {
            return Some(Truth::False);
        }
        let mut had: HashSet<Row<'_, '_>, BuildHasherDefault<Mixer>> = HashSet::default();
        had.reserve(old.len() / width);
        had.extend(rows);
        Some(Truth::from(new.chunks_exact(width).filter(claims).any(|row| had.contains(&Row::new(row)))))
    }

    /// The parts of the first element, then those of the next.
    fn rows<'v>(&self, object: &'v Value) -> Vec<Sight<'v>> {
        let mut columns: Vec<Sights<'v>> = self.0.iter().map(|part| part.path.sight(object)).collect();
        if let [Sights::Many(only)] = columns.as_mut_slice() {
            return std::mem::take(only);
        }
        let count = columns.iter().map(length).max().unwrap_or(0);
        let cell = |column: &Sights<'v>, at: usize| match column {
            Sights::One(one) => *one,
            Sights::Many(many) => many.get(at).copied().unwrap_or(Sight::Nothing),
        };
        (0..count).flat_map(|at| columns.iter().map(move |column| cell(column, at))).collect()
    }
}

fn length(sights: &Sights<'_>) -> usize {
    match sights {
        Sights::One(_) => 1,
        Sights::Many(many) => many.len(),
    }
}
