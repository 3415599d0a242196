//! Changes to objects that others manage.

use serde_json::{Value, json};

use crate::definitions::{ANYTHING, OwnKind};
use crate::proxy::{Fate, Proxy};
use crate::space::{Space, config_map, dedent};

/// A patch of something that is called `theirs`.
fn patch(name: &str, target: &str, content: &str) -> String {
    format!(
        "resource \"k8sconnect_patch\" \"{name}\" {{\n  cluster = local.cluster\n  target = {{ {target}, namespace = \"NAMESPACE\" }}\n  \
         {content}\n}}\n"
    )
}

const MAP: &str = "api_version = \"v1\", kind = \"ConfigMap\", name = \"theirs\"";
const DEPLOYMENT: &str = "api_version = \"apps/v1\", kind = \"Deployment\", name = \"theirs\"";

fn yaml(text: &str) -> String {
    format!("patch = <<YAML\n{}\nYAML", dedent(text))
}

fn operations(operations: &Value) -> String {
    format!("json_patch = <<JSON\n{operations}\nJSON")
}

fn merge(object: &Value) -> String {
    format!("merge_patch = <<JSON\n{object}\nJSON")
}

/// A space with a ConfigMap and a Deployment that somebody else made.
fn space() -> Space {
    let space = Space::new();
    space.api.create(&space.core("configmaps", ""), &json!({"metadata": {"name": "theirs"}, "data": {"x": "y"}}));
    let containers = json!([
        {"name": "web", "image": "web:1", "args": ["a", "b"], "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
         "ports": [{"containerPort": 80}]},
        {"name": "sidecar", "image": "sidecar:1"},
    ]);
    let deployment = json!({
        "metadata": {"name": "theirs"},
        "spec": {
            "replicas": 2, "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": containers}},
        },
    });
    space.api.create(&space.of("apps/v1", "deployments", ""), &deployment);
    space
}

fn data(space: &Space) -> Value {
    space.api.get(&space.core("configmaps", "theirs"))["data"].clone()
}

fn pod(space: &Space) -> Value {
    space.api.get(&space.of("apps/v1", "deployments", "theirs"))["spec"]["template"]["spec"].clone()
}

/// Scenario 43.
#[test]
fn an_object_of_others_is_patched_and_given_back() {
    let space = space();
    space.main(&patch("one", MAP, &yaml("data: {a: b}"))).plan().does(&["create k8sconnect_patch.one"]);
    space.apply();
    assert_eq!(data(&space), json!({"x": "y", "a": "b"}));
    assert_eq!(space.attribute("k8sconnect_patch.one", "managed_state_projection")["data.a"], "b");
    space.is_settled();
    space.main(&patch("one", MAP, &yaml("data: {a: c, d: e}"))).plan().does(&["update k8sconnect_patch.one"]);
    space.apply();
    assert_eq!(data(&space), json!({"x": "y", "a": "c", "d": "e"}));
    space.main(&patch("one", MAP, &yaml("data: {a: c}"))).apply();
    assert_eq!(data(&space), json!({"x": "y", "a": "c"}));
    space.is_settled();
    // Nobody owns what the patch owned when it is gone.
    space.destroy();
    let live = space.api.get(&space.core("configmaps", "theirs"));
    let managers: Vec<&str> = live["metadata"]["managedFields"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|entry| entry["manager"].as_str())
        .collect();
    assert!(managers.iter().all(|manager| !manager.contains("k8sconnect")), "{managers:?}");
    assert_eq!(live["data"]["x"], "y");
}

