//! What `field_changed` has seen: which leaves of a field change, and into what.

use groma_model::diag::Diagnostics;
use groma_model::path::{PathKey, PathStep};
use groma_model::value::{Value, ValueKind, go_quote};

use super::{FieldChanged, Pair, Threshold};
use crate::replace::case::Case;
use crate::replace::compare::{Comparison, IgnoreOrder};
use crate::replace::path::Reading;
use crate::replace::predicate::Found;
use crate::replace::predicate::scalar::{MOST_STEPS, push_more};
use crate::replace::secrecy::{concealed, is_secret};
use crate::replace::step::{Step, is_hidden};
use crate::replace::truth::Truth;

/// A part of a value that changes.
struct Leaf<'v> {
    /// Behind the path to the value: `[0].private`.
    path: String,
    old: &'v Value,
    new: &'v Value,
}

impl FieldChanged {
    /// The answer, and what it follows from.
    pub(super) fn told(&self, case: &Case<'_>) -> Result<Found, Diagnostics> {
        if self.field.is_write_only(case.schema) {
            let rewritten = self.is_rewritten(case);
            let text = if rewritten { "changed (write-only)" } else { "unchanged (write-only)" };
            return Ok(Found { truth: self.matching.of([rewritten.into()]), steps: vec![Step::text(text)] });
        }
        let (old, after) = (concealed(case.schema, case.old), concealed(case.schema, self.after(case).value()));
        let (before, behind) = (self.field.read(&old), self.field.read(&after));
        let is_one = matches!((&before, &behind), (Reading::One(_), Reading::One(_)));
        let mut pairs = Vec::new();
        self.judge(case, before, behind, &mut |pair| {
            pairs.push(pair);
            true
        })?;
        let truth = self.matching.of(pairs.iter().map(|pair| pair.truth));
        let mut steps = Vec::new();
        let shown: Vec<&Pair> = pairs.iter().filter(|pair| is_one || pair.truth != Truth::False).collect();
        // Of a set that is marked as a whole, nothing is told element by element.
        let is_secret = is_secret(&self.field, case);
        let mut told = 0;
        for pair in &shown {
            if steps.len() > MOST_STEPS {
                break;
            }
            let name = match (is_one, pair.old.is_null()) {
                (true, _) => String::new(),
                (false, true) => self.field.concrete(&after, &pair.at),
                (false, false) => self.field.concrete(&old, &pair.at),
            };
            self.tell(pair, &name, is_secret, case, &mut steps);
            told += 1;
        }
        if shown.is_empty() {
            steps.push(Step::text(if pairs.is_empty() { "no elements" } else { "unchanged" }));
        }
        let count = steps.len() + shown.len() - told;
        steps.truncate(MOST_STEPS);
        push_more(&mut steps, count);
        Ok(Found { truth, steps })
    }

    fn tell(&self, pair: &Pair, name: &str, is_secret: bool, case: &Case<'_>, steps: &mut Vec<Step>) {
        let prefix = if name.is_empty() { String::new() } else { format!("{name}: ") };
        if pair.is_write_only {
            steps.push(Step::text(format!("{prefix}changed (write-only)")));
            return;
        }
        let is_leaf = pair.is_member || self.ignore_order != IgnoreOrder::No || pair.truth != Truth::True;
        if !is_leaf && is_compound(&pair.old) && is_compound(&pair.new) {
            self.tell_leaves(pair, name, case, steps);
            return;
        }
        if is_secret || is_hidden(&pair.old) || is_hidden(&pair.new) {
            steps.push(Step::text(format!("{prefix}{} (sensitive)", self.in_words(pair))));
            return;
        }
        steps.push(self.of_pair(pair, Step::text(prefix)));
    }

    /// A result in a word that says nothing else.
    fn in_words(&self, pair: &Pair) -> &'static str {
        match (pair.truth, &self.threshold) {
            (Truth::Unknown, _) => "not known yet",
            (Truth::True, None) => "changed",
            (Truth::False, None) => "unchanged",
            (Truth::True, Some(_)) => "threshold reached",
            (Truth::False, Some(_)) => "threshold not reached",
        }
    }

    fn of_pair(&self, pair: &Pair, step: Step) -> Step {
        let step = step.and_value(&pair.old);
        if pair.truth == Truth::False && pair.old == pair.new {
            return step.and_text(", unchanged");
        }
        let step = step.and_text(" -> ").and_value(&pair.new);
        let step = match pair.truth {
            Truth::True if pair.is_counted => step.and_text(", counted as changed"),
            Truth::True if pair.is_generated => step.and_text(", generated anew"),
            Truth::False if self.threshold.is_none() => step.and_text(", which is the same"),
            _ => step,
        };
        match (&self.threshold, pair.truth) {
            (Some(threshold), Truth::True | Truth::False) if !pair.is_counted => {
                let over = if pair.truth == Truth::True { "at least" } else { "less than" };
                step.and_text(format!(", {over} {threshold} apart"))
            }
            _ => step,
        }
    }

    fn tell_leaves(&self, pair: &Pair, name: &str, case: &Case<'_>, steps: &mut Vec<Step>) {
        let mut leaves = Vec::new();
        let null_is_empty = self.null_equals_empty.unwrap_or(case.legacy_type_system);
        find_leaves(
            &pair.old,
            &pair.new,
            String::new(),
            Comparison { null_is_empty, ..Comparison::default() },
            &mut leaves,
        );
        let around = if name.is_empty() { self.field.to_string() } else { name.to_owned() };
        for leaf in leaves {
            let step = Step::text(format!("{around}{}: ", leaf.path));
            let hidden = is_hidden(leaf.old) || is_hidden(leaf.new);
            let step = if hidden {
                step.and_text("changed (sensitive)")
            } else {
                step.and_value(leaf.old).and_text(" -> ").and_value(leaf.new)
            };
            steps.push(step);
        }
    }
}

fn is_compound(value: &Value) -> bool {
    value.as_elements().is_some() || value.as_entries().is_some()
}

/// The smallest parts that change. What is marked as a whole is one.
fn find_leaves<'v>(old: &'v Value, new: &'v Value, path: String, comparison: Comparison, leaves: &mut Vec<Leaf<'v>>) {
    if leaves.len() > MOST_STEPS || comparison.same(old, new, None) == Truth::True {
        return;
    }
    let is_ordered = |value: &Value| !matches!(value.kind(), ValueKind::Set(_)) && value.marks().is_empty();
    if !is_compound(old) || !is_compound(new) || !is_ordered(old) || !is_ordered(new) {
        leaves.push(Leaf { path, old, new });
        return;
    }
    let (before, after) = (old.children(), new.children());
    let keys = |parts: &[(PathStep, &Value)]| parts.iter().map(|(step, _)| step.clone()).collect::<Vec<_>>();
    // Where elements come or go, it is the whole that changes.
    if keys(&before) != keys(&after) {
        leaves.push(Leaf { path, old, new });
        return;
    }
    for ((step, old), (_, new)) in before.into_iter().zip(after) {
        let step = match step {
            PathStep::Attr(name) => format!(".{name}"),
            PathStep::Index(PathKey::Number(number)) => format!("[{number}]"),
            PathStep::Index(PathKey::String(key)) => format!("[{}]", go_quote(&key)),
            PathStep::Element(_) => "[*]".to_owned(),
        };
        find_leaves(old, new, format!("{path}{step}"), comparison, leaves);
    }
}

impl std::fmt::Display for Threshold {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Threshold::Absolute(number) => write!(f, "{number}"),
            Threshold::Percent(share) => write!(f, "{share}%"),
        }
    }
}
