//! Cuts a whole text into tokens, before anything is parsed. What cannot be a token is one all the same, of a kind that
//! [`mod@check`] has a message for.

mod check;
mod template;
#[cfg(test)]
mod tests;
mod token;

use unicode_ident::{is_xid_continue, is_xid_start};

pub(crate) use check::check;
pub(crate) use token::{Token, TokenKind};

/// The mark that some editors put before the first character of a file.
const BYTE_ORDER_MARK: &str = "\u{feff}";

/// Cuts configuration or an expression.
pub(crate) fn lex(text: &str) -> Vec<Token> {
    Lexer::new(text, Mode::Main).run()
}

/// Cuts a template that is not inside quotes.
pub(crate) fn lex_template(text: &str) -> Vec<Token> {
    Lexer::new(text, Mode::Bare).run()
}

/// Whether a text is a name of the language.
pub(crate) fn is_identifier(text: &str) -> bool {
    !text.is_empty() && identifier_len(text) == text.len()
}

/// How many bytes at the start of a text are a name.
fn identifier_len(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut len = 0;
    while let Some(byte) = bytes.get(len) {
        if !byte.is_ascii() {
            return unicode_identifier_len(text, len);
        }
        let fits = byte.is_ascii_alphabetic() || *byte == b'_' || (len > 0 && (byte.is_ascii_digit() || *byte == b'-'));
        if !fits {
            break;
        }
        len += 1;
    }
    len
}

fn unicode_identifier_len(text: &str, from: usize) -> usize {
    let mut len = from;
    for letter in text[from..].chars() {
        let fits = if len == 0 { is_xid_start(letter) } else { is_xid_continue(letter) || letter == '-' };
        if !fits {
            break;
        }
        len += letter.len_utf8();
    }
    len
}

/// What the text at the current place is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Configuration or an expression.
    Main,
    /// Between `"` and `"`.
    Quoted,
    /// Between `<<EOT` and `EOT`.
    Heredoc,
    /// A template that nothing encloses.
    Bare,
}

struct Heredoc<'t> {
    marker: &'t str,
    at_line_start: bool,
}

struct Lexer<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    tokens: Vec<Token>,
    /// The innermost mode is the last.
    modes: Vec<Mode>,
    heredocs: Vec<Heredoc<'t>>,
    /// How many braces are open.
    braces: i64,
    /// At which counts of open braces a `}` ends an interpolation.
    template_braces: Vec<i64>,
    /// No `*/` stands behind this place, if it is known.
    no_comment_end_from: Option<usize>,
}

impl<'t> Lexer<'t> {
    fn new(text: &'t str, mode: Mode) -> Self {
        let at = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        Self {
            text,
            bytes: text.as_bytes(),
            at,
            tokens: Vec::with_capacity(text.len() / 5 + 8),
            modes: vec![mode],
            heredocs: Vec::new(),
            braces: 0,
            template_braces: Vec::new(),
            no_comment_end_from: None,
        }
    }

    fn run(mut self) -> Vec<Token> {
        while self.at < self.bytes.len() {
            match self.mode() {
                Mode::Main => self.main(),
                Mode::Quoted => self.quoted(),
                Mode::Heredoc | Mode::Bare => self.lines(),
            }
        }
        self.push(TokenKind::Eof, 0);
        self.tokens
    }

    fn mode(&self) -> Mode {
        self.modes.last().copied().unwrap_or(Mode::Main)
    }

    /// Adds a token of `len` bytes that starts here, and goes behind it.
    fn push(&mut self, kind: TokenKind, len: usize) {
        let end = self.at + len;
        self.tokens.push(Token { kind, start: self.at as u32, end: end as u32 });
        self.at = end;
    }

