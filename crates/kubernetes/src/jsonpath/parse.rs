//! Reading paths.

use super::{Filter, JsonPath, NoPath, Operand, Operator, Part, Wanted};
use crate::Json;
use crate::path::Literal;

/// Longer paths are not read.
const MAX_LENGTH: usize = 4096;
/// How deep filters may stand in filters.
const MAX_DEPTH: usize = 8;
/// What ends a name that is not in quotes.
const NO_NAME: &str = ".[]{}()'\"=!<>,?*&|;";

/// Reads a text that is one path.
pub(super) fn whole(text: &str) -> Result<Vec<Part>, NoPath> {
    let mut reader = Reader { chars: text.chars().collect(), at: 0, depth: 0 };
    if reader.chars.len() > MAX_LENGTH {
        return Err(NoPath { what: format!("the path is longer than {MAX_LENGTH} characters"), at: MAX_LENGTH });
    }
    reader.skip_spaces();
    let in_braces = reader.take('{');
    let parts = reader.path(true)?;
    reader.skip_spaces();
    let is_closed = !in_braces || reader.take('}');
    reader.skip_spaces();
    match reader.peek() {
        None if is_closed => Ok(parts),
        None => Err(reader.error("the closing } is missing here")),
        Some('{') => Err(reader.error("one path is expected, and another begins here")),
        Some(c) => {
            Err(reader.error(format!("{c:?} is not expected here; names with it must be quoted, as in ['a{c}b']")))
        }
    }
}

struct Reader {
    chars: Vec<char>,
    at: usize,
    depth: usize,
}

impl Reader {
    /// A path up to what cannot be part of it. `bare`: it may begin with a name.
    fn path(&mut self, bare: bool) -> Result<Vec<Part>, NoPath> {
        let mut parts = Vec::new();
        self.skip_spaces();
        let from_root = matches!(self.peek(), Some('$' | '@'));
        if from_root {
            self.at += 1;
        }
        let mut may_be_bare = bare && !from_root;
        loop {
            match self.peek() {
                Some('.') => self.after_dot(&mut parts)?,
                Some('[') => {
                    self.at += 1;
                    parts.push(self.bracket()?);
                }
                Some('*') if may_be_bare => {
                    self.at += 1;
                    parts.push(Part::All);
                }
                Some(c) if may_be_bare && is_name(c) => parts.push(Part::Field(self.name()?)),
                _ => break,
            }
            may_be_bare = false;
        }
        Ok(parts)
    }

    fn after_dot(&mut self, parts: &mut Vec<Part>) -> Result<(), NoPath> {
        let is_first = parts.is_empty();
        self.at += 1;
        if self.take('.') {
            parts.push(Part::Below);
        }
        match self.peek() {
            Some('*') => {
                self.at += 1;
                parts.push(Part::All);
            }
            // The caller goes on with it.
            Some('[') => {}
            Some(c) if is_name(c) => parts.push(Part::Field(self.name()?)),
            Some('.') => return Err(self.error("there are too many dots")),
            // `{.}` is the object itself.
            _ if is_first && parts.is_empty() => {}
            _ => return Err(self.error("a name is missing after the dot")),
        }
        Ok(())
    }

    fn name(&mut self) -> Result<String, NoPath> {
        let mut name = String::new();
        while let Some(c) = self.peek().filter(|c| is_name(*c)) {
            self.at += 1;
            if c == '\\' {
                let Some(escaped) = self.next() else { return Err(self.error("a character is missing after \\")) };
                name.push(escaped);
            } else {
                name.push(c);
            }
        }
        Ok(name)
    }

    /// What is in brackets, with the closing one.
    fn bracket(&mut self) -> Result<Part, NoPath> {
        self.skip_spaces();
        if self.take('?') {
            let filter = self.filter()?;
            self.expect(']', "the ] after the filter is missing")?;
            return Ok(Part::Filter(filter));
        }
        if self.take('=') {
            let value = self.json_value()?;
            self.expect(']', "a ] is missing here")?;
            return Ok(Part::Value(Literal::of(&value)));
        }
        let mut parts = Vec::new();
        let mut keys = Vec::new();
        loop {
            self.skip_spaces();
            match self.entry()? {
                Entry::Part(part) => parts.push(part),
                Entry::Key(name, wanted) => keys.push((name, wanted)),
            }
            self.skip_spaces();
            if !self.take(',') {
                break;
            }
        }
        self.expect(']', "a ] is missing here")?;
        match (parts.pop(), keys.is_empty()) {
            (None, _) => Ok(Part::Key(keys)),
            (Some(_), false) => Err(self.error("keys with values and other steps cannot stand in the same brackets")),
            (Some(part), true) if parts.is_empty() => Ok(part),
            (Some(part), true) => {
                parts.push(part);
                Ok(Part::Union(parts))
            }
        }
    }

