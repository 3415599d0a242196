//! `groma explain`.

use expect_test::expect;

use crate::sandbox::{Outcome, Sandbox};

const CONFIG: &str = r#"
variable "release" {
  default = "1"
}

variable "password" {
  default   = "hunter2"
  sensitive = true
}

resource "terraform_data" "base" {
  input            = "base"
  triggers_replace = var.release
}

resource "terraform_data" "user" {
  count = 2
  input = [terraform_data.base.id, var.password]
}

resource "terraform_data" "idle" {
  input = "same"
}
"#;

/// A directory in which everything was applied.
fn applied(config: &str) -> Sandbox {
    let sandbox = Sandbox::new().file("main.tf", config);
    let outcome = sandbox.run(&["apply", "-auto-approve"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    sandbox
}

/// The text without ids, which are different each time.
fn shown(outcome: &Outcome) -> String {
    let is_id = |word: &str| word.len() == 38 && word.matches('-').count() == 4;
    let line = |line: &str| {
        line.split(' ').map(|word| if is_id(word) { "\"<id>\"" } else { word }).collect::<Vec<_>>().join(" ")
    };
    outcome.stdout.lines().map(|text| line(text) + "\n").collect()
}

#[test]
fn a_replacement_and_what_follows_from_it() {
    let sandbox = applied(CONFIG);
    let base = sandbox.run(&["explain", "-var=release=2", "terraform_data.base"]);
    assert_eq!((base.code, base.stderr.as_str()), (0, ""));
    expect![[r#"
        terraform_data.base will be replaced: destroyed first, then created anew.

        Why
          The provider cannot change triggers_replace in place.

        What differs
          ~ id                "<id>" -> (known after apply)
          ~ output            "base" -> (known after apply)
          ~ triggers_replace  "1" -> "2"  # forces replacement

        Replacement
          The old object is destroyed first, as nothing says create_before_destroy. In between there is none.

        Done before
          terraform_data.user[0] is updated
          terraform_data.user[1] is updated
    "#]]
    .assert_eq(&shown(&base));
    let user = sandbox.run(&["explain", "-var=release=2", "terraform_data.user[0]"]);
    expect![[r#"
        terraform_data.user[0] will be updated in place.

        Why
          Its configuration and the object as it is differ.
          Some of its new values come from what is done before it, and are known only then.

        What differs
          ~ input[0]  "<id>" -> (known after apply)
          ~ output    (sensitive value)

        Waits until
          terraform_data.base is replaced
    "#]]
    .assert_eq(&shown(&user));
    assert!(!user.stdout.contains("hunter2"), "{}", user.stdout);
    assert!(!sandbox.exists(".terraform.tfstate.lock.info"), "a lock is left behind");
}

#[test]
fn why_nothing_is_done() {
    let sandbox = applied(CONFIG);
    let idle = sandbox.run(&["explain", "terraform_data.idle"]);
    expect![[r#"
        Nothing is done with terraform_data.idle.

        Why
          The object is as its configuration says.
    "#]]
    .assert_eq(&shown(&idle));
    let outside = sandbox.run(&["explain", "-var=release=2", "-target=terraform_data.base", "terraform_data.idle"]);
    assert!(outside.stdout.contains("It is left out by -target or -exclude."), "{}", outside.stdout);
}

#[test]
fn saved_plans_are_looked_into() {
    let sandbox = applied(CONFIG);
    assert_eq!(sandbox.run(&["plan", "-destroy", "-out=tfplan"]).code, 0);
    let before = sandbox.run(&["explain", "terraform_data.base", "tfplan"]);
    expect![[r#"
        terraform_data.base will be destroyed.

        Why
          The plan takes everything down.

        Waits until
          terraform_data.user[0] is destroyed
          terraform_data.user[1] is destroyed
    "#]]
    .assert_eq(&shown(&before));
    // Also when it is too late to apply it, and when the configuration has changed.
    assert_eq!(sandbox.run(&["apply", "-auto-approve", "-var=release=3"]).code, 0);
    let sandbox = sandbox.file("main.tf", "syntax error {{{");
    let after = sandbox.run(&["explain", "terraform_data.base", "tfplan"]);
    assert_eq!((after.code, after.stdout), (0, before.stdout));
    let flags = sandbox.run(&["explain", "-destroy", "terraform_data.base", "tfplan"]);
    assert_eq!(flags.code, 1);
    assert!(flags.stderr.contains("Incompatible command line arguments"), "{}", flags.stderr);
}

#[test]
fn what_blocks_it_comes_first() {
    let config = r#"
variable "release" { default = "1" }
resource "terraform_data" "kept" {
  triggers_replace = var.release
  lifecycle {
    prevent_destroy = true
  }
}
"#;
    let sandbox = applied(config);
    let outcome = sandbox.run(&["explain", "-var=release=2", "terraform_data.kept"]);
    let blocked = "\nBlocked\n  Resource instance cannot be destroyed: terraform_data.kept must not be destroyed";
    assert!(outcome.stdout.contains(blocked), "{}", outcome.stdout);
}

#[test]
fn a_machine_is_told_the_same() {
    let sandbox = applied(CONFIG);
    let outcome = sandbox.run(&["explain", "-json", "-var=release=2", "terraform_data.base"]);
    let json: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    let found = &json["explanations"][0];
    assert_eq!(json["format_version"], "1.0");
    assert_eq!(found["address"], "terraform_data.base");
    assert_eq!(found["actions"], serde_json::json!(["delete", "create"]));
    assert_eq!(found["action_reason"], "replace_because_cannot_update");
    let forcing: Vec<&serde_json::Value> = found["attributes"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|attribute| attribute["forces_replacement"] == true)
        .map(|attribute| &attribute["path"])
        .collect();
    assert_eq!(forcing, [&serde_json::json!(["triggers_replace"])]);
    assert!(!outcome.stdout.contains("hunter2"), "{}", outcome.stdout);
}

#[test]
fn addresses_that_mean_nothing() {
    let sandbox = applied(CONFIG);
    let unknown = sandbox.run(&["explain", "terraform_data.bsae"]);
    assert_eq!((unknown.code, unknown.stdout.as_str()), (1, ""));
    expect![[r#"

        Error: No such object in the plan

        The plan knows nothing by the address terraform_data.bsae. Did you mean one
        of these?
          - terraform_data.base
    "#]]
    .assert_eq(&unknown.stderr);
    let invalid = sandbox.run(&["explain", "terraform_data..base"]);
    assert_eq!(invalid.code, 1);
    assert!(invalid.stderr.contains("Attribute name required"), "{}", invalid.stderr);
    let missing = sandbox.run(&["explain", "terraform_data.base", "nothing"]);
    assert_eq!(missing.code, 1);
    assert!(missing.stderr.contains("nothing\" as a plan file"), "{}", missing.stderr);
}

#[test]
fn many_objects_are_listed() {
    let config = "resource \"terraform_data\" \"many\" {\n  count = 12\n}\n";
    let sandbox = Sandbox::new().file("main.tf", config);
    let outcome = sandbox.run(&["explain", "terraform_data.many"]);
    assert_eq!(
        outcome.stdout.matches(" will be created. The configuration declares it").count(),
        12,
        "{}",
        outcome.stdout
    );
    assert!(outcome.stdout.ends_with("\nGive the address of one of them to know more.\n"), "{}", outcome.stdout);
}
