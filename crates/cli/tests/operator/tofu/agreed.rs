//! Plans that wait for somebody, and plans that nobody carries out.

use std::time::Duration;

use serde_json::{Value, json};

use super::fetched::{FIRST, SECOND};
use super::{MAIN, Rig, VERSION};
use crate::stage::condition;

const WAITS: (&str, &str, &str) = ("Unknown", "TerraformPlannedWithChanges", "to approve this plan.");

/// The plan that waits, once it is another one than that.
#[track_caller]
fn pending(rig: &Rig, name: &str, before: &str) -> String {
    let object = rig.stage.until("a plan waits", || {
        let object = rig.get(name);
        let pending = object["status"]["plan"]["pending"].as_str()?;
        (pending != before && condition(&object, "Ready")?["reason"] == WAITS.1).then_some(object)
    });
    let id = object["status"]["plan"]["pending"].as_str().unwrap().to_owned();
    let told = format!("Plan generated: set approvePlan: \"{id}\" to approve this plan.");
    assert_eq!(condition(&object, "Ready").unwrap()["message"], told);
    id
}

#[track_caller]
fn nothing_is_done(rig: &Rig, name: &str, id: &str) {
    std::thread::sleep(Duration::from_secs(2));
    let object = rig.get(name);
    assert_eq!(object["status"]["plan"]["pending"], id, "{object}");
    assert_eq!(object["status"]["lastAppliedRevision"], Value::Null);
    assert!(
        rig.runs(name).iter().all(|run| run["status"]["phase"] != "Applying" && run["status"]["approval"].is_null())
    );
}

/// 050, 051, 053, 054, 100: a plan waits until exactly it is agreed to. The beginning of its id is not enough, nor is the id of a plan that was made
/// anew because something else was pushed, or because the object asks for something else.
#[test]
fn only_the_whole_id_of_the_plan_that_waits_agrees_to_it() {
    let rig = Rig::new();
    rig.has(FIRST, &[("main.tf", MAIN)]);
    rig.write("app", &json!({}));
    let first = pending(&rig, "app", "");
    assert!(first.starts_with("plan-main-"), "{first}");
    let runs = rig.runs("app").len();
    for wrong in [&first[..first.len() - 4], "plan-main-0000000000", "plan-main"] {
        rig.edit("app", &json!({"approvePlan": wrong}));
        nothing_is_done(&rig, "app", &first);
    }
    assert_eq!(rig.runs("app").len(), runs, "the plan is not made anew for that");

    rig.has(SECOND, &[("main.tf", MAIN), ("more.tf", "resource \"terraform_data\" \"more\" {}\n")]);
    let second = pending(&rig, "app", &first);
    rig.edit("app", &json!({"approvePlan": first}));
    nothing_is_done(&rig, "app", &second);

    rig.edit("app", &json!({"vars": [{"name": "text", "value": "two"}]}));
    let third = pending(&rig, "app", &second);
    rig.edit("app", &json!({"approvePlan": third}));
    let object = rig.says("app", ("True", "TerraformAppliedSucceed", &format!("Applied successfully: {SECOND}")));
    assert_eq!(object["status"]["plan"]["lastApplied"], json!(third));
    assert_eq!(object["status"]["plan"]["pending"], Value::Null);
    assert_eq!(object["status"]["lastAppliedRevision"], SECOND);
    let approval = &rig.runs("app").pop().unwrap()["status"]["approval"];
    assert!(approval["by"].as_str().unwrap().contains("spec.approvePlan"), "{approval}");
}

