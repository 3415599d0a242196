//! What a predicate has seen, for people. That a value must not be shown is a matter of types: nobody who prints a step can get it wrong.

use std::fmt;

use groma_model::mark::Mark;
use groma_model::value::{Entries, Value, ValueKind, go_quote};

/// A longer text is cut.
const LONGEST_TEXT: usize = 60;
/// Of more elements the first ones are shown.
const MOST_ELEMENTS: usize = 6;

/// A finding on the way to a result: `"a" -> "b"`, `2 attached: x.a, x.b`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Step(Vec<Part>);

/// A part of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    /// Words of ours, or of a rule.
    Text(String),
    /// A value that may be shown, as it is written.
    Shown(String),
    /// A value that may not.
    Redacted,
}

impl Step {
    /// A step of words.
    pub fn text(text: impl AsRef<str>) -> Self {
        Self::default().and_text(text)
    }

    /// A step that is a value.
    pub fn value(value: &Value) -> Self {
        Self::default().and_value(value)
    }

    /// With more words. What would do something to a terminal is left out.
    pub fn and_text(mut self, text: impl AsRef<str>) -> Self {
        self.0.push(Part::Text(without_controls(text.as_ref())));
        self
    }

    /// With a value, which is hidden if anything in it is sensitive.
    pub fn and_value(mut self, value: &Value) -> Self {
        self.0.push(if is_hidden(value) { Part::Redacted } else { Part::Shown(written(value, 0)) });
        self
    }

    /// With several values, each of which is hidden if anything in it is sensitive.
    pub fn and_values<'v>(self, values: impl IntoIterator<Item = &'v Value>) -> Self {
        let mut step = self;
        for (at, value) in values.into_iter().enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            if at == MOST_ELEMENTS {
                return step.and_text(", …");
            }
            step = step.and_text(comma).and_value(value);
        }
        step
    }

    /// Whether a value is left out.
    pub fn is_redacted(&self) -> bool {
        self.0.contains(&Part::Redacted)
    }
}

/// Whether a value has anything in it that must not be shown.
pub fn is_hidden(value: &Value) -> bool {
    // That something is deprecated is no secret.
    value.contains_marks() && value.marks_deep().iter().any(|mark| !matches!(mark, Mark::Deprecated(_)))
}

/// A value in one short line.
fn written(value: &Value, depth: usize) -> String {
    match value.kind() {
        ValueKind::Null => "null".to_owned(),
        ValueKind::Unknown(_) => "(known after apply)".to_owned(),
        ValueKind::Bool(truth) => truth.to_string(),
        ValueKind::Number(number) => number.to_string(),
        ValueKind::String(text) => quoted(text),
        ValueKind::List(items) | ValueKind::Set(items) | ValueKind::Tuple(items) => sequence(items, depth),
        ValueKind::Map(entries) | ValueKind::Object(entries) => named(entries, depth),
    }
}

/// A text in quotes, the end cut off if it is long.
fn quoted(text: &str) -> String {
    match text.char_indices().nth(LONGEST_TEXT) {
        Some((end, _)) => format!("{}…", go_quote(&text[..end])),
        None => go_quote(text),
    }
}

fn sequence(items: &[Value], depth: usize) -> String {
    if depth > 1 && !items.is_empty() {
        return "[…]".to_owned();
    }
    let shown = items.iter().map(|item| written(item, depth + 1));
    format!("[{}]", joined(shown, items.len()))
}

fn named(entries: &Entries, depth: usize) -> String {
    if depth > 1 && !entries.is_empty() {
        return "{…}".to_owned();
    }
    let shown = entries.iter().map(|(name, item)| {
        let name = if groma_model::address::is_identifier(name) { name.to_string() } else { quoted(name) };
        format!("{name} = {}", written(item, depth + 1))
    });
    format!("{{{}}}", joined(shown, entries.len()))
}

fn joined(shown: impl Iterator<Item = String>, count: usize) -> String {
    let mut text = String::new();
    for (at, item) in shown.enumerate() {
        // Also where each is short: all of them together are one line.
        if at >= MOST_ELEMENTS || (at > 0 && text.len() + item.len() > 2 * LONGEST_TEXT) {
            return format!("{text}, … {count} in all");
        }
        text.push_str(if at == 0 { "" } else { ", " });
        text.push_str(&item);
    }
    text
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in &self.0 {
            match part {
                Part::Text(text) | Part::Shown(text) => f.write_str(text)?,
                Part::Redacted => f.write_str("(sensitive)")?,
            }
        }
        Ok(())
    }
}

