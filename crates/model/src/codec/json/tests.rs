//! Round trips, and what is refused.

use proptest::prelude::*;

use super::super::arbitrary::any_typed;
use super::super::{CodecErrorKind, MAX_DEPTH};
use super::*;
use crate::mark::Mark;

#[test]
fn text_is_escaped_as_in_go() {
    let value = Value::string("<a href=\"&\">\u{2028}\u{7f}\u{1}\u{8}\u{c}\t\\é");
    assert_eq!(
        encode_plain(&value).unwrap(),
        "\"\\u003ca href=\\\"\\u0026\\\"\\u003e\\u2028\u{7f}\\u0001\\b\\f\\t\\\\é\""
    );
}

#[test]
fn numbers_are_plain_decimals() {
    assert_eq!(encode_plain(&Value::number(Number::parse("1e21").unwrap())).unwrap(), "1000000000000000000000");
    let infinite = encode_plain(&Value::number(Number::infinity(false))).unwrap_err();
    assert_eq!(infinite.kind(), &CodecErrorKind::Infinite);
}

#[test]
fn any_is_written_with_its_type() {
    let ty = Type::object([("a", Type::Dynamic), ("b", Type::Dynamic)]);
    let value = Value::object([("a", Value::strings(["x"])), ("b", Value::null(Type::Dynamic))]);
    let text = encode(&value, &ty).unwrap();
    assert_eq!(text, r#"{"a":{"value":["x"],"type":["list","string"]},"b":null}"#);
    assert_eq!(decode(&text, &ty).unwrap(), value);
}

#[test]
fn errors_say_where() {
    let ty = Type::object([("a", Type::list(Type::Number))]);
    let error = decode(r#"{"a":[1,true]}"#, &ty).unwrap_err();
    assert_eq!(error.to_string(), ".a[1]: number is required");
    let marked = Value::object([("a", Value::list(Type::Number, vec![Value::from(1).mark(Mark::Sensitive)]))]);
    let error = encode(&marked, &ty).unwrap_err();
    assert_eq!((error.path().to_string(), error.kind()), (".a[0]".to_owned(), &CodecErrorKind::Marked));
    let unknown = Value::object([("a", Value::unknown(Type::list(Type::Number)))]);
    assert_eq!(encode(&unknown, &ty).unwrap_err().kind(), &CodecErrorKind::Unknown);
}

#[test]
fn primitives_convert() {
    assert_eq!(decode("\"12\"", &Type::Number).unwrap(), Value::from(12));
    assert_eq!(decode("12.50", &Type::String).unwrap(), Value::string("12.50"));
    assert_eq!(decode("true", &Type::String).unwrap(), Value::string("true"));
    assert_eq!(decode("\"true\"", &Type::Bool).unwrap(), Value::bool(true));
    assert!(decode("1", &Type::Bool).is_err());
    assert!(decode("[]", &Type::String).is_err());
}

#[test]
fn missing_attributes_are_null_and_others_are_refused() {
    let ty = Type::object([("a", Type::String)]);
    assert_eq!(decode("{}", &ty).unwrap(), Value::object([("a", Value::null(Type::String))]));
    assert_eq!(decode(r#"{"b":1}"#, &ty).unwrap_err().to_string(), "unsupported attribute \"b\"");
}

#[test]
fn implied_types_are_objects_and_tuples() {
    let value = decode_implied(r#" {"b":[1,"x",null,{}],"a":true} "#).unwrap();
    assert_eq!(value.ty().to_string(), "object({a = bool, b = tuple([number, string, any, object({})])})");
    assert_eq!(decode_implied(r#"{"a":1,"a":2}"#).unwrap(), Value::object([("a", Value::from(2))]));
    assert!(decode_implied(r#"{"a":1,"a":"2"}"#).is_err());
}

#[test]
fn any_in_a_collection_becomes_one_type() {
    let list = r#"[{"value":"a","type":"string"},{"value":"b","type":"string"}]"#;
    assert_eq!(decode(list, &Type::list(Type::Dynamic)).unwrap(), Value::strings(["a", "b"]));
    let mixed = r#"[{"value":"a","type":"string"},{"value":1,"type":"number"}]"#;
    assert!(decode(mixed, &Type::list(Type::Dynamic)).is_err());
}

#[test]
fn broken_text_is_refused() {
    for text in [
        "",
        " ",
        "{",
        "[",
        "[1",
        "[1,]",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{a:1}",
        "tru",
        "nul",
        "01",
        "1.",
        ".5",
        "-",
        "+1",
        "1e",
        "\"",
        "\"\\x\"",
        "\"\\u12\"",
        "\"a\nb\"",
        "1 2",
        "[1] x",
        "NaN",
        "'a'",
        "/**/1",
    ] {
        assert!(Json::parse(text).is_err(), "{text:?}");
    }
    let deep = "[".repeat(100_000);
    assert_eq!(Json::parse(&deep).unwrap_err().kind(), &CodecErrorKind::TooDeep);
    let just_deep_enough = format!("{}{}", "[".repeat(MAX_DEPTH), "]".repeat(MAX_DEPTH));
    assert!(decode_implied(&just_deep_enough).is_ok());
}

#[test]
fn escapes_are_undone() {
    let json = Json::parse(r#""\u00e9\ud83d\ude00\ud800x\/\n""#).unwrap();
    assert_eq!(json, Json::String("é😀\u{fffd}x/\n".into()));
}

proptest! {
    #[test]
    fn values_come_back((ty, value) in any_typed(false)) {
        let text = encode(&value, &ty).unwrap();
        prop_assert_eq!(decode(&text, &ty).unwrap(), value);
    }

    #[test]
    fn any_text_is_safe(text in "[\\[\\]{}:,\"\\\\a0-9.eE+u -]{0,40}|\\PC{0,20}", (ty, _) in any_typed(false)) {
        let _ = decode(&text, &ty);
        if let Ok(value) = decode_implied(&text) {
            let again = encode_plain(&value);
            prop_assert!(again.is_ok() || matches!(again.unwrap_err().kind(), CodecErrorKind::Infinite));
        }
    }
}
