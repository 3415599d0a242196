//! The order of replacements beside the other tools: they do not see our rules, and take over what rules have made.
//!
//! `cargo xtask test` says where they are.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

#[allow(dead_code, reason = "the other tests use the rest")]
#[path = "cli/fixtures.rs"]
mod fixtures;
#[allow(dead_code, reason = "the other tests use the rest")]
#[path = "cli/sandbox.rs"]
mod sandbox;

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use fixtures::peer;
use sandbox::Sandbox;
use serde_json::Value;

/// The others: what they are called, and who knows where they are.
const OTHERS: [(&str, &str); 2] = [("terraform", "GROMA_TERRAFORM"), ("tofu", "GROMA_TOFU")];

const CONFIG: &str = r#"variable "release" {
  default = "1"
}

resource "terraform_data" "base" {
  triggers_replace = var.release

  lifecycle {
    create_before_destroy = true
  }
}

resource "terraform_data" "user" {
  input = terraform_data.base.id
}
"#;

const RULES: &str = r#"
replace_rule "base-first" {
  resource = "terraform_data"
  target   = ["terraform_data.base"]
  field    = "triggers_replace"
     behavior   = "auto"
}
"#;

const JSON_RULES: &str = r#"{"replace_rule": {"json": {"resource": "terraform_data", "behavior": "auto", "order": "create_first",
  "target": ["terraform_data.user"]}}}"#;

fn sandbox() -> Sandbox {
    Sandbox::new().file("main.tf", CONFIG).file("cli.tfrc", "")
}

/// Runs another tool.
fn other(sandbox: &Sandbox, variable: &str, arguments: &[&str]) -> Output {
    Command::new(peer(variable))
        .args(arguments)
        .current_dir(sandbox.path("."))
        .env_clear()
        .env("TF_CLI_CONFIG_FILE", sandbox.path("cli.tfrc"))
        .env("HOME", sandbox.path("."))
        .env("CHECKPOINT_DISABLE", "1")
        .output()
        .unwrap()
}

/// What was said, and how it ended.
fn said(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// Nothing that is ours is read by the others, well written or not.
#[test]
fn others_do_not_see_rules() {
    for (name, variable) in OTHERS {
        let sandbox = sandbox();
        for arguments in [&["init"][..], &["apply", "-auto-approve"]] {
            assert!(other(&sandbox, variable, arguments).status.success(), "{name} {arguments:?}");
        }
        let all = |sandbox: &Sandbox| {
            let commands = [
                &["validate", "-no-color"][..],
                &["fmt", "-check", "-recursive", "-no-color"],
                &["plan", "-no-color", "-var=release=2", "-lock=false"],
                &["plan", "-no-color", "-detailed-exitcode", "-lock=false"],
            ];
            commands.map(|arguments| said(&other(sandbox, variable, arguments)))
        };
        let without = all(&sandbox);
        assert_eq!(without.clone().map(|(code, ..)| code), [Some(0); 4], "{name}: {without:?}");
        let sandbox = sandbox
            .file("order.groma.hcl", RULES)
            .file("order.groma.json", JSON_RULES)
            .file("broken.groma.hcl", "replace_rule {{{")
            .file("broken.groma.json", "{");
        assert_eq!(all(&sandbox), without, "{name}");
    }
}

/// An order that a rule has made is not written down anywhere: the state says what the configuration says, and who takes it over has nothing to
/// do.
#[test]
fn states_are_as_without_rules() {
    let sandbox = sandbox().file("order.groma.hcl", RULES);
    assert_eq!(sandbox.run(&["apply", "-auto-approve"]).code, 0);
    let outcome = sandbox.run(&["apply", "-auto-approve", "-json", "-var=release=2", "-replace-rules=auto"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stdout);
    let lines = outcome.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let begun: Vec<String> = lines
        .filter(|line| line["type"] == "apply_start" && line["hook"]["resource"]["addr"] == "terraform_data.base")
        .map(|line| line["hook"]["action"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(begun, ["delete", "create"]);
    let state: Value = serde_json::from_str(&sandbox.read("terraform.tfstate")).unwrap();
    let resources = state["resources"].as_array().unwrap();
    let base = resources.iter().find(|resource| resource["name"] == "base").unwrap();
    assert_eq!(base["instances"][0]["create_before_destroy"], true);
    assert!(!sandbox.read("terraform.tfstate").contains("groma"));
    for (name, variable) in OTHERS {
        assert!(other(&sandbox, variable, &["init"]).status.success(), "{name}");
        let plan =
            other(&sandbox, variable, &["plan", "-no-color", "-detailed-exitcode", "-var=release=2", "-lock=false"]);
        assert_eq!(plan.status.code(), Some(0), "{name}: {:?}", said(&plan));
    }
}

/// Programs around Terraform read our plans with the library that they have, and see the order that a rule has made.
#[test]
fn readers_of_plans_understand_ours() {
    let sandbox = sandbox().file("order.groma.hcl", RULES);
    assert_eq!(sandbox.run(&["apply", "-auto-approve"]).code, 0);
    for (mode, order) in
        [("off", "create,delete false"), ("warn", "create,delete false"), ("auto", "delete,create true")]
    {
        let planned = sandbox.run(&["plan", "-var=release=2", "-out=p", &format!("-replace-rules={mode}")]);
        assert_eq!(planned.code, 0, "{}", planned.stderr);
        let shown = sandbox.run(&["show", "-json", "p"]).stdout;
        let mut reader =
            Command::new(peer("GROMA_ORACLE_PLANJSON")).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        reader.stdin.take().unwrap().write_all(shown.as_bytes()).unwrap();
        let read = reader.wait_with_output().unwrap();
        assert!(read.status.success(), "{mode}");
        let expected = format!("terraform_data.base {order}\nterraform_data.user update false\n");
        assert_eq!(String::from_utf8(read.stdout).unwrap(), expected, "{mode}");
    }
}
