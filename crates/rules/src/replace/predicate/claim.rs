//! `claim_reused`: whether the new object wants what the old one has and only one of them can have. For rows of the catalogue; rules of
//! users say the same with `field_changed` and `against = "create"`.

mod brief;
mod range;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use groma_model::diag::Diagnostics;
use groma_model::mark::Mark;
use groma_model::ty::Type;
use groma_model::value::{Value, ValueKind};

use self::range::Range;
use super::{Found, Predicate};
use crate::replace::case::Case;
use crate::replace::path::{FieldPath, Reading};
use crate::replace::secrecy::is_secret;
use crate::replace::step::Step;
use crate::replace::truth::Truth;

/// So many steps are told of one claim.
const TOLD: usize = 10;

/// One part of what is claimed.
#[derive(Debug, Clone)]
pub struct Part {
    /// Where it stands.
    pub path: FieldPath,
    /// Whether it is a range of addresses, which must not even overlap.
    pub range: bool,
}

/// What only one object can have, by its parts. Without the first one nothing is claimed; the others say where it is.
#[derive(Debug, Clone)]
pub struct Claim(pub Vec<Part>);

/// Whether something is claimed again.
#[derive(Debug, Clone)]
pub struct ClaimReused {
    claims: Vec<Claim>,
    /// If the old object has one of these values, it lets go of everything.
    unless: Vec<(FieldPath, Value)>,
}

impl ClaimReused {
    /// Any of these claims.
    pub fn new(claims: Vec<Claim>, unless: Vec<(FieldPath, Value)>) -> Self {
        Self { claims, unless }
    }

    /// The claims.
    pub fn claims(&self) -> &[Claim] {
        &self.claims
    }
}

impl Predicate for ClaimReused {
    fn kind(&self) -> &'static str {
        "claim_reused"
    }

    fn reads(&self) -> Vec<&FieldPath> {
        let parts = self.claims.iter().flat_map(|claim| claim.0.iter().map(|part| &part.path));
        parts.chain(self.unless.iter().map(|(path, _)| path)).collect()
    }

    fn is_oracle(&self) -> bool {
        false
    }

    fn ask(&self, case: &Case<'_>, wants_steps: bool) -> Result<Found, Diagnostics> {
        for (path, value) in &self.unless {
            if path.read(case.old).values().any(|found| same_value(found, value)) {
                let step = || Step::text(format!("{path} ")).and_value(value).and_text(": it is given up at once");
                let steps = if wants_steps { vec![step()] } else { Vec::new() };
                return Ok(Found { truth: Truth::False, steps });
            }
        }
        let mut found = Found { truth: Truth::False, steps: Vec::new() };
        for claim in &self.claims {
            let brief = if wants_steps { None } else { claim.brief(case) };
            let truth = brief.unwrap_or_else(|| claim.ask(case, wants_steps.then_some(&mut found.steps)));
            found.truth = found.truth.or(truth);
            if found.truth == Truth::True && !wants_steps {
                break;
            }
        }
        Ok(found)
    }
}

/// What one object claims, part by part.
struct Claimed {
    values: Vec<Value>,
    /// Which of the values nobody has configured.
    generated: Vec<bool>,
}

impl Claimed {
    /// With everything marked that must not be shown.
    fn concealed(&self, secret: &[bool]) -> Claimed {
        let conceal = |(value, secret): (&Value, &bool)| {
            let value = value.clone();
            if *secret { value.mark(Mark::Sensitive) } else { value }
        };
        Claimed { values: self.values.iter().zip(secret).map(conceal).collect(), generated: self.generated.clone() }
    }
}

/// What the new object claims, so that it is found without looking at all of it.
struct New {
    all: Vec<Claimed>,
    /// Those that are known and must be the same.
    index: BTreeMap<Vec<Value>, usize>,
    /// The others.
    open: Vec<usize>,
}

impl New {
    fn of(claim: &Claim, all: Vec<Claimed>) -> Self {
        let ranges = claim.0.iter().any(|part| part.range);
        let (mut index, mut open) = (BTreeMap::new(), Vec::new());
        for (at, claimed) in all.iter().enumerate() {
            if !ranges && claimed.values.iter().all(Value::is_wholly_known) {
                index.insert(plain(&claimed.values), at);
            } else {
                open.push(at);
            }
        }
        Self { all, index, open }
    }
}

/// Values as they are compared: without marks, and with one kind of nothing.
fn plain(values: &[Value]) -> Vec<Value> {
    let plain = |value: &Value| {
        if is_nothing(value) { Value::null(Type::Dynamic) } else { value.clone().unmark_deep().0 }
    };
    values.iter().map(plain).collect()
}

impl Claim {
    fn ask(&self, case: &Case<'_>, steps: Option<&mut Vec<Step>>) -> Truth {
        let old: Vec<Claimed> =
            self.claimed(case.old, None).into_iter().filter(|claimed| !is_nothing(&claimed.values[0])).collect();
        if old.is_empty() {
            return Truth::False;
        }
        let new = New::of(self, self.claimed(case.new, Some(case.config.value())));
        let found: Vec<(Truth, Option<&Claimed>)> = old.iter().map(|old| self.against(old, &new)).collect();
        let result = found.iter().fold(Truth::False, |so_far, (truth, _)| so_far.or(*truth));
        if let Some(steps) = steps {
            let secret: Vec<bool> = self.0.iter().map(|part| is_secret(&part.path, case)).collect();
            // What matters, and only if nothing does, what does not.
            let telling = old.iter().zip(&found).filter(|(_, (truth, _))| *truth == result).take(TOLD);
            steps.extend(telling.map(|(old, (truth, against))| {
                let against = against.map(|against| against.concealed(&secret));
                self.step(&old.concealed(&secret), *truth, against.as_ref())
            }));
        }
        result
    }

