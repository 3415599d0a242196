//! Objects from their creation to their end.

use serde_json::json;

use crate::space::{Space, config_map, config_map_manifest, fresh_name, object, object_with};

const ID: &str = "k8sconnect.terraform.io/terraform-id";
const CREATED: &str = "k8sconnect.terraform.io/created-at";

/// Scenario 1.
#[test]
fn a_namespace_and_what_is_in_it_are_made_known_and_destroyed() {
    let space = Space::with_controllers();
    let name = fresh_name();
    let namespace = format!("apiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}}}");
    let settings = |value: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: settings, namespace: {name}}}\ndata: {{key: {value}}}"
        )
    };
    let main = |value: &str| object("namespace", &namespace) + &object("settings", &settings(value));
    space
        .main(&main("first"))
        .plan()
        .does(&["create k8sconnect_object.namespace", "create k8sconnect_object.settings"]);
    space.apply();
    space.is_settled();
    let id = space.attribute("k8sconnect_object.settings", "id");
    let id = id.as_str().unwrap();
    assert!(id.len() == 12 && id.chars().all(|c| c.is_ascii_hexdigit() && !c.is_ascii_uppercase()), "{id}");
    let path = format!("/api/v1/namespaces/{name}/configmaps/settings");
    let annotations = space.api.get(&path)["metadata"]["annotations"].clone();
    assert_eq!(annotations[ID], id);
    let created = annotations[CREATED].as_str().unwrap();
    assert!(created.len() >= 20 && created.contains('T') && created.ends_with('Z'), "{created}");
    let reference = space.attribute("k8sconnect_object.settings", "object_ref");
    assert_eq!(reference, json!({"api_version": "v1", "kind": "ConfigMap", "name": "settings", "namespace": name}));
    assert_eq!(space.attribute("k8sconnect_object.namespace", "object_ref")["namespace"], json!(null));
    // When it was made stays, whatever is written later.
    space.main(&main("second")).apply();
    assert_eq!(space.api.get(&path)["metadata"]["annotations"], annotations);
    assert_eq!(space.api.get(&path)["data"]["key"], "second");
    space.is_settled();
    space.destroy();
    assert!(space.api.find(&path).is_none());
    assert!(space.api.find(&format!("/api/v1/namespaces/{name}")).is_none());
}

/// Scenario 5.
#[test]
fn a_plan_to_create_shows_what_the_server_makes_of_it() {
    let space = Space::new();
    space.main(&object(
        "web",
        "
        apiVersion: v1
        kind: Service
        metadata: {name: web, namespace: NAMESPACE}
        spec:
          selector: {app: web}
          ports:
          - {port: 80, targetPort: 8080}
        ",
    ));
    let plan = space.plan();
    let change = plan.change("k8sconnect_object.web");
    let projection = change["after"]["managed_state_projection"].as_object().unwrap().clone();
    // The protocol was not given.
    let port = projection.iter().find(|(place, _)| place.contains("protocol") && place.contains("].port"));
    assert_eq!(port.map(|(_, value)| value), Some(&json!("80")), "{projection:?}");
    assert_eq!(change["after"]["object_ref"]["name"], "web");
    assert_eq!(change["after_unknown"]["managed_fields"], true);
    space.apply();
    assert_eq!(space.attribute("k8sconnect_object.web", "managed_state_projection"), json!(projection));
}

/// Scenario 6.
#[test]
fn a_manifest_has_values_that_other_objects_get_when_they_are_made() {
    let space = Space::new();
    let second = config_map_manifest("second", "{of: \"${k8sconnect_object.first.id}\"}");
    let third = config_map_manifest("third", "{of: \"${k8sconnect_object.second.id}\"}");
    space.main(&(config_map("first", "{a: b}") + &object("second", &second) + &object("third", &third)));
    let plan = space.plan();
    assert_eq!(plan.change("k8sconnect_object.third")["after_unknown"]["yaml_body"], true);
    space.apply();
    let first = space.attribute("k8sconnect_object.first", "id");
    assert_eq!(space.api.get(&space.core("configmaps", "second"))["data"]["of"], first);
    space.is_settled();
    space.destroy();
    assert_eq!(space.api.count(&space.core("configmaps", "")), 0);
}

