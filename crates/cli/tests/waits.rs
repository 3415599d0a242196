//! Objects that are there and not ready: the run fails, what depends on them is not begun, they keep their ids, and the next run goes
//! on waiting. With the built-in `rest_object`, by rule and by what it says itself.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

#[path = "waits/api.rs"]
mod api;
#[allow(dead_code, reason = "the other tests use the rest")]
#[path = "cli/sandbox.rs"]
mod sandbox;

use api::Api;
use sandbox::Sandbox;
use serde_json::Value;

const RULE: &str = "wait \"rest_object.db\" {\n  until    = self.output.status == \"up\"\n  fail_if  = self.output.status == \"broken\"\n  \
                    timeout  = \"TIMEOUT\"\n  interval = \"20ms\"\n}\n";

fn config(api: &Api, more: &str) -> String {
    format!(
        "terraform {{\n  required_providers {{\n    rest = {{ source = \"groma.dev/builtin/rest\" }}\n  }}\n}}\n\
         provider \"rest\" {{\n  base_url = \"{}\"\n}}\n\
         resource \"rest_object\" \"db\" {{\n  path = \"/dbs\"\n  body = {{ name = \"db\" }}\n{more}}}\n\
         resource \"rest_object\" \"user\" {{\n  path = \"/users\"\n  body = {{ db = rest_object.db.id }}\n}}\n",
        api.url()
    )
}

fn by_rule(api: &Api, timeout: &str) -> Sandbox {
    Sandbox::new().file("main.tf", &config(api, "")).file("waits.groma.hcl", &RULE.replace("TIMEOUT", timeout))
}

/// The stored object, and whether it has a mark of ours.
fn stored(sandbox: &Sandbox, name: &str) -> Option<Value> {
    let state: Value = serde_json::from_str(&sandbox.read("terraform.tfstate")).unwrap();
    let resources = state["resources"].as_array().unwrap().clone();
    resources.into_iter().find(|resource| resource["name"] == name).map(|resource| resource["instances"][0].clone())
}

/// A text without line breaks.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Where something is told in `state list`, beside the list.
fn not_ready(sandbox: &Sandbox) -> String {
    let listed = sandbox.run(&["state", "list"]);
    assert_eq!(listed.code, 0, "{}", listed.stderr);
    listed.stderr
}

#[test]
fn a_wait_that_fails_keeps_the_object_and_blocks_what_depends_on_it() {
    let api = Api::saying("starting");
    let sandbox = by_rule(&api, "60ms");
    let outcome = sandbox.run(&["apply", "-auto-approve", "-no-color"]);
    assert_eq!(outcome.code, 1);
    assert!(flat(&outcome.stderr).contains("Error: Resource not ready"), "{}", outcome.stderr);
    assert!(flat(&outcome.stderr).contains("Last seen: self.output.status is \"starting\""), "{}", outcome.stderr);
    assert!(flat(&outcome.stderr).contains("on waits.groma.hcl line 2"), "{}", outcome.stderr);
    let said = format!("{}{}", outcome.stdout, outcome.stderr);
    assert!(said.contains("rest_object.user: not begun, because rest_object.db failed"), "{said}");
    assert_eq!(api.ids(), ["1"]);
    let object = stored(&sandbox, "db").unwrap();
    assert_eq!((&object["status"], &object["attributes"]["id"]), (&Value::Null, &Value::from("1")));
    assert!(stored(&sandbox, "user").is_none());
    assert!(not_ready(&sandbox).contains("rest_object.db is not ready: waiting for self.output.status == \"up\""));
    let shown = sandbox.run(&["state", "show", "rest_object.db"]);
    assert!(shown.stdout.starts_with("# rest_object.db: (not ready: waiting for"), "{}", shown.stdout);
    let document: Value = serde_json::from_str(&sandbox.run(&["show", "-json"]).stdout).unwrap();
    let object = &document["values"]["root_module"]["resources"][0];
    assert_eq!(object["groma"]["not_ready"]["last_seen"], "self.output.status is \"starting\"");
}

