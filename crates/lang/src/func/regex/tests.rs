//! Patterns with what RE2 makes of them.

use groma_model::value::Value;

use super::super::support::testing::call;
use super::{functions, replace_all};

fn all(pattern: &str, text: &str) -> String {
    match call(functions, "regexall", &[pattern.into(), text.into()]) {
        Ok(value) => {
            let found: Vec<String> = value.as_elements().unwrap().iter().map(|item| format!("{item:?}")).collect();
            found.join(" ")
        }
        Err(error) => error.message,
    }
}

#[test]
fn patterns_match_as_in_re2() {
    let cases = [
        (r"\d+", "a1 22 ٣", r#""1" "22""#),
        (r"\w+", "é_a b", r#""_a" "b""#),
        (r"\bk", "ék k", r#""k" "k""#),
        ("a*", "baac", r#""" "aa" """#),
        (r"\Q+*\E+", "+** +*", r#""+**" "+*""#),
        ("a{,2}", "a{,2}", r#""a{,2}""#),
        ("[a&&b]+", "a&b&", r#""a&b&""#),
        ("[[a]]", "[a] a]", r#""a]" "a]""#),
        ("(?U)a+", "aa", r#""a" "a""#),
        ("(?i)k", "K\u{212a}", "\"K\" \"K\""),
        ("a.*?c|a.*?b", "abc", r#""abc""#),
        ("(a.*?c|a(.)*?b)(c?)", "abc", r#"["abc", null:string, ""]"#),
        (r"\101\x42\x{43}", "ABC", r#""ABC""#),
        ("(?P<x>a)|(?<y>b)", "ab", r#"{"x": "a", "y": null:string} {"x": null:string, "y": "b"}"#),
        (r"\p{Greek}\pL\p{^Lu}", "αaa", "\"αaa\""),
        ("(?m)^a$", "a\nb\na", r#""a" "a""#),
        ("^a$", "a\nb\na", ""),
        ("a*(?i)?", "aa", r#""aa""#),
    ];
    for (pattern, text, expected) in cases {
        assert_eq!(all(pattern, text), expected, "{pattern}");
    }
}

#[test]
fn wrong_patterns_are_named() {
    let cases = [
        ("[a", "missing closing ] in [a"),
        ("(a", "missing closing ) in (a"),
        ("a)", "unexpected ) in a)"),
        ("*", "missing argument to repetition operator in *"),
        ("a**", "invalid nested repetition operator in **"),
        ("a{1001}", "invalid repeat count in {1001}"),
        ("(a{100}){11}", "invalid repeat count in {11}"),
        ("(?=a)", "invalid or unsupported Perl syntax in (?="),
        (r"\1", r"invalid escape sequence in \1"),
        ("[b-a]", "invalid character class range in b-a"),
        (r"\p{Nonsense}", r"invalid character class range in \p{Nonsense}"),
        ("(?P<a-b>x)", "invalid named capture in (?P<a-b>"),
        ("(a)(?P<n>b)", "cannot mix both named and unnamed capture groups"),
        ("\\", "trailing backslash at end of expression in "),
    ];
    for (pattern, expected) in cases {
        assert_eq!(all(pattern, "x"), format!("invalid regexp pattern: {expected}"), "{pattern}");
    }
    let deep = format!("{}a{}", "(".repeat(5000), ")".repeat(5000));
    assert!(all(&deep, "a").contains("expression nests too deeply"));
    assert!(all(r"((\pL{1000}){1000}", "a").contains("invalid repeat count"));
}

#[test]
fn regex_gives_the_first_match() {
    let first = |pattern: &str, text: &str| call(functions, "regex", &[pattern.into(), text.into()]);
    assert_eq!(first("[a-z]+", "53453453.345345aaabbbccc23454"), Ok("aaabbbccc".into()));
    assert_eq!(first(r"(\d\d\d\d)-(\d\d)", "2019-02-01"), Ok(Value::tuple(vec!["2019".into(), "02".into()])));
    assert_eq!(first("x", "y").unwrap_err().message, "pattern did not match any part of the given string");
}

#[test]
fn replacements_refer_to_groups() {
    let cases = [
        ("foo-bar", "(o+)-(?P<x>b)", "$x${1}_$2_$1z", "fboo_ar"),
        ("abc", "b", "$$1 ${x", "a$1 ${xc"),
        ("abc", "", "-", "-a-b-c-"),
        ("abc", "b", "$", "a$c"),
        ("aab", "(a.*?c|a.*?(b))", "[$2]", "[b]"),
    ];
    for (text, pattern, replacement, expected) in cases {
        assert_eq!(replace_all(text, pattern, replacement).as_deref(), Ok(expected), "{pattern}");
    }
    assert_eq!(replace_all("a", "(", "").unwrap_err().message, "error parsing regexp: missing closing ): `(`");
}
