//! What a cluster needs for objects of tofu-controller: their kind, where nobody has installed it yet, and what the operator may do with them.

use kube::CustomResourceExt as _;
use serde_json::{Value as Json, json};

use crate::api::terraform::{GROUP, OLD_VERSION, Terraform};
use crate::terraform::rival::LEASE;

/// The kind, in both versions that tofu-controller serves. They have the same shape.
pub fn definition() -> Json {
    let mut definition = json!(Terraform::crd());
    let Some(versions) = definition.pointer_mut("/spec/versions").and_then(Json::as_array_mut) else {
        return definition;
    };
    let Some(newest) = versions.first_mut() else { return definition };
    newest["schema"]["openAPIV3Schema"]["properties"]["status"]["default"] = json!({"observedGeneration": -1});
    let mut old = newest.clone();
    old["name"] = json!(OLD_VERSION);
    old["storage"] = json!(false);
    old["deprecated"] = json!(true);
    old["deprecationWarning"] = json!("v1alpha1 Terraform is deprecated, upgrade to v1alpha2");
    versions.push(old);
    definition
}

/// What the operator may do with them. It is found by its label, as those of Blueprints are.
pub fn role() -> Json {
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {
            "name": "groma-terraform-objects",
            "labels": {"app.kubernetes.io/name": "groma", "groma.dev/aggregate-to-blueprints": "true"},
        },
        "rules": [
            {"apiGroups": [GROUP], "resources": ["terraforms"], "verbs": ["get", "list", "patch", "update", "watch"]},
            {"apiGroups": [GROUP], "resources": ["terraforms/status"], "verbs": ["get", "patch", "update"]},
            {"apiGroups": [GROUP], "resources": ["terraforms/finalizers"], "verbs": ["update"]},
            {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "resourceNames": [LEASE], "verbs": ["get"]},
        ],
    })
}
