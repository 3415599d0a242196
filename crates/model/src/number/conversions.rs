//! Numbers from and to the types of the machine: exact, or not at all.

use num_bigint::BigInt;
use num_traits::ToPrimitive;

use super::float::BigFloat;
use super::{INTEGER, Number, Repr};

impl Number {
    /// The integer, if it is one and fits.
    pub fn to_i64(&self) -> Option<i64> {
        match &self.0 {
            Repr::Small { value, .. } => Some(*value),
            // Only negative zero among the others is an integer in this range.
            Repr::Big(float) => float.is_zero().then_some(0),
        }
    }

    /// The integer, if it is one and fits.
    pub fn to_u64(&self) -> Option<u64> {
        match &self.0 {
            Repr::Small { value, .. } => u64::try_from(*value).ok(),
            Repr::Big(float) if float.is_integer() && float.top() <= 64 => float.truncated()?.to_u64(),
            Repr::Big(_) => None,
        }
    }

    /// The integer, if it is one and fits.
    pub fn to_usize(&self) -> Option<usize> {
        usize::try_from(self.to_u64()?).ok()
    }

    /// The nearest `f64`; infinite when too large.
    pub fn to_f64(&self) -> f64 {
        self.with_float(BigFloat::to_f64)
    }

    /// The integer, if it is one.
    pub fn to_bigint(&self) -> Option<BigInt> {
        match &self.0 {
            Repr::Small { value, .. } => Some(BigInt::from(*value)),
            Repr::Big(float) if float.is_integer() => float.truncated(),
            Repr::Big(_) => None,
        }
    }
}

impl From<i64> for Number {
    fn from(value: i64) -> Self {
        Number(Repr::Small { precision: INTEGER, value })
    }
}

impl From<i32> for Number {
    fn from(value: i32) -> Self {
        i64::from(value).into()
    }
}

impl From<u32> for Number {
    fn from(value: u32) -> Self {
        i64::from(value).into()
    }
}

impl From<u64> for Number {
    fn from(value: u64) -> Self {
        match i64::try_from(value) {
            Ok(value) => value.into(),
            Err(_) => Self::from_float(BigFloat::rounded(false, value.into(), 0, INTEGER)),
        }
    }
}

impl From<usize> for Number {
    fn from(value: usize) -> Self {
        (value as u64).into()
    }
}

impl From<i128> for Number {
    fn from(value: i128) -> Self {
        BigInt::from(value).into()
    }
}

impl From<BigInt> for Number {
    fn from(value: BigInt) -> Self {
        let precision = (value.bits() as u32).max(INTEGER);
        Self::from_float(BigFloat::from_bigint(&value, precision))
    }
}
