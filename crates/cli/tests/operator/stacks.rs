//! A Stack from its beginning to its end.

use serde_json::json;

use crate::stage::{Stage, message};

const PET: &str = r#"
variable "length" {
  default = 8
}
resource "random_string" "name" {
  length  = var.length
  special = false
}
output "name" {
  value = random_string.name.result
}
"#;

/// From a Stack to infrastructure, to another one, and to nothing.
#[test]
fn a_stack_is_made_changed_and_taken_down() {
    let stage = Stage::new();
    let spec = json!({"source": {"inline": {"main.tf": PET}}, "outputs": {"secret": {"name": "pet"}}});
    stage.stack("pet", spec);
    let stack = stage.ready("pet");
    assert_eq!(stack["metadata"]["finalizers"], json!(["groma.dev/stack"]));
    assert_eq!(message(&stack), "Applied: 1 added, 0 changed, 0 destroyed.");
    let first = stage.secret_data("pet")["name"].clone();
    assert_eq!(first.len(), 8);
    assert!(stage.api.find(&stage.at("v1", "secrets", "tfstate-default-pet")).is_some());

    stage.edit("pet", &json!({"spec": {"inputs": {"values": {"length": 12}}}}));
    let stack = stage.ready("pet");
    assert_eq!(stage.secret_data("pet")["name"].len(), 12);
    assert_eq!(stack["status"]["applied"]["run"], "pet-2");
    let runs = stage.runs("pet");
    assert_eq!(runs[1]["spec"]["causes"], json!([{"reason": "InputsChanged"}]));

    stage.delete("pet");
    assert!(stage.api.find(&stage.at("v1", "secrets", "tfstate-default-pet")).is_none());
    stage.until("everything goes", || stage.runs("pet").is_empty().then_some(()));
}

/// An operator that was killed finds everything again.
#[test]
fn an_operator_that_comes_back_changes_nothing() {
    let mut stage = Stage::new();
    stage.inline("pet", PET);
    let before = stage.ready("pet");
    stage.kill();
    stage.start();
    std::thread::sleep(std::time::Duration::from_secs(2));
    let after = stage.get("pet");
    assert_eq!(before["metadata"]["resourceVersion"], after["metadata"]["resourceVersion"]);
    assert_eq!(stage.runs("pet").len(), 1);
}

/// Nobody has agreed yet, so nothing is done; and only the whole id counts.
#[test]
fn a_plan_waits_for_somebody_to_agree() {
    let stage = Stage::new();
    stage.stack("pet", json!({"source": {"inline": {"main.tf": PET}}, "approval": {"mode": "manual"}}));
    let stack = stage.says("pet", "Unknown", "AwaitingApproval");
    let plan = stack["status"]["pending"]["plan"].as_str().unwrap().to_owned();
    assert!(message(&stack).contains(&plan), "{}", message(&stack));
    let run = &stage.runs("pet")[0];
    assert!(run["status"]["plan"]["text"].as_str().unwrap().contains("random_string.name"), "{run}");
    let agree =
        |id: &str| json!({"metadata": {"annotations": {"groma.dev/approve": id, "groma.dev/approved-by": "ana"}}});
    stage.edit("pet", &agree(&plan[..plan.len() - 1]));
    std::thread::sleep(std::time::Duration::from_secs(1));
    stage.says("pet", "Unknown", "AwaitingApproval");
    stage.edit("pet", &agree(&plan));
    stage.ready("pet");
    let run = &stage.runs("pet")[0];
    assert_eq!((&run["status"]["approval"]["by"], &run["status"]["approval"]["plan"]), (&json!("ana"), &json!(plan)));
}
