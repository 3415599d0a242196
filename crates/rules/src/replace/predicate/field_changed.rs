//! `field_changed`: whether a field changes, by how much, and whether the new object claims the same value.

mod pairs;
#[cfg(test)]
mod tests;
mod told;

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::number::Number;
use groma_model::schema::Schema;
use groma_model::ty::Type;
use groma_model::value::{Value, ValueKind};

use super::scalar::Match;
use super::{Facts, Found, Predicate};
use crate::replace::case::{Case, View};
use crate::replace::compare::{Comparison, IgnoreOrder};
use crate::replace::path::{FieldPath, Reading, Spots};
use crate::replace::problem::{Code, ParameterProblem};
use crate::replace::truth::Truth;
use pairs::{Pair, visit_pairs};

/// `predicate "field_changed" { … }`
#[derive(Debug, Clone)]
pub struct FieldChanged {
    /// Which field.
    pub field: FieldPath,
    /// Whether the order of a list matters.
    pub ignore_order: IgnoreOrder,
    /// How much a number must change.
    pub threshold: Option<Threshold>,
    /// What the old object is compared with.
    pub against: Against,
    /// Whether null is the same as empty. None if that is as the provider has it.
    pub null_equals_empty: Option<bool>,
    /// How many of several values must change.
    pub matching: Match,
}

/// What the old object is compared with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Against {
    /// With what it would be after an update: does it change?
    #[default]
    Update,
    /// With the object that takes its place: does that one claim the same?
    Create,
}

/// How much a number must change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Threshold {
    /// By that.
    Absolute(Number),
    /// By so many percent of what it was.
    Percent(Number),
}

impl Threshold {
    /// From a number, or a text such as `"10%"`.
    pub fn of(value: &Value) -> Result<Threshold, ParameterProblem> {
        let problem = |detail: &str| ParameterProblem::new(1105, "threshold", "Bad threshold", detail);
        let threshold = match value.kind() {
            ValueKind::Number(number) => Some(Threshold::Absolute(number.clone())),
            ValueKind::String(text) => {
                let percent = text.strip_suffix('%').and_then(|number| Number::parse(number.trim()));
                percent.map(Threshold::Percent)
            }
            _ => None,
        };
        let Some(threshold) = threshold else {
            return Err(problem("A threshold is a number, or a share such as \"10%\"."));
        };
        let (Threshold::Absolute(number) | Threshold::Percent(number)) = &threshold;
        if number.is_negative() || number.is_infinite() {
            return Err(problem(
                "A threshold must not be less than zero: it is compared with the amount of the change.",
            ));
        }
        Ok(threshold)
    }

    /// Whether two numbers are that far apart.
    fn is_reached(&self, old: &Number, new: &Number) -> bool {
        // Infinities that cancel out are no change.
        let Some(change) = new.sub(old).map(|change| change.abs()) else { return false };
        match self {
            Threshold::Absolute(least) => change >= *least,
            Threshold::Percent(_) if old.is_zero() => !change.is_zero(),
            Threshold::Percent(share) => {
                let parts = change.mul(&Number::from(100_u64)).zip(share.mul(&old.abs()));
                parts.is_none_or(|(change, least)| change >= least)
            }
        }
    }
}

impl FieldChanged {
    /// Whether a field changes at all.
    pub fn new(field: FieldPath) -> Self {
        Self {
            field,
            ignore_order: IgnoreOrder::default(),
            threshold: None,
            against: Against::default(),
            null_equals_empty: None,
            matching: Match::default(),
        }
    }

    /// What is wrong with its parameters, whatever the schema.
    pub fn problems(&self) -> Vec<ParameterProblem> {
        let both = self.threshold.is_some() && self.ignore_order != IgnoreOrder::No;
        let detail =
            "A threshold is for numbers and ignore_order is for lists, so there is nothing that both make sense for.";
        both.then(|| ParameterProblem::new(1108, "threshold", "Threshold with ignore_order", detail))
            .into_iter()
            .collect()
    }

