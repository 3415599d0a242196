//! Writing YAML in block style: strings and keys in double quotes, texts of several lines as literal blocks, lines folded
//! after column 80 where a quoted text has a space.

use std::fmt::Write as _;

use groma_model::value::{Value, ValueKind};

/// Quoted texts are continued on the next line at the first space after this column.
const WIDTH: usize = 80;
const INDENT: usize = 2;
/// Longer keys are written after a question mark.
const MAX_SIMPLE_KEY: usize = 128;

/// A whole document with this value.
pub(super) fn document(value: &Value) -> String {
    let mut writer = Writer { out: String::new(), column: 0, indent: None, after_space: true, only_indent: true };
    writer.node(value, Place::Root);
    writer.new_line();
    if !matches!(
        value.kind(),
        ValueKind::String(_)
            | ValueKind::List(_)
            | ValueKind::Set(_)
            | ValueKind::Map(_)
            | ValueKind::Tuple(_)
            | ValueKind::Object(_)
    ) {
        // Nothing else tells where a plain scalar ends.
        writer.out.push_str("...\n");
    }
    writer.out
}

/// Where a node stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Root,
    Item,
    /// A key before a colon on the same line.
    SimpleKey,
    /// A key after a question mark, or a value.
    Mapping,
}

struct Writer {
    out: String,
    column: usize,
    indent: Option<usize>,
    /// Whether the last thing written was white space.
    after_space: bool,
    /// Whether there is nothing but indentation and indicators on this line.
    only_indent: bool,
}

impl Writer {
    fn node(&mut self, value: &Value, place: Place) {
        match value.kind() {
            ValueKind::Null | ValueKind::Unknown(_) => self.plain("null"),
            ValueKind::Bool(true) => self.plain("true"),
            ValueKind::Bool(false) => self.plain("false"),
            ValueKind::Number(number) => self.plain(&number.to_string()),
            ValueKind::String(text) => self.text(text, place),
            ValueKind::List(items) | ValueKind::Set(items) | ValueKind::Tuple(items) => self.sequence(items, place),
            ValueKind::Map(entries) | ValueKind::Object(entries) => {
                if entries.is_empty() {
                    self.indicator("{}", true, false);
                    return;
                }
                let before = self.deeper(false);
                for (name, item) in entries.iter() {
                    self.entry(name, item);
                }
                self.indent = before;
            }
        }
    }

    fn sequence(&mut self, items: &[Value], place: Place) {
        if items.is_empty() {
            self.indicator("[]", true, false);
            return;
        }
        // Under a key, the dashes stand below its first letter.
        let before = self.deeper(place == Place::Mapping && !self.only_indent);
        for item in items {
            self.new_line();
            self.indicator("-", true, true);
            self.node(item, Place::Item);
        }
        self.indent = before;
    }

    fn entry(&mut self, name: &str, item: &Value) {
        self.new_line();
        if name.len() <= MAX_SIMPLE_KEY && !name.contains(is_break) {
            self.text(name, Place::SimpleKey);
            self.indicator(":", false, false);
        } else {
            self.indicator("?", true, true);
            self.text(name, Place::Mapping);
            self.new_line();
            self.indicator(":", true, true);
        }
        self.node(item, Place::Mapping);
    }

    /// Indents what follows. Gives the indentation before.
    fn deeper(&mut self, not_at_all: bool) -> Option<usize> {
        let before = self.indent;
        self.indent = match before {
            None => Some(0),
            Some(indent) if not_at_all => Some(indent),
            Some(indent) => Some(indent + INDENT),
        };
        before
    }

    fn put(&mut self, c: char) {
        self.out.push(c);
        self.column += 1;
    }

    fn put_all(&mut self, text: &str) {
        self.out.push_str(text);
        self.column += text.chars().count();
    }

    fn line_break(&mut self) {
        self.out.push('\n');
        self.column = 0;
    }

    /// Goes to the indentation of a new line, unless it is there already.
    fn new_line(&mut self) {
        let indent = self.indent.unwrap_or(0);
        if !self.only_indent || self.column > indent || (self.column == indent && !self.after_space) {
            self.line_break();
        }
        while self.column < indent {
            self.put(' ');
        }
        self.after_space = true;
        self.only_indent = true;
    }

