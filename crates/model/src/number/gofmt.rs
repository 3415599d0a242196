//! Number to text in the forms of Go's `fmt` verbs, without flags and width.

use std::fmt::Write as _;

use num_bigint::{BigInt, Sign};

use super::decimal::Decimal;
use super::float::BigFloat;

/// `e E f g G` with a number of digits, or with as few as possible.
pub(super) fn float(float: &BigFloat, verb: char, precision: Option<usize>) -> String {
    let mut out = String::new();
    if float.is_infinite() {
        return if float.negative { "-Inf" } else { "+Inf" }.into();
    }
    if float.negative {
        out.push('-');
    }
    let shortest = precision.is_none();
    // Plain digits depend on the size of the number; the other forms need a few more than they show.
    let needed = if verb == 'f' { None } else { precision.map(|digits| digits as i64 + 1) };
    let mut decimal = if shortest { Decimal::shortest(float) } else { Decimal::of(float, needed) };
    let length = decimal.digits.len() as i64;
    match verb {
        'e' | 'E' => {
            let places = precision.map_or((length - 1).max(0), |places| places as i64);
            decimal.round(places + 1);
            exponential(&mut out, &decimal, verb, places);
        }
        'f' => {
            let places = precision.map_or((length - decimal.exponent).max(0), |places| places as i64);
            decimal.round(decimal.exponent + places);
            plain(&mut out, &decimal, places);
        }
        _ => {
            let digits = precision.map_or(length, |digits| digits.max(1) as i64);
            decimal.round(digits);
            general(&mut out, &decimal, verb, digits, shortest);
        }
    }
    out
}

/// Chooses between the plain and the exponential form by the size of the exponent.
fn general(out: &mut String, decimal: &Decimal, verb: char, digits: i64, shortest: bool) {
    let length = decimal.digits.len() as i64;
    let threshold = match shortest {
        true => 6,
        false if digits > length && length >= decimal.exponent => length,
        false => digits,
    };
    let exponent = decimal.exponent - 1;
    if exponent < -4 || exponent >= threshold {
        let letter = if verb == 'G' { 'E' } else { 'e' };
        exponential(out, decimal, letter, digits.min(length) - 1);
        return;
    }
    let digits = if digits > decimal.exponent { length } else { digits };
    plain(out, decimal, (digits - decimal.exponent).max(0));
}

/// `d.ddde±dd`
fn exponential(out: &mut String, decimal: &Decimal, letter: char, places: i64) {
    out.push(char::from(decimal.digit(0)));
    if places > 0 {
        out.push('.');
        out.extend((1..=places as usize).map(|at| char::from(decimal.digit(at))));
    }
    let exponent = if decimal.digits.is_empty() { 0 } else { decimal.exponent - 1 };
    let sign = if exponent < 0 { '-' } else { '+' };
    out.push(letter);
    out.push(sign);
    // Writing to a String cannot fail.
    let _ = write!(out, "{:02}", exponent.unsigned_abs());
}

/// `ddd.ddd`
fn plain(out: &mut String, decimal: &Decimal, places: i64) {
    let whole = usize::try_from(decimal.exponent).unwrap_or(0);
    if whole == 0 {
        out.push('0');
    }
    let given = whole.min(decimal.digits.len());
    out.extend(decimal.digits[..given].iter().copied().map(char::from));
    out.push_str(&"0".repeat(whole - given));
    if places > 0 {
        out.push('.');
        out.extend((0..places).map(|place| {
            let at = usize::try_from(decimal.exponent + place);
            at.map_or('0', |at| char::from(decimal.digit(at)))
        }));
    }
}

/// `b d o x X` with a least number of digits.
pub(super) fn integer(value: &BigInt, verb: char, precision: Option<usize>) -> String {
    let digits = match verb {
        'b' => value.magnitude().to_str_radix(2),
        'o' => value.magnitude().to_str_radix(8),
        'x' => value.magnitude().to_str_radix(16),
        'X' => value.magnitude().to_str_radix(16).to_uppercase(),
        _ => value.magnitude().to_str_radix(10),
    };
    // Zero with a precision of zero is no text at all.
    let digits = if precision == Some(0) && value.sign() == Sign::NoSign { String::new() } else { digits };
    let padding = precision.unwrap_or(0).saturating_sub(digits.len());
    let sign = if value.sign() == Sign::Minus { "-" } else { "" };
    format!("{sign}{}{digits}", "0".repeat(padding))
}