/// Scenario 7.
#[test]
fn a_namespace_is_filled_in_where_it_belongs_and_dropped_where_it_does_not() {
    let space = Space::new();
    let name = fresh_name();
    let role = "
        apiVersion: rbac.authorization.k8s.io/v1
        kind: ClusterRole
        metadata: {name: NAME, namespace: nowhere}
        rules: []
        "
    .replace("NAME", &name);
    let map = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{a: b}}");
    space.main(&(object("role", &role) + &object("map", &map))).apply();
    space.is_settled();
    assert_eq!(space.attribute("k8sconnect_object.role", "object_ref")["namespace"], json!(null));
    assert_eq!(space.attribute("k8sconnect_object.map", "object_ref")["namespace"], "default");
    let path = format!("/api/v1/namespaces/default/configmaps/{name}");
    let uid = space.api.uid(&path);
    // To write out what holds anyway changes nothing.
    let written = map.replace("}\n", ", namespace: default}\n");
    space.main(&(object("role", &role) + &object("map", &written)));
    space.plan().does(&[]);
    space.apply();
    assert_eq!(space.api.uid(&path), uid);
    space.destroy();
    assert!(space.api.find(&path).is_none());
}

/// Scenario 8.
#[test]
fn comments_order_and_style_are_no_change() {
    let space = Space::new();
    space.main(&config_map("settings", "{a: x, app.conf: w}")).apply();
    space.main(&object(
        "settings",
        "
        # What it is for.
        kind: \"ConfigMap\"
        data:
            'app.conf':    w   # with a dot
            a: \"x\"
        metadata:
            namespace: NAMESPACE
            name: settings
        apiVersion: v1
        ",
    ));
    space.plan().does(&[]);
    // A change of a key with dots is a change.
    space.main(&config_map("settings", "{a: x, app.conf: z}")).plan().does(&["update k8sconnect_object.settings"]);
    space.apply();
    assert_eq!(space.api.get(&space.core("configmaps", "settings"))["data"]["app.conf"], "z");
    // So is one that takes a key away.
    space.main(&config_map("settings", "{a: x}")).plan().does(&["update k8sconnect_object.settings"]);
    space.apply();
    assert_eq!(space.api.get(&space.core("configmaps", "settings"))["data"], json!({"a": "x"}));
    space.is_settled();
}

/// Scenario 9.
#[test]
fn the_same_amount_in_other_words_is_no_change() {
    let space = Space::with_controllers();
    let main = |cpu: &str, memory: &str, storage: &str| {
        let pod = "
            apiVersion: apps/v1
            kind: Deployment
            metadata: {name: web, namespace: NAMESPACE}
            spec:
              replicas: 0
              selector: {matchLabels: {app: web}}
              template:
                metadata: {labels: {app: web}}
                spec:
                  containers:
                  - name: web
                    image: web:1
                    resources:
                      requests: {cpu: CPU, memory: MEMORY}
                      limits: {cpu: CPU, memory: MEMORY}
            "
        .replace("CPU", cpu)
        .replace("MEMORY", memory);
        object("web", &pod) + &object("disk", &claim(storage, ""))
    };
    space.main(&main("1000m", "1Gi", "1Gi")).apply();
    space.is_settled();
    space.main(&main("1", "1024Mi", "1024Mi")).plan().does(&[]);
    space.apply();
    space.main(&main("\"2\"", "1024Mi", "1024Mi")).plan().does(&["update k8sconnect_object.web"]);
    space.apply();
    space.is_settled();
    space.destroy();
}

fn claim(storage: &str, more: &str) -> String {
    format!(
        "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {{name: disk, namespace: NAMESPACE{more}}}\n\
         spec: {{accessModes: [ReadWriteOnce], resources: {{requests: {{storage: {storage}}}}}}}"
    )
}

