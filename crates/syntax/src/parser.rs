//! The parser of the native syntax: tokens to tree by recursive descent. This file has the entry points, reading tokens,
//! and getting back on track after a mistake; the grammar is in the modules below.
//!
//! After a mistake the parser is *recovering*: it skips to where it expects to understand the text again, and keeps quiet
//! about tokens that do not fit, because it may have landed in the wrong place. The next line that looks like an argument
//! or a block ends that, so that independent mistakes are all reported.

mod assemble;
mod expr;
mod for_expr;
mod literal;
mod structure;
mod template;
mod term;
#[cfg(test)]
mod tests;
mod traversal;

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::span::{FileId, OutlineEntry, SourceFile, Span};
use groma_model::text::Str;

use crate::ast::{Expr, ExprKind, TemplateKind, Traversal};
use crate::body::Body;
use crate::lexer::{self, Token, TokenKind};
use crate::{MAX_HEIGHT, MAX_NESTING, Parsed};

/// Where in a file the parsed text stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Origin {
    whole: Span,
    /// Offset of the text in the file. `None` if its offsets have nothing to do with those of the file, because of escapes.
    offset: Option<u32>,
}

impl Origin {
    /// All of a file.
    pub(crate) fn file(file: FileId) -> Self {
        Self { whole: Span::new(file, 0, 0), offset: Some(0) }
    }

    /// A text that stands between the quotes at `span`.
    pub(crate) fn quoted(text: &str, span: Span) -> Self {
        let verbatim = span.len() == text.len() + 2;
        Self { whole: span, offset: verbatim.then_some(span.start + 1) }
    }

    /// The place of a token.
    pub(crate) fn span(self, token: Token) -> Span {
        match self.offset {
            Some(offset) => Span { file: self.whole.file, start: token.start + offset, end: token.end + offset },
            None => self.whole,
        }
    }
}

/// Reads a whole file.
pub(crate) fn file(source: &SourceFile, file: FileId) -> Parsed<Body> {
    let text = source.text();
    if text.len() > (u32::MAX / 2) as usize {
        let start = Span::new(file, 0, 0);
        let problem = Diagnostic::error("File too large", "Configuration files must be smaller than 2 GiB.").at(start);
        return Parsed { value: Body::empty(start), diagnostics: problem.into() };
    }
    let tokens = lexer::lex(text);
    let mut parser = Parser::new(text, &tokens, Origin::file(file));
    parser.source = Some(source);
    let body = parser.body(TokenKind::Eof);
    source.set_outline(outline(&body));
    Parsed { value: body, diagnostics: parser.diagnostics }
}

fn outline(body: &Body) -> Vec<OutlineEntry> {
    let blocks = body.native_items().map_or(&[] as &[_], |(_, blocks)| blocks);
    let entry = |block: &crate::body::Block| {
        let labels = block.labels.iter().flat_map(|label| [" ".to_owned(), format!("{:?}", label.text.as_str())]);
        let header = std::iter::once(block.kind.name.to_string()).chain(labels).collect();
        OutlineEntry { span: block.span, header }
    };
    blocks.iter().map(entry).collect()
}

/// Reads a text that is one expression. Newlines mean nothing in it.
pub(crate) fn expression(text: &str, origin: Origin) -> Parsed<Expr> {
    let tokens = lexer::lex(text);
    let mut parser = Parser::new(text, &tokens, origin);
    parser.push_newlines(false);
    let value = parser.expression();
    let next = parser.peek();
    if next.kind != TokenKind::Eof && !parser.recovering {
        let detail = "An expression was successfully parsed, but extra characters were found after it.";
        parser.error("Extra characters after expression", detail, next);
    }
    Parsed { value, diagnostics: parser.diagnostics }
}

/// Reads a text that is one template.
pub(crate) fn template(text: &str, origin: Origin, kind: TemplateKind) -> Parsed<Expr> {
    let tokens = lexer::lex_template(text);
    let mut parser = Parser::new(text, &tokens, origin);
    let mut value = parser.template(None, TokenKind::Eof, kind, false);
    if kind == TemplateKind::Json
        && let ExprKind::Template(template) = &mut value.kind
    {
        template.raw = Some(Str::new(text));
    }
    Parsed { value, diagnostics: parser.diagnostics }
}

