//! Bodies, arguments and blocks.

use std::collections::HashMap;
use std::sync::Arc;

use groma_model::diag::Diagnostic;
use groma_model::span::Span;

use super::Parser;
use crate::ast::Ident;
use crate::body::{Attribute, Block, Body, Label, NativeItems};
use crate::lexer::{Token, TokenKind};

const ITEM_REQUIRED: &str = "Argument or block definition required";
const ITEM_REQUIRED_DETAIL: &str = "An argument or block definition is required here.";
const EQUALS_ADVICE: &str = "An argument or block definition is required here. To set an argument, use the equals sign \"=\" \
                             to introduce the argument value.";
const UNCLOSED: &str = "Unclosed configuration block";
const UNCLOSED_DETAIL: &str = "There is no closing brace for this block before the end of the file. This may be caused by \
                               incorrect brace nesting elsewhere in this file.";
const SINGLE: &str = "Invalid single-argument block definition";

/// How many mistakes are looked for in text that is skipped. More help nobody.
const MAX_SALVAGED: usize = 100;

/// What an item of a body is.
enum Item {
    Attribute(Attribute),
    Block(Block),
}

/// Arguments and blocks as they are found.
#[derive(Default)]
struct Items {
    attributes: Vec<Attribute>,
    blocks: Vec<Block>,
    /// Places of the attributes by name, once there are too many to look through.
    index: HashMap<groma_model::text::Str, usize>,
}

impl Items {
    const SMALL: usize = 12;

    fn position(&self, name: &str) -> Option<usize> {
        if self.index.is_empty() {
            return self.attributes.iter().position(|attribute| attribute.name.name == *name);
        }
        self.index.get(name).copied()
    }

    fn add(&mut self, attribute: Attribute) {
        self.attributes.push(attribute);
        let unindexed = if self.attributes.len() == Self::SMALL { 0 } else { self.attributes.len() - 1 };
        if self.attributes.len() >= Self::SMALL {
            for (at, attribute) in self.attributes.iter().enumerate().skip(unindexed) {
                self.index.insert(attribute.name.name.clone(), at);
            }
        }
    }
}

