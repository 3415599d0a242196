//! Tests of the lexer: where tokens start and end, in the places where that is not obvious.

use super::{TokenKind as K, lex, lex_template};

/// Kind and text of all tokens but the end.
fn cut(text: &str) -> Vec<(K, &str)> {
    let tokens = lex(text);
    tokens.iter().filter(|token| token.kind != K::Eof).map(|token| (token.kind, token.text(text))).collect()
}

fn cut_template(text: &str) -> Vec<&str> {
    let tokens = lex_template(text);
    tokens.iter().filter(|token| token.kind != K::Eof).map(|token| token.text(text)).collect()
}

#[test]
fn a_number_ends_before_a_dot_that_is_not_part_of_it() {
    let texts: Vec<_> = cut("1.5 1. 1.e5 1e 1e+5 1...").into_iter().map(|(_, text)| text).collect();
    assert_eq!(texts, ["1.5", "1", ".", "1.e5", "1", "e", "1e+5", "1", "..."]);
}

#[test]
fn a_lone_dollar_is_a_literal() {
    let expected = [
        (K::OpenQuote, "\""),
        (K::QuotedLit, "x"),
        (K::QuotedLit, "$"),
        (K::QuotedLit, "y"),
        (K::QuotedLit, "$"),
        (K::CloseQuote, "\""),
    ];
    assert_eq!(cut("\"x$y$\""), expected);
}

#[test]
fn a_doubled_dollar_escapes_an_interpolation() {
    assert_eq!(cut("\"$${b}\"")[1..3], [(K::QuotedLit, "$${"), (K::QuotedLit, "b}")]);
    assert_eq!(cut("\"$$${b}\"")[1..3], [(K::QuotedLit, "$"), (K::QuotedLit, "$${")]);
}

#[test]
fn braces_inside_an_interpolation_are_counted() {
    let kinds: Vec<_> = cut("\"${ { } }\"").into_iter().map(|(kind, _)| kind).collect();
    let expected = [K::OpenQuote, K::TemplateInterp, K::OpenBrace, K::CloseBrace, K::TemplateEnd, K::CloseQuote];
    assert_eq!(kinds, expected);
}

#[test]
fn the_line_ending_behind_a_heredoc_is_a_token_of_its_own() {
    let expected = [
        (K::OpenHeredoc, "<<E\n"),
        (K::StringLit, "a\n"),
        (K::CloseHeredoc, "  E "),
        (K::Newline, "\n"),
        (K::Ident, "b"),
    ];
    assert_eq!(cut("<<E\na\n  E \nb"), expected);
}

#[test]
fn the_marker_behind_an_interpolation_does_not_close() {
    let texts: Vec<_> = cut("<<E\n${x}E\nE\n").into_iter().map(|(_, text)| text).collect();
    assert_eq!(texts, ["<<E\n", "${", "x", "}", "E\n", "E", "\n"]);
}

#[test]
fn what_only_looks_like_a_heredoc_is_less_than() {
    assert_eq!(cut("<<E x\n")[..2], [(K::Less, "<"), (K::Less, "<")]);
}

#[test]
fn a_comment_has_its_line_ending() {
    assert_eq!(cut("# x\r\ny // z"), [(K::Comment, "# x\r\n"), (K::Ident, "y"), (K::Comment, "// z")]);
    assert_eq!(cut("/* x")[0], (K::Slash, "/"));
}

#[test]
fn a_byte_order_mark_counts_only_at_the_start() {
    assert_eq!(cut("\u{feff}a"), [(K::Ident, "a")]);
    assert_eq!(cut("a\u{feff}")[1].0, K::Invalid);
}

#[test]
fn bare_templates_are_cut_at_line_endings() {
    assert_eq!(cut_template("a$b\n${x}\n$${y}\r\nz"), ["a", "$b", "\n", "${", "x", "}", "\n", "$${", "y}\r\n", "z"]);
    assert_eq!(cut_template("ab$"), ["ab", "$"]);
}

#[test]
fn many_unclosed_comments_take_linear_time() {
    let text = "/* ".repeat(200_000);
    assert_eq!(lex(&text).len(), 400_001);
}
