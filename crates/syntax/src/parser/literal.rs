//! Text between quotes: escapes, and strings that may not have interpolations.

use std::borrow::Cow;

use groma_model::diag::Diagnostic;
use groma_model::span::Span;
use groma_model::text::Str;

use super::Parser;
use crate::lexer::{Token, TokenKind};

const INVALID: &str = "Invalid string literal";
const INVALID_ESCAPE: &str = "Invalid escape sequence";

impl<'t> Parser<'t> {
    /// The text that a literal token stands for.
    pub(super) fn literal_text(&mut self, token: Token) -> Cow<'t, str> {
        let source = self.word(token);
        let quoted = token.kind == TokenKind::QuotedLit;
        // A bare template that the lexer gave up on is one literal with anything in it.
        let has = |escape| if quoted { source.starts_with(escape) } else { source.contains(escape) };
        let escapes = (quoted && source.contains('\\')) || has("$${") || has("%%{");
        if !escapes {
            return Cow::Borrowed(source);
        }
        let mut text = String::with_capacity(source.len());
        let mut rest = source;
        while let Some(first) = rest.chars().next() {
            let len = match first {
                '\\' if quoted => self.escape(rest, token.end as usize - rest.len(), &mut text),
                '$' | '%' if rest[1..].starts_with(first) && rest[2..].starts_with('{') => {
                    text.push(first);
                    text.push('{');
                    3
                }
                _ => {
                    let special = rest.bytes().skip(1).position(|byte| matches!(byte, b'\\' | b'$' | b'%'));
                    let len = special.map_or(rest.len(), |at| at + 1);
                    text.push_str(&rest[..len]);
                    len
                }
            };
            rest = &rest[len..];
        }
        Cow::Owned(text)
    }

    /// Resolves the escape at the start of `rest`, which stands at `offset`, and gives its length.
    fn escape(&mut self, rest: &str, offset: usize, text: &mut String) -> usize {
        let Some(selector) = rest[1..].chars().next() else {
            let detail = "Backslash must be followed by an escape sequence selector character.";
            self.bad_escape(offset, 1, detail.to_owned());
            text.push('\\');
            return 1;
        };
        let simple = match selector {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            '"' => '"',
            '\\' => '\\',
            'u' => return self.unicode_escape(rest, offset, 4, text),
            'U' => return self.unicode_escape(rest, offset, 8, text),
            other => {
                let len = 1 + other.len_utf8();
                let detail = format!("The symbol {:?} is not a valid escape sequence selector.", &rest[1..len]);
                self.bad_escape(offset, len, detail);
                text.push(other);
                return len;
            }
        };
        text.push(simple);
        2
    }

    fn unicode_escape(&mut self, rest: &str, offset: usize, wanted: usize, text: &mut String) -> usize {
        let digits = rest[2..].bytes().take(wanted).take_while(u8::is_ascii_hexdigit).count();
        let len = 2 + digits;
        let problem = if digits == wanted {
            let code = u32::from_str_radix(&rest[2..len], 16).unwrap_or(u32::MAX);
            match char::from_u32(code) {
                Some(letter) => {
                    text.push(letter);
                    return len;
                }
                None => format!("Cannot encode character U+{code:04x} in UTF-8."),
            }
        } else if wanted == 4 {
            "The \\u escape sequence must be followed by four hexadecimal digits.".to_owned()
        } else {
            "The \\U escape sequence must be followed by eight hexadecimal digits.".to_owned()
        };
        self.bad_escape(offset, len, problem);
        text.push_str(&rest[..len]);
        len
    }

    fn bad_escape(&mut self, offset: usize, len: usize, detail: String) {
        let at = Token { kind: TokenKind::QuotedLit, start: offset as u32, end: (offset + len) as u32 };
        self.error(INVALID_ESCAPE, detail, at);
    }

    /// A quoted string in a place that cannot have interpolations.
    pub(super) fn quoted_literal(&mut self) -> (Str, Span) {
        let open = self.read();
        let mut text = Cow::Borrowed("");
        let last = loop {
            let token = self.read();
            match token.kind {
                TokenKind::CloseQuote => break token,
                TokenKind::QuotedLit => text += self.literal_text(token),
                TokenKind::TemplateControl | TokenKind::TemplateInterp => {
                    self.no_template_here(open, token);
                    self.recover(TokenKind::TemplateEnd);
                    // A mark of what was dropped, so that nobody takes the rest for the whole.
                    text += "${ ... }";
                }
                TokenKind::Eof => {
                    let context = self.between(open, token);
                    let detail = "Unable to find the closing quote mark before the end of the file.";
                    self.error_within("Unterminated string literal", detail, token, context);
                    break token;
                }
                _ => {
                    let context = self.between(open, token);
                    self.error_within(INVALID, "This item is not valid in a string literal.", token, context);
                    self.recover(TokenKind::CloseQuote);
                    break token;
                }
            }
        };
        (Str::new(text), self.between(open, last))
    }

    fn no_template_here(&mut self, open: Token, token: Token) {
        let marker = if token.kind == TokenKind::TemplateControl { '%' } else { '$' };
        let detail = format!(
            "Template sequences are not allowed in this string. To include a literal \"{marker}\", double it (as \
             \"{marker}{marker}\") to escape it."
        );
        let (span, context) = (self.span(token), self.between(open, token));
        self.diagnostics.push(Diagnostic::error(INVALID, detail).at(span).within(context));
    }
}