/// Scenario 43.
#[test]
fn patches_that_make_no_sense_are_refused() {
    let space = space();
    // Ours need no patch.
    space.main(&config_map("ours", "{a: b}")).apply();
    let ours = MAP.replace("theirs", "ours");
    space.main(&(config_map("ours", "{a: b}") + &patch("one", &ours, &yaml("data: {a: c}"))));
    let said = space.plan_fails();
    assert!(said.contains("ours"), "{said}");
    assert_eq!(space.api.get(&space.core("configmaps", "ours"))["data"]["a"], "b");
    // One that is nowhere. It may come with the apply, so that is where it is said.
    space.main(
        &(config_map("ours", "{a: b}") + &patch("one", &MAP.replace("theirs", "nowhere"), &yaml("data: {a: c}"))),
    );
    let said = space.apply_fails();
    assert!(said.contains("nowhere"), "{said}");
    let both = format!("{}\n  {}", yaml("data: {a: b}"), merge(&json!({"data": {"a": "b"}})));
    for content in [
        both.as_str(),
        "",
        &yaml(""),
        "patch = \"\"",
        "json_patch = \"[]\"",
        "json_patch = jsonencode([{ op = \"swap\", path = \"/data/a\" }])",
        "json_patch = jsonencode([{ op = \"add\", path = \"/data/a\" }])",
        "json_patch = jsonencode([{ op = \"move\", path = \"/data/a\" }])",
        "json_patch = jsonencode([{ op = \"remove\" }])",
        "json_patch = \"{}\"",
        "merge_patch = \"[]\"",
        "merge_patch = \"no json\"",
        &yaml("status: {phase: x}"),
        &yaml("metadata: {uid: x}"),
        &yaml("metadata: {annotations: {k8sconnect.terraform.io/terraform-id: x}}"),
    ] {
        space.main(&patch("one", MAP, content));
        let said = space.validate_fails();
        assert!(said.contains("on main.tf line"), "{content}: {said}");
    }
    let said = space.fails(&["import", "k8sconnect_patch.one", "test:default:v1/ConfigMap:theirs"]);
    assert!(said.contains("Error: "), "{said}");
}

/// Scenario 43.
#[test]
fn a_patch_of_another_object_is_another_patch() {
    let space = space();
    space.api.create(&space.core("configmaps", ""), &json!({"metadata": {"name": "others"}, "data": {"x": "y"}}));
    space.main(&patch("one", MAP, &yaml("data: {a: b}"))).apply();
    space
        .main(&patch("one", &MAP.replace("theirs", "others"), &yaml("data: {a: b}")))
        .plan()
        .does(&["replace k8sconnect_patch.one"]);
    space.apply();
    assert_eq!(space.api.get(&space.core("configmaps", "others"))["data"], json!({"x": "y", "a": "b"}));
    assert_eq!(data(&space), json!({"x": "y"}));
    space.is_settled();
}

/// Scenario 44.
#[test]
fn items_of_lists_are_patched_by_their_names() {
    let space = space();
    let containers = |text: &str| yaml(&format!("spec: {{template: {{spec: {{containers: [{text}]}}}}}}"));
    space
        .main(&patch(
            "one",
            DEPLOYMENT,
            &containers("{name: web, image: 'web:2', env: [{name: A, value: '9'}, {name: C, value: ''}]}"),
        ))
        .apply();
    let web = pod(&space)["containers"][0].clone();
    assert_eq!(web["image"], "web:2");
    assert_eq!(web["args"], json!(["a", "b"]));
    let env = web["env"].as_array().unwrap();
    let value = |name: &str| env.iter().find(|item| item["name"] == name).map(|item| item["value"].clone());
    assert_eq!((value("A"), value("B")), (Some(json!("9")), Some(json!("2"))));
    assert!(env.iter().any(|item| item["name"] == "C"), "{env:?}");
    assert_eq!(pod(&space)["containers"][1]["image"], "sidecar:1");
    space.is_settled();
    // What the object cannot be without stays, and that is said.
    let said = space.main("").apply();
    assert!(said.contains("Patched values stay"), "{said}");
    assert_eq!(pod(&space)["containers"][0]["image"], "web:2");
    // Lists of plain values, ports, and places deep inside.
    let more = "{name: sidecar, args: [x, z], ports: [{containerPort: 9090, name: metrics}], \
                readinessProbe: {httpGet: {path: /ready, port: 9090}, periodSeconds: 7}, \
                securityContext: {readOnlyRootFilesystem: true}}";
    space.main(&patch("one", DEPLOYMENT, &containers(more))).apply();
    let sidecar = pod(&space)["containers"][1].clone();
    assert_eq!((&sidecar["args"], &sidecar["readinessProbe"]["periodSeconds"]), (&json!(["x", "z"]), &json!(7)));
    assert_eq!(sidecar["securityContext"]["readOnlyRootFilesystem"], true);
    space.is_settled();
    space.destroy();
    assert_eq!(pod(&space)["containers"][1]["args"], Value::Null);
    // Much of it.
    let long = "x".repeat(10_000);
    space.main(&patch("one", MAP, &yaml(&format!("data: {{long: {long}, empty: ''}}")))).apply();
    assert_eq!(data(&space), json!({"x": "y", "long": long, "empty": ""}));
    space.is_settled();
}