/// Scenario 10.
#[test]
fn an_object_that_is_called_otherwise_is_another_one() {
    let space = Space::new();
    space.main(&config_map("thing", "{a: b}")).apply();
    let old = space.core("configmaps", "thing");
    // The name.
    space.main(&object("thing", &config_map_manifest("other", "{a: b}")));
    space.plan().does(&["replace k8sconnect_object.thing"]).says("Object is replaced");
    space.apply();
    assert!(space.api.find(&old).is_none());
    let old = space.core("configmaps", "other");
    assert!(space.api.find(&old).is_some());
    // The kind.
    let secret = config_map_manifest("other", "{}").replace("ConfigMap", "Secret");
    space.main(&object("thing", &secret)).plan().does(&["replace k8sconnect_object.thing"]);
    space.apply();
    assert!(space.api.find(&old).is_none());
    // The namespace.
    let moved = secret.replace("NAMESPACE", "default").replace("name: other", &format!("name: {}", space.namespace));
    space.main(&object("thing", &moved)).plan().does(&["replace k8sconnect_object.thing"]);
    space.apply();
    assert_eq!(space.api.count(&space.core("secrets", "")), 0);
    let path = format!("/api/v1/namespaces/default/secrets/{}", space.namespace);
    assert!(space.api.find(&path).is_some());
    space.is_settled();
    space.destroy();
    assert!(space.api.find(&path).is_none());
}

/// Scenario 10, exceeded: the server converts, so the object stays.
#[test]
fn another_version_of_the_same_kind_is_the_same_object() {
    let space = Space::new();
    let scaler = |version: &str, target: &str| {
        format!(
            "apiVersion: autoscaling/{version}\nkind: HorizontalPodAutoscaler\nmetadata: {{name: web, namespace: NAMESPACE}}\n\
             spec:\n  maxReplicas: 5\n  scaleTargetRef: {{apiVersion: apps/v1, kind: Deployment, name: web}}\n{target}"
        )
    };
    let old = scaler("v1", "  targetCPUUtilizationPercentage: 80");
    let metric =
        "  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]";
    let new = scaler("v2", metric);
    space.main(&object("web", &old)).apply();
    let path = space.of("autoscaling/v2", "horizontalpodautoscalers", "web");
    let uid = space.api.uid(&path);
    space.main(&object("web", &new)).plan().does(&["update k8sconnect_object.web"]);
    space.apply();
    assert_eq!(space.api.uid(&path), uid);
    assert_eq!(space.attribute("k8sconnect_object.web", "object_ref")["api_version"], "autoscaling/v2");
    space.is_settled();
    space.destroy();
    assert!(space.api.find(&path).is_none());
}

/// Scenario 11.
#[test]
fn what_cannot_be_changed_is_replaced_and_the_plan_says_what_is_lost() {
    let space = Space::with_controllers();
    space.main(&object("disk", &claim("1Gi", ""))).apply();
    let path = space.core("persistentvolumeclaims", "disk");
    let uid = space.api.uid(&path);
    // Labels alone can be changed.
    space.main(&object("disk", &claim("1Gi", ", labels: {a: b}"))).plan().does(&["update k8sconnect_object.disk"]);
    space.apply();
    assert_eq!(space.api.uid(&path), uid);
    space.main(&object("disk", &claim("2Gi", ", labels: {a: c}")));
    let plan = space.plan();
    plan.does(&["replace k8sconnect_object.disk"]).says("Object is replaced").says("the volume and all data on it");
    space.apply();
    assert_ne!(space.api.uid(&path), uid);
    let live = space.api.get(&path);
    assert_eq!(
        (&live["spec"]["resources"]["requests"]["storage"], &live["metadata"]["labels"]["a"]),
        (&json!("2Gi"), &json!("c"))
    );
    space.is_settled();
    // Who wants to be sure forbids it.
    space.main(&object_with("disk", "delete_protection = true", &claim("2Gi", ", labels: {a: c}"))).apply();
    let uid = space.api.uid(&path);
    space.main(&object_with("disk", "delete_protection = true", &claim("3Gi", ", labels: {a: c}")));
    assert!(space.apply_fails().contains("Object is protected from deletion"));
    assert_eq!(space.api.uid(&path), uid);
    space.main(&object("disk", &claim("2Gi", ", labels: {a: c}"))).apply();
    space.destroy();
}

