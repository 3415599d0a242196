//! A namespace on a cluster that all tests share, and an operator that works on nothing else.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use groma_testkit::servers::kube::{self, ADMIN_TOKEN, Reach};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::api::Api;

/// How long anything may take that is waited for.
const PATIENCE: Duration = Duration::from_mins(1);

/// A namespace with an operator.
pub(crate) struct Stage {
    pub(crate) api: Api,
    pub(crate) namespace: String,
    dir: TempDir,
    operator: Option<Child>,
    more: Vec<String>,
    /// Whether runs may start programs.
    programs: bool,
    /// More variables of the operator.
    environment: Vec<(String, String)>,
    /// Whether connections are made to this machine, where everything is that tests connect to.
    near: bool,
}

impl Stage {
    /// With an operator that works.
    pub(crate) fn new() -> Self {
        Self::with(&[])
    }

    /// As operators are unless somebody says otherwise: runs in it start no programs.
    pub(crate) fn confined() -> Self {
        let mut stage = Self::idle(&[]);
        stage.programs = false;
        stage.start();
        stage
    }

    /// As operators are unless somebody says otherwise: nothing is connected to on their machine.
    pub(crate) fn walled(more: &[&str]) -> Self {
        let mut stage = Self::idle(more);
        stage.near = false;
        stage.start();
        stage
    }

    /// With more variables for the operator.
    pub(crate) fn with_variables(environment: &[(&str, &str)]) -> Self {
        let mut stage = Self::idle(&[]);
        stage.environment = environment.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        stage.start();
        stage
    }

    /// With more words for the operator.
    pub(crate) fn with(more: &[&str]) -> Self {
        Self::on(kube::shared_with_controllers(), more)
    }

    /// The same, on another cluster.
    pub(crate) fn on(reach: &Reach, more: &[&str]) -> Self {
        let mut stage = Self::idle_on(reach, more);
        stage.start();
        stage
    }

    /// Without an operator, for now.
    pub(crate) fn idle(more: &[&str]) -> Self {
        Self::idle_on(kube::shared_with_controllers(), more)
    }

