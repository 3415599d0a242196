//! Finding the verbs in a format string.

use groma_model::value::{Value, go_quote};

use super::super::FunctionError;
use super::render::render;

/// Fields cannot be made wider, nor numbers longer, than this.
const MAX_FIELD: usize = 1_000_000;

/// One `%…` of a format string.
#[derive(Debug, Default)]
pub(super) struct Verb<'a> {
    /// As written.
    pub(super) raw: &'a str,
    /// Where it begins.
    pub(super) offset: usize,
    /// The argument it takes, from 1.
    pub(super) argument: usize,
    /// Its letter.
    pub(super) letter: char,
    pub(super) zero: bool,
    pub(super) sharp: bool,
    pub(super) plus: bool,
    pub(super) minus: bool,
    pub(super) space: bool,
    pub(super) width: Option<usize>,
    pub(super) precision: Option<usize>,
}

impl Verb<'_> {
    /// What is wrong with the value for this verb.
    pub(super) fn unsupported(&self, problem: impl std::fmt::Display) -> FunctionError {
        FunctionError::new(format!("unsupported value for {} at {}: {problem}", go_quote(self.raw), self.offset))
    }
}

/// Fills the verbs of a format string with values. `values` are the arguments after the format itself.
pub(super) fn format(format: &str, values: &[Value]) -> Result<String, FunctionError> {
    let mut out = String::with_capacity(format.len());
    let mut rest = format;
    let mut next = 1;
    let mut highest = 0;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        let offset = format.len() - rest.len() + at;
        if let Some(after) = rest[at..].strip_prefix("%%") {
            out.push('%');
            rest = after;
            continue;
        }
        let verb = Scanner { format, at: offset + 1 }.verb(offset, next)?;
        rest = &format[offset + verb.raw.len()..];
        highest = highest.max(verb.argument);
        let Some(value) = values.get(verb.argument - 1) else {
            return Err(FunctionError::new(format!(
                "not enough arguments for {} at {}: need index {} but have {} total",
                go_quote(verb.raw),
                verb.offset,
                verb.argument,
                values.len()
            )));
        };
        render(&verb, value, &mut out)?;
        next = verb.argument + 1;
    }
    out.push_str(rest);
    match (highest, values.len()) {
        (0, 1..) => Err(FunctionError::arg(1, "too many arguments; no verbs in format string")),
        (used, given) if used < given => {
            Err(FunctionError::arg(used + 1, format!("too many arguments; only {used} used by format string")))
        }
        _ => Ok(out),
    }
}

struct Scanner<'a> {
    format: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    /// Flags, width, precision, argument index and letter, in that order.
    fn verb(mut self, offset: usize, next_argument: usize) -> Result<Verb<'a>, FunctionError> {
        let mut verb = Verb { offset, argument: next_argument, ..Verb::default() };
        while let Some(flag) = self.peek() {
            match flag {
                b'0' => verb.zero = true,
                b'#' => verb.sharp = true,
                b'-' => verb.minus = true,
                b'+' => verb.plus = true,
                b' ' => verb.space = true,
                _ => break,
            }
            self.at += 1;
        }
        if matches!(self.peek(), Some(b'1'..=b'9')) {
            verb.width = Some(self.digits()?);
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            verb.precision = Some(self.digits()?);
        }
        if self.peek() == Some(b'[') {
            self.at += 1;
            if !matches!(self.peek(), Some(b'1'..=b'9')) {
                return Err(self.unexpected());
            }
            verb.argument = self.digits()?;
            if self.peek() != Some(b']') {
                return Err(self.unexpected());
            }
            self.at += 1;
        }
        match self.peek() {
            Some(letter) if letter.is_ascii_alphabetic() => {
                verb.letter = char::from(letter);
                verb.raw = &self.format[offset..=self.at];
                Ok(verb)
            }
            _ => Err(self.unexpected()),
        }
    }

    fn peek(&self) -> Option<u8> {
        self.format.as_bytes().get(self.at).copied()
    }

    /// Any number of digits; none are zero.
    fn digits(&mut self) -> Result<usize, FunctionError> {
        let mut number = 0usize;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            number = number.saturating_mul(10).saturating_add(usize::from(digit - b'0'));
            self.at += 1;
        }
        if number > MAX_FIELD {
            return Err(FunctionError::new(format!("number too large in format string before offset {}", self.at)));
        }
        Ok(number)
    }

    fn unexpected(&self) -> FunctionError {
        match self.format[self.at..].chars().next() {
            None => FunctionError::new(format!("invalid format string starting at offset {}", self.at)),
            Some(c) => {
                let quoted = quote_char(c);
                FunctionError::new(format!("unrecognized format character {quoted} at offset {}", self.at))
            }
        }
    }
}

/// A character in single quotes, escaped as Go's `%q` does.
pub(in super::super) fn quote_char(c: char) -> String {
    match c {
        '\'' => r"'\''".into(),
        '"' => "'\"'".into(),
        _ => {
            let quoted = go_quote(c.encode_utf8(&mut [0; 4]));
            format!("'{}'", &quoted[1..quoted.len() - 1])
        }
    }
}