    /// What it has to do with the field, without steps. For the gate of rules, and `changed()`.
    pub fn truth(&self, case: &Case<'_>) -> Result<Truth, Diagnostics> {
        self.truth_of(case, self.field.is_write_only(case.schema))
    }

    fn truth_of(&self, case: &Case<'_>, is_write_only: bool) -> Result<Truth, Diagnostics> {
        if is_write_only {
            return Ok(self.matching.of([self.is_rewritten(case).into()]));
        }
        let after = self.after(case);
        if let Some(changes) = self.obviously_changes(case.old, after)
            && (changes || !self.is_rewritten(case))
        {
            return Ok(self.matching.of([changes.into()]));
        }
        let mut tally = self.matching.tally();
        self.judge(case, self.field.read(case.old), self.field.read(after.value()), &mut |pair| {
            tally.add(pair.truth);
            // With a threshold all are asked: that one of them is no number is an error, whatever the others say.
            self.threshold.is_some() || !tally.is_decided()
        })?;
        Ok(tally.result())
    }

    /// Whether one value that is known changes, where it takes no more than a glance.
    fn obviously_changes(&self, old: &Value, new: &dyn View) -> Option<bool> {
        let plain = |value: &&Value| value.is_wholly_known() && !value.contains_marks() && !value.is_null();
        let old = self.field.lookup(old).filter(plain)?;
        let new = self.field.lookup_in(new).filter(plain)?;
        let scalars = || [old, new].iter().all(|value| is_scalar(value));
        if self.threshold.is_some() {
            return None;
        }
        if old == new { Some(false) } else { scalars().then_some(true) }
    }

    fn after<'a>(&self, case: &Case<'a>) -> &'a dyn View {
        match self.against {
            Against::Update => case.upd,
            Against::Create => case.new,
        }
    }

    /// Whether something write-only is a reason for the replacement: nothing else is known of such values.
    fn is_rewritten(&self, case: &Case<'_>) -> bool {
        case.replace_paths.iter().any(|path| {
            let is_write_only = || case.schema.block.attribute_at(path).is_some_and(|attribute| attribute.write_only);
            self.field.overlaps(path) && is_write_only()
        })
    }

    /// Shows the values of the field, old and new, each with whether it changes, until no more are wanted.
    fn judge(
        &self,
        case: &Case<'_>,
        old: Reading,
        new: Reading,
        visit: &mut dyn FnMut(Pair) -> bool,
    ) -> Result<(), Diagnostics> {
        let null_is_empty = self.null_equals_empty.unwrap_or(case.legacy_type_system);
        let comparison = Comparison { ignore_order: self.ignore_order, null_is_empty };
        let config = match self.against {
            Against::Update => None,
            Against::Create => Some(self.field.read(case.config.value())),
        };
        let mut some_changes = false;
        visit_pairs(old, new, comparison, &mut |mut pair| {
            if !pair.is_settled {
                let config = config.as_ref().and_then(|config| configured(config, &pair.at));
                pair.truth = self.changed(&mut pair, comparison, config.as_ref(), case)?;
            }
            some_changes |= pair.truth == Truth::True;
            Ok(visit(pair))
        })?;
        // Of something around a write-only value only the provider knows whether that changes.
        if !some_changes && self.is_rewritten(case) {
            visit(Pair::rewritten());
        }
        Ok(())
    }

    /// Whether a value changes. `config` is what is configured for it, if that matters and is known.
    fn changed(
        &self,
        pair: &mut Pair,
        mut comparison: Comparison,
        config: Option<&Value>,
        case: &Case<'_>,
    ) -> Result<Truth, Diagnostics> {
        let (old, new) = (&pair.old, &pair.new);
        // There are no blocks rather than null.
        if old.is_null() != new.is_null() && self.field.leads_to_blocks(case.schema) {
            comparison.null_is_empty = true;
        }
        if pair.is_member {
            return Ok(self.of_unknown(pair, case));
        }
        pair.is_generated = !new.is_known() && config.is_some_and(Value::is_null);
        match comparison.same(old, new, config) {
            Truth::True => Ok(Truth::False),
            Truth::False => self.is_over_threshold(old, new),
            Truth::Unknown => Ok(self.of_unknown(pair, case)),
        }
    }

    /// Whether a value changes of which not all is known. If the object is replaced because of it, it does.
    fn of_unknown(&self, pair: &mut Pair, case: &Case<'_>) -> Truth {
        if pair.old.is_wholly_known() && pair.new.is_wholly_known() {
            return Truth::True;
        }
        let is_reason = || case.replace_paths.iter().any(|path| self.field.overlaps_at(path, &pair.at));
        if self.against == Against::Update && is_reason() {
            pair.is_counted = true;
            return Truth::True;
        }
        Truth::Unknown
    }

    /// Whether values that are not the same are far enough apart. Something that appears or disappears is.
    fn is_over_threshold(&self, old: &Value, new: &Value) -> Result<Truth, Diagnostics> {
        let Some(threshold) = &self.threshold else { return Ok(Truth::True) };
        match (old.kind(), new.kind()) {
            (ValueKind::Null, _) | (_, ValueKind::Null) | (_, ValueKind::Unknown(_)) => Ok(Truth::True),
            (ValueKind::Number(old), ValueKind::Number(new)) => Ok(threshold.is_reached(old, new).into()),
            _ => Err(self.not_a_number().into()),
        }
    }

    fn not_a_number(&self) -> Diagnostic {
        let detail = format!("A threshold is for numbers, and {} is none.", self.field);
        let diagnostic = Code(1105).error("Bad threshold", detail);
        self.field.place.map_or(diagnostic.clone(), |place| diagnostic.at(place))
    }

    fn not_comparable(&self) -> Diagnostic {
        let detail = format!(
            "{} leads to elements of a set. They have no place by which the old and the new one belong together, so it cannot be said how \
             far one has moved.",
            self.field
        );
        let diagnostic = Code(1105).error("Bad threshold", detail);
        self.field.place.map_or(diagnostic.clone(), |place| diagnostic.at(place))
    }
}

