//! What objects are called: as a value, as words, and what it means when that changes.

use groma_kit::Object;
use groma_model::ty::Type;
use groma_model::value::Value;

use crate::Json;
pub(crate) use crate::failure::named as shown;
use crate::manifest::ObjectRef;
pub(crate) use crate::manifest::group_of as group;

/// The type of `object_ref`.
pub(crate) fn reference_type() -> Type {
    Type::object(["api_version", "kind", "name", "namespace"].map(|name| (name, Type::String)))
}

/// As the attribute `object_ref`.
pub(crate) fn reference_value(reference: &ObjectRef) -> Value {
    let namespace = reference.namespace.as_deref();
    Value::object([
        ("api_version", Value::string(reference.api_version.as_str())),
        ("kind", Value::string(reference.kind.as_str())),
        ("name", Value::string(reference.name.as_str())),
        ("namespace", namespace.map_or_else(|| Value::null(Type::String), Value::string)),
    ])
}

/// Reads `object_ref`, `target`, or whatever has the same members. None if parts are missing or unknown.
pub(crate) fn reference_of(value: &Value) -> Option<ObjectRef> {
    let object = Object::of(value);
    if object.is_unknown("namespace") {
        return None;
    }
    let text = |name: &str| object.text(name).map(str::to_owned);
    Some(ObjectRef {
        api_version: text("api_version")?,
        kind: text("kind")?,
        name: text("name")?,
        namespace: text("namespace").filter(|namespace| !namespace.is_empty()),
    })
}

/// What another name means for an object that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum IdentityChange {
    /// It is the same object.
    Same,
    /// The same object, seen by another version of its group: the server converts.
    Version,
    /// Another object: what is not the same.
    Other(Vec<&'static str>),
}

/// Compares two names whose namespaces are completed.
pub(crate) fn identity_change(old: &ObjectRef, new: &ObjectRef) -> IdentityChange {
    let parts = [
        ("the group of apiVersion", group(&old.api_version) != group(&new.api_version)),
        ("kind", old.kind != new.kind),
        ("metadata.name", old.name != new.name),
        ("metadata.namespace", old.namespace != new.namespace),
    ];
    let changed: Vec<_> = parts.into_iter().filter(|(_, differs)| *differs).map(|(what, _)| what).collect();
    if !changed.is_empty() {
        IdentityChange::Other(changed)
    } else if old.api_version == new.api_version {
        IdentityChange::Same
    } else {
        IdentityChange::Version
    }
}

/// Which very object it is.
pub(crate) fn uid(live: &Json) -> Option<&str> {
    live.pointer("/metadata/uid")?.as_str()
}

/// Whether somebody has deleted it, and it is not gone yet.
pub(crate) fn is_going(live: &Json) -> bool {
    live.pointer("/metadata/deletionTimestamp").is_some_and(|at| !at.is_null())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(api_version: &str, kind: &str, namespace: &str, name: &str) -> ObjectRef {
        ObjectRef {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            namespace: (!namespace.is_empty()).then(|| namespace.to_owned()),
            name: name.to_owned(),
        }
    }

    #[test]
    fn another_version_of_the_group_is_the_same_object() {
        let old = named("autoscaling/v1", "HorizontalPodAutoscaler", "a", "x");
        let new = named("autoscaling/v2", "HorizontalPodAutoscaler", "a", "x");
        assert_eq!(identity_change(&old, &new), IdentityChange::Version);
        assert_eq!(identity_change(&old, &old), IdentityChange::Same);
    }

    #[test]
    fn another_group_kind_name_or_namespace_is_another_object() {
        let old = named("extensions/v1", "Ingress", "a", "x");
        let check = |new: ObjectRef, what: &[&'static str]| {
            assert_eq!(identity_change(&old, &new), IdentityChange::Other(what.to_vec()));
        };
        check(named("networking.k8s.io/v1", "Ingress", "a", "x"), &["the group of apiVersion"]);
        check(named("v1", "Service", "a", "x"), &["the group of apiVersion", "kind"]);
        check(named("extensions/v1", "Ingress", "b", "y"), &["metadata.name", "metadata.namespace"]);
    }

    #[test]
    fn a_reference_survives_being_a_value() {
        for namespace in ["", "prod"] {
            let reference = named("apps/v1", "Deployment", namespace, "nginx");
            let value = reference_value(&reference);
            assert!(value.is_of_type(&reference_type()));
            assert_eq!(reference_of(&value), Some(reference));
        }
    }
}
