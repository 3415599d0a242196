//! What OpenTofu writes.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::case::{self, Case};
use crate::peer;

/// The plugins, and the variables that name them.
pub(crate) const PLUGINS: [(&str, &str); 3] =
    [("fixfw", "GROMA_FIXTURE_FRAMEWORK"), ("fixsdk", "GROMA_FIXTURE_SDK"), ("time", "GROMA_PROVIDER_TIME")];

/// The documents.
pub(crate) struct Documents {
    pub(crate) plan: Value,
    pub(crate) state: Value,
    /// The lines that tell what a plan says.
    pub(crate) stream: Value,
    /// The root module alone.
    pub(crate) module: Value,
    /// The text of the outputs.
    pub(crate) outputs: Value,
}

/// Brings a directory to where the plan starts, plans, and shows everything.
pub(crate) fn run(case: &Case, dir: &Path) -> Documents {
    std::fs::create_dir(dir.join("world")).unwrap();
    write_plugins(dir);
    if !case.before.is_empty() {
        case::write(dir, &case.before);
        tofu(dir, &["apply", "-auto-approve", "-no-color", "-input=false"]);
        for (name, _) in &case.before {
            std::fs::remove_file(dir.join(name)).unwrap();
        }
    }
    case::write(dir, &case.files);
    let state = dir.join("terraform.tfstate");
    replace(&state, &case.state);
    for entry in std::fs::read_dir(dir.join("world")).unwrap() {
        replace(&entry.unwrap().path(), &case.world);
    }
    let arguments: Vec<&str> = case.arguments.iter().map(String::as_str).collect();
    let lines = tofu(dir, &[&["plan", "-json", "-out=the.plan", "-input=false"], arguments.as_slice()].concat());
    let plan = tofu(dir, &["show", "-json", "the.plan"]);
    let shown = tofu(dir, &["show", "-json"]);
    let module = tofu(dir, &["show", "-json", "-module=."]);
    let outputs = tofu(dir, &["output", "-json"]);
    Documents {
        plan: serde_json::from_slice(&plan.stdout).unwrap(),
        state: serde_json::from_slice(&shown.stdout).unwrap(),
        stream: stream(&String::from_utf8(lines.stdout).unwrap()),
        module: serde_json::from_slice(&module.stdout).unwrap(),
        outputs: String::from_utf8(outputs.stdout).unwrap().into(),
    }
}

/// The lines that tell what a plan says, without what is about this very run.
pub(crate) fn stream(text: &str) -> Value {
    const KINDS: [&str; 4] = ["resource_drift", "planned_change", "change_summary", "outputs"];
    let mut lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    lines.retain(|line| KINDS.contains(&line["type"].as_str().unwrap_or_default()));
    // They are told in the order in which changes happened to be planned.
    lines.sort_by_key(|line| {
        let kind = KINDS.iter().position(|kind| line["type"] == *kind);
        (kind, line["change"]["resource"]["addr"].as_str().unwrap_or_default().to_owned())
    });
    lines.into_iter().map(without_time).collect()
}

fn without_time(mut line: Value) -> Value {
    line.as_object_mut().unwrap().remove("@timestamp");
    line
}

fn replace(path: &Path, pairs: &[(String, String)]) {
    if pairs.is_empty() {
        return;
    }
    let mut text = std::fs::read_to_string(path).unwrap();
    for (old, new) in pairs {
        text = text.replace(old, new);
    }
    std::fs::write(path, text).unwrap();
}

fn write_plugins(dir: &Path) {
    let mut overrides = String::new();
    for (name, variable) in PLUGINS {
        let place = dir.join("plugins").join(name);
        std::fs::create_dir_all(&place).unwrap();
        std::os::unix::fs::symlink(peer(variable), place.join(format!("terraform-provider-{name}"))).unwrap();
        writeln!(overrides, "    \"hashicorp/{name}\" = \"{}\"", place.display()).unwrap();
    }
    let rc = format!("provider_installation {{\n  dev_overrides {{\n{overrides}  }}\n  direct {{}}\n}}\n");
    std::fs::write(dir.join("tofurc"), rc).unwrap();
    // Modules of the directory itself need no registry.
    let modules = "{\"Modules\":[{\"Key\":\"\",\"Source\":\"\",\"Dir\":\".\"}]}";
    std::fs::create_dir_all(dir.join(".terraform/modules")).unwrap();
    std::fs::write(dir.join(".terraform/modules/modules.json"), modules).unwrap();
}

fn tofu(dir: &Path, arguments: &[&str]) -> Output {
    install_modules(dir);
    let output = command(dir).args(arguments).output().expect("OpenTofu runs");
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "tofu {arguments:?}:\n{text}\n{errors}");
    output
}

/// Notes down where the modules are that a directory has.
fn install_modules(dir: &Path) {
    if dir.join("child").exists() {
        let output = command(dir).args(["get", "-no-color"]).output().expect("OpenTofu runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

fn command(dir: &Path) -> Command {
    let mut command = Command::new(peer("GROMA_TOFU"));
    command.current_dir(dir).env_clear();
    command.env("TF_CLI_CONFIG_FILE", dir.join("tofurc")).env("HOME", dir).env("CHECKPOINT_DISABLE", "1");
    command.env("FIXTURE_WORLD", dir.join("world"));
    command
}
