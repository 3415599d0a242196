//! `groma plan`, `apply`, `destroy` and `refresh`, with providers that are part of groma.

use crate::sandbox::{Outcome, Sandbox};

const CONFIG: &str = r#"
variable "v" {
  default = "one"
}

resource "terraform_data" "a" {
  input = var.v
}

resource "terraform_data" "b" {
  input = terraform_data.a.output
}

output "o" {
  value = terraform_data.b.output
}
"#;

#[track_caller]
fn succeeds(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let outcome = sandbox.run(arguments);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{arguments:?}: {}", outcome.stdout);
    outcome.stdout
}

fn applied() -> Sandbox {
    let sandbox = Sandbox::new().file("main.tf", CONFIG);
    succeeds(&sandbox, &["apply", "-auto-approve"]);
    sandbox
}

#[track_caller]
fn has(text: &str, parts: &[&str]) {
    let mut rest = text;
    for part in parts {
        let Some(at) = rest.find(part) else { panic!("{part:?} is not behind the rest in:\n{text}") };
        rest = &rest[at + part.len()..];
    }
}

#[test]
fn from_nothing_to_nothing() {
    let sandbox = Sandbox::new().file("main.tf", CONFIG);
    let planned = succeeds(&sandbox, &["plan"]);
    has(
        &planned,
        &[
            "# terraform_data.a will be created",
            "Plan: 2 to add, 0 to change, 0 to destroy.",
            "You didn't use the -out",
        ],
    );
    assert!(!sandbox.exists("terraform.tfstate"), "a plan stores nothing");
    let made = succeeds(&sandbox, &["apply", "-auto-approve"]);
    has(
        &made,
        &[
            "Plan: 2 to add",
            "terraform_data.a: Creating...",
            "terraform_data.a: Creation complete",
            "terraform_data.b: Creating...",
            "Apply complete! Resources: 2 added, 0 changed, 0 destroyed.",
            "Outputs:\n\no = \"one\"\n",
        ],
    );
    has(&succeeds(&sandbox, &["plan"]), &["No changes."]);
    let changed = succeeds(&sandbox, &["apply", "-auto-approve", "-var", "v=two"]);
    has(&changed, &["Apply complete! Resources: 0 added, 2 changed, 0 destroyed.", "o = \"two\""]);
    let gone = succeeds(&sandbox, &["destroy", "-auto-approve"]);
    has(
        &gone,
        &[
            "Plan: 0 to add, 0 to change, 2 to destroy.",
            "terraform_data.b: Destroying...",
            "terraform_data.a: Destroying...",
        ],
    );
    has(&gone, &["Destroy complete! Resources: 2 destroyed."]);
    assert!(!gone.contains("\nOutputs:"), "{gone}");
    has(
        &succeeds(&sandbox, &["destroy", "-auto-approve"]),
        &["No changes.", "Destroy complete! Resources: 0 destroyed."],
    );
}

#[test]
fn exit_codes_tell_whether_there_are_changes() {
    let sandbox = applied();
    let code = |arguments: &[&str]| sandbox.run(arguments).code;
    assert_eq!(code(&["plan", "-detailed-exitcode"]), 0);
    assert_eq!(code(&["plan", "-detailed-exitcode", "-var", "v=two"]), 2);
    assert_eq!(code(&["plan", "-var", "v=two"]), 0);
    assert_eq!(code(&["plan", "-detailed-exitcode", "-var", "nope=two"]), 1);
    assert_eq!(code(&["plan", "-detailed-exitcode=false", "-destroy"]), 0);
    assert_eq!(code(&["plan", "-detailed-exitcode", "-destroy"]), 2);
}

#[test]
fn a_saved_plan_is_applied_as_it_is() {
    let sandbox = applied();
    let planned = succeeds(&sandbox, &["plan", "-var", "v=two", "-out=saved"]);
    has(&planned, &["Saved the plan to: saved", "groma apply \"saved\""]);
    // Nobody is asked, and what the configuration says now does not matter.
    let sandbox = sandbox.file("main.tf", "");
    let made = succeeds(&sandbox, &["apply", "saved"]);
    has(&made, &["Apply complete! Resources: 0 added, 2 changed, 0 destroyed.", "o = \"two\""]);
    assert!(!made.contains("Plan:"), "{made}");
    let again = sandbox.run(&["apply", "saved"]);
    assert!(again.stderr.contains("Error: Saved plan is stale"), "{}", again.stderr);
}

