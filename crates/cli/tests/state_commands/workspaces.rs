//! Workspaces.

use expect_test::expect;

use crate::fixture::{directory, listed, refused, state, stored, works};

#[test]
fn workspaces_are_made_chosen_and_deleted() {
    let sandbox = directory();
    assert_eq!(works(&sandbox, &["workspace", "list"]), "* default\n\n");
    let said = works(&sandbox, &["workspace", "new", "w"]);
    expect![[r#"
        Created and switched to workspace "w"!

        You're now on a new, empty workspace. Workspaces isolate their state,
        so if you run "groma plan" groma will not see any existing state
        for this configuration.
    "#]]
    .assert_eq(&said);
    assert_eq!(sandbox.read(".terraform/environment"), "w");
    assert_eq!(works(&sandbox, &["workspace", "show"]), "w\n");
    assert_eq!(works(&sandbox, &["workspace", "list"]), "  default\n* w\n\n");
    refused(&sandbox, &["state", "list"], "No state file was found");
    assert_eq!(works(&sandbox, &["workspace", "select", "default"]), "Switched to workspace \"default\".\n");
    assert_eq!(works(&sandbox, &["workspace", "select", "default"]), "");
    assert!(
        works(&sandbox, &["workspace", "select", "-or-create", "v"])
            .starts_with("Created and switched to workspace \"v\"!")
    );
    assert_eq!(works(&sandbox, &["workspace", "delete", "w"]), "Deleted workspace \"w\"!\n");
    assert_eq!(works(&sandbox, &["workspace", "list"]), "  default\n* v\n\n");
    let json = works(&sandbox, &["workspace", "list", "-json"]);
    let line: serde_json::Value = serde_json::from_str(json.lines().last().unwrap()).unwrap();
    assert_eq!(line["workspaces"], serde_json::json!(["default", "v"]));
    assert_eq!((&line["current_workspace"], &line["type"]), (&"v".into(), &"workspace_list".into()));
}

#[test]
fn a_workspace_can_start_with_a_state() {
    let sandbox = directory();
    works(&sandbox, &["workspace", "new", "-state=terraform.tfstate", "w"]);
    assert!(listed(&sandbox).contains("terraform_data.a"));
    let copy = stored(&sandbox, "terraform.tfstate.d/w/terraform.tfstate");
    // Another line of states: what happens here is not a successor of what was copied.
    assert_eq!(copy["serial"], 1);
    assert_ne!(copy["lineage"], state()["lineage"]);
    assert_eq!(copy["resources"], state()["resources"]);
    refused(&sandbox, &["workspace", "new", "-state=missing", "v"], "Error opening the given state");
    assert_eq!(works(&sandbox, &["workspace", "list"]), "  default\n* w\n\n");
}

#[test]
fn what_is_still_used_is_not_deleted() {
    let sandbox = directory();
    works(&sandbox, &["workspace", "new", "-state=terraform.tfstate", "w"]);
    refused(&sandbox, &["workspace", "delete", "w"], "Workspace \"w\" is your active workspace");
    refused(&sandbox, &["workspace", "delete", "default"], "Workspace is not empty");
    works(&sandbox, &["workspace", "select", "default"]);
    let refusal = refused(&sandbox, &["workspace", "delete", "w"], "Workspace is not empty");
    assert!(refusal.contains("  - module.m[0].terraform_data.x\n"), "{refusal}");
    let forced = sandbox.run(&["workspace", "delete", "-force", "w"]);
    assert_eq!(forced.code, 0, "{}", forced.stderr);
    assert!(format!("{}{}", forced.stdout, forced.stderr).contains("Warning: \"w\" was non-empty"));
    assert!(!sandbox.exists("terraform.tfstate.d/w"));
    works(&sandbox, &["workspace", "new", "v"]);
    refused(&sandbox, &["workspace", "delete", "-force", "default"], "Workspace deletion failed");
    assert!(sandbox.exists("terraform.tfstate"));
}

#[test]
fn names_are_judged() {
    let sandbox = directory();
    refused(&sandbox, &["workspace", "new", "a/b"], "Invalid workspace name");
    refused(&sandbox, &["workspace", "new", ".."], "Invalid workspace name");
    refused(&sandbox, &["workspace", "select", "a b"], "Invalid workspace name");
    refused(&sandbox, &["workspace", "new", "default"], "Workspace \"default\" already exists");
    refused(&sandbox, &["workspace", "select", "nope"], "Workspace \"nope\" doesn't exist");
    refused(&sandbox, &["workspace", "delete", "nope"], "Workspace \"nope\" doesn't exist");
}

#[test]
fn the_environment_goes_first() {
    let sandbox = directory();
    works(&sandbox, &["workspace", "new", "w"]);
    let sandbox = sandbox.env("TF_WORKSPACE", "default");
    assert_eq!(works(&sandbox, &["workspace", "show"]), "default\n");
    let list = works(&sandbox, &["workspace", "list"]);
    assert!(list.starts_with("* default\n  w\n"), "{list}");
    assert!(list.contains("overridden using the TF_WORKSPACE environment"), "{list}");
    refused(&sandbox, &["workspace", "select", "w"], "The selected workspace is overridden using the TF_WORKSPACE");
    refused(&sandbox, &["workspace", "new", "v"], "The workspace is overridden using the TF_WORKSPACE");
    let sandbox = sandbox.env("TF_WORKSPACE", "v");
    works(&sandbox, &["workspace", "new", "v"]);
    let sandbox = sandbox.env("TF_WORKSPACE", "a/b");
    refused(&sandbox, &["workspace", "show"], "Error getting the current workspace");
    assert!(refused(&sandbox, &["state", "list"], "").contains("TF_WORKSPACE"));
}

#[test]
fn the_old_name_still_works() {
    let sandbox = directory();
    let outcome = sandbox.run(&["env", "list"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (0, "* default\n\n"));
    assert!(
        outcome.stderr.contains("Warning: The \"groma env\" family of commands is deprecated"),
        "{}",
        outcome.stderr
    );
}
