//! Operators, conditionals, and the steps behind a term.

use groma_model::span::Span;

use super::Parser;
use crate::ast::{
    Binary, BinaryOp, Conditional, Expr, ExprKind, Index, Literal, RelTraversal, Splat, Step, StepKey, Unary, UnaryOp,
};
use crate::lexer::{Token, TokenKind};

const ATTRIBUTE_NAME: &str = "Invalid attribute name";
const ATTRIBUTE_NAME_DETAIL: &str = "An attribute name is required after a dot.";
const LEGACY_INDEX: &str = "Invalid legacy index syntax";

impl Parser<'_> {
    /// Any expression.
    pub(super) fn expression(&mut self) -> Expr {
        if !self.enter() {
            let span = self.span(self.peek());
            return self.invalid(span);
        }
        let expr = self.conditional();
        self.leave();
        expr
    }

    /// `a ? b : c ? d : e`, where each `: … ?` goes on with the loop instead of going deeper.
    fn conditional(&mut self) -> Expr {
        let mut cases: Vec<(Expr, Expr, usize)> = Vec::new();
        let last = loop {
            let start = self.peek();
            let mark = self.mark();
            let condition = self.binary(0);
            let condition_height = self.height;
            if self.failed_since(mark) {
                return first_condition(cases, condition);
            }
            if self.peek().kind != TokenKind::Question {
                break condition;
            }
            self.read();
            let mark = self.mark();
            let then = self.expression();
            let height = condition_height.max(self.height);
            if self.failed_since(mark) {
                return first_condition(cases, condition);
            }
            let colon = self.peek();
            if colon.kind != TokenKind::Colon {
                let context = self.between(start, colon);
                let detail =
                    "The conditional operator (...?...:...) requires a false expression, delimited by a colon.";
                self.error_within("Missing false expression in conditional", detail, colon, context);
                return first_condition(cases, condition);
            }
            self.read();
            cases.push((condition, then, height));
        };
        let mut result = last;
        let mut height = self.height;
        for (condition, then, own_height) in cases.into_iter().rev() {
            let span = condition.span.to(result.span);
            let kind = ExprKind::Conditional(Box::new(Conditional { condition, then, otherwise: result }));
            result = self.finish(kind, span, height.max(own_height));
            height = self.height;
        }
        result
    }

    /// Binary operators that bind at least as tightly as `level`.
    fn binary(&mut self, level: u8) -> Expr {
        let mark = self.mark();
        let mut left = self.with_steps();
        if self.failed_since(mark) {
            return left;
        }
        let mut height = self.height;
        loop {
            let token = self.peek();
            let Some((op, binding)) = operator(token.kind).filter(|(_, binding)| *binding >= level) else {
                self.height = height;
                return left;
            };
            self.read();
            let mark = self.mark();
            let right = self.binary(binding + 1);
            if self.failed_since(mark) {
                self.height = height;
                return left;
            }
            let span = left.span.to(right.span);
            let kind = ExprKind::Binary(Box::new(Binary { op, op_span: self.span(token), left, right }));
            let highest = height.max(self.height);
            left = self.finish(kind, span, highest);
            height = self.height;
        }
    }

    /// A term with the signs before it and the steps behind it: `-a.b[0]` is `-(a.b[0])`.
    pub(super) fn with_steps(&mut self) -> Expr {
        let mut signs: Vec<(UnaryOp, Token)> = Vec::new();
        loop {
            let op = match self.peek().kind {
                TokenKind::Minus => UnaryOp::Negate,
                TokenKind::Bang => UnaryOp::Not,
                _ => break,
            };
            signs.push((op, self.read()));
        }
        let term = self.term();
        let mut result = self.steps(term);
        for (op, token) in signs.into_iter().rev() {
            let op_span = self.span(token);
            let span = op_span.to(result.span);
            let height = self.height;
            result = self.finish(ExprKind::Unary(Box::new(Unary { op, op_span, operand: result })), span, height);
        }
        result
    }

    /// `.name`, `[key]`, `.*` and `[*]` behind an expression whose height is in `self.height`.
    fn steps(&mut self, from: Expr) -> Expr {
        let start = from.span;
        let mut result = from;
        loop {
            match self.peek().kind {
                TokenKind::Dot => result = self.dot(result, start),
                TokenKind::OpenBracket => {
                    let open = self.read();
                    if self.peek().kind == TokenKind::Star {
                        result = self.full_splat(result, start, open);
                    } else {
                        result = self.index(result, start, open);
                    }
                }
                _ => return result,
            }
        }
    }

    fn dot(&mut self, source: Expr, start: Span) -> Expr {
        let dot = self.read();
        let name = self.peek();
        match name.kind {
            TokenKind::Ident => {
                self.read();
                let step = Step::Attr { name: self.word(name).into(), span: self.between(dot, name) };
                self.extend(source, step)
            }
            TokenKind::Number => {
                self.read();
                match self.legacy_index(dot, name, name, "Use the proper index syntax instead") {
                    Some(step) => self.extend(source, step),
                    None => source,
                }
            }
            TokenKind::Star => self.attribute_splat(source, start, dot),
            _ => {
                self.error(ATTRIBUTE_NAME, ATTRIBUTE_NAME_DETAIL, name);
                self.recovering = true;
                let span = start.to(self.span(dot));
                self.invalid(span)
            }
        }
    }

    /// `.0` as an index. `None` for `.0.1`, which the lexer sees as a fraction.
    fn legacy_index(&mut self, dot: Token, number: Token, complain_at: Token, advice: &str) -> Option<Step> {
        let text = self.word(number);
        if let Some((first, second)) = text.split_once('.') {
            let detail = format!(
                "When using the legacy index syntax, chaining two indexes together is not permitted. {advice}, like \
                 [{first}][{second}]."
            );
            self.error(LEGACY_INDEX, detail, complain_at);
            return None;
        }
        let span = self.between(dot, number);
        let key = StepKey::Number(self.number(number)?);
        Some(Step::Index { key, span })
    }

    /// `.*` takes only names and old-style indexes behind it.
    fn attribute_splat(&mut self, source: Expr, start: Span, dot: Token) -> Expr {
        let marker = self.read();
        let source_height = self.height;
        let first = self.peek();
        let mut last = marker;
        let mut steps = Vec::new();
        while self.peek().kind == TokenKind::Dot {
            let dot = self.read();
            let name = self.peek();
            match name.kind {
                TokenKind::Number => {
                    let advice = "Use the proper index syntax with a full splat expression [*] instead";
                    self.read();
                    steps.extend(self.legacy_index(dot, name, marker, advice));
                }
                TokenKind::Ident => {
                    self.read();
                    steps.push(Step::Attr { name: self.word(name).into(), span: self.between(dot, name) });
                }
                _ => {
                    self.bad_splat_step(name, marker);
                    self.height = source_height;
                    return source;
                }
            }
            last = name;
        }
        let marker_span = self.between(dot, marker);
        let item = Expr { kind: ExprKind::SplatItem, span: marker_span };
        let (each, each_height) = if steps.is_empty() {
            (item, 1)
        } else {
            let kind = ExprKind::RelTraversal(Box::new(RelTraversal { base: item, steps }));
            (Expr { kind, span: self.between(first, last) }, 2)
        };
        let kind = ExprKind::Splat(Box::new(Splat { source, each, marker_span }));
        let span = start.to(self.span(last));
        self.finish(kind, span, source_height.max(each_height))
    }

    fn bad_splat_step(&mut self, bad: Token, marker: Token) {
        if !self.recovering {
            if bad.kind == TokenKind::Star {
                let detail = "A splat expression (*) cannot be used inside another attribute-only splat expression.";
                self.error("Nested splat expression not allowed", detail, bad);
            } else {
                self.error(ATTRIBUTE_NAME, ATTRIBUTE_NAME_DETAIL, marker);
            }
        }
        self.recovering = true;
    }

    /// `[*]` takes all steps behind it.
    fn full_splat(&mut self, source: Expr, start: Span, open: Token) -> Expr {
        self.read(); // the star
        let source_height = self.height;
        let mut close = self.read();
        if close.kind != TokenKind::CloseBracket && !self.recovering {
            let detail =
                "The star for a full splat operator must be immediately followed by a closing bracket (\"]\").";
            // Reported where the bracket is found in the end, as OpenTofu does.
            close = self.recover(TokenKind::CloseBracket);
            self.error("Missing close bracket on splat index", detail, close);
        }
        let marker_span = self.between(open, close);
        self.height = 1;
        let item = Expr { kind: ExprKind::SplatItem, span: marker_span };
        let each = if self.enter() {
            let each = self.steps(item);
            self.leave();
            each
        } else {
            item
        };
        let span = start.to(each.span);
        let height = source_height.max(self.height);
        self.finish(ExprKind::Splat(Box::new(Splat { source, each, marker_span })), span, height)
    }

    fn index(&mut self, source: Expr, start: Span, open: Token) -> Expr {
        let source_height = self.height;
        self.push_newlines(false);
        let mark = self.mark();
        let key = self.expression();
        let close = if self.failed_since(mark) {
            self.recover(TokenKind::CloseBracket)
        } else {
            let close = self.read();
            if close.kind != TokenKind::CloseBracket && !self.recovering {
                let detail = "The index operator must end with a closing bracket (\"]\").";
                let close = self.recover(TokenKind::CloseBracket);
                self.error("Missing close bracket on index", detail, close);
                close
            } else {
                close
            }
        };
        self.pop_newlines();
        let bracket_span = self.between(open, close);
        if let Some(key) = constant_step(&key) {
            self.height = source_height;
            return self.extend(source, Step::Index { key, span: bracket_span });
        }
        let height = source_height.max(self.height);
        let span = start.to(bracket_span);
        self.finish(ExprKind::Index(Box::new(Index { collection: source, key, bracket_span })), span, height)
    }

    /// Adds a step to an expression whose height is in `self.height`.
    fn extend(&mut self, source: Expr, step: Step) -> Expr {
        let span = source.span.to(step.span());
        match source.kind {
            ExprKind::Traversal(mut traversal) => {
                traversal.steps.push(step);
                traversal.span = span;
                Expr { kind: ExprKind::Traversal(traversal), span }
            }
            ExprKind::RelTraversal(mut relative) => {
                relative.steps.push(step);
                Expr { kind: ExprKind::RelTraversal(relative), span }
            }
            kind => {
                let base = Expr { kind, span: source.span };
                let height = self.height;
                let kind = ExprKind::RelTraversal(Box::new(RelTraversal { base, steps: vec![step] }));
                self.finish(kind, span, height)
            }
        }
    }
}

