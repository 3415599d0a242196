//! `groma stack plan -f`: plans of Stacks that are not there yet, by which nothing is written.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::team::{Team, said};

const STACK: &str = r#"
apiVersion: groma.dev/v1alpha1
kind: Stack
metadata:
  name: app
spec:
  source:
    inline:
      main.tf: |
        variable "size" {
          type = number
        }
        variable "name" {
          type = string
        }
        resource "terraform_data" "a" {
          count = var.size
          input = var.name
        }
  inputs:
    values:
      size: 2
    varsFrom:
    - kind: ConfigMap
      name: settings
"#;

const SETTINGS: &str = "
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {name: from-the-file}
";

/// The version of every object of a namespace that could be written.
fn versions(team: &Team) -> BTreeMap<String, String> {
    let lists = [
        team.core("secrets", ""),
        team.core("configmaps", ""),
        team.core("events", ""),
        team.path("stacks", ""),
        team.path("runs", ""),
        format!("/apis/coordination.k8s.io/v1/namespaces/{}/leases", team.namespace),
    ];
    let mut found = BTreeMap::new();
    for list in lists {
        for object in team.api.get(&list)["items"].as_array().unwrap() {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let metadata = &object["metadata"];
            found.insert(format!("{list}/{}", text(&metadata["name"])), text(&metadata["resourceVersion"]));
        }
    }
    found
}

#[test]
fn a_stack_that_is_not_there_is_planned_and_nothing_is_written() {
    let team = Team::new();
    team.file("stack.yaml", STACK).file("settings.yaml", SETTINGS);
    let before = versions(&team);
    // What it refers to is nowhere.
    let told = team.fails(&["plan", "-f", "stack.yaml"]);
    assert!(told.contains("spec.inputs.varsFrom[0]: ConfigMap \"settings\" is not there"), "{told}");
    // It is in another file.
    let outcome = team.run(&["plan", "-f", "stack.yaml", "-f", "settings.yaml", "-detailed-exitcode"]);
    let told = said(&outcome);
    assert_eq!(outcome.code, 2, "{told}");
    assert!(told.contains("Plan: 2 to add") && told.contains("\"from-the-file\""), "{told}");
    assert_eq!(versions(&team), before);
    // It is in the cluster.
    let settings = json!({"metadata": {"name": "settings"}, "data": {"name": "from-the-cluster"}});
    team.api.create(&team.core("configmaps", ""), &settings);
    let before = versions(&team);
    assert!(team.succeeds(&["plan", "-f", "stack.yaml"]).contains("\"from-the-cluster\""));
    assert!(team.succeeds(&["plan", "-f", "stack.yaml", "-f", "settings.yaml"]).contains("\"from-the-file\""));
    assert_eq!(versions(&team), before);
}

#[test]
fn a_plan_is_made_against_the_state_as_it_is_even_if_it_is_locked() {
    let team = Team::new();
    team.file("stack.yaml", STACK).file("settings.yaml", SETTINGS);
    // Somebody has carried the same out, with the command line.
    let dir = team.sandbox();
    std::fs::create_dir(dir.path("work")).unwrap();
    let main = STACK.split("main.tf: |\n").nth(1).unwrap().split("  inputs:").next().unwrap();
    let backend = format!(
        "terraform {{\n  backend \"kubernetes\" {{\n    secret_suffix = \"app\"\n    namespace = {:?}\n    config_path = \"../kubeconfig\"\n  }}\n}}\n",
        team.namespace
    );
    team.file("work/main.tf", &format!("{backend}{main}"));
    team.file("work/terraform.tfvars", "size = 2\nname = \"from-the-file\"\n");
    for words in [&["-chdir=work", "init"][..], &["-chdir=work", "apply", "-auto-approve"]] {
        let outcome = dir.run(words);
        assert_eq!(outcome.code, 0, "{}", said(&outcome));
    }
    let leases = format!("/apis/coordination.k8s.io/v1/namespaces/{}/leases", team.namespace);
    team.api.edit(&format!("{leases}/lock-tfstate-default-app"), &json!({"spec": {"holderIdentity": "somebody"}}));
    let before = versions(&team);
    let words = ["plan", "-f", "stack.yaml", "-f", "settings.yaml", "-detailed-exitcode"];
    let outcome = team.run(&words);
    assert_eq!(outcome.code, 0, "{}", said(&outcome));
    team.file("stack.yaml", &STACK.replace("size: 2", "size: 1"));
    let outcome = team.run(&words);
    assert_eq!(outcome.code, 2, "{}", said(&outcome));
    assert!(said(&outcome).contains("1 to destroy"), "{}", said(&outcome));
    assert_eq!(versions(&team), before);
}

#[test]
fn what_is_wrong_with_files_is_told() {
    let team = Team::new();
    team.file("broken.yaml", "a: [");
    assert!(team.fails(&["plan", "-f", "broken.yaml"]).contains("Not objects of a cluster"));
    team.file("none.yaml", SETTINGS);
    assert!(team.fails(&["plan", "-f", "none.yaml"]).contains("There is no Stack in what was given."));
    team.file("unknown.yaml", &STACK.replace("  inputs:", "  imputs:"));
    assert!(team.fails(&["plan", "-f", "unknown.yaml"]).contains("imputs"));
    assert!(team.fails(&["plan", "-f", "nowhere.yaml"]).contains("nowhere.yaml"));
    let broken = STACK.replace("var.size", "var.sise").replace("  inputs:", "  path: .\n  inputs:");
    team.file("invalid.yaml", &broken).file("settings.yaml", SETTINGS);
    let told = team.fails(&["plan", "-f", "invalid.yaml", "-f", "settings.yaml"]);
    assert!(told.contains("sise") && told.contains("main.tf:8"), "{told}");
    // Programs are started only if the Stack allows it.
    let program = STACK.replace(
        "input = var.name",
        "input = var.name\n          provisioner \"local-exec\" {\n            command = \"true\"\n          }",
    );
    team.file("program.yaml", &program);
    assert_eq!(team.run(&["plan", "-f", "program.yaml", "-f", "settings.yaml"]).code, 0);
}