    fn indicator(&mut self, text: &str, needs_space: bool, is_indent: bool) {
        if needs_space && !self.after_space {
            self.put(' ');
        }
        self.put_all(text);
        self.after_space = false;
        self.only_indent &= is_indent;
    }

    fn plain(&mut self, text: &str) {
        if !self.after_space {
            self.put(' ');
        }
        self.put_all(text);
        self.after_space = false;
        self.only_indent = false;
    }

    fn text(&mut self, text: &str, place: Place) {
        let before = self.indent;
        self.indent = Some(before.map_or(INDENT, |indent| indent + INDENT));
        if text.contains('\n') && place != Place::SimpleKey && fits_block(text) {
            self.literal(text);
        } else {
            self.quoted(text, place != Place::SimpleKey);
        }
        self.indent = before;
    }

    fn literal(&mut self, text: &str) {
        self.indicator("|", true, false);
        if text.starts_with(|c| c == ' ' || is_break(c)) {
            self.put_all("2");
        }
        let mut from_end = text.chars().rev();
        match (from_end.next().is_some_and(is_break), from_end.next()) {
            (false, _) => self.put('-'),
            (true, None) => self.put('+'),
            (true, Some(before)) if is_break(before) => self.put('+'),
            (true, Some(_)) => {}
        }
        self.line_break();
        self.after_space = true;
        self.only_indent = true;
        let mut at_start = true;
        for c in text.chars() {
            if is_break(c) {
                self.out.push(c);
                self.column = 0;
                self.only_indent = true;
                at_start = true;
                continue;
            }
            if at_start {
                self.new_line();
            }
            self.put(c);
            self.only_indent = false;
            at_start = false;
        }
    }

    fn quoted(&mut self, text: &str, may_fold: bool) {
        self.indicator("\"", true, false);
        let escape_all = text.starts_with('\u{feff}');
        let mut after_space = false;
        for (at, c) in text.char_indices() {
            if escape_all || !is_printable(c) || is_break(c) || matches!(c, '"' | '\\') {
                self.escape(c);
                after_space = false;
            } else if c == ' ' {
                let inside = at > 0 && at < text.len() - 1;
                if may_fold && !after_space && self.column > WIDTH && inside {
                    self.new_line();
                    if text[at + 1..].starts_with(' ') {
                        self.put('\\');
                    }
                } else {
                    self.put(c);
                }
                after_space = true;
            } else {
                self.put(c);
                after_space = false;
            }
        }
        self.indicator("\"", false, false);
    }

    fn escape(&mut self, c: char) {
        let mut escaped = String::from("\\");
        let code = c as u32;
        // Writing to a String cannot fail.
        let _ = match c {
            '\0' => write!(escaped, "0"),
            '\u{7}' => write!(escaped, "a"),
            '\u{8}' => write!(escaped, "b"),
            '\t' => write!(escaped, "t"),
            '\n' => write!(escaped, "n"),
            '\u{b}' => write!(escaped, "v"),
            '\u{c}' => write!(escaped, "f"),
            '\r' => write!(escaped, "r"),
            '\u{1b}' => write!(escaped, "e"),
            '"' | '\\' => write!(escaped, "{c}"),
            '\u{85}' => write!(escaped, "N"),
            '\u{a0}' => write!(escaped, "_"),
            '\u{2028}' => write!(escaped, "L"),
            '\u{2029}' => write!(escaped, "P"),
            _ if code <= 0xff => write!(escaped, "x{code:02X}"),
            _ if code <= 0xffff => write!(escaped, "u{code:04X}"),
            _ => write!(escaped, "U{code:08X}"),
        };
        self.put_all(&escaped);
    }
}

fn is_break(c: char) -> bool {
    matches!(c, '\r' | '\n' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// What may stand in a document as it is. Characters beyond the basic plane may not.
fn is_printable(c: char) -> bool {
    matches!(c, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}') && c != '\u{feff}'
}

/// Whether a text can be written as a block: no space at the end of it or before a line break, nothing to escape.
fn fits_block(text: &str) -> bool {
    let mut after_space = false;
    for c in text.chars() {
        if !is_printable(c) || (after_space && is_break(c)) {
            return false;
        }
        after_space = c == ' ';
    }
    !after_space
}
