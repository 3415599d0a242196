//! A Stack whose runs are Jobs.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use groma_operator::api::shared::Length;
use groma_testkit::servers::kube::{self, POD_IMAGE};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::stage::{Stage, condition, message};

const NAME: &str = "resource \"random_string\" \"name\" {\n  length = 8\n}\noutput \"name\" {\n  value = random_string.name.result\n}\n";

/// groma where any pod can read it.
fn program() -> &'static Path {
    static COPY: OnceLock<TempDir> = OnceLock::new();
    COPY.get_or_init(|| {
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
        fs::copy(env!("CARGO_BIN_EXE_groma"), dir.path().join("groma")).unwrap();
        dir
    })
    .path()
}

/// A pod with groma and the libraries of this machine.
pub(crate) fn pod() -> Value {
    let folder = |name: &str, path: &str| json!({"name": name, "hostPath": {"path": path, "type": "Directory"}});
    let mount = |name: &str, path: &str| json!({"name": name, "mountPath": path, "readOnly": true});
    json!({
        "image": POD_IMAGE,
        "spec": {
            "containers": [{
                "name": "terraform",
                "imagePullPolicy": "Never",
                "command": ["/program/groma"],
                "volumeMounts": [mount("program", "/program"), mount("lib", "/lib"), mount("lib64", "/lib64")],
            }],
            "volumes": [
                folder("program", program().to_str().unwrap()), folder("lib", "/usr/lib"), folder("lib64", "/usr/lib64"),
            ],
        },
    })
}

fn stage() -> Stage {
    Stage::on(kube::shared_with_node(), &["-executor", "job"])
}

pub(crate) fn jobs(stage: &Stage, stack: &str) -> Vec<Value> {
    let path = format!("{}?labelSelector=groma.dev/stack={stack}", stage.at("batch/v1", "jobs", ""));
    stage.api.get(&path)["items"].as_array().unwrap().clone()
}

/// From a Stack to a Job to a Secret, and everything away again.
#[test]
fn a_stack_is_made_and_taken_down_by_jobs() {
    let stage = stage();
    let spec = json!({
        "source": {"inline": {"main.tf": NAME}}, "outputs": {"secret": {"name": "out"}}, "podTemplate": pod(),
    });
    stage.stack("name", spec);
    let stack = stage.ready("name");
    assert_eq!(message(&stack), "Applied: 1 added, 0 changed, 0 destroyed.");
    assert_eq!(stage.secret_data("out")["name"].len(), 8);
    let job = jobs(&stage, "name").remove(0);
    let name = job["metadata"]["name"].as_str().unwrap().to_owned();
    assert!(name.starts_with("terraform-apply-name-2"), "{name}");
    assert_eq!(job["spec"]["template"]["spec"]["serviceAccountName"], "terraform-executor");
    assert_eq!(job["spec"]["ttlSecondsAfterFinished"], 3600);
    let secret = stage.api.get(&stage.at("v1", "secrets", &format!("{name}-outputs")));
    assert_eq!(secret["metadata"]["ownerReferences"][0]["name"], name.as_str());
    assert_eq!(stage.secret_data(&format!("{name}-outputs")), stage.secret_data("out"));
    stage.delete("name");
    assert!(stage.api.find(&stage.at("v1", "secrets", "tfstate-default-name")).is_none());
}

/// The pods have another engine, which keeps the state where it always is, with no rights but those of the account.
#[test]
fn jobs_run_other_engines() {
    let stage = stage();
    let tofu = program().join("tofu");
    #[expect(clippy::disallowed_methods, reason = "the peers are named by the environment")]
    let peer = std::env::var_os("GROMA_TOFU").expect("GROMA_TOFU is not set; run `cargo xtask test`");
    fs::copy(peer, &tofu).unwrap();
    fs::set_permissions(&tofu, fs::Permissions::from_mode(0o755)).unwrap();
    let main = "resource \"terraform_data\" \"it\" {\n  input = 1\n}\noutput \"it\" {\n  value = terraform_data.it.output\n}\n";
    let spec = json!({
        "source": {"inline": {"main.tf": main}}, "engine": "tofu", "outputs": {"secret": {"name": "out"}},
        "approval": {"mode": "manual"}, "podTemplate": pod(),
    });
    stage.stack("it", spec);
    // Without it, it is said what is missing, in the pod as well.
    let stack = stage.says("it", "False", "InvalidConfiguration");
    assert!(message(&stack).contains("spec.engine: tofu needs OpenTofu"), "{}", message(&stack));
    let mut template = pod();
    template["spec"]["containers"][0]["env"] = json!([{"name": "GROMA_TOFU_BINARY", "value": "/program/tofu"}]);
    stage.edit("it", &json!({"spec": {"podTemplate": template}}));
    stage.edit("it", &json!({"metadata": {"annotations": {"groma.dev/requested-at": "now"}}}));
    let plan = stage.says("it", "Unknown", "AwaitingApproval")["status"]["pending"]["plan"].clone();
    stage.edit("it", &json!({"metadata": {"annotations": {"groma.dev/approve": plan}}}));
    stage.ready("it");
    assert_eq!(stage.secret_data("out")["it"], "1");
    assert!(stage.api.find(&stage.at("v1", "secrets", "tfstate-default-it")).is_some());
    stage.edit("it", &json!({"spec": {"approval": {"mode": "auto"}}}));
    stage.delete("it");
    assert!(stage.api.find(&stage.at("v1", "secrets", "tfstate-default-it")).is_none());
}

