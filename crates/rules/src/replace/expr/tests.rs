//! Expressions from texts: precedence, spelling, mistakes with their columns, limits.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use proptest::prelude::*;

use super::*;

fn parse(text: &str) -> Expr {
    Expr::parse(text).unwrap()
}

/// The truth of an expression whose names stand for these values.
fn holds(expr: &Expr, names: &[(&str, bool)]) -> bool {
    match expr {
        Expr::Or(operands) => operands.iter().any(|operand| holds(operand, names)),
        Expr::And(operands) => operands.iter().all(|operand| holds(operand, names)),
        Expr::Not(operand) => !holds(operand, names),
        Expr::Constant(value) => *value,
        Expr::Name { name, .. } => names.iter().find(|(known, _)| *name == **known).unwrap().1,
    }
}

#[test]
fn the_truth_table_of_an_expression() {
    let expr = parse("(A AND B) OR C");
    for row in 0..8 {
        let (a, b, c) = (row & 4 != 0, row & 2 != 0, row & 1 != 0);
        assert_eq!(holds(&expr, &[("A", a), ("B", b), ("C", c)]), (a && b) || c, "{a} {b} {c}");
    }
}

#[test]
fn not_binds_tightest_then_and_then_or() {
    assert_eq!(parse("A OR B AND NOT C"), parse("A OR (B AND (NOT C))"));
    assert_ne!(parse("A OR B AND NOT C"), parse("(A OR B) AND NOT C"));
    assert_eq!(parse("NOT A AND B"), parse("(NOT A) AND B"));
    assert_ne!(parse("NOT A AND B"), parse("NOT (A AND B)"));
}

#[test]
fn signs_and_words_of_any_case_mean_the_same() {
    let expr = parse("a AND (b OR NOT c)");
    for text in ["a && (b || !c)", "a&&(b||!c)", "a and (b Or nOt c)", "  a\tAND\n(b OR NOT c) ", "a and(b||not(c))"] {
        assert_eq!(parse(text), expr, "{text}");
    }
    assert_eq!(parse("true OR False"), Expr::Or(vec![Expr::Constant(true), Expr::Constant(false)]));
    // Names keep their case, and words in them are no words.
    assert_ne!(parse("a"), parse("A"));
    assert_eq!(parse("not-held AND android").names().len(), 2);
}

#[test]
fn mistakes_have_a_column() {
    let operand = "a name, NOT, TRUE, FALSE or \"(\"";
    let cases = [
        ("A AND", 6, operand, "the end of the expression"),
        ("(A", 3, "AND, OR or \")\"", "the end of the expression"),
        ("A B", 3, "AND, OR or the end of the expression", "\"B\""),
        ("A XOR B", 3, "AND, OR or the end of the expression", "\"XOR\""),
        ("", 1, operand, "the end of the expression"),
        ("   ", 1, operand, "the end of the expression"),
        ("A AND ", 6, operand, "the end of the expression"),
        ("A)", 2, "AND, OR or the end of the expression", "\")\""),
        ("()", 2, operand, "\")\""),
        ("A & B", 3, "AND, OR or the end of the expression", "\"&\""),
        ("A AND 7up", 7, operand, "\"7up\""),
        ("A OR \u{e9}t\u{e9} OR B", 6, operand, "\"\u{e9}t\u{e9}\""),
        ("A OR OR B", 6, operand, "\"OR\""),
    ];
    for (text, column, expected, found) in cases {
        let error = Expr::parse(text).unwrap_err();
        assert_eq!(text[..error.at.start].chars().count() + 1, column, "{text:?}");
        assert_eq!(error.problem, Problem::Unexpected { expected, found: found.to_owned() }, "{text:?}");
    }
    assert_eq!(
        Expr::parse("A AND").unwrap_err().problem.to_string(),
        "Expected a name, NOT, TRUE, FALSE or \"(\", found the end of the expression."
    );
}

#[test]
fn names_know_where_they_stand() {
    let expr = parse("A AND (D OR A)");
    let places: Vec<_> = expr.names().into_iter().map(|(name, at)| (name.as_str(), at)).collect();
    assert_eq!(places, [("A", 0..1), ("D", 7..8), ("A", 12..13)]);
    let valid = ["A", "same-name", "a_1"].map(is_name);
    assert_eq!(valid, [true; 3]);
    let invalid = ["", "1a", "-a", "_a", "a.b", "and", "True", "\u{e9}"].map(is_name);
    assert_eq!(invalid, [false; 8]);
}

#[test]
fn depth_and_length_are_limited() {
    let nested = |depth: usize| format!("{}A{}", "(".repeat(depth), ")".repeat(depth));
    assert_eq!(parse(&nested(64)), parse("A"));
    assert_eq!(Expr::parse(&nested(65)).unwrap_err(), ExprError { at: 64..65, problem: Problem::TooDeep });
    assert_eq!(Expr::parse(&format!("{}A", "NOT ".repeat(65))).unwrap_err().problem, Problem::TooDeep);
    assert!(Expr::parse(&format!("{}A", "! ".repeat(64))).is_ok());
    // It is depth that counts, not number.
    assert!(Expr::parse(&vec!["(A)"; 500].join(" OR ")).is_ok());
    let long = "A".repeat(4097);
    assert_eq!(Expr::parse(&long).unwrap_err().problem, Problem::TooLong);
    assert!(Expr::parse(&long[1..]).is_ok());
    assert!(Expr::parse(&"(".repeat(5000)).is_err());
}

/// Expressions as the parser makes them: names that are not words, and never fewer than two operands.
fn any_expr() -> impl Strategy<Value = Expr> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Expr::Constant),
        "[a-zA-Z][a-zA-Z0-9_-]{0,5}"
            .prop_filter("words are no names", |name| is_name(name))
            .prop_map(|name| Expr::Name { name: Str::new(name), at: 0..0 }),
    ];
    leaf.prop_recursive(6, 40, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 2..4).prop_map(Expr::Or),
            prop::collection::vec(inner.clone(), 2..4).prop_map(Expr::And),
            inner.prop_map(|operand| Expr::Not(Box::new(operand))),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_printed_is_read_again(expr in any_expr()) {
        let printed = expr.to_string();
        prop_assert_eq!(Expr::parse(&printed).unwrap(), expr, "{}", printed);
    }

    #[test]
    fn no_text_makes_it_panic(text in "([A-C]|AND|or|!|&|\\||\\(|\\)| |TRUE|\\PC){0,40}") {
        match Expr::parse(&text) {
            Ok(expr) => prop_assert_eq!(Expr::parse(&expr.to_string()).unwrap(), expr),
            Err(error) => prop_assert!(text.get(error.at.clone()).is_some(), "{:?} is not in {:?}", error.at, text),
        }
    }
}
