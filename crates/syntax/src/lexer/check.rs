//! Messages for tokens that may stand nowhere.

use groma_model::diag::{Diagnostic, Diagnostics};

use super::{Token, TokenKind};
use crate::parser::Origin;

/// How often each kind was complained about already: one mistake made everywhere should not bury all others.
#[derive(Default)]
struct Told {
    bitwise: u32,
    backtick: u32,
    apostrophe: u32,
    semicolon: u32,
}

/// Reports tokens that may stand nowhere.
pub(crate) fn check(text: &str, tokens: &[Token], origin: Origin) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    let mut told = Told::default();
    for token in tokens {
        if let Some((summary, detail)) = told.complaint(*token, text) {
            diagnostics.push(Diagnostic::error(summary, detail).at(origin.span(*token)));
        }
    }
    diagnostics
}

impl Told {
    fn complaint(&mut self, token: Token, text: &str) -> Option<(&'static str, String)> {
        use TokenKind as K;
        let detail = match token.kind {
            K::BitwiseAnd | K::BitwiseOr | K::BitwiseNot | K::BitwiseXor => return self.bitwise(token.kind),
            K::Backtick => alternating(&mut self.backtick).then_some(
                "The \"`\" character is not valid. To create a multi-line string, use the \"heredoc\" syntax, like \"<<EOT\".",
            )?,
            K::Apostrophe => alternating(&mut self.apostrophe)
                .then_some("Single quotes are not valid. Use double quotes (\") to enclose strings.")?,
            K::Semicolon => {
                self.semicolon += 1;
                (self.semicolon == 1).then_some(
                    "The \";\" character is not valid. Use newlines to separate arguments and blocks, and commas to \
                     separate items in collection values.",
                )?
            }
            K::QuotedNewline => {
                let detail = "Quoted strings may not be split over multiple lines. To produce a multi-line string, either use \
                              the \\n escape to represent a newline character or use the \"heredoc\" multi-line template syntax.";
                return Some(("Invalid multi-line string", detail.to_owned()));
            }
            K::Invalid if matches!(token.text(text), "\u{201c}" | "\u{201d}") => {
                "\"Curly quotes\" are not valid here. These can sometimes be inadvertently introduced when sharing code via \
                 documents or discussion forums. It might help to replace the character with a \"straight quote\"."
            }
            K::Invalid => "This character is not used within the language.",
            _ => return None,
        };
        Some(("Invalid character", detail.to_owned()))
    }

    fn bitwise(&mut self, kind: TokenKind) -> Option<(&'static str, String)> {
        if self.bitwise >= 4 {
            return None;
        }
        self.bitwise += 1;
        let advice = match kind {
            TokenKind::BitwiseAnd => " Did you mean boolean AND (\"&&\")?",
            TokenKind::BitwiseOr => " Did you mean boolean OR (\"||\")?",
            TokenKind::BitwiseNot => " Did you mean boolean NOT (\"!\")?",
            _ => "",
        };
        Some(("Unsupported operator", format!("Bitwise operators are not supported.{advice}")))
    }
}

/// Whether to report this one: the first of a pair of quotes, and no more after the second pair has begun.
fn alternating(told: &mut u32) -> bool {
    let report = told.is_multiple_of(2);
    if *told <= 2 {
        *told += 1;
    }
    report
}
