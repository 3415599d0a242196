//! Runs that are killed, states that are damaged or exchanged: what the next command makes of them, `doctor`, and earlier states.

use std::fs;

use crate::sandbox::{Outcome, Sandbox};

const CONFIG: &str = r#"
resource "terraform_data" "first" {
  input = "first"
}
resource "local_file" "second" {
  filename = "second"
  content  = terraform_data.first.output
}
resource "terraform_data" "third" {
  input = local_file.second.content
}
"#;

fn prepared() -> Sandbox {
    let sandbox = Sandbox::new().file("main.tf", CONFIG);
    works(&sandbox, &["init"]);
    sandbox
}

fn works(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let outcome = sandbox.run(arguments);
    assert_eq!(outcome.code, 0, "{arguments:?}: {} {}", outcome.stdout, outcome.stderr);
    outcome.stdout
}

/// Applies and dies at a point; goes on without that.
fn killed_at(sandbox: Sandbox, point: &str) -> Sandbox {
    let sandbox = sandbox.env("GROMA_DIE_AT", point);
    let outcome = sandbox.run(&["apply", "-auto-approve"]);
    assert_ne!(outcome.code, 0, "it went on after {point}");
    sandbox.env("GROMA_DIE_AT", "")
}

fn doctor(sandbox: &Sandbox, arguments: &[&str]) -> Outcome {
    sandbox.run(&[&["doctor"], arguments].concat())
}

#[test]
fn what_was_done_is_known_whenever_a_run_is_killed() {
    for (point, known) in [
        ("journal.begun#1", ""),
        ("outcome.safe#1", "terraform_data.first\n"),
        ("outcome.safe#2", "local_file.second\nterraform_data.first\n"),
        ("outcome.safe#3", "local_file.second\nterraform_data.first\nterraform_data.third\n"),
        ("snapshot.stored#1", "local_file.second\nterraform_data.first\nterraform_data.third\n"),
    ] {
        let sandbox = killed_at(prepared(), point);
        let examined = doctor(&sandbox, &[]);
        assert!(examined.code == 1 && examined.stdout.contains("A run did not end"), "{point}: {}", examined.stdout);
        let listed = sandbox.run(&["state", "list"]);
        assert_eq!(listed.stdout, known, "{point}");
        // The next apply goes on from there, and then nothing is left.
        works(&sandbox, &["apply", "-auto-approve"]);
        assert_eq!(doctor(&sandbox, &[]).code, 0, "{point}");
        assert_eq!(sandbox.run(&["plan", "-detailed-exitcode"]).code, 0, "{point}");
        assert!(!sandbox.exists("terraform.tfstate.groma-journal"), "{point}");
    }
}

#[test]
fn a_doctor_stores_what_was_done() {
    let sandbox = killed_at(prepared(), "outcome.safe#2");
    assert!(!sandbox.read("terraform.tfstate").contains("local_file"));
    let repaired = doctor(&sandbox, &["-repair"]);
    assert_eq!(repaired.code, 0, "{}", repaired.stdout);
    assert!(sandbox.read("terraform.tfstate").contains("local_file"));
    assert!(!sandbox.exists("terraform.tfstate.groma-journal"));
}

#[test]
fn edits_of_a_state_with_a_journal_count() {
    let sandbox = killed_at(prepared(), "outcome.safe#2");
    works(&sandbox, &["state", "rm", "local_file.second"]);
    // It would come back if the journal were folded in once more.
    assert_eq!(works(&sandbox, &["state", "list"]), "terraform_data.first\n");
    assert_eq!(doctor(&sandbox, &[]).code, 0);
}

#[test]
fn a_state_that_is_not_the_last_one_is_refused() {
    let sandbox = prepared();
    works(&sandbox, &["apply", "-auto-approve"]);
    let path = sandbox.path("terraform.tfstate");
    let first = fs::read(&path).unwrap();
    works(&sandbox, &["apply", "-auto-approve", "-replace=terraform_data.third"]);
    for (content, kind) in [(Some(first.as_slice()), "older"), (Some(b"".as_slice()), "empty"), (None, "gone")] {
        match content {
            Some(content) => fs::write(&path, content).unwrap(),
            None => fs::remove_file(&path).unwrap(),
        }
        let refused = sandbox.run(&["plan"]);
        assert!(refused.code == 1 && !refused.stdout.contains("will be created"), "{kind}: {}", refused.stdout);
        let examined = doctor(&sandbox, &[]);
        assert!(examined.code == 1 && examined.stdout.contains("groma state restore"), "{kind}: {}", examined.stdout);
        // The newest of the earlier ones comes back.
        let history = works(&sandbox, &["state", "history"]);
        let newest =
            history.lines().collect::<Vec<_>>().iter().rposition(|line| line.contains("3 objects")).unwrap() + 1;
        works(&sandbox, &["state", "restore", &newest.to_string()]);
        assert_eq!(sandbox.run(&["plan", "-detailed-exitcode"]).code, 0, "{kind}");
    }
    fs::write(&path, &first).unwrap();
    assert_eq!(doctor(&sandbox, &["-accept-state"]).code, 0);
    assert_ne!(sandbox.run(&["plan"]).code, 1);
}

#[test]
fn earlier_states_are_compared_without_values() {
    let sandbox = prepared();
    works(&sandbox, &["apply", "-auto-approve"]);
    works(&sandbox, &["apply", "-auto-approve", "-replace=terraform_data.third"]);
    assert_eq!(works(&sandbox, &["state", "diff", "1"]), "~ terraform_data.third: id\n");
    assert_eq!(sandbox.run(&["state", "diff", "99"]).code, 1);
    let json = works(&sandbox, &["state", "history", "-json"]);
    let lines: Vec<serde_json::Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.iter().any(|line| line["type"] == "earlier_state" && line["objects"] == 3), "{json}");
}

#[cfg(unix)]
#[test]
fn only_the_owner_can_read_what_is_left() {
    use std::os::unix::fs::PermissionsExt as _;
    let sandbox = killed_at(prepared(), "snapshot.stored#1");
    for name in ["terraform.tfstate", "terraform.tfstate.groma-journal"] {
        let mode = fs::metadata(sandbox.path(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{name}: {mode:o}");
    }
}
