//! What a Stack means to the object that it was made for.
#![allow(clippy::needless_raw_string_hashes, reason = "the tool that updates snapshots writes hashes")]

use expect_test::{Expect, expect};

use super::*;

const NOW: i64 = 1_700_000_000;

fn moment(second: i64) -> Moment {
    Moment(jiff::Timestamp::from_second(second).unwrap())
}

fn fields() -> StatusFields {
    serde_json::from_value(json!({"fields": {"randomValue": "random_value"}, "outputs": "outputs"})).unwrap()
}

fn stack(status: Json) -> Stack {
    serde_json::from_value(json!({
        "apiVersion": "groma.dev/v1alpha1", "kind": "Stack", "metadata": {"name": "thing-a", "generation": 2},
        "spec": {"source": {"inline": {}}}, "status": status,
    }))
    .unwrap()
}

fn conditions(ready: &str, reason: &str, message: &str, more: Option<&str>) -> Json {
    let condition = |kind: &str, status: &str| json!({"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": "2023-01-01T00:00:00Z"});
    let all: Vec<Json> =
        [condition("Ready", ready)].into_iter().chain(more.map(|kind| condition(kind, "True"))).collect();
    json!(all)
}

fn told(before: Option<&Json>, situation: &Situation<'_>) -> Json {
    let fields = fields();
    status(before, &About { kind: "Thing", fields: &fields, generation: Some(3), now: moment(NOW) }, situation)
}

/// Phase, message and conditions in a few lines.
fn short(status: &Json) -> String {
    let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
    let mut lines = vec![format!("{}: {}", text(&status["phase"]), text(&status["message"]))];
    for condition in status["conditions"].as_array().unwrap() {
        lines.push(format!(
            "{}={} {}: {}",
            text(&condition["type"]),
            text(&condition["status"]),
            text(&condition["reason"]),
            text(&condition["message"])
        ));
    }
    lines.join("\n")
}

fn check(stack_status: Json, expected: Expect) {
    let stack = stack(stack_status);
    expected.assert_eq(&short(&told(None, &Situation::Has { stack: &stack, hash: "h" })));
}

