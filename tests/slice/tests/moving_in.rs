//! Moving in and out: directories that OpenTofu and Terraform prepared and applied are used as they stand, and what is done there
//! is taken up by them again.
//!
//! `cargo xtask test` says where the other tools and the plugin are.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use groma_run::cli_config::CliConfig;
use groma_run::engine::plan::Options;
use groma_run::online::Online;
use groma_run::operate::{Counts, Operation, Watch, Wishes};
use groma_run::providers::{BuiltInUse, ProviderAccess, ProviderChoice};
use groma_run::session::{Session, Start};
use tempfile::TempDir;

const CONFIG: &str = r#"
terraform {
  backend "local" {
    path          = "states/first.tfstate"
    workspace_dir = "states/others"
  }
}

variable "text" { default = "one" }

resource "time_static" "made" {}

resource "terraform_data" "kept" { input = var.text }

module "m" {
  source = "./m"
  since  = time_static.made.rfc3339
}

output "since" { value = module.m.since }
"#;

const MODULE: &str = r#"
variable "since" {}

resource "terraform_data" "inner" { triggers_replace = var.since }

output "since" { value = terraform_data.inner.triggers_replace }
"#;

#[expect(clippy::disallowed_methods, reason = "the peers are named by the environment")]
fn peer(variable: &str) -> PathBuf {
    let path = std::env::var_os(variable).unwrap_or_else(|| panic!("{variable} is not set; run `cargo xtask test`"));
    PathBuf::from(path)
}

/// A directory, and another tool that works there, too.
struct Shared {
    tool: PathBuf,
    dir: TempDir,
}

impl Shared {
    fn new(variable: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("main.tf"), CONFIG).unwrap();
        fs::create_dir(dir.path().join("m")).unwrap();
        fs::write(dir.path().join("m/main.tf"), MODULE).unwrap();
        let program = peer("GROMA_PROVIDER_TIME");
        let name = program.file_name().unwrap();
        let version = name.to_str().unwrap().rsplit_once("_v").unwrap().1;
        let platform = format!("{}_{}", std::env::consts::OS, go_arch());
        for host in ["registry.opentofu.org", "registry.terraform.io"] {
            let place = dir.path().join("mirror").join(host).join("hashicorp/time").join(version).join(&platform);
            fs::create_dir_all(&place).unwrap();
            fs::copy(&program, place.join(name)).unwrap();
        }
        let mirror = dir.path().join("mirror");
        let rc = format!(
            "provider_installation {{\n  filesystem_mirror {{\n    path = \"{}\"\n  }}\n}}\n",
            mirror.display()
        );
        fs::write(dir.path().join("rc"), rc).unwrap();
        Self { tool: peer(variable), dir }
    }

    /// Runs the other tool; gives its exit code.
    fn run(&self, arguments: &[&str]) -> i32 {
        let mut command = Command::new(&self.tool);
        command.args(arguments).current_dir(self.dir.path()).env_clear();
        command.env("TF_CLI_CONFIG_FILE", self.dir.path().join("rc")).env("HOME", self.dir.path());
        let output = command.env("CHECKPOINT_DISABLE", "1").output().expect("the other tool runs");
        let code = output.status.code().expect("an exit code");
        assert!(code != 1, "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        code
    }

    fn session(&self) -> Session {
        Session::new(Start::in_directory(self.dir.path().to_owned()))
    }

    /// Plans with the installed plugin, and applies if there is something to do.
    fn apply(&self) -> Option<Counts> {
        let mut session = self.session();
        let choice = ProviderChoice { built_in_use: BuiltInUse::Never, ..ProviderChoice::default() };
        let online = Online::new(CliConfig::default(), BTreeMap::new());
        let access = ProviderAccess { online, choice, schema_cache: None };
        let (operation, diagnostics) = Operation::open(&mut session, access, Wishes::default());
        let mut operation = operation.unwrap_or_else(|| panic!("{diagnostics:?}"));
        let (plan, diagnostics) = operation.plan(&session, &Options::default(), &Watch::default());
        assert!(!diagnostics.has_errors(), "{diagnostics:?}");
        let plan = plan.unwrap();
        let counts = (!plan.is_empty()).then(|| {
            let outcome = operation.apply(&session, &plan, &Watch::default());
            assert!(!outcome.diagnostics.has_errors(), "{:?}", outcome.diagnostics);
            outcome.counts
        });
        assert!(operation.close().is_empty());
        counts
    }
}

/// As Go calls it.
fn go_arch() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

fn back_and_forth(variable: &str) {
    const PLAN: [&str; 3] = ["plan", "-detailed-exitcode", "-input=false"];
    const APPLY: [&str; 3] = ["apply", "-auto-approve", "-input=false"];
    let shared = Shared::new(variable);
    let dir: &Path = shared.dir.path();
    shared.run(&["init", "-input=false"]);
    shared.run(&APPLY);
    assert_eq!(shared.apply(), None);
    // Another workspace, which it selects, too.
    shared.run(&["workspace", "new", "other"]);
    assert_eq!(shared.session().workspace(), "other");
    assert_eq!(shared.apply(), Some(Counts { added: 3, ..Counts::default() }));
    assert!(dir.join("states/others/other/terraform.tfstate").exists());
    assert_eq!(shared.run(&PLAN), 0);
    fs::write(dir.join("main.tf"), CONFIG.replace("\"one\"", "\"two\"")).unwrap();
    assert_eq!(shared.run(&PLAN), 2);
    assert_eq!(shared.apply(), Some(Counts { changed: 1, ..Counts::default() }));
    assert_eq!(shared.run(&PLAN), 0);
    shared.run(&["workspace", "select", "default"]);
    assert_eq!(shared.run(&PLAN), 2);
    shared.run(&APPLY);
    assert_eq!(shared.apply(), None);
    // What was changed elsewhere must be prepared again, there as here.
    fs::write(dir.join("main.tf"), CONFIG.replace("first", "second")).unwrap();
    let mut session = shared.session();
    let online = Online::new(CliConfig::default(), BTreeMap::new());
    let access = ProviderAccess { online, choice: ProviderChoice::default(), schema_cache: None };
    let (operation, diagnostics) = Operation::open(&mut session, access, Wishes::default());
    assert!(operation.is_none());
    let summary = &diagnostics.iter().next().unwrap().summary;
    assert_eq!(summary, "Backend initialization required: please run \"groma init\"");
}

#[test]
fn opentofu_was_here() {
    back_and_forth("GROMA_TOFU");
}

#[test]
fn terraform_was_here() {
    back_and_forth("GROMA_TERRAFORM");
}
