//! Namespaces that are deleted with Stacks in them: they end, and what the Stacks have made is gone. Nothing can be made there any more, and
//! everything else in them is deleted at the same time.

use std::fs;
use std::path::Path;
use std::time::Duration;

use groma_testkit::servers::kube;
use serde_json::{Value, json};

use crate::security::operator_token;
use crate::stage::{Stage, condition};

/// A file, and something after it that takes so long to make and to take down.
fn slow(path: &Path, made: &str, taken_down: &str) -> Value {
    let main = format!(
        "variable \"text\" {{\n  default = \"words\"\n}}\n\
         resource \"local_file\" \"it\" {{\n  filename = \"{}\"\n  content  = var.text\n}}\n\
         resource \"time_sleep\" \"it\" {{\n  create_duration  = \"{made}\"\n  destroy_duration = \"{taken_down}\"\n  \
         triggers = {{ it = local_file.it.id }}\n}}\n",
        path.display()
    );
    json!({"source": {"inline": {"main.tf": main}}})
}

fn delete_namespace(stage: &Stage) {
    stage.api.delete(&format!("/api/v1/namespaces/{}", stage.namespace));
}

#[track_caller]
fn namespace_ends(stage: &Stage) {
    let path = format!("/api/v1/namespaces/{}", stage.namespace);
    stage.until("the namespace is gone", || stage.api.find(&path).is_none().then_some(()));
}

#[test]
fn a_namespace_with_stacks_ends() {
    let stage = Stage::new();
    let paths: Vec<_> = (0..3).map(|number| stage.path(&format!("file-{number}"))).collect();
    stage.secret("vars", &json!({"text": "secret"}));
    let code = slow(&paths[0], "0s", "0s")["source"]["inline"].clone();
    stage.config_map("code", &code);
    // One whose source and values go with the namespace, one that depends on another, and one that is suspended.
    let inputs = json!({"varsFrom": [{"kind": "Secret", "name": "vars"}]});
    stage.stack("it-0", json!({"source": {"configMap": {"name": "code"}}, "inputs": inputs}));
    let mut spec = slow(&paths[1], "0s", "0s");
    spec["dependsOn"] = json!([{"name": "it-0"}]);
    spec["outputs"] = json!({"secret": {"name": "out"}});
    stage.stack("it-1", spec);
    stage.stack("it-2", slow(&paths[2], "0s", "0s"));
    (0..3).for_each(|number| drop(stage.ready(&format!("it-{number}"))));
    stage.edit("it-2", &json!({"spec": {"suspend": true}}));
    assert!(paths.iter().all(|path| path.exists()));
    delete_namespace(&stage);
    namespace_ends(&stage);
    assert!(!paths.iter().any(|path| path.exists()), "{}", stage.log());
}

#[test]
fn a_namespace_ends_while_something_is_made() {
    let stage = Stage::new();
    let path = stage.path("file");
    stage.stack("it", slow(&path, "3s", "0s"));
    stage.until("it is made", || path.exists().then_some(()));
    delete_namespace(&stage);
    namespace_ends(&stage);
    assert!(!path.exists(), "{}", stage.log());
}

#[test]
fn a_namespace_ends_after_the_operator_was_killed_while_something_was_made() {
    let mut stage = Stage::new();
    let path = stage.path("file");
    stage.stack("it", slow(&path, "60s", "0s"));
    stage.until("it is made", || path.exists().then_some(()));
    // What is made is written down before anything else is made.
    stage.until("the rest begins", || {
        let all = stage.api.get(&stage.at("v1", "secrets", ""));
        let is_journal = |secret: &&Value| secret["metadata"]["labels"]["groma.dev/journal"].is_string();
        (all["items"].as_array().unwrap().iter().filter(is_journal).count() >= 3).then_some(())
    });
    stage.kill();
    delete_namespace(&stage);
    stage.until("everything else is gone", || stage.runs("it").is_empty().then_some(()));
    stage.start();
    namespace_ends(&stage);
    assert!(!path.exists(), "{}", stage.log());
}

#[test]
fn a_namespace_ends_although_the_operator_is_killed_meanwhile() {
    let mut stage = Stage::new();
    let path = stage.path("file");
    stage.stack("it", slow(&path, "0s", "2s"));
    stage.ready("it");
    delete_namespace(&stage);
    stage.until("it is taken down", || {
        let ready = condition(&stage.get("it"), "Ready")?;
        ready["message"].as_str()?.contains("Applying").then_some(())
    });
    stage.kill();
    assert!(path.exists());
    stage.start();
    namespace_ends(&stage);
    assert!(!path.exists(), "{}", stage.log());
}

