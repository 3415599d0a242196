//! Numbers of the language: binary floating point of any precision, with a fast path for small integers.
//!
//! Precision belongs to the value, not to the type: literals have 512 bits, machine integers 64, results of `pow`
//! and `log` 53, and a result has the larger precision of its operands. It shows in how many digits are printed.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use num_bigint::BigInt;
use num_traits::ToPrimitive;

mod conversions;
mod decimal;
mod elementary;
mod float;
mod gofmt;
mod parse;
#[cfg(test)]
mod tests;

use float::BigFloat;

/// Mantissa bits of a number that was parsed.
const PARSED: u32 = 512;
/// Mantissa bits of a number that was made from a machine integer.
const INTEGER: u32 = 64;
/// Mantissa bits of a number that was made from an `f64`.
const FLOAT: u32 = 53;

/// A number. Sixteen bytes; cloning costs a reference count at most.
///
/// Equality, order and hash are those of the decimal text: `0.1` parsed and `0.1` made from an `f64` are equal
/// though their bits differ, and so are `-0` and `0`. For the exact order of `<` see [`Number::compare`].
#[derive(Clone)]
pub struct Number(Repr);

#[derive(Clone)]
enum Repr {
    /// An integer (never negative zero) that fits `precision` bits.
    Small { precision: u32, value: i64 },
    /// Everything else.
    Big(Arc<BigFloat>),
}

impl Number {
    /// 0
    pub const ZERO: Number = Number(Repr::Small { precision: INTEGER, value: 0 });
    /// 1
    pub const ONE: Number = Number(Repr::Small { precision: INTEGER, value: 1 });

    /// Reads decimal text: an optional sign, digits with an optional point, and an exponent (`e10`, or `p3` for
    /// a power of two), or `inf`. Nothing else is a number: no spaces, no underscores, no hexadecimal.
    pub fn parse(text: &str) -> Option<Number> {
        parse::parse(text)
    }

    /// An `f64` exactly, with the precision that comes with it; none for NaN.
    pub fn from_f64(value: f64) -> Option<Number> {
        (!value.is_nan()).then(|| Self::from_float(BigFloat::from_f64(value, FLOAT)))
    }

    /// Positive or negative infinity.
    pub fn infinity(negative: bool) -> Number {
        Self::from_float(BigFloat::infinite(negative, 0))
    }

    fn from_float(float: BigFloat) -> Number {
        if float.is_integer() && !(float.is_zero() && float.negative) {
            if let float::Form::Zero = float.form {
                return Number(Repr::Small { precision: float.precision, value: 0 });
            }
            if let Some(value) = small_value(&float) {
                return Number(Repr::Small { precision: float.precision, value });
            }
        }
        Number(Repr::Big(Arc::new(float)))
    }

    fn small(value: i64, precision: u32) -> Number {
        if fits(value, precision) {
            Number(Repr::Small { precision, value })
        } else {
            Self::from_float(BigFloat::from_i64(value, precision))
        }
    }

    fn with_float<T>(&self, run: impl FnOnce(&BigFloat) -> T) -> T {
        match &self.0 {
            Repr::Small { precision, value } => run(&BigFloat::from_i64(*value, *precision)),
            Repr::Big(float) => run(float),
        }
    }

    pub(crate) fn precision(&self) -> u32 {
        match &self.0 {
            Repr::Small { precision, .. } => *precision,
            Repr::Big(float) => float.precision,
        }
    }

    fn with_floats<T>(&self, other: &Number, run: impl FnOnce(&BigFloat, &BigFloat, u32) -> T) -> T {
        let precision = self.precision().max(other.precision());
        self.with_float(|x| other.with_float(|y| run(x, y, precision)))
    }

    /// Whether there is no fraction. Infinities are not integers.
    pub fn is_integer(&self) -> bool {
        match &self.0 {
            Repr::Small { .. } => true,
            Repr::Big(float) => float.is_integer(),
        }
    }

    /// Whether it is positive or negative infinity.
    pub fn is_infinite(&self) -> bool {
        matches!(&self.0, Repr::Big(float) if float.is_infinite())
    }

    /// Whether it is zero, of either sign.
    pub fn is_zero(&self) -> bool {
        match &self.0 {
            Repr::Small { value, .. } => *value == 0,
            Repr::Big(float) => float.is_zero(),
        }
    }