/// Scenario 12.
#[test]
fn what_is_protected_is_not_destroyed() {
    let space = Space::new();
    let manifest = config_map_manifest("kept", "{a: b}");
    space.main(&object_with("kept", "delete_protection = true", &manifest)).apply();
    let said = space.destroy_fails();
    assert!(said.contains("Object is protected from deletion") && said.contains("delete_protection = false"), "{said}");
    let path = space.core("configmaps", "kept");
    assert!(space.api.find(&path).is_some());
    space.main(&object_with("kept", "delete_protection = false", &manifest)).apply();
    space.destroy();
    assert!(space.api.find(&path).is_none());
    // It contradicts its opposite.
    space.main(&object_with("kept", "delete_protection = true\n  force_destroy = true", &manifest));
    assert!(space.validate_fails().contains("Contradicting arguments"));
}

/// Scenario 13, exceeded: force removes finalizers.
#[test]
fn what_holds_an_object_is_named_and_can_be_removed() {
    let space = Space::new();
    let held =
        config_map_manifest("held", "{a: b}").replace("metadata: {", "metadata: {finalizers: [example.com/hold], ");
    space.main(&object_with("held", "delete_timeout = \"1s\"", &held)).apply();
    space.is_settled();
    let said = space.destroy_fails();
    assert!(said.contains("Deletion is blocked by finalizers") && said.contains("example.com/hold"), "{said}");
    let path = space.core("configmaps", "held");
    assert!(space.find_stored("k8sconnect_object.held").is_some());
    // It is said that it goes, and nobody pretends that it is to be made.
    let plan = space.plan();
    plan.says("Object is being deleted");
    space.api.edit(&path, &json!({"metadata": {"finalizers": null}}));
    assert!(space.api.disappears(&path));
    space.destroy();
    assert!(space.find_stored("k8sconnect_object.held").is_none());

    space.main(&object_with("held", "delete_timeout = \"1s\"\n  force_destroy = true", &held)).apply();
    let said = space.destroy();
    assert!(said.contains("Finalizers were removed"), "{said}");
    assert!(space.api.find(&path).is_none());
}

/// Scenario 14, exceeded: the plan says so.
#[test]
fn an_object_that_is_there_already_is_not_taken_silently() {
    let space = Space::new();
    let path = space.core("configmaps", "settings");
    let theirs = json!({"metadata": {"name": "settings"}, "data": {"theirs": "1"}});
    space.api.create(&space.core("configmaps", ""), &theirs);
    let uid = space.api.uid(&path);
    space.main(&config_map("settings", "{a: b}"));
    let said = space.plan_fails();
    assert!(said.contains("Object exists already") && said.contains("import {"), "{said}");
    assert!(said.contains(&format!("{}:v1/ConfigMap:settings", space.namespace)), "{said}");
    assert!(said.contains("on main.tf line"), "{said}");
    assert_eq!(space.api.get(&path)["data"], json!({"theirs": "1"}));
    // Unless it is asked for.
    let manifest = config_map_manifest("settings", "{a: b}");
    space.main(&object_with("settings", "adopt = \"adopt\"", &manifest));
    space.plan().does(&["create k8sconnect_object.settings"]).says("Existing object is adopted");
    space.apply();
    assert_eq!(space.api.uid(&path), uid);
    assert_eq!(space.api.get(&path)["data"], json!({"a": "b", "theirs": "1"}));
    space.is_settled();
    space.destroy();
    assert!(space.api.find(&path).is_none());
}