    /// Whether something of the new object claims what the old one has, and what comes nearest to that.
    fn against<'n>(&self, old: &Claimed, new: &'n New) -> (Truth, Option<&'n Claimed>) {
        if let Some(at) = new.index.get(&plain(&old.values)) {
            return (Truth::True, new.all.get(*at));
        }
        let mut best = (Truth::False, new.all.first());
        for new in new.open.iter().filter_map(|at| new.all.get(*at)) {
            let truth = self.same(old, new);
            if truth > best.0 {
                best = (truth, Some(new));
            }
            if truth == Truth::True {
                break;
            }
        }
        best
    }

    fn same(&self, old: &Claimed, new: &Claimed) -> Truth {
        let mut result = Truth::True;
        for (at, part) in self.0.iter().enumerate() {
            let (old, given) = (&old.values[at], &new.values[at]);
            let truth = if given.is_known() {
                Truth::from(same_part(old, given, part.range))
            } else if !new.generated[at] {
                Truth::Unknown
            } else {
                // What is made up afresh differs; where it is does not, if nobody says so.
                Truth::from(at > 0)
            };
            result = result.and(truth);
        }
        result
    }

    /// All that an object claims: once for every element, if the paths lead through collections.
    fn claimed(&self, object: &Value, config: Option<&Value>) -> Vec<Claimed> {
        let readings: Vec<Reading> = self.0.iter().map(|part| part.path.read(object)).collect();
        let configured: Vec<Option<Reading>> =
            self.0.iter().map(|part| config.map(|value| part.path.read(value))).collect();
        let count = readings.iter().map(length).max().unwrap_or(0);
        let at = |reading: &Reading, at: usize| match reading {
            Reading::One(value) => Some(value.clone()),
            Reading::Many(elements) => elements.get(at).map(|element| element.value.clone()),
        };
        let claimed = |number: usize| {
            let values =
                readings.iter().map(|reading| at(reading, number).unwrap_or_else(|| Value::null(Type::Dynamic)));
            let generated = configured.iter().map(|reading| {
                let reading = reading.as_ref().and_then(|reading| at(reading, number));
                reading.is_none_or(|value| value.is_null())
            });
            Claimed { values: values.collect(), generated: generated.collect() }
        };
        (0..count).map(claimed).collect()
    }

    fn step(&self, old: &Claimed, truth: Truth, new: Option<&Claimed>) -> Step {
        let named = |step: Step, at: usize| {
            let comma = if at == 0 { "" } else { ", " };
            step.and_text(format!("{comma}{} ", self.0[at].path)).and_value(&old.values[at])
        };
        let shown: Vec<usize> = (0..self.0.len()).filter(|at| *at == 0 || !is_nothing(&old.values[*at])).collect();
        match (truth, new) {
            (Truth::True, _) => {
                let step = shown.iter().fold(Step::default(), |step, at| named(step, *at));
                step.and_text(if shown.len() == 1 { " is used again" } else { " are used again" })
            }
            (Truth::Unknown, _) => {
                let step = shown.iter().fold(Step::default(), |step, at| named(step, *at));
                step.and_text(" may be used again (known after apply)")
            }
            (Truth::False, Some(new)) => self.difference(old, new),
            (Truth::False, None) => named(Step::default(), 0).and_text(" is not used again"),
        }
    }

    /// The first part that differs.
    fn difference(&self, old: &Claimed, new: &Claimed) -> Step {
        let differs = |at: &usize| {
            let (given, generated) = (&new.values[*at], new.generated[*at]);
            let known = given.is_known() && !same_part(&old.values[*at], given, self.0[*at].range);
            known || (*at == 0 && !given.is_known() && generated)
        };
        let at = (0..self.0.len()).find(differs).unwrap_or(0);
        let name = Step::text(format!("{} ", self.0[at].path));
        if new.values[at].is_known() {
            name.and_value(&old.values[at]).and_text(" -> ").and_value(&new.values[at])
        } else {
            name.and_value(&old.values[at]).and_text(" -> generated anew")
        }
    }
}

fn length(reading: &Reading) -> usize {
    match reading {
        Reading::One(_) => 1,
        Reading::Many(elements) => elements.len(),
    }
}

fn same_part(old: &Value, new: &Value, range: bool) -> bool {
    if range && let (Some(old), Some(new)) = (old.as_str().and_then(Range::parse), new.as_str().and_then(Range::parse))
    {
        return old.overlaps(&new);
    }
    same_value(old, new) || (is_nothing(old) && is_nothing(new))
}

fn same_value(a: &Value, b: &Value) -> bool {
    a.clone().unmark_deep().0 == b.clone().unmark_deep().0
}

/// Whether nothing is claimed with it. Old providers write nothing as zero or as an empty text.
fn is_nothing(value: &Value) -> bool {
    match value.kind() {
        ValueKind::Null => true,
        ValueKind::String(text) => text.is_empty(),
        ValueKind::Number(number) => number.to_u64() == Some(0),
        ValueKind::List(items) | ValueKind::Set(items) | ValueKind::Tuple(items) => items.is_empty(),
        _ => false,
    }
}