    /// Whether it is less than zero.
    pub fn is_negative(&self) -> bool {
        self.signum() < 0
    }

    /// -1, 0 or 1.
    pub fn signum(&self) -> i32 {
        match &self.0 {
            Repr::Small { value, .. } => value.signum() as i32,
            Repr::Big(float) => float.signum(),
        }
    }

    /// The sum; none for infinity plus minus infinity.
    pub fn add(&self, other: &Number) -> Option<Number> {
        if let (Repr::Small { precision: p, value: a }, Repr::Small { precision: q, value: b }) = (&self.0, &other.0)
            && let Some(sum) = a.checked_add(*b)
        {
            return Some(Self::small(sum, *p.max(q)));
        }
        self.with_floats(other, BigFloat::add).map(Self::from_float)
    }

    /// The difference; none for infinity minus infinity.
    pub fn sub(&self, other: &Number) -> Option<Number> {
        if let (Repr::Small { precision: p, value: a }, Repr::Small { precision: q, value: b }) = (&self.0, &other.0)
            && let Some(difference) = a.checked_sub(*b)
        {
            return Some(Self::small(difference, *p.max(q)));
        }
        self.with_floats(other, |x, y, precision| x.add(&y.negated(), precision)).map(Self::from_float)
    }

    /// The product; none for zero times infinity.
    pub fn mul(&self, other: &Number) -> Option<Number> {
        if let (Repr::Small { precision: p, value: a }, Repr::Small { precision: q, value: b }) = (&self.0, &other.0)
            && let Some(product) = a.checked_mul(*b)
            && (product != 0 || (*a >= 0 && *b >= 0))
        {
            let precision = needed_bits(product).max(*p.max(q));
            return Some(Number(Repr::Small { precision, value: product }));
        }
        // Products may need more bits than their operands have; they get them, up to the usual limit.
        let product = self.with_floats(other, |x, y, precision| {
            let product = x.mul(y, PARSED)?;
            let precision = precision.max(product.needed_precision());
            Some(product.with_precision(precision))
        });
        product.map(Self::from_float)
    }

    /// The quotient. By zero it is infinite; none for 0/0 and infinity by infinity.
    pub fn div(&self, other: &Number) -> Option<Number> {
        if let (Repr::Small { precision: p, value: a }, Repr::Small { precision: q, value: b }) = (&self.0, &other.0)
            && *a != 0
            && a.checked_rem(*b) == Some(0)
            && let Some(quotient) = a.checked_div(*b)
        {
            return Some(Self::small(quotient, *p.max(q)));
        }
        self.with_floats(other, BigFloat::div).map(Self::from_float)
    }

    /// What remains of a division whose quotient is cut to an integer: the sign is that of `self`. By zero, `self`
    /// remains; none where an infinity takes part.
    pub fn rem(&self, other: &Number) -> Option<Number> {
        if other.is_zero() {
            return Some(self.clone());
        }
        if let (Repr::Small { precision: p, value: a }, Repr::Small { precision: q, value: b }) = (&self.0, &other.0)
            && *p >= INTEGER
            && *q >= INTEGER
        {
            return Some(Number(Repr::Small { precision: *p, value: a.wrapping_rem(*b) }));
        }
        self.with_floats(other, |x, y, precision| {
            let quotient = x.div(y, precision)?.truncated()?;
            let whole = BigFloat::from_bigint(&quotient, x.precision);
            x.add(&y.mul(&whole, x.precision)?.negated(), x.precision)
        })
        .map(Self::from_float)
    }

    /// The number with the other sign; zero becomes negative zero.
    pub fn neg(&self) -> Number {
        match &self.0 {
            Repr::Small { precision, value } if *value != 0 && *value != i64::MIN => {
                Number(Repr::Small { precision: *precision, value: -value })
            }
            _ => Self::from_float(self.with_float(BigFloat::negated)),
        }
    }

    /// The number without its sign.
    pub fn abs(&self) -> Number {
        let negative = match &self.0 {
            Repr::Small { value, .. } => *value < 0,
            Repr::Big(float) => float.negative,
        };
        if negative { self.neg() } else { self.clone() }
    }

