//! Decimal text to number, rounded as Go's `math/big` rounds it.

use num_bigint::BigUint;

use super::float::BigFloat;
use super::{Number, PARSED, Repr};

/// More digits than this cannot change a 512-bit mantissa, except that some of them are not zero.
const MAX_DIGITS: usize = 4000;
/// The powers of five up to this one fit the precision that Go computes them with.
const EXACT_POWERS: u64 = 248;
/// Go starts from the largest power of five in a machine word.
const FIRST_POWER: u64 = 27;

pub(super) fn parse(text: &str) -> Option<Number> {
    let (negative, rest) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    if rest == "inf" || rest == "Inf" {
        return Some(Number::from_float(BigFloat::infinite(negative, PARSED)));
    }
    if let Some(value) = small_integer(rest)
        && !(negative && value == 0)
    {
        let value = if negative { -value } else { value };
        return Some(Number(Repr::Small { precision: PARSED, value }));
    }
    let parts = split(rest)?;
    scale(negative, parts).map(Number::from_float)
}

/// Up to 18 plain digits, which is what nearly all numbers are.
fn small_integer(text: &str) -> Option<i64> {
    if text.is_empty() || text.len() > 18 {
        return None;
    }
    text.bytes().try_fold(0i64, |value, byte| byte.is_ascii_digit().then(|| value * 10 + i64::from(byte - b'0')))
}

/// `digits * 10^exponent10 * 2^exponent2`
struct Parts {
    digits: BigUint,
    exponent10: i64,
    exponent2: i64,
}

fn split(text: &str) -> Option<Parts> {
    let (mantissa, exponent) = match text.find(['e', 'E', 'p', 'P']) {
        Some(at) => (&text[..at], Some((text.as_bytes()[at], &text[at + 1..]))),
        None => (text, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    if !whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (mut exponent10, mut exponent2) = (-(fraction.len() as i64), 0);
    if let Some((letter, digits)) = exponent {
        let value = exponent_value(digits)?;
        if letter.eq_ignore_ascii_case(&b'e') {
            exponent10 = exponent10.checked_add(value)?;
        } else {
            exponent2 = value;
        }
    }
    let mut digits = [whole, fraction].concat();
    let start = digits.bytes().take_while(|byte| *byte == b'0').count();
    digits.drain(..start);
    if digits.len() > MAX_DIGITS {
        let cut = digits.len() - MAX_DIGITS;
        let rest_is_zero = digits[MAX_DIGITS..].bytes().all(|byte| byte == b'0');
        digits.truncate(MAX_DIGITS);
        exponent10 = exponent10.checked_add(cut as i64)?;
        if !rest_is_zero {
            digits.push('1');
            exponent10 -= 1;
        }
    }
    let digits = if digits.is_empty() { BigUint::ZERO } else { digits.parse().ok()? };
    Some(Parts { digits, exponent10, exponent2 })
}

fn exponent_value(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

fn scale(negative: bool, parts: Parts) -> Option<BigFloat> {
    let Parts { digits, exponent10, exponent2 } = parts;
    if digits == BigUint::ZERO {
        return Some(BigFloat::zero(negative, PARSED));
    }
    // Ten is five times two: the twos only move the exponent, which must stay in range by itself.
    let exponent = exponent10.checked_add(exponent2)?;
    let top = exponent.checked_add(digits.bits() as i64)?;
    if i32::try_from(top).is_err() {
        return None;
    }
    if exponent10 == 0 {
        return Some(BigFloat::rounded(negative, digits, exponent, PARSED));
    }
    let unscaled = BigFloat::rounded(negative, digits, exponent, u32::MAX);
    let power = power_of_five(exponent10.unsigned_abs());
    if exponent10 < 0 { unscaled.div(&power, PARSED) } else { unscaled.mul(&power, PARSED) }
}

/// `5^power` in the steps and precisions of Go, whose rounding shows in the last digits of extreme numbers.
fn power_of_five(power: u64) -> BigFloat {
    let five = BigUint::from(5u32);
    if power <= EXACT_POWERS {
        return BigFloat::rounded(false, five.pow(power as u32), 0, u32::MAX);
    }
    let (result_precision, factor_precision) = (PARSED + 64, PARSED + 128);
    let mut result = BigFloat::rounded(false, five.pow(FIRST_POWER as u32), 0, result_precision);
    let mut factor = BigFloat::rounded(false, five, 0, factor_precision);
    let mut left = power - FIRST_POWER;
    while left > 0 {
        // Neither is ever zero, so the product exists.
        if left & 1 != 0
            && let Some(product) = result.mul(&factor, result_precision)
        {
            result = product;
        }
        if let Some(square) = factor.mul(&factor, factor_precision) {
            factor = square;
        }
        left >>= 1;
    }
    result
}
