//! What rules may ask about an object, kept as what tells it from the object that is planned, which is kept anyway: they differ in little.

use std::cell::OnceCell;
use std::sync::Arc;

use groma_model::text::Str;
use groma_model::value::{Entries, Value, ValueKind};
use groma_rules::replace::case::View;

/// What rules may ask about an object that is replaced, beside what its change says.
pub(in crate::plan) struct Candidate {
    values: Kept,
    legacy_type_system: bool,
    /// Whether anything in these values, or in what its change says, is marked.
    pub(super) has_marks: bool,
}

enum Kept {
    /// The attributes that are not the same in all values.
    Apart(Box<[Apart]>),
    /// The values themselves, if they are of another shape.
    Whole(Box<Values>),
}

/// The object as it would be after an update, and its configuration.
struct Values {
    update: Value,
    config: Value,
}

/// One of them.
type Which = fn(&Values) -> &Value;

/// An attribute, by its place.
struct Apart {
    place: usize,
    values: Values,
}

impl Candidate {
    /// Of an object as it would be after an update, with that configuration, and as it is planned beside what there is: all with marks.
    pub(in crate::plan) fn new(
        (update, config): (&Value, &Value),
        (before, after): (&Value, &Value),
        legacy_type_system: bool,
    ) -> Self {
        Self {
            values: Kept::beside(after, update, config),
            legacy_type_system,
            has_marks: [update, config, before, after].into_iter().any(Value::contains_marks),
        }
    }

    /// What rules may ask, from the object as it is planned.
    pub(super) fn views<'c>(&'c self, after: &'c Value) -> Views<'c> {
        let view = |which| Kin { kept: &self.values, after, which, value: OnceCell::new() };
        let (update, config) = (view(|values| &values.update), view(|values| &values.config));
        Views { update, config, legacy_type_system: self.legacy_type_system }
    }
}

impl Kept {
    fn beside(after: &Value, update: &Value, config: &Value) -> Self {
        let whole = || Self::Whole(Box::new(Values { update: update.clone(), config: config.clone() }));
        let (Some(new), Some(updated), Some(configured)) = (attributes(after), attributes(update), attributes(config))
        else {
            return whole();
        };
        if !has_names_of(new, updated) || !has_names_of(new, configured) {
            return whole();
        }
        let mut apart = Vec::new();
        for (place, new) in new.values().iter().enumerate() {
            let (Some(update), Some(config)) = (updated.values().get(place), configured.values().get(place)) else {
                break;
            };
            if !update.is_same(new) || !config.is_same(new) {
                apart.push(Apart { place, values: Values { update: update.clone(), config: config.clone() } });
            }
        }
        Self::Apart(apart.into_boxed_slice())
    }

    /// One of the values, from the object as it is planned.
    fn restored(&self, after: &Value, which: Which) -> Value {
        match (self, attributes(after)) {
            (Self::Whole(values), _) => which(values).clone(),
            (Self::Apart(apart), Some(new)) if !apart.is_empty() => {
                let mut values = new.values().to_vec();
                for Apart { place, values: own } in apart {
                    if let Some(value) = values.get_mut(*place) {
                        *value = which(own).clone();
                    }
                }
                Value::object_of(Entries::with_names(Arc::clone(new.names()), values))
            }
            (Self::Apart(_), _) => after.clone(),
        }
    }
}

/// The attributes of an object that is not marked itself.
fn attributes(object: &Value) -> Option<&Entries> {
    match object.kind() {
        ValueKind::Object(entries) if object.marks().is_empty() => Some(entries),
        _ => None,
    }
}

fn has_names_of(one: &Entries, other: &Entries) -> bool {
    let (names, others) = (one.names(), other.names());
    // Those of a schema are the same texts.
    let is_same = |(one, other): (&Str, &Str)| std::ptr::eq(one.as_str(), other.as_str()) || one == other;
    Arc::ptr_eq(names, others) || names.len() == others.len() && names.iter().zip(others.iter()).all(is_same)
}

/// What rules may ask, as they see it: with marks.
pub(super) struct Views<'c> {
    /// As it would be after an update.
    pub(super) update: Kin<'c>,
    /// What is configured.
    pub(super) config: Kin<'c>,
    /// Whether its provider uses the old type system.
    pub(super) legacy_type_system: bool,
}

/// A value that is kin to the planned one, and made when it is asked for.
pub(super) struct Kin<'c> {
    kept: &'c Kept,
    after: &'c Value,
    which: Which,
    value: OnceCell<Value>,
}

impl View for Kin<'_> {
    fn value(&self) -> &Value {
        self.value.get_or_init(|| self.kept.restored(self.after, self.which))
    }

    fn attribute(&self, name: &str, place: usize) -> Option<(usize, &Value)> {
        let Kept::Apart(apart) = self.kept else { return None };
        let (place, new) = attributes(self.after)?.get_near(name, place)?;
        let own = apart.iter().find(|own| own.place == place);
        Some((place, own.map_or(new, |own| (self.which)(&own.values))))
    }
}

#[cfg(test)]
mod tests {
    use groma_model::mark::Mark;
    use groma_model::ty::Type;

    use super::*;

    fn object(id: Value, name: Value) -> Value {
        Value::object([("id", id), ("name", name), ("ports", Value::strings(["80"]))])
    }

    fn assert_views(candidate: &Candidate, after: &Value, (update, config): (&Value, &Value)) {
        let views = candidate.views(after);
        for (view, value) in [(&views.update, update), (&views.config, config)] {
            for (name, place) in ["id", "name", "ports", "zone"].into_iter().zip([0, 0, 2, 9]) {
                let found = view.attribute(name, place);
                let same = value.as_entries().and_then(|entries| entries.get_near(name, place));
                assert!(found == same || found.is_none() && matches!(candidate.values, Kept::Whole(_)), "{name}");
            }
            assert!(view.value.get().is_none());
            assert_eq!(view.value(), value);
        }
    }

    #[test]
    fn only_what_differs_is_kept() {
        let after = object(Value::unknown(Type::String), "a".into());
        let secret = Value::string("a").mark(Mark::Sensitive);
        let others = [
            (after.clone(), Some(0)),
            (object("1".into(), "a".into()), Some(1)),
            (object(Value::null(Type::String), "b".into()), Some(2)),
            (object(Value::unknown(Type::String), secret), Some(1)),
            (after.clone().mark(Mark::Sensitive), None),
            (Value::object([("id", Value::string("1"))]), None),
            (Value::object([("id", Value::string("1")), ("name", "a".into()), ("zone", "b".into())]), None),
            (Value::null(after.ty()), None),
        ];
        for (other, differing) in others {
            for (update, config) in [(&other, &after), (&after, &other), (&other, &other)] {
                let candidate = Candidate::new((update, config), (&after, &after), false);
                let apart = match &candidate.values {
                    Kept::Apart(apart) => Some(apart.len()),
                    Kept::Whole(_) => None,
                };
                assert_eq!(apart, differing, "{other:?}");
                assert_eq!(candidate.has_marks, other.contains_marks());
                assert_views(&candidate, &after, (update, config));
            }
        }
    }

    #[test]
    fn what_is_planned_may_have_no_attributes() {
        let after = Value::unknown(Type::Dynamic);
        let (update, config) = (object("1".into(), "a".into()), object("1".into(), "b".into()));
        let candidate = Candidate::new((&update, &config), (&update, &after), true);
        assert_views(&candidate, &after, (&update, &config));
    }
}