impl Parser<'_> {
    /// Everything up to and including the token `end`.
    pub(super) fn body(&mut self, end: TokenKind) -> Body {
        let start = self.previous();
        let mut items = Items::default();
        let last = loop {
            let next = self.peek();
            if next.kind == end {
                break self.read();
            }
            match next.kind {
                TokenKind::Newline => {
                    self.read();
                }
                TokenKind::Ident => {
                    if self.recovering && self.looks_like_item() {
                        self.recovering = false;
                    }
                    let item = self.item();
                    self.add(item, &mut items);
                }
                _ => {
                    self.bad_item(end, start);
                    let last = self.previous();
                    self.skip_body(end);
                    break last;
                }
            }
        };
        let span = self.between(start, last);
        Body::native(NativeItems { attributes: items.attributes, blocks: items.blocks, span })
    }

    fn add(&mut self, item: Option<Item>, items: &mut Items) {
        match item {
            Some(Item::Block(block)) => items.blocks.push(block),
            Some(Item::Attribute(attribute)) => match items.position(&attribute.name.name) {
                Some(existing) => {
                    let place = self.place(items.attributes[existing].name.span);
                    let name = attribute.name.name.as_str();
                    let detail =
                        format!("The argument {name:?} was already set{place}. Each argument may be set only once.");
                    self.diagnostics.push(Diagnostic::error("Attribute redefined", detail).at(attribute.name.span));
                }
                None => items.add(attribute),
            },
            None => {}
        }
    }

    /// ` at main.tf:3,5-9`, if that is known.
    pub(super) fn place(&self, span: Span) -> String {
        let Some(source) = self.source else { return String::new() };
        let (start, end) = (source.position(span.start), source.position(span.end));
        if start.line == end.line {
            return format!(" at {}:{},{}-{}", source.name(), start.line, start.column, end.column);
        }
        format!(" at {}:{},{}-{},{}", source.name(), start.line, start.column, end.line, end.column)
    }

    /// Whether a line starts here that can be an argument or a block, in a part of the file where quotes are in order.
    fn looks_like_item(&self) -> bool {
        let Some(at) = self.tokens.get(self.next) else { return false };
        let line_start = match self.next.checked_sub(1).and_then(|at| self.tokens.get(at)) {
            None => true,
            Some(before) => before.kind == TokenKind::Newline || self.word(*before).ends_with('\n'),
        };
        let follows = self.tokens.get(self.next + 1).map(|token| token.kind);
        let plausible =
            matches!(follows, Some(TokenKind::Equal | TokenKind::OpenBrace | TokenKind::OpenQuote | TokenKind::Ident));
        at.kind == TokenKind::Ident && line_start && plausible && at.start < self.unreliable_from
    }

    /// Reads a token that no item starts with, and says so.
    fn bad_item(&mut self, end: TokenKind, body_start: Token) {
        let bad = self.read();
        if self.recovering {
            return;
        }
        match bad.kind {
            TokenKind::OpenQuote => self.error("Invalid argument name", "Argument names must not be quoted.", bad),
            TokenKind::Eof | TokenKind::CloseBrace if self.skipped => {}
            TokenKind::Eof if end == TokenKind::CloseBrace => self.error(UNCLOSED, UNCLOSED_DETAIL, body_start),
            TokenKind::OpenBrace if self.salvaging => {}
            _ => self.error(ITEM_REQUIRED, ITEM_REQUIRED_DETAIL, bad),
        }
    }

    /// Skips the rest of a body, but looks for mistakes in it.
    fn skip_body(&mut self, end: TokenKind) {
        if self.salvaging {
            // The text is being skipped already; the next line may make sense again.
            if !matches!(self.previous().kind, TokenKind::OpenBrace | TokenKind::CloseBrace | TokenKind::Eof) {
                self.recover_after_item();
            }
            return;
        }
        let from = self.next;
        // What looks like division here is a comment without an end: what follows is prose.
        let prose = self.previous().kind == TokenKind::Slash;
        self.recover(end);
        let (behind, limit) = (self.next, self.limit);
        if self.unreliable_from == u32::MAX && !prose {
            self.salvaging = true;
            self.limit = behind.saturating_sub(1);
            self.seek(from);
            self.salvage();
            (self.salvaging, self.limit) = (false, limit);
            self.seek(behind);
        }
        self.recovering = true;
    }

    fn salvage(&mut self) {
        let mark = self.mark();
        self.skip_body(TokenKind::Eof);
        while self.next < self.limit && self.diagnostics.len() < mark + MAX_SALVAGED {
            let before = self.next;
            self.body(TokenKind::Eof);
            if self.next == before {
                self.seek(before + 1);
            }
        }
    }

    fn item(&mut self) -> Option<Item> {
        let ident = self.read();
        match self.peek().kind {
            TokenKind::Equal => Some(Item::Attribute(self.attribute(ident, false))),
            TokenKind::OpenQuote | TokenKind::OpenBrace | TokenKind::Ident => Some(Item::Block(self.block(ident))),
            _ => {
                self.recover_after_item();
                self.error(ITEM_REQUIRED, EQUALS_ADVICE, ident);
                None
            }
        }
    }

    fn ident(&self, token: Token) -> Ident {
        Ident { name: self.word(token).into(), span: self.span(token) }
    }

    fn attribute(&mut self, ident: Token, single_line: bool) -> Attribute {
        self.read(); // the equals sign
        let mark = self.mark();
        let expr = self.expression();
        let mut last = self.previous();
        if self.failed_since(mark) {
            self.recover_after_item();
        } else if !single_line {
            let end = self.peek();
            if matches!(end.kind, TokenKind::Newline | TokenKind::Eof) {
                self.read();
            } else {
                self.missing_newline(ident, end);
                last = self.previous();
                self.recover_after_item();
            }
        }
        Attribute { name: self.ident(ident), expr: Arc::new(expr), span: self.between(ident, last) }
    }

    fn missing_newline(&mut self, ident: Token, end: Token) {
        if self.recovering {
            return;
        }
        let context = self.between(ident, end);
        if end.kind == TokenKind::Comma {
            let detail = "Argument definitions must be separated by newlines, not commas. An argument definition must end with \
                          a newline.";
            self.error_within("Unexpected comma after argument", detail, end, context);
        } else {
            let detail = "An argument definition must end with a newline.";
            self.error_within("Missing newline after argument", detail, end, context);
        }
    }

    fn block(&mut self, kind: Token) -> Block {
        let mut labels = Vec::new();
        let open = loop {
            let next = self.peek();
            match next.kind {
                TokenKind::OpenBrace => break self.read(),
                TokenKind::OpenQuote => {
                    let (text, span) = self.quoted_literal();
                    labels.push(Label { text, span });
                }
                TokenKind::Ident => {
                    self.read();
                    labels.push(Label { text: self.word(next).into(), span: self.span(next) });
                }
                _ => return self.bad_block(kind, labels, next),
            }
        };
        let body = self.block_body(kind, open);
        let close = self.previous();
        let end = self.peek();
        if matches!(end.kind, TokenKind::Newline | TokenKind::Eof) {
            self.read();
        } else {
            if !self.recovering {
                let context = self.between(kind, end);
                let detail = "A block definition must end with a newline.";
                self.error_within("Missing newline after block definition", detail, end, context);
            }
            self.recover_after_item();
        }
        let body = body.unwrap_or_else(|| Body::empty(self.between(open, close)));
        self.finish_block(kind, labels, body, (open, close))
    }

    fn finish_block(&self, kind: Token, labels: Vec<Label>, body: Body, braces: (Token, Token)) -> Block {
        let kind_span = self.span(kind);
        Block {
            kind: self.ident(kind),
            header_span: labels.last().map_or(kind_span, |label| kind_span.to(label.span)),
            labels,
            body,
            span: kind_span.to(self.span(braces.1)),
            open_span: self.span(braces.0),
            close_span: self.span(braces.1),
        }
    }

    /// A block whose header goes wrong at `bad`.
    fn bad_block(&mut self, kind: Token, labels: Vec<Label>, bad: Token) -> Block {
        let detail = match bad.kind {
            TokenKind::Equal => Some(
                "The equals sign \"=\" indicates an argument definition, and must not be used when defining a block.",
            ),
            TokenKind::Newline => Some(
                "A block definition must have block content delimited by \"{\" and \"}\", starting on the same line as the \
                 block header.",
            ),
            _ if !self.recovering => {
                Some("Either a quoted string block label or an opening brace (\"{\") is expected here.")
            }
            _ => None,
        };
        if let Some(detail) = detail {
            let context = self.between(kind, bad);
            self.error_within("Invalid block definition", detail, bad, context);
        }
        self.recover_after_item();
        let body = Body::empty(self.span(kind));
        self.finish_block(kind, labels, body, (kind, kind))
    }

    /// What is between the braces of a block, and the closing one.
    fn block_body(&mut self, kind: Token, open: Token) -> Option<Body> {
        if !self.enter() {
            self.recover(TokenKind::CloseBrace);
            return None;
        }
        let body = match self.peek().kind {
            TokenKind::Newline | TokenKind::Eof | TokenKind::CloseBrace => Some(self.body(TokenKind::CloseBrace)),
            _ => self.single_line_body(kind, open),
        };
        self.leave();
        body
    }

    /// `{ name = expr }` on one line.
    fn single_line_body(&mut self, kind: Token, open: Token) -> Option<Body> {
        let attribute = self.single_attribute();
        let next = self.peek();
        let problem = match next.kind {
            TokenKind::CloseBrace => {
                self.read();
                None
            }
            TokenKind::Comma => Some(
                "Single-line block syntax can include only one argument definition. To define multiple arguments, use the \
                 multi-line block syntax with one argument definition per line.",
            ),
            TokenKind::Newline => Some(
                "An argument definition on the same line as its containing block creates a single-line block definition, which \
                 must also be closed on the same line. Place the block's closing brace immediately after the argument definition.",
            ),
            TokenKind::Eof => {
                if !self.recovering {
                    let context = self.between(kind, open);
                    self.error_within(UNCLOSED, UNCLOSED_DETAIL, open, context);
                }
                self.recover(TokenKind::CloseBrace);
                None
            }
            _ => {
                if !self.recovering {
                    let detail = "A single-line block definition must end with a closing brace immediately after its single \
                                  argument definition.";
                    self.error(SINGLE, detail, next);
                }
                self.recover(TokenKind::CloseBrace);
                None
            }
        };
        if let Some(detail) = problem {
            self.error(SINGLE, detail, next);
            self.recover(TokenKind::CloseBrace);
        }
        let attribute = attribute?;
        let span = attribute.span;
        Some(Body::native(NativeItems { attributes: vec![attribute], blocks: Vec::new(), span }))
    }

    fn single_attribute(&mut self) -> Option<Attribute> {
        let ident = self.read();
        if ident.kind != TokenKind::Ident {
            self.recover_after_item();
            self.error(ITEM_REQUIRED, ITEM_REQUIRED_DETAIL, ident);
            return None;
        }
        let next = self.peek();
        match next.kind {
            TokenKind::Equal => return Some(self.attribute(ident, true)),
            TokenKind::OpenQuote | TokenKind::OpenBrace | TokenKind::Ident => {
                self.recover_after_item();
                let detail = format!(
                    "A single-line block definition can contain only a single argument. If you meant to define argument {:?}, \
                     use an equals sign to assign it a value. To define a nested block, place it on a line of its own within its \
                     parent block.",
                    self.word(ident)
                );
                let span = self.between(ident, next);
                self.diagnostics.push(Diagnostic::error("Argument definition required", detail).at(span));
            }
            _ => {
                self.recover_after_item();
                self.error(ITEM_REQUIRED, EQUALS_ADVICE, ident);
            }
        }
        None
    }
}