/// A mistake is told as everywhere, and nothing hangs.
#[test]
fn a_job_that_fails_says_why() {
    let stage = stage();
    stage.stack("bad", json!({"source": {"inline": {"main.tf": "bad"}}, "podTemplate": pod()}));
    let stack = stage.until("it fails", || {
        let stack = stage.get("bad");
        (condition(&stack, "Ready")?["status"] == "False").then_some(stack)
    });
    assert!(message(&stack).contains("main.tf:1"), "{}", message(&stack));
    stage.delete("bad");
}

/// Work goes on in the pod while the operator is away, and somebody's agreement is carried out by another one.
#[test]
fn jobs_outlive_the_operator() {
    let mut stage = stage();
    let slow = "resource \"time_sleep\" \"it\" {\n  create_duration = \"3s\"\n}\n";
    let spec = json!({
        "source": {"inline": {"main.tf": slow}}, "approval": {"mode": "manual"}, "podTemplate": pod(),
    });
    stage.stack("slow", spec);
    let stack = stage.says("slow", "Unknown", "AwaitingApproval");
    let plan = stack["status"]["pending"]["plan"].clone();
    stage.edit("slow", &json!({"metadata": {"annotations": {"groma.dev/approve": plan}}}));
    stage.until("it is applied", || (stage.runs("slow").first()?["status"]["phase"] == "Applying").then_some(()));
    stage.kill();
    stage.until("it is done", || (stage.runs("slow").first()?["status"]["phase"] == "Succeeded").then_some(()));
    stage.start();
    stage.ready("slow");
    assert_eq!(stage.runs("slow").len(), 1);
    assert_eq!(jobs(&stage, "slow").len(), 2);
}

/// A pod that is killed leaves a lock, which its successor does not stumble over.
#[test]
fn a_pod_that_is_killed_is_followed_by_another() {
    let stage = stage();
    let slow = "resource \"time_sleep\" \"it\" {\n  create_duration = \"5s\"\n}\n";
    let spec = json!({"source": {"inline": {"main.tf": slow}}, "podTemplate": pod(), "retry": {"interval": "1s"}});
    stage.stack("slow", spec);
    stage.until("it is applied", || (stage.runs("slow").first()?["status"]["phase"] == "Applying").then_some(()));
    let pods = stage.api.get(&stage.at("v1", "pods", ""));
    let pod = pods["items"][0]["metadata"]["name"].as_str().unwrap().to_owned();
    let path = format!("{}?gracePeriodSeconds=0", stage.at("v1", "pods", &pod));
    stage.api.delete(&path);
    stage.ready("slow");
    let runs = stage.runs("slow");
    assert_eq!(runs[0]["status"]["failure"], "Interrupted", "{runs:?}");
    // The pod is gone for certain, so nobody waits until its lock has been silent for long enough. The state is locked for a plan.
    let phases = runs[1]["status"]["phases"].as_array().unwrap().clone();
    let planning = phases.iter().find(|time| time["phase"] == "Planning").unwrap();
    let took: Length = serde_json::from_value(planning["took"].clone()).unwrap();
    assert!(took.0 < Duration::from_secs(10), "{runs:?}");
}

/// No pod can be made where a namespace is deleted: what Jobs have made is taken down without them.
#[test]
fn a_namespace_ends_whose_runs_are_jobs() {
    let stage = stage();
    let slow = "resource \"time_sleep\" \"it\" {\n  create_duration = \"60s\"\n}\n";
    stage.stack("name", json!({"source": {"inline": {"main.tf": NAME}}, "podTemplate": pod()}));
    stage.ready("name");
    // And one in the middle.
    stage.stack("slow", json!({"source": {"inline": {"main.tf": slow}}, "podTemplate": pod()}));
    stage.until("it is applied", || (stage.runs("slow").first()?["status"]["phase"] == "Applying").then_some(()));
    let path = format!("/api/v1/namespaces/{}", stage.namespace);
    stage.api.delete(&path);
    stage.until("the namespace is gone", || stage.api.find(&path).is_none().then_some(()));
}
