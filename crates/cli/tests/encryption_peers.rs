//! Encrypted states, with OpenTofu: each reads and goes on with what the other has written, whatever encrypts it.
//!
//! `cargo xtask test` says where OpenTofu is.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

#[allow(dead_code, reason = "the other tests use the rest")]
#[path = "cli/sandbox.rs"]
mod sandbox;
#[path = "encryption_peers/servers.rs"]
mod servers;

use std::fs;
use std::process::Command;

use sandbox::Sandbox;

const OBJECTS: &str = r#"
variable "text" {
  default = "first"
}
variable "passphrase" {
  default = "correct-horse-battery"
}
locals {
  passphrase = "${var.passphrase}!"
}
resource "terraform_data" "a" {
  input = "canary-${var.text}"
}
output "text" {
  value = terraform_data.a.output
}
"#;

const PASSPHRASE: &str = r#"
key_provider "pbkdf2" "mine" {
  passphrase = local.passphrase
  iterations = 200000
}
method "aes_gcm" "mine" {
  keys = key_provider.pbkdf2.mine
}
"#;

const EVERYTHING_ELSE: &str = r#"
key_provider "pbkdf2" "mine" {
  encrypted_metadata_alias = "short"
  passphrase    = local.passphrase
  iterations    = 210000
  salt_length   = 12
  key_length    = 24
  hash_function = "sha256"
}
method "aes_gcm" "mine" {
  keys = key_provider.pbkdf2.mine
  aad  = [1, 2, 255]
}
"#;

const PROGRAM: &str = r#"
key_provider "external" "mine" {
  command = ["sh", "key.sh", "one"]
}
method "aes_gcm" "mine" {
  keys = key_provider.external.mine
}
"#;

const CHAINED: &str = r#"
key_provider "external" "first" {
  command = ["sh", "key.sh", "one"]
}
key_provider "pbkdf2" "mine" {
  chain      = key_provider.external.first
  iterations = 200000
}
method "aes_gcm" "mine" {
  keys = key_provider.pbkdf2.mine
}
"#;

const EXTERNAL_METHOD: &str = r#"
key_provider "pbkdf2" "mine" {
  passphrase = local.passphrase
  iterations = 200000
}
method "external" "mine" {
  keys            = key_provider.pbkdf2.mine
  encrypt_command = ["sh", "method.sh"]
  decrypt_command = ["sh", "method.sh"]
}
"#;

const EXTERNAL_METHOD_WITHOUT_KEYS: &str = r#"
method "external" "mine" {
  encrypt_command = ["sh", "method.sh"]
  decrypt_command = ["sh", "method.sh"]
}
"#;

/// Knows a key, and gives it again only to whom it has told which one it is.
const KEY_PROGRAM: &str = r#"
echo '{"magic":"OpenTofu-External-Key-Provider","version":1}'
input=$(cat)
key='MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE='
meta='"meta":{"external_data":{"id":"'$1'"}}'
case "$input" in
  null) echo '{"keys":{"encryption_key":"'$key'"},'$meta'}' ;;
  '{"external_data":{"id":"'$1'"}}') echo '{"keys":{"encryption_key":"'$key'","decryption_key":"'$key'"},'$meta'}' ;;
  *) echo "not mine: $input" >&2; exit 1 ;;
esac
"#;

/// No cipher, but what it makes is not what it was given, and what it makes of that is.
const METHOD_PROGRAM: &str = r#"
echo '{"magic":"OpenTofu-External-Encryption-Method","version":1}'
payload=$(sed 's/.*"payload":"\([^"]*\)".*/\1/')
payload=$(printf '%s' "$payload" | base64 -d | LC_ALL=C tr 'A-Za-z' 'N-ZA-Mn-za-m' | base64 | tr -d '\n')
echo '{"payload":"'$payload'"}'
"#;

/// How things are encrypted, and by what method.
const WAYS: [(&str, &str); 6] = [
    (PASSPHRASE, "aes_gcm"),
    (EVERYTHING_ELSE, "aes_gcm"),
    (PROGRAM, "aes_gcm"),
    (CHAINED, "aes_gcm"),
    (EXTERNAL_METHOD, "external"),
    (EXTERNAL_METHOD_WITHOUT_KEYS, "external"),
];

fn configured(sandbox: Sandbox, parts: &[&str]) -> Sandbox {
    sandbox.file("encryption.tf", &format!("terraform {{\n encryption {{\n{}\n }}\n}}\n", parts.join("\n")))
}

fn prepared(parts: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new().file("main.tf", OBJECTS).file("key.sh", KEY_PROGRAM);
    configured(sandbox.file("method.sh", METHOD_PROGRAM), parts)
}

fn target(method: &str, fallback: Option<&str>) -> String {
    let fallback =
        fallback.map(|method| format!(" fallback {{\n  method = method.{method}\n }}\n")).unwrap_or_default();
    format!("state {{\n method = method.{method}\n{fallback}}}\n")
}

#[track_caller]
fn groma(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let outcome = sandbox.run(arguments);
    assert_eq!(outcome.code, 0, "groma {arguments:?}: {} {}", outcome.stdout, outcome.stderr);
    outcome.stdout
}

#[track_caller]
fn tofu(sandbox: &Sandbox, arguments: &[&str]) -> String {
    #[expect(clippy::disallowed_methods, reason = "the peers are named by the environment")]
    let program = std::env::var_os("GROMA_TOFU").expect("GROMA_TOFU is not set: run `cargo xtask test`");
    let mut command = Command::new(program);
    command.args(arguments).current_dir(sandbox.path("")).env("TF_CLI_CONFIG_FILE", "/dev/null");
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "tofu {arguments:?}: {said}{}", String::from_utf8_lossy(&output.stderr));
    said
}

