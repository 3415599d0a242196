//! Objects that exist before the resource does.

use groma_testkit::servers::kube::ADMIN_TOKEN;
use serde_json::json;

use crate::space::{Space, config_map, fresh_name, object};

/// Where ids are looked up.
fn space() -> Space {
    let space = Space::new();
    let kubeconfig = space.path("kubeconfig").display().to_string();
    space.env("KUBECONFIG", &kubeconfig)
}

fn import(to: &str, id: &str) -> String {
    format!("import {{\n  to = k8sconnect_object.{to}\n  id = {id:?}\n}}\n")
}

fn theirs(space: &Space) -> String {
    let object = json!({"metadata": {"name": "settings", "labels": {"app.kubernetes.io/name": "x"}}, "data": {"a": "b", "more": "c"}});
    space.api.create(&space.core("configmaps", ""), &object);
    space.core("configmaps", "settings")
}

/// Scenarios 23 and 35.
#[test]
fn an_object_of_others_is_imported_by_a_block() {
    let space = space();
    let path = theirs(&space);
    let uid = space.api.uid(&path);
    let id = format!("test:{}:v1/ConfigMap:settings", space.namespace);
    space.main(&(import("settings", &id) + &config_map("settings", "{a: b, more: d}")));
    let plan = space.plan();
    let change = plan.change("k8sconnect_object.settings");
    assert_eq!(change["actions"], json!(["update"]), "{}", plan.said);
    assert_eq!(change["before"]["managed_fields"]["data.more"], "kubectl-create");
    plan.says("Fields are taken from others").says("kubectl-create");
    space.apply();
    assert_eq!(space.api.uid(&path), uid);
    let live = space.api.get(&path);
    assert_eq!(live["data"], json!({"a": "b", "more": "d"}));
    let id = space.attribute("k8sconnect_object.settings", "id");
    assert_eq!(live["metadata"]["annotations"]["k8sconnect.terraform.io/terraform-id"], id);
    space.is_settled();
    space.destroy();
    assert!(space.api.find(&path).is_none());
}

/// Scenario 35.
#[test]
fn an_object_is_imported_by_a_command() {
    let space = space();
    let path = theirs(&space);
    space.main(&config_map("settings", "{a: b, more: c}"));
    let id = format!("test:{}:v1/ConfigMap:settings", space.namespace);
    space.succeeds(&["import", "k8sconnect_object.settings", &id]);
    let stored = space.stored("k8sconnect_object.settings")["attributes"].clone();
    assert_eq!(stored["delete_protection"], false);
    let manifest = stored["yaml_body"].as_str().unwrap();
    assert!(manifest.contains("app.kubernetes.io/name: x"), "{manifest}");
    for left_out in ["uid", "resourceVersion", "creationTimestamp", "managedFields"] {
        assert!(!manifest.contains(left_out), "{manifest}");
    }
    // What a kubeconfig says is not stored, only where it is.
    assert!(!space.read("terraform.tfstate").contains(ADMIN_TOKEN));
    space.apply();
    space.is_settled();
    assert_eq!(space.api.get(&path)["data"], json!({"a": "b", "more": "c"}));
    // One that is there already.
    let said = space.fails(&["import", "k8sconnect_object.settings", &id]);
    assert!(said.contains("already managed"), "{said}");
    // And ones that are nowhere.
    space.main(&(config_map("settings", "{a: b, more: c}") + &config_map("gone", "{a: b}")));
    let said = space.fails(&["import", "k8sconnect_object.gone", &id.replace(":settings", ":gone")]);
    assert!(said.contains("Cannot import non-existent remote object"), "{said}");
    let said = space.fails(&["import", "k8sconnect_object.gone", "settings"]);
    assert!(said.contains("Invalid import id"), "{said}");
}

/// Scenario 35, exceeded: contexts and names may have colons.
#[test]
fn ids_may_have_colons() {
    let space = space();
    let arn = "arn:aws:eks:eu-west-1:123456789012:cluster/prod";
    let kubeconfig = space.read("kubeconfig").replace("- name: test\n  context", &format!("- name: {arn}\n  context"));
    space.file("kubeconfig", &kubeconfig.replace("current-context: test", &format!("current-context: {arn}")));
    let name = format!("system:{}", fresh_name());
    let role = json!({"metadata": {"name": name}, "rules": []});
    let roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
    space.api.create(roles, &role);
    theirs(&space);
    let manifest =
        format!("apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {{name: {name:?}}}\nrules: []");
    let blocks = import("role", &format!("{arn}:rbac.authorization.k8s.io/v1/ClusterRole:{name}"))
        + &import("settings", &format!("{arn}:{}:v1/ConfigMap:settings", space.namespace));
    space.main(&(blocks + &object("role", &manifest) + &config_map("settings", "{a: b}"))).apply();
    space.is_settled();
    assert_eq!(space.attribute("k8sconnect_object.role", "object_ref")["name"], name);
    assert_eq!(space.attribute("k8sconnect_object.role", "object_ref")["namespace"], json!(null));
    space.destroy();
    assert!(space.api.find(&format!("{roles}/{name}")).is_none());
}

