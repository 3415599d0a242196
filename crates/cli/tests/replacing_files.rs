//! Files of the published provider, which are links: who writes the new one first deletes it afterwards. The other tools do that; groma says so, and
//! keeps the file if it is allowed to.
//!
//! `cargo xtask test` says where the provider and the other tools are.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

#[allow(dead_code, reason = "the other tests use the rest")]
#[path = "cli/fixtures.rs"]
mod fixtures;
#[allow(dead_code, reason = "the other tests use the rest")]
#[path = "cli/sandbox.rs"]
mod sandbox;

use std::process::Command;

use fixtures::peer;
use sandbox::Sandbox;

const CONFIG: &str = r#"
terraform {
  required_providers {
    local = { source = "hashicorp/local" }
  }
}

variable "content" {
  default = "one"
}

variable "permission" {
  default = "0644"
}

resource "local_file" "it" {
  filename        = "${path.module}/made.txt"
  content         = var.content
  file_permission = var.permission

  lifecycle {
    create_before_destroy = true
  }
}
"#;

/// What makes it be replaced.
const CHANGES: [&str; 2] = ["-var=content=two", "-var=permission=0600"];

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new().file("main.tf", CONFIG).file("plugins/.keep", "");
    let plugin = sandbox.path("plugins/terraform-provider-local");
    std::os::unix::fs::symlink(peer("GROMA_PROVIDER_LOCAL_CURRENT"), plugin).unwrap();
    let folder = sandbox.path("plugins").display().to_string();
    let installation = format!(
        "provider_installation {{\n  dev_overrides {{\n    \"hashicorp/local\" = \"{folder}\"\n  }}\n  direct {{}}\n}}\n"
    );
    let sandbox = sandbox.file("cli.tfrc", &installation);
    let path = sandbox.path("cli.tfrc").display().to_string();
    sandbox.env("TF_CLI_CONFIG_FILE", &path).env("CHECKPOINT_DISABLE", "1")
}

#[test]
fn others_lose_the_file() {
    for variable in ["GROMA_TERRAFORM", "GROMA_TOFU"] {
        for change in CHANGES {
            let sandbox = sandbox();
            let apply = |arguments: &[&str]| {
                let output = Command::new(peer(variable))
                    .args(["apply", "-auto-approve", "-no-color"])
                    .args(arguments)
                    .current_dir(sandbox.path("."))
                    .env_clear()
                    .env("TF_CLI_CONFIG_FILE", sandbox.path("cli.tfrc"))
                    .env("HOME", sandbox.path("."))
                    .env("CHECKPOINT_DISABLE", "1")
                    .output()
                    .unwrap();
                assert!(output.status.success(), "{variable}: {}", String::from_utf8_lossy(&output.stderr));
            };
            apply(&[]);
            assert!(sandbox.exists("made.txt"));
            apply(&[change]);
            assert!(
                !sandbox.exists("made.txt"),
                "{variable} {change}: the rule is about something that does not happen"
            );
        }
    }
}

#[test]
fn groma_warns_and_keeps_it_if_told_to() {
    for change in CHANGES {
        let sandbox = sandbox();
        assert_eq!(sandbox.run(&["apply", "-auto-approve"]).code, 0);
        let warned = sandbox.run(&["apply", "-auto-approve", change]);
        assert_eq!(warned.code, 0, "{}", warned.stderr);
        assert!(warned.stdout.contains("may require delete-first replacement"), "{}", warned.stdout);
        assert!(warned.stdout.contains("groma explain rule local.file"), "{}", warned.stdout);
        assert!(!sandbox.exists("made.txt"), "a warning changes nothing");
        // It is noticed that the file is gone, and it is written again.
        assert_eq!(sandbox.run(&["apply", "-auto-approve"]).code, 0);
        assert!(sandbox.exists("made.txt"));
        let kept = sandbox.run(&["apply", "-auto-approve", "-replace-rules=auto", change]);
        assert_eq!(kept.code, 0, "{}", kept.stderr);
        assert!(sandbox.exists("made.txt"), "{}", kept.stdout);
        assert!(
            kept.stdout.contains("order: destroy, then create; rule \"local.file\" of the catalogue"),
            "{}",
            kept.stdout
        );
        assert!(!kept.stdout.contains("may require"), "{}", kept.stdout);
        let again = sandbox.run(&["plan", "-detailed-exitcode", change]);
        assert_eq!(again.code, 0, "{}", again.stdout);
    }
}
