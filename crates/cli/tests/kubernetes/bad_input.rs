//! Input that makes no sense: told before anything is done, with the attribute and the line inside of the manifest.

use std::fmt::Write as _;

use crate::space::{Space, config_map_manifest, object, object_with};

/// What `validate` or `plan` says about a configuration that must not get further.
#[track_caller]
fn refused(space: &Space, blocks: &str, expected: &[&str]) {
    space.main(blocks);
    let said = space.plan_fails();
    for expected in expected {
        assert!(said.contains(expected), "{expected:?} is not in: {said}");
    }
    assert!(said.contains("on main.tf line"), "{said}");
    assert!(!said.contains("panicked"), "{said}");
    assert_eq!(space.api.count(&space.core("configmaps", "")), 0);
}

#[test]
fn manifests_that_are_none() {
    let space = Space::new();
    let good = config_map_manifest("settings", "{a: b}");
    let cases: [(String, &[&str]); 16] = [
        (format!("{good}\n---\n{good}"), &["yaml_body", "ine 6"]),
        (good.replace("name: settings, ", ""), &["metadata.name", "ine 3"]),
        (good.replace("name: settings", "generateName: settings-"), &["metadata.name"]),
        (good.replace("kind: ConfigMap\n", ""), &["kind is missing"]),
        (good.replace("apiVersion: v1\n", ""), &["apiVersion is missing"]),
        (good.replace("v1\n", "apps/v1\n"), &["ine 1", "v1"]),
        (good.replace("v1\n", "a/b/c\n"), &["Malformed apiVersion", "ine 1"]),
        (
            good.replace("metadata: {", "metadata: {managedFields: [{manager: a}], "),
            &["metadata.managedFields", "ine 3"],
        ),
        (format!("{good}\nstatus: {{phase: x}}"), &["Status in manifest", "ine 5"]),
        (good.replace("data: {a: b}", "data: {a: b, a: c}"), &["ine 4", "a"]),
        (good.replace("{a: b}", "{a: 1}"), &["ine 4", "Quote it"]),
        (good.replace("{a: b}", "{a: [}"), &["ine 4"]),
        (good.replace("data:", "\tdata:"), &["ine 4"]),
        ("- a\n- b".to_owned(), &["Manifest is not an object"]),
        ("a text".to_owned(), &["Manifest is not an object"]),
        (String::new(), &["yaml_body"]),
    ];
    for (manifest, expected) in cases {
        refused(&space, &object("settings", &manifest), &[expected, &["yaml_body"]].concat());
    }
}

#[test]
fn a_yaml_bomb_is_defused() {
    let space = Space::new();
    let mut bomb = config_map_manifest("settings", "{a: b}") + "\nx0: &x0 [a, a, a, a, a, a, a, a, a, a]";
    for level in 1..12 {
        let again = vec![format!("*x{}", level - 1); 10].join(", ");
        let _ = write!(bomb, "\nx{level}: &x{level} [{again}]");
    }
    refused(&space, &object("settings", &bomb), &["yaml_body", "line"]);
    let deep = config_map_manifest("settings", &format!("{}a{}", "[".repeat(20_000), "]".repeat(20_000)));
    refused(&space, &object("settings", &deep), &["yaml_body"]);
    let circle = config_map_manifest("settings", "&a {a: *a}");
    refused(&space, &object("settings", &circle), &["yaml_body", "ine 4"]);
}

#[test]
fn a_kind_that_nobody_has() {
    let space = Space::new();
    let manifest = config_map_manifest("settings", "{}")
        .replace("v1\n", "nowhere.example.com/v1\n")
        .replace("ConfigMap", "Nothing");
    for (known, unknown) in [("v1\n", "apps/v1\n"), ("v1\n", "v1\n")] {
        let manifest = config_map_manifest("settings", "{}").replace(known, unknown).replace("ConfigMap", "ConfigMapp");
        refused(&space, &object("settings", &manifest), &["Kind is not known to the cluster", "yaml_body", "ine 2"]);
    }
    space.main(&object("settings", &manifest));
    // It may be defined by then, so that the plan leaves it open.
    space.plan().does(&["create k8sconnect_object.settings"]);
    let said = space.apply_fails();
    assert!(said.contains("Kind is not known to the cluster") && said.contains("nowhere.example.com/v1"), "{said}");
    assert!(space.find_stored("k8sconnect_object.settings").is_none());
}

#[test]
fn attributes_that_make_no_sense() {
    let space = Space::new();
    let good = config_map_manifest("settings", "{a: b}");
    let with = |more: &str| object_with("settings", more, &good);
    let cases = [
        ("ignore_fields = [\"data[\"]", "ignore_fields"),
        ("ignore_fields = [\"data[?(@.a==]\"]", "ignore_fields"),
        ("ignore_fields = [\"\"]", "ignore_fields"),
        ("delete_timeout = \"-5s\"", "delete_timeout"),
        ("delete_timeout = \"soon\"", "delete_timeout"),
        ("wait_for = { field = \"data.a\", timeout = \"-1s\" }", "timeout"),
        ("wait_for = { field = \"data[\" }", "field"),
        ("wait_for = { field = \"a\", ready = true }", "wait_for"),
        ("adopt = \"perhaps\"", "adopt"),
        ("delete_policy = \"never\"", "delete_policy"),
    ];
    for (more, expected) in cases {
        refused(&space, &with(more), &[expected]);
    }
}

#[test]
fn clusters_that_make_no_sense() {
    let space = Space::new();
    let good = object("settings", &config_map_manifest("settings", "{a: b}"));
    let cases = [
        ("{}", "No cluster is given"),
        ("{ kubeconfig = \"\" }", "Invalid kubeconfig"),
        ("{ kubeconfig = \"~/.kube/config\" }", "file("),
        ("{ kubeconfig = \"a: b\" }", "Invalid kubeconfig"),
        ("{ kubeconfig = \"a\", host = \"https://a\" }", "Cluster is given in several ways"),
        ("{ host = \"https://a\" }", "Credentials are missing"),
        ("{ host = \"a:6443\", insecure = true, token = \"t\" }", "Invalid URL"),
        ("{ host = \"https://a\", insecure = true, client_key = \"k\" }", "Client certificate is incomplete"),
        ("{ host = \"https://a\", cluster_ca_certificate = \"x\", token = \"t\" }", "Invalid PEM"),
    ];
    for (cluster, expected) in cases {
        refused(&space, &good.replace("local.cluster", cluster), &["cluster", expected]);
    }
    // Nowhere at all.
    refused(&space, &good.replace("  cluster = local.cluster\n", ""), &["No cluster is given"]);
}