/// A text of a rule file as it is shown: in one line, without what would do something to a terminal.
pub fn clean(text: &str) -> String {
    without_controls(text).trim().to_owned()
}

/// The text without escape sequences and control characters; a line break becomes a space.
fn without_controls(text: &str) -> String {
    if !text.chars().any(does_something) {
        return text.to_owned();
    }
    let mut kept = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => skip_sequence(&mut chars),
            '\u{9b}' => skip_parameters(&mut chars),
            '\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}' if kept.ends_with(' ') => {}
            '\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}' => kept.push(' '),
            c if does_something(c) => {}
            c => kept.push(c),
        }
    }
    kept
}

/// Whether a character is more than a sign: controls, and what changes the direction of the text around it.
fn does_something(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{61c}' | '\u{feff}')
}

/// Skips what follows an escape character: `[31m`, `]0;title` up to its end, or one more character.
fn skip_sequence(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match chars.next_if(|c| !c.is_control()) {
        Some('[') => skip_parameters(chars),
        Some(']' | 'P' | 'X' | '^' | '_') => {
            while let Some(c) = chars.next() {
                match c {
                    '\u{7}' | '\u{9c}' => return,
                    '\u{1b}' => {
                        chars.next_if_eq(&'\\');
                        return;
                    }
                    _ => {}
                }
            }
        }
        Some(' '..='/') => {
            chars.next_if(char::is_ascii_graphic);
        }
        _ => {}
    }
}

fn skip_parameters(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    while chars.next_if(|c| matches!(c, ' '..='?')).is_some() {}
    chars.next_if(|c| matches!(c, '@'..='~'));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replace::testing::{fields, items};
    use groma_model::ty::Type;

    fn shown(value: &Value) -> String {
        Step::value(value).to_string()
    }

    #[test]
    fn values_are_shown_in_a_short_line() {
        assert_eq!(shown(&"a\nb\u{1b}".into()), r#""a\nb\x1b""#);
        assert_eq!(shown(&1.into()), "1");
        assert_eq!(shown(&Value::null(Type::String)), "null");
        assert_eq!(shown(&Value::dynamic()), "(known after apply)");
        assert_eq!(shown(&items([80, 443])), "[80, 443]");
        assert_eq!(shown(&items(1..9)), "[1, 2, 3, 4, 5, 6, … 8 in all]");
        assert_eq!(shown(&fields([("a b", 1.into()), ("env", items(["x"]))])), r#"{"a b" = 1, env = ["x"]}"#);
        assert_eq!(shown(&items([items([items([items([1])])])])), "[[[…]]]");
        assert_eq!(shown(&Value::empty_object()), "{}");
        let long = "ä".repeat(100);
        assert_eq!(shown(&Value::from(long.as_str())), format!("\"{}\"…", "ä".repeat(60)));
        let several = shown(&items([long.as_str(), long.as_str(), long.as_str()]));
        assert!(several.ends_with(", … 3 in all]") && several.chars().count() < 150, "{several}");
    }

    #[test]
    fn what_is_sensitive_is_not() {
        for mark in [Mark::Sensitive, Mark::Ephemeral] {
            let secret = Value::from("hunter2").mark(mark);
            assert_eq!(shown(&secret), "(sensitive)");
            assert_eq!(shown(&fields([("a", secret.clone())])), "(sensitive)");
            let step = Step::text("is ").and_values([&secret, &1.into()]);
            assert_eq!(step.to_string(), "is (sensitive), 1");
            assert!(step.is_redacted() && !format!("{step:?}").contains("hunter2"));
        }
    }

    #[test]
    fn texts_cannot_do_anything_to_a_terminal() {
        assert_eq!(clean("\u{1b}[31mred\u{1b}[0m\nnext  line "), "red next  line");
        assert_eq!(clean("\u{1b}]0;title\u{7}a\u{1b}]8;;x\u{1b}\\b\u{9b}1mc\u{7}\u{0}d\u{1b}(Be"), "abcde");
        assert_eq!(clean("a\r\n\tb\u{202e}c\u{2028}d\u{7f}"), "a bc d");
        assert_eq!(clean("\u{1b}"), "");
        assert_eq!(clean("\u{1b}["), "");
        assert_eq!(clean("plain – text"), "plain – text");
        assert_eq!(Step::text("a\u{1b}[1mb").to_string(), "ab");
    }
}