/// Scenario 14.
#[test]
fn an_object_belongs_to_one_resource() {
    let space = Space::new();
    space.main(&config_map("settings", "{a: b}")).apply();
    let path = space.core("configmaps", "settings");
    let before = space.api.get(&path);
    // Another state, found at plan.
    let mut other = Space::new();
    other.namespace.clone_from(&space.namespace);
    other.main(&config_map("settings", "{a: c}"));
    let said = other.plan_fails();
    assert!(said.contains("Object is managed elsewhere"), "{said}");
    assert_eq!(space.api.get(&path), before);
    // The same configuration. Of two that are new, one finds the other.
    let twin = |name: &str| object(name, &config_map_manifest("twins", "{a: b}"));
    space.main(&(config_map("settings", "{a: b}") + &twin("one") + &twin("two")));
    let said = space.apply_fails();
    assert!(said.contains("Object is managed elsewhere"), "{said}");
    let stored = ["k8sconnect_object.one", "k8sconnect_object.two"].map(|name| space.find_stored(name).is_some());
    assert_eq!(stored.iter().filter(|stored| **stored).count(), 1);
    space.destroy();
    assert_eq!(space.api.count(&space.core("configmaps", "")), 0);
}

/// Scenario 15.
#[test]
fn a_renamed_key_is_the_same_object() {
    let space = Space::new();
    let main = |key: &str| {
        let manifest = config_map_manifest("settings", "{a: b}");
        object_with("settings", &format!("for_each = toset([\"{key}\"])"), &manifest)
    };
    space.main(&main("old")).apply();
    let path = space.core("configmaps", "settings");
    space.api.edit(&path, &json!({"data": {"theirs": "1"}}));
    let uid = space.api.uid(&path);
    // Said with a block, nothing is done at all.
    let moved =
        "moved {\n  from = k8sconnect_object.settings[\"old\"]\n  to = k8sconnect_object.settings[\"said\"]\n}\n";
    space.main(&(main("said") + moved)).plan().does(&["move k8sconnect_object.settings[\"said\"]"]);
    space.apply();
    // Not said, it is found out.
    space.main(&main("new")).plan().does(&["move k8sconnect_object.settings[\"new\"]"]);
    space.apply();
    assert_eq!(space.api.uid(&path), uid);
    // So is another name.
    space.main(&object("renamed", &config_map_manifest("settings", "{a: b}")));
    space.plan().does(&["move k8sconnect_object.renamed"]);
    space.apply();
    assert_eq!(space.api.uid(&path), uid);
    assert_eq!(space.api.get(&path)["data"], json!({"a": "b", "theirs": "1"}));
    space.is_settled();
    space.destroy();
    assert!(space.api.find(&path).is_none());
}

/// Scenario 16, exceeded: another cluster is another object, and nothing is left behind.
#[test]
fn the_way_to_a_cluster_may_change_and_another_cluster_is_noticed() {
    let space = Space::new();
    space.main(&config_map("settings", "{a: b}")).apply();
    let path = space.core("configmaps", "settings");
    let uid = space.api.uid(&path);
    let inline = format!(
        "{{ host = {:?}, cluster_ca_certificate = file({:?}), token = \"admin-of-the-test-cluster\" }}",
        space.reach().url,
        space.api.certificate().display().to_string()
    );
    let by = |cluster: &str| config_map("settings", "{a: b}").replace("local.cluster", cluster);
    space.main(&by(&inline)).plan().does(&["update k8sconnect_object.settings"]);
    space.apply();
    assert_eq!(space.api.uid(&path), uid);
    space.is_settled();
    // A second one.
    let elsewhere = Space::with_controllers();
    let name = &elsewhere.namespace;
    space.api.create("/api/v1/namespaces", &json!({"metadata": {"name": name}}));
    let main = |cluster: &str| by(cluster).replace("NAMESPACE", name);
    space.main(&main("local.cluster")).apply();
    let path = format!("/api/v1/namespaces/{name}/configmaps/settings");
    assert!(space.api.find(&path).is_some());
    space.file("other", &elsewhere.reach().kubeconfig_text("admin-of-the-test-cluster").unwrap());
    space.main(&main("{ kubeconfig = file(\"other\") }"));
    space.plan().does(&["replace k8sconnect_object.settings"]).says("another cluster");
    space.apply();
    assert!(space.api.find(&path).is_none());
    assert!(elsewhere.api.find(&path).is_some());
    space.is_settled();
    space.destroy();
    assert!(elsewhere.api.find(&path).is_none());
}

