//! What is known about a value, be it known or not, and telling more about unknown ones.

use crate::number::Number;
use crate::ty::Type;
use crate::value::{Bound, Data, Refinement, Value};

impl Value {
    /// What is known about the value: for a known one, the narrowest range that has it. Null has no range.
    pub fn range(&self) -> Refinement {
        let known = Refinement::not_null();
        let exact = |number: &Number| Some(Bound { number: number.clone(), inclusive: true });
        match &self.data {
            Data::Unknown(unknown) => unknown.refinement.clone(),
            Data::Null(_) => Refinement::default(),
            Data::String(text) => Refinement { prefix: Some(text.clone()), ..known },
            Data::Number(number) => Refinement { lower: exact(number), upper: exact(number), ..known },
            Data::List(list) => Refinement::length(list.items.len() as u64, Some(list.items.len() as u64)),
            Data::Map(map) => Refinement::length(map.entries.len() as u64, Some(map.entries.len() as u64)),
            Data::Set(set) if set.items.len() == 1 || !set.summary.has_unknown => {
                Refinement::length(set.items.len() as u64, Some(set.items.len() as u64))
            }
            Data::Set(_) | Data::Bool(_) | Data::Tuple(_) | Data::Object(_) => known,
        }
    }

    /// Whether it is certain not to be null.
    pub fn is_definitely_not_null(&self) -> bool {
        match &self.data {
            Data::Null(_) => false,
            Data::Unknown(unknown) => unknown.refinement.not_null,
            _ => true,
        }
    }

    /// Says that an unknown value will not be null. Known values and unknowns of no type stay as they are.
    pub fn refine_not_null(self) -> Value {
        match &self.data {
            Data::Unknown(unknown) if !unknown.refinement.not_null => self.refine(Refinement::not_null()),
            _ => self,
        }
    }

    /// Says more about an unknown value; what was known before stays known. Becomes a known value where only one is
    /// left. Known values and unknowns of no type stay as they are.
    pub fn refine(self, refinement: Refinement) -> Value {
        let Data::Unknown(unknown) = &self.data else { return self };
        let narrowed = unknown.refinement.narrowed_by(&refinement);
        Value::unknown_refined(unknown.ty.clone(), narrowed).with_marks(&self.marks)
    }

    /// Whether a known value lies outside of what is known about an unknown one.
    pub(super) fn is_outside(&self, unknown: &Value) -> bool {
        let Data::Unknown(target) = &unknown.data else { return false };
        if self.is_null() {
            return target.refinement.not_null;
        }
        if target.ty != Type::Dynamic && !self.conforms_to(&target.ty) {
            return true;
        }
        let mut range = self.range();
        if let Data::Set(set) = &self.data
            && set.items.len() > 1
            && set.summary.has_unknown
        {
            // Unknown elements may turn out equal to others, but not all can go.
            (range.min_length, range.max_length) = (1, Some(set.items.len() as u64));
        }
        target.refinement.excludes(&range)
    }
}
