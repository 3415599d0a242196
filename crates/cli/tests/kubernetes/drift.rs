//! What others do to objects, and who owns which field.

use serde_json::{Value, json};

use crate::space::{Space, config_map, config_map_manifest, object, object_with};

const WEB: &str = "
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: web, namespace: NAMESPACE}
    spec:
      replicas: 3
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          containers:
          - name: web
            image: web:1
            args: [serve, --fast]
            env:
            - {name: MODE, value: production}
            - {name: LEVEL, value: info}
    ";

fn web() -> String {
    object("web", WEB)
}

fn ignoring(fields: &str, manifest: &str) -> String {
    object_with("web", &format!("ignore_fields = {fields}"), manifest)
}

fn path(space: &Space) -> String {
    space.of("apps/v1", "deployments", "web")
}

fn replicas(space: &Space) -> Value {
    space.api.get(&path(space))["spec"]["replicas"].clone()
}

/// What others apply.
fn theirs(spec: &Value) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec})
}

fn take(space: &Space, manager: &str, spec: &Value) {
    space.api.apply_as(manager, &path(space), &theirs(spec));
}

fn manager(space: &Space, field: &str) -> Value {
    space.attribute("k8sconnect_object.web", "managed_fields")[field].clone()
}

/// Scenario 17.
#[test]
fn what_others_change_is_seen_and_set_right() {
    let space = Space::new();
    space.main(&(config_map("settings", "{a: b, app.conf: c}") + &web())).apply();
    let settings = space.core("configmaps", "settings");
    space.api.edit(&settings, &json!({"data": {"a": "x", "app.conf": "y"}}));
    let plan = space.plan();
    plan.does(&["update k8sconnect_object.settings"]).says("Fields were changed by others").says("kubectl-edit");
    let change = plan.change("k8sconnect_object.settings");
    assert_eq!(change["before"]["managed_state_projection"]["data.a"], "x");
    assert_eq!(change["after"]["managed_state_projection"]["data.a"], "b");
    space.apply();
    assert_eq!(space.api.get(&settings)["data"], json!({"a": "b", "app.conf": "c"}));
    // Deep inside, and in lists.
    for edit in [
        json!([{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "web:2"}]),
        json!([{"op": "replace", "path": "/spec/template/spec/containers/0/env/1/value", "value": "debug"}]),
        json!([{"op": "replace", "path": "/spec/template/spec/containers/0/args", "value": ["serve"]}]),
    ] {
        let before = space.api.get(&path(&space))["spec"].clone();
        space.api.edit_by(&path(&space), &edit);
        space.plan().does(&["update k8sconnect_object.web"]);
        space.apply();
        assert_eq!(space.api.get(&path(&space))["spec"], before, "{edit}");
        space.is_settled();
    }
    // What was taken away comes back.
    space.api.edit(&settings, &json!({"data": {"a": null}}));
    space.plan().does(&["update k8sconnect_object.settings"]);
    space.apply();
    assert_eq!(space.api.get(&settings)["data"]["a"], "b");
    space.is_settled();
}

/// Scenario 18.
#[test]
fn what_others_add_is_theirs() {
    let space = Space::new();
    space.main(&(config_map("settings", "{a: b}") + &web())).apply();
    space.api.edit(
        &space.core("configmaps", "settings"),
        &json!({"data": {"theirs": "1"}, "metadata": {"labels": {"l": "m"}}}),
    );
    let sidecar = json!({"name": "sidecar", "image": "sidecar:1"});
    // In front of ours.
    space
        .api
        .edit_by(&path(&space), &json!([{"op": "add", "path": "/spec/template/spec/containers/0", "value": sidecar}]));
    space.is_settled();
    space.main(&(config_map("settings", "{a: c}") + &object("web", &WEB.replace("web:1", "web:2")))).apply();
    assert_eq!(space.api.get(&space.core("configmaps", "settings"))["data"], json!({"a": "c", "theirs": "1"}));
    let containers = space.api.get(&path(&space))["spec"]["template"]["spec"]["containers"].clone();
    assert_eq!(containers.as_array().unwrap().len(), 2);
    space.is_settled();
}

