//! Objects of tofu-controller on a real cluster: what they become, what is said about them, and how they are handed over.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::stage::{Stage, condition};

const VERSION: &str = "infra.contrib.fluxcd.io/v1alpha2";
const FINALIZER: &str = "finalizers.tf.contrib.fluxcd.io";

/// The program that the environment names.
#[expect(clippy::disallowed_methods, reason = "the peers are named by the environment")]
fn peer(variable: &str) -> PathBuf {
    std::env::var_os(variable).unwrap_or_else(|| panic!("{variable} is not set; run `cargo xtask test`")).into()
}

/// An operator that looks after objects of tofu-controller, on a cluster that knows them. Its lease would be in the namespace of the test.
fn stage() -> Stage {
    let mut stage = Stage::idle(&[]);
    let definition = groma_operator::install::terraform_definition();
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let (status, said) = stage.api.ask("POST", path, "application/json", Some(&definition)).unwrap();
    assert!(status == 201 || status == 409, "{said}");
    let at = stage.at(VERSION, "terraforms", "");
    // Just after it was made, the server may say that it is not ready for it.
    stage.until("the kind is known", || (stage.api.ask("GET", &at, "", None).unwrap().0 == 200).then_some(()));
    stage.looks_after_terraform();
    stage.start();
    stage
}

fn write(stage: &Stage, name: &str, metadata: &Value, more: &Value) {
    let mut spec = json!({"interval": "10m", "sourceRef": {"kind": "GitRepository", "name": "code"}});
    spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let mut object = json!({"apiVersion": VERSION, "kind": "Terraform", "metadata": {"name": name}, "spec": spec});
    object["metadata"].as_object_mut().unwrap().extend(metadata.as_object().unwrap().clone());
    stage.api.create(&stage.at(VERSION, "terraforms", ""), &object);
}

fn get(stage: &Stage, name: &str) -> Value {
    stage.api.get(&stage.at(VERSION, "terraforms", name))
}

fn says(stage: &Stage, name: &str, reason: &str) -> Value {
    stage.until(&format!("{name}: {reason}"), || {
        let object = get(stage, name);
        (condition(&object, "Ready")?["reason"] == reason).then_some(object)
    })
}

/// 013, 015, 016, 191: what cannot be had is said, and neither that nor a suspension is in the way when an object is to go.
#[test]
fn what_cannot_be_had_is_said_and_never_keeps_an_object() {
    let stage = stage();
    write(&stage, "gone", &json!({}), &json!({"approvePlan": "auto", "breakTheGlass": true}));
    write(&stage, "cloud", &json!({}), &json!({"cloud": {"organization": "o"}}));
    let elsewhere = json!({"sourceRef": {"kind": "GitRepository", "name": "code", "namespace": "default"}});
    write(&stage, "elsewhere", &json!({}), &elsewhere);
    let gone = says(&stage, "gone", "ArtifactFailed");
    assert_eq!(gone["metadata"]["finalizers"], json!([FINALIZER]));
    let lacks = condition(&gone, "Unsupported").unwrap();
    assert!(lacks["message"].as_str().unwrap().starts_with("spec.breakTheGlass: "), "{lacks}");
    assert_eq!(condition(&gone, "Stalled").unwrap()["status"], "True");
    let stack = stage.get("terraform--gone");
    assert_eq!(stack["spec"]["state"]["suffix"], "gone");
    assert_eq!(stack["metadata"]["ownerReferences"][0]["name"], "gone");
    says(&stage, "cloud", "Unsupported");
    says(&stage, "elsewhere", "AccessDenied");
    assert!(stage.api.find(&stage.at_stack("terraform--cloud")).is_none());
    let at = |name: &str| stage.at(VERSION, "terraforms", name);
    stage.api.edit(&at("gone"), &json!({"spec": {"suspend": true}}));
    for name in ["gone", "cloud", "elsewhere"] {
        stage.api.delete(&at(name));
        stage.until(&format!("{name} goes"), || stage.api.find(&at(name)).is_none().then_some(()));
    }
}

/// A state that OpenTofu itself has written is gone on with where it is, and nothing changes.
#[test]
fn a_state_of_opentofu_is_taken_over_in_place() {
    const MAIN: &str = "resource \"terraform_data\" \"it\" {\n  input = \"one\"\n}\noutput \"it\" {\n  value = terraform_data.it.output\n}\n";
    let stage = stage();
    let directory = stage.path("theirs");
    fs::create_dir(&directory).unwrap();
    fs::write(directory.join("main.tf"), MAIN).unwrap();
    let backend = format!(
        "terraform {{\n  backend \"kubernetes\" {{\n    secret_suffix = \"app\"\n    namespace = \"{}\"\n    config_path = \"{}\"\n  }}\n}}\n",
        stage.namespace,
        stage.path("kubeconfig").display()
    );
    fs::write(directory.join("backend_override.tf"), backend).unwrap();
    for words in [&["init", "-input=false"][..], &["apply", "-auto-approve", "-input=false"]] {
        let done = Command::new(peer("GROMA_TOFU")).args(words).current_dir(&directory).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }
    let secret = stage.at("v1", "secrets", "tfstate-default-app");
    let before = stage.api.get(&secret)["data"]["tfstate"].clone();
    // As tofu-controller leaves an object.
    write(&stage, "app", &json!({"finalizers": [FINALIZER]}), &json!({"approvePlan": "auto"}));
    let report = stage.until("a report with a plan", || {
        let told = stage.groma(&["migrate", "tofu-controller", "-n", &stage.namespace, "-o", "json"]).output().unwrap();
        assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
        let told: Value = serde_json::from_slice(&told.stdout).unwrap();
        (told["objects"][0]["plan"]["kind"] != "unknown").then_some(told["objects"][0].clone())
    });
    assert!(report["state"].as_str().unwrap().starts_with("can be read: 1 objects"), "{report}");
    assert_eq!(report["isOurs"], false);
    assert!(get(&stage, "app")["status"]["conditions"].is_null(), "nothing is written before it is handed over");
    // The same state, by the Stack that such an object becomes, with a configuration that is at hand.
    let spec =
        json!({"source": {"inline": {"main.tf": MAIN}}, "state": {"suffix": "app"}, "outputs": {"status": true}});
    stage.stack("as-it-becomes", spec);
    let stack = stage.ready("as-it-becomes");
    assert_eq!(crate::stage::message(&stack), "No changes: all is as it should be.");
    assert_eq!(stage.api.get(&secret)["data"]["tfstate"], before);
}
