//! Encrypted states, journals and plans: nothing of a secret is in any file, and everything works as it does without.

use std::fs;
use std::path::Path;

use crate::sandbox::{Outcome, Sandbox};

/// What must not be found in any file.
const SECRET: &str = "hush-canary-4711";

/// Objects that have the secret, which comes from the environment.
const OBJECTS: &str = r#"
variable "passphrase" {
  default = "correct-horse-battery"
}
variable "secret" {
  sensitive = true
}
resource "terraform_data" "first" {
  input = var.secret
}
resource "terraform_data" "second" {
  input = "${terraform_data.first.output} again"
}
output "secret" {
  value     = terraform_data.second.output
  sensitive = true
}
"#;

const KEYS: &str = r#"
key_provider "pbkdf2" "mine" {
  passphrase = var.passphrase
  iterations = 200000
}
method "aes_gcm" "mine" {
  keys = key_provider.pbkdf2.mine
}
"#;

const STATE: &str = "state {\n method = method.aes_gcm.mine\n enforced = true\n}\n";
const PLAN: &str = "plan {\n method = method.aes_gcm.mine\n enforced = true\n}\n";
const MIGRATION: &str = "method \"unencrypted\" \"not\" {}\n";

fn block(parts: &[&str]) -> String {
    format!("terraform {{\n encryption {{\n{}\n }}\n}}\n", parts.join("\n"))
}

fn with(sandbox: Sandbox, parts: &[&str]) -> Sandbox {
    sandbox.file("encryption.tf", &block(parts))
}

fn prepared(parts: &[&str]) -> Sandbox {
    let sandbox = with(Sandbox::new().file("main.tf", OBJECTS), parts).env("TF_VAR_secret", SECRET);
    works(&sandbox, &["init"]);
    sandbox
}

#[track_caller]
fn works(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let outcome = sandbox.run(arguments);
    assert_eq!(outcome.code, 0, "{arguments:?}: {} {}", outcome.stdout, outcome.stderr);
    outcome.stdout
}

#[track_caller]
fn refused(outcome: &Outcome, summary: &str) {
    assert_eq!(outcome.code, 1, "{}", outcome.stdout);
    // Wherever lines were broken.
    let said = outcome.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains(summary), "{summary}: {}", outcome.stderr);
}

/// Files with the secret in them, in the clear or encoded.
fn leaks(dir: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap().flatten() {
        if entry.path().is_dir() {
            found.extend(leaks(&entry.path()));
        } else {
            let bytes = fs::read(entry.path()).unwrap();
            if bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes()) {
                found.push(entry.path().display().to_string());
            }
        }
    }
    found
}

#[track_caller]
fn tight(sandbox: &Sandbox) {
    assert_eq!(leaks(&sandbox.path("")), Vec::<String>::new());
}

#[test]
fn nothing_of_a_secret_is_in_any_file() {
    let sandbox = prepared(&[KEYS, STATE, PLAN]);
    works(&sandbox, &["plan", "-out=plan"]);
    tight(&sandbox);
    works(&sandbox, &["show", "plan"]);
    works(&sandbox, &["apply", "plan"]);
    works(&sandbox, &["apply", "-auto-approve", "-replace=terraform_data.second"]);
    works(&sandbox, &["state", "mv", "terraform_data.second", "terraform_data.third"]);
    works(&sandbox, &["state", "mv", "terraform_data.third", "terraform_data.second"]);
    assert!(sandbox.exists("terraform.tfstate.backup"));
    assert!(works(&sandbox, &["state", "history"]).lines().count() > 3);
    assert_eq!(works(&sandbox, &["state", "diff", "1"]).lines().count(), 1);
    tight(&sandbox);
    assert_eq!(works(&sandbox, &["output", "-raw", "secret"]), format!("{SECRET} again"));
    assert!(works(&sandbox, &["show"]).contains("terraform_data.first"));
    assert!(works(&sandbox, &["show", "terraform.tfstate"]).contains("terraform_data.first"));
    assert_eq!(sandbox.run(&["doctor"]).code, 0);
    // What is pulled is in the clear, and can be pushed as it is; so can what is encrypted.
    let pulled = works(&sandbox, &["state", "pull"]);
    assert!(pulled.contains(SECRET));
    fs::copy(sandbox.path("terraform.tfstate"), sandbox.path("copy")).unwrap();
    works(&sandbox, &["state", "push", "copy"]);
    let outcome = sandbox.run_with(&["state", "push", "-"], &pulled);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    works(&sandbox, &["workspace", "new", "-state=copy", "other"]);
    assert_eq!(works(&sandbox, &["state", "list"]), "terraform_data.first\nterraform_data.second\n");
    let history = works(&sandbox, &["workspace", "select", "default"]) + &works(&sandbox, &["state", "history"]);
    assert!(history.contains("2 objects"), "{history}");
    works(&sandbox, &["state", "restore", "1"]);
    works(&sandbox, &["state", "rm", "terraform_data.second"]);
    tight(&sandbox);
}

