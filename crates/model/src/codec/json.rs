//! JSON: reading values for a type, or with the type that the text implies. Writing is in `write`, the syntax in `read`.

use std::collections::BTreeMap;

use super::{CodecError, Depth, NameCache, attribute, collected, element, key, required, type_json};
use crate::number::Number;
use crate::text::Str;
use crate::ty::Type;
use crate::value::{Entries, Value};

mod read;
mod write;

#[cfg(test)]
mod tests;

pub use read::Json;
pub use write::{encode, encode_plain, write_string};

/// Reads a value of a type from text.
pub fn decode(text: &str, ty: &Type) -> Result<Value, CodecError> {
    from_json(&Json::parse(text)?, ty)
}

/// Reads a value from text with the type that the text implies, as `jsondecode` does: objects, tuples and primitives,
/// null of no type.
pub fn decode_implied(text: &str) -> Result<Value, CodecError> {
    implied(&Json::parse(text)?)
}

/// Makes a value of a type from a document. Primitives are converted where the text form is unambiguous.
pub fn from_json(json: &Json<'_>, ty: &Type) -> Result<Value, CodecError> {
    typed(json, ty, &mut NameCache::default(), Depth::default())
}

fn typed<'t>(json: &Json<'_>, ty: &'t Type, names: &mut NameCache<'t>, depth: Depth) -> Result<Value, CodecError> {
    if *json == Json::Null {
        return Ok(Value::null(ty.clone()));
    }
    match (ty, json) {
        (Type::Dynamic, _) => dynamic(json, depth),
        (Type::Bool | Type::Number | Type::String, _) => primitive(json, ty),
        (Type::List(inner), Json::Array(items)) => {
            let items = typed_items(items, |_| Some(&**inner), names, depth.deeper()?)?;
            Ok(Value::list(collected(inner, &items)?, items))
        }
        (Type::Set(inner), Json::Array(items)) => {
            let items = typed_items(items, |_| Some(&**inner), names, depth.deeper()?)?;
            Ok(Value::set(collected(inner, &items)?, items))
        }
        (Type::Tuple(types), Json::Array(items)) => {
            if items.len() != types.len() {
                let problem = if items.len() > types.len() { "too many" } else { "not enough" };
                return Err(CodecError::mismatch(format!("{problem} tuple elements (need {})", types.len())));
            }
            Ok(Value::tuple(typed_items(items, |at| types.get(at), names, depth.deeper()?)?))
        }
        (Type::Map(inner), Json::Object(members)) => {
            let depth = depth.deeper()?;
            let mut entries = Vec::with_capacity(members.len());
            for (name, item) in members {
                entries.push((name.as_ref(), typed(item, inner, names, depth).map_err(key(name))?));
            }
            let element = collected(inner, entries.iter().map(|(_, item)| item))?;
            Ok(Value::map(element, entries.into_iter().collect()))
        }
        (Type::Object(object), Json::Object(members)) => {
            let depth = depth.deeper()?;
            let mut values: Vec<Option<Value>> = vec![None; object.len()];
            let shared = names.names(object);
            for (name, item) in members {
                let Ok(at) = shared.binary_search_by(|known| known.as_str().cmp(name)) else {
                    return Err(CodecError::mismatch(format!("unsupported attribute {name:?}")));
                };
                let Some(wanted) = object.get(name) else { continue };
                values[at] = Some(typed(item, wanted, names, depth).map_err(attribute(&shared[at]))?);
            }
            let types = object.iter().map(|(_, attribute)| &attribute.ty);
            let values =
                values.into_iter().zip(types).map(|(value, ty)| value.unwrap_or_else(|| Value::null(ty.clone())));
            Ok(Value::object_of(Entries::with_names(shared, values.collect())))
        }
        _ => Err(CodecError::mismatch(required(ty))),
    }
}

fn typed_items<'t>(
    items: &[Json<'_>],
    types: impl Fn(usize) -> Option<&'t Type>,
    names: &mut NameCache<'t>,
    depth: Depth,
) -> Result<Vec<Value>, CodecError> {
    let mut values = Vec::with_capacity(items.len());
    for (at, item) in items.iter().enumerate() {
        let Some(ty) = types(at) else { break };
        values.push(typed(item, ty, names, depth).map_err(element(at))?);
    }
    Ok(values)
}

fn primitive(json: &Json<'_>, ty: &Type) -> Result<Value, CodecError> {
    let value = match (ty, json) {
        (Type::Bool, Json::Bool(value)) => Some(Value::bool(*value)),
        (Type::Bool, Json::String(text)) => match text.as_ref() {
            "true" | "1" => Some(Value::bool(true)),
            "false" | "0" => Some(Value::bool(false)),
            _ => None,
        },
        (Type::Number, Json::Number(text)) => Number::parse(text).map(Value::number),
        (Type::Number, Json::String(text)) => Number::parse(text).map(Value::number),
        (Type::String, Json::String(text)) => Some(Value::string(text.as_ref())),
        (Type::String, Json::Number(text)) => Some(Value::string(*text)),
        (Type::String, Json::Bool(value)) => Some(Value::string(if *value { "true" } else { "false" })),
        _ => None,
    };
    value.ok_or_else(|| CodecError::mismatch(required(ty)))
}

/// `{"value": …, "type": …}`
fn dynamic(json: &Json<'_>, depth: Depth) -> Result<Value, CodecError> {
    let depth = depth.wrapped()?;
    let Json::Object(members) = json else {
        return Err(CodecError::mismatch("an object with \"value\" and \"type\" is required"));
    };
    if let Some((name, _)) = members.iter().find(|(name, _)| name != "value" && name != "type") {
        return Err(CodecError::mismatch(format!("invalid key {name:?} in dynamically-typed value")));
    }
    let member = |name: &str| {
        json.get(name).ok_or_else(|| CodecError::mismatch(format!("missing {name} in dynamically-typed value")))
    };
    let ty = type_json::from_json(member("type")?)?;
    typed(member("value")?, &ty, &mut NameCache::default(), depth)
}

/// Makes a value from a document with the type that it implies. See [`decode_implied`].
pub fn implied(json: &Json<'_>) -> Result<Value, CodecError> {
    Ok(match json {
        Json::Null => Value::null(Type::Dynamic),
        Json::Bool(value) => Value::bool(*value),
        Json::Number(text) => {
            Value::number(Number::parse(text).ok_or_else(|| CodecError::mismatch("a number is required"))?)
        }
        Json::String(text) => Value::string(text.as_ref()),
        Json::Array(items) => {
            let mut values = Vec::with_capacity(items.len());
            for (at, item) in items.iter().enumerate() {
                values.push(implied(item).map_err(element(at))?);
            }
            Value::tuple(values)
        }
        Json::Object(members) => {
            let mut values: BTreeMap<Str, Value> = BTreeMap::new();
            for (name, item) in members {
                let name = Str::from(name.as_ref());
                let value = implied(item).map_err(attribute(&name))?;
                // Of values with one type the last counts; of different ones nobody can say which is meant.
                if values.get(&name).is_some_and(|known| !known.has_type_of(&value)) {
                    return Err(CodecError::mismatch(format!("duplicate {:?} property in JSON object", name.as_str())));
                }
                values.insert(name, value);
            }
            Value::object(values)
        }
    })
}

/// The type that [`implied`] gives, without the value.
pub fn implied_type(json: &Json<'_>) -> Result<Type, CodecError> {
    Ok(implied(json)?.ty())
}
