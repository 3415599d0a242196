//! Templates, second half: a flat list of pieces becomes a tree, in which `%{if}` and `%{for}` hold what they enclose.

use std::vec::IntoIter;

use groma_model::diag::Diagnostic;
use groma_model::span::Span;
use groma_model::text::Str;

use super::Parser;
use super::template::{EndKind, Piece};
use crate::ast::{Expr, ExprKind, Ident, TemplatePart};
use crate::lexer::Token;

const UNEXPECTED_END: &str = "Unexpected end of template";
const UNBALANCED: &str = "The control directives within this template are unbalanced.";

/// Parts and the height of the highest.
type Parts = (Vec<TemplatePart>, usize);

struct Assembler<'p, 't> {
    parser: &'p mut Parser<'t>,
    pieces: IntoIter<Piece<'t>>,
    /// Where the template ends.
    end: Span,
    /// Nested too deeply, which is reported already.
    aborted: bool,
}

impl<'t> Parser<'t> {
    /// Makes a tree of the pieces of a template that ends at `last`.
    pub(super) fn assemble(&mut self, pieces: Vec<Piece<'t>>, last: Token) -> Parts {
        let end = self.span(last);
        let mut assembler = Assembler { parser: self, pieces: pieces.into_iter(), end, aborted: false };
        let (mut parts, mut height) = (Vec::new(), 0);
        while let Some(piece) = assembler.pieces.next() {
            let (part, part_height) = assembler.part(piece);
            parts.push(part);
            height = height.max(part_height);
        }
        (parts, height)
    }
}

impl<'t> Assembler<'_, 't> {
    fn part(&mut self, piece: Piece<'t>) -> (TemplatePart, usize) {
        match piece {
            Piece::Literal { text, span } => (TemplatePart::Literal { text: Str::new(text), span }, 1),
            Piece::Interpolation { expr, span, height } => (TemplatePart::Interpolation { expr, span }, height),
            Piece::If { condition, span, height } => self.if_part(condition, span, height),
            Piece::For { names, collection, span, height } => self.for_part(names, collection, span, height),
            Piece::End { kind, span } => {
                let summary = format!("Unexpected {} directive", kind.name());
                self.complain(&summary, UNBALANCED.to_owned(), span);
                (invalid(span), 1)
            }
        }
    }

    fn complain(&mut self, summary: &str, detail: String, span: Span) {
        if !self.aborted {
            self.parser.diagnostics.push(Diagnostic::error(summary, detail).at(span));
        }
    }

    /// The parts up to a directive that ends them, or `None` at the end of the template.
    fn parts(&mut self) -> (Parts, Option<(EndKind, Span)>) {
        let (mut parts, mut height) = (Vec::new(), 0);
        while let Some(piece) = self.pieces.next() {
            if let Piece::End { kind, span } = piece {
                return ((parts, height), Some((kind, span)));
            }
            let (part, part_height) = self.part(piece);
            parts.push(part);
            height = height.max(part_height);
        }
        ((parts, height), None)
    }

    /// Reads what a directive encloses, one level deeper.
    fn nested(&mut self) -> (Parts, Option<(EndKind, Span)>) {
        if !self.parser.enter() {
            self.aborted = true;
            self.pieces = Vec::new().into_iter();
            return ((Vec::new(), 0), None);
        }
        let found = self.parts();
        self.parser.leave();
        found
    }

    fn if_part(&mut self, condition: Expr, open: Span, height: usize) -> (TemplatePart, usize) {
        let ((then, then_height), mut end) = self.nested();
        let (mut otherwise, mut else_height) = (Vec::new(), 0);
        if let Some((EndKind::Else, _)) = end {
            ((otherwise, else_height), end) = self.nested();
        }
        let place = self.parser.place(open);
        let (summary, detail, span) = match end {
            Some((EndKind::EndIf, close)) => {
                let part = TemplatePart::If { condition, then, otherwise, span: open.to(close) };
                return (part, height.max(then_height).max(else_height) + 1);
            }
            Some((EndKind::Else, span)) => {
                ("Unexpected else directive", format!("Already in the else clause for the if started{place}."), span)
            }
            Some((EndKind::EndFor, span)) => (
                "Unexpected endfor directive",
                format!("Expecting an endif directive for the if started{place}."),
                span,
            ),
            None => (
                UNEXPECTED_END,
                format!("The if directive{place} is missing its corresponding endif directive."),
                self.end,
            ),
        };
        self.complain(summary, detail, span);
        (invalid(span), 1)
    }

    fn for_part(
        &mut self,
        names: (Option<Ident>, Ident),
        collection: Expr,
        open: Span,
        height: usize,
    ) -> (TemplatePart, usize) {
        let ((body, body_height), end) = self.nested();
        let place = self.parser.place(open);
        let (summary, detail, span) = match end {
            Some((EndKind::EndFor, close)) => {
                let (key, value) = names;
                let part = TemplatePart::For { key, value, collection, body, span: open.to(close) };
                return (part, height.max(body_height) + 1);
            }
            Some((EndKind::Else, span)) => {
                ("Unexpected else directive", "An else clause is not expected for a for directive.".to_owned(), span)
            }
            Some((EndKind::EndIf, span)) => (
                "Unexpected endif directive",
                format!("Expecting an endfor directive corresponding to the for directive{place}."),
                span,
            ),
            None => (
                UNEXPECTED_END,
                format!("The for directive{place} is missing its corresponding endfor directive."),
                self.end,
            ),
        };
        self.complain(summary, detail, span);
        (invalid(span), 1)
    }
}

/// Stands for a directive whose error is reported already.
fn invalid(span: Span) -> TemplatePart {
    TemplatePart::Interpolation { expr: Expr { kind: ExprKind::Invalid, span }, span }
}
