//! The binary floating point number under [`Number`](super::Number): any precision, round to nearest even, signed
//! zero and infinities. No text here; see `parse` and `decimal`.

use std::cmp::Ordering;
use std::hash::Hash;

use num_bigint::{BigInt, BigUint, Sign};

/// A number with its own precision. Every operation is rounded once, to nearest even.
#[derive(Debug, Clone)]
pub(super) struct BigFloat {
    pub(super) negative: bool,
    /// How many bits of mantissa this value may have; results take the larger one of their operands.
    pub(super) precision: u32,
    pub(super) form: Form,
}

/// What kind of number it is.
#[derive(Debug, Clone)]
pub(super) enum Form {
    Zero,
    /// `mantissa * 2^exponent`, the mantissa always odd.
    Finite {
        mantissa: BigUint,
        exponent: i64,
    },
    Infinite,
}

impl BigFloat {
    pub(super) fn zero(negative: bool, precision: u32) -> Self {
        Self { negative, precision, form: Form::Zero }
    }

    pub(super) fn infinite(negative: bool, precision: u32) -> Self {
        Self { negative, precision, form: Form::Infinite }
    }

    pub(super) fn from_i64(value: i64, precision: u32) -> Self {
        Self::rounded(value < 0, value.unsigned_abs().into(), 0, precision)
    }

    pub(super) fn from_bigint(value: &BigInt, precision: u32) -> Self {
        Self::rounded(value.sign() == Sign::Minus, value.magnitude().clone(), 0, precision)
    }

    /// A finite `f64` (or infinity), exactly.
    pub(super) fn from_f64(value: f64, precision: u32) -> Self {
        let negative = value.is_sign_negative();
        if value.is_infinite() {
            return Self::infinite(negative, precision);
        }
        let bits = value.to_bits();
        let fraction = bits & ((1 << 52) - 1);
        let (mantissa, exponent) = match (bits >> 52) & 0x7ff {
            0 => (fraction, -1074),
            biased => (fraction | (1 << 52), biased as i64 - 1075),
        };
        Self::rounded(negative, mantissa.into(), exponent, precision)
    }

    /// `±mantissa * 2^exponent`, rounded to `precision` bits. Exponents out of range give zero or infinity.
    pub(super) fn rounded(negative: bool, mantissa: BigUint, exponent: i64, precision: u32) -> Self {
        let (mut mantissa, mut exponent) = round_to(mantissa, exponent, precision);
        let Some(trailing) = mantissa.trailing_zeros() else {
            return Self::zero(negative, precision);
        };
        if trailing > 0 {
            mantissa >>= trailing;
            exponent += trailing as i64;
        }
        let top = mantissa.bits() as i64 + exponent;
        if top > i64::from(i32::MAX) {
            return Self::infinite(negative, precision);
        }
        if top < i64::from(i32::MIN) {
            return Self::zero(negative, precision);
        }
        Self { negative, precision, form: Form::Finite { mantissa, exponent } }
    }

    /// The same number with another precision.
    pub(super) fn with_precision(&self, precision: u32) -> Self {
        match &self.form {
            Form::Finite { mantissa, exponent } if mantissa.bits() > u64::from(precision) => {
                Self::rounded(self.negative, mantissa.clone(), *exponent, precision)
            }
            _ => Self { precision, ..self.clone() },
        }
    }

    /// How many bits the number needs; 0 for zero and infinity.
    pub(super) fn needed_precision(&self) -> u32 {
        match &self.form {
            Form::Finite { mantissa, .. } => mantissa.bits() as u32,
            _ => 0,
        }
    }

    pub(super) fn is_zero(&self) -> bool {
        matches!(self.form, Form::Zero)
    }

    pub(super) fn is_infinite(&self) -> bool {
        matches!(self.form, Form::Infinite)
    }

    /// The exponent of the power of two just above the magnitude; of no meaning for infinities.
    pub(super) fn top(&self) -> i64 {
        match &self.form {
            Form::Finite { mantissa, exponent } => mantissa.bits() as i64 + exponent,
            _ => 0,
        }
    }

    pub(super) fn hash_exact<H: std::hash::Hasher>(&self, state: &mut H) {
        if let Form::Finite { mantissa, exponent } = &self.form {
            (self.negative, mantissa, exponent).hash(state);
        }
    }