#[test]
fn plans_show_what_is_waited_for_and_hold_nothing_else() {
    let api = Api::saying("starting");
    let sandbox = by_rule(&api, "40ms");
    assert_eq!(sandbox.run(&["apply", "-auto-approve"]).code, 1);
    let plan = sandbox.run(&["plan", "-no-color", "-detailed-exitcode", "-out=p"]);
    assert_eq!(plan.code, 2, "{}", plan.stderr);
    assert!(plan.stdout.contains("# rest_object.db is not ready: waiting for self.output.status == \"up\""));
    assert!(plan.stdout.contains("Plan: 1 to add, 0 to change, 0 to destroy, 1 to wait for."), "{}", plan.stdout);
    let document: Value = serde_json::from_str(&sandbox.run(&["show", "-json", "p"]).stdout).unwrap();
    let change = &document["resource_changes"][0];
    assert_eq!(change["change"]["actions"], serde_json::json!(["no-op"]));
    assert_eq!(change["groma"]["not_ready"]["waiting_for"], "self.output.status == \"up\"");
    // The plan goes on where it was made, however it was kept.
    api.say("up");
    let applied = sandbox.run(&["apply", "-no-color", "p"]);
    assert_eq!(applied.code, 0, "{}", applied.stderr);
    assert_eq!((api.made(), api.ids()), (2, vec!["1".to_owned(), "2".to_owned()]));
    assert_eq!(not_ready(&sandbox), "");
    assert_eq!(sandbox.run(&["plan", "-detailed-exitcode"]).code, 0);
}

#[test]
fn however_often_it_is_tried_the_object_is_the_same() {
    let api = Api::saying("starting");
    let sandbox = by_rule(&api, "1ms");
    for run in 0..100 {
        assert_eq!(sandbox.run(&["apply", "-auto-approve"]).code, 1, "run {run}");
        assert_eq!(api.ids(), ["1"], "run {run}");
    }
    api.say("up");
    assert_eq!(sandbox.run(&["apply", "-auto-approve"]).code, 0);
    assert_eq!(api.made(), 2);
    assert_eq!(stored(&sandbox, "db").unwrap()["attributes"]["id"], "1");
}

