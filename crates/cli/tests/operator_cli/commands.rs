//! Every command of `groma stack`, on objects as the operator writes them.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::api::eventually;
use crate::team::{Team, plain, ready, said};

const PLAN: &str = "plan-0123456789abcdef0123456789abcdef";

/// A Stack that waits for somebody to agree to its second Run.
fn waiting() -> Team {
    let team = Team::new();
    let status = json!({
        "conditions": ready("False", "AwaitingApproval", "Somebody has to agree to the plan"),
        "pending": {"plan": PLAN, "run": "app-2", "changes": {"add": 1, "change": 2, "destroy": 3}},
        "lastRun": {"name": "app-2", "number": 2, "phase": "AwaitingApproval"},
        "resources": 4,
    });
    team.stack("app", &plain(), &status);
    team.run_object("app", 1, &json!({"phase": "Succeeded", "done": {"add": 4, "change": 0, "destroy": 0}}));
    let text = "\ngroma will perform the following actions:\n\n  + thing\n";
    team.run_object(
        "app",
        2,
        &json!({
            "phase": "AwaitingApproval", "message": "Somebody has to agree to a.b",
            "plan": {"id": PLAN, "text": text}, "planned": {"add": 1, "change": 2, "destroy": 3},
            "phases": [{"phase": "Planning", "began": "2026-01-01T00:00:00Z", "took": "3s"}],
        }),
    );
    team
}

#[test]
fn stacks_are_listed() {
    let team = waiting();
    let told = team.succeeds(&["get"]);
    assert!(told.starts_with("NAME READY PLAN RUN AGE STATUS app False +1 ~2 -3 2 AwaitingApproval"), "{told}");
    assert!(told.ends_with("Somebody has to agree to the plan"), "{told}");
    let all = team.succeeds(&["get", "-A"]);
    assert!(all.contains(&format!("{} app False", team.namespace)), "{all}");
    let list: Value = serde_json::from_str(&team.run(&["get", "-json"]).stdout).unwrap();
    assert_eq!(list["items"][0]["status"]["pending"]["plan"], PLAN);
    let one = team.sandbox().run(&["stack", "get", &format!("{}/app", team.namespace)]);
    assert_eq!(one.code, 0, "{}", one.stderr);
    assert!(said(&Team::new().run(&["get"])).starts_with("There are no Stacks in the namespace"));
}

#[test]
fn one_is_described() {
    let team = waiting();
    let told = team.succeeds(&["describe", "app"]);
    for expected in [
        "Approval: manual",
        "Resources: 4",
        "Ready False AwaitingApproval",
        &format!("{PLAN} (+1 ~2 -3) of app-2"),
        &format!("groma stack approve {}/app {PLAN}", team.namespace),
        "app-2 AwaitingApproval: Somebody has to agree to a.b",
        "app-1 apply Succeeded +4 ~0 -0",
    ] {
        assert!(told.contains(expected), "{expected:?} is not in: {told}");
    }
    let json: Value = serde_json::from_str(&team.run(&["describe", "app", "-json"]).stdout).unwrap();
    assert_eq!(json["runs"].as_array().unwrap().len(), 2);
}

#[test]
fn the_plan_that_waits_is_shown() {
    let team = waiting();
    let told = team.succeeds(&["plan", "app"]);
    assert!(
        told.starts_with(&format!("{PLAN} (+1 ~2 -3) of app-2, AwaitingApproval")) && told.ends_with("+ thing"),
        "{told}"
    );
    assert_eq!(team.run(&["plan", "app", "-detailed-exitcode"]).code, 2);
    team.stack("new", &plain(), &Value::Null);
    assert!(team.fails(&["plan", "new"]).contains("No plan has been made of the Stack \"new\" yet."));
}

fn annotation(team: &Team, name: &str) -> Value {
    team.api.get(&team.path("stacks", "app"))["metadata"]["annotations"][name].clone()
}

