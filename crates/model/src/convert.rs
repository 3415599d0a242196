//! Converting values between types, and finding a type that several can be converted to.
//!
//! Whether a conversion exists is decided by the types alone ([`Conversion::find`]); applying it may still fail for some
//! values, such as a string that is no number. A safe conversion never fails.

mod apply;
mod conformance;
mod dynamic;
mod mismatch;
mod plan;
mod preference;
mod unify;

#[cfg(test)]
mod tests;

use std::fmt;

use crate::path::{Path, PathStep};
use crate::ty::Type;
use crate::value::Value;

pub use conformance::{Nonconformity, test_conformance};
pub use mismatch::mismatch_message;
pub use unify::{Unification, unify, unify_unsafe, unify_values};

use plan::Plan;

/// Whether a conversion can fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Safety {
    /// It works for every value of the type.
    Safe,
    /// It may fail for some values, or lose something.
    Unsafe,
}

/// Why a value cannot be converted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ConvertError {
    /// Where in the value; the root if the types as a whole do not fit.
    pub path: Path,
    /// What is wrong there.
    pub message: String,
}

impl ConvertError {
    fn new(message: impl Into<String>) -> Self {
        Self { path: Path::root(), message: message.into() }
    }

    /// The same problem, seen from one step further out.
    fn under(self, step: PathStep) -> Self {
        let mut steps = vec![step];
        steps.extend_from_slice(self.path.steps());
        Self { path: steps.into(), message: self.message }
    }

    /// Path and message, as in `.ports[0]: a number is required`.
    pub fn with_path(&self) -> String {
        self.with_path_after("")
    }

    /// The message after a path that begins with an expression for the whole value.
    pub fn with_path_after(&self, root: &str) -> String {
        if root.is_empty() && self.path.is_empty() {
            return self.message.clone();
        }
        format!("{root}{}: {}", self.path, self.message)
    }
}

/// A way to make values of one type values of another.
#[derive(Clone)]
pub struct Conversion(Plan);

impl Conversion {
    /// The conversion between two types, if there is one that is at least so safe.
    pub fn find(from: &Type, to: &Type, safety: Safety) -> Option<Conversion> {
        if *from == to.without_optional() {
            return Some(Conversion(Plan::Keep));
        }
        Plan::find(from, to, safety).map(Conversion)
    }

    /// Whether it leaves values as they are.
    pub fn is_identity(&self) -> bool {
        matches!(self.0, Plan::Keep)
    }

    /// Converts a value of the type that the conversion is from.
    pub fn apply(&self, value: &Value) -> Result<Value, ConvertError> {
        self.0.apply(value)
    }
}

impl fmt::Debug for Conversion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_identity() { "Conversion(identity)" } else { "Conversion" })
    }
}

/// Converts a value, by an unsafe conversion if need be. Marks stay, unknowns keep what is known about them.
pub fn convert(value: &Value, target: &Type) -> Result<Value, ConvertError> {
    if *target == Type::Dynamic || value.is_of_type(target) {
        return Ok(value.clone());
    }
    if let Some(collection) = apply::collect_parts(value, target) {
        return Ok(collection);
    }
    let from = value.ty();
    match Conversion::find(&from, target, Safety::Unsafe) {
        Some(conversion) => conversion.apply(value),
        None => Err(ConvertError::new(mismatch_message(&from, target))),
    }
}

/// Whether values of one type can be made values of another, and whether that always works.
pub fn can_convert(from: &Type, to: &Type) -> Option<Safety> {
    [Safety::Safe, Safety::Unsafe].into_iter().find(|safety| Conversion::find(from, to, *safety).is_some())
}
