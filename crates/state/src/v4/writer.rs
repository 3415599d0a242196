//! JSON text, written member by member, with two spaces of indentation or none, as Go's encoder lays it out.

use groma_model::codec::json::write_string;

use super::Layout;

/// A JSON text that grows.
pub(crate) struct Writer {
    out: String,
    layout: Layout,
    depth: usize,
    /// Whether the innermost object or array has nothing in it yet.
    empty: bool,
}

impl Writer {
    pub(crate) fn new(layout: Layout) -> Self {
        Self { out: String::new(), layout, depth: 0, empty: true }
    }

    pub(crate) fn finish(mut self) -> String {
        self.out.push('\n');
        self.out
    }

    /// An object whose members `write` adds.
    pub(crate) fn object(&mut self, write: impl FnOnce(&mut Self)) {
        self.nested('{', '}', write);
    }

    /// An array whose items `write` adds, each behind [`Self::item`].
    pub(crate) fn array(&mut self, write: impl FnOnce(&mut Self)) {
        self.nested('[', ']', write);
    }

    fn nested(&mut self, open: char, close: char, write: impl FnOnce(&mut Self)) {
        self.out.push(open);
        self.depth += 1;
        self.empty = true;
        write(self);
        self.depth -= 1;
        if !self.empty {
            self.new_line();
        }
        self.out.push(close);
        self.empty = false;
    }

    /// Begins an item of an array.
    pub(crate) fn item(&mut self) {
        if !self.empty {
            self.out.push(',');
        }
        self.new_line();
        self.empty = false;
    }

    /// Begins a member of an object.
    pub(crate) fn key(&mut self, name: &str) {
        self.item();
        write_string(&mut self.out, name);
        self.out.push(':');
        if self.layout == Layout::Indented {
            self.out.push(' ');
        }
    }

    pub(crate) fn text(&mut self, text: &str) {
        write_string(&mut self.out, text);
    }

    /// A number or a word.
    pub(crate) fn plain(&mut self, text: impl std::fmt::Display) {
        use std::fmt::Write as _;
        // Writing to a string cannot fail.
        let _ = write!(self.out, "{text}");
    }

    /// A value that is compact JSON already.
    pub(crate) fn raw(&mut self, json: &str) {
        match self.layout {
            Layout::Compact => self.out.push_str(json),
            Layout::Indented => self.indented(json),
        }
    }

    /// Compact JSON, laid out anew. Looks only at brackets, commas and colons outside of strings.
    fn indented(&mut self, json: &str) {
        let mut rest = json;
        while let Some(at) = rest.find(['{', '[', '}', ']', ',', ':', '"']) {
            self.out.push_str(&rest[..at]);
            let sign = rest.as_bytes()[at];
            rest = &rest[at + 1..];
            match sign {
                b'"' => {
                    let end = end_of_string(rest);
                    self.out.push('"');
                    self.out.push_str(&rest[..end]);
                    rest = &rest[end..];
                }
                b'{' | b'[' => {
                    self.out.push(char::from(sign));
                    if let Some(after) = rest.strip_prefix(['}', ']']) {
                        self.out.push(if sign == b'{' { '}' } else { ']' });
                        rest = after;
                    } else {
                        self.depth += 1;
                        self.new_line();
                    }
                }
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.new_line();
                    self.out.push(char::from(sign));
                }
                b',' => {
                    self.out.push(',');
                    self.new_line();
                }
                _ => self.out.push_str(": "),
            }
        }
        self.out.push_str(rest);
    }

    fn new_line(&mut self) {
        if self.layout == Layout::Indented {
            self.out.push('\n');
            for _ in 0..self.depth {
                self.out.push_str("  ");
            }
        }
    }
}

/// Where a string ends, its closing quote included. `text` begins behind the opening one.
fn end_of_string(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}