/// Scenario 35.
#[test]
fn an_object_that_is_managed_keeps_its_id() {
    let space = space();
    space.main(&config_map("settings", "{a: b}")).apply();
    let id = space.attribute("k8sconnect_object.settings", "id");
    // What others have added is in what is imported, and still not ours.
    space.api.edit(&space.core("configmaps", "settings"), &json!({"data": {"theirs": "1"}}));
    space.succeeds(&["state", "rm", "k8sconnect_object.settings"]);
    let import_id = format!("test:{}:v1/ConfigMap:settings", space.namespace);
    space.main(&(import("settings", &import_id) + &config_map("settings", "{a: b}")));
    space.plan().says("Object is managed already");
    space.apply();
    assert_eq!(space.attribute("k8sconnect_object.settings", "id"), id);
    space.is_settled();
    assert!(space.attribute("k8sconnect_object.settings", "managed_state_projection")["data.theirs"].is_null());
}

/// Scenario 35.
#[test]
fn configuration_is_written_for_what_is_imported() {
    let space = space();
    theirs(&space);
    let id = format!("test:{}:v1/ConfigMap:settings", space.namespace);
    space.main(&import("settings", &id));
    space.succeeds(&["plan", "-no-color", "-generate-config-out=generated.tf"]);
    let generated = space.read("generated.tf");
    assert!(generated.contains("yaml_body") && !generated.contains("managed_state_projection"), "{generated}");
    assert!(!generated.contains(ADMIN_TOKEN), "{generated}");
    space.apply();
    space.is_settled();
}

/// Sets are imported by the ids of their objects. What was made by others and what has lost its set are taken in alike.
#[test]
fn a_set_is_imported_by_the_ids_of_its_objects() {
    let space = space();
    theirs(&space);
    space.api.create(&space.core("secrets", ""), &json!({"metadata": {"name": "key"}, "data": {"key": "czNjcmV0"}}));
    let documents = [
        crate::space::config_map_manifest("settings", "{a: b, more: c}"),
        "apiVersion: v1\nkind: Secret\nmetadata: {name: key, namespace: NAMESPACE}\ndata: {key: czNjcmV0}".to_owned(),
    ];
    let set = format!(
        "resource \"k8sconnect_manifest_set\" \"all\" {{\n  cluster = local.cluster\n  yaml = <<YAML\n{}\nYAML\n}}\n",
        documents.join("\n---\n")
    );
    let ids = ["v1/ConfigMap:settings", "v1/Secret:key"].map(|id| format!("test:{}:{id}", space.namespace));
    let import = format!("import {{\n  to = k8sconnect_manifest_set.all\n  id = {:?}\n}}\n", ids.join(","));
    let uids = || ["configmaps/settings", "secrets/key"].map(|name| space.api.uid(&space.core(name, "")));
    let before = uids();
    space.main(&(import.clone() + &set));
    let plan = space.plan();
    plan.does(&["update k8sconnect_manifest_set.all"]).is_silent_about("czNjcmV0");
    space.apply();
    assert_eq!(uids(), before);
    space.is_settled();
    let id = space.attribute("k8sconnect_manifest_set.all", "id");
    for name in ["configmaps/settings", "secrets/key"] {
        let live = space.api.get(&space.core(name, ""));
        assert_eq!(live["metadata"]["annotations"]["k8sconnect.terraform.io/terraform-id"], id);
    }
    // A state that was lost is found again.
    space.succeeds(&["state", "rm", "k8sconnect_manifest_set.all"]);
    space.plan().says("Objects are managed already");
    space.apply();
    assert_eq!((uids(), space.attribute("k8sconnect_manifest_set.all", "id")), (before, id));
    space.is_settled();
    // An annotation that somebody has removed is written again.
    let annotation = json!({"metadata": {"annotations": {"k8sconnect.terraform.io/terraform-id": null}}});
    space.api.edit(&space.core("configmaps", "settings"), &annotation);
    space.plan().does(&["update k8sconnect_manifest_set.all"]).says("Annotations were removed");
    space.apply();
    space.is_settled();
    space.succeeds(&["state", "rm", "k8sconnect_manifest_set.all"]);
    let said = space.fails(&["import", "k8sconnect_manifest_set.all", &format!("{},{}x", ids[0], ids[1])]);
    assert!(said.contains("Cannot import non-existent remote object"), "{said}");
    space.succeeds(&["import", "k8sconnect_manifest_set.all", &ids.join(",")]);
    space.main(&set).destroy();
    assert!(space.api.find(&space.core("secrets", "key")).is_none());
}
