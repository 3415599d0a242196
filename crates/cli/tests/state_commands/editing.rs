//! Listing, moving, removing, tainting, and other providers.

use expect_test::expect;

use crate::fixture::{directory, listed, refused, state, stored, works};

#[test]
fn what_is_there_is_listed() {
    let sandbox = directory();
    let all = "random_password.p terraform_data.a terraform_data.c[0] terraform_data.c[1] module.m[0].terraform_data.x";
    assert_eq!(listed(&sandbox), all);
    assert_eq!(
        works(&sandbox, &["state", "list", "module.m", "terraform_data.c[1]"]),
        "module.m[0].terraform_data.x\nterraform_data.c[1]\n"
    );
    assert_eq!(works(&sandbox, &["state", "ls", "-id=id-c1"]), "terraform_data.c[1]\n");
    assert_eq!(works(&sandbox, &["state", "list", "-id=nothing"]), "");
    let json = works(&sandbox, &["state", "list", "-json", "terraform_data.a"]);
    let line: serde_json::Value = serde_json::from_str(json.lines().last().unwrap()).unwrap();
    assert_eq!((&line["@message"], &line["type"]), (&"terraform_data.a".into(), &"resource_address".into()));
}

#[test]
fn objects_move() {
    let moved = |from: &str, to: &str| {
        let sandbox = directory();
        let said = works(&sandbox, &["state", "mv", from, to]);
        assert!(said.starts_with(&format!("Move {from:?} to {to:?}\n")), "{said}");
        assert!(said.ends_with("Successfully moved 1 object(s).\n"), "{said}");
        let now = stored(&sandbox, "terraform.tfstate");
        assert_eq!((&now["serial"], &now["lineage"]), (&5.into(), &state()["lineage"]));
        listed(&sandbox)
    };
    let rest =
        "random_password.p terraform_data.b terraform_data.c[0] terraform_data.c[1] module.m[0].terraform_data.x";
    assert_eq!(moved("terraform_data.a", "terraform_data.b"), rest);
    let indexed = "random_password.p terraform_data.a[\"k\"] terraform_data.c[0] terraform_data.c[1] module.m[0].terraform_data.x";
    assert_eq!(moved("terraform_data.a", "terraform_data.a[\"k\"]"), indexed);
    let renamed =
        "random_password.p terraform_data.a terraform_data.d[0] terraform_data.d[1] module.m[0].terraform_data.x";
    assert_eq!(moved("terraform_data.c", "terraform_data.d"), renamed);
    let module = "random_password.p terraform_data.a terraform_data.c[0] terraform_data.c[1] module.n.terraform_data.x";
    assert_eq!(moved("module.m[0]", "module.n"), module);
    let out = "random_password.p terraform_data.a terraform_data.c[0] terraform_data.c[1] terraform_data.x";
    assert_eq!(moved("module.m[0].terraform_data.x", "terraform_data.x"), out);
}

#[test]
fn what_was_there_before_is_kept() {
    let sandbox = directory();
    let before = sandbox.read("terraform.tfstate");
    works(&sandbox, &["state", "mv", "terraform_data.a", "terraform_data.b"]);
    let files = sandbox.files();
    let backups: Vec<&str> = files.lines().filter(|name| name.ends_with(".backup")).collect();
    let [backup] = backups[..] else { panic!("{files}") };
    let time = backup.strip_prefix("terraform.tfstate.").and_then(|rest| rest.strip_suffix(".backup")).unwrap();
    assert!(time.len() >= 10 && time.bytes().all(|byte| byte.is_ascii_digit()), "{backup}");
    assert_eq!(sandbox.read(backup), before);
    // Dependencies on what was moved are not true any more.
    assert!(!sandbox.read("terraform.tfstate").contains("dependencies"));
    works(&sandbox, &["state", "rm", "-backup=kept", "terraform_data.b"]);
    assert_eq!(stored(&sandbox, "kept")["serial"], 5);
}

#[test]
fn objects_move_to_another_state() {
    let sandbox = directory();
    works(&sandbox, &["state", "mv", "-state-out=other.tfstate", "terraform_data.a", "terraform_data.b"]);
    assert!(!listed(&sandbox).contains("terraform_data.a"));
    assert_eq!(works(&sandbox, &["state", "list", "-state=other.tfstate"]), "terraform_data.b\n");
    let other = stored(&sandbox, "other.tfstate");
    assert_eq!(other["serial"], 1);
    assert_ne!(other["lineage"], state()["lineage"]);
    works(
        &sandbox,
        &[
            "state",
            "mv",
            "-state=other.tfstate",
            "-state-out=terraform.tfstate",
            "terraform_data.b",
            "terraform_data.a",
        ],
    );
    assert_eq!(stored(&sandbox, "terraform.tfstate")["serial"], 6);
    refused(
        &sandbox,
        &["state", "mv", "-state-out=other.tfstate", "terraform_data.z", "terraform_data.z"],
        "Invalid source address",
    );
    assert_eq!(works(&sandbox, &["state", "list", "-state=other.tfstate"]), "");
}

