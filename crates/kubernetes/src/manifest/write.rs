//! Writing YAML as people write manifests: block style, quotes where they are needed, texts of several lines as blocks.

use std::fmt::Write as _;

use super::scalar;
use crate::Json;

/// Longer names are written after a question mark: parsers do not look further ahead for the colon.
const MAX_SIMPLE_KEY: usize = 128;

/// As YAML, ending with a line break.
pub(crate) fn to_yaml(object: &Json) -> String {
    let mut out = String::new();
    match object {
        Json::Object(members) if !members.is_empty() => write_members(members, 0, &mut out),
        Json::Array(items) if !items.is_empty() => write_items(items, 0, &mut out),
        scalar => {
            out.push_str(&inline(scalar));
            out.push('\n');
        }
    }
    out
}

/// The members of an object, the first at the current place, the others on lines of their own.
fn write_members(members: &serde_json::Map<String, Json>, indent: usize, out: &mut String) {
    for (at, (name, value)) in members.iter().enumerate() {
        if at > 0 {
            pad(indent, out);
        }
        let name = text(name);
        if name.len() > MAX_SIMPLE_KEY {
            let _ = writeln!(out, "? {name}");
            pad(indent, out);
            out.push_str(": ");
            write_nested(value, indent + 2, out);
            continue;
        }
        out.push_str(&name);
        out.push(':');
        match value {
            Json::Object(members) if !members.is_empty() => {
                out.push('\n');
                pad(indent + 2, out);
                write_members(members, indent + 2, out);
            }
            Json::Array(items) if !items.is_empty() => {
                out.push('\n');
                pad(indent, out);
                write_items(items, indent, out);
            }
            scalar => {
                out.push(' ');
                write_scalar(scalar, indent + 2, out);
            }
        }
    }
}

fn write_items(items: &[Json], indent: usize, out: &mut String) {
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            pad(indent, out);
        }
        out.push_str("- ");
        write_nested(item, indent + 2, out);
    }
}

/// What comes after a dash or a colon of its own.
fn write_nested(value: &Json, indent: usize, out: &mut String) {
    match value {
        Json::Object(members) if !members.is_empty() => write_members(members, indent, out),
        Json::Array(items) if !items.is_empty() => write_items(items, indent, out),
        scalar => write_scalar(scalar, indent, out),
    }
}

fn write_scalar(value: &Json, indent: usize, out: &mut String) {
    match value {
        Json::String(text) if is_block(text) => write_block(text, indent, out),
        scalar => {
            out.push_str(&inline(scalar));
            out.push('\n');
        }
    }
}

fn write_block(text: &str, indent: usize, out: &mut String) {
    let (body, chomp) = match text.strip_suffix('\n') {
        None => (text, "-"),
        Some(body) if body.ends_with('\n') => (body, "+"),
        Some(body) => (body, ""),
    };
    let _ = writeln!(out, "|{chomp}");
    for line in body.split('\n') {
        if !line.is_empty() {
            pad(indent, out);
            out.push_str(line);
        }
        out.push('\n');
    }
}

fn pad(indent: usize, out: &mut String) {
    out.extend(std::iter::repeat_n(' ', indent));
}

/// What has no lines of its own.
fn inline(value: &Json) -> String {
    match value {
        Json::String(value) => text(value),
        other => other.to_string(),
    }
}

/// A text of several lines that a block can hold as it is.
fn is_block(text: &str) -> bool {
    let plain = |c: char| c == '\n' || c == '\t' || is_printable(c);
    text.contains('\n')
        && text.chars().all(plain)
        && !text.starts_with(['\n', ' ', '\t'])
        && text.split('\n').all(|line| line.is_empty() || !line.trim().is_empty())
        && text.split('\n').all(|line| !line.starts_with('\t'))
}

/// A text on one line.
fn text(text: &str) -> String {
    if is_plain(text) { text.to_owned() } else { quoted(text) }
}

/// Whether a text needs no quotes, for this reader and for others.
fn is_plain(text: &str) -> bool {
    let Some(first) = text.chars().next() else { return false };
    scalar::plain(text).is_ok_and(|json| json.is_string())
        && !"-?:,[]{}#&*!|>'\"%@`=<~ ".contains(first)
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.starts_with("...")
        && text.chars().all(is_printable)
        && !looks_numeric(text)
}

/// Dates, times and numbers of other tools. What has other letters in it is none of that.
fn looks_numeric(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c))
        && text.chars().all(|c| c.is_ascii_hexdigit() || "+-.,:_xXoOTtZz ".contains(c))
}

/// Whether a character stands for itself everywhere on a line.
fn is_printable(c: char) -> bool {
    !c.is_control() && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if is_printable(c) => out.push(c),
            c => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
        }
    }
    out.push('"');
    out
}