fn first_condition(cases: Vec<(Expr, Expr, usize)>, current: Expr) -> Expr {
    cases.into_iter().next().map_or(current, |(condition, ..)| condition)
}

/// The key of an index as a constant, if it is one.
fn constant_step(key: &Expr) -> Option<StepKey> {
    match &key.kind {
        ExprKind::Literal(Literal::Number(number)) => Some(StepKey::Number(number.clone())),
        ExprKind::Template(template) => template.as_constant().map(StepKey::String),
        _ => None,
    }
}

/// The operator that a token is, and how tightly it binds.
fn operator(kind: TokenKind) -> Option<(BinaryOp, u8)> {
    Some(match kind {
        TokenKind::Or => (BinaryOp::Or, 0),
        TokenKind::And => (BinaryOp::And, 1),
        TokenKind::EqualEqual => (BinaryOp::Equal, 2),
        TokenKind::NotEqual => (BinaryOp::NotEqual, 2),
        TokenKind::Greater => (BinaryOp::Greater, 3),
        TokenKind::GreaterEqual => (BinaryOp::GreaterOrEqual, 3),
        TokenKind::Less => (BinaryOp::Less, 3),
        TokenKind::LessEqual => (BinaryOp::LessOrEqual, 3),
        TokenKind::Plus => (BinaryOp::Add, 4),
        TokenKind::Minus => (BinaryOp::Subtract, 4),
        TokenKind::Star => (BinaryOp::Multiply, 5),
        TokenKind::Slash => (BinaryOp::Divide, 5),
        TokenKind::Percent => (BinaryOp::Modulo, 5),
        _ => return None,
    })
}