/// 052: `replan`, in `approvePlan` or as an annotation, has the plan made anew, and agrees to nothing.
#[test]
fn a_plan_is_made_anew_when_somebody_asks_for_it() {
    let rig = Rig::new();
    rig.has(FIRST, &[("main.tf", MAIN)]);
    rig.write("app", &json!({}));
    let id = pending(&rig, "app", "");
    let asks: [(&str, Value); 2] = [
        ("approvePlan", json!({"spec": {"approvePlan": format!("re{id}")}})),
        ("the annotation", json!({"metadata": {"annotations": {"reconcile.fluxcd.io/requestedAt": "now"}}})),
    ];
    for (what, change) in asks {
        let runs = rig.runs("app").len();
        rig.stage.api.edit(&rig.stage.at(VERSION, "terraforms", "app"), &change);
        rig.stage.until(&format!("another plan after {what}"), || {
            let all = rig.runs("app");
            (all.len() > runs && all.last()?["status"]["phase"] == "AwaitingApproval").then_some(())
        });
        rig.says("app", WAITS);
        let pending = pending(&rig, "app", "");
        assert_eq!(pending, id, "what it does is the same");
        nothing_is_done(&rig, "app", &pending);
    }
    rig.edit("app", &json!({"approvePlan": id}));
    rig.says("app", ("True", "TerraformAppliedSucceed", FIRST));
}

/// 030, 031, 044, 230: what is only planned, and what only looks for drift.
#[test]
fn nothing_is_carried_out_that_is_only_planned() {
    let rig = Rig::new();
    rig.has(FIRST, &[("main.tf", MAIN)]);
    rig.write("only", &json!({"planOnly": true, "approvePlan": "auto", "storeReadablePlan": "human"}));
    rig.write("drift", &json!({"approvePlan": "disable"}));
    let told = ("Unknown", "TerraformPlannedWithChanges", "Plan generated: This object is in the plan only mode.");
    let object = rig.says("only", told);
    let id = object["status"]["plan"]["pending"].as_str().unwrap().to_owned();
    let shown = rig.stage.api.get(&rig.stage.at("v1", "configmaps", "tfplan-default-only"));
    assert!(shown["data"]["tfplan"].as_str().unwrap().contains("terraform_data.it will be created"), "{shown}");
    let kept = rig.stage.api.get(&rig.stage.at("v1", "secrets", "tfplan-default-only"));
    assert_eq!(kept["metadata"]["annotations"]["savedPlan"], json!(id), "{kept}");
    rig.edit("only", &json!({"approvePlan": id}));
    rig.says("drift", ("False", "DriftDetected", "1 to add"));
    std::thread::sleep(Duration::from_secs(2));
    for name in ["only", "drift"] {
        assert_eq!(rig.get(name)["status"]["lastAppliedRevision"], Value::Null, "{name}");
        // The state was begun, as OpenTofu begins one, and is empty.
        let stack = rig.stage.get(&format!("terraform--{name}"));
        assert_eq!(stack["status"]["applied"], Value::Null, "{name}");
        assert!(rig.runs(name).iter().all(|run| run["status"]["approval"].is_null()), "{name}");
    }
    // It is not that nothing could be carried out.
    rig.edit("only", &json!({"planOnly": false, "approvePlan": "auto"}));
    rig.says("only", ("True", "TerraformAppliedSucceed", FIRST));
}

/// A suspended object is left alone, and goes on where it was.
#[test]
fn a_suspended_object_waits() {
    let rig = Rig::new();
    rig.has(FIRST, &[("main.tf", MAIN)]);
    rig.write("app", &json!({"approvePlan": "auto"}));
    rig.says("app", ("True", "TerraformAppliedSucceed", FIRST));
    rig.edit("app", &json!({"suspend": true}));
    rig.stage.until("it is suspended", || (rig.stage.get("terraform--app")["spec"]["suspend"] == true).then_some(()));
    rig.has(SECOND, &[("main.tf", &MAIN.replace("\"one\"", "\"two\""))]);
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!((rig.runs("app").len(), &rig.get("app")["status"]["lastAppliedRevision"]), (1, &json!(FIRST)));
    rig.edit("app", &json!({"suspend": false}));
    rig.says("app", ("True", "TerraformAppliedSucceed", SECOND));
}