/// Beyond the scenarios: what destroying means can be chosen.
#[test]
fn an_object_can_be_let_go() {
    let space = Space::new();
    space
        .main(&object_with("settings", "delete_policy = \"orphan\"", &config_map_manifest("settings", "{a: b}")))
        .apply();
    space.destroy();
    let live = space.api.get(&space.core("configmaps", "settings"));
    assert_eq!(live["data"], json!({"a": "b"}));
    assert_eq!(live["metadata"]["annotations"], json!(null));
}

/// Beyond the scenarios: the connection of the provider is for all, and stored nowhere.
#[test]
fn the_connection_of_the_provider_is_not_stored() {
    let space = Space::new();
    let provider = "provider \"k8sconnect\" {\n  cluster = local.cluster\n}\n";
    let settings = config_map("settings", "{a: b}").replace("  cluster = local.cluster\n", "");
    space.main(&(provider.to_owned() + &settings)).apply();
    space.is_settled();
    let state = space.read("terraform.tfstate");
    assert!(!state.contains("admin-of-the-test-cluster") && !state.contains("certificate-authority-data"), "{state}");
    space.main(provider).apply();
    assert!(space.api.find(&space.core("configmaps", "settings")).is_none());
}

/// Beyond the scenarios: the name that seed 000 uses.
#[test]
fn a_manifest_is_another_name_of_an_object() {
    let space = Space::new();
    let main = config_map("settings", "{a: b}").replace("k8sconnect_object", "k8sconnect_manifest");
    space.main(&main).apply();
    space.is_settled();
    assert_eq!(space.attribute("k8sconnect_manifest.settings", "object_ref")["name"], "settings");
    space.destroy();
}

/// Scenario 48.
#[test]
fn many_objects_of_many_kinds_are_made_at_once() {
    let space = Space::with_controllers();
    let name = fresh_name();
    let mut main = object("namespace", &format!("apiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}}}"));
    main.push_str(&MANY.replace("UNIQUE", &name));
    space.main(&main).apply();
    let stored = space.succeeds(&["state", "list"]).split_whitespace().count();
    assert_eq!(stored, 64);
    space.is_settled();
    space.destroy();
    assert!(space.api.find(&format!("/api/v1/namespaces/{name}")).is_none());
}

/// 63 objects: 7 kinds, 9 of each.
const MANY: &str = r#"
locals {
  numbers = toset([for number in range(9) : tostring(number)])
  kinds = {
    ConfigMap      = { apiVersion = "v1", data = { key = "value", "dotted.key" = "1" } }
    Secret         = { apiVersion = "v1", stringData = { password = "hidden" } }
    ServiceAccount = { apiVersion = "v1" }
    Service = {
      apiVersion = "v1"
      spec = { selector = { app = "a" }, ports = [{ name = "http", port = 80 }, { name = "dns", port = 53, protocol = "UDP" }] }
    }
    Role = {
      apiVersion = "rbac.authorization.k8s.io/v1"
      rules      = [{ apiGroups = [""], resources = ["pods"], verbs = ["get", "list"] }]
    }
    Deployment = {
      apiVersion = "apps/v1"
      spec = {
        replicas = 0
        selector = { matchLabels = { app = "a" } }
        template = {
          metadata = { labels = { app = "a" } }
          spec = { containers = [{ name = "a", image = "a:1", ports = [{ containerPort = 80 }], env = [{ name = "A", value = "1" }] }] }
        }
      }
    }
    ClusterRole = {
      apiVersion = "rbac.authorization.k8s.io/v1"
      rules      = [{ apiGroups = [""], resources = ["nodes"], verbs = ["get"] }]
    }
  }
  all = merge([for number in local.numbers : { for kind, body in local.kinds : "${kind}-${number}" => {
    kind = kind
    body = body
    name = "UNIQUE-${number}"
  } }]...)
}

resource "k8sconnect_object" "many" {
  for_each = local.all
  cluster  = local.cluster
  yaml_body = yamlencode(merge(each.value.body, {
    kind     = each.value.kind
    metadata = { name = each.value.name, namespace = k8sconnect_object.namespace.object_ref.name, labels = { "app.kubernetes.io/name" = "many" } }
  }))
}
"#;
