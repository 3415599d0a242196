//! Stored attributes of the current schema version, for providers that leave them to us: what the schema does not know is
//! dropped, and what is missing is null.

use groma_model::codec::json;
use groma_model::ty::Type;
use groma_model::value::Value;
use serde_json::Value as Json;

/// Reads stored attributes.
pub(super) fn current(text: &[u8], ty: &Type) -> Result<Value, String> {
    let mut stored: Json = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    fit(&mut stored, ty);
    json::decode(&stored.to_string(), ty).map_err(|error| error.to_string())
}

/// As deep as the type goes, which comes from our own schema.
fn fit(stored: &mut Json, ty: &Type) {
    match (ty, stored) {
        (Type::Object(object), Json::Object(attributes)) => {
            attributes.retain(|name, _| object.get(name).is_some());
            for (name, attribute) in object.iter() {
                fit(attributes.entry(name.to_string()).or_insert(Json::Null), &attribute.ty);
            }
        }
        (Type::List(inner) | Type::Set(inner), Json::Array(items)) => {
            for item in items {
                fit(item, inner);
            }
        }
        (Type::Map(inner), Json::Object(entries)) => {
            for (_, item) in entries.iter_mut() {
                fit(item, inner);
            }
        }
        (Type::Tuple(types), Json::Array(items)) => {
            for (item, ty) in items.iter_mut().zip(types.iter()) {
                fit(item, ty);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stored_is_fitted_to_the_schema() {
        let inner = Type::object([("a", Type::String), ("b", Type::Number)]);
        let ty = Type::object([("items", Type::list(inner)), ("name", Type::String)]);
        let value = current(br#"{"items":[{"a":"x","gone":1}],"old":true}"#, &ty).unwrap();
        let expected = json::decode(r#"{"items":[{"a":"x","b":null}],"name":null}"#, &ty).unwrap();
        assert_eq!(value, expected);
        assert!(current(b"[]", &ty).is_err());
        assert!(current(b"", &ty).is_err());
    }
}
