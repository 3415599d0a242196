//! The thin slice: one `.tf` with one resource → the real `time` plugin over gRPC → plan → apply → a version 4 state that the
//! real `tofu plan` calls unchanged.
//!
//! `cargo xtask test` sets `GROMA_TOFU` and `GROMA_PROVIDER_TIME` to the peers that it has built. Without them the
//! test fails: a slice that was not cut proves nothing.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

mod common;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;

use common::{Given, Workspace, summary};
use groma_provider::api::Provider;
use groma_provider::wire::{Launch, PluginProvider};
use groma_state::{read_file, write_file};

#[expect(clippy::disallowed_methods, reason = "the peers are named by the environment")]
fn peer(variable: &str) -> PathBuf {
    let path = std::env::var_os(variable).unwrap_or_else(|| panic!("{variable} is not set; run `cargo xtask test`"));
    PathBuf::from(path)
}

/// Runs OpenTofu with the plugin from a directory of ours.
fn tofu(dir: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(peer("GROMA_TOFU"));
    command.args(arguments).current_dir(dir).env_clear();
    command.env("TF_CLI_CONFIG_FILE", dir.join("tofurc")).env("HOME", dir).env("CHECKPOINT_DISABLE", "1");
    command.output().expect("OpenTofu runs")
}

#[tokio::test]
async fn a_resource_goes_through_every_layer() {
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path();
    std::fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("config/main.tf"), dir.join("main.tf")).unwrap();
    let program = peer("GROMA_PROVIDER_TIME");
    let plugin = PluginProvider::open(&Launch::new(&program), None).await.expect("the plugin starts");
    let plugin: Arc<dyn Provider> = Arc::new(plugin);
    let mut workspace = Workspace::new(dir, Given::default().with("hashicorp/time", Arc::clone(&plugin)));
    workspace.state.lineage = uuid::Uuid::new_v4().to_string();

    let first = workspace.plan().await;
    assert_eq!(first.changes.len(), 1);
    let planned = &first.changes[0].after;
    assert!(!planned.as_entries().unwrap().get("rfc3339").unwrap().is_known(), "decided by the plugin at apply");
    assert_eq!(workspace.apply().await.len(), 1);

    let state_file = dir.join("terraform.tfstate");
    write_file(&state_file, &workspace.state).unwrap();
    workspace.state = read_file(&state_file).unwrap().expect("a state file");
    assert_eq!(workspace.state.resources.len(), 1);
    let second = workspace.plan().await;
    assert!(second.is_empty(), "{:?}", summary(&second));
    plugin.shutdown().await.unwrap();

    opentofu_sees_no_changes(dir, &program);
}

fn opentofu_sees_no_changes(dir: &Path, program: &Path) {
    let plugins = dir.join("plugins");
    std::fs::create_dir(&plugins).unwrap();
    std::os::unix::fs::symlink(program, plugins.join("terraform-provider-time")).unwrap();
    let plugins = plugins.display();
    let rc = format!(
        "provider_installation {{\n  dev_overrides {{\n    \"hashicorp/time\" = \"{plugins}\"\n  }}\n  direct {{}}\n}}\n"
    );
    std::fs::write(dir.join("tofurc"), rc).unwrap();
    let output = tofu(dir, &["plan", "-detailed-exitcode", "-no-color", "-input=false"]);
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "0 means no changes; OpenTofu said:\n{text}\n{errors}");
    assert!(text.contains("No changes"), "{text}");
}