#[test]
fn a_run_that_is_killed_leaves_an_encrypted_journal_that_is_recovered() {
    for point in ["outcome.safe#1", "outcome.safe#2", "snapshot.stored#1"] {
        let sandbox = prepared(&[KEYS, STATE]).env("GROMA_DIE_AT", point);
        assert_ne!(sandbox.run(&["apply", "-auto-approve"]).code, 0, "{point}");
        let sandbox = sandbox.env("GROMA_DIE_AT", "");
        assert!(sandbox.exists("terraform.tfstate.groma-journal"), "{point}");
        tight(&sandbox);
        // Without the key it says nothing, and stays.
        let wrong = sandbox.run(&["plan", "-var", "passphrase=wrong-wrong-wrong-wrong"]);
        refused(&wrong, "decryption failed for all provided methods");
        let listed = works(&sandbox, &["state", "list"]);
        assert!(listed.starts_with("terraform_data.first\n"), "{point}: {listed}");
        works(&sandbox, &["apply", "-auto-approve"]);
        assert_eq!(sandbox.run(&["doctor"]).code, 0, "{point}");
        assert_eq!(sandbox.run(&["plan", "-detailed-exitcode"]).code, 0, "{point}");
        tight(&sandbox);
    }
}

#[test]
fn an_older_or_foreign_encrypted_state_is_refused() {
    let sandbox = prepared(&[KEYS, STATE]);
    works(&sandbox, &["apply", "-auto-approve"]);
    let path = sandbox.path("terraform.tfstate");
    let first = fs::read(&path).unwrap();
    works(&sandbox, &["apply", "-auto-approve", "-replace=terraform_data.second"]);
    let last = fs::read(&path).unwrap();
    let other = prepared(&[KEYS, STATE]);
    works(&other, &["apply", "-auto-approve"]);
    works(&other, &["apply", "-auto-approve", "-replace=terraform_data.second"]);
    let foreign = fs::read(other.path("terraform.tfstate")).unwrap();
    // One with the serial of the last outside and the content of the first inside.
    let serial = |bytes: &[u8]| serde_json::from_slice::<serde_json::Value>(bytes).unwrap()["serial"].as_u64().unwrap();
    let text = String::from_utf8(first.clone()).unwrap();
    let passed_off =
        text.replace(&format!("\"serial\": {}", serial(&first)), &format!("\"serial\": {}", serial(&last)));
    for (content, repair) in [(first, "groma state restore"), (foreign, "groma state restore"), (passed_off.into(), "")]
    {
        fs::write(&path, content).unwrap();
        let outcome = sandbox.run(&["plan"]);
        assert!(outcome.code == 1 && !outcome.stdout.contains("Plan:"), "{}", outcome.stdout);
        let examined = sandbox.run(&["doctor"]);
        assert!(examined.code == 1 && examined.stdout.contains(repair), "{}", examined.stdout);
    }
    fs::write(&path, last).unwrap();
    assert_eq!(sandbox.run(&["plan", "-detailed-exitcode"]).code, 0);
}

