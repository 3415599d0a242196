//! Fields of Stacks in real pods: several Stacks at once, since a node is slow to begin and has room for all of them.

use groma_testkit::servers::kube;
use serde_json::{Value, json};

use crate::jobs::{jobs, pod};
use crate::stage::{Stage, condition, message};

fn slow(length: &str) -> String {
    format!("resource \"time_sleep\" \"it\" {{\n  create_duration = {length:?}\n}}\n")
}

/// A Stack whose pods are those of this machine, with something else.
fn stack(stage: &Stage, name: &str, main: &str, more: Value) {
    let mut spec = json!({"source": {"inline": {"main.tf": main}}, "podTemplate": pod(), "outputs": {"status": true}});
    spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    stage.stack(name, spec);
}

/// Lets an account of the namespace work on runs, as its owner would.
fn account(stage: &Stage, name: &str) {
    stage.api.create(&stage.at("v1", "serviceaccounts", ""), &json!({"metadata": {"name": name}}));
    let binding = json!({
        "metadata": {"name": name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "groma-runner"},
        "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": stage.namespace}],
    });
    stage.api.create(&stage.at("rbac.authorization.k8s.io/v1", "rolebindings", ""), &binding);
}

#[test]
fn fields_are_honoured_in_pods() {
    let reach = kube::shared_with_node();
    let stage = Stage::on(reach, &["-executor", "job"]);
    let server = reach.url.trim_start_matches("https://").to_owned();
    let closed = format!("{}:1", server.rsplit_once(':').unwrap().0);
    stage.secret("words", &json!({"word": "from a secret", "pem": "PRIVATE"}));
    account(&stage, "builder");

    stack(&stage, "limited", &slow("60s"), json!({"timeouts": {"apply": "1s"}, "retry": {"limit": 1}}));
    stack(&stage, "cancelled", &slow("60s"), json!({"retry": {"limit": 1}}));
    let main = "variable \"word\" {\n}\noutput \"it\" {\n  value = \"${nonsensitive(var.word)} ${file(\"keys/key.pem\")}\"\n}\n";
    let key = |key: &str| json!({"secretKeyRef": {"name": "words", "key": key}});
    let inputs = json!({
        "env": [{"name": "TF_VAR_word", "valueFrom": key("word")}],
        "files": [{"path": "keys/key.pem", "valueFrom": key("pem")}],
    });
    stack(&stage, "inputs", main, json!({"inputs": inputs, "serviceAccountName": "builder"}));
    let door =
        || json!({"healthChecks": [{"name": "door", "tcp": "${address}", "timeout": "2s"}], "retry": {"limit": 1}});
    let output = |address: &str| format!("output \"address\" {{\n  value = {address:?}\n}}\n");
    stack(&stage, "open", &output(&server), door());
    stack(&stage, "closed", &output(&closed), door());

    let run = stage.until("it is applied", || {
        stage.runs("cancelled").first().filter(|run| run["status"]["phase"] == "Applying").cloned()
    });
    let name = run["metadata"]["name"].as_str().unwrap();
    stage.api.edit(&stage.at("groma.dev/v1alpha1", "runs", name), &json!({"spec": {"cancel": true}}));
    stage.until("it is cancelled", || {
        (stage.runs("cancelled").first()?["status"]["phase"] == "Cancelled").then_some(())
    });

    let stack = stage.says("limited", "False", "Timeout");
    assert!(message(&stack).contains("Applying took longer than it may"), "{}", message(&stack));
    let stack = stage.ready("inputs");
    assert_eq!(stack["status"]["outputs"]["it"], "from a secret PRIVATE");
    assert_eq!(jobs(&stage, "inputs")[0]["spec"]["template"]["spec"]["serviceAccountName"], "builder");
    stage.ready("open");
    let stack = stage.says("closed", "False", "NotReady");
    assert!(message(&stack).contains("Health check \"door\""), "{}", message(&stack));

    // What was wrong is right again, and locks of what was ended are nobody's.
    let quick = json!({"spec": {"source": {"inline": {"main.tf": slow("1s")}}, "timeouts": null}});
    stage.edit("limited", &quick);
    stage.edit("cancelled", &quick);
    stage.edit("closed", &json!({"spec": {"healthChecks": null}}));
    for name in ["limited", "cancelled", "closed"] {
        stage.ready(name);
        assert_eq!(condition(&stage.get(name), "Stalled"), None);
    }
}
