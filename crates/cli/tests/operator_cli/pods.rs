//! Logs of Runs that have a Job, on a cluster with a node.

use groma_testkit::servers::kube::{self, POD_IMAGE};
use serde_json::{Value, json};

use crate::api::eventually;
use crate::team::{Team, install, plain, said};

#[test]
fn the_log_of_a_run_with_a_job_is_that_of_its_pod() {
    let reach = kube::shared_with_node();
    install(reach);
    let team = Team::on(reach);
    assert!(team.api.appears(&team.core("serviceaccounts", "default")), "pods have no account");
    team.stack("app", &plain(), &Value::Null);
    team.run_object("app", 1, &json!({"phase": "Planning"}));
    let pod = json!({
        "metadata": {"name": "app-1-x", "labels": {"groma.dev/run": "app-1"}},
        "spec": {
            "restartPolicy": "Never",
            "containers": [{"name": "run", "image": POD_IMAGE, "imagePullPolicy": "Never", "args": ["say", "it", "is", "applied"]}],
        },
    });
    team.api.create(&team.core("pods", ""), &pod);
    let is_over = || team.api.get(&team.core("pods", "app-1-x"))["status"]["phase"] == json!("Succeeded");
    assert!(eventually(is_over), "{}", team.api.get(&team.core("pods", "app-1-x"))["status"]);
    for words in [&["logs", "app"][..], &["logs", "app", "-f"]] {
        let outcome = team.run(words);
        assert_eq!(outcome.code, 0, "{}", said(&outcome));
        assert_eq!(outcome.stdout, "it is applied\n");
    }
}
