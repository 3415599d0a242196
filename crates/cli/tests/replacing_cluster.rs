//! The order of replacements where names are taken: the published `kubernetes` plugin and a real API server.
//!
//! `cargo xtask test` says where they are (`GROMA_PROVIDER_KUBERNETES`, `GROMA_ETCD`, `GROMA_KUBE_APISERVER`).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

#[allow(dead_code, reason = "the other tests use the rest")]
#[path = "cli/sandbox.rs"]
mod sandbox;

use std::path::PathBuf;

use groma_testkit::servers::kube;
use sandbox::{Outcome, Sandbox};

const ADDRESS: &str = "registry.opentofu.org/hashicorp/kubernetes";
const VERSION: &str = "1.13.4";

#[expect(clippy::disallowed_methods, reason = "the peers are named by the environment")]
fn program() -> PathBuf {
    let variable = "GROMA_PROVIDER_KUBERNETES";
    std::env::var_os(variable).unwrap_or_else(|| panic!("{variable} is not set; run `cargo xtask test`")).into()
}

/// A secret whose kind cannot be changed, and whose replacement is to be created first under the same name.
fn config(name: &str, kind: &str) -> String {
    format!(
        r#"
terraform {{
  required_providers {{
    kubernetes = {{
      source = "hashicorp/kubernetes"
    }}
  }}
}}

provider "kubernetes" {{
  load_config_file = true
  config_path      = {:?}
}}

resource "kubernetes_secret" "key" {{
  metadata {{
    name = {name:?}
  }}
  type = {kind:?}
  data = {{
    key = "value"
  }}
  lifecycle {{
    create_before_destroy = true
  }}
}}
"#,
        kube::shared().kubeconfig.display().to_string()
    )
}

/// What the catalogue knows, said by the user: only that outweighs `create_before_destroy`, which is the user's word as well.
const RULE: &str = r#"
replace_rule "taken-names" {
  resource = "kubernetes_*"
  order    = "delete_first"
  behavior = "auto"
  reasoning = "Names are unique in a namespace"
  predicate "state_check" "same" {
    condition = old.metadata[0].name == new.metadata[0].name
  }
}
"#;

/// A directory in which the secret was made, and is now to be of another kind.
fn to_be_replaced(name: &str) -> Sandbox {
    let sandbox = Sandbox::new().file("main.tf", &config(name, "Opaque")).mirror(&[(ADDRESS, VERSION)]).program(
        ADDRESS,
        VERSION,
        &program(),
    );
    assert_eq!(sandbox.run(&["init"]).code, 0);
    let made = sandbox.run(&["apply", "-auto-approve"]);
    assert_eq!(made.code, 0, "{}", made.stderr);
    sandbox.file("main.tf", &config(name, "example.com/key"))
}

fn apply(sandbox: &Sandbox, rules: &str) -> Outcome {
    sandbox.run(&["apply", "-auto-approve", rules])
}

#[test]
fn a_name_that_is_taken() {
    let sandbox = to_be_replaced("warned");
    let warned = apply(&sandbox, "-replace-rules=warn");
    assert_eq!(warned.code, 1);
    let told = format!("{}{}", warned.stdout, warned.stderr);
    assert!(told.contains("may require delete-first replacement"), "{told}");
    assert!(told.contains("already exists"), "{told}");
    // What comes with groma is heard, and does not outweigh what the configuration says.
    let overruled = apply(&sandbox, "-replace-rules=auto");
    assert_eq!(overruled.code, 1);
    assert!(overruled.stdout.contains("kubernetes.name"), "{}{}", overruled.stdout, overruled.stderr);
    // The old one is still there and still known, so that the same directory can go on.
    let sandbox = sandbox.file("rules.groma.hcl", RULE);
    let mended = apply(&sandbox, "-replace-rules=auto");
    assert_eq!(mended.code, 0, "{}", mended.stderr);
    assert!(sandbox.read("terraform.tfstate").contains("example.com/key"));
}

#[test]
fn a_name_that_is_given_up_first() {
    let sandbox = to_be_replaced("obeyed").file("rules.groma.hcl", RULE);
    let done = apply(&sandbox, "-replace-rules=auto");
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stdout.contains("order: destroy, then create; rule \"taken-names\""), "{}", done.stdout);
    let again = sandbox.run(&["plan", "-detailed-exitcode"]);
    assert_eq!(again.code, 0, "{}", again.stdout);
}