/// Scenario 19.
#[test]
fn what_the_server_fills_in_is_no_drift() {
    let space = Space::new();
    let service = |name: &str, kind: &str| {
        let manifest = format!(
            "apiVersion: v1\nkind: Service\nmetadata: {{name: {name}, namespace: NAMESPACE}}\n\
             spec: {{type: {kind}, selector: {{app: web}}, ports: [{{name: a, port: 80}}, {{name: b, port: 443}}]}}"
        );
        object(name, &manifest)
    };
    let kinds = [("balanced", "LoadBalancer"), ("noded", "NodePort"), ("plain", "ClusterIP")];
    space.main(&kinds.map(|(name, kind)| service(name, kind)).concat()).apply();
    space.is_settled();
    let live = space.api.get(&space.core("services", "noded"));
    assert!(live["spec"]["ports"][0]["nodePort"].is_number(), "{live}");
    space.destroy();
}

/// Scenarios 20 and 23.
#[test]
fn a_field_that_another_manager_took_is_taken_back_with_a_warning() {
    let space = Space::new();
    space.main(&web()).apply();
    assert_eq!(manager(&space, "spec.replicas"), "k8sconnect");
    take(&space, "autoscaler", &json!({"replicas": 7}));
    let plan = space.plan();
    plan.does(&["update k8sconnect_object.web"]).says("Fields were changed by others").says("now owned by autoscaler");
    let change = plan.change("k8sconnect_object.web");
    assert_eq!(change["before"]["managed_fields"]["spec.replicas"], "autoscaler");
    assert_eq!(change["after"]["managed_fields"]["spec.replicas"], "k8sconnect");
    space.apply();
    assert_eq!(replicas(&space), 3);
    assert_eq!(manager(&space, "spec.replicas"), "k8sconnect");
    space.is_settled();
    // Who is not allowed to take it says so at plan.
    take(&space, "autoscaler", &json!({"replicas": 7}));
    space.main(&object_with("web", "force_conflicts = false", WEB));
    let said = space.plan_fails();
    assert!(said.contains("Fields are managed by others") && said.contains("autoscaler"), "{said}");
    assert_eq!(replicas(&space), 7);
}

/// Scenario 21.
#[test]
fn fields_that_several_took_are_told_at_once() {
    let space = Space::new();
    space.main(&web()).apply();
    take(&space, "autoscaler", &json!({"replicas": 7}));
    let container = |part: Value| json!({"template": {"spec": {"containers": [part]}}});
    take(&space, "updater", &container(json!({"name": "web", "image": "web:9"})));
    take(&space, "tuner", &container(json!({"name": "web", "env": [{"name": "LEVEL", "value": "debug"}]})));
    let plan = space.plan();
    assert_eq!(plan.said.matches("Warning: Fields were changed by others").count(), 1, "{}", plan.said);
    for (manager, field) in [("autoscaler", "spec.replicas"), ("updater", ".image"), ("tuner", ".value")] {
        plan.says(&format!("{field} (now owned by {manager})"));
    }
    space.apply();
    assert_eq!(replicas(&space), 3);
    space.is_settled();
}

/// Scenario 22.
#[test]
fn who_wants_the_same_is_no_trouble() {
    let space = Space::new();
    space.main(&web()).apply();
    take(&space, "autoscaler", &json!({"replicas": 3}));
    space.is_settled();
    assert_eq!(replicas(&space), 3);
}

/// Scenarios 23 and 24.
#[test]
fn ignored_fields_are_set_once_and_then_left_to_others() {
    let space = Space::new();
    space.main(&ignoring("[\"spec.replicas\"]", WEB)).apply();
    assert_eq!(replicas(&space), 3);
    space.is_settled();
    space.api.edit(&path(&space), &json!({"spec": {"replicas": 5}}));
    space.is_settled();
    // Another change does not reset it.
    space.main(&ignoring("[\"spec.replicas\"]", &WEB.replace("web:1", "web:2"))).apply();
    assert_eq!(replicas(&space), 5);
    // Neither does one of its value in the manifest.
    space
        .main(&ignoring("[\"spec.replicas\"]", &WEB.replace("web:1", "web:2").replace("replicas: 3", "replicas: 4")))
        .apply();
    assert_eq!(replicas(&space), 5);
    space.is_settled();
    // Not ignored any more, it is ours again.
    space.main(&object("web", &WEB.replace("web:1", "web:2")));
    space.plan().does(&["update k8sconnect_object.web"]).says("now owned by kubectl-edit");
    space.apply();
    assert_eq!(replicas(&space), 3);
    assert_eq!(manager(&space, "spec.replicas"), "k8sconnect");
    space.is_settled();
}

