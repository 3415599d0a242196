//! Templates, first half: from tokens to a flat list of literals, interpolations and directives, with strip markers worked
//! off. The second half, which makes a tree of the directives, is in [`super::assemble`].

use std::borrow::Cow;

use groma_model::span::Span;
use groma_model::text::suggestion;
use unicode_segmentation::UnicodeSegmentation;

use super::Parser;
use crate::ast::{Expr, ExprKind, Ident, Template, TemplateKind};
use crate::lexer::{Token, TokenKind};

const BAD_FOR: &str = "Invalid 'for' directive";
const UNCLOSED: &str = "Unclosed template interpolation sequence";
const EXTRA: &str = "Extra characters after interpolation expression";

/// A piece of a template, before directives are put together. Expressions come with their height.
pub(super) enum Piece<'t> {
    Literal { text: Cow<'t, str>, span: Span },
    Interpolation { expr: Expr, span: Span, height: usize },
    If { condition: Expr, span: Span, height: usize },
    For { names: (Option<Ident>, Ident), collection: Expr, span: Span, height: usize },
    End { kind: EndKind, span: Span },
}

/// The directives that end a part of another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EndKind {
    Else,
    EndIf,
    EndFor,
}

impl EndKind {
    pub(super) fn name(self) -> &'static str {
        match self {
            EndKind::Else => "else",
            EndKind::EndIf => "endif",
            EndKind::EndFor => "endfor",
        }
    }
}

/// The directive goes wrong; its error is reported already.
struct Broken;

/// A template that is being read.
struct Scan<'t> {
    start: Token,
    end: TokenKind,
    pieces: Vec<Piece<'t>>,
    /// The next piece, if it is a literal, loses its leading spaces.
    trim_next: bool,
    /// The last piece is a literal, which a strip marker may take the trailing spaces of.
    after_literal: bool,
}

impl<'t> Parser<'t> {
    /// A template up to and including the token `end`. Its opening token, if it has one, is read already.
    pub(super) fn template(&mut self, open: Option<Token>, end: TokenKind, kind: TemplateKind, flush: bool) -> Expr {
        let start = self.peek();
        let (mut pieces, last) = self.template_pieces(start, end);
        let span = match open {
            Some(open) => self.between(open, self.previous()),
            None => self.between(start, last),
        };
        if flush {
            strip_indentation(&mut pieces);
        }
        let mut pieces = join_literals(pieces);
        if pieces.len() == 1
            && let Some(Piece::Interpolation { .. }) = pieces.first()
            && let Some(Piece::Interpolation { expr, height, .. }) = pieces.pop()
        {
            return self.finish(ExprKind::TemplateWrap(Box::new(expr)), span, height);
        }
        let (parts, height) = self.assemble(pieces, last);
        let template = Template { kind, parts, raw: None };
        self.finish(ExprKind::Template(Box::new(template)), span, height)
    }

    fn template_pieces(&mut self, start: Token, end: TokenKind) -> (Vec<Piece<'t>>, Token) {
        let mut scan = Scan { start, end, pieces: Vec::new(), trim_next: false, after_literal: false };
        loop {
            let token = self.read();
            if token.kind == end {
                return (scan.pieces, token);
            }
            match token.kind {
                TokenKind::StringLit | TokenKind::QuotedLit => self.literal(&mut scan, token),
                TokenKind::TemplateInterp | TokenKind::TemplateControl => {
                    self.strip_before(&mut scan, token);
                    scan.trim_next = false;
                    scan.after_literal = false;
                    self.push_newlines(false);
                    if token.kind == TokenKind::TemplateInterp {
                        self.interpolation(&mut scan, token);
                    } else if self.directive(&mut scan, token).is_err() {
                        self.recover(TokenKind::TemplateEnd);
                    }
                    self.pop_newlines();
                }
                _ => {
                    if !self.recovering {
                        let context = self.between(start, token);
                        let detail = "No closing marker was found for the string.";
                        self.error_within("Unterminated template string", detail, token, context);
                    }
                    return (scan.pieces, self.recover(end));
                }
            }
        }
    }

