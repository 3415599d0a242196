//! The thin slice: one `.tf` with one resource → the real `time` plugin over gRPC → plan → apply → a version 4 state that the
//! real `tofu plan` calls unchanged.
//!
//! `cargo xtask test` sets `GROMA_TOFU` and `GROMA_PROVIDER_TIME` to the peers that it has built. Without them the
//! test fails: a slice that was not cut proves nothing.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;

use groma_engine::apply::{Save, apply};
use groma_engine::plan::{Action, Desired, Plan, Providers, plan};
use groma_engine::schemas::ProviderSchemas;
use groma_lang::oracle::NothingExists;
use groma_lang::walk::{Purpose, Walk};
use groma_model::address::Provider as ProviderAddress;
use groma_model::diag::Diagnostics;
use groma_model::value::Value;
use groma_provider::api::{ClientCapabilities, ConfigureRequest, Provider};
use groma_provider::wire::{Launch, PluginProvider};
use groma_run::session::{Session, Start};
use groma_state::{State, read_file, write_file};

#[expect(clippy::disallowed_methods, reason = "the peers are named by the environment")]
fn peer(variable: &str) -> PathBuf {
    let path = std::env::var_os(variable).unwrap_or_else(|| panic!("{variable} is not set; run `cargo xtask test`"));
    PathBuf::from(path)
}

struct StateFile(PathBuf);

impl Save for StateFile {
    fn save(&mut self, state: &State) -> Result<(), Diagnostics> {
        write_file(&self.0, state).expect("the state is written");
        Ok(())
    }
}

/// Loads the configuration, evaluates it and plans it with the plugin.
async fn plan_in(dir: &Path, state: &State, plugin: &Arc<dyn Provider>) -> (Plan, Providers) {
    let mut session = Session::new(Start::in_directory(dir.to_owned()));
    let loaded = session.load();
    assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
    let tree = loaded.tree.expect("a module tree");
    let source = ProviderAddress::parse_source("hashicorp/time").unwrap();
    let providers = Providers::from([(source, Arc::clone(plugin))]);
    let oracle = NothingExists(ProviderSchemas(&providers));
    let (walk, diagnostics) = Walk::run(&tree, session.settings(Purpose::Evaluate, &oracle), &loaded.inputs);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let mut desired = Vec::new();
    for resource in tree.root.module.resources.values() {
        let schema = plugin.schema().resources[&resource.key.ty].get().unwrap();
        let (config, diagnostics) = walk.root_config(resource, &schema.block);
        assert!(!diagnostics.has_errors(), "{diagnostics:?}");
        desired.push(Desired { resource, config });
    }
    let plan = plan(desired, state, &providers).await.expect("a plan");
    (plan, providers)
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
    let nothing = Value::object_of(groma_model::value::Entries::default());
    let capabilities = ClientCapabilities::default();
    let request = ConfigureRequest { terraform_version: "1.12.0".into(), config: nothing, capabilities };
    assert!(plugin.configure(request).await.unwrap().is_empty());

    let state_file = dir.join("terraform.tfstate");
    let lineage = uuid::Uuid::new_v4().to_string();
    let mut state = State { tool_version: "1.12.0".into(), lineage, ..State::default() };
    let (first, providers) = plan_in(dir, &state, &plugin).await;
    assert_eq!(first.changes.len(), 1);
    assert_eq!(first.changes[0].action, Action::Create);
    let planned = &first.changes[0].planned;
    assert!(!planned.as_entries().unwrap().get("rfc3339").unwrap().is_known(), "decided by the plugin at apply");
    apply(first, &mut state, &providers, &mut StateFile(state_file.clone())).await.expect("applied");

    let stored = read_file(&state_file).unwrap().expect("a state file");
    assert_eq!(stored.serial, 1);
    assert_eq!(stored.resources.len(), 1);
    let (second, _) = plan_in(dir, &stored, &plugin).await;
    assert!(second.is_empty(), "{:?}", second.changes);
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
