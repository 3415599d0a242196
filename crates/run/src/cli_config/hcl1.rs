//! Reads the older form of HCL, and JSON: CLI configuration files are still written in these. Only the shape; what it
//! means is decided elsewhere.
//!
//! Places are lines and columns, never excerpts: such files hold tokens, and excerpts would show them.

use std::fmt;

/// How deep values may be nested.
const MAX_DEPTH: usize = 64;

/// A place in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// From 1.
    pub(super) line: u32,
    /// From 1, in characters.
    pub(super) column: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// One entry of an object: `key = value`, or a block with labels.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Item {
    /// The key, and the labels behind it.
    pub(super) keys: Vec<String>,
    /// What it holds.
    pub(super) value: Value,
    /// Whether there is an equals sign.
    pub(super) assigned: bool,
    /// Where it starts.
    pub(super) at: Place,
}

impl Item {
    /// The first key.
    pub(super) fn name(&self) -> &str {
        self.keys.first().map_or("", String::as_str)
    }
}

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Value {
    pub(super) kind: Kind,
    pub(super) at: Place,
}

/// What a value is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<Value>),
    Object(Vec<Item>),
}

/// A file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct File {
    pub(super) items: Vec<Item>,
    /// Whether it is written in JSON, which knows no labels.
    pub(super) is_json: bool,
}

/// Why a text cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("at {at}: {problem}")]
pub(super) struct ReadError {
    pub(super) at: Place,
    pub(super) problem: String,
}

/// Reads a file. What starts with a brace is JSON.
pub(super) fn read(text: &str) -> Result<File, ReadError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = Reader { rest: text, at: Place { line: 1, column: 1 } };
    reader.skip_space()?;
    if reader.peek() == Some('{') {
        let value = reader.value(0)?;
        reader.skip_space()?;
        if reader.peek().is_some() {
            return Err(reader.error("nothing may follow the closing brace"));
        }
        let items = if let Kind::Object(items) = value.kind { items } else { Vec::new() };
        return Ok(File { items, is_json: true });
    }
    Ok(File { items: reader.items(None, 0)?, is_json: false })
}

struct Reader<'a> {
    rest: &'a str,
    at: Place,
}

