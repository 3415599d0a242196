//! Types as JSON: `"string"`, `["list","number"]`, `["object",{"a":"bool"},["a"]]`.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::json::{Json, write_string};
use super::{CodecError, Depth};
use crate::text::Str;
use crate::ty::{AttributeType, ObjectType, Type};

/// Encodes a type.
pub fn encode(ty: &Type) -> String {
    let mut out = String::new();
    write(&mut out, ty);
    out
}

/// Decodes a type.
pub fn decode(text: &str) -> Result<Type, CodecError> {
    from_json(&Json::parse(text)?)
}

pub(super) fn write(out: &mut String, ty: &Type) {
    let collection = |out: &mut String, kind: &str, inner: &Type| {
        out.push_str("[\"");
        out.push_str(kind);
        out.push_str("\",");
        write(out, inner);
        out.push(']');
    };
    match ty {
        Type::Dynamic => out.push_str("\"dynamic\""),
        Type::Bool => out.push_str("\"bool\""),
        Type::Number => out.push_str("\"number\""),
        Type::String => out.push_str("\"string\""),
        Type::List(inner) => collection(out, "list", inner),
        Type::Set(inner) => collection(out, "set", inner),
        Type::Map(inner) => collection(out, "map", inner),
        Type::Tuple(types) => {
            out.push_str("[\"tuple\",[");
            for (at, ty) in types.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write(out, ty);
            }
            out.push_str("]]");
        }
        Type::Object(object) => write_object(out, object),
    }
}

fn write_object(out: &mut String, object: &ObjectType) {
    out.push_str("[\"object\",{");
    for (at, (name, attribute)) in object.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        write_string(out, name);
        out.push(':');
        write(out, &attribute.ty);
    }
    out.push('}');
    if object.has_optional() {
        let optional = object.iter().filter(|(_, attribute)| attribute.optional);
        for (at, (name, _)) in optional.enumerate() {
            out.push_str(if at == 0 { ",[" } else { "," });
            write_string(out, name);
        }
        out.push(']');
    }
    out.push(']');
}

/// Makes a type from a document.
pub fn from_json(json: &Json<'_>) -> Result<Type, CodecError> {
    read(json, Depth::default())
}

fn read(json: &Json<'_>, depth: Depth) -> Result<Type, CodecError> {
    let depth = depth.deeper()?;
    match json {
        Json::String(name) => match name.as_ref() {
            "bool" => Ok(Type::Bool),
            "number" => Ok(Type::Number),
            "string" => Ok(Type::String),
            "dynamic" => Ok(Type::Dynamic),
            _ => Err(CodecError::mismatch(format!("invalid primitive type name {name:?}"))),
        },
        Json::Array(parts) => read_complex(parts, depth),
        _ => Err(CodecError::mismatch("invalid type description")),
    }
}

fn read_complex(parts: &[Json<'_>], depth: Depth) -> Result<Type, CodecError> {
    let kind = match parts.first() {
        Some(Json::String(kind)) => kind.as_ref(),
        _ => return Err(CodecError::mismatch("invalid complex type kind name")),
    };
    match (kind, &parts[1..]) {
        ("list", [inner]) => Ok(Type::list(read(inner, depth)?)),
        ("set", [inner]) => Ok(Type::set(read(inner, depth)?)),
        ("map", [inner]) => Ok(Type::map(read(inner, depth)?)),
        ("tuple", [Json::Array(types)]) => {
            types.iter().map(|ty| read(ty, depth)).collect::<Result<_, _>>().map(Type::tuple)
        }
        ("object", [Json::Object(members)]) => read_object(members, &[], depth),
        ("object", [Json::Object(members), Json::Array(optional)]) => read_object(members, optional, depth),
        ("list" | "set" | "map" | "tuple" | "object", _) => {
            Err(CodecError::mismatch(format!("invalid description of a type of kind {kind:?}")))
        }
        _ => Err(CodecError::mismatch("invalid complex type kind name")),
    }
}

fn read_object(
    members: &[(std::borrow::Cow<'_, str>, Json<'_>)],
    optional: &[Json<'_>],
    depth: Depth,
) -> Result<Type, CodecError> {
    let mut attributes = BTreeMap::new();
    for (name, ty) in members {
        attributes.insert(Str::from(name.as_ref()), AttributeType { ty: read(ty, depth)?, optional: false });
    }
    for name in optional {
        let Json::String(name) = name else {
            return Err(CodecError::mismatch("optional attributes must be named by strings"));
        };
        match attributes.get_mut(name.as_ref()) {
            Some(attribute) => attribute.optional = true,
            None => return Err(CodecError::mismatch(format!("optional attribute {name:?} is not declared"))),
        }
    }
    Ok(Type::Object(Arc::new(ObjectType::with_optional(attributes))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_come_back() {
        for text in [
            r#""dynamic""#,
            r#"["list",["set",["map","bool"]]]"#,
            r#"["tuple",[]]"#,
            r#"["tuple",["string",["list","number"]]]"#,
            r#"["object",{}]"#,
            r#"["object",{"a":"string","b":["object",{"c\u003c":"number"}]}]"#,
            r#"["object",{"a":"string","b":"bool","c":"bool"},["a","c"]]"#,
        ] {
            assert_eq!(encode(&decode(text).unwrap()), text);
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for text in [
            "",
            "1",
            "null",
            "{}",
            "[]",
            r#""int""#,
            r#"["list"]"#,
            r#"["list","string","string"]"#,
            r#"["object",{"a":"string"},["b"]]"#,
            r#"["object",{"a":"string"},[1]]"#,
            r#"["tuple",{}]"#,
            r#"["other","string"]"#,
            r#""string" "string""#,
        ] {
            assert!(decode(text).is_err(), "{text}");
        }
        let deep = format!("{}\"string\"{}", "[\"list\",".repeat(5000), "]".repeat(5000));
        assert_eq!(decode(&deep).unwrap_err().kind(), &super::super::CodecErrorKind::TooDeep);
    }
}