    fn literal(&mut self, scan: &mut Scan<'t>, token: Token) {
        let mut text = self.literal_text(token);
        if scan.trim_next {
            keep(&mut text, str::trim_start);
        }
        scan.trim_next = false;
        scan.after_literal = true;
        scan.pieces.push(Piece::Literal { text, span: self.span(token) });
    }

    /// `${~` takes the trailing spaces of the literal before it.
    fn strip_before(&mut self, scan: &mut Scan<'t>, open: Token) {
        if scan.after_literal
            && self.word(open).ends_with('~')
            && let Some(Piece::Literal { text, .. }) = scan.pieces.last_mut()
        {
            keep(text, str::trim_end);
        }
    }

    /// Reads the token that ends an interpolation or a directive, and remembers its strip marker.
    fn close_sequence(&mut self, scan: &mut Scan<'t>) {
        let close = self.read();
        scan.trim_next = self.word(close).starts_with('~');
    }

    fn interpolation(&mut self, scan: &mut Scan<'t>, open: Token) {
        let expr = self.expression();
        let height = self.height;
        let close = self.peek();
        if close.kind == TokenKind::TemplateEnd {
            self.close_sequence(scan);
        } else {
            if !self.recovering {
                self.bad_interpolation_end(scan, close);
            }
            self.recover(TokenKind::TemplateEnd);
        }
        scan.pieces.push(Piece::Interpolation { expr, span: self.between(open, close), height });
    }

    fn bad_interpolation_end(&mut self, scan: &Scan<'t>, close: Token) {
        let context = self.between(scan.start, close);
        let in_quotes = scan.end == TokenKind::CloseQuote;
        match close.kind {
            TokenKind::Eof => {
                let detail = "There is no closing brace for this interpolation sequence before the end of the file. This might \
                              be caused by incorrect nesting inside the given expression.";
                self.error(UNCLOSED, detail, scan.start);
            }
            TokenKind::Colon => {
                let detail = "Template interpolation doesn't expect a colon at this location. Did you intend this to be a \
                              literal sequence to be processed as part of another language? If so, you can escape it by \
                              starting with \"$${\" instead of just \"${\".";
                self.error_within(EXTRA, detail, close, context);
            }
            TokenKind::CloseQuote | TokenKind::OpenQuote if in_quotes => {
                let detail = "There is no closing brace for this interpolation sequence before the end of the quoted template. \
                              This might be caused by incorrect nesting inside the given expression.";
                self.error(UNCLOSED, detail, scan.start);
            }
            _ => {
                let detail = "Expected a closing brace to end the interpolation expression, but found extra characters.\n\n\
                              This can happen when you include interpolation syntax for another language, such as shell \
                              scripting, but forget to escape the interpolation start token. If this is an embedded sequence \
                              for another language, escape it by starting with \"$${\" instead of just \"${\".";
                self.error_within(EXTRA, detail, close, context);
            }
        }
    }

    fn directive(&mut self, scan: &mut Scan<'t>, open: Token) -> Result<(), Broken> {
        let keyword = self.peek();
        if keyword.kind != TokenKind::Ident {
            if !self.recovering {
                let context = self.between(open, keyword);
                let detail = "A template directive keyword (\"if\", \"for\", etc) is expected at the beginning of a %{ sequence.";
                self.error_within("Invalid template directive", detail, keyword, context);
            }
            return Err(Broken);
        }
        self.read();
        let piece = match self.word(keyword) {
            "if" => {
                let condition = self.expression();
                Piece::If { condition, span: self.between(open, self.peek()), height: self.height }
            }
            "for" => {
                let names = self.directive_names()?;
                let collection = self.expression();
                Piece::For { names, collection, span: self.between(open, self.peek()), height: self.height }
            }
            "else" => Piece::End { kind: EndKind::Else, span: self.between(open, self.peek()) },
            "endif" => Piece::End { kind: EndKind::EndIf, span: self.between(open, self.peek()) },
            "endfor" => Piece::End { kind: EndKind::EndFor, span: self.between(open, self.peek()) },
            _ => {
                self.bad_keyword(open, keyword);
                return Err(Broken);
            }
        };
        scan.pieces.push(piece);
        let close = self.peek();
        if close.kind == TokenKind::TemplateEnd {
            self.close_sequence(scan);
            return Ok(());
        }
        if !self.recovering {
            let summary = format!("Extra characters in {} marker", self.word(keyword));
            let context = self.between(scan.start, close);
            let detail = "Expected a closing brace to end the sequence, but found extra characters.";
            self.error_within(&summary, detail, close, context);
        }
        Err(Broken)
    }