/// Reads a text that is one reference.
pub(crate) fn traversal(text: &str, origin: Origin) -> Parsed<Option<Traversal>> {
    let tokens = lexer::lex(text);
    let mut parser = Parser::new(text, &tokens, origin);
    parser.push_newlines(false);
    let value = parser.traversal();
    Parsed { value, diagnostics: parser.diagnostics }
}

fn line_start(text: &str, offset: u32) -> u32 {
    text[..offset as usize].rfind('\n').map_or(0, |newline| newline as u32 + 1)
}

struct Parser<'t> {
    text: &'t str,
    tokens: &'t [Token],
    /// Index of the token to read next.
    next: usize,
    /// The token to read next and the index behind it, with comments and perhaps newlines skipped.
    ahead: (Token, usize),
    /// Tokens from this index on are as good as the end of the file.
    limit: usize,
    origin: Origin,
    /// For messages that name a place; `None` where the text is not a file.
    source: Option<&'t SourceFile>,
    diagnostics: Diagnostics,
    /// Whether newlines are tokens. Brackets push, and pop behind them.
    newlines: Vec<bool>,
    recovering: bool,
    /// Something was skipped, so braces may not be what they seem for the rest of the file.
    skipped: bool,
    /// Only looking for more mistakes; what is read will be thrown away.
    salvaging: bool,
    /// Offset from where on quotes may be confused, so that every resynchronisation is doubtful.
    unreliable_from: u32,
    nesting: usize,
    /// Height of the expression that was read last.
    height: usize,
}

impl<'t> Parser<'t> {
    fn new(text: &'t str, tokens: &'t [Token], origin: Origin) -> Self {
        let broken_quote = tokens.iter().find(|token| token.kind == TokenKind::QuotedNewline);
        let mut parser = Self {
            text,
            tokens,
            next: 0,
            ahead: (Token { kind: TokenKind::Eof, start: 0, end: 0 }, 0),
            limit: tokens.len(),
            origin,
            source: None,
            diagnostics: lexer::check(text, tokens, origin),
            newlines: vec![true],
            recovering: false,
            skipped: false,
            salvaging: false,
            unreliable_from: broken_quote.map_or(u32::MAX, |token| line_start(text, token.start)),
            nesting: 0,
            height: 0,
        };
        parser.look_ahead();
        parser
    }

    /// Goes to another token.
    fn seek(&mut self, next: usize) {
        self.next = next;
        self.look_ahead();
    }

    /// Has to follow every change of what [`Parser::next_token`] depends on.
    fn look_ahead(&mut self) {
        self.ahead = self.next_token();
    }

    /// The next token and the index behind it. Comments are skipped, but one that ends a line is a newline.
    fn next_token(&self) -> (Token, usize) {
        let newlines = self.newlines.last().copied().unwrap_or(true);
        let mut at = self.next;
        while at < self.limit {
            let token = self.tokens[at];
            at += 1;
            match token.kind {
                TokenKind::Newline if newlines => return (token, at),
                TokenKind::Comment if newlines && token.text(self.text).ends_with('\n') => {
                    return (Token { kind: TokenKind::Newline, ..token }, at);
                }
                TokenKind::Newline | TokenKind::Comment => {}
                _ => return (token, at),
            }
        }
        (self.end_token(), self.limit)
    }

    /// The end of the file, or of the part of it that may be read.
    fn end_token(&self) -> Token {
        let end = self.tokens.get(self.limit).map_or(self.text.len() as u32, |token| token.start);
        Token { kind: TokenKind::Eof, start: end, end }
    }

    fn peek(&self) -> Token {
        self.ahead.0
    }

    fn read(&mut self) -> Token {
        let (token, next) = self.ahead;
        self.seek(next);
        token
    }

    /// The token that was read last.
    fn previous(&self) -> Token {
        match self.next.checked_sub(1) {
            Some(at) => self.tokens.get(at).copied().unwrap_or_else(|| self.end_token()),
            None => self.peek(),
        }
    }

