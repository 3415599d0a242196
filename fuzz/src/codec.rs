//! Reading values from bytes that a plugin or a state file hands us.

use groma_model::codec::{json, msgpack, type_json};
use groma_model::ty::Type;

/// MessagePack as any type: what can be read can be written, and what was written means the same forever after.
/// The first writing may change a value: an integer of little precision is written with as few digits as stock tools do.
pub(crate) fn msgpack(data: &[u8]) {
    for ty in types() {
        let Ok(value) = msgpack::decode(data, &ty) else { continue };
        let encoded = msgpack::encode(&value, &ty).expect("what was read can be written");
        let again = msgpack::decode(&encoded, &ty).expect("what was written can be read");
        let twice = msgpack::encode(&again, &ty).expect("what was read can be written");
        assert!(twice == encoded, "{ty:?}: {value:?} became {again:?}");
    }
}

/// JSON as a value and as a type: the same.
pub(crate) fn json_values(text: &str) {
    if let Ok(value) = json::decode_implied(text) {
        let encoded = json::encode_plain(&value).expect("what was read can be written");
        let again = json::decode_implied(&encoded).expect("what was written can be read");
        assert!(again == value, "{value:?} became {again:?}");
    }
    for ty in types() {
        let Ok(value) = json::decode(text, &ty) else { continue };
        let encoded = json::encode(&value, &ty).expect("what was read can be written");
        let again = json::decode(&encoded, &ty).expect("what was written can be read");
        assert!(again == value, "{ty:?}: {value:?} became {again:?}");
    }
    if let Ok(ty) = type_json::decode(text) {
        let again = type_json::decode(&type_json::encode(&ty)).expect("what was written can be read");
        assert!(again == ty, "{ty:?} became {again:?}");
    }
}

/// One type of every kind.
fn types() -> Vec<Type> {
    vec![
        Type::Dynamic,
        Type::String,
        Type::Number,
        Type::list(Type::Dynamic),
        Type::set(Type::String),
        Type::map(Type::list(Type::Number)),
        Type::tuple(vec![Type::Bool, Type::Dynamic]),
    ]
}