/// Scenario 24, exceeded: a field that is ours alone keeps its value when it is let go.
#[test]
fn a_field_that_is_let_go_keeps_its_value() {
    let space = Space::new();
    space.main(&web()).apply();
    space.main(&ignoring("[\"spec.replicas\"]", WEB)).apply();
    assert_eq!(replicas(&space), 3);
    assert_ne!(manager(&space, "spec.replicas"), "k8sconnect");
    space.is_settled();
    // With nobody else who owns it, others need no force.
    let path = format!("{}?fieldManager=autoscaler", path(&space));
    let taken =
        space.api.ask("PATCH", &path, "application/apply-patch+yaml", Some(&theirs(&json!({"replicas": 9})))).unwrap();
    assert!(taken.0 == 200 || taken.0 == 409, "{taken:?}");
    space.api.apply_as("autoscaler", path.split('?').next().unwrap(), &theirs(&json!({"replicas": 9})));
    space.is_settled();
    assert_eq!(replicas(&space), 9);
}

/// Scenario 24.
#[test]
fn a_fight_ends_when_the_field_is_ignored() {
    let space = Space::new();
    space.main(&web()).apply();
    take(&space, "autoscaler", &json!({"replicas": 7}));
    space.main(&ignoring("[\"spec.replicas\"]", WEB));
    let plan = space.plan();
    plan.is_silent_about("Fields were changed by others");
    space.apply();
    assert_eq!(replicas(&space), 7);
    assert_eq!(manager(&space, "spec.replicas"), "autoscaler");
    space.is_settled();
    // Two are ignored, and one of them no longer.
    let image = "spec.template.spec.containers[0].image";
    space.main(&ignoring(&format!("[\"spec.replicas\", \"{image}\"]"), WEB)).apply();
    let container = json!({"template": {"spec": {"containers": [{"name": "web", "image": "web:9"}]}}});
    take(&space, "updater", &container);
    space.is_settled();
    space.main(&ignoring(&format!("[\"{image}\"]"), WEB)).apply();
    let live = space.api.get(&path(&space))["spec"].clone();
    assert_eq!((&live["replicas"], &live["template"]["spec"]["containers"][0]["image"]), (&json!(3), &json!("web:9")));
    // It is no longer ignored, and changed at once.
    space.main(&object("web", &WEB.replace("web:1", "web:10"))).apply();
    assert_eq!(space.api.get(&path(&space))["spec"]["template"]["spec"]["containers"][0]["image"], "web:10");
    space.is_settled();
}

/// Beyond scenario 24: what the manifest does not have any more usually goes. If somebody else has it meanwhile, it does not, which is told.
#[test]
fn a_field_that_is_given_up_stays_with_whoever_took_it() {
    let space = Space::new();
    space.main(&web()).apply();
    take(&space, "autoscaler", &json!({"replicas": 7}));
    let plan = space.main(&object("web", &WEB.replace("replicas: 3", "paused: false"))).plan();
    plan.does(&["update k8sconnect_object.web"])
        .says("Fields stay with others")
        .says("spec.replicas (now owned by autoscaler)");
    space.apply();
    assert_eq!((replicas(&space), manager(&space, "spec.replicas")), (json!(7), json!("autoscaler")));
    // Once told, it is nothing new.
    space.is_settled();
}

/// Scenario 25.
#[test]
fn one_item_of_a_list_is_ignored_whatever_others_write() {
    let space = Space::new();
    let field = "spec.template.spec.containers[?(@.name=='web')].env[?(@.name=='LEVEL')].value";
    space.main(&ignoring(&format!("[\"{field}\"]"), WEB)).apply();
    space.is_settled();
    for round in 0..5 {
        let env = json!([{"name": "LEVEL", "value": format!("level-{round}")}]);
        let part = json!({"template": {"spec": {"containers": [{"name": "web", "env": env}]}}});
        take(&space, "tuner", &part);
        space.is_settled();
        let manifest = WEB.replace("production", &format!("mode-{round}"));
        space.main(&ignoring(&format!("[\"{field}\"]"), &manifest)).apply();
        let live = space.api.get(&path(&space))["spec"]["template"]["spec"]["containers"][0]["env"].clone();
        let expected = json!([
            {"name": "MODE", "value": format!("mode-{round}")},
            {"name": "LEVEL", "value": format!("level-{round}")},
        ]);
        assert_eq!(live, expected, "{round}");
        space.is_settled();
    }
}

