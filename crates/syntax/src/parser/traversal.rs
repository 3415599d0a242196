//! A text that is nothing but a reference with constant steps.

use groma_model::text::Str;

use super::Parser;
use crate::ast::{Ident, Step, StepKey, Traversal};
use crate::lexer::{Token, TokenKind};

impl Parser<'_> {
    /// The whole text as a reference.
    pub(super) fn traversal(&mut self) -> Option<Traversal> {
        let root = self.read();
        if root.kind != TokenKind::Ident {
            self.error("Variable name required", "Must begin with a variable name.", root);
            return None;
        }
        let span = self.span(root);
        let mut result = Traversal { root: Ident { name: self.word(root).into(), span }, steps: Vec::new(), span };
        loop {
            let next = self.peek();
            let step = match next.kind {
                TokenKind::Eof => return Some(result),
                TokenKind::Dot => self.attribute_step(root),
                TokenKind::OpenBracket => self.index_step(root),
                _ => {
                    let context = self.between(root, next);
                    let detail = "Expected an attribute access or an index operator.";
                    self.error_within("Invalid character", detail, next, context);
                    None
                }
            };
            let Some(step) = step else { return Some(result) };
            result.span = result.span.to(step.span());
            result.steps.push(step);
        }
    }

    fn attribute_step(&mut self, root: Token) -> Option<Step> {
        let dot = self.read();
        let name = self.read();
        if name.kind != TokenKind::Ident {
            let context = self.between(root, name);
            let detail = if name.kind == TokenKind::Star {
                "Splat expressions (.*) may not be used here."
            } else {
                "Dot must be followed by attribute name."
            };
            self.error_within("Attribute name required", detail, name, context);
            return None;
        }
        Some(Step::Attr { name: Str::new(self.word(name)), span: self.between(dot, name) })
    }

    fn index_step(&mut self, root: Token) -> Option<Step> {
        let open = self.read();
        let next = self.peek();
        let key = match next.kind {
            TokenKind::Number => {
                self.read();
                StepKey::Number(self.number(next)?)
            }
            TokenKind::OpenQuote => StepKey::String(self.quoted_literal().0),
            kind => {
                let context = self.between(root, next);
                if kind == TokenKind::Star {
                    let detail = "Splat expressions ([*]) may not be used here.";
                    self.error_within("Attribute name required", detail, next, context);
                } else {
                    let detail = "Index brackets must contain either a literal number or a literal string.";
                    self.error_within("Index value required", detail, next, context);
                }
                return None;
            }
        };
        let close = self.read();
        if close.kind != TokenKind::CloseBracket {
            let context = self.between(open, close);
            let detail = "Index key must be followed by a closing bracket.";
            self.error_within("Unclosed index brackets", detail, close, context);
            return None;
        }
        Some(Step::Index { key, span: self.between(open, close) })
    }
}
