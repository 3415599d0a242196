//! `[for …]` and `{for …}`.

use groma_model::diag::Diagnostic;

use super::Parser;
use crate::ast::{Expr, ExprKind, For, Ident};
use crate::lexer::{Token, TokenKind};

const INVALID: &str = "Invalid 'for' expression";

/// The part that has to follow did not; its error is reported already.
struct Broken;

impl Parser<'_> {
    /// Everything behind the opening bracket, with the `for` still to be read.
    pub(super) fn for_expr(&mut self, open: Token) -> Expr {
        self.push_newlines(false);
        let close_kind = open.kind.opposite().unwrap_or(TokenKind::CloseBracket);
        let expr = self.for_parts(open, close_kind).unwrap_or_else(|Broken| {
            let close = self.recover(close_kind);
            let span = self.between(open, close);
            self.invalid(span)
        });
        self.pop_newlines();
        expr
    }

    fn for_parts(&mut self, open: Token, close_kind: TokenKind) -> Result<Expr, Broken> {
        self.read(); // `for`
        let (key_name, value_name) = self.for_names(open)?;
        let mark = self.mark();
        let collection = self.expression();
        let mut height = self.height;
        if self.failed_since(mark) {
            return Err(Broken);
        }
        self.expect(open, TokenKind::Colon, "For expression requires a colon after the collection expression.")?;

        let mark = self.mark();
        let mut value = self.expression();
        height = height.max(self.height);
        let mut key = None;
        if self.peek().kind == TokenKind::FatArrow {
            self.read();
            key = Some(std::mem::replace(&mut value, self.expression()));
            height = height.max(self.height);
        }
        if self.failed_since(mark) {
            return Err(Broken);
        }
        let ellipsis = (self.peek().kind == TokenKind::Ellipsis).then(|| self.read());
        let mut condition = None;
        let next = self.peek();
        if self.is_word(next, "if") {
            self.read();
            let mark = self.mark();
            condition = Some(self.expression());
            height = height.max(self.height);
            if self.failed_since(mark) {
                return Err(Broken);
            }
        }
        let close = self.for_close(open, close_kind);
        let span = self.between(open, close);
        let (open_span, close_span, group) = (self.span(open), self.span(close), ellipsis.is_some());
        let parts = For { key_name, value_name, collection, key, value, condition, group, open_span, close_span };
        self.check_for(&parts, close_kind, ellipsis);
        Ok(self.finish(ExprKind::For(Box::new(parts)), span, height))
    }

    /// `k, v in`
    fn for_names(&mut self, open: Token) -> Result<(Option<Ident>, Ident), Broken> {
        let first = self.for_name(open, "For expression requires variable name after 'for'.")?;
        let names = if self.peek().kind == TokenKind::Comma {
            self.read();
            let value = self.for_name(open, "For expression requires value variable name after comma.")?;
            (Some(first), value)
        } else {
            (None, first)
        };
        let next = self.peek();
        if !self.is_word(next, "in") {
            self.bad_for(open, next, "For expression requires the 'in' keyword after its name declarations.");
            return Err(Broken);
        }
        self.read();
        Ok(names)
    }

    fn for_name(&mut self, open: Token, complaint: &str) -> Result<Ident, Broken> {
        let name = self.expect(open, TokenKind::Ident, complaint)?;
        Ok(Ident { name: self.word(name).into(), span: self.span(name) })
    }

    fn expect(&mut self, open: Token, kind: TokenKind, complaint: &str) -> Result<Token, Broken> {
        let next = self.peek();
        if next.kind == kind {
            return Ok(self.read());
        }
        self.bad_for(open, next, complaint);
        Err(Broken)
    }

    fn bad_for(&mut self, open: Token, next: Token, complaint: &str) {
        if !self.recovering {
            let context = self.between(open, next);
            self.error_within(INVALID, complaint, next, context);
        }
    }

    fn for_close(&mut self, open: Token, close_kind: TokenKind) -> Token {
        let next = self.peek();
        if next.kind == close_kind {
            return self.read();
        }
        self.bad_for(open, next, "Extra characters after the end of the 'for' expression.");
        self.recover(close_kind)
    }

    /// Whether key and grouping suit what is built.
    fn check_for(&mut self, parts: &For, close_kind: TokenKind, ellipsis: Option<Token>) {
        let context = parts.open_span.to(parts.close_span);
        let mut complain = |detail: &str, span| {
            self.diagnostics.push(Diagnostic::error(INVALID, detail).at(span).within(context));
        };
        if close_kind == TokenKind::CloseBrace {
            if parts.key.is_none() {
                complain("Key expression is required when building an object.", parts.value.span);
            }
            return;
        }
        if let Some(key) = &parts.key {
            complain("Key expression is not valid when building a tuple.", key.span);
        }
        if let Some(ellipsis) = ellipsis {
            let span = self.origin.span(ellipsis);
            let detail = "Grouping ellipsis (...) cannot be used when building a tuple.";
            self.diagnostics.push(Diagnostic::error(INVALID, detail).at(span).within(context));
        }
    }
}