    fn word(&self, token: Token) -> &'t str {
        token.text(self.text)
    }

    fn is_word(&self, token: Token, word: &str) -> bool {
        token.kind == TokenKind::Ident && self.word(token) == word
    }

    fn span(&self, token: Token) -> Span {
        self.origin.span(token)
    }

    fn between(&self, first: Token, last: Token) -> Span {
        self.span(first).to(self.span(last))
    }

    fn push_newlines(&mut self, significant: bool) {
        self.newlines.push(significant);
        self.look_ahead();
    }

    fn pop_newlines(&mut self) {
        self.newlines.pop();
        self.look_ahead();
    }

    fn error(&mut self, summary: &str, detail: impl Into<String>, at: Token) {
        let span = self.span(at);
        self.diagnostics.push(Diagnostic::error(summary, detail).at(span));
    }

    fn error_within(&mut self, summary: &str, detail: impl Into<String>, at: Token, context: Span) {
        let span = self.span(at);
        self.diagnostics.push(Diagnostic::error(summary, detail).at(span).within(context));
    }

    /// A mark to ask [`Parser::failed_since`] with.
    fn mark(&self) -> usize {
        self.diagnostics.len()
    }

    /// Whether there were errors since the mark (all diagnostics of the parser are errors).
    fn errors_since(&self, mark: usize) -> bool {
        self.diagnostics.len() > mark
    }

    /// Whether what was read since the mark went wrong in a way that leaves the parser in a doubtful place.
    fn failed_since(&self, mark: usize) -> bool {
        self.recovering && self.errors_since(mark)
    }

    fn invalid(&mut self, span: Span) -> Expr {
        self.height = 1;
        Expr { kind: ExprKind::Invalid, span }
    }

    /// Goes one level deeper, unless that is too deep. Every call that gives true needs a [`Parser::leave`].
    fn enter(&mut self) -> bool {
        if self.nesting < MAX_NESTING {
            self.nesting += 1;
            return true;
        }
        self.too_deep(self.peek());
        self.recovering = true;
        false
    }

    fn leave(&mut self) {
        self.nesting -= 1;
    }

    fn too_deep(&mut self, at: Token) {
        if !self.recovering {
            let detail = format!("Expressions and blocks may be nested at most {MAX_NESTING} levels deep.");
            self.error("Too deeply nested", detail, at);
        }
    }

    /// Finishes an expression whose highest child has the given height.
    fn finish(&mut self, kind: ExprKind, span: Span, child_height: usize) -> Expr {
        if child_height >= MAX_HEIGHT {
            if !self.recovering {
                let detail =
                    format!("Chains of operators and other expressions may be at most {MAX_HEIGHT} levels high.");
                self.diagnostics.push(Diagnostic::error("Too deeply nested", detail).at(span));
            }
            self.recovering = true;
            return self.invalid(span);
        }
        self.height = child_height + 1;
        Expr { kind, span }
    }

    /// Skips to behind the next `end` that does not close something opened on the way.
    fn recover(&mut self, end: TokenKind) -> Token {
        let start = end.opposite();
        self.recovering = true;
        self.skipped = true;
        let mut open = 0_usize;
        loop {
            let token = self.read();
            let kind = match token.kind {
                TokenKind::TemplateControl if end == TokenKind::TemplateEnd => TokenKind::TemplateInterp,
                kind => kind,
            };
            if kind == end {
                if open == 0 {
                    return token;
                }
                open -= 1;
            } else if Some(kind) == start {
                open += 1;
            } else if kind == TokenKind::Eof {
                return token;
            }
        }
    }

    /// Skips to behind the end of the next thing that starts with `start`.
    fn recover_over(&mut self, start: TokenKind, end: TokenKind) {
        loop {
            let kind = self.read().kind;
            if kind == start || kind == TokenKind::Eof {
                break;
            }
        }
        self.recover(end);
    }

    /// Skips to behind the line ending that probably ends the current argument or block.
    fn recover_after_item(&mut self) {
        use TokenKind as K;
        self.recovering = true;
        self.skipped = true;
        let mut open: Vec<TokenKind> = Vec::new();
        loop {
            let kind = self.read().kind;
            match kind {
                K::Newline if open.is_empty() => return,
                K::Eof => return,
                K::OpenBrace | K::OpenBracket | K::OpenParen | K::OpenQuote | K::OpenHeredoc => open.push(kind),
                K::TemplateInterp | K::TemplateControl => open.push(K::TemplateInterp),
                K::CloseBrace | K::CloseBracket | K::CloseParen | K::CloseQuote | K::CloseHeredoc | K::TemplateEnd => {
                    while let Some(last) = open.pop() {
                        if Some(last) == kind.opposite() {
                            break;
                        }
                    }
                }
                _ => {}
            }
        }
    }
}