/// Scenario 44.
#[test]
fn every_operation_of_a_json_patch_works() {
    let space = space();
    let path = space.core("configmaps", "theirs");
    let steps = [
        (json!([{"op": "add", "path": "/data/a", "value": "1"}]), json!({"x": "y", "a": "1"})),
        (
            json!([{"op": "test", "path": "/data/x", "value": "y"}, {"op": "replace", "path": "/data/x", "value": "z"}]),
            json!({"x": "z"}),
        ),
        (json!([{"op": "copy", "from": "/data/x", "path": "/data/b"}]), json!({"b": "z"})),
        (json!([{"op": "move", "from": "/data/b", "path": "/data/c"}]), json!({"c": "z"})),
        (json!([{"op": "remove", "path": "/data/c"}]), json!({})),
    ];
    for (content, expected) in &steps {
        space.main(&patch("one", MAP, &operations(content))).apply();
        let live = space.api.get(&path)["data"].clone();
        for (key, value) in expected.as_object().unwrap() {
            assert_eq!(&live[key], value, "{content}: {live}");
        }
        space.is_settled();
    }
    assert_eq!(data(&space)["c"], Value::Null);
    // Names with slashes.
    let annotations = json!([
        {"op": "add", "path": "/metadata/annotations", "value": {}},
        {"op": "add", "path": "/metadata/annotations/a~1b", "value": "c"},
    ]);
    space.main(&patch("slash", MAP, &operations(&annotations))).apply();
    assert_eq!(space.api.get(&path)["metadata"]["annotations"]["a/b"], "c");
    space.is_settled();
    // A test that does not hold.
    let refused = json!([{"op": "test", "path": "/data/x", "value": "nope"}, {"op": "replace", "path": "/data/x", "value": "new"}]);
    space.main(&patch("no", MAP, &operations(&refused)));
    assert!(space.apply_fails().contains("Error: "));
    // An item at the end of a list is added once.
    let port = json!([{"op": "add", "path": "/spec/template/spec/containers/0/args/-", "value": "c"}]);
    space.main(&patch("end", DEPLOYMENT, &operations(&port))).apply();
    assert_eq!(pod(&space)["containers"][0]["args"], json!(["a", "b", "c"]));
    space.is_settled();
    space.apply();
    assert_eq!(pod(&space)["containers"][0]["args"], json!(["a", "b", "c"]));
}

/// Scenarios 44 and 45.
#[test]
fn merge_patches_work() {
    let space = space();
    space.main(&patch("one", MAP, &merge(&json!({"data": {"x": null, "a": "b"}})))).apply();
    assert_eq!(data(&space), json!({"a": "b"}));
    space.is_settled();
    // In other words.
    space
        .main(&patch("one", MAP, "merge_patch = \"{ \\\"data\\\" : {\\\"a\\\":\\\"b\\\",  \\\"x\\\": null } }\""))
        .plan()
        .does(&[]);
    space.api.edit(&space.core("configmaps", "theirs"), &json!({"data": {"a": "drifted"}}));
    space.plan().does(&["update k8sconnect_patch.one"]);
    space.apply();
    assert_eq!(data(&space), json!({"a": "b"}));
    space.is_settled();
}

/// Scenario 45.
#[test]
fn what_others_do_to_a_patched_field_is_seen_and_set_right() {
    let space = space();
    let path = space.core("configmaps", "theirs");
    space.main(&patch("one", MAP, &yaml("data: {a: b}"))).apply();
    space.main(&patch("one", MAP, &yaml("# A comment.\ndata:\n  'a':   \"b\""))).plan().does(&[]);
    space.apply();
    space.api.edit(&path, &json!({"data": {"a": "drifted"}}));
    space.plan().does(&["update k8sconnect_patch.one"]);
    // To plan is not to write.
    assert_eq!(data(&space)["a"], "drifted");
    space.apply();
    assert_eq!(data(&space)["a"], "b");
    space.is_settled();
    // By operations.
    space.main(&patch("one", MAP, &operations(&json!([{"op": "replace", "path": "/data/x", "value": "z"}])))).apply();
    space.is_settled();
    space.api.edit(&path, &json!({"data": {"x": "drifted"}}));
    space.plan().does(&["update k8sconnect_patch.one"]);
    space.apply();
    assert_eq!(data(&space)["x"], "z");
    space.is_settled();
    // What is gone is not patched.
    space.api.delete(&path);
    let plan = space.plan();
    assert_eq!(plan.actions(), ["create k8sconnect_patch.one"]);
}

