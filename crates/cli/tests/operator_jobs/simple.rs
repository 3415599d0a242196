//! The document that this began with, with a Job for every run, as it is told there: in real pods, which have a Blueprint to say what they are like.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use groma_testkit::servers::kube;
use serde_json::{Value, json};

use crate::jobs::{jobs, pod};
use crate::kind::{BLUEPRINT, Kind, kind_with};
use crate::stage::Stage;

const NAME: &str = "simpleresource-sample";
const STACK: &str = "simpleresource-simpleresource-sample";
const SECRET: &str = "simpleresource-sample-simple-outputs";

/// A directory of this machine that pods write to, and can be looked into.
fn directory(stage: &Stage) -> PathBuf {
    let path = stage.path("files");
    fs::create_dir(&path).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
    path
}

/// What the pods of the Blueprint are like.
fn pod_with(directory: &Path) -> Value {
    let mut pod = pod();
    let volume = json!({"name": "files", "hostPath": {"path": directory, "type": "Directory"}});
    pod["spec"]["volumes"].as_array_mut().unwrap().push(volume);
    let mounts = pod["spec"]["containers"][0]["volumeMounts"].as_array_mut().unwrap();
    mounts.push(json!({"name": "files", "mountPath": "/files"}));
    pod["spec"]["containers"][0]["env"] = json!([{"name": "GROMA_FILES", "value": "/files"}]);
    pod["labels"] = json!({"team": "a"});
    pod
}

/// The newest Job whose name begins so, with its time behind it.
#[track_caller]
fn job(stage: &Stage, begin: &str) -> Value {
    let mut all = jobs(stage, STACK);
    all.retain(|job| job["metadata"]["name"].as_str().unwrap().starts_with(begin));
    all.sort_by_key(|job| job["metadata"]["name"].as_str().unwrap().to_owned());
    let job = all.pop().unwrap_or_else(|| panic!("no Job is called {begin}…"));
    let time = &job["metadata"]["name"].as_str().unwrap()[begin.len()..];
    let is_time = time.len() == 15
        && time.bytes().enumerate().all(|(at, byte)| (at == 8 && byte == b'-') || byte.is_ascii_digit());
    assert!(is_time, "{time}");
    job
}

/// It is ready, and its Secrets say what its status says: the value, and how often there was a run.
#[track_caller]
fn seen(kind: &Kind, stage: &Stage, at: &Stage) -> (String, usize) {
    let object = kind.phase(stage, &at.namespace, NAME, "Ready");
    let data = at.secret_data(SECRET);
    let keys: Vec<&str> = data.keys().map(String::as_str).collect();
    assert_eq!(keys, ["file_content", "file_path", "length", "random_value"]);
    assert_eq!(object["status"]["randomValue"], data["random_value"].as_str());
    assert_eq!(object["status"]["outputs"], json!(data));
    assert_eq!(object["status"]["filePath"], format!("/files/opr8r-{}-{NAME}.txt", at.namespace).as_str());
    assert_eq!(object["status"]["lastAppliedHash"].as_str().unwrap().len(), 64);
    assert_eq!(object["metadata"]["finalizers"], json!([kind.finalizer]));
    let job = job(at, &format!("terraform-apply-{NAME}-"));
    let labels = json!({"app": "terraform", "action": "apply", "infra.opr8r/simpleresource": NAME});
    for (label, value) in labels.as_object().unwrap() {
        assert_eq!(&job["metadata"]["labels"][label], value);
        assert_eq!(&job["spec"]["template"]["metadata"]["labels"][label], value);
    }
    assert_eq!(job["spec"]["template"]["metadata"]["labels"]["team"], "a");
    assert_eq!(job["spec"]["template"]["spec"]["serviceAccountName"], "terraform-executor");
    assert_eq!(job["spec"]["ttlSecondsAfterFinished"], 3600);
    let name = job["metadata"]["name"].as_str().unwrap();
    assert_eq!(at.secret_data(&format!("{name}-outputs")), data);
    let secret = at.api.get(&at.at("v1", "secrets", &format!("{name}-outputs")));
    assert_eq!(secret["metadata"]["ownerReferences"][0]["name"], name);
    (data["random_value"].clone(), at.runs(STACK).len())
}

/// Made in two namespaces, looked at, changed in one, taken away in one after the other.
#[test]
fn the_walkthrough_of_the_document_in_jobs() {
    let mut stage = Stage::idle_on(kube::shared_with_node(), &[]);
    let other = stage.beside_in_another_namespace();
    stage.also_in(&other.namespace);
    stage.start();
    let directory = directory(&stage);
    let kind = kind_with(&stage, BLUEPRINT, |spec| {
        spec["executor"] = json!("job");
        spec["podTemplate"] = pod_with(&directory);
        spec["values"] = json!({"wait": "1s", "directory": "/files"});
    });
    for at in [&stage, &other] {
        stage.api.create(&kind.at(&at.namespace, ""), &kind.sample(&at.namespace));
    }
    let (first, second) = (seen(&kind, &stage, &stage), seen(&kind, &stage, &other));
    assert_eq!((first.0.len(), first.1, second.0.len(), second.1), (16, 1, 16, 1));
    assert_ne!(first.0, second.0);
    let file = |at: &Stage| directory.join(format!("opr8r-{}-{NAME}.txt", at.namespace));
    for (at, (value, _)) in [(&stage, &first), (&other, &second)] {
        assert!(fs::read_to_string(file(at)).unwrap().contains(value));
    }
    stage.api.edit(&kind.at(&stage.namespace, NAME), &json!({"spec": {"length": 24}}));
    let changed = seen(&kind, &stage, &stage);
    assert_eq!((changed.0.len(), changed.1), (24, 2));
    assert_eq!(seen(&kind, &stage, &other), second);

    stage.api.delete(&kind.at(&stage.namespace, NAME));
    kind.gone(&stage, &stage.namespace, NAME);
    assert!(!file(&stage).exists() && file(&other).exists());
    for at in [&stage, &other] {
        let is_there = at.namespace == other.namespace;
        for name in [SECRET, &format!("tfstate-default-{STACK}")] {
            stage.until(&format!("{name} in {}", at.namespace), || {
                (stage.api.find(&at.at("v1", "secrets", name)).is_some() == is_there).then_some(())
            });
        }
    }
    assert_eq!(seen(&kind, &stage, &other), second);
    stage.api.delete(&kind.at(&other.namespace, NAME));
    kind.gone(&stage, &other.namespace, NAME);
    assert!(!file(&other).exists());
}