    fn bad_keyword(&mut self, open: Token, keyword: Token) {
        if self.recovering {
            return;
        }
        let word = self.word(keyword);
        let known = ["if", "for", "else", "endif", "endfor"];
        let advice = suggestion(word, known).map_or(String::new(), |meant| format!(" Did you mean {meant:?}?"));
        let context = self.between(open, keyword);
        let detail = format!("{word:?} is not a valid template control keyword.{advice}");
        self.error_within("Invalid template control keyword", detail, keyword, context);
    }

    /// `k, v in`
    fn directive_names(&mut self) -> Result<(Option<Ident>, Ident), Broken> {
        let first = self.directive_name("For directive requires variable name after 'for'.")?;
        let names = if self.peek().kind == TokenKind::Comma {
            self.read();
            let value = self.directive_name("For directive requires value variable name after comma.")?;
            (Some(first), value)
        } else {
            (None, first)
        };
        let next = self.peek();
        if !self.is_word(next, "in") {
            self.bad_directive(next, "For directive requires 'in' keyword after names.");
            return Err(Broken);
        }
        self.read();
        Ok(names)
    }

    fn directive_name(&mut self, complaint: &str) -> Result<Ident, Broken> {
        let name = self.peek();
        if name.kind != TokenKind::Ident {
            self.bad_directive(name, complaint);
            return Err(Broken);
        }
        self.read();
        Ok(Ident { name: self.word(name).into(), span: self.span(name) })
    }

    fn bad_directive(&mut self, at: Token, complaint: &str) {
        if !self.recovering {
            self.error(BAD_FOR, complaint, at);
        }
    }
}

/// Keeps only a part of a text, without copying it if it is borrowed.
fn keep(text: &mut Cow<'_, str>, part: impl Fn(&str) -> &str) {
    match text {
        Cow::Borrowed(borrowed) => *borrowed = part(borrowed),
        Cow::Owned(owned) => *owned = part(owned).to_owned(),
    }
}

/// Takes the indentation that all lines of a `<<-` heredoc share off each of them. Only what is written counts, not what is
/// interpolated.
fn strip_indentation(pieces: &mut [Piece<'_>]) {
    let mut least = usize::MAX;
    let mut at_line_start = true;
    let mut line_starts = Vec::new();
    for (at, piece) in pieces.iter().enumerate() {
        let literal = match piece {
            Piece::Literal { text, .. } => Some(text),
            _ => None,
        };
        if at_line_start {
            match literal {
                Some(text) if text.trim_start().is_empty() && text.ends_with('\n') => {}
                Some(text) => {
                    let indent = &text[..text.len() - text.trim_start().len()];
                    least = least.min(indent.graphemes(true).count());
                    line_starts.push(at);
                }
                None => least = 0,
            }
        }
        at_line_start = literal.is_some_and(|text| text.ends_with('\n'));
    }
    for at in line_starts {
        if let Piece::Literal { text, span } = &mut pieces[at] {
            let removed: usize = text.graphemes(true).take(least).map(str::len).sum();
            keep(text, |text| &text[removed..]);
            span.start = (span.start + removed as u32).min(span.end);
        }
    }
}

/// One literal instead of several that follow each other.
fn join_literals(pieces: Vec<Piece<'_>>) -> Vec<Piece<'_>> {
    let mut joined: Vec<Piece<'_>> = Vec::with_capacity(pieces.len());
    for piece in pieces {
        if let Piece::Literal { text, span } = &piece
            && let Some(Piece::Literal { text: before, span: before_span }) = joined.last_mut()
        {
            before.to_mut().push_str(text);
            *before_span = before_span.to(*span);
            continue;
        }
        joined.push(piece);
    }
    joined
}
