//! Terms: literals, references, calls, and what stands in brackets.

use groma_model::diag::Diagnostic;
use groma_model::number::Number;
use groma_model::span::Span;
use groma_model::text::Str;

use super::Parser;
use crate::ast::{Call, Expr, ExprKind, Ident, Literal, ObjectItem, TemplateKind, Traversal};
use crate::lexer::{Token, TokenKind};

impl Parser<'_> {
    /// An expression without operators around and steps behind.
    pub(super) fn term(&mut self) -> Expr {
        let start = self.peek();
        match start.kind {
            TokenKind::OpenParen => self.parens(),
            TokenKind::Number => self.number_literal(),
            TokenKind::Ident => self.word_or_call(),
            TokenKind::OpenQuote => {
                self.read();
                self.template(Some(start), TokenKind::CloseQuote, TemplateKind::Quoted, false)
            }
            TokenKind::OpenHeredoc => {
                self.read();
                let flush = self.word(start).starts_with("<<-");
                self.template(Some(start), TokenKind::CloseHeredoc, TemplateKind::Heredoc, flush)
            }
            TokenKind::OpenBracket => self.tuple(),
            TokenKind::OpenBrace => self.object(),
            _ => self.no_term(start),
        }
    }

    fn no_term(&mut self, start: Token) -> Expr {
        if !self.recovering {
            if start.kind == TokenKind::Eof {
                let detail = "Expected the start of an expression, but found the end of the file.";
                self.error("Missing expression", detail, start);
            } else {
                let detail = "Expected the start of an expression, but found an invalid expression token.";
                self.error("Invalid expression", detail, start);
            }
        }
        self.recovering = true;
        let span = self.span(start);
        self.invalid(span)
    }

    fn parens(&mut self) -> Expr {
        let open = self.read();
        self.push_newlines(false);
        let mark = self.mark();
        let inner = self.expression();
        let height = self.height;
        if self.errors_since(mark) {
            self.recover(TokenKind::CloseParen);
            self.pop_newlines();
            self.height = height;
            return inner;
        }
        let close = self.peek();
        if close.kind != TokenKind::CloseParen {
            let context = self.between(open, close);
            let detail = "Expected a closing parenthesis to terminate the expression.";
            self.error_within("Unbalanced parentheses", detail, close, context);
            self.recovering = true;
        }
        self.read();
        self.pop_newlines();
        let span = self.between(open, close);
        self.finish(ExprKind::Parens(Box::new(inner)), span, height)
    }

    fn number_literal(&mut self) -> Expr {
        let token = self.read();
        let kind = match self.number(token) {
            Some(number) => ExprKind::Literal(Literal::Number(number)),
            None => ExprKind::Invalid,
        };
        self.height = 1;
        Expr { kind, span: self.span(token) }
    }

    pub(super) fn number(&mut self, token: Token) -> Option<Number> {
        let number = Number::parse(self.word(token));
        if number.is_none() {
            self.error("Invalid number literal", "Failed to recognize the value of this number literal.", token);
        }
        number
    }

    fn word_or_call(&mut self) -> Expr {
        let name = self.read();
        if matches!(self.peek().kind, TokenKind::OpenParen | TokenKind::DoubleColon) {
            return self.call(name);
        }
        let span = self.span(name);
        let kind = match self.word(name) {
            "true" => ExprKind::Literal(Literal::Bool(true)),
            "false" => ExprKind::Literal(Literal::Bool(false)),
            "null" => ExprKind::Literal(Literal::Null),
            word => {
                let root = Ident { name: word.into(), span };
                ExprKind::Traversal(Box::new(Traversal { root, steps: Vec::new(), span }))
            }
        };
        self.height = 1;
        Expr { kind, span }
    }

    /// A call whose first name is read already.
    fn call(&mut self, first: Token) -> Expr {
        let mut name = self.word(first).to_owned();
        let mut last = first;
        let mut open = self.read();
        while open.kind == TokenKind::DoubleColon {
            let next = self.read();
            if next.kind != TokenKind::Ident {
                let detail = "Function scope resolution symbol :: must be followed by a function name in this scope.";
                return self.bad_call(first, next, "Missing function name", detail);
            }
            name.push_str("::");
            name.push_str(self.word(next));
            last = next;
            open = self.read();
        }
        if open.kind != TokenKind::OpenParen {
            let detail = "Function selector must be followed by an open parenthesis to begin the function call.";
            return self.bad_call(first, open, "Missing open parenthesis", detail);
        }
        self.push_newlines(false);
        let arguments = self.arguments(first, open);
        self.pop_newlines();
        let call = Call {
            name: Str::new(name),
            name_span: self.between(first, last),
            args: arguments.args,
            expand_final: arguments.expand_final,
            open_span: self.span(open),
            close_span: self.span(arguments.close),
        };
        let span = self.between(first, arguments.close);
        self.finish(ExprKind::Call(Box::new(call)), span, arguments.height)
    }

    fn bad_call(&mut self, first: Token, bad: Token, summary: &str, detail: &str) -> Expr {
        let span = self.between(first, bad);
        self.error_within(summary, detail, bad, span);
        self.recover_over(TokenKind::OpenParen, TokenKind::CloseParen);
        self.invalid(span)
    }

    /// Everything up to and including the closing parenthesis.
    fn arguments(&mut self, name: Token, open: Token) -> Arguments {
        let mut found = Arguments { args: Vec::new(), expand_final: false, close: open, height: 0 };
        loop {
            if self.peek().kind == TokenKind::CloseParen {
                found.close = self.read();
                return found;
            }
            let mark = self.mark();
            found.args.push(self.expression());
            found.height = found.height.max(self.height);
            if self.failed_since(mark) {
                let close = self.recover(TokenKind::CloseParen);
                if close.kind == TokenKind::CloseParen {
                    found.close = close;
                }
                return found;
            }
            let separator = self.read();
            match separator.kind {
                TokenKind::Comma => {}
                TokenKind::CloseParen => {
                    found.close = separator;
                    return found;
                }
                TokenKind::Ellipsis => {
                    found.expand_final = true;
                    found.close = self.close_behind_ellipsis(name, separator);
                    return found;
                }
                _ => {
                    self.bad_separator(name, open, separator);
                    found.close = self.recover(TokenKind::CloseParen);
                    return found;
                }
            }
        }
    }

    fn close_behind_ellipsis(&mut self, name: Token, ellipsis: Token) -> Token {
        if self.peek().kind == TokenKind::CloseParen {
            return self.read();
        }
        if !self.recovering {
            let context = self.between(name, ellipsis);
            let detail =
                "An expanded function argument (with ...) must be immediately followed by closing parentheses.";
            self.error_within("Missing closing parenthesis", detail, ellipsis, context);
        }
        self.recover(TokenKind::CloseParen)
    }

    fn bad_separator(&mut self, name: Token, open: Token, separator: Token) {
        if separator.kind == TokenKind::Eof {
            let detail = "There is no closing parenthesis for this function call before the end of the file. This may be caused \
                          by incorrect parenthesis nesting elsewhere in this file.";
            let span = self.between(name, open);
            self.diagnostics.push(Diagnostic::error("Unterminated function call", detail).at(span));
        } else {
            let context = self.between(name, separator);
            let detail = "A comma is required to separate each function argument from the next.";
            self.error_within("Missing argument separator", detail, separator, context);
        }
    }

    fn tuple(&mut self) -> Expr {
        let open = self.read();
        self.push_newlines(false);
        let next = self.peek();
        let expr = if self.is_word(next, "for") { self.for_expr(open) } else { self.tuple_items(open) };
        self.pop_newlines();
        expr
    }

    fn tuple_items(&mut self, open: Token) -> Expr {
        let mut items = Vec::new();
        let mut height = 0;
        let close = loop {
            if self.peek().kind == TokenKind::CloseBracket {
                break self.read();
            }
            let mark = self.mark();
            items.push(self.expression());
            height = height.max(self.height);
            if self.failed_since(mark) {
                break self.recover(TokenKind::CloseBracket);
            }
            let next = self.peek();
            match next.kind {
                TokenKind::CloseBracket => break self.read(),
                TokenKind::Comma => {
                    self.read();
                }
                _ => {
                    self.bad_tuple(open, next);
                    break self.recover(TokenKind::CloseBracket);
                }
            }
        };
        let span = self.between(open, close);
        self.finish(ExprKind::Tuple(items), span, height)
    }

    fn bad_tuple(&mut self, open: Token, next: Token) {
        if self.recovering {
            return;
        }
        if next.kind == TokenKind::Eof {
            let detail = "There is no corresponding closing bracket before the end of the file. This may be caused by incorrect \
                          bracket nesting elsewhere in this file.";
            self.error("Unterminated tuple constructor expression", detail, open);
        } else {
            let context = self.between(open, next);
            let detail = "Expected a comma to mark the beginning of the next item.";
            self.error_within("Missing item separator", detail, next, context);
        }
    }

    fn object(&mut self) -> Expr {
        let open = self.read();
        // A `for` may stand on the next line, though newlines separate the items of other objects.
        self.push_newlines(false);
        let next = self.peek();
        self.pop_newlines();
        if self.is_word(next, "for") {
            return self.for_expr(open);
        }
        self.push_newlines(true);
        let expr = self.object_items(open);
        self.pop_newlines();
        expr
    }

    fn object_items(&mut self, open: Token) -> Expr {
        let mut items = Vec::new();
        let mut height = 0;
        let close = loop {
            match self.peek().kind {
                TokenKind::Newline => {
                    self.read();
                    continue;
                }
                TokenKind::CloseBrace => break self.read(),
                _ => {}
            }
            let Some(item) = self.object_item(open) else {
                break self.recover(TokenKind::CloseBrace);
            };
            items.push(item);
            height = height.max(self.height);
            let next = self.peek();
            match next.kind {
                TokenKind::CloseBrace => break self.read(),
                TokenKind::Comma | TokenKind::Newline => {
                    self.read();
                }
                _ => {
                    let detail = "Expected a newline or comma to mark the beginning of the next attribute.";
                    self.bad_object(open, next, "Missing attribute separator", detail);
                    break self.recover(TokenKind::CloseBrace);
                }
            }
        };
        let span = self.between(open, close);
        self.finish(ExprKind::Object(items), span, height)
    }

    /// `key = value`. `None` if the parser has to skip to the end of the object.
    fn object_item(&mut self, open: Token) -> Option<ObjectItem> {
        let mark = self.mark();
        let key = self.expression();
        let key_height = self.height;
        if self.failed_since(mark) {
            return None;
        }
        let next = self.peek();
        if !matches!(next.kind, TokenKind::Equal | TokenKind::Colon) {
            let (summary, detail) = match next.kind {
                TokenKind::Newline | TokenKind::Comma => {
                    ("Missing attribute value", "Expected an attribute value, introduced by an equals sign (\"=\").")
                }
                TokenKind::Ident => (
                    "Missing key/value separator",
                    "Expected an equals sign (\"=\") to mark the beginning of the attribute value. If you intended to given an \
                     attribute name containing periods or spaces, write the name in quotes to create a string literal.",
                ),
                _ => (
                    "Missing key/value separator",
                    "Expected an equals sign (\"=\") to mark the beginning of the attribute value.",
                ),
            };
            self.bad_object(open, next, summary, detail);
            return None;
        }
        self.read();
        let mark = self.mark();
        let value = self.expression();
        if self.failed_since(mark) {
            return None;
        }
        self.height = self.height.max(key_height);
        Some(ObjectItem { key, value })
    }

    fn bad_object(&mut self, open: Token, next: Token, summary: &str, detail: &str) {
        if self.recovering {
            return;
        }
        if next.kind == TokenKind::Eof {
            let detail = "There is no corresponding closing brace before the end of the file. This may be caused by incorrect \
                          brace nesting elsewhere in this file.";
            self.error("Unterminated object constructor expression", detail, open);
        } else {
            let context: Span = self.between(open, next);
            self.error_within(summary, detail, next, context);
        }
    }
}

struct Arguments {
    args: Vec<Expr>,
    expand_final: bool,
    close: Token,
    height: usize,
}