impl Reader<'_> {
    fn error(&self, problem: impl Into<String>) -> ReadError {
        ReadError { at: self.at, problem: problem.into() }
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.rest = &self.rest[c.len_utf8()..];
        if c == '\n' {
            self.at = Place { line: self.at.line + 1, column: 1 };
        } else {
            self.at.column += 1;
        }
        Some(c)
    }

    fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.next();
        }
        found
    }

    fn take_while(&mut self, test: impl Fn(char) -> bool) -> String {
        let mut taken = String::new();
        while let Some(c) = self.peek().filter(|c| test(*c)) {
            taken.push(c);
            self.next();
        }
        taken
    }

    /// Skips spaces, line breaks and comments.
    fn skip_space(&mut self) -> Result<(), ReadError> {
        loop {
            self.take_while(char::is_whitespace);
            if self.rest.starts_with('#') || self.rest.starts_with("//") {
                self.take_while(|c| c != '\n');
            } else if self.rest.starts_with("/*") {
                let unclosed = self.error("the comment is not closed");
                while !self.rest.starts_with("*/") {
                    self.next().ok_or_else(|| unclosed.clone())?;
                }
                self.next();
                self.next();
            } else {
                return Ok(());
            }
        }
    }

    /// Entries up to a closing brace, or to the end of the file.
    fn items(&mut self, close: Option<char>, depth: usize) -> Result<Vec<Item>, ReadError> {
        let mut items = Vec::new();
        loop {
            self.skip_space()?;
            match self.peek() {
                None if close.is_none() => return Ok(items),
                None => return Err(self.error("a closing brace is missing")),
                found if found == close => {
                    self.next();
                    return Ok(items);
                }
                Some(_) => items.push(self.item(depth)?),
            }
            self.skip_space()?;
            self.take(',');
        }
    }

    fn item(&mut self, depth: usize) -> Result<Item, ReadError> {
        let at = self.at;
        let mut keys = Vec::new();
        loop {
            self.skip_space()?;
            match self.peek() {
                Some('=' | ':') if !keys.is_empty() => {
                    self.next();
                    self.skip_space()?;
                    return Ok(Item { keys, value: self.value(depth + 1)?, assigned: true, at });
                }
                Some('{') if !keys.is_empty() => {
                    return Ok(Item { keys, value: self.value(depth + 1)?, assigned: false, at });
                }
                Some('"') => keys.push(self.quoted()?),
                Some(c) if is_word(c) => keys.push(self.take_while(is_word)),
                _ => return Err(self.error("expected a name, an equals sign or an opening brace")),
            }
        }
    }

    fn value(&mut self, depth: usize) -> Result<Value, ReadError> {
        if depth > MAX_DEPTH {
            return Err(self.error("values are nested too deeply"));
        }
        let at = self.at;
        let kind = match self.peek() {
            Some('{') => {
                self.next();
                Kind::Object(self.items(Some('}'), depth)?)
            }
            Some('[') => self.list(depth)?,
            Some('"') => Kind::Text(self.quoted()?),
            Some('<') if self.rest.starts_with("<<") => Kind::Text(self.heredoc()?),
            Some(c) if c == '-' || c == '+' || c.is_ascii_digit() => {
                Kind::Number(self.take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '.')))
            }
            Some(c) if is_word(c) => match self.take_while(is_word).as_str() {
                "true" => Kind::Bool(true),
                "false" => Kind::Bool(false),
                "null" => Kind::Null,
                other => return Err(ReadError { at, problem: format!("{other:?} is no value; texts need quotes") }),
            },
            _ => return Err(self.error("expected a value")),
        };
        Ok(Value { kind, at })
    }

    fn list(&mut self, depth: usize) -> Result<Kind, ReadError> {
        self.next();
        let mut elements = Vec::new();
        loop {
            self.skip_space()?;
            if self.take(']') {
                return Ok(Kind::List(elements));
            }
            elements.push(self.value(depth + 1)?);
            self.skip_space()?;
            if !self.take(',') && self.peek() != Some(']') {
                return Err(self.error("expected a comma or a closing bracket"));
            }
        }
    }

    fn quoted(&mut self) -> Result<String, ReadError> {
        let unclosed = self.error("the quotes are not closed");
        self.next();
        let mut text = String::new();
        loop {
            match self.next() {
                None | Some('\n') => return Err(unclosed),
                Some('"') => return Ok(text),
                Some('\\') => text.push(self.escape()?),
                Some(c) => text.push(c),
            }
        }
    }

    fn escape(&mut self) -> Result<char, ReadError> {
        let wrong = self.error("unknown escape sequence");
        match self.next() {
            Some('n') => Ok('\n'),
            Some('t') => Ok('\t'),
            Some('r') => Ok('\r'),
            Some('b') => Ok('\u{8}'),
            Some('f') => Ok('\u{c}'),
            Some(c @ ('"' | '\\' | '/')) => Ok(c),
            Some('u') => self.code_point(4).ok_or(wrong),
            Some('U') => self.code_point(8).ok_or(wrong),
            _ => Err(wrong),
        }
    }

    fn code_point(&mut self, digits: usize) -> Option<char> {
        let mut code = 0;
        for _ in 0..digits {
            code = code * 16 + self.next()?.to_digit(16)?;
        }
        char::from_u32(code)
    }

    fn heredoc(&mut self) -> Result<String, ReadError> {
        let unclosed = self.error("the end marker is missing");
        self.next();
        self.next();
        let indented = self.take('-');
        let marker = self.take_while(|c| c != '\n').trim().to_owned();
        self.next();
        let mut lines: Vec<String> = Vec::new();
        loop {
            if self.peek().is_none() || marker.is_empty() {
                return Err(unclosed);
            }
            let line = self.take_while(|c| c != '\n');
            if line.trim() == marker {
                break;
            }
            self.next();
            lines.push(line);
        }
        let width = |line: &String| line.len() - line.trim_start().len();
        let cut = if indented { lines.iter().map(width).min().unwrap_or(0) } else { 0 };
        Ok(lines.iter().flat_map(|line| [line.get(cut..).unwrap_or(""), "\n"]).collect())
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: &Value) -> &str {
        match &value.kind {
            Kind::Text(text) => text,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn both_forms_are_read() {
        let file = read("# c\nplugin_cache_dir = \"$HOME/x\" // y\ncredentials \"a.b\" { token = \"t\" }\n").unwrap();
        assert!(!file.is_json);
        assert_eq!(text(&file.items[0].value), "$HOME/x");
        assert_eq!(file.items[1].keys, ["credentials", "a.b"]);
        assert_eq!(file.items[1].at, Place { line: 3, column: 1 });
        let file = read("{\"credentials\": {\"a.b\": {\"token\": \"t\\u0041\"}}, \"x\": [1, true, null]}").unwrap();
        assert!(file.is_json);
        assert_eq!(file.items.len(), 2);
    }

    #[test]
    fn quoted_keys_and_heredocs_are_read() {
        let file = read("dev_overrides {\n  \"a/b\" = \"c\"\n}\nx = <<-EOT\n    a\n      b\n    EOT\n").unwrap();
        let Kind::Object(items) = &file.items[0].value.kind else { panic!() };
        assert_eq!(items[0].keys, ["a/b"]);
        assert_eq!(text(&file.items[1].value), "a\n  b\n");
        assert!(read("").unwrap().items.is_empty());
    }

    #[test]
    fn what_is_wrong_has_a_place() {
        let at = |text: &str| read(text).unwrap_err().at;
        assert_eq!(at("a = b"), Place { line: 1, column: 5 });
        assert_eq!(at("a {\n"), Place { line: 2, column: 1 });
        assert_eq!(at("\n  a = \"x\n"), Place { line: 2, column: 7 });
        assert!(read(&"[".repeat(100_000)).is_err());
        assert!(read(&format!("a = {}", "[".repeat(100_000))).is_err());
        assert!(read("a = <<\n").is_err());
        assert!(read("/* x").is_err());
    }
}