#[test]
fn trying_changes_nothing() {
    let sandbox = directory();
    let before = (sandbox.read("terraform.tfstate"), sandbox.files());
    assert_eq!(
        works(&sandbox, &["state", "mv", "-dry-run", "module.m[0]", "module.n"]),
        "Would move \"module.m[0]\" to \"module.n\"\n"
    );
    assert_eq!(
        works(&sandbox, &["state", "rm", "-dry-run", "terraform_data.c"]),
        "Would remove terraform_data.c[0]\nWould remove terraform_data.c[1]\n"
    );
    assert_eq!(works(&sandbox, &["state", "rm", "-dry-run", "terraform_data.zz"]), "Would have removed nothing.\n");
    assert_eq!((sandbox.read("terraform.tfstate"), sandbox.files()), before);
}

#[test]
fn objects_are_forgotten() {
    let sandbox = directory();
    let said = works(&sandbox, &["state", "rm", "module.m", "terraform_data.c[0]"]);
    expect![[r#"
        Removed module.m[0].terraform_data.x
        Removed terraform_data.c[0]
        Successfully removed 2 resource instance(s).
    "#]]
    .assert_eq(&said);
    assert_eq!(listed(&sandbox), "random_password.p terraform_data.a terraform_data.c[1]");
}

#[test]
fn what_is_refused_changes_nothing() {
    let sandbox = directory();
    for (arguments, summary) in [
        (&["state", "mv", "terraform_data.z", "terraform_data.y"][..], "Invalid source address"),
        (&["state", "mv", "terraform_data.c[7]", "terraform_data.y"], "Invalid source address"),
        (&["state", "mv", "module.m", "module.n"], "Invalid source address"),
        (&["state", "mv", "terraform_data.a", "terraform_data.c[0]"], "Invalid target address"),
        (&["state", "mv", "terraform_data.c", "terraform_data.y[0]"], "Invalid target address"),
        (&["state", "mv", "terraform_data.a", "module.n"], "Invalid target address"),
        (&["state", "mv", "module.m[0]", "terraform_data.y"], "Invalid target address"),
        (&["state", "mv", "module.m[0]", "module.m[0]"], "Destination module already exists"),
        (&["state", "mv", "terraform_data.a", "random_pet.a"], "Invalid state move request"),
        (&["state", "mv", "terraform_data.a", "data.terraform_data.a"], "Invalid state move request"),
        (&["state", "mv", "nonsense", "terraform_data.a"], "Invalid address"),
        (&["state", "mv", "-state=missing", "terraform_data.a", "terraform_data.b"], "No state file was found"),
        (&["state", "rm", "terraform_data.z"], "Invalid target address"),
        (&["state", "rm", "terraform_data.a", "nonsense"], "Invalid address"),
        (&["state", "list", "terraform_data.z"], "Unknown resource"),
        (&["state", "list", "terraform_data.c[9]"], "Unknown resource instance"),
        (&["state", "list", "module.z"], "Unknown module"),
        (&["state", "list", "-state=missing"], "No state file was found"),
        (&["state", "show", "terraform_data.c"], "No instance found for the given address"),
        (&["state", "show", "module.m"], "Error parsing instance address \"module.m\""),
        (&["state", "replace-provider", "a/b/c/d", "x"], "Invalid \"from\" provider \"a/b/c/d\""),
        (&["state", "replace-provider", "hashicorp/random", "//"], "Invalid \"to\" provider \"//\""),
        (&["state", "replace-provider", "hashicorp/random", "acme/random"], "Error asking for approval"),
        (&["taint", "terraform_data.z"], "No such resource instance"),
        (&["taint", "data.a.b"], "Invalid resource address"),
        (&["taint", "module.m"], "Invalid address"),
        (&["untaint", "terraform_data.a"], "Resource instance is not tainted"),
        (&["untaint", "terraform_data.z"], "No such resource instance"),
        (&["force-unlock", "-force", "7"], "Failed to unlock state"),
    ] {
        let said = refused(&sandbox, arguments, summary);
        assert!(!said.contains("hunter2"), "{said}");
    }
}

#[test]
fn a_state_that_cannot_be_read_is_left_as_it_is() {
    let sandbox = directory().file("terraform.tfstate", "{\"version\": 4, \"serial\": 1");
    for arguments in [
        &["state", "list"][..],
        &["state", "rm", "terraform_data.a"],
        &["state", "mv", "terraform_data.a", "terraform_data.b"],
        &["taint", "terraform_data.a"],
        &["output"],
        &["show"],
        &["import", "terraform_data.a", "id"],
    ] {
        refused(&sandbox, arguments, "");
    }
    let newer = directory().file("terraform.tfstate", "{\"version\": 5, \"terraform_version\": \"9.0.0\"}");
    refused(&newer, &["state", "rm", "terraform_data.a"], "");
}

#[test]
fn marks_come_and_go() {
    let sandbox = directory();
    let said = works(&sandbox, &["taint", "terraform_data.c[1]"]);
    assert_eq!(said, "Resource instance terraform_data.c[1] has been marked as tainted.\n");
    assert_eq!(stored(&sandbox, "terraform.tfstate")["resources"][2]["instances"][1]["status"], "tainted");
    // Operations keep their backups under this name, and so does this.
    assert_eq!(stored(&sandbox, "terraform.tfstate.backup")["serial"], 4);
    assert!(
        works(&sandbox, &["state", "show", "terraform_data.c[1]"]).starts_with("# terraform_data.c[1]: (tainted)\n")
    );
    let said = works(&sandbox, &["untaint", "terraform_data.c[1]"]);
    assert_eq!(said, "Resource instance terraform_data.c[1] has been successfully untainted.\n");
    let now = stored(&sandbox, "terraform.tfstate");
    assert_eq!((&now["serial"], &now["resources"]), (&6.into(), &state()["resources"]));
    let allowed = sandbox.run(&["taint", "-allow-missing", "terraform_data.z"]);
    assert_eq!(allowed.code, 0);
    assert!(format!("{}{}", allowed.stdout, allowed.stderr).contains("Warning: No such resource instance"));
}

#[test]
fn providers_are_replaced_by_those_who_say_yes() {
    let sandbox = directory();
    let arguments = ["state", "replace-provider", "hashicorp/random", "acme/random"];
    let before = sandbox.read("terraform.tfstate");
    let no = sandbox.run_with(&arguments, "no\n");
    assert_eq!((no.code, sandbox.read("terraform.tfstate")), (0, before));
    assert!(no.stdout.ends_with("Cancelled replacing providers.\n"), "{}", no.stdout);
    sandbox.run_with(&arguments, "yes\n").is(expect![[r#"
        exit code 0
        ----- stdout
        groma will perform the following actions:

          ~ Updating provider:
            - registry.opentofu.org/hashicorp/random
            + registry.opentofu.org/acme/random

        Changing 1 resources:

          random_password.p

        Do you want to make these changes?
          Only 'yes' will be accepted to continue.

          Enter a value: 
        Successfully replaced provider for 1 resources.
    "#]]);
    let now = stored(&sandbox, "terraform.tfstate");
    assert_eq!(now["resources"][0]["provider"], "provider[\"registry.opentofu.org/acme/random\"]");
    assert_eq!(works(&sandbox, &arguments), "No matching resources found.\n");
    works(&sandbox, &["state", "replace-provider", "-auto-approve", "acme/random", "hashicorp/random"]);
    let json = sandbox.run(&["state", "replace-provider", "-json", "hashicorp/random", "acme/random"]);
    assert_eq!(json.code, 1);
    assert!(json.stdout.contains("\"Error: Invalid usage\""), "{}", json.stdout);
}

#[test]
fn a_lock_that_was_left_behind_is_taken_away_by_its_name() {
    let left = r#"{"ID":"1234","Operation":"apply","Info":"","Who":"me@here","Version":"1","Created":"2026-01-02T03:04:05Z","Path":"terraform.tfstate"}"#;
    let sandbox = directory().file(".terraform.tfstate.lock.info", left);
    assert!(refused(&sandbox, &["force-unlock", "-force", "99"], "Failed to unlock state").contains("1234"));
    let said = works(&sandbox, &["force-unlock", "-force", "1234"]);
    assert!(said.starts_with("groma state has been successfully unlocked!\n"), "{said}");
    assert!(!sandbox.exists(".terraform.tfstate.lock.info"));
    assert!(listed(&sandbox).contains("terraform_data.a"));
}

#[test]
fn one_at_a_time() {
    let sandbox = directory();
    let mut asking = sandbox.begin(&["state", "replace-provider", "hashicorp/random", "acme/random"]);
    asking.wait_for("Enter a value:");
    let locked = sandbox.run(&["state", "rm", "terraform_data.a"]);
    assert_eq!(locked.code, 1);
    assert!(locked.stderr.contains("Error: Error acquiring the state lock"), "{}", locked.stderr);
    assert!(locked.stderr.contains("state-replace-provider"), "{}", locked.stderr);
    let id = locked.stderr.lines().find_map(|line| line.trim().strip_prefix("ID:")).unwrap().trim().to_owned();
    let forced = sandbox.run(&["force-unlock", "-force", &id]);
    assert_eq!(forced.code, 1);
    assert!(forced.stderr.contains("Error: State locked by another local process"), "{}", forced.stderr);
    // Looking is allowed.
    assert!(listed(&sandbox).contains("terraform_data.a"));
    asking.answer("yes\n");
    let done = asking.end();
    assert_eq!(done.code, 0, "{}", done.stderr);
    works(&sandbox, &["state", "rm", "terraform_data.a"]);
    assert!(!sandbox.files().contains("lock.info"));
}
