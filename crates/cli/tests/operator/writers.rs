//! Others who write the state of a Stack, lose it, or put something else in its place.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::stage::{Stage, condition, message};
use crate::tickets::{does, events, is_refused, said};

const DATA: &str =
    "resource \"terraform_data\" \"it\" {\n  input = \"one\"\n}\noutput \"id\" {\n  value = terraform_data.it.id\n}\n";

fn data() -> Value {
    json!({"source": {"inline": {"main.tf": DATA}}, "interval": "1h", "outputs": {"status": true}, "retry": {"interval": "300ms"}})
}

fn id(stack: &Value) -> String {
    stack["status"]["outputs"]["id"].as_str().unwrap().to_owned()
}

pub(crate) fn at_state(stage: &Stage, stack: &str) -> String {
    stage.at("v1", "secrets", &format!("tfstate-default-{stack}"))
}

/// The state of a Stack, as it is stored.
#[track_caller]
pub(crate) fn state(stage: &Stage, stack: &str) -> Value {
    let secret = stage.api.get(&at_state(stage, stack));
    let packed = STANDARD.decode(secret["data"]["tfstate"].as_str().unwrap()).unwrap();
    let mut text = String::new();
    flate2::read::GzDecoder::new(&*packed).read_to_string(&mut text).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Puts another one in its place, behind everybody's back.
#[track_caller]
pub(crate) fn put_state(stage: &Stage, stack: &str, state: &Value) {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(state.to_string().as_bytes()).unwrap();
    let data = json!({"data": {"tfstate": STANDARD.encode(packed.finish().unwrap())}});
    stage.api.edit(&at_state(stage, stack), &data);
}

#[track_caller]
fn ask(stage: &Stage, stack: &str) {
    let full = format!("{}/{stack}", stage.namespace);
    does(stage, &["stack", "reconcile", &full]);
}

/// The command that a condition names.
#[track_caller]
fn command(stack: &Value, beginning: &str) -> Vec<String> {
    let told = message(stack);
    let at = told.find(beginning).unwrap_or_else(|| panic!("{beginning:?} is not in {told}"));
    let words = told[at..]
        .split_whitespace()
        .take(beginning.split_whitespace().count() + if beginning.contains("approve") { 2 } else { 1 });
    words.skip(1).map(|word| word.trim_end_matches('.').to_owned()).collect()
}

#[track_caller]
fn does_as_told(stage: &Stage, stack: &Value, beginning: &str) {
    let words = command(stack, beginning);
    does(stage, &words.iter().map(String::as_str).collect::<Vec<_>>());
}

/// A state that is gone is not made again from nothing. What the condition says completes it: the last one is put back, or somebody agrees.
#[test]
fn s305_a_state_that_is_lost_is_restored_or_agreed_to() {
    let stage = Stage::new();
    stage.stack("app", data());
    let before = stage.ready("app");
    let left = before["status"]["state"].clone();
    assert_eq!(left["resources"], 1, "{left}");
    assert_eq!(left["lineage"], state(&stage, "app")["lineage"]);
    // What people did: the state goes, and a run is asked for by an annotation.
    let lose = || {
        stage.api.delete(&at_state(&stage, "app"));
        stage.until("it is gone", || stage.api.find(&at_state(&stage, "app")).is_none().then_some(()));
    };
    lose();
    let note = json!({"metadata": {"annotations": {"reconcile.fluxcd.io/requestedAt": "now"}}});
    stage.edit("app", &note);
    let lost = stage.says("app", "False", "StateLost");
    assert!(message(&lost).contains("Nothing is touched"), "{}", message(&lost));
    assert_eq!(condition(&lost, "Stalled").unwrap()["status"], "True");
    assert_eq!(stage.runs("app").last().unwrap()["status"]["phase"], "AwaitingApproval");
    does_as_told(&stage, &lost, "groma stack restore-state");
    let restored = stage.ready("app");
    assert_eq!(id(&restored), id(&before));
    assert_eq!(restored["status"]["state"]["lineage"], left["lineage"]);
    assert!(restored["status"]["state"]["serial"].as_u64() > left["serial"].as_u64());
    let full = format!("{}/app", stage.namespace);
    assert!(does(&stage, &["stack", "restore-state", &full, "-list"]).contains("app-state-"));
    assert!(is_refused(&stage, &["stack", "restore-state", &full, "999"]).contains("None with serial 999"));

    lose();
    ask(&stage, "app");
    let lost = stage.says("app", "False", "StateLost");
    does_as_told(&stage, &lost, "groma stack approve");
    let made = stage.until("it is made again", || {
        let stack = stage.ready("app");
        (stack["status"]["state"]["lineage"] != left["lineage"]).then_some(stack)
    });
    assert_ne!(id(&made), id(&before));
    // A Stack whose state is gone does not go silently either.
    lose();
    stage.api.delete(&stage.at_stack("app"));
    let lost = stage.until("its deletion waits", || {
        let stack = stage.get("app");
        (condition(&stack, "Ready")?["reason"] == "StateLost").then_some(stack)
    });
    does_as_told(&stage, &lost, "groma stack approve");
    stage.gone("app");
}

/// Another state, or an older one, is not taken for the one that was left.
#[test]
fn s303_other_states_are_refused() {
    let stage = Stage::new();
    for name in ["other", "older"] {
        stage.stack(name, data());
    }
    for (name, member, value, reason) in [
        ("other", "lineage", json!("11111111-2222-3333-4444-555555555555"), "StateLineageMismatch"),
        ("older", "serial", json!(0), "StateRegressed"),
    ] {
        let before = stage.ready(name);
        let right = state(&stage, name);
        let mut wrong = right.clone();
        wrong[member] = value;
        put_state(&stage, name, &wrong);
        ask(&stage, name);
        let refused = stage.says(name, "False", reason);
        assert_eq!(refused["status"]["state"], before["status"]["state"], "what was left is still what is expected");
        assert_eq!(state(&stage, name), wrong, "nothing is touched");
        // Whoever puts the right one back need say nothing.
        put_state(&stage, name, &right);
        ask(&stage, name);
        assert_eq!(id(&stage.ready(name)), id(&before));
        // And whoever means it says so.
        put_state(&stage, name, &wrong);
        ask(&stage, name);
        let refused = stage.says(name, "False", reason);
        does_as_told(&stage, &refused, "groma stack approve");
        let agreed = stage.ready(name);
        assert_eq!(agreed["status"]["state"]["lineage"], wrong["lineage"]);
        assert_eq!(id(&agreed), id(&before));
    }
}

/// The program that the environment names.
#[expect(clippy::disallowed_methods, reason = "the peers are named by the environment")]
fn peer(variable: &str) -> PathBuf {
    std::env::var_os(variable).unwrap_or_else(|| panic!("{variable} is not set; run `cargo xtask test`")).into()
}

/// A directory with the same configuration, and the same backend.
fn beside(stage: &Stage, stack: &str, main: &str) -> PathBuf {
    let dir = stage.path(&format!("beside-{stack}"));
    fs::create_dir_all(&dir).unwrap();
    let backend = format!(
        "terraform {{\n  backend \"kubernetes\" {{\n    secret_suffix = {stack:?}\n    namespace = {:?}\n    config_path = \"{}\"\n  }}\n}}\n",
        stage.namespace,
        stage.path("kubeconfig").display()
    );
    fs::write(dir.join("backend.tf"), backend).unwrap();
    fs::write(dir.join("main.tf"), main).unwrap();
    dir
}

fn tool(program: &Path, dir: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(program);
    #[expect(clippy::disallowed_methods, reason = "programs are found as everywhere")]
    let programs = std::env::var_os("PATH").unwrap_or_default();
    command.args(words).current_dir(dir).env_clear().env("PATH", programs).env("HOME", dir);
    command.env("CHECKPOINT_DISABLE", "1");
    command
}

#[track_caller]
fn works(program: &Path, dir: &Path, words: &[&str]) -> String {
    let output = tool(program, dir, words).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", said(&output));
    said(&output)
}

/// Real writers beside the operator, with its own backend: locks are respected both ways, and what they write is noticed.
#[test]
fn s302_two_real_writers() {
    let stage = Stage::new();
    for (name, variable) in [("terraform", "GROMA_TERRAFORM"), ("tofu", "GROMA_TOFU")] {
        let program = peer(variable);
        let mut spec = data();
        spec["approval"] = json!({"mode": "manual"});
        stage.stack(name, spec);
        let waits = stage.says(name, "Unknown", "AwaitingApproval");
        does_as_told(&stage, &waits, "groma stack approve");
        let before = stage.ready(name)["status"]["state"].clone();

        // Somebody else writes while a plan waits: that plan is not carried out, and another one is made.
        stage.edit(name, &json!({"spec": {"source": {"inline": {"main.tf": DATA.replace("\"one\"", "\"two\"")}}}}));
        let waits = stage.says(name, "Unknown", "AwaitingApproval");
        let stale = waits["status"]["pending"]["plan"].clone();
        let dir = beside(&stage, name, &DATA.replace("\"one\"", "\"theirs\""));
        works(&program, &dir, &["init", "-input=false", "-no-color"]);
        works(&program, &dir, &["apply", "-auto-approve", "-input=false", "-no-color"]);
        let theirs = state(&stage, name);
        assert_eq!(theirs["lineage"], before["lineage"], "it is the same state");
        assert!(theirs["serial"].as_u64() > before["serial"].as_u64());
        does_as_told(&stage, &waits, "groma stack approve");
        stage.until("another plan waits", || {
            let plan = stage.get(name)["status"]["pending"]["plan"].clone();
            (plan.is_string() && plan != stale).then_some(())
        });
        let () = ();
        let told = stage.until("it is told", || {
            events(&stage, "StateChangedExternally")
                .into_iter()
                .find(|told| told.contains(&theirs["serial"].to_string()))
        });
        assert!(told.contains(" by "), "{told}");
        assert_eq!(state(&stage, name)["serial"], theirs["serial"], "nothing was carried out");
        let waits = stage.says(name, "Unknown", "AwaitingApproval");
        does_as_told(&stage, &waits, "groma stack approve");
        stage.ready(name);

        // Their lock keeps us away; and ours them.
        stage.edit(name, &json!({"spec": {"approval": {"mode": "auto"}}}));
        stage.ready(name);
        let slow = |seconds: u32| {
            format!(
                "{DATA}resource \"terraform_data\" \"slow\" {{\n  provisioner \"local-exec\" {{\n    command = \"touch {}; sleep {seconds}\"\n  }}\n}}\n",
                stage.path(&format!("{name}-begun")).display()
            )
        };
        fs::write(dir.join("main.tf"), slow(4)).unwrap();
        let mut running =
            tool(&program, &dir, &["apply", "-auto-approve", "-input=false", "-no-color"]).spawn().unwrap();
        stage.until("they have begun", || stage.path(&format!("{name}-begun")).exists().then_some(()));
        ask(&stage, name);
        stage.says(name, "False", "StateLocked");
        assert!(running.wait().unwrap().success());
        stage.ready(name);
        fs::remove_file(stage.path(&format!("{name}-begun"))).unwrap();
        stage.edit(
            name,
            &json!({"spec": {"allowExec": true, "source": {"inline": {"main.tf": slow(3).replace("slow", "ours")}}}}),
        );
        stage.until("we have begun", || stage.path(&format!("{name}-begun")).exists().then_some(()));
        let output = tool(&program, &dir, &["plan", "-input=false", "-no-color"]).output().unwrap();
        assert!(
            !output.status.success() && said(&output).contains("Error acquiring the state lock"),
            "{}",
            said(&output)
        );
        stage.ready(name);
    }
}

/// Whoever runs groma where an operator looks after things is told so, and does nothing.
#[test]
fn s301_a_module_that_an_operator_owns_is_left_to_it() {
    let stage = Stage::new();
    stage.stack("app", data());
    let before = stage.ready("app");
    let full = format!("{}/app", stage.namespace);
    let dir = stage.path("module");
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("main.tf"), DATA).unwrap();
    does(&stage, &["stack", "own", &full, dir.to_str().unwrap()]);
    assert!(fs::read_to_string(dir.join(".groma/owner")).unwrap().contains(&format!("stack: {full}")));
    let at = format!("-chdir={}", dir.display());
    does(&stage, &[&at, "init"]);
    let planned = does(&stage, &[&at, "plan"]);
    assert!(planned.contains("Managed by an operator") && planned.contains("1 to add"), "{planned}");
    for words in [
        &["apply", "-auto-approve"][..],
        &["destroy", "-auto-approve"],
        &["import", "terraform_data.it", "x"],
        &["refresh"],
        &["state", "rm", "terraform_data.it"],
        &["taint", "terraform_data.it"],
    ] {
        let told = is_refused(&stage, &[&[at.as_str()], words].concat());
        assert!(
            told.contains("Managed by an operator") && told.contains(&full) && told.contains("-i-know"),
            "{words:?}: {told}"
        );
    }
    assert!(!dir.join("terraform.tfstate").exists());
    assert!(does(&stage, &[&at, "apply", "-auto-approve", "-i-know"]).contains("1 added"));

    // The state in the cluster knows as well.
    let dir = beside(&stage, "app", DATA);
    let at = format!("-chdir={}", dir.display());
    does(&stage, &[&at, "init"]);
    let told = is_refused(&stage, &[&at, "apply", "-auto-approve"]);
    assert!(told.contains("Managed by an operator") && told.contains(&format!("Stack {full}")), "{told}");
    assert!(does(&stage, &[&at, "plan"]).contains("No changes"));
    fs::write(dir.join("main.tf"), DATA.replace("\"one\"", "\"mine\"")).unwrap();
    assert!(does(&stage, &[&at, "apply", "-auto-approve", "-i-know"]).contains("1 changed"));
    ask(&stage, "app");
    stage.until("it is told", || events(&stage, "StateChangedExternally").pop());
    assert_eq!(id(&stage.ready("app")), id(&before));
}
