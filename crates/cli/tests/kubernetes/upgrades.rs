//! States that the published provider has written.

use serde_json::{Value, json};

use crate::space::{Space, config_map};

fn state(kind: &str, name: &str, version: u32, attributes: &Value, private: Option<&str>) -> String {
    let mut instance = json!({"schema_version": version, "attributes": attributes, "sensitive_attributes": []});
    if let Some(private) = private {
        instance["private"] = json!(private);
    }
    let resource = json!({
        "mode": "managed", "type": kind, "name": name,
        "provider": "provider[\"registry.terraform.io/jmorris0x0/k8sconnect\"]",
        "instances": [instance],
    });
    let state = json!({
        "version": 4, "terraform_version": "1.11.0", "serial": 3, "lineage": "6f0b4f3c-0000-4000-8000-000000000001",
        "outputs": {}, "resources": [resource], "check_results": null,
    });
    state.to_string()
}

/// An object as the published provider leaves it in the cluster.
fn made_by_them(space: &Space, id: &str) -> String {
    let path = space.core("configmaps", "settings");
    let annotations = json!({
        "k8sconnect.terraform.io/terraform-id": id,
        "k8sconnect.terraform.io/created-at": "2026-01-01T00:00:00Z",
    });
    let object = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "settings", "annotations": annotations}, "data": {"a": "b"},
    });
    space.api.apply_as("k8sconnect", &path, &object);
    path
}

/// Scenario 47.
#[test]
fn old_states_of_objects_are_gone_on_with() {
    for version in [0, 1, 2] {
        let space = Space::new();
        let id = "0123456789ab";
        let path = made_by_them(&space, id);
        let uid = space.api.uid(&path);
        let kubeconfig = space.read("kubeconfig");
        let connection = json!({
            "client_certificate": null, "client_key": null, "cluster_ca_certificate": null, "context": null, "exec": null,
            "host": null, "insecure": null, "kubeconfig": kubeconfig, "proxy_url": null, "token": null,
        });
        let body = crate::space::config_map_manifest("settings", "{a: b}").replace("NAMESPACE", &space.namespace);
        let projection = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata.name": "settings", "metadata.namespace": space.namespace, "data.a": "b",
        });
        let reference =
            json!({"api_version": "v1", "kind": "ConfigMap", "name": "settings", "namespace": space.namespace});
        let mut attributes = json!({
            "id": id, "yaml_body": format!("{body}\n"), "cluster": connection, "delete_protection": null, "delete_timeout": null,
            "force_destroy": null, "ignore_fields": null, "managed_state_projection": projection, "object_ref": reference,
        });
        match version {
            1 => attributes["managed_fields"] = json!("{\"data.a\": \"k8sconnect\"}"),
            2 => attributes["managed_fields"] = json!({"data.a": "k8sconnect"}),
            _ => {}
        }
        // {"data.a": "k8sconnect"}
        let private = "eyJvd25lcnNoaXBfYmFzZWxpbmUiOiJleUprWVhSaExtRWlPaUpyT0hOamIyNXVaV04wSW4wPSJ9";
        space.file("terraform.tfstate", &state("k8sconnect_object", "settings", version, &attributes, Some(private)));
        space.main(&config_map("settings", "{a: b}"));
        let plan = space.plan();
        assert!(plan.actions().iter().all(|action| action.starts_with("update")), "{version}: {:?}", plan.actions());
        space.apply();
        assert_eq!(space.api.uid(&path), uid, "{version}");
        assert_eq!(space.attribute("k8sconnect_object.settings", "id"), id);
        space.is_settled();
        space.main(&config_map("settings", "{a: c}")).apply();
        assert_eq!((space.api.uid(&path), space.api.get(&path)["data"].clone()), (uid, json!({"a": "c"})));
        space.destroy();
        assert!(space.api.find(&path).is_none());
    }
}

/// Scenario 47.
#[test]
fn old_states_of_patches_are_gone_on_with() {
    for version in [0, 1] {
        let space = Space::new();
        let path = space.core("configmaps", "theirs");
        space.api.create(&space.core("configmaps", ""), &json!({"metadata": {"name": "theirs"}, "data": {"x": "y"}}));
        let part = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "theirs"}, "data": {"a": "b"}});
        space.api.apply_as("k8sconnect-patch-0123456789ab", &path, &part);
        let target = json!({"api_version": "v1", "kind": "ConfigMap", "name": "theirs", "namespace": space.namespace});
        let mut attributes = json!({
            "id": "0123456789ab", "target": target, "patch": "data: {a: b}\n", "json_patch": null, "merge_patch": null,
            "cluster": {"kubeconfig": space.read("kubeconfig")}, "managed_state_projection": {"data.a": "b"},
        });
        if version == 1 {
            attributes["managed_fields"] = json!("{\"data.a\": \"k8sconnect-patch\"}");
        }
        space.file("terraform.tfstate", &state("k8sconnect_patch", "one", version, &attributes, None));
        let block = |value: &str| {
            format!(
                "resource \"k8sconnect_patch\" \"one\" {{\n  cluster = local.cluster\n  target = {{ api_version = \"v1\", kind = \"ConfigMap\", \
                 name = \"theirs\", namespace = \"NAMESPACE\" }}\n  patch = <<YAML\ndata: {{a: {value}}}\nYAML\n}}\n"
            )
        };
        space.main(&block("b")).apply();
        assert_eq!(space.attribute("k8sconnect_patch.one", "id"), "0123456789ab");
        space.is_settled();
        space.main(&block("c")).apply();
        assert_eq!(space.api.get(&path)["data"], json!({"x": "y", "a": "c"}));
        space.is_settled();
        space.destroy();
        assert_eq!(space.api.get(&path)["data"]["x"], "y");
    }
}

/// A wait of theirs.
#[test]
fn old_states_of_waits_are_gone_on_with() {
    let space = Space::new();
    let attributes = json!({
        "id": "0123456789ab", "cluster": {"kubeconfig": space.read("kubeconfig")},
        "object_ref": {"api_version": "v1", "kind": "Namespace", "name": "default", "namespace": null},
        "wait_for": {"field": "status.phase", "field_value": null, "condition": null, "rollout": null, "timeout": null},
        "result": {"value": {"status": {"phase": "Active"}}, "type": ["object", {"status": ["object", {"phase": "string"}]}]},
    });
    space.file("terraform.tfstate", &state("k8sconnect_wait", "one", 1, &attributes, None));
    let block = "resource \"k8sconnect_wait\" \"one\" {\n  cluster = local.cluster\n  object_ref = { api_version = \"v1\", kind = \"Namespace\", \
                 name = \"default\" }\n  wait_for = { field = \"status.phase\" }\n}\n\
                 output \"phase\" {\n  value = k8sconnect_wait.one.result.status.phase\n}\n";
    space.main(block).apply();
    space.is_settled();
    assert_eq!(space.attribute("k8sconnect_wait.one", "id"), "0123456789ab");
    assert_eq!(space.succeeds(&["output", "-raw", "phase"]), "Active");
}
