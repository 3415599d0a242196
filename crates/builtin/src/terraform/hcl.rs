//! Values as configuration text, laid out as the usual formatter would.

use std::fmt::Write as _;

use groma_model::address::{is_identifier, quote};
use groma_model::value::{Entries, Value, ValueKind};

/// A line before it is laid out.
#[derive(Default)]
struct Line {
    /// What stands before the equals sign, if the whole entry is on this line.
    key: Option<String>,
    text: String,
    /// Brackets that open here and close elsewhere; below 0 for those that close here.
    open: i64,
}

/// A value as an expression; none if something in it is unknown.
pub(super) fn expression(value: &Value) -> Option<String> {
    if !value.is_wholly_known() {
        return None;
    }
    let mut lines = vec![Line::default()];
    write(&mut lines, value);
    Some(laid_out(&lines))
}

/// Values as arguments, one after the other; none if something in them is unknown.
pub(super) fn attributes(entries: &Entries) -> Option<String> {
    if entries.values().iter().any(|value| !value.is_wholly_known()) {
        return None;
    }
    let mut lines = vec![Line::default()];
    write_entries(&mut lines, entries);
    Some(laid_out(&lines))
}

fn write(lines: &mut Vec<Line>, value: &Value) {
    match value.kind() {
        ValueKind::Null | ValueKind::Unknown(_) => push(lines, "null", 0),
        ValueKind::Bool(value) => push(lines, if value { "true" } else { "false" }, 0),
        ValueKind::Number(number) => push(lines, &number.to_string(), 0),
        ValueKind::String(text) => push(lines, &quote(text), 0),
        ValueKind::List(items) | ValueKind::Set(items) | ValueKind::Tuple(items) => {
            push(lines, "[", 1);
            for (at, item) in items.iter().enumerate() {
                push(lines, if at > 0 { ", " } else { "" }, 0);
                write(lines, item);
            }
            push(lines, "]", -1);
        }
        ValueKind::Map(entries) | ValueKind::Object(entries) if entries.is_empty() => push(lines, "{}", 0),
        ValueKind::Map(entries) | ValueKind::Object(entries) => {
            push(lines, "{", 1);
            lines.push(Line::default());
            write_entries(lines, entries);
            push(lines, "}", -1);
        }
    }
}

/// Each entry on a line of its own, or on several. Ends on an empty line.
fn write_entries(lines: &mut Vec<Line>, entries: &Entries) {
    for (name, value) in entries.iter() {
        let first = lines.len() - 1;
        write(lines, value);
        let key = if is_identifier(name) { name.to_string() } else { quote(name) };
        if lines.len() - 1 == first {
            lines[first].key = Some(key);
        } else {
            lines[first].text.insert_str(0, &format!("{key} = "));
        }
        lines.push(Line::default());
    }
}

fn push(lines: &mut [Line], text: &str, open: i64) {
    if let Some(line) = lines.last_mut() {
        line.text.push_str(text);
        line.open += open;
    }
}

/// Aligns equals signs of neighbouring lines, and indents by what is open. All brackets that open on one line count as
/// one level.
fn laid_out(lines: &[Line]) -> String {
    let mut levels: Vec<i64> = Vec::new();
    let mut out = String::new();
    for (at, line) in lines.iter().enumerate() {
        let mut closing = -line.open;
        while closing > 0
            && let Some(top) = levels.last_mut()
        {
            let closed = closing.min(*top);
            (*top, closing) = (*top - closed, closing - closed);
            if *top == 0 {
                levels.pop();
            }
        }
        if !line.text.is_empty() || line.key.is_some() {
            out.push_str(&"  ".repeat(levels.len()));
        }
        if let Some(key) = &line.key {
            // Writing to a String cannot fail.
            let width = key_width(lines, at);
            let _ = write!(out, "{key:width$} = ");
        }
        out.push_str(&line.text);
        if at + 1 < lines.len() {
            out.push('\n');
        }
        if line.open > 0 {
            levels.push(line.open);
        }
    }
    out
}

/// The width of the widest key among neighbouring lines that have one.
fn key_width(lines: &[Line], at: usize) -> usize {
    let width = |line: &Line| line.key.as_ref().map(|key| key.chars().count());
    let before = lines[..at].iter().rev().map_while(width);
    let behind = lines[at..].iter().map_while(width);
    before.chain(behind).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use groma_model::codec::json::decode_implied;
    use groma_model::ty::Type;

    use super::*;

    /// As OpenTofu 1.12.6 writes it.
    const WRITTEN: &str = r#"{
  "1x" = 3
  a    = 1
  big  = 12345678901234567890123.5
  list = [{
    a   = 1
    bcd = 2
  }, "s"]
  longname = "x$${y} %%{z} \" \\ \n\t\r \u0007 é 😀"
  m = {
    k     = "v"
    "k k" = "w"
  }
  nested = {
    a     = [1, 2.5, true, null]
    "b c" = {}
    bb    = []
    deep = {
      x = 1
      yy = {
        z = 2
      }
      zzz = 3
    }
  }
  nul   = null
  s     = ["a", "b"]
  small = 0.0000001
}"#;

    #[test]
    fn values_are_written_as_opentofu_writes_them() {
        let value = decode_implied(
            r#"{"a": 1, "longname": "x${y} %{z} \" \\ \n\t\r \u0007 é 😀", "1x": 3, "nul": null, "small": 1e-7,
                "nested": {"a": [1, 2.5, true, null], "b c": {}, "bb": [], "deep": {"x": 1, "yy": {"z": 2}, "zzz": 3}},
                "list": [{"a": 1, "bcd": 2}, "s"], "s": ["a", "b"], "m": {"k": "v", "k k": "w"},
                "big": 12345678901234567890123.5}"#,
        )
        .unwrap();
        assert_eq!(expression(&value).unwrap(), WRITTEN);
    }

    #[test]
    fn lists_of_objects_are_indented_as_opentofu_does() {
        let value = decode_implied(
            r#"{"a": 1, "bbb": "x", "cc": {"d": 1, "eeee": {"f": 1}, "g": "h"}, "": 1,
                "h": [{"i": 1}, {"jj": 2, "k": [{"l": 1}]}], "q-r": 1, "s.t": 2, "zz": 3}"#,
        )
        .unwrap();
        let expected = "{\n  \"\"  = 1\n  a   = 1\n  bbb = \"x\"\n  cc = {\n    d = 1\n    eeee = {\n      f = 1\n    \
                        }\n    g = \"h\"\n  }\n  h = [{\n    i = 1\n    }, {\n    jj = 2\n    k = [{\n      l = 1\n    \
                        }]\n  }]\n  q-r   = 1\n  \"s.t\" = 2\n  zz    = 3\n}";
        assert_eq!(expression(&value).unwrap(), expected);
    }

    #[test]
    fn arguments_end_with_a_line_break() {
        let value =
            decode_implied(r#"{"a": 1, "bbb": "x", "cc": {"d": 1, "eeee": 2}, "h": [{"i": 1}], "z-z": null}"#).unwrap();
        let expected = "a   = 1\nbbb = \"x\"\ncc = {\n  d    = 1\n  eeee = 2\n}\nh = [{\n  i = 1\n}]\nz-z = null\n";
        assert_eq!(attributes(value.as_entries().unwrap()).unwrap(), expected);
        assert_eq!(attributes(&Entries::default()).unwrap(), "");
        assert_eq!(expression(&Value::tuple(vec![Value::unknown(Type::String)])), None);
    }
}
