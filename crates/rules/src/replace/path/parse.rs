//! Reading a path: `name(.name | [int] | ["key"] | [*])*`, and the old `.0` for an index.

use groma_model::address::is_identifier;
use groma_model::diag::Diagnostic;
use groma_model::span::Span;
use groma_model::text::Str;

use super::{FieldPath, FieldStep, LastPlace, at_text};
use crate::replace::problem::Code;

/// No path is that long; what is, is a mistake.
const LONGEST: usize = 1024;

/// Why a text is no path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathProblem {
    /// Where in the text, in bytes.
    pub offset: usize,
    /// What is wrong, as a sentence.
    pub message: String,
}

impl PathProblem {
    /// As users are told. `place` is where the text stands, with its quotes.
    pub fn diagnostic(&self, text: &str, place: Option<Span>) -> Diagnostic {
        let detail = format!(
            "{} A field is written as a name, followed by further names, indexes and keys: name, disk[0].source, labels[\"env\"], nic[*].ip.",
            self.message
        );
        let diagnostic = Code(1103).error("Invalid field", detail);
        let end = text.get(self.offset..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8) + self.offset;
        match place {
            Some(place) => at_text(diagnostic, place, text, (self.offset, end)),
            None => diagnostic,
        }
    }
}

impl FieldPath {
    /// Reads a path. `place` is where it stands, with its quotes.
    pub fn parse(text: &str, place: Option<Span>) -> Result<FieldPath, PathProblem> {
        if text.len() > LONGEST {
            let end = text.floor_char_boundary(LONGEST);
            return Err(problem(end, format!("A field must not be longer than {LONGEST} bytes.")));
        }
        let mut path = FieldPath {
            text: text.into(),
            place,
            steps: Vec::new(),
            ranges: Vec::new(),
            legacy: Vec::new(),
            is_bare: false,
            place_of_first: LastPlace::default(),
        };
        let mut at = 0;
        while at < text.len() || at == 0 {
            let (step, end) = next_step(text, at, &mut path)?;
            path.steps.push(step);
            path.ranges.push((at, end));
            at = end;
        }
        Ok(path)
    }
}

fn problem(offset: usize, message: impl Into<String>) -> PathProblem {
    PathProblem { offset, message: message.into() }
}

/// The step at an offset, and where it ends.
fn next_step(text: &str, at: usize, path: &mut FieldPath) -> Result<(FieldStep, usize), PathProblem> {
    let rest = &text[at..];
    if at == 0 {
        let (name, end) = name(text, 0)?;
        return Ok((FieldStep::Name(name), end));
    }
    if let Some(after) = rest.strip_prefix('.') {
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        if digits > 0 {
            path.legacy.push(path.steps.len());
            let index = index(&after[..digits], at + 1)?;
            return Ok((FieldStep::Index(index), at + 1 + digits));
        }
        let (name, end) = name(text, at + 1)?;
        return Ok((FieldStep::Name(name), end));
    }
    if rest.starts_with('[') {
        return bracket(text, at);
    }
    Err(problem(at, format!("Here must be \".\" or \"[\", not {}.", found(rest))))
}

/// What stands at the start of a text, in words.
fn found(rest: &str) -> String {
    rest.chars().next().map_or_else(|| "the end".to_owned(), |c| format!("{c:?}"))
}

fn name(text: &str, at: usize) -> Result<(Str, usize), PathProblem> {
    let rest = &text[at..];
    let length = rest.find(['.', '[']).unwrap_or(rest.len());
    let name = &rest[..length];
    if is_identifier(name) {
        return Ok((Str::from(name), at + length));
    }
    let first_bad = name.char_indices().find(|(from, c)| !is_identifier(&name[..from + c.len_utf8()]));
    let offset = at + first_bad.map_or(0, |(from, _)| from);
    Err(problem(offset, format!("Here must be the name of an attribute or block, not {}.", found(&text[offset..]))))
}

fn index(digits: &str, at: usize) -> Result<u64, PathProblem> {
    digits.parse().map_err(|_| problem(at, "This index is too large."))
}

fn bracket(text: &str, at: usize) -> Result<(FieldStep, usize), PathProblem> {
    let inside = &text[at + 1..];
    let digits = inside.bytes().take_while(u8::is_ascii_digit).count();
    let (step, length) = if inside.starts_with('*') {
        (FieldStep::Every, 1)
    } else if digits > 0 {
        (FieldStep::Index(index(&inside[..digits], at + 1)?), digits)
    } else if inside.starts_with('"') {
        let (key, length) = quoted(inside, at + 1)?;
        (FieldStep::Key(Str::from(key)), length)
    } else {
        let expected = "Here must be an index, a key in quotes or \"*\"";
        return Err(problem(at + 1, format!("{expected}, not {}.", found(inside))));
    };
    let end = at + 1 + length;
    match text[end..].strip_prefix(']') {
        Some(_) => Ok((step, end + 1)),
        None => Err(problem(end, format!("Here must be \"]\", not {}.", found(&text[end..])))),
    }
}

/// A text in quotes, and how long it is with them.
fn quoted(text: &str, at: usize) -> Result<(String, usize), PathProblem> {
    let mut key = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((from, c)) = chars.next() {
        match c {
            '"' => return Ok((key, from + 1)),
            '\\' => match chars.next() {
                Some((_, c @ ('"' | '\\'))) => key.push(c),
                Some((_, 'n')) => key.push('\n'),
                Some((_, 't')) => key.push('\t'),
                Some((_, 'r')) => key.push('\r'),
                _ => return Err(problem(at + from, "Behind a backslash must be a quote, a backslash, n, r or t.")),
            },
            c => key.push(c),
        }
    }
    Err(problem(at, "This key has no closing quote."))
}
