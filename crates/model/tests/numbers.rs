//! Numbers calculate and print as in go-cty: recorded answers of `tests/oracles/number`, one `case = answer` per line.
//!
//! More cases than the recorded ones can be given as a file named by `GROMA_NUMBER_CASES`.

#![allow(clippy::unwrap_used, clippy::panic, clippy::disallowed_methods, reason = "a broken case must fail the test")]

use groma_model::number::Number;
use num_bigint::BigInt;

fn number(text: &str) -> Option<Number> {
    match text.split_once(':') {
        Some(("f", float)) => Number::from_f64(float.parse().unwrap()),
        Some(("i", integer)) => Some(Number::from(integer.parse::<i64>().unwrap())),
        Some(("b", integer)) => Some(Number::from(integer.parse::<BigInt>().unwrap())),
        _ => Number::parse(text),
    }
}

fn text(number: Option<Number>) -> String {
    number.map_or_else(|| "nan".to_owned(), |number| number.to_string())
}

fn answer(case: &str) -> String {
    let words: Vec<&str> = case.split(' ').collect();
    let Some(a) = number(words[1]) else { return "error".to_owned() };
    match words[0] {
        "parse" => a.to_string(),
        "g" => a.go_format('g', None),
        "neg" => a.neg().to_string(),
        "abs" => a.abs().to_string(),
        "floor" => a.floor().to_string(),
        "ceil" => a.ceil().to_string(),
        "f64" => format!("{:016x}", a.to_f64().to_bits()),
        "i64" => a.to_i64().unwrap_or(-1).to_string(),
        "fmt" if "bdoxX".contains(words[2]) && !a.is_integer() => "error".to_owned(),
        "fmt" => a.go_format(words[2].chars().next().unwrap(), words[3].parse().ok()),
        operation => match number(words[2]) {
            Some(b) => binary(operation, &a, &b),
            None => "error".to_owned(),
        },
    }
}

fn binary(operation: &str, a: &Number, b: &Number) -> String {
    match operation {
        "add" => text(a.add(b)),
        "sub" => text(a.sub(b)),
        "mul" => text(a.mul(b)),
        "div" => text(a.div(b)),
        "rem" => text(a.rem(b)),
        "pow" => text(a.pow(b)),
        "log" => text(a.log(b)),
        "cmp" => format!("{} {}", a.compare(b) as i32, a == b),
        // Chains, in which the precision of the results before shows.
        "amd" => text(a.add(b).and_then(|sum| sum.mul(a)).and_then(|product| product.div(b))),
        "mdr" => text(a.mul(b).and_then(|product| product.div(&Number::from(7))).and_then(|part| part.rem(b))),
        "fld" => text(a.floor().div(&b.ceil())),
        other => panic!("no such operation: {other}"),
    }
}

fn check(name: &str, recorded: &str) {
    assert!(!recorded.is_empty(), "{name} has no cases");
    for line in recorded.lines() {
        let (case, expected) = line.split_once(" = ").unwrap();
        assert_eq!(answer(case), expected, "{name}: {case}");
    }
}

#[test]
fn numbers_are_those_of_go() {
    check("numbers.txt", include_str!("data/numbers.txt"));
    if let Ok(more) = std::env::var("GROMA_NUMBER_CASES") {
        check(&more, &std::fs::read_to_string(&more).unwrap());
    }
}
