//! Data sources: many manifests in one text, and objects of others.

use serde_json::{Value, json};

use crate::space::{Space, config_map};

fn split(kind: &str, arguments: &str) -> String {
    format!(
        "data \"k8sconnect_{kind}\" \"all\" {{\n  {arguments}\n}}\noutput \"all\" {{\n  value = data.k8sconnect_{kind}.all\n}}\n"
    )
}

const MANY: &str = "\
# Only words.
---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
--- # the definition
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: cacti.example.com}
spec: {group: example.com, scope: Namespaced, names: {kind: Cactus}}
---

---
apiVersion: example.com/v1
kind: Cactus
metadata: {name: one, namespace: shop}
";

fn keys(value: &Value) -> Vec<String> {
    value.as_object().unwrap().keys().cloned().collect()
}

fn output(space: &Space) -> Value {
    space.apply();
    serde_json::from_str(&space.run(&["output", "-json", "all"]).stdout).unwrap()
}

/// Scenario 46.
#[test]
fn a_text_is_taken_apart() {
    let space = Space::new();
    space.file("many.yaml", MANY);
    space.main(&split("yaml_split", "content = file(\"many.yaml\")"));
    let all = output(&space);
    let expected = [
        "apiextensions.k8s.io.customresourcedefinition.cacti.example.com",
        "apps.deployment.shop.web",
        "example.com.cactus.shop.one",
        "namespace.shop",
    ];
    assert_eq!(keys(&all["manifests"]), expected);
    assert!(all["manifests"]["namespace.shop"].as_str().unwrap().starts_with("apiVersion: v1\nkind: Namespace"));
    assert!(all["id"].as_str().unwrap().starts_with("content-"));
    space.main(&split("yaml_scoped", "content = file(\"many.yaml\")"));
    let all = output(&space);
    assert_eq!(keys(&all["crds"]), expected[..1]);
    assert_eq!(keys(&all["cluster_scoped"]), expected[3..]);
    assert_eq!(keys(&all["namespaced"]), expected[1..3]);
    // Files, in order, and not the directories that are called like them.
    let (first, rest) = MANY.split_at(MANY.find("--- # the").unwrap());
    space.file("manifests/a.yaml", first).file("manifests/deep/b.yaml", rest).file("manifests/c.yaml/keep", "");
    space.main(&split("yaml_split", "pattern = \"manifests/**/*.yaml\""));
    let all = output(&space);
    assert_eq!(keys(&all["manifests"]), expected);
    assert!(all["id"].as_str().unwrap().starts_with("pattern-"));
}

/// Scenario 46: kustomizations, with a program that stands for the real one.
#[test]
fn a_kustomization_is_built() {
    let space = Space::new();
    space.file("many.yaml", MANY);
    space.file("programs/kustomize", "#!/bin/sh\n[ \"$1\" = build ] || exit 3\n[ -d \"$2\" ] || { echo \"Error: no such directory $2\" >&2; exit 1; }\ncat \"$2/../many.yaml\"\n");
    space.file("app/kustomization.yaml", "resources: []\n");
    let program = space.path("programs/kustomize");
    assert!(std::process::Command::new("chmod").arg("+x").arg(&program).status().unwrap().success());
    let programs = format!("{}:/usr/bin:/bin", program.parent().unwrap().display());
    let space = space.env("PATH", &programs);
    space.main(&split("yaml_split", "kustomize_path = \"app\""));
    assert_eq!(keys(&output(&space)["manifests"]).len(), 4);
    space.main(&split("yaml_split", "kustomize_path = \"nowhere\""));
    let said = space.plan_fails();
    assert!(said.contains("Kustomize build failed") && said.contains("no such directory"), "{said}");
    let space = space.env("PATH", "/nowhere");
    space.main(&split("yaml_split", "kustomize_path = \"app\""));
    assert!(space.plan_fails().contains("Kustomize not available"));
}

/// Scenario 46.
#[test]
fn texts_that_cannot_be_taken_apart_are_refused() {
    let space = Space::new();
    space.file("twice.yaml", &format!("{MANY}---\n{}", MANY.split("---").nth(1).unwrap()));
    space.file("other/text.yaml", "just words\n").file("other/none.yaml", "# nothing\n");
    for (arguments, expected) in [
        ("content = file(\"twice.yaml\")", "Duplicate object"),
        ("content = \"\"", "Empty content"),
        ("content = \"# nothing\"", "No objects in YAML"),
        ("content = \"a: [\"", "ine 1"),
        ("content = \"a: b\"", "apiVersion"),
        ("pattern = \"nowhere/*.yaml\"", "No files match"),
        ("pattern = \"other/text.yaml\"", "other/text.yaml"),
        ("pattern = \"other/none.yaml\"", "No objects in YAML"),
        ("", "Missing input"),
        ("content = \"a\"\n  pattern = \"b\"", "Conflicting inputs"),
    ] {
        for kind in ["yaml_split", "yaml_scoped"] {
            space.main(&split(kind, arguments));
            let said = space.plan_fails();
            assert!(said.contains(expected) && said.contains("on main.tf line"), "{kind} {arguments}: {said}");
        }
    }
}

