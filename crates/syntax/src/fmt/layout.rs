//! Spaces: indentation, one or none between tokens, and the columns of `=` and of comments behind code.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::Piece;
use crate::lexer::TokenKind as K;

/// A line as up to three cells, each a range of pieces. The last two start at the same column in neighbouring lines.
struct Line {
    /// What comes before `=`, or everything.
    lead: Range<usize>,
    /// `=` and what follows, if that is not the start of something that goes on in the next line.
    assign: Option<Range<usize>>,
    /// A comment behind code.
    comment: Option<usize>,
}

/// Sets the spaces before all pieces.
pub(super) fn layout(pieces: &mut [Piece<'_>]) {
    let lines = lines(pieces);
    indent(&lines, pieces);
    for line in &lines {
        space_out(&mut pieces[line.lead.clone()]);
        if let Some(assign) = &line.assign {
            pieces[assign.start].spaces = 1;
            space_out(&mut pieces[assign.clone()]);
        }
    }
    align(&lines, pieces, |line| line.assign.as_ref().map(|assign| assign.start));
    align(&lines, pieces, |line| line.comment);
}

fn lines(pieces: &[Piece<'_>]) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut start = 0;
    for (at, piece) in pieces.iter().enumerate() {
        if piece.kind == K::Eof {
            lines.push(cells(pieces, start..at));
            return lines;
        }
        if ends_line(piece) {
            lines.push(cells(pieces, start..at + 1));
            start = at + 1;
        }
    }
    lines.push(cells(pieces, start..pieces.len()));
    lines
}

fn ends_line(piece: &Piece<'_>) -> bool {
    piece.kind == K::Newline || (piece.kind == K::Comment && piece.text.ends_with('\n'))
}

fn cells(pieces: &[Piece<'_>], mut lead: Range<usize>) -> Line {
    let mut comment = None;
    if lead.len() > 1 && pieces[lead.end - 1].kind == K::Comment {
        lead.end -= 1;
        comment = Some(lead.end);
    }
    let mut assign = None;
    if let Some(equals) = lead.clone().skip(1).find(|at| pieces[*at].kind == K::Equal)
        && pieces[equals..lead.end].iter().map(bracket_change).sum::<isize>() == 0
    {
        assign = Some(equals..lead.end);
        lead.end = equals;
    }
    Line { lead, assign, comment }
}

fn bracket_change(piece: &Piece<'_>) -> isize {
    match piece.kind {
        K::OpenBrace | K::OpenBracket | K::OpenParen | K::TemplateControl | K::TemplateInterp => 1,
        K::CloseBrace | K::CloseBracket | K::CloseParen | K::TemplateEnd => -1,
        _ => 0,
    }
}

/// A line that opens more brackets than it closes indents those that follow by one step, however many they are; the
/// closing ones take back what their line had opened.
fn indent(lines: &[Line], pieces: &mut [Piece<'_>]) {
    let mut steps: Vec<isize> = Vec::new();
    for line in lines.iter().filter(|line| !line.lead.is_empty()) {
        let first = line.lead.start;
        if pieces[first].kind == K::Newline {
            pieces[first].spaces = 0;
            continue;
        }
        let mut net = 0;
        for piece in &pieces[line.lead.clone()] {
            net += bracket_change(piece);
            if piece.kind == K::OpenHeredoc {
                break;
            }
        }
        if let Some(assign) = &line.assign {
            net += pieces[assign.clone()].iter().map(bracket_change).sum::<isize>();
        }
        let mut closed = -net;
        while closed > 0
            && let Some(opened) = steps.last_mut()
        {
            if closed < *opened {
                *opened -= closed;
                break;
            }
            closed -= *opened;
            steps.pop();
        }
        pieces[first].spaces = 2 * steps.len();
        if net > 0 {
            steps.push(net);
        }
    }
}

/// Sets the spaces between the pieces of a cell.
fn space_out(cell: &mut [Piece<'_>]) {
    for at in 1..cell.len() {
        let before = at.checked_sub(2).map(|before| cell[before].kind);
        let space = wants_space(before, &cell[at - 1], &cell[at]);
        cell[at].spaces = usize::from(space);
    }
}

/// Whether a space stands between `piece` and `after`. `before` is what stands before `piece` in its cell.
fn wants_space(before: Option<K>, piece: &Piece<'_>, after: &Piece<'_>) -> bool {
    match (piece.kind, after.kind) {
        (_, K::Newline) => false,
        (K::Ident, K::OpenParen) => false,
        (K::Ident, K::DoubleColon) | (K::DoubleColon, K::Ident) => false,
        (K::Dot, _) | (_, K::Dot) => false,
        (_, K::Comma | K::Ellipsis) => false,
        (K::Comma, _) => true,
        (K::QuotedLit | K::StringLit | K::OpenQuote | K::OpenHeredoc, _) => false,
        (_, K::QuotedLit | K::StringLit | K::CloseQuote | K::CloseHeredoc) => false,
        // The keyword, not a name that is indexed.
        (K::Ident, _) if piece.text == "in" && before == Some(K::Ident) => true,
        (K::Ident | K::Number, K::OpenBracket) => false,
        (_, K::OpenBracket) if bracket_change(piece) < 0 => false,
        (K::Bang, _) => false,
        (K::Minus, _) => !is_sign(before),
        (K::OpenBrace, K::CloseBrace) => false,
        (K::OpenBrace, _) | (_, K::CloseBrace) => true,
        (K::TemplateInterp | K::TemplateControl, K::OpenBrace) => true,
        (K::CloseBrace, K::TemplateEnd) => true,
        (K::TemplateEnd, K::TemplateInterp | K::TemplateControl) => false,
        _ => bracket_change(piece) <= 0 && bracket_change(after) >= 0,
    }
}

/// Whether a minus behind such a piece belongs to the number that follows.
fn is_sign(before: Option<K>) -> bool {
    let Some(before) = before else { return true };
    matches!(before, K::OpenParen | K::OpenBrace | K::OpenBracket | K::Equal | K::Colon | K::Comma | K::Question)
        || matches!(before, K::Plus | K::Star | K::Slash | K::Percent | K::Minus)
        || matches!(before, K::EqualEqual | K::NotEqual | K::Greater | K::GreaterEqual | K::Less | K::LessEqual)
        || matches!(before, K::And | K::Or | K::Bang)
}

/// Puts the pieces that `cell` names into one column, wherever neighbouring lines have them.
fn align(lines: &[Line], pieces: &mut [Piece<'_>], cell: impl Fn(&Line) -> Option<usize>) {
    let mut chain: Vec<(usize, usize)> = Vec::new();
    for line in lines {
        match cell(line) {
            Some(at) => chain.push((at, columns(&pieces[line.lead.start..at]))),
            None => close_chain(&mut chain, pieces),
        }
    }
    close_chain(&mut chain, pieces);
}

fn close_chain(chain: &mut Vec<(usize, usize)>, pieces: &mut [Piece<'_>]) {
    let widest = chain.iter().map(|(_, columns)| *columns).max().unwrap_or(0);
    for (at, columns) in chain.drain(..) {
        pieces[at].spaces = widest - columns + 1;
    }
}

fn columns(pieces: &[Piece<'_>]) -> usize {
    let width = |text: &str| {
        if text.is_ascii() && !text.contains('\r') { text.len() } else { text.graphemes(true).count() }
    };
    pieces.iter().map(|piece| piece.spaces + width(&piece.text)).sum()
}