#[test]
fn a_ready_stack_makes_an_object_ready() {
    let stack = stack(json!({
        "observedGeneration": 2, "conditions": conditions("True", "Applied", "Applied: 3 added.", None),
        "outputs": {"random_value": "Xy", "length": 16, "list": ["a"]},
    }));
    let mine = json!({"mine": 1, "outputs": {"old": "x"}});
    let status = told(Some(&mine), &Situation::Has { stack: &stack, hash: "h" });
    expect![[r#"
        {
          "mine": 1,
          "outputs": {
            "length": "16",
            "list": "[\"a\"]",
            "random_value": "Xy"
          },
          "randomValue": "Xy",
          "lastAppliedHash": "h",
          "conditions": [
            {
              "type": "Ready",
              "status": "True",
              "observedGeneration": 3,
              "lastTransitionTime": "2023-11-14T22:13:20Z",
              "reason": "Applied",
              "message": "Applied: 3 added."
            }
          ],
          "phase": "Ready",
          "message": "Thing is ready",
          "observedGeneration": 3
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&status).unwrap());
}

#[test]
fn phases_follow_from_conditions() {
    check(
        json!({}),
        expect![[r#"
        Applying: Running Terraform apply
        Ready=Unknown Applying: Running Terraform apply
        Reconciling=True Applying: Running Terraform apply"#]],
    );
    check(
        json!({"observedGeneration": 1, "conditions": conditions("True", "Applied", "Applied.", None), "lastRun": {"name": "r", "number": 1, "phase": "Applying"}}),
        expect![[r#"
            Applying: Waiting for existing Terraform job to complete
            Ready=Unknown Applying: Waiting for existing Terraform job to complete
            Reconciling=True Applying: Waiting for existing Terraform job to complete"#]],
    );
    check(
        json!({"observedGeneration": 2, "conditions": conditions("Unknown", "Progressing", "r-1: Planning", Some("Reconciling"))}),
        expect![[r#"
            Applying: Running Terraform apply
            Ready=Unknown Progressing: r-1: Planning
            Reconciling=True Progressing: r-1: Planning"#]],
    );
    check(
        json!({"observedGeneration": 2, "conditions": conditions("Unknown", "AwaitingApproval", "Plan p: approve it", None)}),
        expect![[r#"
            Pending: Plan p: approve it
            Ready=Unknown AwaitingApproval: Plan p: approve it"#]],
    );
    check(
        json!({"observedGeneration": 2, "conditions": conditions("False", "InvalidConfiguration", "r-1: main.tf:3: no", Some("Reconciling"))}),
        expect![[r#"
            Error: r-1: main.tf:3: no
            Ready=False InvalidConfiguration: r-1: main.tf:3: no
            Reconciling=True InvalidConfiguration: r-1: main.tf:3: no"#]],
    );
    check(
        json!({"observedGeneration": 2, "conditions": conditions("False", "InvalidSpec", "no", Some("Stalled"))}),
        expect![[r#"
            Error: no
            Ready=False InvalidSpec: no
            Stalled=True InvalidSpec: no"#]],
    );
}

#[test]
fn looking_again_makes_nothing_less_ready() {
    let about = json!({"specHash": "s", "sourceHash": "c", "inputsHash": "i"});
    let looked_at = |phase: &str| {
        stack(json!({
            "observedGeneration": 2, "conditions": conditions("Unknown", "Progressing", "r-2", Some("Reconciling")),
            "attempted": about, "applied": {"run": "r-1", "about": about, "bundle": "b", "at": "2023-01-01T00:00:00Z"},
            "lastRun": {"name": "r-2", "number": 2, "phase": phase},
        }))
    };
    let before = json!({"lastAppliedHash": "h"});
    let phase = |stack: &Stack, hash: &str| told(Some(&before), &Situation::Has { stack, hash })["phase"].clone();
    assert_eq!(phase(&looked_at("Planning"), "h"), "Ready");
    assert_eq!(phase(&looked_at("Planning"), "other"), "Applying");
    assert_eq!(phase(&looked_at("Applying"), "h"), "Applying");
}

#[test]
fn what_is_wrong_is_told_and_outputs_stay() {
    let problem = Problem { blueprint: None, field: "metadata.name".to_owned(), what: "too long".to_owned() };
    let before = json!({"randomValue": "Xy", "lastAppliedHash": "h"});
    let status = told(Some(&before), &Situation::Wrong(&[problem]));
    assert_eq!((&status["randomValue"], &status["lastAppliedHash"]), (&json!("Xy"), &json!("h")));
    expect![[r#"
        Error: metadata.name: too long
        Ready=False InvalidSpec: metadata.name: too long
        Stalled=True InvalidSpec: metadata.name: too long"#]]
    .assert_eq(&short(&status));
    // It is right again: nothing is stalled any more.
    let stack = stack(json!({}));
    let next = told(Some(&status), &Situation::Has { stack: &stack, hash: "h" });
    assert!(!short(&next).contains("Stalled"));
}

#[test]
fn what_goes_says_so_until_it_is_gone() {
    let mut stack = stack(
        json!({"observedGeneration": 2, "conditions": conditions("False", "DestroyFailed", "r-3: in use", Some("Reconciling"))}),
    );
    expect![[r#"
        Destroying: Running Terraform destroy
        Ready=Unknown Destroying: Running Terraform destroy
        Reconciling=True Destroying: Running Terraform destroy"#]]
    .assert_eq(&short(&told(None, &Situation::Goes(Some(&stack)))));
    stack.metadata.deletion_timestamp = Some(k8s_openapi::apimachinery::pkg::apis::meta::v1::Time(moment(NOW).0));
    expect![[r#"
        Destroying: r-3: in use
        Ready=False DestroyFailed: r-3: in use
        Reconciling=True DestroyFailed: r-3: in use"#]]
    .assert_eq(&short(&told(None, &Situation::Goes(Some(&stack)))));
}
