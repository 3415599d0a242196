//! Binary to decimal: exact digits, and the fewest digits that still name the number at its precision.

use std::cmp::Ordering;

use num_bigint::BigUint;

use super::float::{BigFloat, Form};

/// `0.d1d2d3… * 10^exponent`, digits as ASCII without trailing zeros. No digits means zero.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Decimal {
    pub(super) digits: Vec<u8>,
    pub(super) exponent: i64,
}

/// Exponents beyond this (about 5,000 decimal digits) are scaled first, so that `1e100000000` costs no more than `1e100`.
const EXACT_EXPONENT: i64 = 1 << 14;
/// Digits kept after scaling. At most [`SCALED_PRECISION`] bits of mantissa need about 195 of them.
const SCALED_DIGITS: i64 = 320;
/// Numbers of more bits than this are never scaled.
const SCALED_PRECISION: u32 = 640;
/// Bits of the scale factor: far more than the digits need, so that no digit depends on its rounding.
const FACTOR_PRECISION: u32 = 2048;

impl Decimal {
    pub(super) const ZERO: Decimal = Decimal { digits: Vec::new(), exponent: 0 };

    /// All digits of `mantissa * 2^exponent`.
    fn exact(mantissa: &BigUint, exponent: i64) -> Decimal {
        let trailing = mantissa.trailing_zeros().unwrap_or(0) as i64;
        let (text, point) = if exponent >= 0 {
            ((mantissa << exponent as u64).to_string(), 0)
        } else if trailing >= -exponent {
            ((mantissa >> exponent.unsigned_abs()).to_string(), 0)
        } else {
            // m / 2^k = m * 5^k / 10^k
            let places = -exponent - trailing;
            (((mantissa >> trailing as u64) * BigUint::from(5u32).pow(places as u32)).to_string(), places)
        };
        Decimal::from_digits(text, point)
    }

    fn from_digits(text: String, places: i64) -> Decimal {
        let exponent = text.len() as i64 - places;
        let mut digits = text.into_bytes();
        trim(&mut digits);
        Decimal { exponent: if digits.is_empty() { 0 } else { exponent }, digits }
    }

    /// The first few hundred digits of `mantissa * 2^exponent`, by way of an approximate power of ten.
    fn scaled(mantissa: &BigUint, exponent: i64) -> Decimal {
        let bits = mantissa.bits() as i64 + exponent;
        let places = SCALED_DIGITS - (bits as f64 * std::f64::consts::LOG10_2) as i64;
        let number = BigFloat::rounded(false, mantissa.clone(), exponent, FACTOR_PRECISION);
        let factor = power_of_ten(places.unsigned_abs());
        let scaled = match (&factor.form, places > 0) {
            // The factor itself can leave the range of exponents, then exact digits are all there is.
            (Form::Infinite, _) => None,
            (_, true) => number.mul(&factor, FACTOR_PRECISION),
            (_, false) => number.div(&factor, FACTOR_PRECISION),
        };
        match scaled.and_then(|scaled| scaled.truncated()) {
            Some(whole) if whole.bits() > 0 => Decimal::from_digits(whole.magnitude().to_string(), places),
            _ => Decimal::exact(mantissa, exponent),
        }
    }

    fn scalable(float: &BigFloat) -> bool {
        float.precision <= SCALED_PRECISION && float.top().abs() > EXACT_EXPONENT
    }

    /// The digits of a finite number, without its sign: all of them, or at least `needed` ones.
    pub(super) fn of(float: &BigFloat, needed: Option<i64>) -> Decimal {
        match &float.form {
            Form::Finite { mantissa, exponent } => {
                let few = needed.is_some_and(|needed| needed < SCALED_DIGITS / 2);
                if few && Decimal::scalable(float) {
                    Decimal::scaled(mantissa, *exponent)
                } else {
                    Decimal::exact(mantissa, *exponent)
                }
            }
            _ => Decimal::ZERO,
        }
    }

