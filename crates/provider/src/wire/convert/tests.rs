//! Conversions there and back.

use std::time::{Duration, SystemTime};

use groma_model::schema::{AttributeKind, Nesting, TextKind};
use prost::Message as _;

use super::*;
use crate::wire::handshake::ProtocolVersion;

fn attribute5(name: &str) -> wire::schema::Attribute5 {
    wire::schema::Attribute5 {
        name: name.to_owned(),
        r#type: Bytes::from_static(b"\"string\""),
        optional: true,
        write_only: true,
        description: "text".to_owned(),
        description_kind: wire::StringKind::Markdown.into(),
        deprecated: true,
        deprecation_message: "use the other".to_owned(),
        ..Default::default()
    }
}

fn schema_of(attributes: Vec<Bytes>) -> Bytes {
    let block = wire::schema::Block { attributes, ..Default::default() };
    wire::Schema { version: 3, block: Some(block) }.encode_to_vec().into()
}

#[test]
fn attributes_differ_between_the_protocols() {
    let five = attribute5("a");
    let six = wire::schema::Attribute6::from(five.clone());
    assert_ne!(five.encode_to_vec(), six.encode_to_vec());
    let read = |protocol, attribute: Vec<u8>| decode_schema(protocol, schema_of(vec![attribute.into()]));
    let from_five = read(ProtocolVersion::V5, five.encode_to_vec()).unwrap();
    let from_six = read(ProtocolVersion::V6, six.encode_to_vec()).unwrap();
    assert_eq!(from_five, from_six);
    assert_eq!(from_five.version, 3);
    let attribute = &from_five.block.attributes["a"];
    assert!(attribute.write_only && attribute.optional && attribute.deprecated && !attribute.required);
    assert_eq!(attribute.deprecation_message.as_deref(), Some("use the other"));
    assert_eq!(attribute.description.kind, TextKind::Markdown);
}

#[test]
fn nested_attributes_and_blocks_are_read() {
    let inner = wire::schema::Attribute6::from(attribute5("inner"));
    let nested = wire::schema::Object {
        attributes: vec![inner.encode_to_vec().into()],
        nesting: wire::schema::object::NestingMode::Map.into(),
    };
    let outer = wire::schema::Attribute6 { name: "outer".to_owned(), nested_type: Some(nested), ..Default::default() };
    let block = wire::schema::NestedBlock {
        type_name: "disk".to_owned(),
        block: Some(wire::schema::Block { attributes: vec![inner.encode_to_vec().into()], ..Default::default() }),
        nesting: wire::schema::nested_block::NestingMode::Group.into(),
        min_items: -1,
        max_items: 2,
    };
    let block = wire::schema::Block {
        attributes: vec![outer.encode_to_vec().into()],
        block_types: vec![block],
        ..Default::default()
    };
    let message = wire::Schema { version: 0, block: Some(block) }.encode_to_vec();
    let schema = decode_schema(ProtocolVersion::V6, message.into()).unwrap();
    let AttributeKind::Nested(nested) = &schema.block.attributes["outer"].ty else { panic!("not nested") };
    assert_eq!(nested.nesting, Nesting::Map);
    assert!(nested.attributes["inner"].write_only);
    let disk = &schema.block.block_types["disk"];
    assert_eq!((disk.nesting, disk.min_items, disk.max_items), (Nesting::Group, 0, 2));
}

#[test]
fn schemas_that_are_none_are_refused() {
    let read = |message: Vec<u8>| decode_schema(ProtocolVersion::V6, message.into()).unwrap_err().to_string();
    assert!(read(vec![0xff]).contains("schema"));
    assert!(read(schema_of(vec![Bytes::from_static(&[0xff])]).to_vec()).contains("attribute"));
    let untyped = wire::schema::Attribute6 { name: "a".to_owned(), ..Default::default() };
    assert!(read(schema_of(vec![untyped.encode_to_vec().into()]).to_vec()).contains("\"a\""));
    let mut deep = wire::schema::Attribute6::from(attribute5("x"));
    for _ in 0..120 {
        let nested = wire::schema::Object { attributes: vec![deep.encode_to_vec().into()], nesting: 1 };
        deep = wire::schema::Attribute6 { name: "x".to_owned(), nested_type: Some(nested), ..Default::default() };
    }
    assert!(read(schema_of(vec![deep.encode_to_vec().into()]).to_vec()).contains("more than 100 levels"));
}

#[test]
fn values_come_as_msgpack_or_json_or_not_at_all() {
    let ty = Type::object([("a", Type::String)]);
    let value = Value::object([("a", Value::string("x"))]);
    let sent = to_wire(&value, &ty).unwrap();
    assert_eq!(from_wire(Some(sent), &ty).unwrap(), value);
    let json = wire::DynamicValue { json: Bytes::from_static(b"{\"a\":\"x\"}"), ..Default::default() };
    assert_eq!(from_wire(Some(json), &ty).unwrap(), value);
    assert!(from_wire(None, &ty).unwrap().is_null());
    assert!(from_wire(Some(wire::DynamicValue::default()), &ty).unwrap().is_null());
    let nonsense = wire::DynamicValue { msgpack: Bytes::from_static(&[0xc1]), ..Default::default() };
    assert!(from_wire(Some(nonsense), &ty).is_err());
}

#[test]
fn diagnostics_keep_their_paths() {
    let path = Path::root().attr("disk").index(2).attr("tags").key("k");
    let found: Diagnostics =
        [Diagnostic::error("S", "D").at_path(path), Diagnostic::warning("W", "")].into_iter().collect();
    assert_eq!(diagnostics(diagnostics_to_wire(&found)), found);
    let invalid = wire::Diagnostic { summary: "x".to_owned(), ..Default::default() };
    assert!(diagnostics(vec![invalid]).is_empty());
}

#[test]
fn times_survive_before_and_after_the_epoch() {
    for time in [
        SystemTime::UNIX_EPOCH,
        SystemTime::UNIX_EPOCH + Duration::from_millis(1500),
        SystemTime::UNIX_EPOCH - Duration::from_millis(1500),
    ] {
        assert_eq!(super::time(time_to_wire(Some(time))), Some(time));
    }
    // Far away is no reason to panic.
    let _ = super::time(Some(wire::Timestamp { seconds: i64::MIN, nanos: -1 }));
    assert_eq!(super::time(Some(wire::Timestamp { seconds: i64::MAX, nanos: i32::MAX })), None);
}

#[test]
fn no_damage_makes_it_panic() {
    let inner = wire::schema::Attribute6::from(attribute5("inner"));
    let nested = wire::schema::Object { attributes: vec![inner.encode_to_vec().into()], nesting: 2 };
    let outer = wire::schema::Attribute6 { name: "outer".to_owned(), nested_type: Some(nested), ..Default::default() };
    let whole = schema_of(vec![outer.encode_to_vec().into()]);
    for at in 0..whole.len() {
        for flip in [0x01, 0x07, 0x80, 0xff] {
            let mut damaged = whole.to_vec();
            damaged[at] ^= flip;
            for protocol in [ProtocolVersion::V5, ProtocolVersion::V6] {
                // Whether it is an error depends on the byte.
                let _ = decode_schema(protocol, damaged.clone().into());
            }
        }
        let _ = decode_schema(ProtocolVersion::V6, whole.slice(..at));
    }
}