/// Scenario 26.
#[test]
fn what_must_not_be_ignored_or_given_is_refused_at_once() {
    let space = Space::new();
    let annotation = "metadata.annotations['k8sconnect.terraform.io/terraform-id']";
    space.main(&ignoring(&format!("[\"{annotation}\"]"), WEB));
    assert!(space.validate_fails().contains("ignore_fields"));
    let manifest = config_map_manifest("settings", "{a: b}");
    for (more, expected) in [
        ("uid: 1-2-3", "metadata.uid"),
        ("resourceVersion: '1'", "metadata.resourceVersion"),
        ("generation: 1", "metadata.generation"),
        ("creationTimestamp: 2026-01-01T00:00:00Z", "metadata.creationTimestamp"),
        ("managedFields: [{manager: a}]", "metadata.managedFields"),
        ("annotations: {k8sconnect.terraform.io/terraform-id: a}", "Reserved annotation"),
    ] {
        let manifest = manifest.replace("metadata: {", &format!("metadata: {{{more}, "));
        space.main(&object("settings", &manifest));
        let said = space.validate_fails();
        assert!(said.contains(expected) && said.contains("Line 3 of the YAML"), "{more}: {said}");
    }
    space.main(&object("settings", &format!("{manifest}\nstatus: {{phase: x}}")));
    let said = space.validate_fails();
    assert!(said.contains("Status in manifest") && said.contains("Line 5 of the YAML"), "{said}");
}

/// Scenario 27.
#[test]
fn an_annotation_that_somebody_removed_is_written_again() {
    let space = Space::new();
    space.main(&config_map("settings", "{a: b}")).apply();
    let settings = space.core("configmaps", "settings");
    space.api.edit(&settings, &json!({"metadata": {"annotations": null}}));
    space.plan().does(&["update k8sconnect_object.settings"]).says("Annotation was removed");
    space.apply();
    let id = space.attribute("k8sconnect_object.settings", "id");
    assert_eq!(space.api.get(&settings)["metadata"]["annotations"]["k8sconnect.terraform.io/terraform-id"], id);
    space.is_settled();
}

/// Scenario 28.
#[test]
fn each_object_that_drifted_has_a_warning_of_its_own() {
    let space = Space::new();
    space.main(&(config_map("settings", "{a: b}") + &web())).apply();
    space.api.edit(&space.core("configmaps", "settings"), &json!({"data": {"a": "x"}}));
    take(&space, "autoscaler", &json!({"replicas": 7}));
    let plan = space.plan();
    plan.says(&format!("Fields were changed by others: ConfigMap \"{}/settings\"", space.namespace));
    plan.says(&format!("Fields were changed by others: Deployment \"{}/web\"", space.namespace));
}

/// Scenario 29.
#[test]
fn what_somebody_deleted_is_made_again() {
    let space = Space::new();
    space.main(&config_map("settings", "{a: b}")).apply();
    space.api.delete(&space.core("configmaps", "settings"));
    space.plan().does(&["create k8sconnect_object.settings"]);
    space.apply();
    space.is_settled();
    // It is no trouble at the end either.
    space.api.delete(&space.core("configmaps", "settings"));
    space.destroy();
}

/// Beyond the scenarios: what is in a Secret is in no plan and no message.
#[test]
fn secrets_are_not_shown() {
    let space = Space::new();
    let secret = |value: &str, token: &str| {
        let manifest = "
            apiVersion: v1
            kind: Secret
            metadata: {name: keys, namespace: NAMESPACE}
            stringData: {password: VALUE}
            data: {token: TOKEN}
            ";
        object("keys", &manifest.replace("VALUE", value).replace("TOKEN", token))
    };
    space.main(&secret("canary-one", "Y2FuYXJ5LXR3bw==")).apply();
    space.is_settled();
    let projection = space.attribute("k8sconnect_object.keys", "managed_state_projection").to_string();
    for shown in ["canary-one", "Y2FuYXJ5LXR3bw==", "Y2FuYXJ5LW9uZQ==", "canary-two"] {
        assert!(!projection.contains(shown), "{projection}");
    }
    // It is noticed when it changes.
    space.api.edit(&space.core("secrets", "keys"), &json!({"data": {"password": "b3RoZXI="}}));
    let plan = space.plan();
    plan.does(&["update k8sconnect_object.keys"]).is_silent_about("b3RoZXI=");
    assert!(!plan.change("k8sconnect_object.keys")["after"]["managed_state_projection"].to_string().contains("canary"));
    space.apply();
    assert_eq!(space.api.get(&space.core("secrets", "keys"))["data"]["password"], "Y2FuYXJ5LW9uZQ==");
    space.main(&secret("canary-one", "not base64 canary-three"));
    let said = space.plan_fails();
    assert!(!said.contains("managed_state_projection") || !said.contains("canary-one"), "{said}");
    space.main(&secret("canary-one", "Y2FuYXJ5LWZvdXI=")).plan().does(&["update k8sconnect_object.keys"]);
    space.apply();
    space.is_settled();
}
