//! What predicates about single values have in common: which view of the object they look at, and what many values come to.

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::schema::Schema;
use groma_model::value::Value;

use crate::replace::case::Case;
use crate::replace::path::{Element, FieldPath, Reading};
use crate::replace::predicate::Found;
use crate::replace::problem::Code;
use crate::replace::secrecy::{concealed, is_secret};
use crate::replace::step::Step;
use crate::replace::truth::Truth;

/// More findings of one predicate are not listed.
pub(super) const MOST_STEPS: usize = 10;

/// Which view of the object is looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum On {
    /// The object as it is.
    #[default]
    Old,
    /// The object that takes its place.
    New,
    /// One of them is enough.
    Either,
    /// Both.
    Both,
}

impl On {
    /// All of them, with their names in rules.
    pub const ALL: [(&'static str, On); 4] =
        [("old", On::Old), ("new", On::New), ("either", On::Either), ("both", On::Both)];

    /// By its name in rules.
    pub fn named(name: &str) -> Option<On> {
        Self::ALL.into_iter().find_map(|(own, on)| (own == name).then_some(on))
    }
}

/// What the answers for several values come to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Match {
    /// True for one is enough.
    #[default]
    Any,
    /// True for all, and there is at least one.
    All,
    /// True for none.
    None,
}

impl Match {
    /// All of them, with their names in rules.
    pub const ALL: [(&'static str, Match); 3] = [("any", Match::Any), ("all", Match::All), ("none", Match::None)];

    /// By its name in rules.
    pub fn named(name: &str) -> Option<Match> {
        Self::ALL.into_iter().find_map(|(own, matching)| (own == name).then_some(matching))
    }

    /// What these answers come to.
    pub fn of(self, truths: impl IntoIterator<Item = Truth>) -> Truth {
        let mut tally = self.tally();
        for truth in truths {
            tally.add(truth);
        }
        tally.result()
    }

    /// For answers that come one by one.
    pub(super) fn tally(self) -> Tally {
        Tally { matching: self, so_far: None }
    }
}

/// What the answers come to so far.
pub(super) struct Tally {
    matching: Match,
    so_far: Option<Truth>,
}

impl Tally {
    pub(super) fn add(&mut self, truth: Truth) {
        let join = if self.matching == Match::All { Truth::and } else { Truth::or };
        self.so_far = Some(self.so_far.map_or(truth, |so_far| join(so_far, truth)));
    }

    /// Whether further answers make no difference.
    pub(super) fn is_decided(&self) -> bool {
        let decisive = if self.matching == Match::All { Truth::False } else { Truth::True };
        self.so_far == Some(decisive)
    }

    pub(super) fn result(&self) -> Truth {
        let result = self.so_far.unwrap_or(Truth::False);
        if self.matching == Match::None { result.negated() } else { result }
    }
}

/// A question about one value of a field.
pub(super) trait Test {
    /// The answer for one value.
    fn test(&self, value: &Value) -> Result<Truth, Diagnostics>;

    /// What was looked for, in words: ` is one of …`. Only for values that may be shown.
    fn told(&self, step: Step, truth: Truth) -> Step;
}

/// Where a test looks.
pub(super) struct Look<'p> {
    pub(super) field: &'p FieldPath,
    pub(super) on: On,
    pub(super) matching: Match,
}

impl Look<'_> {
    /// The answer to a test.
    pub(super) fn ask(&self, case: &Case<'_>, test: &dyn Test, wants_steps: bool) -> Result<Found, Diagnostics> {
        let mut steps = Vec::new();
        let mut view = |name: &str, object: &Value| -> Result<Truth, Diagnostics> {
            if let Some(value) = self.field.lookup(object).filter(|_| !wants_steps) {
                return Ok(self.matching.of([test.test(value)?]));
            }
            let reading = self.field.read(object);
            if wants_steps {
                self.tell(name, object, case, test, &mut steps)?;
            }
            // All are asked: that one of them cannot be is an error, whatever the others say.
            let mut tally = self.matching.tally();
            for value in reading.values() {
                tally.add(test.test(value)?);
            }
            Ok(tally.result())
        };
        let truth = match self.on {
            On::Old => view("old", case.old)?,
            On::New => view("new", case.new)?,
            On::Either => view("old", case.old)?.or(view("new", case.new)?),
            On::Both => view("old", case.old)?.and(view("new", case.new)?),
        };
        Ok(Found { truth, steps })
    }

    fn tell(
        &self,
        view: &str,
        object: &Value,
        case: &Case<'_>,
        test: &dyn Test,
        steps: &mut Vec<Step>,
    ) -> Result<(), Diagnostics> {
        // What is looked for would tell what a secret is not, so then nothing of it is shown.
        if is_secret(self.field, case) {
            steps.push(Step::text(format!("{view}: (sensitive)")));
            return Ok(());
        }
        match self.field.read(&concealed(case.schema, object)) {
            Reading::One(value) => {
                let truth = test.test(&value)?;
                steps.push(test.told(Step::text(format!("{view}: ")).and_value(&value), truth));
            }
            Reading::Many(elements) if elements.is_empty() => steps.push(Step::text(format!("{view}: no elements"))),
            Reading::Many(elements) => {
                for Element { at, value } in elements.iter().take(MOST_STEPS) {
                    let truth = test.test(value)?;
                    let step = Step::text(format!("{view} {}: ", self.field.concrete(object, at))).and_value(value);
                    steps.push(test.told(step, truth));
                }
                push_more(steps, elements.len());
            }
        }
        Ok(())
    }
}

/// Hints about a field, and about where it is looked at if that is not said.
pub(super) fn lints(field: &FieldPath, on: Option<On>, schema: Option<&Schema>) -> Vec<Diagnostic> {
    let mut found = field.lints();
    if on.is_none() && schema.is_some_and(|schema| field.is_configurable(schema)) {
        let detail = format!(
            "{field} may be another one in the new object. Without \"on\" the old object is looked at; say so with on = \"old\", or use \
             \"new\", \"either\" or \"both\"."
        );
        let lint = Code(4003).warning("Nothing is said about which object", detail);
        found.push(field.place.map_or(lint.clone(), |place| lint.at(place)));
    }
    found
}

/// Says how many findings are not listed.
pub(super) fn push_more(steps: &mut Vec<Step>, count: usize) {
    if count > MOST_STEPS {
        steps.push(Step::text(format!("and {} more", count - MOST_STEPS)));
    }
}
