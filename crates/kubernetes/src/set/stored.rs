//! What is stored of a set: its objects with their UIDs, and the values of what is managed, by object and place.

use std::collections::BTreeMap;

use groma_kit::Object;
use groma_model::ty::Type;
use groma_model::value::{Entries, Value};

use super::members::members;
use super::order::{Phase, Turn, phase};
use crate::Json;
use crate::ignore::Ignored;
use crate::manifest::ObjectRef;
use crate::object::fields::{Map, map_of, map_value, projected};
use crate::object::naming::{IdentityChange, identity_change, reference_of, reference_value, uid};
use crate::ownership::MANAGER;

/// An object of a set that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Made {
    pub(super) reference: ObjectRef,
    /// None if that is not known yet.
    pub(super) uid: Option<String>,
}

/// The type of `objects`.
pub(super) fn objects_type() -> Type {
    let parts = ["api_version", "kind", "name", "namespace", "uid"];
    Type::map(Type::object(parts.map(|name| (name, Type::String))))
}

/// As the attribute `objects`.
pub(super) fn objects_value(objects: &BTreeMap<String, Made>) -> Value {
    let value = |made: &Made| {
        let mut parts = Object::of(&reference_value(&made.reference));
        parts.set("uid", made.uid.as_deref().map_or_else(|| Value::unknown(Type::String), Value::string));
        parts.into_value()
    };
    let entries: Entries = objects.iter().map(|(key, made)| (key.as_str(), value(made))).collect();
    let Type::Map(element) = objects_type() else { return Value::null(objects_type()) };
    Value::map((*element).clone(), entries)
}

/// The objects that a set has, by key.
pub(super) fn objects_of(object: &Object) -> BTreeMap<String, Made> {
    let value = object.get("objects");
    let entries = value.as_entries().into_iter().flat_map(Entries::iter);
    let made = |value: &Value| {
        let uid = Object::of(value).text("uid").map(str::to_owned);
        Some(Made { reference: reference_of(value)?, uid })
    };
    entries.filter_map(|(key, value)| Some((key.to_string(), made(value)?))).collect()
}

/// When each stored object was made, by key. The manifests say it, as long as they have the object.
pub(super) fn turns(object: &Object, objects: &BTreeMap<String, Made>) -> BTreeMap<String, Turn> {
    let written = members(object).ok().flatten().unwrap_or_default();
    let turn = |key: &str, made: &Made| {
        let member = written.iter().find(|member| member.key == key);
        member.map_or_else(|| Turn { wave: 0, phase: phase(&made.reference) }, |member| member.turn)
    };
    objects.iter().map(|(key, made)| (key.clone(), turn(key, made))).collect()
}

/// Whether a name as it is written is that of an object that was made.
pub(super) fn is_of(written: &ObjectRef, made: &ObjectRef) -> bool {
    let namespace = match (&written.namespace, &made.namespace) {
        // Kinds without namespaces lose what is given.
        (_, None) => None,
        (None, Some(_)) => Some("default".to_owned()),
        (Some(namespace), Some(_)) => Some(namespace.clone()),
    };
    let written = ObjectRef { namespace, ..written.clone() };
    !matches!(identity_change(&written, made), IdentityChange::Other(_))
}

/// The UID of the object that has a name as it is written.
pub(super) fn uid_of<'m>(objects: &'m BTreeMap<String, Made>, written: &ObjectRef) -> Option<&'m str> {
    objects.values().find(|made| is_of(written, &made.reference))?.uid.as_deref()
}

/// The values of what is managed of one object.
pub(super) fn projection_of(key: &str, live: &Json, id: &str) -> Map {
    let projection = projected(live, MANAGER, &Ignored::default(), id);
    projection.into_iter().map(|(place, text)| (entry(key, &place), text)).collect()
}

fn entry(key: &str, place: &str) -> String {
    format!("{key}: {place}")
}

/// What is stored of the values of some objects only.
pub(super) fn kept_projection(object: &Object, keeps: impl Fn(&str) -> bool) -> Map {
    let mut map = map_of(object, "managed_state_projection").unwrap_or_default();
    map.retain(|entry, _| entry.split_once(": ").is_some_and(|(key, _)| keeps(key)));
    map
}

/// What a live object is, as it is stored.
pub(super) fn made(reference: &ObjectRef, live: &Json) -> Made {
    Made { reference: reference.clone(), uid: Some(uid(live).unwrap_or_default().to_owned()) }
}

/// Takes down objects and values.
pub(super) fn take_down(object: &mut Object, objects: &BTreeMap<String, Made>, projection: &Map) {
    object.set("objects", objects_value(objects));
    object.set("managed_state_projection", map_value(projection));
}

/// Whether an object defines a kind.
pub(super) fn defines_a_kind(turn: Turn) -> bool {
    turn.phase == Phase::Definitions
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set() -> BTreeMap<String, Made> {
        let reference = ObjectRef {
            api_version: "v1".to_owned(),
            kind: "ConfigMap".to_owned(),
            namespace: Some("a".to_owned()),
            name: "x".to_owned(),
        };
        BTreeMap::from([("configmap.a.x".to_owned(), Made { reference, uid: Some("u".to_owned()) })])
    }

    #[test]
    fn objects_survive_being_a_value() {
        let value = objects_value(&set());
        assert!(value.is_of_type(&objects_type()));
        assert_eq!(objects_of(&Object::of(&Value::object([("objects", value)]))), set());
    }

    #[test]
    fn a_name_that_leaves_its_namespace_open_is_that_of_the_default_one() {
        let named = |api_version: &str, namespace: Option<&str>| ObjectRef {
            api_version: api_version.to_owned(),
            kind: "Role".to_owned(),
            namespace: namespace.map(str::to_owned),
            name: "x".to_owned(),
        };
        assert!(is_of(&named("a/v1", None), &named("a/v1", Some("default"))));
        assert!(is_of(&named("a/v1", Some("b")), &named("a/v2", None)));
        assert!(!is_of(&named("a/v1", None), &named("a/v1", Some("b"))));
        assert!(!is_of(&named("b/v1", Some("b")), &named("a/v1", Some("b"))));
    }

    #[test]
    fn values_of_some_objects_are_kept() {
        let map: Map = ["a.b: spec.x", "c: data[\"k: v\"]"].map(|entry| (entry.to_owned(), "1".to_owned())).into();
        let object = Object::of(&Value::object([("managed_state_projection", map_value(&map))]));
        let kept = kept_projection(&object, |key| key == "c");
        assert_eq!(kept.keys().collect::<Vec<_>>(), ["c: data[\"k: v\"]"]);
    }
}
