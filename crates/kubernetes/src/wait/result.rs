//! The attribute `result`: what was waited for, at the place where the object has it.

use groma_model::codec::json;
use groma_model::ty::Type;
use groma_model::value::Value;
use serde_json::Map;

use crate::Json;
use crate::path::{FieldPath, Step};

/// An element far down a list is not worth so many nulls before it.
const LONGEST_LIST: usize = 1_000;

/// A document as a value. Lists become tuples, since their elements need not be alike.
pub(crate) fn value_of(document: &Json) -> Value {
    json::decode_implied(&document.to_string()).unwrap_or_else(|_| Value::null(Type::Dynamic))
}

/// An object that has only these places of another. None if there is nothing there.
pub(super) fn rebuilt(live: &Json, places: &[FieldPath]) -> Option<Json> {
    let mut built = Json::Null;
    for place in places {
        if let Some(value) = place.find(live) {
            put(&mut built, &place.0, value);
        }
    }
    (!built.is_null()).then_some(built)
}

fn put(built: &mut Json, steps: &[Step], value: &Json) {
    let Some((first, rest)) = steps.split_first() else {
        *built = value.clone();
        return;
    };
    match first {
        Step::Field(name) => {
            if built.is_null() {
                *built = Json::Object(Map::new());
            }
            if let Some(members) = built.as_object_mut() {
                put(members.entry(name.clone()).or_insert(Json::Null), rest, value);
            }
        }
        Step::Index(index) if *index < LONGEST_LIST => {
            if built.is_null() {
                *built = Json::Array(Vec::new());
            }
            if let Some(items) = built.as_array_mut() {
                if items.len() <= *index {
                    items.resize(*index + 1, Json::Null);
                }
                if let Some(item) = items.get_mut(*index) {
                    put(item, rest, value);
                }
            }
        }
        // Places in an object that is there are by index.
        Step::Index(_) | Step::Key(_) | Step::Value(_) => {}
    }
}
