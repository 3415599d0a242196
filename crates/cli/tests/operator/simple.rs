//! The document that this began with, as it is told there: a SimpleResource becomes a string, a file, a Secret and a status.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};

use crate::api::eventually;
use crate::stage::Stage;

const DEFINITION: &str = include_str!("../../../../deploy/simple-resource/crd.yaml");
pub(crate) const BLUEPRINT: &str = include_str!("../../../../deploy/simple-resource/blueprint.yaml");
const TEMPLATE: &str = include_str!("../../../../deploy/simple-resource/blueprint-template.yaml");
const SAMPLE: &str = include_str!("../../../../deploy/simple-resource/sample.yaml");

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

fn read(text: &str) -> Value {
    serde_saphyr::from_str(text).unwrap()
}

/// A kind and a Blueprint of one test. All tests share a cluster, and Blueprints are about all namespaces.
pub(crate) struct Kind {
    group: String,
    finalizer: String,
}

/// With the kind of the document, but in a group of the test.
pub(crate) fn kind(stage: &Stage, blueprint: &str) -> Kind {
    let group = format!("{}.opr8r", stage.namespace);
    let mut definition = read(DEFINITION);
    definition["metadata"]["name"] = json!(format!("simpleresources.{group}"));
    definition["spec"]["group"] = json!(group);
    stage.api.create(DEFINITIONS, &definition);
    let path = format!("{DEFINITIONS}/simpleresources.{group}");
    let is_established = || {
        let conditions = stage.api.get(&path)["status"]["conditions"].clone();
        conditions
            .as_array()
            .into_iter()
            .flatten()
            .any(|known| known["type"] == "Established" && known["status"] == "True")
    };
    assert!(eventually(is_established));
    let mut blueprint = read(blueprint);
    blueprint["metadata"]["name"] = json!(stage.namespace);
    blueprint["spec"]["for"]["apiVersion"] = json!(format!("{group}/v1alpha1"));
    if !blueprint["spec"]["values"].is_null() {
        blueprint["spec"]["values"] = json!({"wait": "1s", "directory": stage.path("")});
    }
    let finalizer = blueprint["spec"]["finalizer"].as_str().unwrap().to_owned();
    stage.api.create("/apis/groma.dev/v1alpha1/blueprints", &blueprint);
    Kind { group, finalizer }
}

impl Kind {
    pub(crate) fn at(&self, namespace: &str, name: &str) -> String {
        let path = format!("/apis/{}/v1alpha1/namespaces/{namespace}/simpleresources/{name}", self.group);
        path.trim_end_matches('/').to_owned()
    }

    pub(crate) fn sample(&self, namespace: &str) -> Value {
        let mut sample = read(SAMPLE);
        sample["apiVersion"] = json!(format!("{}/v1alpha1", self.group));
        sample["metadata"]["namespace"] = json!(namespace);
        sample
    }

    #[track_caller]
    pub(crate) fn phase(&self, stage: &Stage, namespace: &str, name: &str, phase: &str) -> Value {
        stage.until(&format!("{namespace}/{name} {phase}"), || {
            let object = stage.api.get(&self.at(namespace, name));
            let is_current = object["status"]["observedGeneration"] == object["metadata"]["generation"];
            (object["status"]["phase"] == phase && is_current).then_some(object)
        })
    }
}

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
    assert!(!std::path::Path::new(&file).exists());
}

/// The template as it is printed in the document, with values that are no HCL.
#[test]
fn the_template_of_the_document() {
    let stage = Stage::new();
    let kind = kind(&stage, TEMPLATE);
    let namespace = stage.namespace.clone();
    let mut sample = kind.sample(&namespace);
    sample["spec"]["prefix"] = json!("\"}\nresource \"null_resource\" \"evil\" {}\n${path.root}");
    stage.api.create(&kind.at(&namespace, ""), &sample);
    let stack = stage.until("its run", || {
        stage.runs("simpleresource-sample").first().cloned().or_else(|| {
            let runs = stage.api.get(&stage.at("groma.dev/v1alpha1", "runs", ""));
            runs["items"].as_array()?.first().cloned()
        })
    });
    let name = stack["metadata"]["name"].as_str().unwrap().to_owned();
    let run = stage.until("its plan", || {
        let run = stage.api.get(&stage.at("groma.dev/v1alpha1", "runs", &name));
        run["status"]["plan"].is_object().then_some(run)
    });
    let text = run["status"]["plan"]["text"].as_str().unwrap();
    assert!(text.contains("random_string") && !text.contains("null_resource.evil"), "{text}");
    stage.api.delete(&kind.at(&namespace, "simpleresource-sample"));
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
    assert!(!std::path::Path::new(&file).exists());
}
