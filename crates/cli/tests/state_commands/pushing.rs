//! `state pull` and `state push`: whole states, out and in.

use crate::fixture::{directory, listed, refused, state, stored, works};

fn with(change: impl FnOnce(&mut serde_json::Value)) -> String {
    let mut state = state();
    change(&mut state);
    state.to_string()
}

#[test]
fn what_is_pulled_can_be_pushed() {
    let sandbox = directory();
    let before = sandbox.read("terraform.tfstate");
    let pulled = works(&sandbox, &["state", "pull"]);
    assert_eq!(serde_json::from_str::<serde_json::Value>(&pulled).unwrap()["serial"], 4);
    let outcome = sandbox.run_with(&["state", "push", "-"], &pulled);
    assert_eq!((outcome.code, outcome.stdout.as_str(), outcome.stderr.as_str()), (0, "", ""));
    assert_eq!(sandbox.read("terraform.tfstate"), before, "nothing was new");
    let empty = crate::sandbox::Sandbox::new().file("main.tf", "");
    assert_eq!(works(&empty, &["state", "pull"]), "");
}

#[test]
fn only_successors_are_taken() {
    let sandbox = directory()
        .file("newer", &with(|state| state["serial"] = 9.into()))
        .file("older", &with(|state| state["serial"] = 3.into()))
        .file("other", &with(|state| state["outputs"]["a"]["value"] = "y".into()))
        .file("unrelated", &with(|state| state["lineage"] = "elsewhere".into()))
        .file("torn", "{\"version\": 4")
        .file("nothing", "");
    let refusal = "Failed to write the imported state";
    assert!(refused(&sandbox, &["state", "push", "older"], refusal).contains("newer state"));
    assert!(refused(&sandbox, &["state", "push", "other"], refusal).contains("same serial"));
    assert!(refused(&sandbox, &["state", "push", "unrelated"], refusal).contains("unrelated state"));
    refused(&sandbox, &["state", "push", "torn"], "Failed to read source state \"torn\"");
    refused(&sandbox, &["state", "push", "nothing"], "Failed to read source state \"nothing\"");
    refused(&sandbox, &["state", "push", "missing"], "Failed to open the given state file");
    works(&sandbox, &["state", "push", "newer"]);
    assert_eq!(stored(&sandbox, "terraform.tfstate")["serial"], 9);
    works(&sandbox, &["state", "push", "-force", "unrelated"]);
    let now = stored(&sandbox, "terraform.tfstate");
    assert_eq!((&now["serial"], &now["lineage"]), (&4.into(), &"elsewhere".into()));
    assert!(listed(&sandbox).contains("terraform_data.a"));
}
