//! The document that this began with, as it is told there: a SimpleResource becomes a string, a file, a Secret and a status.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::json;

use crate::kind::{BLUEPRINT, TEMPLATE, kind};
use crate::stage::Stage;
use crate::tickets::events;

/// The walkthrough: made, looked at, changed, taken away.
#[test]
fn the_walkthrough_of_the_document() {
    let stage = Stage::new();
    let kind = kind(&stage, BLUEPRINT);
    let namespace = stage.namespace.clone();
    stage.api.create(&kind.at(&namespace, ""), &kind.sample(&namespace));
    let object = kind.phase(&stage, &namespace, "simpleresource-sample", "Ready");
    assert_eq!(object["metadata"]["finalizers"], json!([kind.finalizer]));
    let value = object["status"]["randomValue"].as_str().unwrap().to_owned();
    assert_eq!(value.len(), 16);
    assert_eq!(object["status"]["lastAppliedHash"].as_str().unwrap().len(), 64);
    let file = object["status"]["filePath"].as_str().unwrap().to_owned();
    assert!(fs::read_to_string(&file).unwrap().contains(&value));
    assert_eq!(object["status"]["outputs"]["random_value"], value.as_str());
    let name = "simpleresource-sample-simple-outputs";
    let secret = stage.api.get(&stage.at("v1", "secrets", name));
    assert_eq!(secret["metadata"]["ownerReferences"][0]["kind"], "SimpleResource");
    let data = stage.secret_data(name);
    let keys: Vec<&str> = data.keys().map(String::as_str).collect();
    assert_eq!(keys, ["file_content", "file_path", "length", "random_value"]);
    assert_eq!((data["random_value"].as_str(), data["length"].as_str()), (value.as_str(), "16"));

    stage.api.edit(&kind.at(&namespace, "simpleresource-sample"), &json!({"spec": {"length": 24}}));
    let changed = kind.phase(&stage, &namespace, "simpleresource-sample", "Ready");
    assert_eq!(changed["status"]["randomValue"].as_str().unwrap().len(), 24);
    assert_ne!(changed["status"]["lastAppliedHash"], object["status"]["lastAppliedHash"]);

    stage.api.delete(&kind.at(&namespace, "simpleresource-sample"));
    stage.until("it is gone", || stage.api.find(&kind.at(&namespace, "simpleresource-sample")).is_none().then_some(()));
    assert!(!Path::new(&file).exists());
}

/// The template as it is printed in the document, with keys and values that are no HCL; and its backend does not hold.
#[test]
fn the_template_of_the_document() {
    let stage = Stage::new();
    let kind = kind(&stage, TEMPLATE);
    let namespace = stage.namespace.clone();
    let evil = "\"}\nresource \"terraform_data\" \"evil\" {}\n${path.root}%{ if true }\\";
    let mut sample = kind.sample(&namespace);
    sample["spec"]["prefix"] = json!(evil);
    sample["spec"]["vars"] = json!({"special": "false", "upper": "false", evil: evil, "EOT\n}": "{{ .Name }}"});
    stage.api.create(&kind.at(&namespace, ""), &sample);
    let object = kind.phase(&stage, &namespace, "simpleresource-sample", "Ready");
    // What is harmless counts as it is written, whatever stands beside it.
    let value = object["status"]["randomValue"].as_str().unwrap();
    assert!(value.len() == 16 && value.chars().all(|at| at.is_ascii_lowercase() || at.is_ascii_digit()), "{value}");
    assert_eq!(object["status"]["outputs"], json!({"random_value": value}));
    let data = stage.secret_data("simpleresource-sample-simple-outputs");
    assert_eq!(json!(data), json!({"random_value": value}));
    let stack = stage.ready("simpleresource-simpleresource-sample");
    assert_eq!(stack["status"]["resources"], 1);
    let main = stack["spec"]["source"]["inline"]["main.tf"].as_str().unwrap();
    assert_eq!(main.lines().filter(|line| line.starts_with("resource ")).count(), 1, "{main}");
    assert!(main.contains("$${path.root}%%{ if true }") && main.contains("\"{{ .Name }}\""), "{main}");
    // The state is where the operator keeps it, and one Event says so.
    let told = stage.until("it is told", || {
        let told = events(&stage, "BackendOverridden");
        (!told.is_empty()).then_some(told)
    });
    assert!(told.len() == 1 && told[0].contains("local"), "{told:?}");
    let state = stage.at("v1", "secrets", "tfstate-default-simpleresource-simpleresource-sample");
    assert!(stage.api.find(&state).is_some());
    stage.api.delete(&kind.at(&namespace, "simpleresource-sample"));
    kind.gone(&stage, &namespace, "simpleresource-sample");
    assert!(stage.api.find(&state).is_none());
}

