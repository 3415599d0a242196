//! Tokens of templates: between quotes, in heredocs, and bare.

use super::{Lexer, Mode, TokenKind};

impl Lexer<'_> {
    /// One token between `"` and `"`.
    pub(super) fn quoted(&mut self) {
        match self.bytes[self.at] {
            b'"' => {
                self.push(TokenKind::CloseQuote, 1);
                self.modes.pop();
            }
            b'\r' | b'\n' => {
                let rest = &self.bytes[self.at..];
                let len = rest.iter().position(|byte| !matches!(byte, b'\r' | b'\n')).unwrap_or(rest.len());
                self.push(TokenKind::QuotedNewline, len);
            }
            b'$' | b'%' => match self.sequence() {
                Sequence::Open(kind, len) => self.open_sequence(kind, len),
                Sequence::Escaped(len) => self.push(TokenKind::QuotedLit, len),
                Sequence::Lone => self.push(TokenKind::QuotedLit, 1),
                Sequence::AtEnd => self.push(TokenKind::Invalid, 1),
            },
            _ => match self.quoted_literal_len() {
                // A backslash with nothing behind it that it could escape.
                0 => self.push(TokenKind::Invalid, 1),
                len => self.push(TokenKind::QuotedLit, len),
            },
        }
    }

    fn quoted_literal_len(&self) -> usize {
        let mut len = 0;
        while let Some(byte) = self.byte(len) {
            match byte {
                b'"' | b'$' | b'%' | b'\r' | b'\n' => break,
                b'\\' => match self.text[self.at + len + 1..].chars().next() {
                    None | Some('\r' | '\n') => break,
                    Some(escaped) => len += 1 + escaped.len_utf8(),
                },
                _ => len += 1,
            }
        }
        len
    }

    /// One token of a heredoc or of a bare template.
    pub(super) fn lines(&mut self) {
        match self.bytes[self.at] {
            b'$' | b'%' => match self.sequence() {
                Sequence::Open(kind, len) => self.open_sequence(kind, len),
                Sequence::Escaped(len) => {
                    let newline = self.newline_len(len);
                    self.line_piece(len + newline, newline > 0);
                }
                // The character behind belongs to the token, but only if it is the last of its line.
                Sequence::Lone => match self.byte(2) {
                    Some(b'\n') => self.line_piece(2, true),
                    Some(b'\r') => self.line_piece(2, false),
                    _ => self.line_piece(1, false),
                },
                Sequence::AtEnd => self.straggler(),
            },
            _ => {
                let rest = &self.bytes[self.at..];
                let stop = rest.iter().position(|byte| matches!(byte, b'$' | b'%' | b'\r' | b'\n'));
                let len = stop.unwrap_or(rest.len());
                let newline = self.newline_len(len);
                if len + newline == 0 {
                    self.straggler();
                } else {
                    self.line_piece(len + newline, newline > 0);
                }
            }
        }
    }

    fn newline_len(&self, ahead: usize) -> usize {
        match (self.byte(ahead), self.byte(ahead + 1)) {
            (Some(b'\n'), _) => 1,
            (Some(b'\r'), Some(b'\n')) => 2,
            _ => 0,
        }
    }

    fn line_piece(&mut self, len: usize, ends_line: bool) {
        if self.mode() == Mode::Bare {
            return self.push(TokenKind::StringLit, len);
        }
        if ends_line && self.close_heredoc(len) {
            return;
        }
        self.push(TokenKind::StringLit, len);
        if let Some(heredoc) = self.heredocs.last_mut() {
            heredoc.at_line_start = ends_line;
        }
    }

    /// If the line of `len` bytes is the closing marker, gives two tokens: the marker, and the line ending that may end an
    /// argument.
    fn close_heredoc(&mut self, len: usize) -> bool {
        let line = &self.text[self.at..self.at + len];
        let Some(heredoc) = self.heredocs.last() else { return false };
        if !heredoc.at_line_start || line.trim() != heredoc.marker {
            return false;
        }
        let newline = if line.ends_with("\r\n") { 2 } else { 1 };
        self.push(TokenKind::CloseHeredoc, len - newline);
        self.push(TokenKind::Newline, newline);
        self.heredocs.pop();
        self.modes.pop();
        true
    }

    /// A lone carriage return, or a `$` as the very last character, ends the reading of a heredoc or a template.
    fn straggler(&mut self) {
        let kind = if self.modes.len() == 1 { TokenKind::StringLit } else { TokenKind::Invalid };
        self.push(kind, self.bytes.len() - self.at);
    }

    fn open_sequence(&mut self, kind: TokenKind, len: usize) {
        self.push(kind, len);
        self.braces += 1;
        self.template_braces.push(self.braces);
        if let Some(heredoc) = self.heredocs.last_mut() {
            heredoc.at_line_start = false;
        }
        self.modes.push(Mode::Main);
    }

    /// What the `$` or `%` here starts.
    fn sequence(&self) -> Sequence {
        let marker = self.bytes[self.at];
        let with_trim = |len: usize| if self.byte(len) == Some(b'~') { len + 1 } else { len };
        match (self.byte(1), self.byte(2)) {
            (None, _) => Sequence::AtEnd,
            (Some(b'{'), _) if marker == b'$' => Sequence::Open(TokenKind::TemplateInterp, with_trim(2)),
            (Some(b'{'), _) => Sequence::Open(TokenKind::TemplateControl, with_trim(2)),
            (Some(next), Some(b'{')) if next == marker => Sequence::Escaped(with_trim(3)),
            _ => Sequence::Lone,
        }
    }
}

enum Sequence {
    /// `${`, `%{~`
    Open(TokenKind, usize),
    /// `$${`
    Escaped(usize),
    /// Just the character.
    Lone,
    /// Just the character, and nothing behind it.
    AtEnd,
}
