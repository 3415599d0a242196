//! A namespace on a cluster that has everything that `groma operator install` prints, and somebody who works there.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use groma_testkit::servers::kube::{ADMIN_TOKEN, Extent, Identity, KubeServer, Reach};
use serde_json::{Value, json};

use crate::api::{Api, eventually};
use crate::sandbox::{Outcome, Sandbox};

/// Somebody who may do what `edit` allows, in each namespace of a team.
pub(crate) const ANA: &str = "ana-of-the-test-cluster";

/// The cluster.
pub(crate) fn cluster() -> &'static Reach {
    static SHARED: OnceLock<KubeServer> = OnceLock::new();
    let server = SHARED.get_or_init(|| {
        let ana = Identity { token: ANA.to_owned(), user: "ana".to_owned(), groups: Vec::new() };
        // Roles are put together by controllers.
        let server = KubeServer::fresh(Extent::Controllers, vec![ana]);
        install(server.reach());
        server
    });
    server.reach()
}

/// Makes everything that is printed, and waits until the kinds are known.
pub(crate) fn install(reach: &Reach) {
    let printed = Sandbox::new().run(&["operator", "install"]);
    assert_eq!(printed.code, 0, "{}", printed.stderr);
    let api = Api::new(reach);
    apply(&api, &printed.stdout);
    for plural in ["stacks", "runs", "blueprints"] {
        let path = format!("/apis/groma.dev/v1alpha1/{plural}");
        let is_served = || api.ask("GET", &path, "", None).is_ok_and(|(status, _)| status == 200);
        assert!(eventually(is_served), "{plural}");
    }
}

/// Applies all objects of a text, as kubectl does; fields that nobody knows are errors. Gives them as they are then.
pub(crate) fn apply(api: &Api, text: &str) -> Vec<Value> {
    let objects: Vec<Value> = serde_saphyr::from_multiple(text).unwrap();
    let applied = objects.iter().map(|object| {
        let path = format!("{}?fieldManager=kubectl&force=true&fieldValidation=Strict", path_of(object));
        let (status, answer) = api.ask("PATCH", &path, "application/apply-patch+yaml", Some(object)).unwrap();
        assert!(status == 200 || status == 201, "{path}: {status} {answer}");
        answer
    });
    applied.collect()
}

pub(crate) fn path_of(object: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (version, kind, name) = (text(&object["apiVersion"]), text(&object["kind"]), text(&object["metadata"]["name"]));
    let root = if version.contains('/') { "apis" } else { "api" };
    let kind = kind.to_lowercase();
    let plural = kind.strip_suffix('y').map_or_else(|| format!("{kind}s"), |stem| format!("{stem}ies"));
    match object["metadata"]["namespace"].as_str() {
        Some(namespace) => format!("/{root}/{version}/namespaces/{namespace}/{plural}/{name}"),
        None => format!("/{root}/{version}/{plural}/{name}"),
    }
}

/// A namespace.
pub(crate) struct Team {
    pub(crate) api: Api,
    pub(crate) namespace: String,
    sandbox: Sandbox,
}

impl Team {
    pub(crate) fn new() -> Self {
        Self::on(cluster())
    }