#[track_caller]
fn encrypted(sandbox: &Sandbox) {
    let text = sandbox.read("terraform.tfstate");
    assert!(text.contains("\"encrypted_data\"") && !text.contains("canary"), "{text}");
    let backup = fs::read_to_string(sandbox.path("terraform.tfstate.backup")).unwrap_or_default();
    assert!(!backup.contains("canary"), "{backup}");
}

#[test]
fn each_goes_on_with_what_the_other_has_encrypted() {
    for (way, method) in WAYS {
        let sandbox = prepared(&[way, &target(&format!("{method}.mine"), None)]);
        groma(&sandbox, &["apply", "-auto-approve"]);
        encrypted(&sandbox);
        tofu(&sandbox, &["plan", "-detailed-exitcode"]);
        tofu(&sandbox, &["apply", "-auto-approve", "-var", "text=second"]);
        encrypted(&sandbox);
        assert_eq!(groma(&sandbox, &["output", "-raw", "text"]), "canary-second", "{way}");
        groma(&sandbox, &["plan", "-detailed-exitcode", "-var", "text=second"]);
        groma(&sandbox, &["apply", "-auto-approve", "-var", "text=third"]);
        assert_eq!(tofu(&sandbox, &["output", "-raw", "text"]), "canary-third", "{way}");
        encrypted(&sandbox);
    }
}

#[test]
fn the_other_begins() {
    for (way, method) in WAYS {
        let sandbox = prepared(&[way, &target(&format!("{method}.mine"), None)]);
        tofu(&sandbox, &["apply", "-auto-approve"]);
        encrypted(&sandbox);
        groma(&sandbox, &["plan", "-detailed-exitcode"]);
        groma(&sandbox, &["state", "mv", "terraform_data.a", "terraform_data.b"]);
        groma(&sandbox, &["state", "mv", "terraform_data.b", "terraform_data.a"]);
        encrypted(&sandbox);
        tofu(&sandbox, &["plan", "-detailed-exitcode"]);
        assert_eq!(tofu(&sandbox, &["output", "-raw", "text"]), "canary-first", "{way}");
        tofu(&sandbox, &["apply", "-auto-approve", "-var", "text=second"]);
        assert_eq!(groma(&sandbox, &["output", "-raw", "text"]), "canary-second", "{way}");
    }
}

#[test]
fn what_one_has_migrated_the_other_reads() {
    let methods = PASSPHRASE.to_owned()
        + &EVERYTHING_ELSE.replace("\"mine\"", "\"next\"").replace("pbkdf2.mine", "pbkdf2.next")
        + "method \"unencrypted\" \"not\" {}\n";
    // From, to, and who goes there.
    let steps: [(&str, &str, bool); 6] = [
        ("unencrypted.not", "aes_gcm.mine", true),
        ("aes_gcm.mine", "aes_gcm.next", true),
        ("aes_gcm.next", "unencrypted.not", true),
        ("unencrypted.not", "aes_gcm.mine", false),
        ("aes_gcm.mine", "aes_gcm.next", false),
        ("aes_gcm.next", "unencrypted.not", false),
    ];
    let mut sandbox = prepared(&[]);
    tofu(&sandbox, &["apply", "-auto-approve"]);
    for (from, to, ours) in steps {
        sandbox = configured(sandbox, &[&methods, &target(to, Some(from))]);
        let apply = ["apply", "-auto-approve"];
        let _ = if ours { groma(&sandbox, &apply) } else { tofu(&sandbox, &apply) };
        sandbox = configured(sandbox, &[&methods, &target(to, None)]);
        assert_eq!(sandbox.read("terraform.tfstate").contains("canary"), to == "unencrypted.not", "{from} to {to}");
        assert_eq!(groma(&sandbox, &["output", "-raw", "text"]), "canary-first", "{from} to {to}");
        assert_eq!(tofu(&sandbox, &["output", "-raw", "text"]), "canary-first", "{from} to {to}");
    }
}

#[test]
fn plans_are_encrypted_and_belong_to_one_tool() {
    let plan = "plan {\n method = method.aes_gcm.mine\n}\n";
    let sandbox = prepared(&[CHAINED, &target("aes_gcm.mine", None), plan]);
    groma(&sandbox, &["plan", "-out=ours"]);
    let text = sandbox.read("ours");
    assert!(text.starts_with("{\"meta\":") && !text.contains("canary"), "{text}");
    tofu(&sandbox, &["plan", "-out=theirs"]);
    let refused = sandbox.run(&["apply", "theirs"]);
    assert!(refused.code == 1 && refused.stderr.contains("plan file of OpenTofu"), "{}", refused.stderr);
    groma(&sandbox, &["apply", "ours"]);
    assert_eq!(tofu(&sandbox, &["output", "-raw", "text"]), "canary-first");
}

/// What a run that was killed has left is read with the same keys, whatever they are.
#[test]
fn journals_are_encrypted_by_every_way() {
    for (way, method) in WAYS {
        let sandbox = prepared(&[way, &target(&format!("{method}.mine"), None)]).env("GROMA_DIE_AT", "outcome.safe#1");
        assert_ne!(sandbox.run(&["apply", "-auto-approve"]).code, 0, "{way}");
        let sandbox = sandbox.env("GROMA_DIE_AT", "");
        let journal = fs::read(sandbox.path("terraform.tfstate.groma-journal")).unwrap();
        assert!(!journal.windows(6).any(|window| window == b"canary"), "{way}");
        assert_eq!(groma(&sandbox, &["state", "list"]), "terraform_data.a\n", "{way}");
        groma(&sandbox, &["apply", "-auto-approve"]);
        assert_eq!(tofu(&sandbox, &["output", "-raw", "text"]), "canary-first", "{way}");
    }
}