#[test]
fn states_are_encrypted_and_decrypted_on_the_way() {
    let sandbox = prepared(&[]);
    works(&sandbox, &["apply", "-auto-approve"]);
    works(&sandbox, &["apply", "-auto-approve", "-replace=terraform_data.second"]);
    assert!(!leaks(&sandbox.path("")).is_empty());
    let sandbox = with(sandbox, &[KEYS, STATE]);
    refused(&sandbox.run(&["plan"]), "encountered unencrypted payload without unencrypted method configured");
    let fallback = "state {\n method = method.aes_gcm.mine\n fallback {\n method = method.unencrypted.not\n }\n}\n";
    let sandbox = with(sandbox, &[KEYS, MIGRATION, fallback]);
    let outcome = sandbox.run(&["apply", "-auto-approve"]);
    assert!(outcome.code == 0 && outcome.stdout.contains("No changes"), "{} {}", outcome.stdout, outcome.stderr);
    assert!((outcome.stdout + &outcome.stderr).contains("Unencrypted method configured"));
    // With everything that is kept of earlier ones.
    tight(&sandbox);
    let sandbox = with(sandbox, &[KEYS, STATE]);
    works(&sandbox, &["state", "list"]);
    works(&sandbox, &["state", "diff", "1"]);
    // To another key, and what is old can be read with it.
    let rotated = r#"
key_provider "pbkdf2" "next" {
  passphrase = "another passphrase"
  iterations = 200000
  hash_function = "sha256"
  key_length = 16
  salt_length = 8
}
method "aes_gcm" "next" {
  keys = key_provider.pbkdf2.next
  aad  = [1, 2, 3]
}
"#;
    let target = "state {\n method = method.aes_gcm.next\n fallback {\n method = method.aes_gcm.mine\n }\n}\n";
    let sandbox = with(sandbox, &[KEYS, rotated, target]);
    works(&sandbox, &["apply", "-auto-approve"]);
    let sandbox = with(sandbox, &[rotated, "state {\n method = method.aes_gcm.next\n}\n"]);
    works(&sandbox, &["state", "list"]);
    works(&sandbox, &["state", "diff", "1"]);
    // And back.
    let target = "state {\n method = method.unencrypted.not\n fallback {\n method = method.aes_gcm.next\n }\n}\n";
    let sandbox = with(sandbox, &[rotated, MIGRATION, target]);
    works(&sandbox, &["apply", "-auto-approve"]);
    let sandbox = with(sandbox, &[]);
    assert_eq!(works(&sandbox, &["output", "-raw", "secret"]), format!("{SECRET} again"));
    assert_eq!(sandbox.run(&["doctor"]).code, 0);
}

#[test]
fn plans_are_as_encrypted_as_they_must_be() {
    let sandbox = prepared(&[KEYS, PLAN]);
    works(&sandbox, &["plan", "-out=sealed"]);
    tight(&sandbox);
    let wrong = sandbox.run(&["apply", "-var", "passphrase=wrong-wrong-wrong-wrong", "sealed"]);
    refused(&wrong, "decryption failed for all provided methods");
    refused(&wrong, "Failed to load \"sealed\" as a plan file");
    let sandbox = with(sandbox, &[]);
    refused(&sandbox.run(&["apply", "sealed"]), "requires a valid encryption");
    refused(&sandbox.run(&["show", "sealed"]), "requires a valid encryption");
    works(&sandbox, &["plan", "-out=plain"]);
    let sandbox = with(sandbox, &[KEYS, PLAN]);
    refused(&sandbox.run(&["apply", "plain"]), "encountered unencrypted payload");
    works(&sandbox, &["apply", "sealed"]);
}

