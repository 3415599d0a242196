//! A working directory and a namespace of its own, on a cluster that all tests share.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use groma_testkit::servers::kube::{self, ADMIN_TOKEN, Reach};
use serde_json::{Value, json};

use crate::api::Api;
use crate::sandbox::{Outcome, Running, Sandbox};
use crate::tool::Tool;

/// What every configuration begins with.
pub(crate) const HEADER: &str = r#"
terraform {
  required_providers {
    k8sconnect = {
      source = "jmorris0x0/k8sconnect"
    }
  }
}
locals {
  cluster = { kubeconfig = file("kubeconfig") }
}
"#;

/// A place for a scenario. `NAMESPACE` stands for its namespace in whatever is written there.
pub(crate) struct Space {
    pub(crate) api: Api,
    pub(crate) namespace: String,
    reach: Reach,
    sandbox: Sandbox,
    tool: Tool,
}

impl Space {
    /// On a cluster in which nothing happens by itself.
    pub(crate) fn new() -> Self {
        Self::on(kube::shared())
    }

    /// On a cluster in which namespaces end, claims are released, and pods are made that no node takes.
    pub(crate) fn with_controllers() -> Self {
        Self::on(kube::shared_with_controllers())
    }

    /// The same, with another tool.
    #[allow(dead_code, reason = "not all tests have others")]
    pub(crate) fn under(tool: Tool) -> Self {
        Self::with(kube::shared_with_controllers(), tool)
    }

    pub(crate) fn on(reach: &Reach) -> Self {
        Self::with(reach, Tool::Groma)
    }

    fn with(reach: &Reach, tool: Tool) -> Self {
        let api = Api::new(reach);
        let namespace = fresh_name();
        api.create("/api/v1/namespaces", &json!({"metadata": {"name": namespace}}));
        let kubeconfig = reach.kubeconfig_text(ADMIN_TOKEN).unwrap();
        let sandbox = tool.prepare(Sandbox::new().file("kubeconfig", &kubeconfig));
        Self { api, namespace, reach: reach.clone(), sandbox, tool }
    }

    /// Goes on with another tool in the same directory.
    #[allow(dead_code, reason = "not all tests have others")]
    pub(crate) fn now_under(mut self, tool: Tool) -> Self {
        self.sandbox = tool.prepare(self.sandbox);
        self.tool = tool;
        self
    }

    pub(crate) fn reach(&self) -> &Reach {
        &self.reach
    }