    /// -1, 0 or 1; 0 for both zeros.
    pub(super) fn signum(&self) -> i32 {
        match (&self.form, self.negative) {
            (Form::Zero, _) => 0,
            (_, true) => -1,
            (_, false) => 1,
        }
    }

    /// Whether there is no fraction. Infinities are not integers.
    pub(super) fn is_integer(&self) -> bool {
        match &self.form {
            Form::Zero => true,
            Form::Finite { exponent, .. } => *exponent >= 0,
            Form::Infinite => false,
        }
    }

    /// The number without its fraction; none for infinities.
    pub(super) fn truncated(&self) -> Option<BigInt> {
        let magnitude = match &self.form {
            Form::Zero => BigUint::ZERO,
            Form::Finite { mantissa, exponent } if *exponent >= 0 => mantissa << *exponent as u64,
            Form::Finite { mantissa, exponent } => mantissa >> exponent.unsigned_abs(),
            Form::Infinite => return None,
        };
        let sign = if self.negative { Sign::Minus } else { Sign::Plus };
        Some(BigInt::from_biguint(sign, magnitude))
    }

    pub(super) fn negated(&self) -> Self {
        Self { negative: !self.negative, ..self.clone() }
    }

    /// The sum; none for opposite infinities.
    pub(super) fn add(&self, other: &Self, precision: u32) -> Option<Self> {
        let (x, y) = match (&self.form, &other.form) {
            (Form::Infinite, Form::Infinite) if self.negative != other.negative => return None,
            (Form::Zero, Form::Zero) => return Some(Self::zero(self.negative && other.negative, precision)),
            (Form::Infinite, _) | (_, Form::Zero) => return Some(self.with_precision(precision)),
            (_, Form::Infinite) | (Form::Zero, _) => return Some(other.with_precision(precision)),
            (Form::Finite { mantissa: xm, exponent: xe }, Form::Finite { mantissa: ym, exponent: ye }) => {
                ((xm, *xe), (ym, *ye))
            }
        };
        let (xm, ym, exponent) = align(x, y, precision);
        if self.negative == other.negative {
            return Some(Self::rounded(self.negative, xm + ym, exponent, precision));
        }
        Some(match xm.cmp(&ym) {
            Ordering::Equal => Self::zero(false, precision),
            Ordering::Greater => Self::rounded(self.negative, xm - ym, exponent, precision),
            Ordering::Less => Self::rounded(other.negative, ym - xm, exponent, precision),
        })
    }

    /// The product; none for zero times infinity.
    pub(super) fn mul(&self, other: &Self, precision: u32) -> Option<Self> {
        let negative = self.negative != other.negative;
        match (&self.form, &other.form) {
            (Form::Finite { mantissa: xm, exponent: xe }, Form::Finite { mantissa: ym, exponent: ye }) => {
                Some(Self::rounded(negative, xm * ym, xe + ye, precision))
            }
            (Form::Zero, Form::Infinite) | (Form::Infinite, Form::Zero) => None,
            (Form::Infinite, _) | (_, Form::Infinite) => Some(Self::infinite(negative, precision)),
            (Form::Zero, _) | (_, Form::Zero) => Some(Self::zero(negative, precision)),
        }
    }

    /// The quotient; none for 0/0 and for infinity by infinity.
    pub(super) fn div(&self, other: &Self, precision: u32) -> Option<Self> {
        let negative = self.negative != other.negative;
        match (&self.form, &other.form) {
            (Form::Finite { mantissa: xm, exponent: xe }, Form::Finite { mantissa: ym, exponent: ye }) => {
                // Two bits more than asked for, and a last one that stands for everything cut off.
                let shift = (u64::from(precision) + 2 + ym.bits()).saturating_sub(xm.bits());
                let dividend = xm << shift;
                let mut quotient = &dividend / ym;
                let exact = &quotient * ym == dividend;
                quotient <<= 1u32;
                if !exact {
                    quotient.set_bit(0, true);
                }
                Some(Self::rounded(negative, quotient, xe - ye - shift as i64 - 1, precision))
            }
            (Form::Zero, Form::Zero) | (Form::Infinite, Form::Infinite) => None,
            (Form::Zero, _) | (_, Form::Infinite) => Some(Self::zero(negative, precision)),
            (_, Form::Zero) | (Form::Infinite, _) => Some(Self::infinite(negative, precision)),
        }
    }

