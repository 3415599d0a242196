//! Values as people read them: the way the console prints them, and a short form for diagnostics.

use groma_model::diag::Diagnostic;
use groma_model::mark::Mark;
use groma_model::ty::Type;
use groma_model::value::{Entries, Value, ValueKind, go_quote};

/// The attribute that holds what `type` found. It makes the result something that is no string and cannot be used as one.
pub(crate) const TYPE_TEXT: &str = "type";

/// What the console's `type` gives.
pub(crate) fn type_value(text: &str) -> Value {
    Value::object([(TYPE_TEXT, Value::string(text))]).mark(Mark::TypeText)
}

/// What the console prints for the value of an expression: a type as such, if it is the result of `type`.
pub fn console_result(value: &Value) -> Result<String, Diagnostic> {
    if !value.marks_deep().contains(&Mark::TypeText) {
        return Ok(console(value));
    }
    let text = value.as_entries().filter(|_| value.marks().contains(&Mark::TypeText)).and_then(|entries| {
        let text = entries.get(TYPE_TEXT)?.as_str()?;
        (entries.len() == 1).then(|| text.to_owned())
    });
    text.ok_or_else(|| {
        Diagnostic::error(
            "Invalid use of type function",
            "The console-only \"type\" function cannot be used as part of an expression.",
        )
    })
}

/// A value in the syntax of the language, over several lines where it has parts. Sensitive parts are left out.
pub fn console(value: &Value) -> String {
    let mut text = String::new();
    write_value(value, 0, &mut text);
    text
}

fn pad(indent: usize, text: &mut String) {
    text.extend(std::iter::repeat_n(' ', indent));
}

fn write_value(value: &Value, indent: usize, text: &mut String) {
    if !value.is_known() {
        return text.push_str("(known after apply)");
    }
    if value.marks().is_sensitive() {
        return text.push_str("(sensitive value)");
    }
    if value.marks().is_ephemeral() {
        return text.push_str("(ephemeral value)");
    }
    let mut wrapped = |name: &str, write: &dyn Fn(&mut String)| {
        text.push_str(name);
        text.push('(');
        write(text);
        text.push(')');
    };
    match value.kind() {
        ValueKind::Null | ValueKind::Unknown(_) => text.push_str(&null_text(&value.ty())),
        ValueKind::Bool(value) => text.push_str(if value { "true" } else { "false" }),
        ValueKind::Number(number) => text.push_str(&number.to_string()),
        ValueKind::String(string) => write_string(string, indent, text),
        ValueKind::List(items) => wrapped("tolist", &|text| write_sequence(items, indent, text)),
        ValueKind::Set(items) => wrapped("toset", &|text| write_sequence(items, indent, text)),
        ValueKind::Map(entries) => wrapped("tomap", &|text| write_mapping(entries, indent, text)),
        ValueKind::Tuple(items) => write_sequence(items, indent, text),
        ValueKind::Object(entries) => write_mapping(entries, indent, text),
    }
}

fn null_text(ty: &Type) -> String {
    match ty {
        Type::Dynamic => "null".into(),
        Type::String => "tostring(null)".into(),
        Type::Number => "tonumber(null)".into(),
        Type::Bool => "tobool(null)".into(),
        Type::List(element) => format!("tolist(null) /* of {} */", element.friendly_name()),
        Type::Set(element) => format!("toset(null) /* of {} */", element.friendly_name()),
        Type::Map(element) => format!("tomap(null) /* of {} */", element.friendly_name()),
        other => format!("null /* {} */", other.friendly_name()),
    }
}

/// In quotes, or as a heredoc if there is more than one line.
fn write_string(string: &str, indent: usize, text: &mut String) {
    if !string.contains('\n') {
        return text.push_str(&go_quote(string));
    }
    let mut delimiter = String::from("EOT");
    while string.split('\n').any(|line| line.trim() == delimiter) {
        delimiter.push('_');
    }
    text.push_str(if indent > 0 { "<<-" } else { "<<" });
    text.push_str(&delimiter);
    for line in string.split('\n').chain([delimiter.as_str()]) {
        text.push('\n');
        pad(indent, text);
        text.push_str(line);
    }
}

fn write_sequence(items: &[Value], indent: usize, text: &mut String) {
    text.push('[');
    for item in items {
        text.push('\n');
        pad(indent + 2, text);
        write_value(item, indent + 2, text);
        text.push(',');
    }
    if !items.is_empty() {
        text.push('\n');
        pad(indent, text);
    }
    text.push(']');
}

fn write_mapping(entries: &Entries, indent: usize, text: &mut String) {
    text.push('{');
    for (name, item) in entries.iter() {
        text.push('\n');
        pad(indent + 2, text);
        write_string(name, indent + 2, text);
        text.push_str(" = ");
        write_value(item, indent + 2, text);
    }
    if !entries.is_empty() {
        text.push('\n');
        pad(indent, text);
    }
    text.push('}');
}

/// A value in a few words, for diagnostics: primitives in full, of others only what they are and how large.
pub fn compact(value: &Value) -> String {
    if value.marks().is_sensitive() {
        return "(sensitive value)".into();
    }
    if value.marks().is_ephemeral() {
        return "(ephemeral value)".into();
    }
    let counted = |length: usize| {
        let name = value.ty().friendly_name();
        match length {
            0 => format!("empty {name}"),
            1 => format!("{name} with 1 element"),
            _ => format!("{name} with {length} elements"),
        }
    };
    match value.kind() {
        ValueKind::Null => "null".into(),
        ValueKind::Unknown(_) => "(not yet known)".into(),
        ValueKind::Bool(value) => value.to_string(),
        ValueKind::Number(number) => number.format_g(Some(10)),
        ValueKind::String(text) => go_quote(text),
        ValueKind::List(items) | ValueKind::Set(items) | ValueKind::Tuple(items) => counted(items.len()),
        ValueKind::Map(entries) => counted(entries.len()),
        ValueKind::Object(entries) => match entries.names().as_slice() {
            [] => "object with no attributes".into(),
            [name] => format!("object with 1 attribute {}", go_quote(name)),
            names => format!("object with {} attributes", names.len()),
        },
    }
}

#[cfg(test)]
mod tests;
