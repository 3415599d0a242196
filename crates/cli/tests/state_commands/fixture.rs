//! A directory with a configuration and a state.

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

const CONFIGURATION: &str = r#"
variable "word" {
  type      = string
  default   = "hush"
  sensitive = true
}

resource "terraform_data" "a" {
  input = "x"
}

resource "terraform_data" "c" {
  count = 2
  input = terraform_data.a.output
}

resource "random_password" "p" {
  length = 8
}

module "m" {
  source = "./m"
  count  = 1
}

output "a" {
  value = terraform_data.a.output
}

output "list" {
  value = [1, true, "x"]
}

output "word" {
  value     = var.word
  sensitive = true
}
"#;

fn data(id: &str, key: &Value, dependencies: &[&str]) -> Value {
    let text = json!({ "value": "x", "type": "string" });
    let mut instance = json!({
        "schema_version": 0,
        "attributes": { "id": id, "input": text, "output": text, "triggers_replace": null },
        "sensitive_attributes": [],
    });
    if !dependencies.is_empty() {
        instance["dependencies"] = dependencies.into();
    }
    if !key.is_null() {
        instance["index_key"] = key.clone();
    }
    instance
}

fn resource(module: Option<&str>, name: &str, instances: &[Value]) -> Value {
    let mut resource = json!({
        "mode": "managed", "type": "terraform_data", "name": name,
        "provider": "provider[\"terraform.io/builtin/terraform\"]", "instances": instances,
    });
    if let Some(module) = module {
        resource["module"] = module.into();
    }
    resource
}

/// The state that the directory starts with.
pub(crate) fn state() -> Value {
    let password = json!({
        "mode": "managed", "type": "random_password", "name": "p",
        "provider": "provider[\"registry.opentofu.org/hashicorp/random\"]",
        "instances": [{
            "schema_version": 3,
            "attributes": {
                "bcrypt_hash": "b-hunter2", "id": "none", "keepers": null, "length": 8, "lower": true, "min_lower": 0,
                "min_numeric": 0, "min_special": 0, "min_upper": 0, "number": true, "numeric": true,
                "override_special": null, "result": "hunter2!", "special": true, "upper": true,
            },
            "sensitive_attributes": [],
        }],
    });
    json!({
        "version": 4, "terraform_version": "1.12.0", "serial": 4, "lineage": "5d1a6c0e-0000-4000-8000-000000000001",
        "outputs": {
            "a": { "value": "x", "type": "string" },
            "list": { "value": [1, true, "x"], "type": ["tuple", ["number", "bool", "string"]] },
            "word": { "value": "hush", "type": "string", "sensitive": true },
        },
        "resources": [
            password,
            resource(None, "a", &[data("id-a", &Value::Null, &[])]),
            resource(None, "c", &[
                data("id-c0", &json!(0), &["terraform_data.a"]), data("id-c1", &json!(1), &["terraform_data.a"]),
            ]),
            resource(Some("module.m[0]"), "x", &[data("id-mx", &Value::Null, &[])]),
        ],
        "check_results": null,
    })
}

/// The directory.
pub(crate) fn directory() -> Sandbox {
    Sandbox::new()
        .file("main.tf", CONFIGURATION)
        .file("m/main.tf", "resource \"terraform_data\" \"x\" {\n  input = \"x\"\n}\n")
        .file(".terraform/modules/modules.json", MODULES)
        .file("terraform.tfstate", &format!("{:#}\n", state()))
}

const MODULES: &str = r#"{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"m","Source":"./m","Dir":"m"}]}"#;

/// A state file of the directory.
pub(crate) fn stored(sandbox: &Sandbox, file: &str) -> Value {
    serde_json::from_str(&sandbox.read(file)).unwrap()
}

/// The addresses in the state of the directory.
pub(crate) fn listed(sandbox: &Sandbox) -> String {
    let listed = sandbox.run(&["state", "list"]);
    assert_eq!(listed.code, 0, "{}", listed.stderr);
    listed.stdout.lines().collect::<Vec<_>>().join(" ")
}

/// Runs something that must be refused: with this summary, with exit code 1, and with no file changed, made or removed. Gives
/// what was said.
#[track_caller]
pub(crate) fn refused(sandbox: &Sandbox, arguments: &[&str], summary: &str) -> String {
    let before = everything(sandbox);
    let outcome = sandbox.run(arguments);
    assert_eq!(outcome.code, 1, "{arguments:?}: {}{}", outcome.stdout, outcome.stderr);
    let wanted = format!("Error: {summary}");
    assert!(outcome.stderr.contains(&wanted), "{arguments:?}: {wanted:?} is not in {}", outcome.stderr);
    assert_eq!(everything(sandbox), before, "{arguments:?} left something behind");
    outcome.stderr
}

/// All files with what is in them.
fn everything(sandbox: &Sandbox) -> Vec<(String, Option<String>)> {
    let files = sandbox.files();
    let names = files.lines().map(str::to_owned);
    names.map(|name| (name.clone(), std::fs::read_to_string(sandbox.path(&name)).ok())).collect()
}

/// Runs something that must work.
#[track_caller]
pub(crate) fn works(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let outcome = sandbox.run(arguments);
    assert_eq!(outcome.code, 0, "{arguments:?}: {}{}", outcome.stdout, outcome.stderr);
    outcome.stdout
}