    /// Exact numeric order; the two zeros are equal.
    pub(super) fn compare(&self, other: &Self) -> Ordering {
        let by_sign = self.signum().cmp(&other.signum());
        if by_sign != Ordering::Equal || self.is_zero() {
            return by_sign;
        }
        let by_size = match (&self.form, &other.form) {
            (Form::Finite { mantissa: xm, exponent: xe }, Form::Finite { mantissa: ym, exponent: ye }) => {
                let (x_bits, y_bits) = (xm.bits(), ym.bits());
                (x_bits as i64 + xe).cmp(&(y_bits as i64 + ye)).then_with(|| match x_bits.cmp(&y_bits) {
                    Ordering::Equal => xm.cmp(ym),
                    Ordering::Less => (xm << (y_bits - x_bits)).cmp(ym),
                    Ordering::Greater => xm.cmp(&(ym << (x_bits - y_bits))),
                })
            }
            (Form::Infinite, Form::Infinite) => Ordering::Equal,
            (Form::Infinite, _) => Ordering::Greater,
            (_, Form::Infinite) => Ordering::Less,
            // Zeros have been dealt with by sign.
            _ => Ordering::Equal,
        };
        if self.negative { by_size.reverse() } else { by_size }
    }

    /// The nearest `f64`, ties to even; too large gives infinity.
    pub(super) fn to_f64(&self) -> f64 {
        let sign = if self.negative { -1.0 } else { 1.0 };
        let (mantissa, exponent) = match &self.form {
            Form::Zero => return sign * 0.0,
            Form::Infinite => return sign * f64::INFINITY,
            Form::Finite { mantissa, exponent } => (mantissa, *exponent),
        };
        let top = mantissa.bits() as i64 + exponent;
        if top > 1024 {
            return sign * f64::INFINITY;
        }
        // Below the normal range fewer bits remain.
        let precision = (top + 1074).clamp(-1, 53);
        if precision < 0 {
            return sign * 0.0;
        }
        let (rounded, exponent) = round_to(mantissa.clone(), exponent, precision as u32);
        let digits = u64::try_from(rounded).unwrap_or(u64::MAX) as f64;
        // Two exact steps, as one power of two may be out of range by itself.
        let half = (exponent / 2) as i32;
        sign * digits * 2f64.powi(half) * 2f64.powi(exponent as i32 - half)
    }
}

/// Cuts a mantissa to at most `precision` bits, to nearest even.
fn round_to(mantissa: BigUint, exponent: i64, precision: u32) -> (BigUint, i64) {
    let bits = mantissa.bits();
    let precision = u64::from(precision);
    if bits <= precision {
        return (mantissa, exponent);
    }
    let cut = bits - precision;
    let half = mantissa.bit(cut - 1);
    let beyond_half = mantissa.trailing_zeros().is_some_and(|zeros| zeros < cut - 1);
    let mut kept = mantissa >> cut;
    if half && (beyond_half || kept.bit(0)) {
        kept += 1u32;
    }
    (kept, exponent + cut as i64)
}

/// Both mantissas for one exponent. A number too small to reach the other's rounding is replaced by a
/// still smaller stand-in, so that distant exponents cost no memory.
fn align(x: (&BigUint, i64), y: (&BigUint, i64), precision: u32) -> (BigUint, BigUint, i64) {
    let ((xm, xe), (ym, ye)) = (x, y);
    let x_top = xm.bits() as i64 + xe;
    let y_top = ym.bits() as i64 + ye;
    if x_top < y_top {
        let (large, small, exponent) = align(y, x, precision);
        return (small, large, exponent);
    }
    let floor = xe.min(x_top - i64::from(precision) - 3) - 2;
    if y_top < floor {
        let exponent = floor - 1;
        return (xm << (xe - exponent) as u64, BigUint::from(1u32), exponent);
    }
    let exponent = xe.min(ye);
    (xm << (xe - exponent) as u64, ym << (ye - exponent) as u64, exponent)
}