    /// Sets an environment variable.
    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.sandbox = self.sandbox.env(name, value);
        self
    }

    /// Writes a file.
    pub(crate) fn file(&self, name: &str, text: &str) -> &Self {
        let path = self.sandbox.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text.replace("NAMESPACE", &self.namespace)).unwrap();
        self
    }

    /// Writes the configuration.
    pub(crate) fn main(&self, blocks: &str) -> &Self {
        self.file("main.tf", &format!("{HEADER}\n{blocks}"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.sandbox.path(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        self.sandbox.read(name)
    }

    /// Where an object of the core group is in the API.
    pub(crate) fn core(&self, plural: &str, name: &str) -> String {
        format!("/api/v1/namespaces/{}/{plural}/{name}", self.namespace).trim_end_matches('/').to_owned()
    }

    /// Where an object of another group is.
    pub(crate) fn of(&self, group_version: &str, plural: &str, name: &str) -> String {
        format!("/apis/{group_version}/namespaces/{}/{plural}/{name}", self.namespace).trim_end_matches('/').to_owned()
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Outcome {
        self.tool.run(&self.sandbox, arguments)
    }

    pub(crate) fn begin(&self, arguments: &[&str]) -> Running {
        self.sandbox.begin(arguments)
    }

    /// Applies; all that was said.
    #[track_caller]
    pub(crate) fn apply(&self) -> String {
        self.succeeds(&["apply", "-auto-approve", "-no-color"])
    }

    #[track_caller]
    pub(crate) fn apply_fails(&self) -> String {
        self.fails(&["apply", "-auto-approve", "-no-color"])
    }

    #[track_caller]
    pub(crate) fn destroy(&self) -> String {
        self.succeeds(&["destroy", "-auto-approve", "-no-color"])
    }

    #[track_caller]
    pub(crate) fn destroy_fails(&self) -> String {
        self.fails(&["destroy", "-auto-approve", "-no-color"])
    }

    #[track_caller]
    pub(crate) fn validate_fails(&self) -> String {
        self.fails(&["validate", "-no-color"])
    }

    #[track_caller]
    pub(crate) fn plan_fails(&self) -> String {
        self.fails(&["plan", "-no-color"])
    }

    #[track_caller]
    pub(crate) fn succeeds(&self, arguments: &[&str]) -> String {
        let outcome = self.run(arguments);
        let said = said(&outcome);
        assert_eq!(outcome.code, 0, "{arguments:?}: {said}");
        said
    }

    #[track_caller]
    pub(crate) fn fails(&self, arguments: &[&str]) -> String {
        let outcome = self.run(arguments);
        let said = said(&outcome);
        assert_eq!(outcome.code, 1, "{arguments:?}: {said}");
        assert!(!said.contains("panicked"), "{said}");
        said
    }

    /// Plans, and looks at the plan.
    #[track_caller]
    pub(crate) fn plan(&self) -> Plan {
        self.plan_with(&[])
    }

    #[track_caller]
    pub(crate) fn plan_with(&self, more: &[&str]) -> Plan {
        let arguments = [&["plan", "-no-color", "-detailed-exitcode", "-out=plan"], more].concat();
        let outcome = self.run(&arguments);
        let said = said(&outcome);
        assert!(outcome.code == 0 || outcome.code == 2, "{}: {said}", outcome.code);
        let shown = self.run(&["show", "-json", "plan"]);
        let document = serde_json::from_str(&shown.stdout);
        Plan { code: outcome.code, said, document: document.unwrap_or_else(|_| panic!("{}", shown.stderr)) }
    }

    /// There is nothing to do, and nothing to say.
    #[track_caller]
    pub(crate) fn is_settled(&self) {
        let plan = self.plan();
        assert_eq!((plan.code, plan.actions()), (0, Vec::new()), "{}\n{}", plan.said, plan.document);
        assert!(!plan.said.contains("Warning"), "{}", plan.said);
    }

    /// The stored object.
    #[track_caller]
    pub(crate) fn stored(&self, address: &str) -> Value {
        let stored = self.find_stored(address);
        stored.unwrap_or_else(|| panic!("{address} is not stored:\n{}", self.read("terraform.tfstate")))
    }

    /// The stored object with its private data and marks, if there is one: `type.name` or `type.name[key]`.
    pub(crate) fn find_stored(&self, address: &str) -> Option<Value> {
        let state: Value = serde_json::from_str(&fs::read_to_string(self.path("terraform.tfstate")).ok()?).unwrap();
        let (resource, key) = address.trim_end_matches(']').split_once('[').unwrap_or((address, "null"));
        let key: Value = serde_json::from_str(key).unwrap();
        let (kind, name) = resource.split_once('.').unwrap();
        let resources = state["resources"].as_array().unwrap();
        let found = resources.iter().find(|resource| resource["type"] == kind && resource["name"] == name)?;
        let instances = found["instances"].as_array().unwrap();
        instances.iter().find(|instance| instance["index_key"] == key).cloned()
    }

    /// An attribute of the stored object.
    #[track_caller]
    pub(crate) fn attribute(&self, address: &str, name: &str) -> Value {
        self.stored(address)["attributes"][name].clone()
    }
}

/// What is going to happen.
pub(crate) struct Plan {
    pub(crate) code: i32,
    /// All that was said, in one line.
    pub(crate) said: String,
    document: Value,
}

impl Plan {
    /// What is done to what: `update k8sconnect_object.a`.
    pub(crate) fn actions(&self) -> Vec<String> {
        let changes = self.document["resource_changes"].as_array().into_iter().flatten();
        let mut actions: Vec<String> = changes.filter(|change| change["mode"] != "data").filter_map(action).collect();
        actions.sort();
        actions
    }

    #[track_caller]
    pub(crate) fn does(&self, expected: &[&str]) -> &Self {
        let mut expected = expected.to_vec();
        expected.sort_unstable();
        assert_eq!(self.actions(), expected, "{}", self.said);
        self
    }

    /// It is said, whatever the line breaks.
    #[track_caller]
    pub(crate) fn says(&self, text: &str) -> &Self {
        assert!(self.said.contains(text), "{text:?} is not in: {}", self.said);
        self
    }

    #[track_caller]
    pub(crate) fn is_silent_about(&self, text: &str) -> &Self {
        assert!(!self.said.contains(text), "{text:?} is in: {}", self.said);
        self
    }

    /// A change: `before`, `after`, `after_unknown`.
    #[track_caller]
    pub(crate) fn change(&self, address: &str) -> Value {
        let changes = self.document["resource_changes"].as_array().unwrap();
        let change = changes.iter().find(|change| change["address"] == address);
        change.unwrap_or_else(|| panic!("{address} is not in the plan: {}", self.said))["change"].clone()
    }
}

fn action(change: &Value) -> Option<String> {
    let actions: Vec<&str> = change["change"]["actions"].as_array()?.iter().filter_map(Value::as_str).collect();
    let action = match actions.as_slice() {
        ["no-op"] if change["change"]["importing"].is_object() => "import",
        ["no-op"] if change["previous_address"].is_string() => "move",
        ["no-op"] => return None,
        ["delete", "create"] | ["create", "delete"] => "replace",
        [one] => one,
        _ => "?",
    };
    Some(format!("{action} {}", change["address"].as_str()?))
}

/// An object with a manifest. Its indentation does not matter.
pub(crate) fn object(name: &str, manifest: &str) -> String {
    object_with(name, "", manifest)
}

/// An object with more attributes.
pub(crate) fn object_with(name: &str, more: &str, manifest: &str) -> String {
    format!(
        "resource \"k8sconnect_object\" \"{name}\" {{\n  cluster = local.cluster\n  {more}\n  yaml_body = <<YAML\n{}\nYAML\n}}\n",
        dedent(manifest)
    )
}

/// A ConfigMap; the data is YAML in braces.
pub(crate) fn config_map(name: &str, data: &str) -> String {
    object(name, &config_map_manifest(name, data))
}

pub(crate) fn config_map_manifest(name: &str, data: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: NAMESPACE}}\ndata: {data}")
}

/// A text without the indentation of its least indented line.
pub(crate) fn dedent(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let indented = |line: &&str| line.len() - line.trim_start().len();
    let margin = lines.iter().map(indented).min().unwrap_or_default();
    lines.iter().map(|line| &line[margin..]).collect::<Vec<_>>().join("\n")
}

/// All that was said, in one line.
pub(crate) fn said(outcome: &Outcome) -> String {
    flat(&format!("{}\n{}", outcome.stdout, outcome.stderr))
}

/// A text without line breaks.
pub(crate) fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A name that no other test has, which tells what the test is called.
pub(crate) fn fresh_name() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("test").rsplit("::").next().unwrap_or_default().replace('_', "-");
    let test: String = test.chars().take(40).collect();
    format!("{}-{count}", test.trim_matches('-'))
}
