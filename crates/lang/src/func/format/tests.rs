//! Formats with what they give.

use groma_model::number::Number;
use groma_model::ty::Type;
use groma_model::value::{Refinement, Value};

use super::super::support::testing::{call, string_of};
use super::functions;

fn format(pattern: &str, args: &[Value]) -> String {
    let mut all = vec![pattern.into()];
    all.extend_from_slice(args);
    string_of(call(functions, "format", &all))
}

fn num(text: &str) -> Value {
    Value::number(Number::parse(text).unwrap())
}

#[test]
fn numbers_are_formatted() {
    let cases = [
        ("%d", "42", "42"),
        ("%5d|", "-42", "  -42|"),
        ("%-5d|", "42", "42   |"),
        ("%05d", "-42", "-0042"),
        ("%+d", "42", "+42"),
        ("% d", "42", " 42"),
        ("%x", "255", "ff"),
        ("%#X", "255", "0XFF"),
        ("%#o", "8", "010"),
        ("%08b", "5", "00000101"),
        ("%08.3d|", "5", "     005|"),
        ("%.0d|", "0", "|"),
        ("%d", "123456789012345678901234567890", "123456789012345678901234567890"),
        ("%f", "3.14159265", "3.141593"),
        ("%8.2f|", "3.14159", "    3.14|"),
        ("%-8.2f|", "3.14159", "3.14    |"),
        ("%08.2f", "-3.14159", "-0003.14"),
        ("%e", "123456", "1.234560e+05"),
        ("%E", "0.000123", "1.230000E-04"),
        ("%g", "100000", "100000"),
        ("%g", "1e21", "1e+21"),
        ("%G", "1e-10", "1E-10"),
        ("%v", "1e100", "1e+100"),
        ("%v", "0.5", "0.5"),
        ("%5v|", "7", "    7|"),
        ("%s", "1.50", "1.5"),
        ("%q", "1", "\"1\""),
    ];
    for (pattern, number, expected) in cases {
        assert_eq!(format(pattern, &[num(number)]), expected, "{pattern} {number}");
    }
}

#[test]
fn other_values_are_formatted() {
    assert_eq!(format("%s and %s %% 100%%", &["a".into(), "b".into()]), "a and b % 100%");
    assert_eq!(format("%[2]s %[1]s %s", &["a".into(), "b".into()]), "b a b");
    assert_eq!(format("%5s|%-5s|%05s", &["é".into(), "b".into(), "c".into()]), "    é|b    |0000c");
    assert_eq!(format("%.2s|%.0s", &["héllo".into(), "abc".into()]), "hé|abc");
    assert_eq!(format("%q", &["a\"<b".into()]), "\"a\\\"\\u003cb\"");
    assert_eq!(format("%#v %v", &["a".into(), "a".into()]), "\"a\" a");
    assert_eq!(format("%v", &[Value::tuple(vec!["a".into(), 1.into(), true.into()])]), "[\"a\",1,true]");
    assert_eq!(format("%v %v", &[Value::null(Type::Dynamic), Value::null(Type::String)]), "null null");
    assert_eq!(format("%t %t", &[true.into(), "false".into()]), "true false");
    assert_eq!(format("%d", &["12".into()]), "12");
}

#[test]
fn mistakes_are_named() {
    let cases: &[(&str, &[Value], &str)] = &[
        ("%d", &[num("1.5")], "unsupported value for \"%d\" at 0: an integer is required"),
        ("%d", &["a".into()], "unsupported value for \"%d\" at 0: a number is required"),
        ("%s", &[Value::null(Type::String)], "unsupported value for \"%s\" at 0: null value cannot be formatted"),
        ("a %s %s", &["a".into()], "not enough arguments for \"%s\" at 5: need index 2 but have 1 total"),
        ("%z", &["a".into()], "unsupported format verb 'z' in \"%z\" at offset 0"),
        ("%!", &["a".into()], "unrecognized format character '!' at offset 1"),
        ("%é", &["a".into()], "unrecognized format character 'é' at offset 1"),
        ("%[0]s", &["a".into()], "unrecognized format character '0' at offset 2"),
        ("%5", &["a".into()], "invalid format string starting at offset 2"),
        ("x", &["a".into()], "too many arguments; no verbs in format string"),
        ("%s", &["a".into(), "b".into()], "too many arguments; only 1 used by format string"),
    ];
    for (pattern, args, expected) in cases {
        assert_eq!(format(pattern, args), format!("error: {expected}"), "{pattern}");
    }
    assert!(format("%99999999999999999999s", &["a".into()]).starts_with("error: "));
}

#[test]
fn a_known_beginning_is_kept() {
    let unknown = Value::unknown(Type::String);
    let result = call(functions, "format", &["http://%s".into(), unknown]).unwrap();
    assert_eq!(result, Value::unknown_refined(Type::String, Refinement::prefix("http://")));
}

#[test]
fn lists_are_formatted_row_by_row() {
    let list = |args: &[Value]| call(functions, "formatlist", args);
    let names = Value::strings(["a", "b"]);
    assert_eq!(
        list(&["%s=%d%s".into(), names.clone(), Value::tuple(vec![1.into(), 2.into()]), "!".into()]),
        Ok(Value::strings(["a=1!", "b=2!"]))
    );
    assert_eq!(list(&["x".into()]), Ok(Value::strings(["x"])));
    assert_eq!(list(&["%s".into(), "a".into()]), Ok(Value::strings(["a"])));
    assert_eq!(list(&["%s".into(), Value::list(Type::String, vec![])]), Ok(Value::list(Type::String, vec![])));
    assert_eq!(
        list(&["%s%s".into(), names.clone(), Value::strings(["c"])]).unwrap_err().message,
        "argument 2 has length 1, which is inconsistent with argument 1 of length 2"
    );
    assert_eq!(
        list(&["%d".into(), names.clone()]).unwrap_err().message,
        "error on format iteration 0: unsupported value for \"%d\" at 0: a number is required"
    );
    let half = Value::tuple(vec!["a".into(), Value::unknown(Type::String)]);
    let unknown = Value::unknown_refined(Type::String, Refinement::not_null());
    assert_eq!(list(&["<%s>".into(), half]), Ok(Value::list(Type::String, vec!["<a>".into(), unknown])));
}
