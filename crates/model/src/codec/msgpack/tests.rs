//! Round trips, bytes as go-cty writes them, and hostile input.

use proptest::prelude::*;

use super::super::arbitrary::{any_type, any_typed};
use super::super::{CodecErrorKind, json, type_json};
use super::*;
use crate::mark::Mark;
use crate::number::Number;
use crate::ty::Type;
use crate::value::{Bound, Refinement, Value};

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len() / 2).map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap()).collect()
}

fn refined(ty: Type, refinement: Refinement) -> String {
    let value = Value::unknown_refined(ty.clone(), refinement);
    let bytes = encode(&value, &ty).unwrap();
    assert_eq!(decode(&bytes, &ty).unwrap(), value);
    hex(&bytes)
}

#[test]
fn unknown_values_are_extensions() {
    assert_eq!(refined(Type::String, Refinement::default()), "d40000");
    assert_eq!(refined(Type::Bool, Refinement::not_null()), "c7030c8101c2");
    assert_eq!(refined(Type::String, Refinement::prefix("ab-")), "d70c8201c202a361622d");
    let lengths = Refinement { min_length: 2, max_length: Some(300), ..Refinement::default() };
    assert_eq!(refined(Type::list(Type::Bool), lengths), "c7070c82050206cd012c");
    let bound = |number, inclusive| Some(Bound { number, inclusive });
    let numbers = Refinement {
        lower: bound(Number::from(-1), true),
        upper: bound(Number::parse("0.5").unwrap(), false),
        ..Refinement::default()
    };
    assert_eq!(refined(Type::Number, numbers), "c7110c820392ffc30492cb3fe0000000000000c2");
}

#[test]
fn recorded_values_match() {
    for line in include_str!("../../../tests/data/codec.txt").lines() {
        let parts: Vec<&str> = line.split('\t').collect();
        let [ty, bytes, text] = parts[..] else { panic!("bad line: {line}") };
        let ty = type_json::decode(ty).unwrap();
        let from_bytes = decode(&unhex(bytes), &ty).unwrap();
        let from_text = json::decode(text, &ty).unwrap();
        assert_eq!(from_bytes, from_text, "{line}");
        assert_eq!(hex(&encode(&from_text, &ty).unwrap()), bytes, "{line}");
        assert_eq!(json::encode(&from_text, &ty).unwrap(), text, "{line}");
    }
}

#[test]
fn numbers_come_in_every_form() {
    for (bytes, text) in [
        ("05", "5"),
        ("ff", "-1"),
        ("ccff", "255"),
        ("cfffffffffffffffff", "18446744073709551615"),
        ("d080", "-128"),
        ("d38000000000000000", "-9223372036854775808"),
        ("ca3fc00000", "1.5"),
        ("cb3fb999999999999a", "0.1"),
        ("cb7ff0000000000000", "+Inf"),
        ("a431653230", "100000000000000000000"),
        ("c40431653230", "100000000000000000000"),
    ] {
        assert_eq!(decode(&unhex(bytes), &Type::Number).unwrap().as_number().unwrap().to_string(), text);
    }
    assert!(decode(&unhex("cb7ff8000000000000"), &Type::Number).is_err());
    assert!(decode(&unhex("a3616263"), &Type::Number).is_err());
}

#[test]
fn strings_are_normalised() {
    let bytes = encode(&Value::string("x"), &Type::String).unwrap();
    assert_eq!(hex(&bytes), "a178");
    let decomposed = [&[0xa3][..], "e\u{301}".as_bytes()].concat();
    assert_eq!(decode(&decomposed, &Type::String).unwrap(), Value::string("\u{e9}"));
}

#[test]
fn long_prefixes_are_cut_where_it_is_safe() {
    let value = Value::unknown_refined(Type::String, Refinement::prefix("é".repeat(200)));
    let bytes = encode(&value, &Type::String).unwrap();
    let back = decode(&bytes, &Type::String).unwrap();
    let crate::value::ValueKind::Unknown(refinement) = back.kind() else { panic!("{back:?}") };
    assert_eq!(refinement.prefix.as_ref().unwrap().len(), 252);
}

#[test]
fn marks_do_not_travel() {
    let value = Value::object([("a", Value::from(1).mark(Mark::Sensitive))]);
    let error = encode(&value, &Type::object([("a", Type::Number)])).unwrap_err();
    assert_eq!(error.to_string(), ".a: value has marks, so it cannot be serialized");
}

#[test]
fn claimed_lengths_are_not_believed() {
    for bytes in ["ddffffffff", "dfffffffff", "dbffffffff", "c9ffffffff0c", "c6ffffffff", "dcffff"] {
        for ty in [Type::list(Type::Bool), Type::map(Type::Bool), Type::String, Type::Dynamic] {
            assert!(decode(&unhex(bytes), &ty).is_err());
        }
    }
}

#[test]
fn wrapped_types_have_a_limit() {
    // [any, [any, [any, …
    let bytes = unhex("92c4092264796e616d696322").repeat(100_000);
    assert_eq!(decode(&bytes, &Type::Dynamic).unwrap_err().kind(), &CodecErrorKind::TooDeep);
}

#[test]
fn errors_say_where() {
    let ty = Type::list(Type::object([("a", Type::map(Type::Bool))]));
    // [{"a": {"k": 1}}]
    let error = decode(&unhex("9181a16181a16b01"), &ty).unwrap_err();
    assert_eq!(error.to_string(), "[0].a[\"k\"]: bool is required");
    assert!(decode(&unhex("9180"), &ty).unwrap_err().to_string().contains("1 attributes is required (0 given)"));
}

#[test]
fn later_refinements_are_passed_over() {
    // {1: false, 99: [1, {"a": nil}]}
    let bytes = unhex("c70c0c8201c263920181a161c00000".trim_end_matches("0000"));
    let bytes = [&bytes[..1], &[(bytes.len() - 3) as u8], &bytes[2..]].concat();
    assert_eq!(decode(&bytes, &Type::String).unwrap(), Value::unknown_refined(Type::String, Refinement::not_null()));
}

proptest! {
    #[test]
    fn values_come_back((ty, value) in any_typed(true)) {
        let bytes = encode(&value, &ty).unwrap();
        prop_assert_eq!(decode(&bytes, &ty).unwrap(), value);
    }

    #[test]
    fn random_bytes_are_safe(bytes in proptest::collection::vec(any::<u8>(), 0..60), ty in any_type()) {
        let _ = decode(&bytes, &ty);
        let _ = decode(&bytes, &Type::Dynamic);
    }

    #[test]
    fn damaged_bytes_are_safe((ty, value) in any_typed(true), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = encode(&value, &ty).unwrap();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let _ = decode(&bytes, &ty);
    }
}

#[test]
fn a_few_bytes_do_not_become_gigabytes() {
    let encoded = |text: &str| [&[0xa0 | text.len() as u8], text.as_bytes()].concat();
    assert!(decode(&encoded("1e400"), &Type::Number).is_ok());
    assert!(decode(&encoded("1e999999999"), &Type::Number).is_err());
    assert!(decode(&encoded("1E-0009999999"), &Type::Number).is_err());
}