#[test]
fn a_plan_is_agreed_to_by_its_whole_id() {
    let team = waiting().with_ana();
    for wrong in ["plan-other", &PLAN[..20], ""] {
        let told = team.fails(&["approve", "app", wrong]);
        assert!(told.contains("Not the plan that waits") && told.contains(PLAN), "{told}");
    }
    // Nobody is there to be asked.
    let told = team.fails(&["approve", "app"]);
    assert!(told.contains(&format!("The plan that waits is {PLAN}: give its id.")), "{told}");
    assert_eq!(annotation(&team, "groma.dev/approve"), Value::Null);
    // The policy of the cluster has nothing against it.
    let done = team.run_as("ana", &["approve", "app", PLAN]);
    assert_eq!(done.code, 0, "{}", said(&done));
    assert!(said(&done).contains(&format!("ana has agreed to {PLAN} of {}/app.", team.namespace)), "{}", said(&done));
    assert_eq!(annotation(&team, "groma.dev/approve"), PLAN);
    assert_eq!(annotation(&team, "groma.dev/approved-by"), "ana");
    team.stack("idle", &plain(), &Value::Null);
    assert!(team.fails(&["approve", "idle", PLAN]).contains("No plan waits"));
}

#[test]
fn runs_are_asked_for() {
    let team = waiting();
    team.succeeds(&["reconcile", "app"]);
    let first = annotation(&team, "groma.dev/requested-at");
    team.succeeds(&["reconcile", "app"]);
    assert_ne!(annotation(&team, "groma.dev/requested-at"), first);
    let told = team.fails(&["reconcile", "app", "-wait", "-timeout=1s"]);
    assert!(told.contains("It was not done within 1s."), "{told}");
}

#[test]
fn who_asks_for_a_run_may_wait_for_it() {
    let team = waiting();
    for (ready_now, code) in [("True", 0), ("False", 1)] {
        let before = annotation(&team, "groma.dev/requested-at");
        let words = ["stack", "reconcile", "app", "-wait", "-timeout=1m", "-n", &team.namespace];
        let running = team.sandbox().begin(&words);
        let is_asked = || annotation(&team, "groma.dev/requested-at") != before;
        assert!(eventually(is_asked), "nothing was asked for");
        let status = json!({
            "conditions": ready(ready_now, "Done", "It is done"), "pending": null,
            "lastRun": {"name": "app-3", "number": 3, "phase": "Succeeded"},
            "lastHandledReconcileAt": annotation(&team, "groma.dev/requested-at"),
        });
        team.api.set_status(&team.path("stacks", "app"), &status);
        let outcome = running.end();
        assert_eq!(outcome.code, code, "{}", said(&outcome));
        assert!(said(&outcome).ends_with("It is done"), "{}", said(&outcome));
    }
}

#[test]
fn stacks_are_suspended_and_resumed() {
    let team = waiting();
    let suspended = || team.api.get(&team.path("stacks", "app"))["spec"]["suspend"].clone();
    team.succeeds(&["suspend", "app"]);
    assert_eq!(suspended(), json!(true));
    assert!(team.succeeds(&["get"]).contains("app False (suspended)"));
    team.succeeds(&["resume", "app"]);
    assert_eq!(suspended(), json!(false));
}

#[test]
fn a_run_is_cancelled() {
    let team = waiting();
    let told = team.succeeds(&["cancel", "app"]);
    assert!(told.contains("/app-2 (AwaitingApproval) is to end."), "{told}");
    assert_eq!(team.api.get(&team.path("runs", "app-2"))["spec"]["cancel"], json!(true));
    assert_eq!(team.api.get(&team.path("runs", "app-1"))["spec"]["cancel"], Value::Null);
    team.api.set_status(&team.path("runs", "app-2"), &json!({"phase": "Cancelled"}));
    assert!(team.fails(&["cancel", "app"]).contains("No Run of the Stack \"app\" is under way."));
}