    /// One of what stands in brackets, between commas.
    fn entry(&mut self) -> Result<Entry, NoPath> {
        match self.peek() {
            Some('*') => {
                self.at += 1;
                Ok(Entry::Part(Part::All))
            }
            Some('\'' | '"') => {
                let name = self.quoted()?;
                self.skip_spaces();
                if self.take('=') { self.wanted(name) } else { Ok(Entry::Part(Part::Field(name))) }
            }
            Some('-' | ':' | '0'..='9') => self.position().map(Entry::Part),
            Some(c) if is_name(c) => {
                let start = self.at;
                let name = self.name()?;
                self.skip_spaces();
                if !self.take('=') {
                    self.at = start;
                    return Err(self.error(format!("a key in brackets must be quoted, as in ['{name}']")));
                }
                self.wanted(name)
            }
            _ => Err(self.error("an index, a quoted key, * or a filter ?(...) is expected in the brackets")),
        }
    }

    /// What a key must be, after the `=`.
    fn wanted(&mut self, name: String) -> Result<Entry, NoPath> {
        // Some write it as they would in a filter.
        self.take('=');
        self.skip_spaces();
        if matches!(self.peek(), Some('\'' | '"')) {
            let text = self.quoted()?;
            return Ok(Entry::Key(name, Wanted::Exactly(Literal::text(&text))));
        }
        let mut text = String::new();
        while let Some(c) = self.peek().filter(|c| !",]".contains(*c)) {
            self.at += 1;
            text.push(c);
        }
        match text.trim() {
            "" => Err(self.error("a value is missing after the =")),
            text => Ok(Entry::Key(name, Wanted::Written(text.to_owned()))),
        }
    }

    /// An index or a slice.
    fn position(&mut self) -> Result<Part, NoPath> {
        let start = self.integer()?;
        if !self.take(':') {
            return start.map(Part::Index).ok_or_else(|| self.error("a number is expected"));
        }
        let end = self.integer()?;
        let step = if self.take(':') { self.integer()?.unwrap_or(1) } else { 1 };
        if step < 1 {
            return Err(self.error("the step of a slice must be at least 1"));
        }
        Ok(Part::Slice { start, end, step })
    }

    fn integer(&mut self) -> Result<Option<i64>, NoPath> {
        self.skip_spaces();
        let start = self.at;
        let mut text = String::new();
        while let Some(c) = self.peek().filter(|c| c.is_ascii_digit() || (*c == '-' && text.is_empty())) {
            self.at += 1;
            text.push(c);
        }
        self.skip_spaces();
        if text.is_empty() {
            return Ok(None);
        }
        text.parse().map(Some).map_err(|_| NoPath { what: format!("{text:?} is no index"), at: start + 1 })
    }

