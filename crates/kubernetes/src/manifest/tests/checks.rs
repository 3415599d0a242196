//! What is wrong with a manifest before anybody asks a server.

use super::*;

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let found = complaints(text);
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.contains(expected), "{found:?} has no {expected:?}");
    }
}

const HEAD: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n";

#[test]
fn an_object_needs_little() {
    check(HEAD, &[]);
    let reference = Manifest::parse(&format!("{HEAD}  namespace: ns\n")).unwrap().reference();
    assert_eq!((reference.namespace.as_deref(), reference.name.as_str()), (Some("ns"), "a"));
    assert_eq!((reference.api_version.as_str(), reference.kind.as_str(), reference.group()), ("v1", "ConfigMap", ""));
}

#[test]
fn an_empty_text_is_no_object() {
    for text in ["", "  \n", "# nothing\n---\n", "\u{feff}"] {
        check(text, &["Empty manifest"]);
    }
    check("- a\n", &["Manifest is not an object: Line 1 of the YAML (`- a`): "]);
    check("hello", &["this is a text"]);
}

#[test]
fn two_documents_are_one_too_many() {
    let found = Manifest::parse(&format!("{HEAD}---\n{HEAD}")).unwrap_err();
    let first = found.iter().next().unwrap();
    assert_eq!(first.summary, "Several documents in one manifest");
    assert!(first.detail.contains("Line 6 of the YAML (`apiVersion: v1`)"), "{}", first.detail);
    assert!(first.hints[0].contains("k8sconnect_yaml_split"));
}

#[test]
fn a_list_is_not_an_object() {
    check("apiVersion: v1\nkind: List\nitems: []\n", &["List instead of an object: Line 2 of the YAML (`kind: List`)"]);
}

#[test]
fn what_is_missing_is_named() {
    check("foo: bar", &["apiVersion is missing", "kind is missing", "metadata.name is missing"]);
    check(
        "apiVersion: v1\nkind: Pod\nmetadata:\n  labels: {}\n",
        &["Line 3 of the YAML (`metadata:`): metadata.name is missing"],
    );
    check(
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: 123\n",
        &["metadata.name must be a text, and 123 is none. Quote it"],
    );
    check("apiVersion: v1\nkind: Pod\nmetadata: x\n", &["metadata must be an object"]);
    check("apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  namespace: 1\n", &["metadata.namespace must be a text"]);
}

#[test]
fn generate_name_is_named_in_the_hint() {
    let found = Manifest::parse("apiVersion: v1\nkind: Pod\nmetadata:\n  generateName: a-\n").unwrap_err();
    let first = found.iter().next().unwrap();
    assert!(first.detail.starts_with("Line 4 of the YAML (`generateName: a-`)"), "{}", first.detail);
    assert!(first.hints[0].contains("generateName"));
}

#[test]
fn api_versions_have_a_form() {
    let with = |version: &str| format!("apiVersion: {version}\nkind: Thing\nmetadata: {{name: a}}\n");
    for version in ["apps/v1", "example.com/v1alpha1", "v1", "a.b-c.io/v2beta1"] {
        check(&with(version), &[]);
    }
    for version in ["a/b/c", "/v1", "apps/", "v2", "apps", "Apps/v1", "apps/V1", "apps/1", "\"a b/v1\"", "a..b/v1"] {
        check(&with(version), &["Malformed apiVersion: Line 1 of the YAML"]);
    }
    check(&with("1"), &["apiVersion must be a text"]);
}

#[test]
fn kinds_of_kubernetes_are_in_their_group() {
    let with = |version: &str, kind: &str| format!("apiVersion: {version}\nkind: {kind}\nmetadata: {{name: a}}\n");
    check(&with("v1", "Deployment"), &["Unknown apiVersion for this kind"]);
    check(&with("extensions/v1beta1", "Ingress"), &["`apiVersion: networking.k8s.io/v1` and `kind: Ingress`"]);
    check(&with("apps/v1", "deployment"), &["`kind: Deployment`"]);
    check(&with("serving.knative.dev/v1", "Service"), &[]);
    check(&with("apps/v1", "SomethingNew"), &[]);
    check(&with("events.k8s.io/v1", "Event"), &[]);
}

#[test]
fn what_the_server_fills_in_is_refused() {
    let text = format!(
        "{HEAD}  uid: u\n  resourceVersion: '1'\n  generation: 1\n  creationTimestamp: x\n  managedFields: [a]\nstatus: {{a: b}}\n"
    );
    let expected = [
        "Line 5 of the YAML (`uid: u`): metadata.uid",
        "metadata.resourceVersion",
        "metadata.generation",
        "metadata.creationTimestamp",
        "metadata.managedFields",
        "Status in manifest: Line 10",
    ];
    check(&text, &expected);
}

#[test]
fn what_tools_write_for_nothing_is_dropped() {
    let manifest = Manifest::parse(&format!("{HEAD}  creationTimestamp: null\nstatus: {{}}\n")).unwrap();
    assert_eq!(manifest.object, Manifest::parse(HEAD).unwrap().object);
}

#[test]
fn our_own_annotations_are_refused() {
    let text = format!("{HEAD}  annotations:\n    k8sconnect.terraform.io/terraform-id: x\n    other: z\n");
    check(&text, &["Reserved annotation in manifest: Line 6"]);
}

#[test]
fn texts_that_yaml_takes_for_something_else_are_found() {
    let text = format!("{HEAD}  labels:\n    a: yes\n    b: '1'\n  annotations:\n    c: 1.10\ndata:\n  d: 8080\n");
    check(
        &text,
        &["metadata.labels.a must be a text, and YAML reads this as true or false", "annotations.c", "data.d"],
    );
}

#[test]
fn containers_need_names_wherever_they_are() {
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n  - image: x\n  initContainers:\n  - image: y\n";
    check(
        pod,
        &["Container without a name: Line 6 of the YAML (`- image: x`): spec.containers[0]", "spec.initContainers[0]"],
    );
    let cron = "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: a}\nspec:\n  jobTemplate:\n    spec:\n      template:\n        \
                spec:\n          containers:\n          - name: ok\n          - image: x\n";
    check(cron, &["spec.jobTemplate.spec.template.spec.containers[1] has no name"]);
    check("apiVersion: x.io/v1\nkind: Other\nmetadata: {name: a}\nspec:\n  containers:\n  - size: 1\n", &[]);
}
