//! What is known about an unknown value: that it is not null, how it begins, where it lies, how long it is.

use std::cmp::Ordering;

use super::Value;
use crate::number::Number;
use crate::text::Str;
use crate::ty::Type;

/// An end of a number range.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bound {
    /// The number.
    pub number: Number,
    /// Whether the number itself is in the range.
    pub inclusive: bool,
}

/// What is known about an unknown value. Only what fits the type is meaningful.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Refinement {
    /// It will not be null.
    pub not_null: bool,
    /// A string that it will begin with; empty if not known.
    pub prefix: Option<Str>,
    /// Lower end of a number.
    pub lower: Option<Bound>,
    /// Upper end of a number.
    pub upper: Option<Bound>,
    /// Least length of a collection.
    pub min_length: u64,
    /// Greatest length of a collection.
    pub max_length: Option<u64>,
}

impl Refinement {
    /// Nothing but "not null".
    pub fn not_null() -> Self {
        Self { not_null: true, ..Self::default() }
    }

    /// A string that begins with `prefix`, not null.
    pub fn prefix(prefix: impl Into<Str>) -> Self {
        let prefix = prefix.into();
        let prefix = if prefix.is_empty() { None } else { Some(prefix) };
        Self { not_null: true, prefix, ..Self::default() }
    }

    /// A string that begins with as much of `text` as cannot change by what comes behind it, not null.
    pub fn safe_prefix(text: &str) -> Self {
        Self::prefix(crate::text::safe_prefix(&Str::from(text)))
    }

    /// A collection of so many elements, not null.
    pub fn length(min: u64, max: Option<u64>) -> Self {
        Self { not_null: true, min_length: min, max_length: max, ..Self::default() }
    }

    /// A number between two ends, which are in the range too, not null.
    pub fn between(lower: Number, upper: Number) -> Self {
        let bound = |number| Some(Bound { number, inclusive: true });
        Self { not_null: true, lower: bound(lower), upper: bound(upper), ..Self::default() }
    }

