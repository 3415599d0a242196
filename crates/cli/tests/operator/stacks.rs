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

/// What is limited to some resources is deleted with all of them: the state goes, and nobody would know the others any more.
#[test]
fn a_stack_with_targets_is_taken_down_whole() {
    let stage = Stage::new();
    let paths = ["one", "two"].map(|name| stage.path(name));
    let file = |at: usize| {
        format!("resource \"local_file\" \"it_{at}\" {{\n  filename = {:?}\n  content = \"\"\n}}\n", paths[at])
    };
    let main = format!("{}{}", file(0), file(1));
    for (name, change) in [
        ("targets", json!({"spec": {"targets": ["local_file.it_1"]}})),
        ("down", json!({"spec": {"targets": ["local_file.it_1"], "destroy": true}})),
    ] {
        stage.inline(name, &main);
        stage.ready(name);
        stage.edit(name, &change);
        stage.ready(name);
        assert!(paths[0].exists());
        stage.delete(name);
        assert!(!paths.iter().any(|path| path.exists()), "{name}");
    }
}

/// What has made something takes it down, whatever its configuration is by now.
#[test]
fn a_stack_whose_configuration_is_broken_is_taken_down() {
    let stage = Stage::new();
    let path = stage.path("it");
    let main = format!("resource \"local_file\" \"it\" {{\n  filename = {path:?}\n  content = \"\"\n}}\n");
    stage.stack("it", json!({"source": {"inline": {"main.tf": main}}, "retry": {"interval": "1s"}}));
    stage.ready("it");
    stage.edit("it", &json!({"spec": {"source": {"inline": {"main.tf": "broken"}}}}));
    stage.says("it", "False", "InvalidConfiguration");
    stage.delete("it");
    assert!(!path.exists());
}

/// Who selects outputs of what was taken down misses none.
#[test]
fn outputs_that_were_selected_go_with_what_had_them() {
    let stage = Stage::new();
    let outputs = json!({"secret": {"name": "pet", "select": ["name:called"]}});
    stage.stack("pet", json!({"source": {"inline": {"main.tf": PET}}, "outputs": outputs}));
    stage.ready("pet");
    assert_eq!(stage.secret_data("pet")["called"].len(), 8);
    stage.edit("pet", &json!({"spec": {"destroy": true}}));
    stage.says("pet", "True", "Destroyed");
    let pet = stage.api.get(&stage.at("v1", "secrets", "pet"));
    assert!(pet["data"].as_object().is_none_or(serde_json::Map::is_empty), "{pet}");
}

/// What may become of a Stack is compared with its state, whatever that is called.
#[test]
fn a_preview_sees_what_the_other_stack_has_made() {
    let stage = Stage::new();
    let source = json!({"inline": {"main.tf": PET}});
    for (name, more) in [("pet", json!({})), ("cat", json!({"state": {"suffix": "old-cat"}}))] {
        let mut spec = json!({"source": source});
        spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        stage.stack(name, spec);
        stage.ready(name);
        let preview = format!("{name}-seen");
        stage.stack(&preview, json!({"source": source, "planOnly": true, "previewOf": name}));
        let stack = stage.says(&preview, "True", "Planned");
        assert_eq!(message(&stack), "No changes: all is as it should be.");
    }
}

/// Somebody asks with one annotation, and somebody else with the other.
#[test]
fn both_ways_to_ask_for_a_run_are_heeded() {
    let stage = Stage::new();
    stage.inline("pet", PET);
    stage.ready("pet");
    let asked = [
        ("groma.dev/requested-at", "lastHandledRequest", "a"),
        ("reconcile.fluxcd.io/requestedAt", "lastHandledReconcileAt", "b"),
        ("groma.dev/requested-at", "lastHandledRequest", "c"),
    ];
    for (at, (annotation, handled, value)) in asked.into_iter().enumerate() {
        stage.edit("pet", &json!({"metadata": {"annotations": {annotation: value}}}));
        stage.until("it is heeded", || (stage.get("pet")["status"][handled] == value).then_some(()));
        stage.ready("pet");
        assert_eq!(stage.runs("pet").len(), at + 2);
    }
    assert_eq!(stage.get("pet")["status"]["lastHandledReconcileAt"], "b");
}
