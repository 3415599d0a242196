//! An object from its first artifact to its end.

use serde_json::json;

use super::fetched::{FIRST, SECOND};
use super::{MAIN, Rig};
use crate::stage::condition;

/// What comes after the second one.
const THIRD: &str = "main@sha1:3333333333333333333333333333333333333333";

/// 010, 016, 040, 043, 110, 160: what Flux has fetched is planned and carried out, and so is what it fetches next. What nothing of it reads is
/// seen, and that is all. Outputs are in a Secret, and come back when somebody deletes it.
#[test]
fn what_flux_has_fetched_is_applied_again_and_again() {
    let rig = Rig::new();
    let more = json!({"approvePlan": "auto", "path": "./infra", "writeOutputsToSecret": {"name": "told", "labels": {"of": "infra"}}});
    rig.write("app", &more);
    rig.says("app", ("False", "ArtifactFailed", "has no artifact"));
    let main = format!("{MAIN}output \"many\" {{\n  value = [1, 2]\n}}\n");
    rig.has(FIRST, &[("infra/main.tf", &main)]);
    let object = rig.says("app", ("True", "TerraformOutputsWritten", &format!("Outputs written: {FIRST}")));
    let status = &object["status"];
    for field in ["lastAppliedRevision", "lastAttemptedRevision", "lastPlannedRevision"] {
        assert_eq!(status[field], FIRST, "{field}");
    }
    assert_eq!(status["availableOutputs"], json!(["it", "many"]));
    assert!(status["plan"]["lastApplied"].as_str().unwrap().starts_with("plan-main-"), "{status}");
    assert_eq!(status["plan"]["pending"], json!(null));
    for (kind, reason) in [
        ("Plan", "TerraformPlannedWithChanges"),
        ("Apply", "TerraformAppliedSucceed"),
        ("Output", "TerraformOutputsWritten"),
    ] {
        let known = condition(&object, kind).unwrap();
        assert_eq!((&known["status"], &known["reason"]), (&json!("True"), &json!(reason)), "{known}");
    }
    let told = rig.secret("told").unwrap();
    let expected = [("it", "one"), ("many", "[1,2]"), ("many__type", "[\"tuple\",[\"number\",\"number\"]]")];
    for (key, value) in expected {
        assert_eq!(told.get(key).map(String::as_str), Some(value), "{told:?}");
    }
    let at = rig.stage.at("v1", "secrets", "told");
    assert_eq!(rig.stage.api.get(&at)["metadata"]["labels"]["of"], "infra");

    let main = main.replace("\"one\"", "\"two\"");
    rig.has(SECOND, &[("infra/main.tf", &main)]);
    let object = rig.says("app", ("True", "TerraformOutputsWritten", SECOND));
    assert_eq!(object["status"]["lastAppliedRevision"], SECOND);
    assert_ne!(object["status"]["plan"]["lastApplied"], status["plan"]["lastApplied"]);
    assert_eq!(rig.secret("told").unwrap()["it"], "two");
    assert_eq!(rig.runs("app").len(), 2);

    rig.has(THIRD, &[("infra/main.tf", &main), ("docs/read.md", "words")]);
    let object = rig.stage.until("the third one is seen", || {
        let object = rig.get("app");
        (object["status"]["lastAttemptedRevision"] == THIRD).then_some(object)
    });
    let is = |field: &str| object["status"][field].clone();
    assert_eq!((is("lastPlannedRevision"), is("lastAppliedRevision")), (json!(THIRD), json!(SECOND)));
    assert_eq!(condition(&object, "Ready").unwrap()["status"], "True");
    assert_eq!(rig.runs("app").len(), 2, "nothing is run for it");

    rig.stage.api.delete(&at);
    rig.stage.until("the outputs are back", || rig.secret("told").filter(|told| told["it"] == "two").map(|_| ()));
}

/// Keys and values.
type Pairs<'p> = &'p [(&'p str, &'p str)];

/// 041, 042: which outputs are told, and under which names.
#[test]
fn outputs_are_chosen() {
    let rig = Rig::new();
    let main = format!("{MAIN}output \"other\" {{\n  value = \"more\"\n}}\n");
    rig.has(FIRST, &[("main.tf", &main)]);
    let rows: [(&str, &[&str], Pairs<'_>); 3] = [
        ("all", &[], &[("it", "one"), ("other", "more")]),
        ("some", &["other"], &[("other", "more")]),
        ("renamed", &["it:dotted.name"], &[("dotted.name", "one")]),
    ];
    for (name, outputs, _) in rows {
        rig.write(
            name,
            &json!({"approvePlan": "auto", "writeOutputsToSecret": {"name": format!("of-{name}"), "outputs": outputs}}),
        );
    }
    for (name, _, expected) in rows {
        rig.says(name, ("True", "TerraformOutputsWritten", FIRST));
        let told = rig.secret(&format!("of-{name}")).unwrap();
        let told: Vec<_> = told.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        assert_eq!(told, expected, "{name}");
    }
    rig.edit("some", &json!({"writeOutputsToSecret": {"outputs": ["nobody"]}}));
    let object = rig.stage.until("it is said", || {
        let object = rig.get("some");
        (condition(&object, "Ready")?["status"] == "False").then_some(object)
    });
    assert!(condition(&object, "Ready").unwrap()["message"].as_str().unwrap().contains("nobody"), "{object}");
}

/// 120, 121, 130: with an object goes what it has made if it says so, and stays if it does not; also when its source is gone. `destroy` takes
/// everything down and leaves the object.
#[test]
fn what_becomes_of_everything_at_the_end() {
    let rig = Rig::new();
    let path = |name: &str| rig.stage.path(&format!("made-{name}"));
    let rows = [("goes", true, "destroyed"), ("stays", false, "kept")];
    let file =
        "variable \"path\" {}\nresource \"local_file\" \"it\" {\n  filename = var.path\n  content  = \"it\"\n}\n";
    rig.has(FIRST, &[("main.tf", file)]);
    for (name, destroys, _) in rows {
        let vars = json!([{"name": "path", "value": path(name)}]);
        rig.write(name, &json!({"approvePlan": "auto", "vars": vars, "destroyResourcesOnDeletion": destroys}));
    }
    let vars = json!([{"name": "path", "value": path("down")}]);
    rig.write("down", &json!({"approvePlan": "auto", "vars": vars}));
    for name in ["goes", "stays", "down"] {
        rig.says(name, ("True", "TerraformAppliedSucceed", &format!("Applied successfully: {FIRST}")));
        assert!(path(name).exists(), "{name}");
    }
    rig.edit("down", &json!({"destroy": true}));
    rig.says("down", ("True", "TerraformAppliedSucceed", &format!("Destroy applied successfully: {FIRST}")));
    assert!(!path("down").exists());
    rig.stage.api.delete(&super::fetched::at(&rig.stage, super::SOURCE));
    for (name, destroys, what) in rows {
        rig.delete(name);
        assert_eq!(path(name).exists(), !destroys, "{name} is {what}");
        let state = rig.stage.api.find(&rig.stage.at("v1", "secrets", &format!("tfstate-default-{name}")));
        assert_eq!(state.is_some(), !destroys, "the state of what is {what}");
    }
}