    fn byte(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    /// One token of configuration or of an expression.
    fn main(&mut self) {
        use TokenKind as K;
        match self.bytes[self.at] {
            b' ' | b'\t' => self.at += 1,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => self.push(K::Ident, identifier_len(&self.text[self.at..])),
            b'0'..=b'9' => self.push(K::Number, self.number_len()),
            b'\n' => self.push(K::Newline, 1),
            b'\r' if self.byte(1) == Some(b'\n') => self.push(K::Newline, 2),
            b'#' => self.line_comment(),
            b'/' => self.slash(),
            b'"' => {
                self.push(K::OpenQuote, 1);
                self.modes.push(Mode::Quoted);
            }
            b'{' => {
                self.push(K::OpenBrace, 1);
                self.braces += 1;
            }
            b'}' => self.close_brace(),
            b'~' if self.byte(1) == Some(b'}') => self.close_template_and_trim(),
            b'<' => self.less(),
            _ => self.operator(),
        }
    }

    fn operator(&mut self) {
        use TokenKind as K;
        let (kind, len) = match (self.bytes[self.at], self.byte(1)) {
            (b'=', Some(b'=')) => (K::EqualEqual, 2),
            (b'=', Some(b'>')) => (K::FatArrow, 2),
            (b'=', _) => (K::Equal, 1),
            (b'!', Some(b'=')) => (K::NotEqual, 2),
            (b'!', _) => (K::Bang, 1),
            (b'>', Some(b'=')) => (K::GreaterEqual, 2),
            (b'>', _) => (K::Greater, 1),
            (b'&', Some(b'&')) => (K::And, 2),
            (b'&', _) => (K::BitwiseAnd, 1),
            (b'|', Some(b'|')) => (K::Or, 2),
            (b'|', _) => (K::BitwiseOr, 1),
            (b':', Some(b':')) => (K::DoubleColon, 2),
            (b':', _) => (K::Colon, 1),
            (b'.', Some(b'.')) if self.byte(2) == Some(b'.') => (K::Ellipsis, 3),
            (b'.', _) => (K::Dot, 1),
            (b'[', _) => (K::OpenBracket, 1),
            (b']', _) => (K::CloseBracket, 1),
            (b'(', _) => (K::OpenParen, 1),
            (b')', _) => (K::CloseParen, 1),
            (b',', _) => (K::Comma, 1),
            (b'*', _) => (K::Star, 1),
            (b'%', _) => (K::Percent, 1),
            (b'+', _) => (K::Plus, 1),
            (b'-', _) => (K::Minus, 1),
            (b'?', _) => (K::Question, 1),
            (b'~', _) => (K::BitwiseNot, 1),
            (b'^', _) => (K::BitwiseXor, 1),
            (b';', _) => (K::Semicolon, 1),
            (b'`', _) => (K::Backtick, 1),
            (b'\'', _) => (K::Apostrophe, 1),
            _ => return self.other_character(),
        };
        self.push(kind, len);
    }

    /// A letter of another script, or something that the language has no use for.
    fn other_character(&mut self) {
        match identifier_len(&self.text[self.at..]) {
            0 => {
                let len = self.text[self.at..].chars().next().map_or(1, char::len_utf8);
                self.push(TokenKind::Invalid, len);
            }
            len => self.push(TokenKind::Ident, len),
        }
    }

    /// Digits, dots and exponents, in any order that does not end in a dot. The parser says whether it is a number.
    fn number_len(&self) -> usize {
        let mut len = 1;
        let mut good = 1;
        loop {
            match self.byte(len) {
                Some(b'0'..=b'9') => len += 1,
                Some(b'.') => {
                    len += 1;
                    continue;
                }
                Some(b'e' | b'E') => match (self.byte(len + 1), self.byte(len + 2)) {
                    (Some(b'0'..=b'9'), _) => len += 2,
                    (Some(b'+' | b'-'), Some(b'0'..=b'9')) => len += 3,
                    _ => return good,
                },
                _ => return good,
            }
            good = len;
        }
    }

    fn line_comment(&mut self) {
        let rest = &self.bytes[self.at..];
        let len = rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |newline| newline + 1);
        self.push(TokenKind::Comment, len);
    }

    fn slash(&mut self) {
        match self.byte(1) {
            Some(b'/') => self.line_comment(),
            Some(b'*') => match self.block_comment_len() {
                Some(len) => self.push(TokenKind::Comment, len),
                None => self.push(TokenKind::Slash, 1),
            },
            _ => self.push(TokenKind::Slash, 1),
        }
    }

    fn block_comment_len(&mut self) -> Option<usize> {
        if self.no_comment_end_from.is_some_and(|from| from <= self.at) {
            return None;
        }
        let end = self.text[self.at + 2..].find("*/");
        if end.is_none() {
            self.no_comment_end_from = Some(self.at);
        }
        end.map(|len| len + 4)
    }

    fn close_brace(&mut self) {
        let ends_template = self.template_braces.last() == Some(&self.braces);
        self.push(if ends_template { TokenKind::TemplateEnd } else { TokenKind::CloseBrace }, 1);
        if ends_template {
            self.template_braces.pop();
            self.modes.pop();
        }
        self.braces -= 1;
    }

    fn close_template_and_trim(&mut self) {
        self.push(TokenKind::TemplateEnd, 2);
        if self.template_braces.last() == Some(&self.braces) {
            self.template_braces.pop();
            self.modes.pop();
        }
        self.braces -= 1;
    }

    fn less(&mut self) {
        match self.byte(1) {
            Some(b'=') => self.push(TokenKind::LessEqual, 2),
            Some(b'<') => match self.heredoc_start() {
                Some((len, marker)) => {
                    self.push(TokenKind::OpenHeredoc, len);
                    self.heredocs.push(Heredoc { marker, at_line_start: true });
                    self.modes.push(Mode::Heredoc);
                }
                None => self.push(TokenKind::Less, 1),
            },
            _ => self.push(TokenKind::Less, 1),
        }
    }

    /// The length of `<<MARKER` or `<<-MARKER` with its line ending, and the marker.
    fn heredoc_start(&self) -> Option<(usize, &'t str)> {
        let intro = if self.byte(2) == Some(b'-') { 3 } else { 2 };
        let rest = self.text.get(self.at + intro..)?;
        let marker = &rest[..identifier_len(rest)];
        let behind = &rest[marker.len()..];
        if marker.is_empty() {
            return None;
        }
        let newline = if behind.starts_with('\n') {
            1
        } else if behind.starts_with("\r\n") {
            2
        } else {
            return None;
        };
        Some((intro + marker.len() + newline, marker))
    }
}
