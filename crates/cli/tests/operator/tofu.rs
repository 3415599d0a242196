//! Objects of tofu-controller on a real cluster: what they become, what is said about them, and how they are handed over. Flux is not there; the
//! tests say what it has fetched. Numbers are those of tofu-controller's own tests.
//!
//! From the first artifact to the end in `lives`; plans that wait for somebody, or that nobody may carry out, in `agreed`; where values come from
//! in `values`; what tofu-controller and OpenTofu have left in `taken`.

#[path = "tofu/agreed.rs"]
mod agreed;
#[path = "../gitops/fetched.rs"]
mod fetched;
#[path = "tofu/lives.rs"]
mod lives;
#[path = "tofu/taken.rs"]
mod taken;
#[path = "tofu/values.rs"]
mod values;

use groma_testkit::servers::artifacts::ArtifactServer;
use serde_json::{Value, json};

use crate::stage::{Stage, condition};

const VERSION: &str = "infra.contrib.fluxcd.io/v1alpha2";
const FINALIZER: &str = "finalizers.tf.contrib.fluxcd.io";

/// What all objects are made from.
const SOURCE: &str = "code";
/// Something that is made from a text.
const MAIN: &str = "variable \"text\" {\n  default = \"one\"\n}\nresource \"terraform_data\" \"it\" {\n  input = var.text\n}\n\
                    output \"it\" {\n  value = terraform_data.it.output\n}\n";

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

/// The same, with a source that has nothing yet, and archives for it.
struct Rig {
    stage: Stage,
    server: ArtifactServer,
}

impl Rig {
    fn new() -> Self {
        let stage = stage();
        fetched::make_known(&stage);
        fetched::make_source(&stage, SOURCE);
        Self { stage, server: ArtifactServer::new() }
    }

    /// Flux has fetched these files as a revision.
    #[track_caller]
    fn has(&self, revision: &str, files: &[(&str, &str)]) {
        let name = revision.rsplit(':').next().unwrap();
        fetched::has(&self.stage, SOURCE, &self.server.publish(name, files), revision);
    }

    /// Writes an object that is made from what Flux has fetched.
    #[track_caller]
    fn write(&self, name: &str, more: &Value) {
        write(&self.stage, name, &json!({}), more);
    }

    #[track_caller]
    fn edit(&self, name: &str, spec: &Value) {
        self.stage.api.edit(&self.stage.at(VERSION, "terraforms", name), &json!({"spec": spec}));
    }

    #[track_caller]
    fn get(&self, name: &str) -> Value {
        get(&self.stage, name)
    }

    /// Waits until an object says this of itself, as it is written now.
    #[track_caller]
    fn says(&self, name: &str, (ready, reason, words): (&str, &str, &str)) -> Value {
        self.stage.until(&format!("{name}: {ready}, {reason}, {words:?}, after {}", self.get(name)["status"]), || {
            let object = self.get(name);
            let said = condition(&object, "Ready")?;
            let is_it =
                said["status"] == ready && said["reason"] == reason && said["message"].as_str()?.contains(words);
            (is_it && object["status"]["observedGeneration"] == object["metadata"]["generation"]).then_some(object)
        })
    }

    /// The Runs of an object.
    #[track_caller]
    fn runs(&self, name: &str) -> Vec<Value> {
        self.stage.runs(&format!("terraform--{name}"))
    }

    /// Deletes an object, and waits until it is gone.
    #[track_caller]
    fn delete(&self, name: &str) {
        let at = self.stage.at(VERSION, "terraforms", name);
        self.stage.api.delete(&at);
        self.stage.until(&format!("{name} goes"), || self.stage.api.find(&at).is_none().then_some(()));
    }

    /// What is in a Secret, if it is there.
    fn secret(&self, name: &str) -> Option<std::collections::BTreeMap<String, String>> {
        self.stage.api.find(&self.stage.at("v1", "secrets", name)).map(|_| self.stage.secret_data(name))
    }
}

fn write(stage: &Stage, name: &str, metadata: &Value, more: &Value) {
    let mut spec = json!({"interval": "10m", "sourceRef": {"kind": "GitRepository", "name": SOURCE}});
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
