//! `fmt`: the canonical layout of native syntax, byte for byte as `tofu fmt` gives it. Works on tokens: only the spaces
//! between them change, apart from the few old spellings that `rewrite` replaces.

mod layout;
mod rewrite;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use groma_model::diag::Diagnostics;
use groma_model::span::{FileId, SourceMap};

use crate::lexer::{self, Token, TokenKind};

/// A token with the spaces before it.
#[derive(Debug, Clone)]
struct Piece<'t> {
    kind: TokenKind,
    text: Cow<'t, str>,
    spaces: usize,
}

impl Piece<'_> {
    /// A piece that the source does not have; the layout decides on its spaces.
    fn new(kind: TokenKind, text: impl Into<Cow<'static, str>>) -> Self {
        Self { kind, text: text.into(), spaces: 0 }
    }
}

/// Lays out a file and replaces old spellings. A file that does not parse is left alone, because the result would be hard
/// to undo.
pub fn format_file(map: &SourceMap, file: FileId) -> Result<String, Diagnostics> {
    let parsed = crate::parse_native(map, file);
    if parsed.diagnostics.has_errors() {
        return Err(parsed.diagnostics);
    }
    let text = map.file(file).text();
    let tokens = lexer::lex(text);
    let mut pieces = rewrite::rewrite(&parsed.value, &tokens, pieces(text, &tokens));
    layout::layout(&mut pieces);
    Ok(print(&pieces))
}

/// Lays out any text, also one that is only part of a file or does not parse. Spellings are kept.
pub fn format(source: &str) -> String {
    let tokens = lexer::lex(source);
    let mut pieces = pieces(source, &tokens);
    layout::layout(&mut pieces);
    print(&pieces)
}

fn pieces<'t>(text: &'t str, tokens: &[Token]) -> Vec<Piece<'t>> {
    let mut end = 0;
    let piece = |token: &Token| {
        let spaces = (token.start - end) as usize;
        end = token.end;
        Piece { kind: token.kind, text: Cow::Borrowed(token.text(text)), spaces }
    };
    tokens.iter().map(piece).collect()
}

fn print(pieces: &[Piece<'_>]) -> String {
    let len = pieces.iter().map(|piece| piece.spaces + piece.text.len()).sum();
    let mut text = String::with_capacity(len);
    for piece in pieces {
        text.extend(std::iter::repeat_n(' ', piece.spaces));
        text.push_str(&piece.text);
    }
    text
}
