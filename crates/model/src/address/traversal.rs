//! The syntax that all addresses share: a name, then `.name`, `[0]` and `["key"]` in any order.

use std::fmt;

use super::AddressError;
use super::key::quote;
use crate::number::Number;
use crate::text::Str;

/// A name and the steps from it, each with its place in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Traversal {
    /// The root name first, as an attribute. Never empty.
    steps: Vec<Step>,
}

/// One step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// What it is.
    pub kind: StepKind,
    /// Offset of its first byte.
    pub offset: usize,
}

/// What a step is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepKind {
    /// The root, or `.name`.
    Attr(Str),
    /// `[…]`
    Index(IndexKey),
}

/// What is in brackets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IndexKey {
    /// `[0]`
    Number(Number),
    /// `["a"]`
    String(Str),
}

impl Step {
    /// The name, unless it is an index.
    pub fn name(&self) -> Option<&Str> {
        match &self.kind {
            StepKind::Attr(name) => Some(name),
            StepKind::Index(_) => None,
        }
    }
}

impl Traversal {
    /// Puts steps together that were read elsewhere. The first one must be a name.
    pub fn from_root(steps: Vec<Step>) -> Traversal {
        debug_assert!(steps.first().is_some_and(|step| step.name().is_some()), "a traversal starts with a name");
        Self { steps }
    }

    /// Cuts a text into steps.
    pub fn parse(text: &str) -> Result<Traversal, AddressError> {
        Reader { text, at: 0 }.traversal()
    }

    /// All steps, the root first.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }
}

impl fmt::Display for Traversal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.steps.iter().enumerate() {
            match &step.kind {
                StepKind::Attr(name) if at == 0 => f.write_str(name)?,
                StepKind::Attr(name) => write!(f, ".{name}")?,
                StepKind::Index(IndexKey::Number(number)) => write!(f, "[{}]", number.format_g(Some(10)))?,
                StepKind::Index(IndexKey::String(key)) => write!(f, "[{}]", quote(key))?,
            }
        }
        Ok(())
    }
}

/// Whether a text is a name of the language: letters, digits, `_` and `-`, not starting with a digit or `-`.
pub fn is_identifier(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(starts_name) && chars.all(continues_name)
}

fn starts_name(c: char) -> bool {
    c == '_' || unicode_ident::is_xid_start(c)
}