#[test]
fn the_tree_shows_who_needs_whom() {
    let team = Team::new();
    let with = |needs: Value| {
        let mut spec = plain();
        spec["dependsOn"] = needs;
        spec
    };
    team.stack("network", &plain(), &json!({"conditions": ready("True", "Ready", "")}));
    team.stack("database", &with(json!([{"name": "network"}])), &Value::Null);
    team.stack("app", &with(json!([{"name": "database"}, {"name": "gone"}])), &Value::Null);
    let outcome = team.run(&["tree"]);
    assert_eq!(outcome.stdout, "network  True\n└─ database  -\n   └─ app  -\ngone (is not there)\n└─ app  -\n");
}

#[test]
fn events_of_a_stack_and_its_runs_are_told_in_their_order() {
    let team = waiting();
    let event = |kind: &str, name: &str, reason: &str, time: &str| {
        let event = json!({
            "metadata": {"generateName": "e."},
            "involvedObject": {
                "apiVersion": "groma.dev/v1alpha1", "kind": kind, "name": name, "namespace": team.namespace,
            },
            "type": "Normal", "reason": reason, "message": "m", "lastTimestamp": time, "firstTimestamp": time,
        });
        team.api.create(&team.core("events", ""), &event);
    };
    assert!(team.succeeds(&["events", "app"]).contains("Nothing was told about"));
    event("Run", "app-2", "Second", "2026-01-01T00:02:00Z");
    event("Stack", "app", "First", "2026-01-01T00:01:00Z");
    event("Stack", "other", "Third", "2026-01-01T00:03:00Z");
    let told = team.succeeds(&["events", "app"]);
    let at = |word: &str| told.find(word);
    assert!(at("First").unwrap() < at("Second").unwrap() && at("Third").is_none(), "{told}");
    assert!(team.fails(&["events", "nobody"]).contains("No such Stack"));
}

#[test]
fn logs_are_those_of_the_run() {
    let team = waiting();
    let told = team.succeeds(&["logs", "app"]);
    assert!(told.starts_with("2026-01-01T00:00:00Z Planning app-2 AwaitingApproval: Somebody has to agree"), "{told}");
    assert!(team.succeeds(&["logs", "app", "-run=app-1"]).contains("app-1 Succeeded"));
    assert!(team.fails(&["logs", "app", "-run=app-9"]).contains("The Stack \"app\" has no Run \"app-9\"."));
    let running = team.sandbox().begin(&["stack", "logs", "app", "-f", "-n", &team.namespace]);
    let failed = json!({
        "phase": "Failed", "message": "It is refused",
        "phases": [
            {"phase": "Planning", "began": "2026-01-01T00:00:00Z", "took": "3s"},
            {"phase": "Applying", "began": "2026-01-01T00:00:03Z", "took": "1s"},
        ],
        "diagnostics": [{"severity": "error", "summary": "Refused", "detail": "It may not be so.", "address": "a.b"}],
    });
    team.api.set_status(&team.path("runs", "app-2"), &failed);
    let outcome = running.end();
    assert_eq!(outcome.code, 0, "{}", said(&outcome));
    let told = said(&outcome);
    assert!(told.contains("Applying") && told.ends_with("error: Refused (a.b) It may not be so."), "{told}");
    assert_eq!(told.matches("Planning").count(), 1, "{told}");
}

