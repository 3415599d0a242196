//! Cuts JSON into tokens. What a token is worth is decided by the reader, which has better messages.

use groma_model::span::{FileId, Span};

/// A piece of JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    OpenBrace,
    CloseBrace,
    OpenBracket,
    CloseBracket,
    Comma,
    Colon,
    /// Not JSON, but people coming from the native syntax write it.
    Equals,
    Keyword,
    String,
    Number,
    Invalid,
    Eof,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Token<'t> {
    pub(super) kind: Kind,
    pub(super) text: &'t str,
    pub(super) span: Span,
}

pub(super) struct Scanner<'t> {
    text: &'t str,
    file: FileId,
    at: usize,
    /// Nothing behind an invalid character is looked at.
    stopped: bool,
}

impl<'t> Scanner<'t> {
    pub(super) fn new(text: &'t str, file: FileId) -> Self {
        Self { text, file, at: 0, stopped: false }
    }

    pub(super) fn next(&mut self) -> Token<'t> {
        let bytes = self.text.as_bytes();
        if self.stopped {
            return self.token(Kind::Eof, 0);
        }
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(self.at) {
            self.at += 1;
        }
        let Some(first) = bytes.get(self.at) else { return self.token(Kind::Eof, 0) };
        let run = |accept: fn(&u8) -> bool| bytes[self.at..].iter().take_while(|byte| accept(byte)).count();
        match first {
            b'{' => self.token(Kind::OpenBrace, 1),
            b'}' => self.token(Kind::CloseBrace, 1),
            b'[' => self.token(Kind::OpenBracket, 1),
            b']' => self.token(Kind::CloseBracket, 1),
            b',' => self.token(Kind::Comma, 1),
            b':' => self.token(Kind::Colon, 1),
            b'=' => self.token(Kind::Equals, 1),
            b'"' => self.token(Kind::String, string_len(&bytes[self.at..])),
            b'-' | b'+' | b'.' | b'0'..=b'9' => {
                self.token(Kind::Number, run(|b| matches!(b, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')))
            }
            b'a'..=b'z' | b'A'..=b'Z' => self.token(Kind::Keyword, run(|b| b.is_ascii_alphabetic() || *b == b'_')),
            _ => {
                let len = self.text[self.at..].chars().next().map_or(1, char::len_utf8);
                let token = self.token(Kind::Invalid, len);
                self.stopped = true;
                token
            }
        }
    }

    fn token(&mut self, kind: Kind, len: usize) -> Token<'t> {
        let end = self.at + len;
        let token = Token { kind, text: &self.text[self.at..end], span: Span::new(self.file, self.at, end) };
        self.at = end;
        token
    }
}

/// Up to and with the closing quote, or up to a control character, which no string can hold.
fn string_len(bytes: &[u8]) -> usize {
    let mut escaping = false;
    for (at, byte) in bytes.iter().enumerate().skip(1) {
        match byte {
            b'\\' => escaping = !escaping,
            b'"' if !escaping => return at + 1,
            0..=31 => return at,
            _ => escaping = false,
        }
    }
    bytes.len()
}
