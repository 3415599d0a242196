//! What scalars mean, by the rules that kubectl has: the words and numbers of YAML 1.1, dates as text.

use base64::Engine as _;
use granit_parser::{ScalarStyle, Tag};

use crate::Json;
use crate::path::LARGEST_WHOLE;

/// What the tags of YAML itself begin with.
const CORE: &str = "tag:yaml.org,2002:";

/// The value of a scalar, or why it has none.
pub(super) fn value(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Result<Json, String> {
    let Some(tag) = tag else {
        return if style == ScalarStyle::Plain { plain(text) } else { Ok(Json::from(text)) };
    };
    // Tags that are not YAML's own mean nothing here, and so does what they are put on.
    let kind = tag.suffix_in_namespace(CORE).unwrap_or_default();
    let value = match kind.as_ref() {
        "binary" => return binary(text),
        "bool" | "int" | "float" | "null" => plain(text)?,
        _ => return Ok(Json::from(text)),
    };
    let fits = match kind.as_ref() {
        "bool" => value.is_boolean(),
        "int" => value.is_i64() || value.is_u64(),
        "float" => value.is_number(),
        _ => value.is_null(),
    };
    if fits { Ok(value) } else { Err(format!("this is tagged as {kind}, and is none")) }
}

/// The value of a text without quotes.
pub(super) fn plain(text: &str) -> Result<Json, String> {
    Ok(match text {
        "" | "~" | "null" | "Null" | "NULL" => Json::Null,
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => Json::Bool(true),
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => Json::Bool(false),
        ".nan" | ".NaN" | ".NAN" | ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" | "-.inf" | "-.Inf"
        | "-.INF" => {
            return Err(format!("{text} is a number that JSON does not have; quote it if it is meant as text"));
        }
        _ => number(text).unwrap_or_else(|| Json::from(text)),
    })
}

fn binary(text: &str) -> Result<Json, String> {
    let packed: String = text.split_ascii_whitespace().collect();
    let bytes = base64::engine::general_purpose::STANDARD.decode(packed).map_err(|_| "not valid base64".to_owned())?;
    String::from_utf8(bytes).map(Json::from).map_err(|_| "what is in !!binary is no text".to_owned())
}

fn number(text: &str) -> Option<Json> {
    match text.as_bytes().first()? {
        b'0'..=b'9' | b'+' | b'-' => {
            let digits = text.replace('_', "");
            integer(&digits).or_else(|| float(&digits))
        }
        b'.' => float(text),
        _ => None,
    }
}

/// Decimal, or what its prefix says: `0x1f`, `0b1`, `0o17`, and `017`, which is octal too (`defaultMode: 0644`).
fn integer(text: &str) -> Option<Json> {
    let (negative, unsigned) = match text.as_bytes().first()? {
        b'-' => (true, text.get(1..)?),
        b'+' => (false, text.get(1..)?),
        _ => (false, text),
    };
    let (radix, digits) = match unsigned.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, unsigned.get(2..)?),
        [b'0', b'o' | b'O', ..] => (8, unsigned.get(2..)?),
        [b'0', b'b' | b'B', ..] => (2, unsigned.get(2..)?),
        [b'0', _, ..] => (8, unsigned.get(1..)?),
        _ => (10, unsigned),
    };
    // The parser of numbers would take a second sign.
    if !digits.starts_with(|c: char| c.is_digit(radix)) {
        return None;
    }
    if negative {
        return i64::from_str_radix(&format!("-{digits}"), radix).ok().map(Json::from);
    }
    u64::from_str_radix(digits, radix).ok().map(Json::from)
}

fn float(text: &str) -> Option<Json> {
    if !is_float(text) {
        return None;
    }
    let number: f64 = text.parse().ok()?;
    // JSON is written without a fraction where there is none.
    if number.fract() == 0.0 && number.abs() < LARGEST_WHOLE {
        return Some(Json::from(number as i64));
    }
    serde_json::Number::from_f64(number).map(Json::Number)
}

fn is_float(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
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

/// A scalar as the name of a member.
pub(super) fn name(json: &Json) -> Option<String> {
    match json {
        Json::String(text) => Some(text.clone()),
        Json::Bool(value) => Some(value.to_string()),
        Json::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