#[test]
fn the_environment_adds_to_the_block_and_is_not_shown() {
    let json = r#"{"key_provider":{"pbkdf2":{"mine":{"passphrase":"correct-horse-battery","iterations":200000}}},
        "method":{"aes_gcm":{"mine":{"keys":"${key_provider.pbkdf2.mine}"}}},"state":{"method":"method.aes_gcm.mine"}}"#;
    let sandbox = prepared(&[]).env("TF_ENCRYPTION", json);
    works(&sandbox, &["apply", "-auto-approve"]);
    tight(&sandbox);
    // The same in the other syntax, and half of it in the configuration.
    let native = "key_provider \"pbkdf2\" \"mine\" {\n passphrase = \"correct-horse-battery\"\n}\n";
    let half = "key_provider \"pbkdf2\" \"mine\" {\n passphrase = \"nothing of use here\"\n iterations = 200000\n}\n\
                method \"aes_gcm\" \"mine\" {\n keys = key_provider.pbkdf2.mine\n}\n";
    let sandbox = with(sandbox.env("TF_ENCRYPTION", native), &[half, STATE]);
    assert_eq!(works(&sandbox, &["output", "-raw", "secret"]), format!("{SECRET} again"));
    for broken in [
        "key_provider \"pbkdf2\" \"mine\" { passphrase = \"hush-hush-hush",
        "key_provider \"pbkdf2\" \"mine\" { passphrase = \"hush-hush\" }",
        "key_provider \"pbkdf2\" \"mine\" { passphrase = nothing(\"hush-hush\") }",
    ] {
        let outcome = with(prepared(&[half, STATE]), &[half, STATE]).env("TF_ENCRYPTION", broken).run(&["plan"]);
        assert_eq!(outcome.code, 1, "{broken}");
        assert!(!outcome.stderr.contains("hush-hush"), "{}", outcome.stderr);
    }
}

#[test]
fn what_is_wrong_with_a_block_is_said_as_others_say_it() {
    let aes = "method \"aes_gcm\" \"mine\" {\n keys = key_provider.pbkdf2.mine\n}\n";
    let short = KEYS.replace("var.passphrase", "\"short\"");
    let few = KEYS.replace("200000", "1000");
    let provider = |kind: &str| {
        format!(
            "key_provider {kind:?} \"mine\" {{}}\nmethod \"aes_gcm\" \"mine\" {{\n keys = key_provider.{kind}.mine\n}}\n"
        )
    };
    let circle = "key_provider \"pbkdf2\" \"a\" {\n chain = key_provider.pbkdf2.b\n}\nkey_provider \"pbkdf2\" \"b\" {\n chain = \
                  key_provider.pbkdf2.a\n}\nmethod \"aes_gcm\" \"mine\" {\n keys = key_provider.pbkdf2.a\n}\n";
    let unencrypted = "state {\n method = method.unencrypted.not\n enforced = true\n}\n";
    for (parts, summary) in [
        (&[KEYS, "state {\n method = method.aes_gcm.other\n}\n"][..], "Reference to undeclared encryption method"),
        (&[KEYS, "state {\n method = foo.bar\n}\n"], "Invalid encryption method identifier"),
        (&[KEYS, "state {}\n"], "Missing required argument"),
        (
            &["method \"foo\" \"mine\" {}\nstate {\n method = method.foo.mine\n}\n"],
            "Error fetching encryption method \"foo\"",
        ),
        (&[aes, STATE], "Reference to undeclared key provider"),
        (&["method \"aes_gcm\" \"mine\" {}\n", STATE], "Missing required argument"),
        (&[&provider("foo"), STATE], "Error fetching key_provider \"foo\""),
        (&[&provider("aws_kms"), STATE], "use a key provider \"external\""),
        (&[&short, STATE], "Unable to build encryption key data"),
        (&[&few, STATE], "dangerously low"),
        (&[&KEYS.replace("iterations", "key_length = 10\n iterations"), STATE], "Invalid method configuration"),
        (&[&KEYS.replace("iterations", "hash_function = \"md5\"\n iterations"), STATE], "md5"),
        (&[&KEYS.replace("iterations", "nothing = 1\n iterations"), STATE], "Unsupported argument"),
        (&[circle, STATE], "Circular reference detected"),
        (&[MIGRATION, unencrypted], "Unencrypted method is forbidden"),
    ] {
        let sandbox = with(Sandbox::new().file("main.tf", OBJECTS), parts).env("TF_VAR_secret", SECRET);
        refused(&sandbox.run(&["plan"]), summary);
        assert!(!sandbox.exists("terraform.tfstate"), "{summary}");
    }
}