#[test]
fn a_run_that_is_killed_while_it_waits_is_gone_on_with() {
    let api = Api::saying("starting");
    let sandbox = by_rule(&api, "10m");
    let mut running = sandbox.begin(&["apply", "-auto-approve", "-json"]);
    running.wait_for("wait_progress");
    running.signal("KILL");
    running.leave();
    assert!(not_ready(&sandbox).contains("rest_object.db is not ready"));
    api.say("up");
    let outcome = sandbox.run(&["apply", "-auto-approve"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert_eq!((api.made(), stored(&sandbox, "db").unwrap()["attributes"]["id"].clone()), (2, Value::from("1")));
}

#[test]
fn an_interrupt_ends_the_wait_and_nothing_else() {
    let api = Api::saying("starting");
    let sandbox = by_rule(&api, "10m");
    let mut running = sandbox.begin(&["apply", "-auto-approve", "-json"]);
    running.wait_for("wait_progress");
    running.signal("INT");
    let outcome = running.end();
    assert_eq!(outcome.code, 1);
    assert!(flat(&outcome.stdout).contains("The wait was interrupted after"), "{}", outcome.stdout);
    assert!(not_ready(&sandbox).contains("rest_object.db is not ready"));
}

#[test]
fn a_wait_ends_early_when_there_is_no_hope() {
    let api = Api::saying("broken");
    let sandbox = by_rule(&api, "10m");
    let outcome = sandbox.run(&["apply", "-auto-approve", "-no-color"]);
    assert_eq!(outcome.code, 1);
    assert!(flat(&outcome.stderr).contains("because self.output.status == \"broken\""), "{}", outcome.stderr);
    // It can be taken down like any other.
    assert_eq!(sandbox.run(&["destroy", "-auto-approve"]).code, 0);
    assert!(api.ids().is_empty());
}

#[test]
fn what_turned_out_well_is_found_by_a_refresh() {
    let api = Api::saying("starting");
    let sandbox = by_rule(&api, "1ms");
    assert_eq!(sandbox.run(&["apply", "-auto-approve"]).code, 1);
    assert_eq!(sandbox.run(&["apply", "-refresh-only", "-auto-approve"]).code, 0);
    assert!(not_ready(&sandbox).contains("rest_object.db is not ready"));
    api.say("up");
    assert_eq!(sandbox.run(&["apply", "-refresh-only", "-auto-approve"]).code, 0);
    assert_eq!(not_ready(&sandbox), "");
    let plan = sandbox.run(&["plan", "-no-color"]);
    assert!(plan.stdout.contains("Plan: 1 to add, 0 to change, 0 to destroy.\n"), "{}", plan.stdout);
}

#[test]
fn what_turned_out_well_is_found_by_any_apply() {
    let api = Api::saying("starting");
    let alone = config(&api, "");
    let alone = alone.split("resource \"rest_object\" \"user\"").next().unwrap();
    let rule = RULE.replace("TIMEOUT", "1ms");
    let sandbox = Sandbox::new().file("main.tf", alone).file("waits.groma.hcl", &rule);
    assert_eq!(sandbox.run(&["apply", "-auto-approve"]).code, 1);
    api.say("up");
    assert_eq!(sandbox.run(&["plan", "-detailed-exitcode"]).code, 0);
    let outcome = sandbox.run(&["apply", "-auto-approve", "-no-color"]);
    assert!(outcome.code == 0 && outcome.stdout.contains("No changes."), "{}", outcome.stdout);
    assert_eq!(not_ready(&sandbox), "");
}

#[test]
fn a_changed_configuration_updates_in_place_first_and_waits_again() {
    let api = Api::saying("starting");
    let sandbox = by_rule(&api, "1ms");
    assert_eq!(sandbox.run(&["apply", "-auto-approve"]).code, 1);
    let changed = config(&api, "").replace("name = \"db\"", "name = \"other\"");
    let sandbox = sandbox.file("main.tf", &changed);
    let plan = sandbox.run(&["plan", "-no-color"]);
    assert!(plan.stdout.contains("# rest_object.db will be updated in-place"), "{}", plan.stdout);
    assert!(plan.stdout.contains("# (not ready: waiting for self.output.status == \"up\")"), "{}", plan.stdout);
    let outcome = sandbox.run(&["apply", "-auto-approve", "-no-color"]);
    assert_eq!((outcome.code, api.made()), (1, 1), "{}", outcome.stderr);
    assert!(not_ready(&sandbox).contains("rest_object.db is not ready"));
    assert_eq!(stored(&sandbox, "db").unwrap()["attributes"]["body"]["value"]["name"], "other");
}

#[test]
fn a_provider_may_say_it_itself() {
    let api = Api::saying("starting");
    let ready = "  ready_timeout = \"1ms\"\n  ready_interval = \"1ms\"\n  ready_when {\n    path = \"status\"\n    values = [\"up\"]\n  }\n";
    let sandbox = Sandbox::new().file("main.tf", &config(&api, ready));
    for _ in 0..3 {
        let outcome = sandbox.run(&["apply", "-auto-approve", "-no-color"]);
        assert_eq!(outcome.code, 1);
        assert!(flat(&outcome.stderr).contains("Its provider says that it is not ready"), "{}", outcome.stderr);
        assert_eq!(api.ids(), ["1"]);
        assert_eq!(stored(&sandbox, "db").unwrap()["status"], Value::Null);
        assert!(not_ready(&sandbox).contains("rest_object.db is not ready: waiting for status to be up"));
    }
    api.say("up");
    let outcome = sandbox.run(&["apply", "-auto-approve"]);
    assert_eq!((outcome.code, api.made()), (0, 2), "{}", outcome.stderr);
    assert_eq!(not_ready(&sandbox), "");
}

#[test]
fn mistakes_in_rules_are_found_by_validate_and_stop_plans() {
    let api = Api::saying("up");
    let rule = "wait \"rest_object\" {\n  until = self.nonsense\n}\nwait \"rest_object.gone\" {\n  until = true\n}\n";
    let sandbox = Sandbox::new().file("main.tf", &config(&api, "")).file("a.groma.hcl", rule);
    let outcome = sandbox.run(&["validate", "-no-color"]);
    assert_eq!(outcome.code, 1);
    assert!(flat(&outcome.stderr).contains("on a.groma.hcl line 2"), "{}", outcome.stderr);
    assert!(flat(&outcome.stderr).contains("Warning: Rule matches nothing"), "{}", outcome.stderr);
    assert_eq!(sandbox.run(&["plan"]).code, 1);
}
