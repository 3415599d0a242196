//! JSON text to a tree that borrows from it. Numbers stay text and duplicate names stay, so that readers can decide.

use std::borrow::Cow;

use super::super::{CodecError, Depth};
use super::write_string;
use crate::ty::Type;

/// A JSON document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Json<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number as it was written.
    Number(&'a str),
    /// A string, unescaped.
    String(Cow<'a, str>),
    /// An array.
    Array(Vec<Json<'a>>),
    /// An object; names in the order of the text, possibly more than once.
    Object(Vec<(Cow<'a, str>, Json<'a>)>),
}

impl<'a> Json<'a> {
    /// Reads a whole text. Strict: no comments, no trailing commas, nothing behind the document.
    pub fn parse(text: &'a str) -> Result<Json<'a>, CodecError> {
        let mut reader = Reader { text, at: 0 };
        let json = reader.value(Depth::default())?;
        reader.skip_space();
        if reader.at < text.len() {
            return Err(reader.unexpected("after top-level value"));
        }
        Ok(json)
    }

    /// The last member of that name, which is the one that counts.
    pub fn get(&self, name: &str) -> Option<&Json<'a>> {
        match self {
            Json::Object(members) => members.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value),
            _ => None,
        }
    }
}

impl Json<'_> {
    /// The document as text, without spaces.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) {
        match self {
            Json::Null => out.push_str("null"),
            Json::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Json::Number(text) => out.push_str(text),
            Json::String(text) => write_string(out, text),
            Json::Array(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    item.write(out);
                }
                out.push(']');
            }
            Json::Object(members) => {
                out.push('{');
                for (at, (name, value)) in members.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    write_string(out, name);
                    out.push(':');
                    value.write(out);
                }
                out.push('}');
            }
        }
    }

    /// Drops members of objects that a type does not have. Says whether there were any.
    pub fn retain_known(&mut self, ty: &Type) -> bool {
        match (self, ty) {
            (Json::Object(members), Type::Object(object)) => {
                let before = members.len();
                members.retain(|(name, _)| object.get(name).is_some());
                let mut dropped = members.len() < before;
                for (name, value) in members {
                    dropped |= object.get(name).is_some_and(|ty| value.retain_known(ty));
                }
                dropped
            }
            (Json::Object(members), Type::Map(inner)) => {
                retain_in(members.iter_mut().map(|(_, value)| (value, &**inner)))
            }
            (Json::Array(items), Type::List(inner) | Type::Set(inner)) => {
                retain_in(items.iter_mut().map(|item| (item, &**inner)))
            }
            (Json::Array(items), Type::Tuple(types)) => retain_in(items.iter_mut().zip(types.iter())),
            _ => false,
        }
    }
}

/// Looks into every item: stopping at the first with something to drop would leave the others as they are.
fn retain_in<'j, 'd: 'j, 't>(items: impl Iterator<Item = (&'j mut Json<'d>, &'t Type)>) -> bool {
    let mut dropped = false;
    for (item, ty) in items {
        dropped |= item.retain_known(ty);
    }
    dropped
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn unexpected(&self, place: &str) -> CodecError {
        match self.text.get(self.at..).and_then(|rest| rest.chars().next()) {
            Some(found) => CodecError::malformed(self.at, format!("invalid character {found:?} {place}")),
            None => CodecError::malformed(self.at, "unexpected end of JSON input"),
        }
    }

    fn value(&mut self, depth: Depth) -> Result<Json<'a>, CodecError> {
        self.skip_space();
        match self.peek() {
            Some(b'{') => self.object(depth.deeper()?),
            Some(b'[') => self.array(depth.deeper()?),
            Some(b'"') => Ok(Json::String(self.string()?)),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true", Json::Bool(true)),
            Some(b'f') => self.word("false", Json::Bool(false)),
            Some(b'n') => self.word("null", Json::Null),
            _ => Err(self.unexpected("looking for beginning of value")),
        }
    }

    fn word(&mut self, word: &str, value: Json<'a>) -> Result<Json<'a>, CodecError> {
        for expected in word.bytes() {
            if self.peek() != Some(expected) {
                return Err(self.unexpected(&format!("in literal {word}")));
            }
            self.at += 1;
        }
        Ok(value)
    }

    fn array(&mut self, depth: Depth) -> Result<Json<'a>, CodecError> {
        self.at += 1;
        let mut items = Vec::new();
        self.skip_space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Json::Array(items));
        }
        loop {
            items.push(self.value(depth)?);
            self.skip_space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Ok(Json::Array(items));
                }
                _ => return Err(self.unexpected("after array element")),
            }
        }
    }

    fn object(&mut self, depth: Depth) -> Result<Json<'a>, CodecError> {
        self.at += 1;
        let mut members = Vec::new();
        self.skip_space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Json::Object(members));
        }
        loop {
            self.skip_space();
            if self.peek() != Some(b'"') {
                return Err(self.unexpected("looking for beginning of object key string"));
            }
            let name = self.string()?;
            self.skip_space();
            if self.peek() != Some(b':') {
                return Err(self.unexpected("after object key"));
            }
            self.at += 1;
            members.push((name, self.value(depth)?));
            self.skip_space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(Json::Object(members));
                }
                _ => return Err(self.unexpected("after object key:value pair")),
            }
        }
    }

    fn number(&mut self) -> Result<Json<'a>, CodecError> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(Json::Number(&self.text[start..self.at]))
    }

    fn digits(&mut self) -> Result<(), CodecError> {
        if !self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            return Err(self.unexpected("in numeric literal"));
        }
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        Ok(())
    }

    fn string(&mut self) -> Result<Cow<'a, str>, CodecError> {
        self.at += 1;
        let start = self.at;
        let plain = self.plain_run();
        if self.peek() == Some(b'"') {
            self.at += 1;
            return Ok(Cow::Borrowed(&self.text[start..start + plain]));
        }
        let mut text = self.text[start..start + plain].to_owned();
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(Cow::Owned(text));
                }
                Some(b'\\') => self.escape(&mut text)?,
                _ => return Err(self.unexpected("in string literal")),
            }
            let start = self.at;
            let length = self.plain_run();
            text.push_str(&self.text[start..start + length]);
        }
    }

    /// Skips what needs no attention: up to a quote, a backslash or a control character.
    fn plain_run(&mut self) -> usize {
        let rest = &self.text.as_bytes()[self.at..];
        let length = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f)).unwrap_or(rest.len());
        self.at += length;
        length
    }

    fn escape(&mut self, out: &mut String) -> Result<(), CodecError> {
        self.at += 1;
        let simple = match self.peek() {
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                self.at += 1;
                out.push(self.code_point()?);
                return Ok(());
            }
            _ => return Err(self.unexpected("in string escape code")),
        };
        self.at += 1;
        out.push(simple);
        Ok(())
    }

    /// `XXXX`, and `\uXXXX` behind it if both make one character. Half of a pair alone stands for nothing.
    fn code_point(&mut self) -> Result<char, CodecError> {
        let first = self.hex()?;
        if !(0xd800..0xdc00).contains(&first) {
            return Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        let before = self.at;
        if self.text[self.at..].starts_with("\\u") {
            self.at += 2;
            let second = self.hex()?;
            if (0xdc00..0xe000).contains(&second) {
                let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.at = before;
        }
        Ok(char::REPLACEMENT_CHARACTER)
    }

    fn hex(&mut self) -> Result<u32, CodecError> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            let Some(digit) = digit else {
                return Err(self.unexpected("in \\u hexadecimal character escape"));
            };
            code = code * 16 + digit;
            self.at += 1;
        }
        Ok(code)
    }
}
