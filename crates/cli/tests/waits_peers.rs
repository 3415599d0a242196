//! Objects of real plugins, one with each of the libraries, whose creation fails half way, or that take long: kept by rule, with the
//! other tools looking at what is left.
//!
//! `cargo xtask test` says where all of them are.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

#[path = "cli/fixtures.rs"]
mod fixtures;
#[allow(dead_code, reason = "the other tests use the rest")]
#[path = "cli/sandbox.rs"]
mod sandbox;

use std::process::Command;

use fixtures::{objects, peer};
use sandbox::Sandbox;
use serde_json::Value;

const CONFIG: &str = "\
terraform {
  required_providers {
    fixsdk = { source = \"groma/fixsdk\" }
    fixfw  = { source = \"groma/fixfw\" }
  }
}

variable \"error\" {
  type    = string
  default = \"partial\"
}

resource \"fixsdk_thing\" \"a\" {
  name = \"a\"
  cues = { create_error = var.error, ready_after = 14 }
}

resource \"fixfw_thing\" \"b\" {
  name = \"b\"
  cues = { create_error = var.error, ready_after = 14 }
}

resource \"fixfw_thing\" \"dependent\" {
  name = \"on ${fixsdk_thing.a.id} and ${fixfw_thing.b.id}\"
}
";

const RULES: &str = "\
wait \"fix*_thing\" {
  until    = self.status == \"available\"
  timeout  = \"60ms\"
  interval = \"20ms\"
}

on_create_error \"fix*_thing\" {
  keep = true
}
";

fn sandbox(config: &str, rules: &str) -> Sandbox {
    let sandbox = Sandbox::new().file("main.tf", config).file("rules.groma.hcl", rules);
    let sandbox = sandbox.file(".tofurc", &fixtures::cli_configuration()).file("world/.keep", "");
    let world = sandbox.path("world").display().to_string();
    sandbox.env("FIXTURE_WORLD", &world)
}