#[test]
fn a_saved_destruction_is_applied_with_apply() {
    let sandbox = applied();
    succeeds(&sandbox, &["plan", "-destroy", "-out=saved"]);
    has(&succeeds(&sandbox, &["apply", "saved"]), &["Apply complete! Resources: 0 added, 0 changed, 2 destroyed."]);
}

#[test]
fn values_may_be_repeated_for_a_saved_plan() {
    let sandbox = applied();
    succeeds(&sandbox, &["plan", "-var", "v=two", "-out=saved"]);
    let other = sandbox.run(&["apply", "-var", "v=three", "saved"]);
    assert_eq!(other.code, 1);
    assert!(other.stderr.contains("\"v\""), "{}", other.stderr);
    succeeds(&sandbox, &["apply", "-var", "v=two", "saved"]);
}

#[test]
fn ephemeral_values_are_given_again_for_a_saved_plan() {
    let config =
        "variable \"e\" {\n  type      = string\n  ephemeral = true\n}\n\nresource \"terraform_data\" \"a\" {\n}\n";
    let sandbox = Sandbox::new().file("main.tf", config);
    succeeds(&sandbox, &["plan", "-var", "e=secret", "-out=saved"]);
    assert!(!std::fs::read(sandbox.path("saved")).unwrap().windows(6).any(|part| part == b"secret"));
    let without = sandbox.run(&["apply", "saved"]);
    assert_eq!(without.code, 1, "{}", without.stdout);
    assert!(without.stderr.contains("\"e\""), "{}", without.stderr);
    succeeds(&sandbox, &["apply", "-var", "e=secret", "saved"]);
}

#[test]
fn parts_are_chosen() {
    let sandbox = Sandbox::new().file("main.tf", CONFIG).file("only", "# one\nterraform_data.a\n");
    for flag in ["-target=terraform_data.a", "-target-file=only", "-exclude=terraform_data.b"] {
        let planned = succeeds(&sandbox, &["plan", flag]);
        has(&planned, &["Plan: 1 to add"]);
        assert!(!planned.contains("terraform_data.b will"), "{flag}: {planned}");
    }
    let made = succeeds(&sandbox, &["apply", "-auto-approve", "-target", "terraform_data.a"]);
    has(&made, &["Warning: Resource targeting is in effect", "Apply complete! Resources: 1 added"]);
    has(&made, &["Warning: Applied changes may be incomplete"]);
    let again = succeeds(&sandbox, &["plan", "-replace=terraform_data.a"]);
    has(&again, &["terraform_data.a will be replaced, as requested"]);
}

#[test]
fn warnings_are_told_as_shortly_as_wanted() {
    let sandbox = Sandbox::new().file("main.tf", CONFIG);
    let short = succeeds(&sandbox, &["plan", "-target=terraform_data.a", "-compact-warnings"]);
    has(&short, &["Warnings:\n\n- Resource targeting is in effect\n", "without -compact-warnings"]);
    assert!(!short.contains("Warning: "), "{short}");
}

#[test]
fn deprecated_variables_of_modules_are_told_as_far_as_wanted() {
    let config =
        "module \"m\" {\n  source = \"./m\"\n  old    = 1\n}\n\nmodule \"n\" {\n  source = \"./m\"\n  old    = 1\n}\n";
    let module = "variable \"old\" {\n  default    = 0\n  deprecated = \"use another\"\n}\n\noutput \"o\" {\n  value = var.old\n}\n";
    let sandbox = Sandbox::new().file("main.tf", config).file("m/main.tf", module);
    succeeds(&sandbox, &["init"]);
    let count = |flags: &[&str]| {
        let text = sandbox.run(&[&["plan"], flags].concat()).stdout;
        text.matches("Warning: Variable marked as deprecated").count()
    };
    assert_eq!(count(&[]), 1);
    assert_eq!(count(&["-consolidate-warnings=false"]), 1, "the same variable is told once");
    assert_eq!(count(&["-deprecation=module:local"]), 1);
    assert_eq!(count(&["-deprecation=module:none"]), 0);
}

