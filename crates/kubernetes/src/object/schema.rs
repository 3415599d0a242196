//! The schema of `k8sconnect_object`, what identifies its objects, and how older states are read.

use std::collections::BTreeMap;

use groma_kit::checks::one_of;
use groma_kit::spec::{computed, optional, required};
use groma_kit::{JsonObject, Object, Spec};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::path::Path;
use groma_model::schema::{IdentityAttribute, IdentitySchema, SensitiveWhen};
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_model::value::Value;

use super::fields::map_type;
use super::naming::reference_type;
use crate::cluster;
use crate::manifest::may_be_secret;
use crate::wait::WaitFor;

/// The version of the schema, as the published provider counts.
const VERSION: i64 = 2;

/// What to do about an object that is there already.
pub(crate) const ADOPT: &[&str] = &["refuse", "adopt"];
/// What destroying means.
pub(crate) const DELETE_POLICIES: &[&str] = &["delete", "background", "foreground", "orphan_dependents", "orphan"];

/// Manifests of Secrets are not shown, nor are collections with such a manifest.
pub(crate) const SECRETS: SensitiveWhen = SensitiveWhen { name: "manifests of Secrets", hides: holds_secret };

fn holds_secret(value: &Value) -> bool {
    match value.as_str() {
        Some(text) => may_be_secret(text),
        None => value.children().into_iter().any(|(_, item)| item.as_str().is_some_and(may_be_secret)),
    }
}

pub(super) fn spec() -> Spec {
    let spec = Spec::new()
        .version(VERSION)
        .doc("One Kubernetes object, of whatever kind.")
        .attr("id", computed(Type::String).keep().doc("The id of the resource, as the object's annotation has it."))
        .attr(
            "yaml_body",
            required(Type::String)
                .sensitive_when(SECRETS)
                .doc("The manifest: one YAML document. That of a Secret is not shown."),
        )
        .attr(cluster::CLUSTER, cluster::attribute());
    results(policies(spec))
}

fn policies(spec: Spec) -> Spec {
    spec.attr(
        "ignore_fields",
        optional(Type::list(Type::String)).doc(
            "JSONPaths of fields that others decide once the object is made, such as `spec.replicas`. They are released, not reset.",
        ),
    )
    .attr(
        "adopt",
        optional(Type::String)
            .check(one_of(ADOPT))
            .doc("What to do if the object exists already: `refuse` (the default) or `adopt` it."),
    )
    .attr(
        "force_conflicts",
        optional(Type::Bool).doc("Whether fields that others own are taken from them. Default: `true`."),
    )
    .attr("delete_protection", optional(Type::Bool).doc("Whether the object must not be destroyed."))
    .attr(
        "delete_policy",
        optional(Type::String).check(one_of(DELETE_POLICIES)).doc(
            "What destroying means. `delete` (the default) and `background`: the object goes, and what belongs to it afterwards. \
             `foreground`: what belongs to it goes first. `orphan_dependents`: what belongs to it stays. `orphan`: the object \
             itself stays in the cluster and is forgotten.",
        ),
    )
    .attr(
        "delete_timeout",
        optional(Type::String).check(is_duration).doc(
            "How long to wait until the object is gone, such as `5m`; `0s` not to wait. The default depends on the kind: \
             5 to 15 minutes.",
        ),
    )
    .attr(
        "force_destroy",
        optional(Type::Bool).doc("Whether finalizers are removed if the object is not gone after `delete_timeout`."),
    )
    .attr("wait_for", WaitFor::attribute(true))
}

fn results(spec: Spec) -> Spec {
    spec.attr(
        "managed_state_projection",
        computed(map_type())
            .doc("The fields that are managed here and their values. Secret data is there as fingerprints."),
    )
    .attr("managed_fields", computed(map_type()).doc("All fields and who owns them."))
    .attr("object_ref", computed(reference_type()).doc("What the object is called."))
    .attr(
        "cluster_uid",
        computed(Type::String).keep().doc("Which cluster the object is in: the UID of its namespace `kube-system`."),
    )
}

/// A duration that is not negative.
pub(crate) fn is_duration(path: &Path, value: &Value) -> Option<Diagnostic> {
    let text = value.as_str()?;
    let problem = match groma_kit::parse_duration(text) {
        Ok(nanos) if nanos >= 0 => return None,
        Ok(_) => format!("{text:?} is negative."),
        Err(error) => format!("{error}."),
    };
    let detail = format!("{problem} Write a duration such as \"30s\", \"5m\" or \"1h30m\".");
    Some(Diagnostic::error("Invalid duration", detail).at_path(path.clone()))
}