/// What another tool says.
fn other(sandbox: &Sandbox, variable: &str, arguments: &[&str]) -> String {
    let output = Command::new(peer(variable))
        .args(arguments)
        .current_dir(sandbox.path("."))
        .env_clear()
        .env("TF_CLI_CONFIG_FILE", sandbox.path(".tofurc"))
        .env("HOME", sandbox.path("."))
        .env("CHECKPOINT_DISABLE", "1")
        .env("FIXTURE_WORLD", sandbox.path("world"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn objects_that_were_made_in_part_are_kept_and_waited_for() {
    let sandbox = sandbox(CONFIG, RULES);
    let outcome = sandbox.run(&["apply", "-auto-approve", "-no-color"]);
    assert_eq!(outcome.code, 1);
    assert_eq!(outcome.stderr.matches("Error: Resource not ready").count(), 2, "{}", outcome.stderr);
    assert_eq!(outcome.stdout.matches(": Created in part, and kept [id=").count(), 2, "{}", outcome.stdout);
    assert!(!outcome.stdout.contains("Creation complete"), "{}", outcome.stdout);
    let made = objects(&sandbox);
    assert_eq!(made.len(), 2, "{made:?}");
    // The other tools see two objects in good health.
    let document: Value = serde_json::from_str(&other(&sandbox, "GROMA_TOFU", &["show", "-json"])).unwrap();
    let resources = document["values"]["root_module"]["resources"].as_array().unwrap().clone();
    assert_eq!(resources.len(), 2);
    assert!(resources.iter().all(|resource| resource.get("tainted").is_none()), "{resources:?}");
    let plan = other(&sandbox, "GROMA_TOFU", &["plan", "-no-color"]);
    assert!(plan.contains("Plan: 1 to add, 0 to change, 0 to destroy."), "{plan}");
    let state = sandbox.read("terraform.tfstate");
    let sandbox = sandbox.file("terraform.tfstate", &state.replace("registry.opentofu.org", "registry.terraform.io"));
    let shown = other(&sandbox, "GROMA_TERRAFORM", &["state", "show", "-no-color", "fixfw_thing.b"]);
    assert!(shown.starts_with("# fixfw_thing.b:\n"), "{shown}");
    // Looked at often enough, they are available; then the same apply finishes.
    let sandbox = sandbox.file("terraform.tfstate", &state);
    let mut codes = Vec::new();
    while codes.last() != Some(&0) {
        assert!(codes.len() < 10, "it never became ready");
        codes.push(sandbox.run(&["apply", "-auto-approve"]).code);
        assert!(made.is_subset(&objects(&sandbox)), "something was made anew");
    }
    assert_eq!(objects(&sandbox).len(), 3);
    assert_eq!(sandbox.run(&["plan", "-detailed-exitcode"]).code, 0);
}

#[test]
fn without_a_rule_they_are_replaced_as_ever() {
    let sandbox = sandbox(CONFIG, "");
    assert_eq!(sandbox.run(&["apply", "-auto-approve"]).code, 1);
    let plan = sandbox.run(&["plan", "-no-color"]);
    assert!(plan.stdout.contains("fixfw_thing.b is tainted, so it must be replaced"), "{}", plan.stdout);
}

#[test]
fn what_is_kept_and_has_no_wait_is_looked_at_by_the_next_plan() {
    let keep = "on_create_error \"fix*\" {\n  keep = true\n}\n";
    let sandbox = sandbox(CONFIG, keep);
    let outcome = sandbox.run(&["apply", "-auto-approve", "-no-color"]);
    assert_eq!(outcome.code, 1);
    assert!(outcome.stderr.contains("Error: Failed on cue"), "{}", outcome.stderr);
    let made = objects(&sandbox);
    assert!(sandbox.run(&["state", "list"]).stderr.contains("fixfw_thing.b is not ready"));
    let outcome = sandbox.run(&["apply", "-auto-approve", "-no-color"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(made.is_subset(&objects(&sandbox)) && objects(&sandbox).len() == 3);
    assert_eq!(sandbox.run(&["state", "list"]).stderr, "");
}

#[test]
fn an_update_that_fails_keeps_the_object_and_what_is_pending() {
    let sandbox = sandbox(&CONFIG.replace("ready_after = 14", "ready_after = 1000"), RULES);
    assert_eq!(sandbox.run(&["apply", "-auto-approve"]).code, 1);
    let made = objects(&sandbox);
    let changed = CONFIG.replace("ready_after = 14", "ready_after = 1000, update_error = \"before\"");
    let sandbox = sandbox.file("main.tf", &changed.replace("name = \"b\"", "name = \"other\""));
    let outcome = sandbox.run(&["apply", "-auto-approve", "-no-color"]);
    assert_eq!(outcome.code, 1);
    assert!(outcome.stderr.contains("The configuration asked for an error in update."), "{}", outcome.stderr);
    assert_eq!(objects(&sandbox), made);
    assert!(sandbox.run(&["state", "list"]).stderr.contains("fixfw_thing.b is not ready"));
}

const ALONE: &str = "\
terraform {
  required_providers {
    fixfw = { source = \"groma/fixfw\" }
  }
}

resource \"fixfw_thing\" \"b\" {
  name = \"b\"
  size = 3
}
";

/// Applies, and dies when the provider has made the object and nobody has written that down.
fn killed_with_the_answer(sandbox: Sandbox) -> Sandbox {
    let sandbox = sandbox.env("GROMA_DIE_AT", "outcome.taken#1");
    assert_ne!(sandbox.run(&["apply", "-auto-approve"]).code, 0);
    assert_eq!(objects(&sandbox).len(), 1);
    sandbox.env("GROMA_DIE_AT", "")
}

#[test]
fn an_object_whose_answer_was_lost_is_found_among_those_that_the_provider_lists() {
    let sandbox = killed_with_the_answer(sandbox(ALONE, ""));
    let made = objects(&sandbox);
    let outcome = sandbox.run(&["apply", "-auto-approve", "-no-color"]);
    assert_eq!(outcome.code, 0, "{}{}", outcome.stdout, outcome.stderr);
    assert!(outcome.stdout.contains("Warning: Object was found again"), "{}", outcome.stdout);
    assert_eq!(objects(&sandbox), made);
    assert_eq!(sandbox.run(&["doctor"]).code, 0);
    assert_eq!(sandbox.run(&["plan", "-detailed-exitcode"]).code, 0);
}

#[test]
fn of_several_that_it_could_be_none_is_taken() {
    let sandbox = killed_with_the_answer(sandbox(ALONE, ""));
    let made = objects(&sandbox).pop_first().unwrap();
    let text = sandbox.read(&format!("world/{made}"));
    let id = made.trim_start_matches("fixfw_thing.").trim_end_matches(".json");
    let sandbox = sandbox.file("world/fixfw_thing.0123456789ab.json", &text.replace(id, "0123456789ab"));
    let outcome = sandbox.run(&["apply", "-auto-approve", "-no-color"]);
    assert_eq!(outcome.code, 1, "{}", outcome.stdout);
    assert!(outcome.stderr.contains("Error: Object was possibly created before"), "{}", outcome.stderr);
    assert_eq!(objects(&sandbox).len(), 2);
}
