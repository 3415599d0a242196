//! Stored attributes of any version to an object of the current schema.

use std::borrow::Cow;

use groma_model::codec::json::{self, Json};
use groma_model::diag::Diagnostic;
use groma_model::ty::Type;
use groma_model::value::Value;
use groma_provider::api::RawState;

use super::object::Object;
use super::spec::Spec;
use super::traits::Resource;

/// Stored attributes that an upgrade changes.
pub type JsonObject = serde_json::Map<String, serde_json::Value>;

/// Brings stored attributes to the current schema. Attributes that it does not have are dropped.
pub(super) fn upgrade(
    resource: &dyn Resource,
    spec: &Spec,
    version: i64,
    state: &RawState,
) -> Result<Value, Diagnostic> {
    let ty = spec.schema.block.implied_type();
    let current = spec.schema.version;
    let text = match state {
        RawState::Json(bytes) => std::str::from_utf8(bytes).map(Cow::Borrowed).map_err(|error| unreadable(&error))?,
        RawState::Flatmap(pairs) => Cow::Owned(serde_json::Value::Object(unflatten(pairs, &ty)).to_string()),
    };
    if version > current {
        return Err(Diagnostic::error(
            "Resource instance managed by newer provider version",
            format!(
                "The object was stored with version {version} of the schema of {}, but this provider knows versions \
                 up to {current} only.",
                resource.type_name()
            ),
        ));
    }
    let text = if version == current { text } else { Cow::Owned(stepped(resource, version, current, &text)?) };
    let mut parsed = Json::parse(&text).map_err(|error| unreadable(&error))?;
    parsed.retain_known(&ty);
    let value = json::from_json(&parsed, &ty).map_err(|error| unreadable(&error))?;
    if value.is_null() {
        return Ok(value);
    }
    let mut object = Object::of(&value);
    resource.mend(&mut object);
    Ok(object.into_value())
}

fn stepped(resource: &dyn Resource, mut version: i64, current: i64, text: &str) -> Result<String, Diagnostic> {
    let mut object: JsonObject = serde_json::from_str(text).map_err(|error| unreadable(&error))?;
    while version < current {
        let next = resource.upgrade(version, &mut object)?;
        if next <= version {
            let problem = format!("nothing leads from version {version} of the schema to version {current}");
            return Err(unreadable(&problem));
        }
        version = next;
    }
    Ok(serde_json::Value::Object(object).to_string())
}

fn unreadable(error: &dyn std::fmt::Display) -> Diagnostic {
    Diagnostic::error(
        "Unable to Read Previously Saved State for UpgradeResourceState",
        format!("The stored attributes do not fit the schema: {error}."),
    )
}

/// Attributes from the flat form of old states: `tags.%` = 1, `tags.a` = "b", `list.#` = 2, `list.0` = "x".
fn unflatten(pairs: &[(String, String)], ty: &Type) -> JsonObject {
    let mut object = JsonObject::new();
    let Type::Object(attributes) = ty else { return object };
    for (name, attribute) in attributes.iter() {
        if let Some(value) = unflatten_value(pairs, name, &attribute.ty) {
            object.insert(name.to_string(), value);
        }
    }
    object
}

fn unflatten_value(pairs: &[(String, String)], prefix: &str, ty: &Type) -> Option<serde_json::Value> {
    let inner = format!("{prefix}.");
    let below = || pairs.iter().filter_map(|(key, value)| Some((key.strip_prefix(&inner)?, value)));
    match ty {
        Type::Map(element) => {
            let is_there = below().any(|(key, _)| key == "%");
            let entries = below().filter(|(key, _)| *key != "%").filter_map(|(key, _)| {
                Some((key.to_owned(), unflatten_value(pairs, &format!("{inner}{key}"), element)?))
            });
            let entries: JsonObject = entries.collect();
            (is_there || !entries.is_empty()).then_some(entries.into())
        }
        Type::List(element) | Type::Set(element) => {
            let count: usize = below().find(|(key, _)| *key == "#")?.1.parse().ok()?;
            let mut keys: Vec<&str> = below().filter_map(|(key, _)| key.split('.').next()).collect();
            keys.retain(|key| *key != "#");
            keys.sort_by_key(|key| key.parse::<i64>().unwrap_or(i64::MAX));
            keys.dedup();
            let items = keys.iter().take(count);
            Some(items.filter_map(|key| unflatten_value(pairs, &format!("{inner}{key}"), element)).collect())
        }
        Type::Object(_) => {
            let nested: Vec<(String, String)> = below().map(|(key, value)| (key.to_owned(), value.clone())).collect();
            Some(unflatten(&nested, ty).into())
        }
        _ => pairs.iter().find(|(key, _)| key == prefix).map(|(_, value)| value.clone().into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flat_attributes_get_their_shape() {
        let pairs: Vec<(String, String)> = [
            ("id", "x"),
            ("keepers.%", "1"),
            ("keepers.a.b", "c"),
            ("result.#", "11"),
            ("result.0", "z"),
            ("result.10", "k"),
            ("result.2", "y"),
        ]
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .into();
        let ty = Type::object([
            ("id", Type::String),
            ("keepers", Type::map(Type::String)),
            ("none", Type::map(Type::String)),
            ("result", Type::list(Type::String)),
        ]);
        let expected = serde_json::json!({"id": "x", "keepers": {"a.b": "c"}, "result": ["z", "y", "k"]});
        assert_eq!(serde_json::Value::Object(unflatten(&pairs, &ty)), expected);
    }
}