/// Scenario 45.
#[test]
fn amounts_own_kinds_typos_and_what_cannot_be_changed() {
    let space = space();
    let limits = |memory: &str| {
        yaml(&format!(
            "spec: {{template: {{spec: {{containers: [{{name: web, resources: {{limits: {{memory: {memory}}}}}}}]}}}}}}"
        ))
    };
    space.main(&patch("one", DEPLOYMENT, &limits("1Gi"))).apply();
    space.is_settled();
    space.main(&patch("one", DEPLOYMENT, &limits("1024Mi"))).plan().does(&[]);
    // A typo, and a selector, which cannot be changed.
    space.main(&patch("one", DEPLOYMENT, &yaml("spec: {replica: 3}")));
    let said = space.plan_fails();
    assert!(said.contains("Unknown field in manifest") && said.contains("replica"), "{said}");
    space.main(&patch("one", DEPLOYMENT, &yaml("spec: {selector: {matchLabels: {more: x}}}")));
    let said = space.plan_fails();
    assert!(said.contains("cannot be changed") || said.contains("immutable") || said.contains("selector"), "{said}");
    // A kind of somebody's own.
    let kind = OwnKind::new("Thing", "things");
    kind.define(&space, ANYTHING);
    let object = json!({"apiVersion": format!("{}/v1", kind.group), "kind": "Thing", "metadata": {"name": "theirs"}, "spec": {"a": 1}});
    space.api.create(&kind.path(&space, ""), &object);
    let target = format!("api_version = \"{}/v1\", kind = \"Thing\", name = \"theirs\"", kind.group);
    space.main(&patch("two", &target, &yaml("spec: {b: 2}"))).apply();
    assert_eq!(space.api.get(&kind.path(&space, "theirs"))["spec"], json!({"a": 1, "b": 2}));
    space.is_settled();
}

/// Scenario 45, exceeded: plans write nothing.
#[test]
fn a_plan_writes_nothing_whatever_has_drifted() {
    let space = space();
    let proxy = Proxy::new(&space.api, |_| Fate::Pass);
    space.file("kubeconfig", &proxy.kubeconfig());
    let blocks = patch("one", MAP, &yaml("data: {a: b}"))
        + &patch(
            "two",
            DEPLOYMENT,
            &operations(&json!([{"op": "add", "path": "/metadata/labels", "value": {"a/b": "c"}}])),
        )
        + &config_map("ours", "{a: b}");
    space.main(&blocks).apply();
    space.api.edit(&space.core("configmaps", "theirs"), &json!({"data": {"a": "drifted"}}));
    space.api.edit(&space.core("configmaps", "ours"), &json!({"data": {"a": "drifted"}}));
    space.api.edit(&space.of("apps/v1", "deployments", "theirs"), &json!({"metadata": {"labels": {"a/b": "drifted"}}}));
    proxy.seen();
    let plan = space.plan();
    plan.does(&["update k8sconnect_object.ours", "update k8sconnect_patch.one", "update k8sconnect_patch.two"]);
    let seen = proxy.seen();
    let writes: Vec<&String> =
        seen.iter().filter(|seen| !seen.starts_with("GET ") && !seen.contains("dryRun=All")).collect();
    assert!(writes.is_empty() && !seen.is_empty(), "{writes:?}");
}

/// Scenario 45, exceeded: two patches of one object get along, unless they want the same.
#[test]
fn patches_share_an_object_but_no_field() {
    let space = space();
    let blocks = patch("one", MAP, &yaml("data: {a: b}")) + &patch("two", MAP, &yaml("data: {c: d}"));
    space.main(&blocks).apply();
    assert_eq!(data(&space), json!({"x": "y", "a": "b", "c": "d"}));
    space.is_settled();
    space.main(&(blocks + &patch("three", MAP, &yaml("data: {a: z}"))));
    let said = space.plan_fails();
    assert!(said.contains("data.a"), "{said}");
    assert_eq!(data(&space)["a"], "b");
    space.main(&patch("two", MAP, &yaml("data: {c: d}"))).apply();
    assert_eq!(data(&space), json!({"x": "y", "c": "d"}));
    space.is_settled();
}