#[test]
fn others_that_are_encrypted_are_read_by_name() {
    let sandbox = prepared(&[KEYS, STATE]);
    works(&sandbox, &["apply", "-auto-approve"]);
    let reader = r#"
data "terraform_remote_state" "other" {
  backend = "local"
  config = {
    path = "other.tfstate"
  }
}
output "length" {
  value = nonsensitive(length(data.terraform_remote_state.other.outputs.secret))
}
"#;
    let keys = KEYS.replace("var.passphrase", "\"correct-horse-battery\"");
    let reading = |target: &str| {
        let reading = with(Sandbox::new().file("main.tf", reader), &[&keys, target]);
        fs::copy(sandbox.path("terraform.tfstate"), reading.path("other.tfstate")).unwrap();
        works(&reading, &["init"]);
        reading
    };
    let refusing = reading(
        "remote_state_data_sources {\n remote_state_data_source \"else\" {\n method = method.aes_gcm.mine\n }\n}\n",
    );
    refused(&refusing.run(&["apply", "-auto-approve"]), "Error loading state");
    for target in [
        "remote_state_data_sources {\n default {\n method = method.aes_gcm.mine\n }\n}\n",
        "remote_state_data_sources {\n remote_state_data_source \"other\" {\n method = method.aes_gcm.mine\n }\n}\n",
    ] {
        let reading = reading(target);
        works(&reading, &["apply", "-auto-approve"]);
        assert_eq!(works(&reading, &["output", "length"]), format!("{}\n", SECRET.len() + 6));
    }
}

#[test]
fn states_move_to_another_backend_encrypted() {
    let sandbox = prepared(&[KEYS, STATE]);
    works(&sandbox, &["apply", "-auto-approve"]);
    let sandbox = sandbox.file("backend.tf", "terraform {\n backend \"local\" {\n path = \"moved/state\"\n }\n}\n");
    works(&sandbox, &["init", "-migrate-state", "-force-copy"]);
    assert!(sandbox.read("moved/state").contains("encrypted_data"));
    assert_eq!(sandbox.run(&["plan", "-detailed-exitcode"]).code, 0);
    tight(&sandbox);
}

#[cfg(unix)]
#[test]
fn a_state_that_cannot_be_stored_is_left_encrypted() {
    let sandbox = prepared(&[KEYS, STATE]);
    let breaking = r#"
resource "terraform_data" "breaking" {
  depends_on = [terraform_data.second]
  provisioner "local-exec" {
    command = "rm terraform.tfstate && mkdir terraform.tfstate"
  }
}
"#;
    let sandbox = sandbox.file("breaking.tf", breaking);
    refused(&sandbox.run(&["apply", "-auto-approve"]), "Failed to persist state to backend");
    assert!(sandbox.read("errored.tfstate").contains("encrypted_data"));
    tight(&sandbox);
    fs::remove_dir(sandbox.path("terraform.tfstate")).unwrap();
    works(&sandbox, &["state", "push", "errored.tfstate"]);
    assert_eq!(works(&sandbox, &["state", "list"]).lines().count(), 3);
    assert_eq!(sandbox.run(&["plan", "-detailed-exitcode"]).code, 0);
    tight(&sandbox);
}