#[test]
fn errors_are_put_together_on_request() {
    let config =
        "resource \"terraform_data\" \"a\" {\n  nope = 1\n}\n\nresource \"terraform_data\" \"b\" {\n  nope = 1\n}\n";
    let sandbox = Sandbox::new().file("main.tf", config);
    let count = |flags: &[&str]| {
        sandbox.run(&[&["plan"], flags].concat()).stderr.matches("Error: Unsupported argument").count()
    };
    assert_eq!((count(&[]), count(&["-consolidate-errors"])), (2, 1));
}

#[test]
fn progress_is_left_out_on_request() {
    let sandbox = Sandbox::new().file("main.tf", CONFIG);
    let made = succeeds(&sandbox, &["apply", "-auto-approve", "-concise"]);
    assert!(!made.contains("Creating..."), "{made}");
    has(&made, &["Apply complete! Resources: 2 added"]);
}

#[test]
fn secrets_are_shown_on_request_only() {
    let config = "resource \"terraform_data\" \"a\" {\n  triggers_replace = sensitive(\"hush\")\n}\n\noutput \"o\" {\n  value     = \"quiet\"\n  sensitive = true\n}\n";
    let sandbox = Sandbox::new().file("main.tf", config);
    for arguments in [&["plan"][..], &["plan", "-json"], &["apply", "-auto-approve"], &["plan", "-destroy"]] {
        let text = succeeds(&sandbox, arguments);
        assert!(!text.contains("hush") && !text.contains("quiet"), "{arguments:?}: {text}");
    }
    has(&succeeds(&sandbox, &["plan", "-destroy", "-show-sensitive"]), &["hush"]);
    has(&succeeds(&sandbox, &["apply", "-auto-approve", "-show-sensitive"]), &["o = \"quiet\""]);
}

#[test]
fn states_are_where_they_are_wanted() {
    let sandbox = Sandbox::new().file("main.tf", CONFIG);
    let made = succeeds(&sandbox, &["apply", "-auto-approve", "-state=in.tfstate", "-state-out=out.tfstate"]);
    has(&made, &["Apply complete!", "State path: out.tfstate"]);
    assert!(sandbox.exists("out.tfstate") && !sandbox.exists("in.tfstate") && !sandbox.exists("terraform.tfstate"));
    has(&succeeds(&sandbox, &["plan", "-state=out.tfstate"]), &["No changes."]);
    succeeds(&sandbox, &["apply", "-auto-approve", "-state=out.tfstate", "-var", "v=two", "-backup=kept"]);
    assert!(sandbox.read("kept").contains("\"one\"") && sandbox.read("out.tfstate").contains("\"two\""));
    succeeds(&sandbox, &["apply", "-auto-approve", "-state=out.tfstate", "-backup=-"]);
    assert!(!sandbox.exists("out.tfstate.backup"));
}

#[test]
fn a_state_that_somebody_works_with_is_locked() {
    let sandbox = Sandbox::new().file("main.tf", CONFIG);
    let mut working = sandbox.begin(&["apply"]);
    working.wait_for("Enter a value:");
    let locked = sandbox.run(&["plan"]);
    assert_eq!(locked.code, 1);
    has(&locked.stderr, &["Error: Error acquiring the state lock", "OperationTypeApply"]);
    let waited = sandbox.run(&["plan", "-lock-timeout=1ms"]);
    assert!(waited.stderr.contains("Error acquiring the state lock"), "{}", waited.stderr);
    let mut waiting = sandbox.begin(&["plan", "-lock-timeout=1h"]);
    waiting.wait_for("Acquiring state lock. This may take a few moments...");
    #[cfg(unix)]
    {
        waiting.signal("INT");
        assert_eq!(waiting.end().code, 1);
        waiting = sandbox.begin(&["plan", "-lock-timeout=1h"]);
        waiting.wait_for("Acquiring state lock. This may take a few moments...");
    }
    succeeds(&sandbox, &["plan", "-lock=false"]);
    working.answer("no\n");
    assert_eq!(working.end().code, 1);
    assert_eq!(waiting.end().code, 0);
    succeeds(&sandbox, &["plan"]);
}