fn continues_name(c: char) -> bool {
    c == '-' || unicode_ident::is_xid_continue(c)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn skip_space(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start_matches([' ', '\t']).len();
    }

    fn traversal(mut self) -> Result<Traversal, AddressError> {
        self.skip_space();
        let offset = self.at;
        let Some(root) = self.name() else {
            return Err(AddressError::new(offset, "Variable name required", "Must begin with a variable name."));
        };
        let mut steps = vec![Step { kind: StepKind::Attr(root), offset }];
        loop {
            self.skip_space();
            let offset = self.at;
            let kind = match self.peek() {
                None => return Ok(Traversal { steps }),
                Some('.') => self.attribute()?,
                Some('[') => StepKind::Index(self.index()?),
                Some(_) => {
                    let detail = "Expected an attribute access or an index operator.";
                    return Err(AddressError::new(offset, "Invalid character", detail));
                }
            };
            steps.push(Step { kind, offset });
        }
    }

    fn name(&mut self) -> Option<Str> {
        let rest = self.rest();
        let first = rest.chars().next().filter(|c| starts_name(*c))?;
        let tail = &rest[first.len_utf8()..];
        let length = first.len_utf8() + tail.find(|c| !continues_name(c)).unwrap_or(tail.len());
        self.at += length;
        Some(Str::from(&rest[..length]))
    }

    fn attribute(&mut self) -> Result<StepKind, AddressError> {
        self.at += 1;
        self.skip_space();
        let detail = match self.peek() {
            Some('*') => "Splat expressions (.*) may not be used here.",
            _ => "Dot must be followed by attribute name.",
        };
        let offset = self.at;
        self.name().map(StepKind::Attr).ok_or_else(|| AddressError::new(offset, "Attribute name required", detail))
    }

    fn index(&mut self) -> Result<IndexKey, AddressError> {
        self.at += 1;
        self.skip_space();
        let key = match self.peek() {
            Some('"') => IndexKey::String(self.string()?),
            Some('0'..='9') => IndexKey::Number(self.number()?),
            Some('*') => {
                let detail = "Splat expressions ([*]) may not be used here.";
                return Err(AddressError::new(self.at, "Attribute name required", detail));
            }
            _ => {
                let detail = "Index brackets must contain either a literal number or a literal string.";
                return Err(AddressError::new(self.at, "Index value required", detail));
            }
        };
        self.skip_space();
        if self.peek() != Some(']') {
            let detail = "Index key must be followed by a closing bracket.";
            return Err(AddressError::new(self.at, "Unclosed index brackets", detail));
        }
        self.at += 1;
        Ok(key)
    }

    fn number(&mut self) -> Result<Number, AddressError> {
        let rest = self.rest();
        let length = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '.').unwrap_or(rest.len());
        let number = Number::parse(&rest[..length]).filter(|_| !rest[..length].contains(['p', 'P']));
        let number = number.ok_or_else(|| {
            AddressError::new(
                self.at,
                "Invalid number literal",
                "Failed to recognize the value of this number literal.",
            )
        })?;
        self.at += length;
        Ok(number)
    }

    /// A string in quotes without anything to evaluate in it.
    fn string(&mut self) -> Result<Str, AddressError> {
        let start = self.at;
        self.at += 1;
        let mut text = String::new();
        loop {
            let Some(c) = self.peek() else {
                let detail = "There is no closing quote for this string.";
                return Err(AddressError::new(start, "Unterminated string literal", detail));
            };
            match c {
                '"' => {
                    self.at += 1;
                    return Ok(Str::from(text));
                }
                '\\' => text.push(self.escape()?),
                '\n' | '\r' => {
                    let detail = "A quoted string may not be split over multiple lines.";
                    return Err(AddressError::new(self.at, "Invalid multi-line string", detail));
                }
                '$' | '%' => self.template(c, &mut text)?,
                c => {
                    self.at += c.len_utf8();
                    text.push(c);
                }
            }
        }
    }

    /// `$${` stands for `${`, which alone would have to be evaluated; the same with `%`.
    fn template(&mut self, sign: char, text: &mut String) -> Result<(), AddressError> {
        let mut rest = self.rest().chars().skip(1);
        match (rest.next(), rest.next()) {
            (Some('{'), _) => {
                let detail = "A string literal cannot contain template sequences here.";
                Err(AddressError::new(self.at, "Invalid string literal", detail))
            }
            (Some(next), Some('{')) if next == sign => {
                text.push(sign);
                text.push('{');
                self.at += 3;
                Ok(())
            }
            _ => {
                text.push(sign);
                self.at += 1;
                Ok(())
            }
        }
    }

    fn escape(&mut self) -> Result<char, AddressError> {
        let start = self.at;
        let invalid = || {
            let detail = "A backslash must be followed by one of n, r, t, u, U, a quote or another backslash.";
            AddressError::new(start, "Invalid escape sequence", detail)
        };
        let letter = self.rest().chars().nth(1).ok_or_else(invalid)?;
        let digits = match letter {
            'u' => 4,
            'U' => 8,
            _ => 0,
        };
        self.at += 1 + letter.len_utf8();
        match letter {
            'n' => Ok('\n'),
            'r' => Ok('\r'),
            't' => Ok('\t'),
            '"' | '\\' => Ok(letter),
            'u' | 'U' => {
                let code = self.rest().get(..digits).filter(|code| code.bytes().all(|byte| byte.is_ascii_hexdigit()));
                let code = code.and_then(|code| u32::from_str_radix(code, 16).ok()).and_then(char::from_u32);
                self.at += digits;
                code.ok_or_else(invalid)
            }
            _ => Err(invalid()),
        }
    }
}
