//! What tofu-controller and OpenTofu have left is gone on with where it is.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::fetched::{FIRST, SECOND};
use super::{FINALIZER, MAIN, Rig, get, write};
use crate::stage::{Stage, condition};

/// The program that the environment names.
#[expect(clippy::disallowed_methods, reason = "the peers are named by the environment")]
fn peer(variable: &str) -> PathBuf {
    std::env::var_os(variable).unwrap_or_else(|| panic!("{variable} is not set; run `cargo xtask test`")).into()
}

/// OpenTofu applies a configuration with a state in the cluster, and makes a plan of what comes next.
fn applied_by_opentofu(stage: &Stage, directory: &Path) -> Vec<u8> {
    fs::create_dir(directory).unwrap();
    fs::write(directory.join("main.tf"), MAIN).unwrap();
    let backend = format!(
        "terraform {{\n  backend \"kubernetes\" {{\n    secret_suffix = \"app\"\n    namespace = \"{}\"\n    config_path = \"{}\"\n  }}\n}}\n",
        stage.namespace,
        stage.path("kubeconfig").display()
    );
    fs::write(directory.join("backend_override.tf"), backend).unwrap();
    let steps = [
        &["init", "-input=false"][..],
        &["apply", "-auto-approve", "-input=false"],
        &["plan", "-input=false", "-var=text=theirs", "-out=tfplan"],
    ];
    for words in steps {
        let done = Command::new(peer("GROMA_TOFU")).args(words).current_dir(directory).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }
    fs::read(directory.join("tfplan")).unwrap()
}

/// A plan as tofu-controller keeps it.
fn keep_plan(stage: &Stage, plan: &[u8]) {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut packed, plan).unwrap();
    let group = "infra.contrib.fluxcd.io";
    let note = |name: &str| format!("{group}/{name}");
    let secret = json!({
        "metadata": {
            "name": "tfplan-default-app",
            "labels": {note("plan-name"): "app", note("plan-workspace"): "default"},
            "annotations": {
                "encoding": "gzip", "savedPlan": "plan-main-1111111111", note("plan-full-name"): "app",
                note("plan-full-workspace"): "default",
            },
        },
        "data": {"tfplan": STANDARD.encode(packed.finish().unwrap())},
    });
    stage.api.create(&stage.at("v1", "secrets", ""), &secret);
}

fn migrate(stage: &Stage, more: &[&str]) -> Value {
    let told = stage.groma(&["migrate", "tofu-controller", "-n", &stage.namespace, "-o", "json"]).args(more).output();
    let told = told.unwrap();
    assert!(
        told.status.success(),
        "{}{}",
        String::from_utf8_lossy(&told.stdout),
        String::from_utf8_lossy(&told.stderr)
    );
    let told: Value = serde_json::from_slice(&told.stdout).unwrap();
    told["objects"][0].clone()
}

/// A state and a plan that OpenTofu itself has written: the report says that nothing would change, the object is handed over, and nothing does. The
/// next commit goes on from there, and its plan is where theirs was.
#[test]
fn a_state_and_a_plan_of_opentofu_are_taken_over_in_place() {
    let rig = Rig::new();
    let stage = &rig.stage;
    let plan = applied_by_opentofu(stage, &stage.path("theirs"));
    keep_plan(stage, &plan);
    let state = stage.at("v1", "secrets", "tfstate-default-app");
    let kept = stage.at("v1", "secrets", "tfplan-default-app");
    let (before, theirs) = (stage.api.get(&state)["data"].clone(), stage.api.get(&kept));
    rig.has(FIRST, &[("main.tf", MAIN)]);
    // As tofu-controller leaves an object.
    write(stage, "app", &json!({"finalizers": [FINALIZER]}), &json!({"approvePlan": "auto", "interval": "1s"}));
    let left = json!({
        "observedGeneration": 1, "lastAppliedRevision": FIRST, "lastAttemptedRevision": FIRST, "lastPlannedRevision": FIRST,
        "plan": {"lastApplied": "plan-main-1111111111"},
        "conditions": [{
            "type": "Ready", "status": "True", "reason": "NoDrift", "message": format!("No drift: {FIRST}"),
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        }],
    });
    stage.api.set_status(&stage.at(super::VERSION, "terraforms", "app"), &left);
    let report = stage.until("a report with a plan", || {
        let report = migrate(stage, &[]);
        (report["plan"]["kind"] == "noChanges").then_some(report)
    });
    assert!(report["state"].as_str().unwrap().starts_with("can be read: 1 objects"), "{report}");
    assert_eq!((&report["isOurs"], &report["problems"]), (&json!(false), &json!([])), "{report}");
    assert_eq!(get(stage, "app")["status"], left, "nothing is written before it is handed over");

    let report = migrate(stage, &["-switch"]);
    assert_eq!(report["outcome"]["isDone"], true, "{report}");
    stage.until("it is ours", || (get(stage, "app")["status"] != left).then_some(()));
    let stack = stage.until("it is looked at as what is ours", || {
        let stack = stage.get("terraform--app");
        let ready = condition(&stack, "Ready")?;
        let is_well = ready["status"] == "True" && stack["spec"]["planOnly"] != true;
        (is_well && stack["status"]["observedGeneration"] == stack["metadata"]["generation"]).then_some(stack)
    });
    assert_eq!(stack["spec"]["state"]["suffix"], "app");
    // A few looks at it.
    std::thread::sleep(std::time::Duration::from_secs(3));
    let object = get(stage, "app");
    assert_eq!(condition(&object, "Ready").unwrap()["status"], "True", "{object}");
    assert_eq!(object["status"]["lastAppliedRevision"], FIRST, "{object}");
    assert_eq!(stage.api.get(&state)["data"], before, "not a byte of the state is another one");
    assert_eq!(stage.api.get(&kept)["data"], theirs["data"], "there is no plan that would take its place");
    assert!(rig.runs("app").iter().all(|run| run["status"]["approval"].is_null()), "nothing was carried out");

    rig.has(SECOND, &[("main.tf", &MAIN.replace("\"one\"", "\"two\""))]);
    let object = rig.says("app", ("True", "TerraformAppliedSucceed", SECOND));
    let id = object["status"]["plan"]["lastApplied"].clone();
    let ours = stage.api.get(&kept);
    assert_eq!(ours["metadata"]["annotations"]["savedPlan"], id, "{ours}");
    assert_ne!(ours["data"], theirs["data"]);
    let listed = stage.api.get(&stage.at("v1", "secrets", ""))["items"].as_array().unwrap().clone();
    let plans = listed.iter().filter(|one| one["metadata"]["name"].as_str().unwrap().starts_with("tfplan-default-app"));
    assert_eq!(plans.count(), 1);
    // And OpenTofu itself reads what is there now.
    let told =
        Command::new(peer("GROMA_TOFU")).args(["output", "-raw", "it"]).current_dir(stage.path("theirs")).output();
    assert_eq!(String::from_utf8(told.unwrap().stdout).unwrap(), "two");
}