/// Scenario 46: what is not known yet is taken apart when it is.
#[test]
fn a_text_that_is_not_known_yet_is_taken_apart_later() {
    let space = Space::new();
    let text = format!("resource \"terraform_data\" \"text\" {{\n  input = <<YAML\n{MANY}YAML\n}}\n");
    space.main(&(text + &split("yaml_split", "content = terraform_data.text.output")));
    space.plan().does(&["create terraform_data.text"]);
    assert_eq!(keys(&output(&space)["manifests"]).len(), 4);
}

/// Many objects from one text, each with a resource of its own.
#[test]
fn what_was_taken_apart_can_be_applied() {
    let space = Space::new();
    let many: Vec<String> = (0..5)
        .map(|at| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: m{at}, namespace: NAMESPACE}}\ndata: {{a: '{at}'}}\n"))
        .collect();
    space.file("many.yaml", &many.join("---\n"));
    space.main(
        "data \"k8sconnect_yaml_split\" \"all\" {\n  content = file(\"many.yaml\")\n}\n\
         resource \"k8sconnect_object\" \"all\" {\n  for_each = data.k8sconnect_yaml_split.all.manifests\n  cluster = local.cluster\n  \
         yaml_body = each.value\n}\n",
    );
    space.apply();
    assert_eq!(space.api.count(&space.core("configmaps", "")), 5);
    space.is_settled();
    space.destroy();
    assert_eq!(space.api.count(&space.core("configmaps", "")), 0);
}

/// An object of others, with lists of different items.
#[test]
fn an_object_of_others_is_read() {
    let space = Space::new();
    let containers = json!([{"name": "a", "image": "a:1", "args": ["x"]}, {"name": "b", "image": "b:1", "tty": true}]);
    space
        .api
        .create(&space.core("pods", ""), &json!({"metadata": {"name": "theirs"}, "spec": {"containers": containers}}));
    let data = |name: &str| {
        format!(
            "data \"k8sconnect_object\" \"theirs\" {{\n  cluster = local.cluster\n  api_version = \"v1\"\n  kind = \"Pod\"\n  name = \"{name}\"\n  \
             namespace = \"NAMESPACE\"\n}}\n"
        )
    };
    let settings =
        config_map("settings", "{image: \"${data.k8sconnect_object.theirs.object.spec.containers[1].image}\"}");
    space.main(&(data("theirs") + &settings)).apply();
    assert_eq!(space.api.get(&space.core("configmaps", "settings"))["data"]["image"], "b:1");
    space.is_settled();
    // One that is not there is a warning, and null.
    let nothing = format!(
        "{}output \"is_there\" {{\n  value = data.k8sconnect_object.theirs.object != null\n}}\n",
        data("nobody")
    );
    let said = space.main(&nothing).apply();
    assert!(said.contains("Warning: ") && said.contains("nobody"), "{said}");
    assert_eq!(space.succeeds(&["output", "is_there"]), "false");
}

/// Beyond the scenarios: a set of objects, in order, as one resource.
#[test]
fn a_set_is_many_objects_in_order() {
    let space = Space::new();
    let set = |more: &str| {
        let text = format!(
            "apiVersion: GROUP/v1\nkind: Cactus\nmetadata: {{name: one, namespace: NAMESPACE}}\nspec: {{a: 1}}\n---\n\
             apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: cacti.GROUP}}\nspec:\n  group: GROUP\n  \
             scope: Namespaced\n  names: {{kind: Cactus, plural: cacti, singular: cactus}}\n  versions:\n  - name: v1\n    served: true\n    \
             storage: true\n    schema: {{openAPIV3Schema: {{type: object, x-kubernetes-preserve-unknown-fields: true}}}}\n{more}"
        );
        let text = text.replace("GROUP", &format!("{}.example.com", space.namespace));
        format!(
            "resource \"k8sconnect_manifest_set\" \"all\" {{\n  cluster = local.cluster\n  yaml = <<YAML\n{text}\nYAML\n}}\n"
        )
    };
    let map = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: NAMESPACE}\ndata: {a: b}\n";
    space.main(&set(map)).apply();
    space.is_settled();
    let cactus = space.of(&format!("{}.example.com/v1", space.namespace), "cacti", "one");
    let uid = space.api.uid(&cactus);
    assert!(space.api.find(&space.core("configmaps", "settings")).is_some());
    // What is not in it any more goes, the rest stays.
    space.main(&set("")).plan().does(&["update k8sconnect_manifest_set.all"]);
    space.apply();
    assert!(space.api.find(&space.core("configmaps", "settings")).is_none());
    assert_eq!(space.api.uid(&cactus), uid);
    space.is_settled();
    space.destroy();
    assert!(space.api.find(&cactus).is_none());
}
