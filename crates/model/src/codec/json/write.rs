//! Values to JSON text, as Go writes it: sorted names, no spaces, `<`, `>` and `&` escaped.

use std::fmt::Write as _;

use super::super::{CodecError, CodecErrorKind, Depth, attribute, element, key, required, type_json};
use crate::path::PathStep;
use crate::ty::Type;
use crate::value::{Value, ValueKind};

/// Writes a string in quotes, escaped as Go's encoder does for text that may end up in HTML.
pub fn write_string(out: &mut String, text: &str) {
    out.push('"');
    let mut written = 0;
    for (at, c) in text.char_indices() {
        let escape = match c {
            '"' => "\\\"",
            '\\' => "\\\\",
            '\n' => "\\n",
            '\r' => "\\r",
            '\t' => "\\t",
            '\u{8}' => "\\b",
            '\u{c}' => "\\f",
            '\u{0}'..='\u{1f}' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => "",
            _ => continue,
        };
        out.push_str(&text[written..at]);
        if escape.is_empty() {
            // Writing to a String cannot fail.
            let _ = write!(out, "\\u{:04x}", c as u32);
        } else {
            out.push_str(escape);
        }
        written = at + c.len_utf8();
    }
    out.push_str(&text[written..]);
    out.push('"');
}

/// Encodes a value for a type. Where the type says `any`, the value's own type is written beside it.
pub fn encode(value: &Value, ty: &Type) -> Result<String, CodecError> {
    let mut out = String::new();
    write(&mut out, value, ty, Depth::default())?;
    Ok(out)
}

/// Encodes a value for its own type, as `jsonencode` does: types are not written.
pub fn encode_plain(value: &Value) -> Result<String, CodecError> {
    let mut out = String::new();
    write_plain(&mut out, value, Depth::default())?;
    Ok(out)
}

fn write(out: &mut String, value: &Value, ty: &Type, depth: Depth) -> Result<(), CodecError> {
    check(value)?;
    if *ty == Type::Dynamic && !value.is_dynamic() {
        return write_dynamic(out, value, depth.wrapped()?);
    }
    match (value.kind(), ty) {
        (ValueKind::Null, _) => out.push_str("null"),
        (ValueKind::Bool(_), Type::Bool)
        | (ValueKind::Number(_), Type::Number)
        | (ValueKind::String(_), Type::String) => return write_plain(out, value, depth),
        (ValueKind::List(items), Type::List(inner)) => {
            write_items(out, items, |_| Some(inner), false, depth.deeper()?)?;
        }
        (ValueKind::Set(items), Type::Set(inner)) => write_items(out, items, |_| Some(inner), true, depth.deeper()?)?,
        (ValueKind::Tuple(items), Type::Tuple(types)) if items.len() == types.len() => {
            write_items(out, items, |at| types.get(at), false, depth.deeper()?)?;
        }
        (ValueKind::Map(entries), Type::Map(inner)) => {
            let depth = depth.deeper()?;
            out.push('{');
            for (at, (name, item)) in entries.iter().enumerate() {
                write_name(out, at, name);
                write(out, item, inner, depth).map_err(key(name))?;
            }
            out.push('}');
        }
        (ValueKind::Object(entries), Type::Object(object)) if entries.len() == object.len() => {
            let depth = depth.deeper()?;
            out.push('{');
            for (at, (name, wanted)) in object.iter().enumerate() {
                let Some(item) = entries.get(name) else {
                    return Err(CodecError::mismatch(format!("attribute {:?} is required", name.as_str())));
                };
                write_name(out, at, name);
                write(out, item, &wanted.ty, depth).map_err(attribute(name))?;
            }
            out.push('}');
        }
        _ => return Err(CodecError::mismatch(required(ty))),
    }
    Ok(())
}

/// What can be nowhere in JSON.
fn check(value: &Value) -> Result<(), CodecError> {
    if !value.marks().is_empty() {
        return Err(CodecError::new(CodecErrorKind::Marked));
    }
    match value.kind() {
        ValueKind::Unknown(_) => Err(CodecError::new(CodecErrorKind::Unknown)),
        ValueKind::Number(number) if number.is_infinite() => Err(CodecError::new(CodecErrorKind::Infinite)),
        _ => Ok(()),
    }
}

fn write_dynamic(out: &mut String, value: &Value, depth: Depth) -> Result<(), CodecError> {
    let ty = value.ty();
    out.push_str("{\"value\":");
    write(out, value, &ty, depth)?;
    out.push_str(",\"type\":");
    type_json::write(out, &ty);
    out.push('}');
    Ok(())
}

fn write_name(out: &mut String, at: usize, name: &str) {
    if at > 0 {
        out.push(',');
    }
    write_string(out, name);
    out.push(':');
}

fn write_items<'t>(
    out: &mut String,
    items: &[Value],
    types: impl Fn(usize) -> Option<&'t Type>,
    set: bool,
    depth: Depth,
) -> Result<(), CodecError> {
    out.push('[');
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        let Some(ty) = types(at) else { break };
        write(out, item, ty, depth).map_err(|error| item_error(error, at, item, set))?;
    }
    out.push(']');
    Ok(())
}

fn item_error(error: CodecError, at: usize, item: &Value, set: bool) -> CodecError {
    if set { error.within(PathStep::Element(Box::new(item.clone()))) } else { element(at)(error) }
}

fn write_plain(out: &mut String, value: &Value, depth: Depth) -> Result<(), CodecError> {
    check(value)?;
    match value.kind() {
        ValueKind::Null | ValueKind::Unknown(_) => out.push_str("null"),
        ValueKind::Bool(value) => out.push_str(if value { "true" } else { "false" }),
        ValueKind::Number(number) => out.push_str(&number.to_string()),
        ValueKind::String(text) => write_string(out, text),
        ValueKind::List(items) | ValueKind::Set(items) | ValueKind::Tuple(items) => {
            let depth = depth.deeper()?;
            let set = matches!(value.kind(), ValueKind::Set(_));
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_plain(out, item, depth).map_err(|error| item_error(error, at, item, set))?;
            }
            out.push(']');
        }
        ValueKind::Map(entries) | ValueKind::Object(entries) => {
            let depth = depth.deeper()?;
            let map = matches!(value.kind(), ValueKind::Map(_));
            out.push('{');
            for (at, (name, item)) in entries.iter().enumerate() {
                write_name(out, at, name);
                write_plain(out, item, depth)
                    .map_err(|error| if map { key(name)(error) } else { attribute(name)(error) })?;
            }
            out.push('}');
        }
    }
    Ok(())
}
