//! Old spellings: `"${x}"` for `x`, unquoted labels, and quoted or incomplete types of variables.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;

use super::Piece;
use crate::ast::Expr;
use crate::body::{Attribute, Block, Body};
use crate::lexer::{Token, TokenKind};

/// Replaces the pieces in a range by others.
struct Edit<'t> {
    range: Range<usize>,
    pieces: Vec<Piece<'t>>,
}

/// Replaces old spellings in a file whose tokens and pieces correspond.
pub(super) fn rewrite<'t>(body: &Body, tokens: &[Token], pieces: Vec<Piece<'t>>) -> Vec<Piece<'t>> {
    let mut rewriter = Rewriter { tokens, pieces: &pieces, edits: Vec::new() };
    rewriter.body(body, &[]);
    let mut edits = rewriter.edits;
    if edits.is_empty() {
        return pieces;
    }
    edits.sort_by_key(|edit| edit.range.start);
    let mut result = Vec::with_capacity(pieces.len());
    let mut source = pieces.into_iter();
    let mut at = 0;
    for edit in edits {
        result.extend(source.by_ref().take(edit.range.start - at));
        source.by_ref().take(edit.range.len()).for_each(drop);
        at = edit.range.end;
        result.extend(edit.pieces);
    }
    result.extend(source);
    result
}

struct Rewriter<'r, 't> {
    tokens: &'r [Token],
    pieces: &'r [Piece<'t>],
    edits: Vec<Edit<'t>>,
}

impl Rewriter<'_, '_> {
    fn body(&mut self, body: &Body, inside: &[&str]) {
        let Some((attributes, blocks)) = body.native_items() else { return };
        for attribute in attributes {
            self.attribute(attribute, inside);
        }
        for block in blocks {
            self.labels(block);
            let kind = block.kind.name.as_str();
            let inside: Vec<&str> = inside.iter().copied().chain([kind]).collect();
            self.body(&block.body, &inside);
        }
    }

    /// The pieces whose tokens start in a range of offsets.
    fn range(&self, start: u32, end: u32) -> Range<usize> {
        let index = |offset| self.tokens.partition_point(|token| token.start < offset);
        index(start)..index(end)
    }

    fn attribute(&mut self, attribute: &Attribute, inside: &[&str]) {
        let expr: &Expr = &attribute.expr;
        let range = self.range(expr.span.start, expr.span.end);
        let pieces = &self.pieces[range.clone()];
        let is_type = inside == ["variable"] && attribute.name.name == "type";
        let replacement = if is_type { type_spelling(pieces) } else { unwrapped(pieces) };
        if let Some(pieces) = replacement {
            self.edits.push(Edit { range, pieces });
        }
    }

    /// Labels are quoted, and nothing stands before or between them.
    fn labels(&mut self, block: &Block) {
        let Some(last) = block.labels.last() else { return };
        let range = self.range(block.kind.span.end, last.span.end);
        let mut pieces = Vec::new();
        for label in &block.labels {
            pieces.push(Piece::new(TokenKind::OpenQuote, "\""));
            if !label.text.is_empty() {
                pieces.push(Piece::new(TokenKind::QuotedLit, escape(&label.text)));
            }
            pieces.push(Piece::new(TokenKind::CloseQuote, "\""));
        }
        self.edits.push(Edit { range, pieces });
    }
}

/// What `"${x}"` is without its wrapping, in parentheses if it has several lines. `None` if it is something else.
fn unwrapped<'t>(pieces: &[Piece<'t>]) -> Option<Vec<Piece<'t>>> {
    use TokenKind as K;
    let [first, second, inside @ .., before_last, last] = pieces else { return None };
    let wrapped = first.kind == K::OpenQuote
        && second.kind == K::TemplateInterp
        && before_last.kind == K::TemplateEnd
        && last.kind == K::CloseQuote;
    if !wrapped || inside.is_empty() || !is_one_interpolation(inside) {
        return None;
    }
    let start = inside.iter().position(|piece| piece.kind != K::Newline)?;
    let end = inside.iter().rposition(|piece| piece.kind != K::Newline)? + 1;
    let trimmed = &inside[start..end];
    let in_parens = trimmed.first().is_some_and(|piece| piece.kind == K::OpenParen)
        && trimmed.last().is_some_and(|piece| piece.kind == K::CloseParen)
        && trimmed.len() > 1;
    if in_parens || !trimmed.iter().any(|piece| piece.kind == K::Newline) {
        return Some(trimmed.to_vec());
    }
    let mut result = vec![Piece::new(K::OpenParen, "(")];
    result.extend_from_slice(trimmed);
    result.push(Piece::new(K::CloseParen, ")"));
    Some(result)
}

/// Whether nothing in there shows that there are several interpolations, as in `"${a}${b}"`.
fn is_one_interpolation(inside: &[Piece<'_>]) -> bool {
    let mut quotes = 0;
    for piece in inside {
        match piece.kind {
            TokenKind::OpenQuote => quotes += 1,
            TokenKind::CloseQuote => quotes -= 1,
            TokenKind::TemplateInterp | TokenKind::TemplateEnd | TokenKind::QuotedLit if quotes <= 0 => return false,
            _ => {}
        }
    }
    true
}

/// `list` is `list(any)`; `"string"`, `"list"` and `"map"` are from before types were expressions, when all elements
/// were strings.
fn type_spelling<'t>(pieces: &[Piece<'t>]) -> Option<Vec<Piece<'t>>> {
    let word = |text: &'static str| Piece::new(TokenKind::Ident, text);
    let of = |collection: Piece<'t>, element| {
        let parens = [Piece::new(TokenKind::OpenParen, "("), word(element), Piece::new(TokenKind::CloseParen, ")")];
        std::iter::once(collection).chain(parens).collect()
    };
    match pieces {
        [name] if name.kind == TokenKind::Ident && matches!(&*name.text, "list" | "map" | "set") => {
            Some(of(name.clone(), "any"))
        }
        [open, name, close]
            if (open.kind, name.kind, close.kind)
                == (TokenKind::OpenQuote, TokenKind::QuotedLit, TokenKind::CloseQuote) =>
        {
            match &*name.text {
                "string" => Some(vec![word("string")]),
                "list" => Some(of(word("list"), "string")),
                "map" => Some(of(word("map"), "string")),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The text as it has to be written between quotes.
fn escape(text: &str) -> Cow<'static, str> {
    let mut escaped = String::with_capacity(text.len());
    for (at, letter) in text.char_indices() {
        match letter {
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\t' => escaped.push_str("\\t"),
            '"' => escaped.push_str("\\\""),
            '\\' => escaped.push_str("\\\\"),
            '$' | '%' => {
                escaped.push(letter);
                if text[at + 1..].starts_with('{') {
                    escaped.push(letter);
                }
            }
            letter if is_printable(letter) => escaped.push(letter),
            letter => {
                let code = letter as u32;
                let _ =
                    if code < 0x1_0000 { write!(escaped, "\\u{code:04x}") } else { write!(escaped, "\\U{code:08x}") };
            }
        }
    }
    Cow::Owned(escaped)
}

/// Letters, marks, numbers, punctuation, symbols and the plain space. The standard library knows, but says so only in the
/// debug form of a string; the leading letter there keeps combining marks from counting as first.
fn is_printable(letter: char) -> bool {
    letter.is_ascii_graphic()
        || letter == ' '
        || (!letter.is_ascii() && !format!("{:?}", format!("a{letter}")).contains('\\'))
}
