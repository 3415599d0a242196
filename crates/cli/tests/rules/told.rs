//! Warnings: their words, their branches, and what is left out of them.

use expect_test::expect;

use crate::sandbox::{Outcome, Sandbox};

const CONFIG: &str = r#"
variable "release" {
  default = "1"
}

resource "terraform_data" "web" {
  count            = 1
  triggers_replace = var.release

  lifecycle {
    create_before_destroy = true
  }
}
"#;

const RULES: &str = r#"
replace_rule "release-first" {
  resource = "terraform_data"
  field    = "triggers_replace"
  behavior = "auto"
  predicate "field_changed" "release" {
    field       = "triggers_replace"
    description = "The release is another one"
  }
  reasoning   = "Two releases cannot be in the same place at a time, since both of them would answer"
  suggestions = ["Give the new release another place"]
}
"#;

fn planned(config: &str, rules: &str, environment: &[(&str, &str)], arguments: &[&str]) -> Outcome {
    let sandbox = Sandbox::new().file("main.tf", config).file("order.groma.hcl", rules);
    let sandbox = environment.iter().fold(sandbox, |sandbox, (name, value)| sandbox.env(name, value));
    assert_eq!(sandbox.run(&["apply", "-auto-approve"]).code, 0);
    let outcome = sandbox.run(&[&["plan", "-var=release=2"], arguments].concat());
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    outcome
}

/// The warning behind the plan.
fn warning(outcome: &Outcome) -> &str {
    let (_, told) = outcome.stdout.split_once("\nWarning:").unwrap();
    told.split_once("\n──").unwrap().0
}

#[test]
fn a_warning_in_utf_8() {
    let outcome = planned(CONFIG, RULES, &[("LC_ALL", "C.UTF-8")], &[]);
    expect![[r#"
         Field 'triggers_replace' may require delete-first replacement

          with terraform_data.web[0],
          on main.tf line 6, in resource "terraform_data" "web":
           6: resource "terraform_data" "web" {

        terraform_data.web[0] is planned create-first (create_before_destroy,
        main.tf:6)
        ├─ Reason: Two releases cannot be in the same place at a time, since both of
        │  them would answer
        ├─ Condition: The release is another one: true ("1" -> "2")
        ├─ Recommendation: replace delete-first: remove create_before_destroy, or
        │  plan with -replace-rules=auto
        ├─ Alternative: Give the new release another place
        └─ Learn more: groma explain rule release-first

        To apply this recommendation automatically, set:
        GROMA_EXPERIMENTAL_AUTO_DELETE_BEFORE_REPLACE=true
    "#]]
    .assert_eq(warning(&outcome));
}

#[test]
fn a_warning_in_ascii() {
    let plain = planned(CONFIG, RULES, &[], &[]);
    expect![[r#"
         Field 'triggers_replace' may require delete-first replacement

          with terraform_data.web[0],
          on main.tf line 6, in resource "terraform_data" "web":
           6: resource "terraform_data" "web" {

        terraform_data.web[0] is planned create-first (create_before_destroy,
        main.tf:6)
        |- Reason: Two releases cannot be in the same place at a time, since both of
        |  them would answer
        |- Condition: The release is another one: true ("1" -> "2")
        |- Recommendation: replace delete-first: remove create_before_destroy, or
        |  plan with -replace-rules=auto
        |- Alternative: Give the new release another place
        `- Learn more: groma explain rule release-first

        To apply this recommendation automatically, set:
        GROMA_EXPERIMENTAL_AUTO_DELETE_BEFORE_REPLACE=true
    "#]]
    .assert_eq(warning(&plain));
    // A terminal that can do nothing, and no colours.
    let dumb = [("LANG", "en_GB.UTF-8"), ("TERM", "dumb")];
    assert_eq!(warning(&planned(CONFIG, RULES, &dumb, &["-no-color"])), warning(&plain));
    assert!(warning(&planned(CONFIG, RULES, &dumb, &[])).contains("├─ Reason"));
}

#[test]
fn many_instances_are_told_together() {
    let outcome = planned(&CONFIG.replace("= 1\n", "= 7\n"), RULES, &[("LC_ALL", "C.UTF-8")], &[]);
    expect![[r#"
         Field 'triggers_replace' may require delete-first replacement

          with terraform_data.web[0],
          on main.tf line 6, in resource "terraform_data" "web":
           6: resource "terraform_data" "web" {

        terraform_data.web[0] is planned create-first (create_before_destroy,
        main.tf:6)
        ├─ Reason: Two releases cannot be in the same place at a time, since both of
        │  them would answer
        ├─ Condition: The release is another one: true ("1" -> "2")
        ├─ Recommendation: replace delete-first: remove create_before_destroy, or
        │  plan with -replace-rules=auto
        ├─ Alternative: Give the new release another place
        └─ Learn more: groma explain rule release-first

        The same holds for terraform_data.web[1], terraform_data.web[2],
        terraform_data.web[3], terraform_data.web[4], terraform_data.web[5],
        terraform_data.web[6].

        To apply this recommendation automatically, set:
        GROMA_EXPERIMENTAL_AUTO_DELETE_BEFORE_REPLACE=true
    "#]]
    .assert_eq(warning(&outcome));
    let outcome = planned(&CONFIG.replace("= 1\n", "= 5\n"), RULES, &[], &["-consolidate-warnings=false"]);
    assert_eq!(outcome.stdout.matches("may require delete-first").count(), 5, "{}", outcome.stdout);
}

/// Whatever is written in a rule does nothing to a terminal.
#[test]
fn texts_of_rules_are_only_texts() {
    let rules = RULES
        .replace("The release is another one", "\\u001b[31mred\\u001b[0m and\\nbroken\\u0007")
        .replace("Two releases", "\\u001b]0;title\\u0007Two releases")
        .replace("Give the new", "\\u202eGive the\\u009b1m new")
        .replace("reasoning ", "learn_more = \"https://example.com/\\u001b[2J\"\n  reasoning ");
    let outcome = planned(CONFIG, &rules, &[("LC_ALL", "C.UTF-8")], &[]);
    let told = warning(&outcome);
    assert!(told.contains("├─ Condition: red and broken: true"), "{told}");
    assert!(told.contains("├─ Reason: Two releases cannot"), "{told}");
    assert!(told.contains("├─ Alternative: Give the new release"), "{told}");
    assert!(told.contains("└─ Learn more: https://example.com/\n"), "{told}");
    let sandbox = Sandbox::new().file("main.tf", CONFIG).file("order.groma.hcl", &rules);
    assert_eq!(sandbox.run(&["apply", "-auto-approve"]).code, 0);
    for arguments in [
        &["plan", "-var=release=2"][..],
        &["plan", "-var=release=2", "-json"],
        &["explain", "-var=release=2", "replace", "terraform_data.web[0]"],
        &["explain", "-var=release=2", "-json", "replace", "terraform_data.web[0]"],
        &["explain", "rule", "release-first"],
        &["rules", "docs", "-type=terraform_data"],
        &["rules", "list"],
    ] {
        let outcome = sandbox.run(arguments);
        assert_eq!(outcome.code, 0, "{arguments:?}: {}", outcome.stderr);
        let all = outcome.stdout + &outcome.stderr;
        let bad = |c: char| (c.is_control() && c != '\n') || matches!(c, '\u{202e}' | '\u{9b}');
        assert!(!all.contains(bad) && !all.contains("\\u001b") && !all.contains("\\u0007"), "{arguments:?}: {all}");
    }
}
