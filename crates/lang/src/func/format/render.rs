//! Turning one value into the text that a verb asks for.

use groma_model::codec::json;
use groma_model::convert::convert;
use groma_model::number::Number;
use groma_model::ty::Type;
use groma_model::value::{Value, ValueKind, go_quote};
use unicode_segmentation::UnicodeSegmentation;

use super::super::FunctionError;
use super::scan::{Verb, quote_char};

/// Appends what `verb` makes of `value`, which is wholly known.
pub(super) fn render(verb: &Verb<'_>, value: &Value, out: &mut String) -> Result<(), FunctionError> {
    if verb.letter != 'v' && value.is_null() {
        return Err(verb.unsupported("null value cannot be formatted"));
    }
    match verb.letter {
        'v' => render_any(verb, value, out),
        't' => {
            let value = converted(verb, value, &Type::Bool)?;
            out.push_str(if value.as_bool() == Some(true) { "true" } else { "false" });
            Ok(())
        }
        'b' | 'd' | 'o' | 'x' | 'X' | 'e' | 'E' | 'f' | 'g' | 'G' => {
            let value = converted(verb, value, &Type::Number)?;
            let number = value.as_number().unwrap_or(&Number::ZERO);
            match verb.letter {
                'b' | 'd' | 'o' | 'x' | 'X' => render_integer(verb, number, out),
                _ => {
                    render_float(verb, number, out);
                    Ok(())
                }
            }
        }
        's' | 'q' => {
            let value = converted(verb, value, &Type::String)?;
            render_text(verb, value.as_str().unwrap_or_default(), out)
        }
        letter => Err(FunctionError::new(format!(
            "unsupported format verb {} in {} at offset {}",
            quote_char(letter),
            go_quote(verb.raw),
            verb.offset
        ))),
    }
}

fn converted(verb: &Verb<'_>, value: &Value, ty: &Type) -> Result<Value, FunctionError> {
    convert(value, ty).map_err(|error| verb.unsupported(error))
}

fn json_text(verb: &Verb<'_>, value: &Value) -> Result<String, FunctionError> {
    json::encode_plain(value).map_err(|error| verb.unsupported(error))
}

/// Strings and numbers plainly, everything else (and everything if `#` is there) as JSON.
fn render_any(verb: &Verb<'_>, value: &Value, out: &mut String) -> Result<(), FunctionError> {
    match value.kind() {
        ValueKind::String(text) if !verb.sharp => pad(verb, text, out),
        ValueKind::Number(number) if !verb.sharp => pad(verb, &number.format_g(None), out),
        _ => pad(verb, &json_text(verb, value)?, out),
    }
    Ok(())
}

fn render_text(verb: &Verb<'_>, text: &str, out: &mut String) -> Result<(), FunctionError> {
    let text = match verb.precision {
        None | Some(0) => text,
        Some(length) => {
            let end = text.grapheme_indices(true).nth(length).map_or(text.len(), |(at, _)| at);
            &text[..end]
        }
    };
    if verb.letter == 'q' {
        pad(verb, &json_text(verb, &Value::string(text))?, out);
    } else {
        pad(verb, text, out);
    }
    Ok(())
}

/// Fills a field, counting characters as users see them.
fn pad(verb: &Verb<'_>, text: &str, out: &mut String) {
    let Some(width) = verb.width else {
        out.push_str(text);
        return;
    };
    let missing = width.saturating_sub(text.graphemes(true).count());
    let padding = if verb.zero { "0" } else { " " }.repeat(missing);
    if verb.minus {
        out.push_str(text);
        out.push_str(&padding);
    } else {
        out.push_str(&padding);
        out.push_str(text);
    }
}

fn sign(verb: &Verb<'_>, negative: bool) -> &'static str {
    match (negative, verb.plus, verb.space) {
        (true, ..) => "-",
        (false, true, _) => "+",
        (false, false, true) => " ",
        (false, false, false) => "",
    }
}

fn render_integer(verb: &Verb<'_>, number: &Number, out: &mut String) -> Result<(), FunctionError> {
    if !number.is_integer() {
        return Err(verb.unsupported("an integer is required"));
    }
    let text = number.go_format(verb.letter, verb.precision);
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.as_str()),
    };
    if digits.is_empty() {
        // Zero with a precision of zero takes no room at all.
        return Ok(());
    }
    let sign = sign(verb, negative);
    let prefix = match verb.letter {
        'b' if verb.sharp => "0b",
        'o' if verb.sharp => "0",
        'x' if verb.sharp => "0x",
        'X' if verb.sharp => "0X",
        _ => "",
    };
    let missing = verb.width.unwrap_or(0).saturating_sub(sign.len() + prefix.len() + digits.len());
    let (left, zeros, right) = if verb.minus {
        (0, 0, missing)
    } else if verb.zero && verb.precision.is_none() {
        (0, missing, 0)
    } else {
        (missing, 0, 0)
    };
    out.extend([
        " ".repeat(left).as_str(),
        sign,
        prefix,
        "0".repeat(zeros).as_str(),
        digits,
        " ".repeat(right).as_str(),
    ]);
    Ok(())
}

fn render_float(verb: &Verb<'_>, number: &Number, out: &mut String) {
    let text = number.go_format(verb.letter, verb.precision);
    let (sign, digits) = match (text.strip_prefix('-'), text.strip_prefix('+')) {
        (Some(digits), _) => ("-", digits),
        // Infinity shows its sign unless a space is to stand there.
        (None, Some(digits)) => (if verb.space { " " } else { "+" }, digits),
        (None, None) => (sign(verb, false), text.as_str()),
    };
    let missing = verb.width.unwrap_or(0).saturating_sub(sign.len() + digits.len());
    if verb.zero && !number.is_infinite() {
        out.extend([sign, "0".repeat(missing).as_str(), digits]);
    } else if verb.minus {
        out.extend([sign, digits, " ".repeat(missing).as_str()]);
    } else {
        out.extend([" ".repeat(missing).as_str(), sign, digits]);
    }
}