fn is_scalar(value: &Value) -> bool {
    matches!(value.kind(), ValueKind::Bool(_) | ValueKind::Number(_) | ValueKind::String(_))
}

/// What is configured for a value. None if that is not known.
fn configured(config: &Reading, at: &Spots) -> Option<Value> {
    let value = match config {
        Reading::One(value) => value.clone(),
        // They are in the order of their places.
        Reading::Many(elements) => match elements.binary_search_by(|element| element.at.cmp(at)) {
            Ok(found) => elements[found].value.clone(),
            Err(_) => Value::null(Type::Dynamic),
        },
    };
    value.is_known().then_some(value)
}

impl Predicate for FieldChanged {
    fn kind(&self) -> &'static str {
        "field_changed"
    }

    fn reads(&self) -> Vec<&FieldPath> {
        vec![&self.field]
    }

    /// That a field changes is told by the plan anyway.
    fn is_oracle(&self) -> bool {
        false
    }

    fn check(&self, schema: &Schema) -> Vec<Diagnostic> {
        let mut found = self.field.check(schema);
        let ty = self.field.ty(schema);
        if self.threshold.is_some() && ty.is_some_and(|ty| !matches!(ty, Type::Number | Type::Dynamic)) {
            found.push(self.not_a_number());
        } else if self.threshold.is_some() && self.field.leads_into_set(schema) {
            found.push(self.not_comparable());
        }
        found
    }

    fn ask(&self, case: &Case<'_>, wants_steps: bool) -> Result<Found, Diagnostics> {
        if wants_steps { self.told(case) } else { Ok(Found { truth: self.truth(case)?, steps: Vec::new() }) }
    }

    fn answer(&self, case: &Case<'_>, facts: Facts) -> Result<Truth, Diagnostics> {
        self.truth_of(case, facts.write_only)
    }
}
