//! The words and signs of expressions.

use std::ops::Range;

/// A word or a sign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    /// Its bytes.
    pub(super) at: Range<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    Open,
    Close,
    And,
    Or,
    Not,
    Constant(bool),
    Name,
    /// Nothing that can stand in an expression.
    Other,
    End,
}

/// The word of the grammar that a text is, in any case.
pub(super) fn keyword(text: &str) -> Option<TokenKind> {
    const WORDS: [(&str, TokenKind); 5] = [
        ("AND", TokenKind::And),
        ("OR", TokenKind::Or),
        ("NOT", TokenKind::Not),
        ("TRUE", TokenKind::Constant(true)),
        ("FALSE", TokenKind::Constant(false)),
    ];
    WORDS.iter().find(|(word, _)| word.eq_ignore_ascii_case(text)).map(|(_, kind)| *kind)
}

/// Whether a byte can stand in a name, but not necessarily first.
pub(super) fn continues_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// Reads one token ahead.
pub(super) struct Lexer<'t> {
    text: &'t str,
    next: Token,
}

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, next: token(text, 0) }
    }

    /// The next token, which stays the next one.
    pub(super) fn peek(&self) -> Token {
        self.next.clone()
    }

    /// Goes on to the token behind the next one.
    pub(super) fn skip(&mut self) {
        self.next = token(self.text, self.next.at.end);
    }

    /// Goes on if the next token is one of these.
    pub(super) fn next_if(&mut self, kind: TokenKind) -> bool {
        let is = self.next.kind == kind;
        if is {
            self.skip();
        }
        is
    }

    pub(super) fn text(&self, token: &Token) -> &'t str {
        self.text.get(token.at.clone()).unwrap_or_default()
    }
}

fn token(text: &str, from: usize) -> Token {
    let rest = text.get(from..).unwrap_or_default();
    let start = from + (rest.len() - rest.trim_start().len());
    let rest = rest.trim_start();
    let (kind, length) = match rest.as_bytes() {
        [] => {
            // What is missing at the end is missing right behind the last word, not behind the blanks that follow it.
            let end = text.trim_end().len();
            return Token { kind: TokenKind::End, at: end..end };
        }
        [b'(', ..] => (TokenKind::Open, 1),
        [b')', ..] => (TokenKind::Close, 1),
        [b'!', ..] => (TokenKind::Not, 1),
        [b'&', b'&', ..] => (TokenKind::And, 2),
        [b'|', b'|', ..] => (TokenKind::Or, 2),
        [first, ..] if first.is_ascii_alphabetic() => {
            let length = rest.bytes().take_while(|byte| continues_name(*byte)).count();
            (keyword(&rest[..length]).unwrap_or(TokenKind::Name), length)
        }
        // Up to where something could begin again, so that a foreign word is told as one.
        _ => {
            let is_end = |c: char| c.is_whitespace() || "()!&|".contains(c);
            let behind = rest.chars().next().map_or(0, char::len_utf8);
            (TokenKind::Other, rest[behind..].find(is_end).map_or(rest.len(), |at| behind + at))
        }
    };
    Token { kind, at: start..start + length }
}
