//! `has_attached_resources`: whether other objects, or elements of its own, are attached to an object, how many, and whether they and the
//! object that takes its place get in each other's way.

mod conflict;
mod gather;
#[cfg(test)]
pub(super) mod tests;

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::schema::Schema;
use groma_model::span::Span;

use super::{Found, Predicate};
use crate::replace::case::Case;
use crate::replace::path::FieldPath;
use crate::replace::problem::Code;
use crate::replace::rule::Attachment;
use crate::replace::step::Step;
use crate::replace::truth::Truth;

pub(super) use gather::{Gathered, UNAVAILABLE};
pub use gather::{Kind, Via};

/// What is written in the block.
#[derive(Debug, Clone, Default)]
pub struct Parameters {
    /// `resource_types`
    pub resource_types: Vec<Kind>,
    /// `check_conflicts`
    pub check_conflicts: bool,
    /// `minimum_count`
    pub minimum_count: Option<i64>,
    /// Where that stands.
    pub minimum_place: Option<Span>,
    /// `maximum_count`
    pub maximum_count: Option<i64>,
    /// Where that stands.
    pub maximum_place: Option<Span>,
    /// `exclusive`: paths in an element.
    pub exclusive: Vec<FieldPath>,
}

/// Whether something is attached.
#[derive(Debug, Clone)]
pub struct HasAttached {
    kinds: Vec<Kind>,
    check_conflicts: bool,
    minimum: u64,
    maximum: Option<u64>,
    exclusive: Vec<FieldPath>,
}

impl HasAttached {
    /// With these parameters, unless something is wrong with them.
    pub fn new(given: Parameters) -> Result<Self, Diagnostics> {
        let mut problems = Diagnostics::new();
        let minimum = problems.take(count("minimum_count", given.minimum_count, given.minimum_place));
        let maximum = problems.take(count("maximum_count", given.maximum_count, given.maximum_place));
        let (Some(minimum), Some(maximum)) = (minimum, maximum) else { return Err(problems) };
        let minimum = minimum.unwrap_or(1);
        if let Some(maximum) = maximum.filter(|maximum| minimum > *maximum) {
            let advice = if given.minimum_count.is_none() { ", which is what holds if nothing is said" } else { "" };
            let detail = format!(
                "At least {minimum}{advice}, and at most {maximum}: that is never so. To ask whether nothing is attached, set both \
                 minimum_count and maximum_count to 0."
            );
            let problem = Code(1110).error("Minimum above maximum", detail);
            return Err(located(problem, given.maximum_place.or(given.minimum_place)).into());
        }
        Ok(Self {
            kinds: given.resource_types,
            check_conflicts: given.check_conflicts,
            minimum,
            maximum,
            exclusive: given.exclusive,
        })
    }

    /// The definitions that its names can stand for.
    pub fn attachments(&self) -> impl Iterator<Item = &Attachment> {
        self.kinds.iter().flat_map(|kind| kind.aliases.iter())
    }

    fn within_bounds(&self, count: u64, steps: &mut Option<Vec<Step>>) -> bool {
        let enough = count >= self.minimum;
        let few_enough = self.maximum.is_none_or(|maximum| count <= maximum);
        if let Some(steps) = steps {
            let met = |met: bool| if met { "met" } else { "not met" };
            steps.push(Step::text(format!("minimum {}: {}", self.minimum, met(enough))));
            if let Some(maximum) = self.maximum {
                steps.push(Step::text(format!("maximum {maximum}: {}", met(few_enough))));
            }
        }
        enough && few_enough
    }
}

impl Predicate for HasAttached {
    fn kind(&self) -> &'static str {
        "has_attached_resources"
    }

    fn reads(&self) -> Vec<&FieldPath> {
        self.attachments().filter_map(|attachment| attachment.block.as_ref()).collect()
    }

    fn needs_neighbours(&self) -> bool {
        self.kinds.iter().any(Kind::needs_neighbours)
    }

    fn is_oracle(&self) -> bool {
        false
    }

    /// Which fields there are depends on the type: see `check_attached`.
    fn check(&self, _: &Schema) -> Vec<Diagnostic> {
        Vec::new()
    }

    fn check_attached(&self, ty: &str, schema: &Schema, knows: &dyn Fn(&crate::Glob) -> bool) -> Diagnostics {
        self.kinds.iter().filter_map(|kind| kind.check(&self.exclusive, ty, schema, knows)).collect()
    }

    fn ask(&self, case: &Case<'_>, wants_steps: bool) -> Result<Found, Diagnostics> {
        let mut steps = wants_steps.then(Vec::new);
        let Some(gathered) = Gathered::of(&self.kinds, &self.exclusive, case) else {
            let steps = steps.map(|_| vec![Step::text(UNAVAILABLE)]).unwrap_or_default();
            return Ok(Found { truth: Truth::Unknown, steps });
        };
        if let Some(steps) = &mut steps {
            steps.push(gathered.step("attached"));
        }
        let mut truth = Truth::from(self.within_bounds(gathered.count(), &mut steps));
        if truth == Truth::True && self.check_conflicts {
            truth = gathered.conflicts(&mut steps);
        }
        Ok(Found { truth, steps: steps.unwrap_or_default() })
    }
}

/// A count that is not negative.
pub(super) fn count(name: &str, given: Option<i64>, place: Option<Span>) -> Result<Option<u64>, Diagnostics> {
    let bad = |_| {
        let detail = format!("{name} must be a whole number that is not negative.");
        located(Code(1111).error("Invalid count", detail), place).into()
    };
    given.map(u64::try_from).transpose().map_err(bad)
}

pub(super) fn located(problem: Diagnostic, place: Option<Span>) -> Diagnostic {
    match place {
        Some(place) => problem.at(place),
        None => problem,
    }
}