#[test]
fn a_namespace_with_what_is_to_stay_ends() {
    for policy in ["retain", "orphan"] {
        let stage = Stage::new();
        let path = stage.path("file");
        let mut spec = slow(&path, "0s", "0s");
        spec["deletionPolicy"] = json!(policy);
        stage.stack("it", spec);
        stage.ready("it");
        delete_namespace(&stage);
        namespace_ends(&stage);
        assert!(path.exists(), "{policy}");
    }
}

/// What has made nothing has nothing to take down, even if that could not be done.
#[test]
fn a_namespace_with_stacks_that_never_worked_ends() {
    let stage = Stage::new();
    // One that waits for somebody, one whose plan fails, and one that is no configuration.
    let mut waits = slow(&stage.path("file"), "0s", "0s");
    waits["approval"] = json!({"mode": "manual"});
    stage.stack("waits", waits);
    let fails = "data \"local_file\" \"it\" {\n  filename = \"missing\"\n}\n\
                 resource \"terraform_data\" \"it\" {\n  input = data.local_file.it.content\n}\n";
    stage.inline("fails", fails);
    stage.inline("bad", "bad");
    stage.says("waits", "Unknown", "AwaitingApproval");
    for name in ["fails", "bad"] {
        stage.until("it fails", || (condition(&stage.get(name), "Ready")?["status"] == "False").then_some(()));
    }
    delete_namespace(&stage);
    namespace_ends(&stage);
}

/// With what it is installed with, and nothing else.
#[test]
fn a_namespace_ends_with_the_rights_that_the_operator_is_given() {
    let reach = kube::shared_with_controllers();
    let mut stage = Stage::idle(&[]);
    let token = operator_token(&stage.api, false);
    fs::write(stage.path("kubeconfig"), reach.kubeconfig_text(&token).unwrap()).unwrap();
    stage.start();
    let path = stage.path("file");
    stage.stack("it", slow(&path, "0s", "0s"));
    stage.ready("it");
    delete_namespace(&stage);
    namespace_ends(&stage);
    assert!(!path.exists(), "{}", stage.log());
}

/// The Secrets of a namespace that would keep it.
fn kept(stage: &Stage) -> Vec<String> {
    let all = stage.api.get(&stage.at("v1", "secrets", ""));
    let kept = all["items"].as_array().unwrap().iter().filter(|secret| !secret["metadata"]["finalizers"].is_null());
    kept.map(|secret| secret["metadata"]["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_stack_that_is_removed_by_force_leaves_nothing_behind_that_keeps_its_namespace() {
    let mut stage = Stage::new();
    let remove = |stage: &Stage, name: &str| {
        stage.api.delete(&stage.at_stack(name));
        stage.edit(name, &json!({"metadata": {"finalizers": null}}));
        stage.gone(name);
    };
    for name in ["one", "two"] {
        let mut spec = slow(&stage.path(name), "0s", "60s");
        spec["timeouts"] = json!({"destroy": "1m"});
        stage.stack(name, spec);
        stage.ready(name);
    }
    assert!(kept(&stage).iter().any(|name| name == "tfstate-default-one"), "{:?}", kept(&stage));
    remove(&stage, "one");
    stage.until("nothing is kept for it", || (!kept(&stage).iter().any(|name| name.contains("one"))).then_some(()));
    assert!(stage.api.find(&stage.at("v1", "secrets", "tfstate-default-one")).is_some());
    // And while nobody works.
    stage.kill();
    remove(&stage, "two");
    assert!(!kept(&stage).is_empty());
    stage.start();
    stage.until("nothing is kept", || kept(&stage).is_empty().then_some(()));
    delete_namespace(&stage);
    namespace_ends(&stage);
}

#[test]
fn what_is_kept_can_be_deleted_by_hand_while_the_namespace_stays() {
    let stage = Stage::new();
    stage.stack("it", slow(&stage.path("file"), "0s", "0s"));
    stage.ready("it");
    for name in kept(&stage) {
        let path = stage.at("v1", "secrets", &name);
        stage.api.delete(&path);
        stage.until(&format!("{name} goes"), || stage.api.find(&path).is_none().then_some(()));
    }
    std::thread::sleep(Duration::from_millis(200));
    stage.edit("it", &json!({"spec": {"inputs": {"values": {"text": "other"}}}}));
    // It is their right; but what was in it is not made again before somebody agrees.
    let lost = stage.says("it", "False", "StateLost");
    let agreed = json!({"metadata": {"annotations": {"groma.dev/approve": lost["status"]["pending"]["plan"]}}});
    stage.edit("it", &agreed);
    stage.ready("it");
    assert!(kept(&stage).iter().any(|name| name == "tfstate-default-it"));
    stage.delete("it");
    assert_eq!(kept(&stage), Vec::<String>::new());
}
