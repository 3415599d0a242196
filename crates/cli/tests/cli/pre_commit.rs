//! The hooks for pre-commit, run as it runs them: the entry, and behind it the files.

use std::path::Path;
use std::process::Command;

use crate::sandbox::Sandbox;

/// The entry of a hook, as it stands in the file.
fn entry(id: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.pre-commit-hooks.yaml");
    let text = std::fs::read_to_string(file).unwrap();
    let (_, hook) = text.split_once(&format!("- id: {id}\n")).unwrap();
    let (_, rest) = hook.split_once("  entry: ").unwrap();
    let (entry, _) = rest.split_once("\n  language: system\n").unwrap();
    entry.trim_start_matches(">-").split_whitespace().collect::<Vec<_>>().join(" ")
}

fn run(sandbox: &Sandbox, id: &str, files: &[&str]) -> bool {
    let program = Path::new(env!("CARGO_BIN_EXE_groma")).parent().unwrap();
    let files: Vec<String> = files.iter().map(|file| format!("'{file}'")).collect();
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("{} {}", entry(id), files.join(" "))).current_dir(sandbox.path("."));
    command.env_clear().env("HOME", sandbox.path(".")).env("PATH", format!("{}:/usr/bin:/bin", program.display()));
    command.output().unwrap().status.success()
}

#[test]
fn directories_with_changed_files_are_checked() {
    let sandbox = Sandbox::new()
        .file("a b/main.tf", "locals {\n  a = 1\n}\n")
        .file("a b/other.tf", "locals {\n  b = 1\n}\n")
        .file("bad/main.tf", "output \"x\" {\n  value = var.nope\n}\n");
    assert!(run(&sandbox, "groma-validate", &["a b/main.tf", "a b/other.tf"]));
    assert!(!run(&sandbox, "groma-validate", &["a b/main.tf", "bad/main.tf"]));
    assert!(!run(&sandbox, "groma-validate", &["bad/main.tf", "a b/main.tf"]), "whichever comes last");
}

#[test]
fn changed_files_are_formatted_and_no_others() {
    let sandbox = Sandbox::new().file("a b/main.tf", "locals{\na=1\n}\n").file("a b/other.tf", "locals{\nb=1\n}\n");
    assert!(run(&sandbox, "groma-fmt", &["a b/main.tf"]));
    assert_eq!(sandbox.read("a b/main.tf"), "locals {\n  a = 1\n}\n");
    assert_eq!(sandbox.read("a b/other.tf"), "locals{\nb=1\n}\n");
    let broken = Sandbox::new().file("main.tf", "locals {");
    assert!(!run(&broken, "groma-fmt", &["main.tf"]));
}