    /// The same, on another cluster.
    pub(crate) fn idle_on(reach: &Reach, more: &[&str]) -> Self {
        install(reach);
        let api = Api::new(reach);
        let namespace = fresh_name();
        api.create("/api/v1/namespaces", &json!({"metadata": {"name": namespace}}));
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("kubeconfig"), reach.kubeconfig_text(ADMIN_TOKEN).unwrap()).unwrap();
        let more = more.iter().map(|word| (*word).to_owned()).collect();
        Self { api, namespace, dir, operator: None, more, programs: true, environment: Vec::new(), near: true }
    }

    /// Another operator for the same namespace, which does not work yet.
    pub(crate) fn beside(&self) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::copy(self.path("kubeconfig"), dir.path().join("kubeconfig")).unwrap();
        let (api, namespace, more) = (self.api.clone(), self.namespace.clone(), self.more.clone());
        let environment = self.environment.clone();
        let (programs, near) = (self.programs, self.near);
        Self { api, namespace, dir, operator: None, more, programs, environment, near }
    }

    /// Another namespace, which nobody works in by itself.
    pub(crate) fn beside_in_another_namespace(&self) -> Self {
        let namespace = fresh_name();
        self.api.create("/api/v1/namespaces", &json!({"metadata": {"name": namespace}}));
        let mut other = self.beside();
        other.namespace = namespace;
        other
    }

    /// The operator works in that namespace, too.
    pub(crate) fn also_in(&mut self, namespace: &str) {
        self.more.extend(["-namespace".to_owned(), namespace.to_owned()]);
    }

    /// The operator looks after objects of tofu-controller, whose lease would be in this namespace.
    pub(crate) fn looks_after_terraform(&mut self) {
        let lease = ["-terraform-objects", "-tofu-controller-namespace", &self.namespace].map(str::to_owned);
        self.more.extend(lease);
    }

    /// Operators of this namespace have a lease there.
    pub(crate) fn lease_in_own_namespace(&mut self) {
        self.more = vec!["-lease-namespace".to_owned(), self.namespace.clone()];
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Starts the operator, or another one after the first.
    pub(crate) fn start(&mut self) {
        let log = fs::OpenOptions::new().create(true).append(true).open(self.path("operator.log")).unwrap();
        let mut command = self.groma(&["operator"]);
        command.args(["-account", "groma-system/groma-operator"]);
        command.arg("-namespace").arg(&self.namespace).arg("-scratch").arg(self.path("runs"));
        command.arg("-files").arg(self.dir.path());
        command.args(self.programs.then_some("-allow-programs-in-process"));
        if self.near {
            command.args(["-allow-networks", "127.0.0.0/8,::1"]);
        }
        command.args(&self.more).stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        self.operator = Some(command.env("TF_LOG", "INFO").spawn().unwrap());
    }

    /// groma, with this cluster.
    pub(crate) fn groma(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_groma"));
        #[expect(clippy::disallowed_methods, reason = "programs are found as everywhere")]
        let programs = std::env::var_os("PATH").unwrap_or_default();
        command.args(words).current_dir(self.dir.path()).env_clear().env("PATH", programs);
        command.env("HOME", self.dir.path()).env("KUBECONFIG", self.path("kubeconfig"));
        command
    }

    /// Ends the operator at once, without a word.
    pub(crate) fn kill(&mut self) {
        if let Some(mut operator) = self.operator.take() {
            let _ = operator.kill();
            let _ = operator.wait();
        }
    }

    /// How much memory the operator has, in KiB.
    #[allow(dead_code, reason = "not every program that has this asks")]
    #[track_caller]
    pub(crate) fn memory(&self) -> u64 {
        let id = self.operator.as_ref().unwrap().id();
        let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.split_whitespace().next().unwrap().parse().unwrap()
    }

    /// Asks the operator to end, and waits: its exit code.
    #[track_caller]
    pub(crate) fn end(&mut self) -> i32 {
        let mut operator = self.operator.take().unwrap();
        let id = operator.id().to_string();
        assert!(Command::new("kill").args(["-s", "TERM", &id]).status().unwrap().success());
        operator.wait().unwrap().code().unwrap_or(-1)
    }

    /// What the operator has logged.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.path("operator.log")).unwrap_or_default()
    }

    /// Where objects are in the API.
    pub(crate) fn at(&self, group_version: &str, plural: &str, name: &str) -> String {
        let start = if group_version == "v1" { "/api/v1".to_owned() } else { format!("/apis/{group_version}") };
        format!("{start}/namespaces/{}/{plural}/{name}", self.namespace).trim_end_matches('/').to_owned()
    }

    /// Where a Stack is.
    pub(crate) fn at_stack(&self, name: &str) -> String {
        self.at("groma.dev/v1alpha1", "stacks", name)
    }

    /// Writes a Stack that asks for this, without anybody having to agree.
    #[track_caller]
    pub(crate) fn stack(&self, name: &str, mut spec: Value) -> Value {
        if spec.get("approval").is_none() {
            spec["approval"] = json!({"mode": "auto"});
        }
        let stack = json!({
            "apiVersion": "groma.dev/v1alpha1", "kind": "Stack", "metadata": {"name": name}, "spec": spec,
        });
        self.api.create(&self.at_stack(""), &stack)
    }

    /// The same, with a configuration in one file.
    #[track_caller]
    pub(crate) fn inline(&self, name: &str, main: &str) -> Value {
        self.stack(name, json!({"source": {"inline": {"main.tf": main}}}))
    }

    #[track_caller]
    pub(crate) fn edit(&self, name: &str, change: &Value) {
        self.api.edit(&self.at_stack(name), change);
    }

    /// A Stack as it is.
    #[track_caller]
    pub(crate) fn get(&self, name: &str) -> Value {
        self.api.get(&self.at_stack(name))
    }

    /// Makes a Secret.
    #[track_caller]
    pub(crate) fn secret(&self, name: &str, data: &Value) {
        self.api.create(&self.at("v1", "secrets", ""), &json!({"metadata": {"name": name}, "stringData": data}));
    }

    /// Makes a ConfigMap.
    #[track_caller]
    pub(crate) fn config_map(&self, name: &str, data: &Value) {
        self.api.create(&self.at("v1", "configmaps", ""), &json!({"metadata": {"name": name}, "data": data}));
    }

    /// The data of a Secret, decoded.
    #[track_caller]
    pub(crate) fn secret_data(&self, name: &str) -> std::collections::BTreeMap<String, String> {
        use base64::Engine as _;
        let found = self.api.get(&self.at("v1", "secrets", name));
        let decode = |value: &Value| base64::engine::general_purpose::STANDARD.decode(value.as_str().unwrap()).unwrap();
        let data = found["data"].as_object().cloned().unwrap_or_default();
        data.iter().map(|(key, value)| (key.clone(), String::from_utf8(decode(value)).unwrap())).collect()
    }

    /// The Runs of a Stack, in their order.
    #[track_caller]
    pub(crate) fn runs(&self, stack: &str) -> Vec<Value> {
        let path = format!("{}?labelSelector=groma.dev/stack={stack}", self.at("groma.dev/v1alpha1", "runs", ""));
        let mut runs = self.api.get(&path)["items"].as_array().unwrap().clone();
        runs.sort_by_key(|run| run["spec"]["number"].as_u64());
        runs
    }

    /// Waits until something is seen.
    #[track_caller]
    pub(crate) fn until<T>(&self, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
        let start = now();
        loop {
            if let Some(found) = look() {
                return found;
            }
            assert!(start.elapsed() < PATIENCE, "{what} did not come; {}\n{}", self.everything(), self.log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn everything(&self) -> String {
        let stacks = self.api.get(&self.at_stack(""));
        let runs = self.api.get(&self.at("groma.dev/v1alpha1", "runs", ""));
        let statuses = |list: &Value| -> Vec<Value> {
            let items = list["items"].as_array().unwrap().iter();
            items.map(|item| json!({"name": item["metadata"]["name"], "status": item["status"]})).collect()
        };
        serde_json::to_string_pretty(&json!({"stacks": statuses(&stacks), "runs": statuses(&runs)})).unwrap()
    }

    /// Waits until a Stack says this about itself, of what it asks for now.
    #[track_caller]
    pub(crate) fn says(&self, name: &str, ready: &str, reason: &str) -> Value {
        self.until(&format!("{name}: Ready={ready}, {reason}"), || {
            let stack = self.get(name);
            let condition = condition(&stack, "Ready")?;
            let is_current = stack["status"]["observedGeneration"] == stack["metadata"]["generation"];
            (is_current && condition["status"] == ready && condition["reason"] == reason).then_some(stack)
        })
    }

    /// Waits until all is as the Stack asks for.
    #[track_caller]
    pub(crate) fn ready(&self, name: &str) -> Value {
        self.until(&format!("{name}: Ready"), || {
            let stack = self.get(name);
            let condition = condition(&stack, "Ready")?;
            let is_current = stack["status"]["observedGeneration"] == stack["metadata"]["generation"];
            (is_current && condition["status"] == "True").then_some(stack)
        })
    }

    /// Deletes a Stack and waits until it is gone.
    #[track_caller]
    pub(crate) fn delete(&self, name: &str) {
        self.api.delete(&self.at_stack(name));
        self.gone(name);
    }

    #[track_caller]
    pub(crate) fn gone(&self, name: &str) {
        self.until(&format!("{name}: gone"), || self.api.find(&self.at_stack(name)).is_none().then_some(()));
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.kill();
    }
}

/// What time it is.
#[expect(clippy::disallowed_methods, reason = "how long something takes is part of the stories")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// What a Stack says about itself.
pub(crate) fn condition(stack: &Value, kind: &str) -> Option<Value> {
    let all = stack["status"]["conditions"].as_array()?;
    all.iter().find(|condition| condition["type"] == kind).cloned()
}

/// What is said about whether it is ready.
pub(crate) fn message(stack: &Value) -> String {
    condition(stack, "Ready").unwrap()["message"].as_str().unwrap().to_owned()
}

/// Gives a cluster our kinds, and the rights of those who work with them.
fn install(reach: &Reach) {
    static READY: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut ready = READY.lock().unwrap();
    if ready.insert(reach.url.clone()) {
        let api = Api::new(reach);
        for object in groma_operator::install::Install::default().rights() {
            if object["kind"] == "ClusterRole" {
                let path = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
                let (status, said) = api.ask("POST", path, "application/json", Some(&object)).unwrap();
                assert!(status == 201 || status == 409, "{said}");
            }
        }
        for definition in groma_operator::install::definitions() {
            let name = definition["metadata"]["name"].as_str().unwrap().to_owned();
            let path = format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}");
            if api.find(&path).is_none() {
                let (status, said) = api
                    .ask(
                        "POST",
                        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                        "application/json",
                        Some(&definition),
                    )
                    .unwrap();
                assert!(status == 201 || status == 409, "{said}");
            }
            let is_established = || {
                let conditions = api.get(&path)["status"]["conditions"].clone();
                conditions
                    .as_array()
                    .into_iter()
                    .flatten()
                    .any(|known| known["type"] == "Established" && known["status"] == "True")
            };
            assert!(crate::api::eventually(is_established), "{name} is not established");
        }
    }
}

fn fresh_name() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("test").rsplit("::").next().unwrap_or_default().replace('_', "-");
    let test: String = test.chars().take(40).collect();
    format!("{}-{count}", test.trim_matches('-'))
}

/// An address that nobody listens at.
pub(crate) fn free_address() -> String {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    free.local_addr().unwrap().to_string()
}

/// What is at an address.
pub(crate) fn page(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(format!("GET {path} HTTP/1.0\r\nHost: {address}\r\n\r\n").as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}
