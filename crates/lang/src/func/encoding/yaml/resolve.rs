//! What scalars mean: YAML 1.2 numbers, the words for true and false of YAML 1.1, dates as RFC 3339.

use granit_parser::ScalarStyle;
use groma_model::number::Number;
use groma_model::ty::Type;
use groma_model::value::{Value, go_quote};

use super::super::base64;

/// What the tags of YAML itself begin with.
pub(super) const CORE: &str = "tag:yaml.org,2002:";
/// The tag of keys that take in another mapping.
pub(super) const MERGE: &str = "tag:yaml.org,2002:merge";

/// The value of a scalar, or why it has none.
pub(super) fn scalar(text: &str, style: ScalarStyle, tag: Option<&str>) -> Result<Value, String> {
    let mut kind = match tag.map(|tag| tag.strip_prefix(CORE)) {
        None => "",
        Some(Some(kind @ ("str" | "bool" | "int" | "float" | "null" | "timestamp" | "binary"))) => kind,
        Some(_) => return Err(format!("unsupported tag {}", go_quote(tag.unwrap_or_default()))),
    };
    let quoted = matches!(style, ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted);
    if may_be_special(text) && !matches!(kind, "str" | "binary") {
        if quoted {
            return Ok(Value::string(text));
        }
        if let Some(value) = word(text) {
            return Ok(value);
        }
        if kind.is_empty() && matches!(text, ".nan" | ".NaN" | ".NAN") {
            return Err("floating point NaN is not supported".into());
        }
        match text.as_bytes().first() {
            Some(b'.') => {
                if let Some(number) = Number::parse(text) {
                    return Ok(Value::number(number));
                }
            }
            Some(b'0'..=b'9' | b'+' | b'-') => {
                if matches!(kind, "" | "timestamp")
                    && let Some(time) = timestamp(text)
                {
                    return Ok(Value::string(time));
                }
                if is_integer(text) {
                    kind = "int";
                } else if is_float(text) {
                    kind = "float";
                }
            }
            _ => {}
        }
    }
    tagged(text, kind)
}

/// Whether the first character leaves it open that this is not just a string.
fn may_be_special(text: &str) -> bool {
    match text.as_bytes().first() {
        None => true,
        Some(byte) => byte.is_ascii_digit() || b"+-yYnNtTfFoO~.".contains(byte),
    }
}

/// Words that stand for something else than themselves.
fn word(text: &str) -> Option<Value> {
    Some(match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => Value::bool(true),
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => Value::bool(false),
        "" | "~" | "null" | "Null" | "NULL" => Value::null(Type::Dynamic),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => Value::number(Number::infinity(false)),
        "-.inf" | "-.Inf" | "-.INF" => Value::number(Number::infinity(true)),
        _ => return None,
    })
}

fn tagged(text: &str, kind: &str) -> Result<Value, String> {
    let wrong = || format!("cannot parse {} as {CORE}{kind}", go_quote(text));
    match kind {
        "binary" if base64::decode(text).is_err() => Err(format!("{}: not valid base64", wrong())),
        "bool" => word(text).filter(|value| value.as_bool().is_some()).ok_or_else(wrong),
        "int" | "float" => number(text).map(Value::number).ok_or_else(wrong),
        "timestamp" => timestamp(text).map(Value::string).ok_or_else(wrong),
        "null" => Ok(Value::null(Type::Dynamic)),
        _ => Ok(Value::string(text)),
    }
}

fn is_integer(text: &str) -> bool {
    let decimal = text.strip_prefix(['+', '-']).unwrap_or(text);
    let all = |digits: &str, radix: u32| !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
    all(decimal, 10)
        || text.strip_prefix("0o").is_some_and(|digits| all(digits, 8))
        || text.strip_prefix("0x").is_some_and(|digits| all(digits, 16))
}

fn is_float(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
        Some(at) => (&unsigned[..at], Some(&unsigned[at + 1..])),
        None => (unsigned, None),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let mantissa_fits = match mantissa.split_once('.') {
        None => !mantissa.is_empty() && digits(mantissa),
        Some((whole, fraction)) => digits(whole) && digits(fraction) && mantissa.len() > 1,
    };
    let exponent_fits = exponent.is_none_or(|exponent| {
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        !exponent.is_empty() && digits(exponent)
    });
    mantissa_fits && exponent_fits
}

/// Decimal, or octal and hexadecimal of machine size.
fn number(text: &str) -> Option<Number> {
    let plain = text.replace('_', "");
    if let Some(number) = Number::parse(&plain) {
        return Some(number);
    }
    let (negative, digits) = match plain.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, plain.strip_prefix('+').unwrap_or(&plain)),
    };
    let radix = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => 16,
        [b'0', b'o' | b'O', ..] => 8,
        [b'0', b'b' | b'B', ..] => 2,
        _ => return None,
    };
    let value = i128::from(u64::from_str_radix(&digits[2..], radix).ok()?);
    if negative && value > 1 << 63 {
        return None;
    }
    Some(Number::from(if negative { -value } else { value }))
}

/// A date, or a date and time, in RFC 3339 without a fraction.
fn timestamp(text: &str) -> Option<String> {
    let (year, rest) = take_digits(text, 4, 4)?;
    let (month, rest) = take_digits(rest.strip_prefix('-')?, 1, 2)?;
    let (day, rest) = take_digits(rest.strip_prefix('-')?, 1, 2)?;
    if !(1..=12).contains(&month) || day == 0 || day > days_in_month(year, month) {
        return None;
    }
    if rest.is_empty() {
        return Some(format!("{year:04}-{month:02}-{day:02}T00:00:00Z"));
    }
    let zoned = !rest.starts_with(' ');
    let rest = rest.strip_prefix(['T', 't', ' '])?;
    let (hour, rest) = take_digits(rest, 1, 2)?;
    let (minute, rest) = take_digits(rest.strip_prefix(':')?, 1, 2)?;
    let (second, mut rest) = take_digits(rest.strip_prefix(':')?, 1, 2)?;
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    if let Some(fraction) = rest.strip_prefix(['.', ',']) {
        let end = fraction.find(|c: char| !c.is_ascii_digit()).unwrap_or(fraction.len());
        if end == 0 {
            return None;
        }
        rest = &fraction[end..];
    }
    let zone = if zoned { zone(rest)? } else { rest.is_empty().then(|| "Z".to_owned())? };
    Some(format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{zone}"))
}

/// `Z` or `+hh:mm`.
fn zone(text: &str) -> Option<String> {
    if text == "Z" {
        return Some(text.to_owned());
    }
    let (hours, rest) = take_digits(text.strip_prefix(['+', '-'])?, 2, 2)?;
    let (minutes, rest) = take_digits(rest.strip_prefix(':')?, 2, 2)?;
    if hours > 24 || minutes > 59 || !rest.is_empty() {
        return None;
    }
    Some(if hours == 0 && minutes == 0 { "Z".to_owned() } else { text.to_owned() })
}

fn take_digits(text: &str, min: usize, max: usize) -> Option<(u32, &str)> {
    let count = text.bytes().take(max).take_while(u8::is_ascii_digit).count();
    if count < min {
        return None;
    }
    Some((text[..count].parse().ok()?, &text[count..]))
}

fn days_in_month(year: u32, month: u32) -> u32 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        _ => 31,
    }
}
