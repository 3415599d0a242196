//! The order in which all tools iterate a set. It decides the order of arrays in state files and on the wire.

use std::cmp::Ordering;
use std::fmt::Write as _;

use super::{Value, ValueKind};
use crate::ty::Type;

/// Sorts and drops duplicates. Elements that are unknown (in any part) are never duplicates of each other.
pub(super) fn ordered_set(element: &Type, items: Vec<Value>) -> Vec<Value> {
    if element.is_primitive() {
        return ordered_primitives(items);
    }
    let mut keyed: Vec<(String, Value)> = items.into_iter().map(|item| (canonical_text(&item), item)).collect();
    keyed.sort_by(|(a_text, a), (b_text, b)| rank(a).cmp(&rank(b)).then_with(|| a_text.cmp(b_text)));
    let mut result: Vec<Value> = Vec::with_capacity(keyed.len());
    let mut group_start = 0;
    let mut last_text: Option<String> = None;
    for (text, item) in keyed {
        if last_text.as_ref() != Some(&text) {
            group_start = result.len();
            last_text = Some(text);
        }
        let duplicate = item.is_wholly_known() && result[group_start..].contains(&item);
        if !duplicate {
            result.push(item);
        }
    }
    result
}

/// Whether an element that is wholly known and without marks is among the elements of a set.
pub(super) fn set_contains(element: &Type, items: &[Value], wanted: &Value) -> bool {
    if element.is_primitive() {
        let order = |item: &Value| rank(item).cmp(&rank(wanted)).then_with(|| compare_primitives(item, wanted));
        return items.binary_search_by(order).is_ok_and(|at| items[at] == *wanted);
    }
    let text = canonical_text(wanted);
    let order = |item: &Value| rank(item).cmp(&rank(wanted)).then_with(|| canonical_text(item).cmp(&text));
    let start = items.partition_point(|item| order(item) == Ordering::Less);
    items[start..].iter().take_while(|item| order(item) == Ordering::Equal).any(|item| item == wanted)
}

fn ordered_primitives(mut items: Vec<Value>) -> Vec<Value> {
    items.sort_by(|a, b| rank(a).cmp(&rank(b)).then_with(|| compare_primitives(a, b)));
    items.dedup_by(|a, b| a.is_known() && a == b);
    items
}

/// Known values first, then unknown ones, then null.
fn rank(value: &Value) -> u8 {
    if value.is_null() { 2 } else { u8::from(!value.is_known()) }
}

fn compare_primitives(a: &Value, b: &Value) -> Ordering {
    match (a.kind(), b.kind()) {
        (ValueKind::String(a), ValueKind::String(b)) => a.cmp(b),
        (ValueKind::Number(a), ValueKind::Number(b)) => a.cmp(b),
        (ValueKind::Bool(a), ValueKind::Bool(b)) => a.cmp(&b),
        _ => Ordering::Equal,
    }
}

/// A text that orders compound elements. Not injective: long numbers are cut.
fn canonical_text(value: &Value) -> String {
    let mut text = String::new();
    write_canonical(value, &mut text);
    text
}

fn write_canonical(value: &Value, out: &mut String) {
    let sequence = |out: &mut String, open: char, items: &[Value], close: char| {
        out.push(open);
        for item in items {
            write_canonical(item, out);
            out.push(';');
        }
        out.push(close);
    };
    match value.kind() {
        ValueKind::Null => out.push('~'),
        ValueKind::Unknown(_) => out.push('?'),
        ValueKind::Bool(true) => out.push('T'),
        ValueKind::Bool(false) => out.push('F'),
        ValueKind::Number(number) => out.push_str(&number.format_g(Some(10))),
        ValueKind::String(text) => out.push_str(&go_quote(text)),
        ValueKind::List(items) | ValueKind::Set(items) => sequence(out, '[', items, ']'),
        ValueKind::Tuple(items) => sequence(out, '<', items, '>'),
        ValueKind::Object(entries) => sequence(out, '<', entries.values(), '>'),
        ValueKind::Map(entries) => {
            out.push('{');
            for (name, item) in entries.iter() {
                out.push_str(&go_quote(name));
                out.push(':');
                write_canonical(item, out);
                out.push(';');
            }
            out.push('}');
        }
    }
}

/// A text in double quotes, escaped as Go's `%q` does.
pub fn go_quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{b}' => out.push_str("\\v"),
            c if is_printable(c) => out.push(c),
            c => escape_code_point(c, &mut out),
        }
    }
    out.push('"');
    out
}

fn escape_code_point(c: char, out: &mut String) {
    let code = c as u32;
    // Writing to a String cannot fail.
    let _ = match code {
        0..=0x1f | 0x7f => write!(out, "\\x{code:02x}"),
        0x80..=0xffff => write!(out, "\\u{code:04x}"),
        _ => write!(out, "\\U{code:08x}"),
    };
}

/// Letters, marks, numbers, punctuation, symbols and the ASCII space.
pub(crate) fn is_printable(c: char) -> bool {
    // The standard library leaves exactly those unescaped in a string, once the first character (which it treats
    // differently if it combines with what is before it) is out of the way.
    let probe = ['x', c];
    let text: String = probe.iter().collect();
    let escaped: usize = text.escape_debug().count();
    escaped == probe.len() || matches!(c, '\'' | '"' | '\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_ordered_and_distinct() {
        let set = Value::set(
            Type::String,
            vec!["b".into(), Value::null(Type::String), Value::unknown(Type::String), "a".into(), "b".into()],
        );
        let items = set.as_elements().unwrap();
        assert_eq!(items[0], Value::string("a"));
        assert_eq!(items[1], Value::string("b"));
        assert!(!items[2].is_known());
        assert!(items[3].is_null());
    }

    #[test]
    fn quoting_is_gos() {
        assert_eq!(go_quote("a\"b\\\n\u{1}é\u{ad}\u{1F600}"), "\"a\\\"b\\\\\\n\\x01é\\u00ad\u{1F600}\"");
        assert_eq!(go_quote("\u{301}"), "\"\u{301}\"");
    }
}
