//! `resource_count`: how many objects or elements have to do with an object.

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::schema::Schema;
use groma_model::span::Span;

use super::attached::{Gathered, Kind, UNAVAILABLE, Via, count, located};
use super::{Found, Predicate};
use crate::replace::case::Case;
use crate::replace::path::FieldPath;
use crate::replace::problem::Code;
use crate::replace::step::Step;
use crate::replace::truth::Truth;

/// How two numbers are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `>=`
    AtLeast,
    /// `<=`
    AtMost,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `>`
    More,
    /// `<`
    Less,
}

const OPERATORS: [(&str, Operator); 6] = [
    (">=", Operator::AtLeast),
    ("<=", Operator::AtMost),
    ("==", Operator::Equal),
    ("!=", Operator::NotEqual),
    (">", Operator::More),
    ("<", Operator::Less),
];

impl Operator {
    /// By its sign.
    pub fn parse(sign: &str) -> Option<Self> {
        OPERATORS.iter().find(|(known, _)| *known == sign).map(|(_, operator)| *operator)
    }

    fn sign(self) -> &'static str {
        OPERATORS.iter().find(|(_, operator)| *operator == self).map_or("", |(sign, _)| sign)
    }

    fn holds(self, left: u64, right: u64) -> bool {
        match self {
            Operator::AtLeast => left >= right,
            Operator::AtMost => left <= right,
            Operator::Equal => left == right,
            Operator::NotEqual => left != right,
            Operator::More => left > right,
            Operator::Less => left < right,
        }
    }
}

/// Whether there are so many.
#[derive(Debug, Clone)]
pub struct ResourceCount {
    kinds: [Kind; 1],
    operator: Operator,
    count: u64,
}

impl ResourceCount {
    /// With these parameters, unless something is wrong with them. The places are those of the operator and of the count.
    pub fn new(
        kind: Kind,
        operator: (&str, Option<Span>),
        (number, place): (i64, Option<Span>),
    ) -> Result<Self, Diagnostics> {
        let mut problems = Diagnostics::new();
        let (sign, sign_place) = operator;
        let operator = Operator::parse(sign);
        if operator.is_none() {
            let signs = OPERATORS.map(|(sign, _)| sign).join(", ");
            let detail = format!("The operator must be one of {signs}.");
            problems.push(located(Code(1111).error("Invalid operator", detail), sign_place));
        }
        let number = problems.take(count("count", Some(number), place)).flatten();
        match (operator, number) {
            (Some(operator), Some(count)) => Ok(Self { kinds: [kind], operator, count }),
            _ => Err(problems),
        }
    }
}

impl Predicate for ResourceCount {
    fn kind(&self) -> &'static str {
        "resource_count"
    }

    fn reads(&self) -> Vec<&FieldPath> {
        self.kinds[0].aliases.iter().filter_map(|alias| alias.block.as_ref()).collect()
    }

    fn needs_neighbours(&self) -> bool {
        self.kinds[0].via != Via::Embedded
    }

    fn is_oracle(&self) -> bool {
        false
    }

    /// Which fields there are depends on the type: see `check_attached`.
    fn check(&self, _: &Schema) -> Vec<Diagnostic> {
        Vec::new()
    }

    fn check_attached(&self, ty: &str, schema: &Schema, knows: &dyn Fn(&crate::Glob) -> bool) -> Diagnostics {
        self.kinds.iter().filter_map(|kind| kind.check(&[], ty, schema, knows)).collect()
    }

    fn ask(&self, case: &Case<'_>, wants_steps: bool) -> Result<Found, Diagnostics> {
        let counted = if self.kinds[0].via == Via::Siblings {
            case.neighbours.map(|neighbours| {
                let count = neighbours.siblings() as u64;
                (count, wants_steps.then(|| Step::text(format!("{count} instances"))))
            })
        } else {
            Gathered::of(&self.kinds, &[], case)
                .map(|gathered| (gathered.count(), wants_steps.then(|| gathered.step("found"))))
        };
        let Some((count, step)) = counted else {
            let steps = if wants_steps { vec![Step::text(UNAVAILABLE)] } else { Vec::new() };
            return Ok(Found { truth: Truth::Unknown, steps });
        };
        let holds = self.operator.holds(count, self.count);
        let wanted = || Step::text(format!("wanted {} {}", self.operator.sign(), self.count));
        Ok(Found { truth: Truth::from(holds), steps: step.into_iter().flat_map(|step| [step, wanted()]).collect() })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use std::sync::Arc;

    use groma_model::text::Str;

    use super::{Kind, ResourceCount, Via};
    use crate::replace::predicate::Predicate;
    use crate::replace::predicate::attached::tests::{Around, steps};
    use crate::replace::testing::{Scene, boxed, disks};
    use crate::replace::truth::Truth;

    fn kind(name: &str, via: Via) -> Kind {
        Kind { name: Str::from(name), place: None, via, aliases: Arc::default() }
    }

    fn ask(kind: Kind, operator: &str, around: &Around) -> Truth {
        let scene = Scene::change(boxed([("disk", disks(["a", "b"]))]), boxed([]));
        let asked = ResourceCount::new(kind, (operator, None), (2, None)).unwrap();
        asked.ask(&scene.among(around), false).unwrap().truth
    }

    /// T-52
    #[test]
    fn every_operator() {
        let wanted = [
            (">=", [false, true, true]),
            ("<=", [true, true, false]),
            ("==", [false, true, false]),
            ("!=", [true, false, true]),
            (">", [false, false, true]),
            ("<", [true, false, false]),
        ];
        for (operator, results) in wanted {
            for (count, result) in (1..).zip(results) {
                let around = Around::users(count);
                assert_eq!(
                    ask(kind("sim_user", Via::Auto), operator, &around),
                    Truth::from(result),
                    "{count} {operator}"
                );
            }
        }
        assert_eq!(ask(kind("disk", Via::Auto), "==", &Around::users(0)), Truth::True);
    }

    #[test]
    fn bad_operators_and_counts() {
        let summaries = |operator: &str, count: i64| {
            let problems = ResourceCount::new(kind("x", Via::Auto), (operator, None), (count, None)).unwrap_err();
            problems.iter().map(|problem| problem.summary.clone()).collect::<Vec<_>>()
        };
        assert_eq!(summaries("=>", 1), ["Invalid operator (GR1111)"]);
        assert_eq!(summaries(">=", -1), ["Invalid count (GR1111)"]);
        assert_eq!(summaries("=>", -1), ["Invalid operator (GR1111)", "Invalid count (GR1111)"]);
    }

    /// T-53
    #[test]
    fn instances_of_the_same_resource() {
        let around = Around { siblings: 3, ..Around::users(0) };
        let scene = Scene::change(boxed([]), boxed([]));
        let asked = ResourceCount::new(kind("sim_box", Via::Siblings), ("==", None), (3, None)).unwrap();
        let found = asked.ask(&scene.among(&around), true).unwrap();
        assert_eq!(
            (found.truth, steps(&found)),
            (Truth::True, vec!["3 instances".to_owned(), "wanted == 3".to_owned()])
        );
        let alone = asked.ask(&scene.case(), true).unwrap();
        assert_eq!((alone.truth, steps(&alone)), (Truth::Unknown, vec!["attachment data unavailable".to_owned()]));
    }
}