    /// A condition, with or without parentheses, after the question mark.
    fn filter(&mut self) -> Result<Filter, NoPath> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error(format!("filters stand in each other more than {MAX_DEPTH} deep")));
        }
        self.skip_spaces();
        let in_parentheses = self.take('(');
        let left = self.operand()?;
        self.skip_spaces();
        let compared = match self.operator()? {
            None => None,
            Some(operator) => Some((operator, self.operand()?)),
        };
        self.skip_spaces();
        if matches!(self.peek(), Some('&' | '|')) {
            return Err(self.error("a filter has one condition; && and || are not part of kubectl's JSONPath"));
        }
        if in_parentheses {
            self.expect(')', "the ) of the filter is missing")?;
        }
        self.skip_spaces();
        self.depth -= 1;
        Ok(Filter { left, compared })
    }

    fn operator(&mut self) -> Result<Option<Operator>, NoPath> {
        let Some(first) = self.peek().filter(|c| "=!<>".contains(*c)) else { return Ok(None) };
        self.at += 1;
        let or_equal = self.take('=');
        match (first, or_equal) {
            ('=', true) => Ok(Some(Operator::Equal)),
            ('!', true) => Ok(Some(Operator::NotEqual)),
            ('<', false) => Ok(Some(Operator::Less)),
            ('<', true) => Ok(Some(Operator::LessOrEqual)),
            ('>', false) => Ok(Some(Operator::Greater)),
            ('>', true) => Ok(Some(Operator::GreaterOrEqual)),
            _ => Err(self.error("conditions are ==, !=, <, <=, > and >=")),
        }
    }

    fn operand(&mut self) -> Result<Operand, NoPath> {
        self.skip_spaces();
        match self.peek() {
            Some('@' | '.') => Ok(Operand::Path(JsonPath { parts: self.path(false)? })),
            Some('$') => Err(self.error("a filter looks at the element, @, and not at the whole object")),
            Some('\'' | '"') => self.quoted().map(|text| Operand::Literal(Json::from(text))),
            _ => self.bare_operand(),
        }
    }

    /// A number, `true`, `false` or `null`.
    fn bare_operand(&mut self) -> Result<Operand, NoPath> {
        let start = self.at;
        let mut text = String::new();
        while let Some(c) = self.peek().filter(|c| c.is_ascii_alphanumeric() || "+-._".contains(*c)) {
            self.at += 1;
            text.push(c);
        }
        serde_json::from_str(&text).map(Operand::Literal).map_err(|_| {
            let what = if text.is_empty() {
                "@.field or a value is expected".to_owned()
            } else {
                format!("texts must be quoted, as in '{text}'")
            };
            NoPath { what, at: start + 1 }
        })
    }

    /// JSON up to the closing bracket.
    fn json_value(&mut self) -> Result<Json, NoPath> {
        let rest: String = self.chars.get(self.at..).unwrap_or_default().iter().collect();
        let mut values = serde_json::Deserializer::from_str(&rest).into_iter::<Json>();
        match values.next() {
            Some(Ok(json)) => {
                let taken = rest.get(..values.byte_offset()).unwrap_or_default();
                self.at += taken.chars().count();
                Ok(json)
            }
            _ => Err(self.error("a value is expected after the =, as in [=\"text\"]")),
        }
    }

    fn quoted(&mut self) -> Result<String, NoPath> {
        let start = self.at;
        let quote = self.next();
        let mut text = String::new();
        loop {
            match self.next() {
                None => return Err(NoPath { what: "the closing quote is missing".into(), at: start + 1 }),
                c if c == quote => return Ok(text),
                Some('\\') => text.push(self.escaped()?),
                Some(c) => text.push(c),
            }
        }
    }

    /// What comes after a backslash in quotes.
    fn escaped(&mut self) -> Result<char, NoPath> {
        Ok(match self.next() {
            Some('n') => '\n',
            Some('t') => '\t',
            Some('r') => '\r',
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('u') => {
                let digits: String = self.chars.get(self.at..self.at + 4).unwrap_or_default().iter().collect();
                let found = u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32);
                let Some(c) = found else {
                    return Err(self.error("four digits of a character are expected after \\u"));
                };
                self.at += 4;
                c
            }
            Some(c) => c,
            None => return Err(self.error("a character is missing after \\")),
        })
    }

    fn expect(&mut self, wanted: char, what: &str) -> Result<(), NoPath> {
        self.skip_spaces();
        if self.take(wanted) { Ok(()) } else { Err(self.error(what)) }
    }

    fn skip_spaces(&mut self) {
        while self.peek().is_some_and(char::is_whitespace) {
            self.at += 1;
        }
    }

    fn take(&mut self, wanted: char) -> bool {
        let there = self.peek() == Some(wanted);
        self.at += usize::from(there);
        there
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        Some(c)
    }

    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn error(&self, what: impl Into<String>) -> NoPath {
        NoPath { what: what.into(), at: self.at + 1 }
    }
}

enum Entry {
    Part(Part),
    Key(String, Wanted),
}

fn is_name(c: char) -> bool {
    !c.is_whitespace() && !NO_NAME.contains(c)
}
