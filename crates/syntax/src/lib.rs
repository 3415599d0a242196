//! From text to tree: the native syntax and the JSON syntax of the configuration language, and `fmt`.
//!
//! Nothing is evaluated here and no file is opened. A text with mistakes still gives a tree; the mistakes are in the
//! diagnostics beside it, and what could not be read is [`ast::ExprKind::Invalid`].

pub mod analysis;
pub mod ast;
pub mod body;
pub mod fmt;
mod json;
mod lexer;
mod parser;

use groma_model::diag::Diagnostics;
use groma_model::span::{FileId, SourceMap, Span};

use crate::ast::{Expr, Traversal};
use crate::body::Body;

/// How deep expressions and blocks may be nested in a text.
///
/// Everything that walks a tree may recurse: this and [`MAX_HEIGHT`] keep it within a stack of 2 MiB.
pub const MAX_NESTING: usize = 200;

/// How high the tree of one expression may be. A chain of operators or indexes adds one level per link.
pub const MAX_HEIGHT: usize = 500;

/// What was read, and what was wrong with it.
#[derive(Debug, Clone)]
pub struct Parsed<T> {
    /// What was read. Usable, though incomplete, if there are errors.
    pub value: T,
    /// What was wrong.
    pub diagnostics: Diagnostics,
}

/// Reads a whole file of the native syntax.
pub fn parse_native(map: &SourceMap, file: FileId) -> Parsed<Body> {
    parser::file(map.file(file), file)
}

/// Reads a whole file of the JSON syntax.
pub fn parse_json(map: &SourceMap, file: FileId) -> Parsed<Body> {
    json::file(map.file(file), file)
}

/// Reads a file that is one expression. Newlines mean nothing in it.
pub fn parse_expr(map: &SourceMap, file: FileId) -> Parsed<Expr> {
    parser::expression(map.file(file).text(), parser::Origin::file(file))
}

/// Reads a file that is one template.
pub fn parse_template(map: &SourceMap, file: FileId) -> Parsed<Expr> {
    parser::template(map.file(file).text(), parser::Origin::file(file), ast::TemplateKind::File)
}

/// Reads a file that is one reference with constant steps.
pub fn parse_traversal(map: &SourceMap, file: FileId) -> Parsed<Option<Traversal>> {
    parser::traversal(map.file(file).text(), parser::Origin::file(file))
}

/// Reads the reference that stands as `text` between the quotes at `span`.
pub fn parse_quoted_traversal(text: &str, span: Span) -> Parsed<Option<Traversal>> {
    parser::traversal(text, parser::Origin::quoted(text, span))
}

/// Whether a text is a name of the language: a letter or underscore, then letters, digits, underscores and hyphens.
pub fn is_identifier(text: &str) -> bool {
    lexer::is_identifier(text)
}

/// How many more brackets (of all kinds) a text opens than it closes, so that a prompt knows whether to ask for more lines.
pub fn open_brackets(text: &str) -> i64 {
    use lexer::TokenKind::{CloseBrace, CloseBracket, CloseParen, OpenBrace, OpenBracket, OpenParen};

    let weight = |token: &lexer::Token| match token.kind {
        OpenBrace | OpenBracket | OpenParen => 1,
        CloseBrace | CloseBracket | CloseParen => -1,
        _ => 0,
    };
    lexer::lex(text).iter().map(weight).sum()
}