    /// On another cluster.
    pub(crate) fn on(reach: &Reach) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let namespace = format!("team-{}", COUNT.fetch_add(1, Ordering::Relaxed));
        let api = Api::new(reach);
        api.create("/api/v1/namespaces", &json!({"metadata": {"name": namespace}}));
        let sandbox = Sandbox::new()
            .file("kubeconfig", &reach.kubeconfig_text(ADMIN_TOKEN).unwrap())
            .file("ana", &reach.kubeconfig_text(ANA).unwrap());
        Self { api, namespace, sandbox: sandbox.env("KUBECONFIG", "kubeconfig").env("LC_ALL", "C.UTF-8") }
    }

    /// Ana may work here from now on.
    pub(crate) fn with_ana(self) -> Self {
        let binding = json!({
            "metadata": {"name": "ana"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "edit"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "ana"}],
        });
        let path = format!("/apis/rbac.authorization.k8s.io/v1/namespaces/{}/rolebindings", self.namespace);
        self.api.create(&path, &binding);
        assert!(eventually(|| self.run_as("ana", &["get"]).code == 0), "{}", self.run_as("ana", &["get"]).stderr);
        self
    }

    pub(crate) fn file(&self, name: &str, text: &str) -> &Self {
        std::fs::write(self.sandbox.path(name), text.replace("NAMESPACE", &self.namespace)).unwrap();
        self
    }

    /// Where objects of ours are.
    pub(crate) fn path(&self, plural: &str, name: &str) -> String {
        format!("/apis/groma.dev/v1alpha1/namespaces/{}/{plural}/{name}", self.namespace)
            .trim_end_matches('/')
            .to_owned()
    }

    /// Where objects of the first group are.
    pub(crate) fn core(&self, plural: &str, name: &str) -> String {
        format!("/api/v1/namespaces/{}/{plural}/{name}", self.namespace).trim_end_matches('/').to_owned()
    }

    pub(crate) fn stack(&self, name: &str, spec: &Value, status: &Value) -> Value {
        let object = json!({
            "apiVersion": "groma.dev/v1alpha1", "kind": "Stack", "metadata": {"name": name}, "spec": spec,
        });
        let made = self.api.create(&self.path("stacks", ""), &object);
        if !status.is_null() {
            self.api.set_status(&self.path("stacks", name), status);
        }
        made
    }

    /// A Run, as the operator makes it.
    pub(crate) fn run_object(&self, stack: &str, number: u64, status: &Value) {
        let name = format!("{stack}-{number}");
        let object = json!({
            "apiVersion": "groma.dev/v1alpha1", "kind": "Run",
            "metadata": {"name": name, "labels": {"groma.dev/stack": stack}},
            "spec": run_spec(stack, number),
        });
        self.api.create(&self.path("runs", ""), &object);
        self.api.set_status(&self.path("runs", &name), status);
    }

    /// `groma stack …` as the admin.
    pub(crate) fn run(&self, arguments: &[&str]) -> Outcome {
        self.run_as("kubeconfig", arguments)
    }

    /// The same, with another kubeconfig.
    pub(crate) fn run_as(&self, kubeconfig: &str, arguments: &[&str]) -> Outcome {
        let (command, rest) = arguments.split_first().unwrap();
        let words = [&["stack", command, "-kubeconfig", kubeconfig, "-n", &self.namespace], rest].concat();
        self.sandbox.run(&words)
    }

    /// All that was said, in one line.
    #[track_caller]
    pub(crate) fn succeeds(&self, arguments: &[&str]) -> String {
        let outcome = self.run(arguments);
        assert_eq!(outcome.code, 0, "{arguments:?}: {}", said(&outcome));
        said(&outcome)
    }

    #[track_caller]
    pub(crate) fn fails(&self, arguments: &[&str]) -> String {
        let outcome = self.run(arguments);
        assert_eq!(outcome.code, 1, "{arguments:?}: {}", said(&outcome));
        assert!(!outcome.stderr.contains("panicked"), "{}", outcome.stderr);
        said(&outcome)
    }

    pub(crate) fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }
}

pub(crate) fn run_spec(stack: &str, number: u64) -> Value {
    json!({
        "stack": stack, "number": number, "action": "apply", "bundle": "b", "about": {}, "engine": "native",
        "executor": "inProcess", "approval": {}, "limits": {"init": "1m", "plan": "1m", "apply": "1m"},
        "causes": [{"reason": "Created"}],
    })
}

/// A spec that asks for little.
pub(crate) fn plain() -> Value {
    json!({"source": {"inline": {"main.tf": "output \"a\" {\n  value = 1\n}\n"}}})
}

pub(crate) fn ready(status: &str, reason: &str, message: &str) -> Value {
    json!([{
        "type": "Ready", "status": status, "reason": reason, "message": message,
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }])
}

/// All that was said, in one line, without the bars that diagnostics hang on.
pub(crate) fn said(outcome: &Outcome) -> String {
    let text = format!("{}\n{}", outcome.stdout, outcome.stderr);
    text.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ")
}