/// Two objects of one name in two namespaces have nothing to do with each other.
#[test]
fn objects_of_one_name_in_two_namespaces() {
    let mut stage = Stage::idle(&[]);
    let other = stage.beside_in_another_namespace();
    stage.also_in(&other.namespace);
    stage.start();
    let kind = kind(&stage, BLUEPRINT);
    let name = "simpleresource-sample";
    for (at, length) in [(&stage, 16), (&other, 20)] {
        let mut sample = kind.sample(&at.namespace);
        sample["spec"]["length"] = json!(length);
        stage.api.create(&kind.at(&at.namespace, ""), &sample);
    }
    let secret = "simpleresource-sample-simple-outputs";
    let seen = |at: &Stage| {
        let object = kind.phase(&stage, &at.namespace, name, "Ready");
        let data = at.secret_data(secret);
        assert_eq!(object["status"]["randomValue"], data["random_value"].as_str());
        let file = object["status"]["filePath"].as_str().unwrap().to_owned();
        assert!(fs::read_to_string(&file).unwrap().contains(&data["random_value"]));
        (data["random_value"].clone(), file)
    };
    let ((first, first_file), (second, second_file)) = (seen(&stage), seen(&other));
    assert_eq!((first.len(), second.len()), (16, 20));
    assert_ne!(first_file, second_file);
    // What is changed here changes nothing there.
    stage.api.edit(&kind.at(&stage.namespace, name), &json!({"spec": {"length": 24}}));
    assert_eq!(seen(&stage).0.len(), 24);
    assert_eq!(seen(&other), (second.clone(), second_file.clone()));
    stage.api.delete(&kind.at(&stage.namespace, name));
    kind.gone(&stage, &stage.namespace, name);
    stage.until("its Secret goes", || stage.api.find(&stage.at("v1", "secrets", secret)).is_none().then_some(()));
    assert!(!Path::new(&first_file).exists());
    assert_eq!(seen(&other), (second, second_file.clone()));
    assert_eq!(other.runs("simpleresource-simpleresource-sample").len(), 1);
    stage.api.delete(&kind.at(&other.namespace, name));
    kind.gone(&stage, &other.namespace, name);
    assert!(!Path::new(&second_file).exists());
}

/// What is wrong is refused, or told; and what is right again works by itself.
#[test]
fn a_wrong_object_is_told_and_mended() {
    let stage = Stage::new();
    let kind = kind(&stage, BLUEPRINT);
    let namespace = stage.namespace.clone();
    let mut sample = kind.sample(&namespace);
    sample["spec"]["length"] = json!(101);
    let (status, said) = stage.api.ask("POST", &kind.at(&namespace, ""), "application/json", Some(&sample)).unwrap();
    assert_eq!(status, 422, "{said}");
    sample["spec"]["length"] = json!(2);
    stage.api.create(&kind.at(&namespace, ""), &sample);
    // Two characters cannot be of four kinds; the provider says so.
    let ready = kind.phase(&stage, &namespace, "simpleresource-sample", "Ready");
    assert_eq!(ready["status"]["randomValue"].as_str().unwrap().len(), 2);
    stage.api.delete(&kind.at(&namespace, "simpleresource-sample"));
    stage.until("it is gone", || stage.api.find(&kind.at(&namespace, "simpleresource-sample")).is_none().then_some(()));
}

/// An operator that is killed again and again gets there, and never applies one plan twice.
#[test]
fn killed_at_any_time_it_gets_there() {
    let mut stage = Stage::new();
    let kind = kind(&stage, BLUEPRINT);
    let namespace = stage.namespace.clone();
    stage.api.create(&kind.at(&namespace, ""), &kind.sample(&namespace));
    for round in 0..8_u64 {
        std::thread::sleep(Duration::from_millis(40 + round * 90));
        stage.kill();
        stage.start();
    }
    let object = kind.phase(&stage, &namespace, "simpleresource-sample", "Ready");
    let runs = stage.api.get(&stage.at("groma.dev/v1alpha1", "runs", ""));
    let applied = runs["items"].as_array().unwrap().iter().filter(|run| run["status"]["phase"] == "Succeeded").count();
    assert!(applied >= 1, "{runs}");
    let value = object["status"]["randomValue"].as_str().unwrap();
    assert_eq!(stage.secret_data("simpleresource-sample-simple-outputs")["random_value"], value);
    stage.api.delete(&kind.at(&namespace, "simpleresource-sample"));
    for round in 0..4_u64 {
        std::thread::sleep(Duration::from_millis(30 + round * 110));
        stage.kill();
        stage.start();
    }
    stage.until("it is gone", || stage.api.find(&kind.at(&namespace, "simpleresource-sample")).is_none().then_some(()));
}

/// A namespace is deleted with an object in it: what it has made goes, too.
#[test]
fn its_namespace_can_be_deleted() {
    let stage = Stage::new();
    let kind = kind(&stage, BLUEPRINT);
    let namespace = stage.namespace.clone();
    stage.api.create(&kind.at(&namespace, ""), &kind.sample(&namespace));
    let object = kind.phase(&stage, &namespace, "simpleresource-sample", "Ready");
    let file = object["status"]["filePath"].as_str().unwrap().to_owned();
    let path = format!("/api/v1/namespaces/{namespace}");
    stage.api.delete(&path);
    stage.until("the namespace is gone", || stage.api.find(&path).is_none().then_some(()));
    assert!(!Path::new(&file).exists());
}