#[test]
fn only_looking_changes_the_state_at_most() {
    let sandbox = applied();
    has(&succeeds(&sandbox, &["plan", "-refresh-only"]), &["No changes."]);
    let looked = succeeds(&sandbox, &["refresh"]);
    has(&looked, &["terraform_data.a: Refreshing state...", "Outputs:\n\no = \"one\"\n"]);
    assert!(!looked.contains("Plan:"), "{looked}");
    has(
        &succeeds(&sandbox, &["apply", "-refresh-only", "-auto-approve"]),
        &["No changes.", "Apply complete! Resources: 0 added"],
    );
    let blind = succeeds(&sandbox, &["plan", "-refresh=false"]);
    assert!(!blind.contains("Refreshing"), "{blind}");
    let empty = Sandbox::new().file("main.tf", "");
    has(&succeeds(&empty, &["refresh"]), &["Warning: Empty or non-existent state"]);
}

#[test]
fn machines_are_told_everything() {
    let sandbox = Sandbox::new().file("main.tf", CONFIG);
    let planned = succeeds(&sandbox, &["plan", "-json"]);
    has(
        &planned,
        &["\"type\":\"version\"", "\"type\":\"planned_change\"", "\"type\":\"change_summary\"", "\"type\":\"outputs\""],
    );
    let made = succeeds(&sandbox, &["apply", "-json", "-auto-approve"]);
    has(
        &made,
        &["\"type\":\"apply_start\"", "\"type\":\"apply_complete\"", "\"operation\":\"apply\"", "\"value\":\"one\""],
    );
    let all: Vec<serde_json::Value> = made.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(all.iter().all(|line| line["@level"] == "info" && line["@message"].is_string()), "{made}");
    let people = succeeds(&sandbox, &["apply", "-auto-approve", "-var", "v=two", "-json-into=lines"]);
    has(&people, &["Apply complete! Resources: 0 added, 2 changed"]);
    has(&sandbox.read("lines"), &["\"type\":\"version\"", "\"type\":\"apply_complete\"", "\"operation\":\"apply\""]);
    let failed = sandbox.run(&["plan", "-json", "-var", "nope=1"]);
    has(&failed.stdout, &["\"@level\":\"error\"", "Value for undeclared variable"]);
    assert_eq!((failed.code, failed.stderr.as_str()), (1, ""));
}

#[test]
fn what_failed_halfway_is_kept() {
    let config = "resource \"random_integer\" \"a\" {\n  min = 1\n  max = 1\n}\n\nresource \"random_integer\" \"b\" {\n  min = \
                  random_integer.a.result + 1\n  max = 1\n}\n\nresource \"terraform_data\" \"c\" {\n  input = \
                  random_integer.b.result\n}\n";
    let sandbox = Sandbox::new().file("main.tf", config);
    let outcome: Outcome = sandbox.run(&["apply", "-auto-approve"]);
    assert_eq!(outcome.code, 1, "{}", outcome.stdout);
    assert!(outcome.stderr.contains("random_integer.b"), "{}", outcome.stderr);
    assert!(!outcome.stdout.contains("Apply complete!"), "{}", outcome.stdout);
    let state = sandbox.read("terraform.tfstate");
    assert!(state.contains("\"result\": 1") && !state.contains("terraform_data"), "{state}");
}

#[test]
fn configuration_is_written_for_what_is_imported() {
    let config = "import {\n  to = random_integer.b\n  id = \"15390,1,50000\"\n}\n";
    let sandbox = Sandbox::new().file("main.tf", config);
    let planned = succeeds(&sandbox, &["plan", "-generate-config-out=generated.tf"]);
    has(
        &planned,
        &["Warning: Config generation is experimental", "has generated configuration and written it to generated.tf"],
    );
    let written = sandbox.read("generated.tf");
    has(
        &written,
        &[
            "# __generated__ by groma\n",
            "# __generated__ by groma from \"15390,1,50000\"\n",
            "resource \"random_integer\" \"b\" {",
        ],
    );
    has(&succeeds(&sandbox, &["apply", "-auto-approve"]), &["1 imported, 0 added"]);
}

#[test]
fn work_is_done_even_if_nobody_listens_any_more() {
    for flag in ["-json", "-no-color"] {
        let sandbox = Sandbox::new().file("main.tf", CONFIG);
        let running = sandbox.begin(&["apply", "-auto-approve", flag]);
        assert_eq!(running.leave(), 0);
        assert!(sandbox.read("terraform.tfstate").contains("\"name\": \"b\""));
    }
}