    /// The largest integer that is not above.
    pub fn floor(&self) -> Number {
        self.to_whole(|whole, negative| if negative { whole - 1 } else { whole })
    }

    /// The smallest integer that is not below.
    pub fn ceil(&self) -> Number {
        self.to_whole(|whole, negative| if negative { whole } else { whole + 1 })
    }

    /// Cuts the fraction off, and lets `fix` mend the result where there was one.
    fn to_whole(&self, fix: impl FnOnce(BigInt, bool) -> BigInt) -> Number {
        let Repr::Big(float) = &self.0 else { return self.clone() };
        if float.is_integer() && !float.is_zero() {
            return self.clone();
        }
        let Some(whole) = float.truncated() else { return self.clone() };
        let whole = if float.is_zero() { whole } else { fix(whole, float.negative) };
        Self::from_float(BigFloat::from_bigint(&whole, float.precision))
    }

    /// Exact numeric order, as `<` and `>` have it: two numbers that are equal by text may still differ here.
    pub fn compare(&self, other: &Number) -> Ordering {
        match (&self.0, &other.0) {
            (Repr::Small { value: a, .. }, Repr::Small { value: b, .. }) => a.cmp(b),
            _ => self.with_floats(other, |x, y, _| x.compare(y)),
        }
    }

    /// The number to a power, computed and rounded as `f64`; none where there is no such number.
    pub fn pow(&self, power: &Number) -> Option<Number> {
        Self::from_f64(elementary::pow(self.to_f64(), power.to_f64()))
    }

    /// The logarithm in a base, computed and rounded as `f64`; none where there is no such number.
    pub fn log(&self, base: &Number) -> Option<Number> {
        Self::from_f64(elementary::ln(self.to_f64()) / elementary::ln(base.to_f64()))
    }

    /// Go's `%.{digits}g`; without digits, the fewest that tell the number from others.
    pub fn format_g(&self, digits: Option<usize>) -> String {
        self.go_format('g', digits)
    }

    /// What Go's `fmt` gives for this verb and precision, without flags and width: `b d o x X` (which cut a fraction
    /// off, so ask [`Number::is_integer`] first), `e E f`, and `g G`, which also serves every other verb.
    pub fn go_format(&self, verb: char, precision: Option<usize>) -> String {
        let whole =
            if matches!(verb, 'b' | 'd' | 'o' | 'x' | 'X') { self.with_float(BigFloat::truncated) } else { None };
        match (whole, verb) {
            (Some(whole), _) => gofmt::integer(&whole, verb, precision),
            (None, 'e' | 'E' | 'f') => self.with_float(|float| gofmt::float(float, verb, precision.or(Some(6)))),
            (None, _) => self.with_float(|float| gofmt::float(float, verb, precision)),
        }
    }
}

/// The value of a non-zero integer, if it fits.
fn small_value(float: &BigFloat) -> Option<i64> {
    if float.top() > 64 {
        return None;
    }
    float.truncated()?.to_i64()
}

/// How many bits of mantissa an integer needs.
fn needed_bits(value: i64) -> u32 {
    match value.unsigned_abs() {
        0 => 0,
        magnitude => u64::BITS - magnitude.leading_zeros() - magnitude.trailing_zeros(),
    }
}

fn fits(value: i64, precision: u32) -> bool {
    precision >= INTEGER || needed_bits(value) <= precision
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Number {}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        // With one precision, or for integers, different numbers have different texts in the same order.
        let alike = self.precision() == other.precision() || self.is_integer() || other.is_integer();
        if alike || self.is_infinite() || other.is_infinite() {
            return self.compare(other);
        }
        self.with_floats(other, |x, y, _| decimal::compare_shortest(x, y))
    }
}

impl Hash for Number {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match &self.0 {
            Repr::Small { value, .. } => value.hash(state),
            Repr::Big(float) if float.is_zero() => 0i64.hash(state),
            Repr::Big(float) if float.is_integer() => float.hash_exact(state),
            Repr::Big(_) => self.to_string().hash(state),
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            // Beyond its precision even an integer is printed with as few digits as tell it from others.
            Repr::Small { precision, value } if *precision >= INTEGER || value.unsigned_abs() >> precision == 0 => {
                write!(f, "{value}")
            }
            _ => f.write_str(&self.with_float(|float| gofmt::float(float, 'f', None))),
        }
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}