    /// What is known if both this and the other hold. Where they contradict each other, the other is left aside.
    pub fn narrowed_by(&self, other: &Refinement) -> Refinement {
        let mut result = self.clone();
        result.not_null |= other.not_null;
        if let Some(prefix) = &other.prefix
            && result.prefix.as_ref().is_none_or(|known| prefix.starts_with(known.as_str()))
        {
            result.prefix = Some(prefix.clone());
        }
        result.lower = tighter(self.lower.as_ref(), other.lower.as_ref(), Ordering::Greater);
        result.upper = tighter(self.upper.as_ref(), other.upper.as_ref(), Ordering::Less);
        if are_apart(result.lower.as_ref(), result.upper.as_ref()) {
            result.lower.clone_from(&self.lower);
            result.upper.clone_from(&self.upper);
        }
        let min = self.min_length.max(other.min_length);
        let max = match (self.max_length, other.max_length) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (known, None) | (None, known) => known,
        };
        if max.is_none_or(|max| min <= max) {
            result.min_length = min;
            result.max_length = max;
        }
        result
    }

    /// What is known of a value that is described by this or by the other: the result of a conditional expression. As
    /// there, a common prefix of strings is not kept.
    pub fn widened_by(&self, other: &Refinement) -> Refinement {
        let looser = |a: &Option<Bound>, b: &Option<Bound>, wanted: Ordering| match (a, b) {
            (Some(a), Some(b)) => Some(if wider(a, b, wanted) { a.clone() } else { b.clone() }),
            _ => None,
        };
        Refinement {
            not_null: self.not_null && other.not_null,
            prefix: None,
            lower: looser(&self.lower, &other.lower, Ordering::Less),
            upper: looser(&self.upper, &other.upper, Ordering::Greater),
            min_length: self.min_length.min(other.min_length),
            max_length: self.max_length.zip(other.max_length).map(|(a, b)| a.max(b)),
        }
    }

    /// Whether nothing that the other describes, which is known and not null, can be described by this.
    pub(super) fn excludes(&self, known: &Refinement) -> bool {
        if let (Some(prefix), Some(text)) = (&self.prefix, &known.prefix)
            && !text.starts_with(prefix.as_str())
        {
            return true;
        }
        let too_long = self.max_length.is_some_and(|max| known.min_length > max);
        let too_short = known.max_length.is_some_and(|length| length < self.min_length);
        too_long
            || too_short
            || are_apart(self.lower.as_ref(), known.upper.as_ref())
            || are_apart(known.lower.as_ref(), self.upper.as_ref())
    }

    /// Whether a value may be what an unknown of this kind becomes. Unknown values may.
    pub fn allows(&self, value: &Value) -> bool {
        use super::ValueKind;
        let length = match value.kind() {
            ValueKind::Null => return !self.not_null,
            ValueKind::Unknown(_) | ValueKind::Bool(_) | ValueKind::Tuple(_) | ValueKind::Object(_) => return true,
            ValueKind::String(text) => {
                return self.prefix.as_ref().is_none_or(|prefix| text.starts_with(prefix.as_str()));
            }
            ValueKind::Number(number) => {
                let exact = Some(Bound { number: number.clone(), inclusive: true });
                return !are_apart(self.lower.as_ref(), exact.as_ref())
                    && !are_apart(exact.as_ref(), self.upper.as_ref());
            }
            ValueKind::List(items) => items.len(),
            // Elements that are not known yet may turn out to be equal.
            ValueKind::Set(_) if !value.is_wholly_known() => return true,
            ValueKind::Set(items) => items.len(),
            ValueKind::Map(entries) => entries.len(),
        } as u64;
        self.min_length <= length && self.max_length.is_none_or(|max| length <= max)
    }

    /// Whether nothing is known.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Drops what does not fit the type, and finds the value if only one is left.
    pub(super) fn settle(mut self, ty: &Type) -> (Refinement, Option<Value>) {
        if *ty == Type::Dynamic {
            return (Refinement::default(), None);
        }
        if *ty != Type::String {
            self.prefix = None;
        }
        if *ty != Type::Number {
            self.lower = None;
            self.upper = None;
        }
        if !ty.is_collection() {
            self.min_length = 0;
            self.max_length = None;
        }
        let only = if self.not_null { self.only_value(ty) } else { None };
        (self, only)
    }

    fn only_value(&self, ty: &Type) -> Option<Value> {
        if let (Some(lower), Some(upper)) = (&self.lower, &self.upper)
            && lower.inclusive
            && upper.inclusive
            && lower.number == upper.number
        {
            return Some(Value::number(lower.number.clone()));
        }
        let length = if self.max_length == Some(self.min_length) { self.min_length } else { return None };
        match ty {
            Type::List(element) if length == 0 => Some(Value::list(element.as_ref().clone(), Vec::new())),
            Type::Set(element) if length == 0 => Some(Value::set(element.as_ref().clone(), Vec::new())),
            Type::Map(element) if length == 0 => Some(Value::map(element.as_ref().clone(), super::Entries::default())),
            // Of known length, the elements are what is unknown.
            Type::List(element) if length <= MAX_SPELLED_OUT => {
                let items = vec![Value::unknown(element.as_ref().clone()); length as usize];
                Some(Value::list(element.as_ref().clone(), items))
            }
            Type::Set(element) if length == 1 => {
                Some(Value::set(element.as_ref().clone(), vec![Value::unknown(element.as_ref().clone())]))
            }
            _ => None,
        }
    }
}

/// The end of two that leaves less room; `wanted` is how a tighter end compares with a looser one.
fn tighter(a: Option<&Bound>, b: Option<&Bound>, wanted: Ordering) -> Option<Bound> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if wider(b, a, wanted.reverse()) { a.clone() } else { b.clone() }),
        (Some(bound), None) | (None, Some(bound)) => Some(bound.clone()),
        (None, None) => None,
    }
}

/// Whether `a` leaves at least as much room as `b`; `wanted` is how a wider end compares with a tighter one.
fn wider(a: &Bound, b: &Bound, wanted: Ordering) -> bool {
    match a.number.compare(&b.number) {
        Ordering::Equal => a.inclusive || !b.inclusive,
        order => order == wanted,
    }
}

/// Whether no number lies between the two ends.
fn are_apart(lower: Option<&Bound>, upper: Option<&Bound>) -> bool {
    let (Some(lower), Some(upper)) = (lower, upper) else { return false };
    match lower.number.compare(&upper.number) {
        Ordering::Less => false,
        Ordering::Equal => !(lower.inclusive && upper.inclusive),
        Ordering::Greater => true,
    }
}

/// A list known to be longer than this stays a single unknown value.
const MAX_SPELLED_OUT: u64 = 1024;