pub(super) fn identity_schema() -> IdentitySchema {
    let part = |required_for_import: bool, description: &str| IdentityAttribute {
        ty: Type::String,
        required_for_import,
        optional_for_import: !required_for_import,
        description: description.to_owned(),
    };
    let attributes = [
        ("api_version", part(true, "As in the manifest: `apps/v1`.")),
        ("kind", part(true, "As in the manifest: `Deployment`.")),
        ("namespace", part(false, "Where it is, for kinds that are in namespaces.")),
        ("name", part(true, "Its name.")),
    ];
    let attributes: BTreeMap<Str, IdentityAttribute> =
        attributes.into_iter().map(|(name, part)| (Str::from(name), part)).collect();
    IdentitySchema { version: 0, attributes }
}

/// What identifies an object: what it is called.
pub(super) fn identity(object: &Object) -> Option<Value> {
    let reference = object.get("object_ref");
    (!reference.is_null() && reference.is_wholly_known()).then_some(reference)
}

/// The id by which an object of this identity is imported, with the provider's own connection.
pub(super) fn import_id(identity: &Object) -> String {
    let part = |name: &str| identity.text(name).unwrap_or_default().to_owned();
    let kind = format!("{}/{}:{}", part("api_version"), part("kind"), part("name"));
    match identity.text("namespace") {
        Some(namespace) => format!("{namespace}:{kind}"),
        None => kind,
    }
}

/// States of version 0 and 1 lack `managed_fields`, or have it in another form. It is read anew.
pub(super) fn upgrade(version: i64, object: &mut JsonObject) -> Result<i64, Diagnostic> {
    if !(0..VERSION).contains(&version) {
        let detail = format!("Nobody knows how to read objects that were stored with version {version} of the schema.");
        return Err(Diagnostic::error("Unable to Upgrade Resource State", detail));
    }
    object.insert("managed_fields".to_owned(), serde_json::Value::Null);
    // Its name before 0.2.0 of the published provider.
    if let Some(connection) = object.shift_remove("cluster_connection") {
        object.entry("cluster").or_insert(connection);
    }
    Ok(VERSION)
}

/// Checks that need the values of several attributes.
pub(super) fn contradictions(config: &Object) -> Diagnostics {
    let mut found = Diagnostics::new();
    if config.flag("delete_protection") == Some(true) && config.flag("force_destroy") == Some(true) {
        let detail = "delete_protection keeps the object from being destroyed, and force_destroy destroys it whatever holds it. \
                      Set only one of them.";
        found.push(Diagnostic::error("Contradicting arguments", detail).at_path(groma_kit::at("force_destroy")));
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn upgraded(version: i64, state: serde_json::Value) -> serde_json::Value {
        let serde_json::Value::Object(mut object) = state else { panic!("no object") };
        assert_eq!(upgrade(version, &mut object), Ok(2));
        object.into()
    }

    #[test]
    fn old_states_get_no_managed_fields() {
        assert_eq!(upgraded(0, json!({"id": "a"})), json!({"id": "a", "managed_fields": null}));
        let text = json!({"id": "a", "managed_fields": "{\"spec\": \"kubectl\"}"});
        assert_eq!(upgraded(1, text), json!({"id": "a", "managed_fields": null}));
    }

    #[test]
    fn the_connection_had_another_name_once() {
        let state = upgraded(0, json!({"cluster_connection": {"host": "h"}}));
        assert_eq!(state, json!({"managed_fields": null, "cluster": {"host": "h"}}));
    }

    #[test]
    fn identities_are_import_ids() {
        let identity = |namespace: Value| {
            let parts = [("api_version", "apps/v1"), ("kind", "Deployment"), ("name", "web")];
            let parts = parts.map(|(name, text)| (Str::from(name), Value::string(text)));
            import_id(&Object::of(&Value::object(parts.into_iter().chain([(Str::from("namespace"), namespace)]))))
        };
        assert_eq!(identity(Value::string("prod")), "prod:apps/v1/Deployment:web");
        assert_eq!(identity(Value::null(Type::String)), "apps/v1/Deployment:web");
    }

    #[test]
    fn negative_durations_are_refused() {
        let check = |text: &str| is_duration(&Path::root(), &Value::string(text)).is_none();
        assert!(check("0s") && check("5m") && check("1h30m"));
        assert!(!check("-1s") && !check("5") && !check("soon"));
    }
}
