//! Configuration that is written rather than read: values as expressions, and the canonical layout.

use std::borrow::Cow;

use groma_model::value::{Entries, Value, ValueKind, go_quote};

/// Puts a text into the canonical layout, as `fmt` does.
pub fn layout(text: &str) -> String {
    groma_syntax::fmt::format(text)
}

/// An expression for a value that has neither unknowns nor marks. Objects take several lines.
pub fn expression(value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut text);
    text
}

/// A name of an attribute or the key of a map, as it stands left of `=`.
pub fn name(name: &str) -> Cow<'_, str> {
    if groma_syntax::is_identifier(name) { Cow::Borrowed(name) } else { Cow::Owned(string(name)) }
}

/// A text in quotes. Nothing in it is a template.
pub fn string(text: &str) -> String {
    let mut written = String::with_capacity(text.len() + 2);
    written.push('"');
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\n' => written.push_str("\\n"),
            '\r' => written.push_str("\\r"),
            '\t' => written.push_str("\\t"),
            '"' => written.push_str("\\\""),
            '\\' => written.push_str("\\\\"),
            '$' | '%' => {
                written.push(character);
                if characters.peek() == Some(&'{') {
                    written.push(character);
                }
            }
            printable if is_printable(printable) => written.push(printable),
            other => written.push_str(&escaped(u32::from(other))),
        }
    }
    written.push('"');
    written
}

fn escaped(character: u32) -> String {
    if character < 0x1_0000 { format!("\\u{character:04x}") } else { format!("\\U{character:08x}") }
}

fn is_printable(character: char) -> bool {
    character.is_ascii_graphic() || character == ' ' || !go_quote(character.encode_utf8(&mut [0; 4])).contains('\\')
}

fn write(value: &Value, text: &mut String) {
    match value.kind() {
        ValueKind::Bool(truth) => text.push_str(if truth { "true" } else { "false" }),
        ValueKind::Number(number) => text.push_str(&number.to_string()),
        ValueKind::String(content) => text.push_str(&string(content)),
        ValueKind::List(items) | ValueKind::Set(items) | ValueKind::Tuple(items) => {
            text.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    text.push_str(", ");
                }
                write(item, text);
            }
            text.push(']');
        }
        ValueKind::Map(entries) | ValueKind::Object(entries) => write_entries(entries, text),
        _ => text.push_str("null"),
    }
}

fn write_entries(entries: &Entries, text: &mut String) {
    text.push('{');
    if !entries.is_empty() {
        text.push('\n');
    }
    for (key, value) in entries.iter() {
        text.push_str(&name(key));
        text.push_str(" = ");
        write(value, text);
        text.push('\n');
    }
    text.push('}');
}

#[cfg(test)]
mod tests {
    use groma_model::ty::Type;

    use super::*;

    #[test]
    fn values_are_written_as_expressions() {
        let inner = Value::object([("b", Value::number(1)), ("a c", Value::null(Type::String))]);
        let value = Value::object([
            ("list", Value::tuple(vec![Value::bool(true), inner])),
            ("empty", Value::tuple(Vec::new())),
            ("none", Value::object(Vec::<(&str, Value)>::new())),
        ]);
        let text = layout(&format!("x = {}", expression(&value)));
        let expected =
            "x = {\n  empty = []\n  list = [true, {\n    \"a c\" = null\n    b     = 1\n  }]\n  none = {}\n}";
        assert_eq!(text, expected);
    }

    #[test]
    fn no_text_is_a_template() {
        assert_eq!(string("a\"${b}%{c}$d\n\u{1}é\u{ad}"), r#""a\"$${b}%%{c}$d\n\u0001é\u00ad""#);
    }
}
