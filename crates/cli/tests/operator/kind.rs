//! The kind of the document that this began with, `SimpleResource`, for one test.

use serde_json::{Value, json};

use crate::api::eventually;
use crate::stage::Stage;

const DEFINITION: &str = include_str!("../../../../deploy/simple-resource/crd.yaml");
pub(crate) const BLUEPRINT: &str = include_str!("../../../../deploy/simple-resource/blueprint.yaml");
pub(crate) const TEMPLATE: &str = include_str!("../../../../deploy/simple-resource/blueprint-template.yaml");
const SAMPLE: &str = include_str!("../../../../deploy/simple-resource/sample.yaml");

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

fn read(text: &str) -> Value {
    serde_saphyr::from_str(text).unwrap()
}

/// A kind and a Blueprint of one test. All tests share a cluster, and Blueprints are about all namespaces.
pub(crate) struct Kind {
    group: String,
    pub(crate) finalizer: String,
}

/// With the kind of the document, but in a group of the test.
pub(crate) fn kind(stage: &Stage, blueprint: &str) -> Kind {
    kind_with(stage, blueprint, |_| {})
}

/// The same, with a Blueprint that says something else, too.
pub(crate) fn kind_with(stage: &Stage, blueprint: &str, change: impl FnOnce(&mut Value)) -> Kind {
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
    change(&mut blueprint["spec"]);
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

    /// The sample, with this name.
    pub(crate) fn named(&self, namespace: &str, name: &str) -> Value {
        let mut sample = self.sample(namespace);
        sample["metadata"]["name"] = json!(name);
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

    #[track_caller]
    pub(crate) fn gone(&self, stage: &Stage, namespace: &str, name: &str) {
        stage.until(&format!("{namespace}/{name} is gone"), || {
            stage.api.find(&self.at(namespace, name)).is_none().then_some(())
        });
    }
}