    /// The fewest digits that give the number again when read with its precision, without its sign.
    pub(super) fn shortest(float: &BigFloat) -> Decimal {
        let Form::Finite { mantissa, exponent } = &float.form else {
            return Decimal::ZERO;
        };
        // One bit more than the precision, so that the last bit is half a unit in the last place.
        let shift = i64::from(float.precision) + 1 - mantissa.bits() as i64;
        let scaled = mantissa << shift.max(0) as u64;
        let exponent = exponent - shift.max(0);
        // A neighbour is possible itself only if reading it would round to this (even) number.
        let inclusive = !scaled.bit(1);
        let digits = if Decimal::scalable(float) { Decimal::scaled } else { Decimal::exact };
        let number = digits(&scaled, exponent);
        let lower = digits(&(&scaled - 1u32), exponent);
        let upper = digits(&(&scaled + 1u32), exponent);
        number.between(&lower, &upper, inclusive)
    }

    /// Cuts digits off as soon as the rest tells the number from both bounds.
    fn between(mut self, lower: &Decimal, upper: &Decimal, inclusive: bool) -> Decimal {
        for at in 0..self.digits.len() {
            let (below, digit, above) = (lower.digit(at), self.digit(at), upper.digit(at));
            let down = below != digit || (inclusive && at + 1 == lower.digits.len());
            let up = digit != above && (inclusive || digit + 1 < above || at + 1 < upper.digits.len());
            match (down, up) {
                (true, true) => self.round(at as i64 + 1),
                (true, false) => self.round_down(at + 1),
                (false, true) => self.round_up(at + 1),
                (false, false) => continue,
            }
            break;
        }
        self
    }

    /// A digit by its place; zero behind the last.
    pub(super) fn digit(&self, at: usize) -> u8 {
        self.digits.get(at).copied().unwrap_or(b'0')
    }

    /// Keeps `count` digits, to nearest even. Less than none leaves the number as it is.
    pub(super) fn round(&mut self, count: i64) {
        let Ok(count) = usize::try_from(count) else { return };
        let Some(next) = self.digits.get(count) else { return };
        let half = *next == b'5' && count + 1 == self.digits.len();
        let up = if half { count > 0 && self.digits[count - 1] % 2 == 1 } else { *next >= b'5' };
        if up {
            self.round_up(count);
        } else {
            self.round_down(count);
        }
    }

    fn round_down(&mut self, count: usize) {
        self.digits.truncate(count);
        trim(&mut self.digits);
        if self.digits.is_empty() {
            self.exponent = 0;
        }
    }

    fn round_up(&mut self, count: usize) {
        if count >= self.digits.len() {
            return;
        }
        self.digits.truncate(count);
        while self.digits.last() == Some(&b'9') {
            self.digits.pop();
        }
        if let Some(last) = self.digits.last_mut() {
            *last += 1;
        } else {
            self.digits.push(b'1');
            self.exponent += 1;
        }
    }
}

/// `10^power`, rounded.
fn power_of_ten(mut power: u64) -> BigFloat {
    let mut result = BigFloat::from_i64(1, FACTOR_PRECISION);
    let mut factor = BigFloat::from_i64(10, FACTOR_PRECISION);
    while power > 0 {
        if power & 1 == 1 {
            result = result.mul(&factor, FACTOR_PRECISION).unwrap_or(result);
        }
        factor = factor.mul(&factor, FACTOR_PRECISION).unwrap_or(factor);
        power >>= 1;
    }
    result
}

fn trim(digits: &mut Vec<u8>) {
    while digits.last() == Some(&b'0') {
        digits.pop();
    }
}

/// The order of the shortest texts, read as numbers.
pub(super) fn compare_shortest(x: &BigFloat, y: &BigFloat) -> Ordering {
    let by_sign = x.signum().cmp(&y.signum());
    if by_sign != Ordering::Equal {
        return by_sign;
    }
    let (a, b) = (Decimal::shortest(x), Decimal::shortest(y));
    let by_size = a.exponent.cmp(&b.exponent).then_with(|| a.digits.cmp(&b.digits));
    if x.negative { by_size.reverse() } else { by_size }
}