#[test]
fn outputs_are_shown_and_hidden() {
    let team = Team::new();
    let mut spec = plain();
    spec["outputs"] = json!({"secret": {"name": "all"}, "status": true});
    let status = json!({"availableOutputs": ["token", "url", "ports"], "outputs": {"url": "http://x"}});
    team.stack("app", &spec, &status);
    assert_eq!(team.succeeds(&["outputs", "app"]), "NAME VALUE url http://x");
    let data = json!({"token": "s3cret", "url": "http://x", "ports": "[80]", "ports__type": "[\"list\",\"number\"]"});
    team.api.create(&team.core("secrets", ""), &json!({"metadata": {"name": "all"}, "stringData": data}));
    let told = team.succeeds(&["outputs", "app"]);
    assert_eq!(told, "NAME VALUE ports (sensitive value) token (sensitive value) url http://x");
    assert!(!team.run(&["outputs", "app", "-json"]).stdout.contains("s3cret"));
    // The operator says which are.
    let marks = json!({"metadata": {"annotations": {"groma.dev/sensitive-keys": "token"}}});
    team.api.edit(&team.core("secrets", "all"), &marks);
    assert_eq!(team.succeeds(&["outputs", "app"]), "NAME VALUE ports [80] token (sensitive value) url http://x");
    let shown: Value = serde_json::from_str(&team.run(&["outputs", "app", "-json", "-show-sensitive"]).stdout).unwrap();
    assert_eq!(shown["ports"], json!({"sensitive": false, "value": [80]}));
    assert_eq!(team.run(&["outputs", "app", "-raw", "token"]).stdout, "s3cret");
    assert!(team.fails(&["outputs", "app", "-raw", "nope"]).contains("There is no output \"nope\"."));
}

#[test]
fn a_lock_is_shown_and_taken_away_by_its_id() {
    let team = waiting();
    assert!(team.succeeds(&["unlock", "app"]).contains("Nobody holds the lock"));
    let leases = format!("/apis/coordination.k8s.io/v1/namespaces/{}/leases", team.namespace);
    let info = json!({"ID": "id-1", "Who": "bob@laptop", "Operation": "OperationTypeApply", "Created": "2026-01-01"});
    let lease = json!({
        "metadata": {"name": "lock-tfstate-default-app", "annotations": {"app.terraform.io/lock-info": info.to_string()}},
        "spec": {"holderIdentity": "id-1"},
    });
    team.api.create(&leases, &lease);
    let told = team.succeeds(&["unlock", "app"]);
    assert!(told.starts_with("ID: id-1 Who: bob@laptop Operation: OperationTypeApply Since: 2026-01-01"), "{told}");
    let holder = || team.api.get(&format!("{leases}/lock-tfstate-default-app"))["spec"]["holderIdentity"].clone();
    assert_eq!(team.run(&["unlock", "app", "id-1"]).code, 1);
    assert_eq!(team.run(&["unlock", "app", "--force"]).code, 1);
    assert!(team.fails(&["unlock", "app", "id-2", "--force"]).contains("has the id \"id-1\""));
    assert_eq!(holder(), "id-1");
    team.succeeds(&["unlock", "app", "id-1", "--force"]);
    assert_eq!(holder(), Value::Null);
}

/// What is said on a terminal on which somebody answers.
fn on_a_terminal(team: &Team, arguments: &str, answer: &str) -> (i32, String) {
    let words =
        format!("{} stack {arguments} -n {} -kubeconfig kubeconfig", env!("CARGO_BIN_EXE_groma"), team.namespace);
    let mut script = Command::new("script")
        .args(["-qec", &words, "/dev/null"])
        .current_dir(team.sandbox().path("."))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    script.stdin.as_mut().unwrap().write_all(answer.as_bytes()).unwrap();
    let output = script.wait_with_output().unwrap();
    (output.status.code().unwrap_or(-1), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn who_gives_no_id_is_shown_the_plan_and_asked() {
    let team = waiting();
    for answer in ["no\n", "y\n", "\n"] {
        let (code, told) = on_a_terminal(&team, "approve app", answer);
        assert_eq!(code, 1, "{told}");
        assert!(told.contains("+ thing") && told.contains("Do you agree to this plan?"), "{told}");
        assert_eq!(annotation(&team, "groma.dev/approve"), Value::Null);
    }
    let (code, told) = on_a_terminal(&team, "approve app", "yes\n");
    assert_eq!(code, 0, "{told}");
    assert_eq!(annotation(&team, "groma.dev/approve"), PLAN);
}
