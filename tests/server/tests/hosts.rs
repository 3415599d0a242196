//! Stock Terraform and OpenTofu run a small configuration against our plugin: both protocols, with TLS as they always do,
//! and attached to a plugin that runs by itself.
//!
//! `cargo xtask test` sets `GROMA_TOFU` and `GROMA_TERRAFORM`. Without them the tests fail: nothing would be proved.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;

const CONFIG: &str = r#"
terraform {
  required_providers {
    served = { source = "example.com/test/served" }
  }
  provider_meta "served" {
    module_name = "root"
  }
}
provider "served" {
  prefix = "p-"
}
variable "text" {
  default = "hello"
}
variable "kind" {
  default = null
}
resource "served_note" "a" {
  text     = var.text
  kind     = var.kind
  secret   = "never stored"
  tags     = { one = "1" }
  anything = [1, "two", { three = 3 }]
  item {
    name   = "first"
    weight = 1.5
  }
}
resource "served_note" "found" {
  text = "elsewhere"
}
data "served_echo" "e" {
  input = served_note.a.id
}
output "id" {
  value = served_note.a.id
}
output "size" {
  value = served_note.a.size
}
output "echo" {
  value = data.served_echo.e.output
}
output "shout" {
  value = provider::served::shout("hi", "!", "?")
}
"#;

#[expect(clippy::disallowed_methods, reason = "the peers are named by the environment")]
fn peer(variable: &str) -> PathBuf {
    let path = std::env::var_os(variable).unwrap_or_else(|| panic!("{variable} is not set; run `cargo xtask test`"));
    PathBuf::from(path)
}

/// A working directory with the configuration, and a host that runs in it.
struct Host {
    program: PathBuf,
    protocol: &'static str,
    dir: TempDir,
    reattach: Option<String>,
}

impl Host {
    fn new(variable: &str, protocol: &'static str) -> Self {
        let dir = TempDir::new().unwrap();
        fs::write(dir.path().join("main.tf"), CONFIG).unwrap();
        let host = Self { program: peer(variable), protocol, dir, reattach: None };
        host.mirror();
        host
    }

    /// Puts the plugin where the host installs it from.
    fn mirror(&self) {
        let arch = match std::env::consts::ARCH {
            "x86_64" => "amd64",
            "aarch64" => "arm64",
            other => panic!("what is {other} called by hosts?"),
        };
        let platform = format!("{}_{arch}", std::env::consts::OS);
        let mirror = self.dir.path().join("mirror");
        let package = mirror.join("example.com/test/served/1.0.0").join(platform);
        fs::create_dir_all(&package).unwrap();
        fs::copy(env!("CARGO_BIN_EXE_groma-served"), package.join("terraform-provider-served_v1.0.0")).unwrap();
        let rc = format!(
            "provider_installation {{\n  filesystem_mirror {{\n    path = {:?}\n  }}\n}}\n",
            mirror.display().to_string()
        );
        fs::write(self.dir.path().join("cli.tfrc"), rc).unwrap();
    }

    fn command(&self, args: &[&str]) -> Output {
        let mut command = Command::new(&self.program);
        command
            .args(args)
            .current_dir(self.dir.path())
            .env("TF_CLI_CONFIG_FILE", self.dir.path().join("cli.tfrc"))
            .env("SERVED_PROTOCOL", self.protocol)
            .env("CHECKPOINT_DISABLE", "1")
            .env_remove("TF_LOG")
            .env_remove("TF_DISABLE_PLUGIN_TLS");
        match &self.reattach {
            Some(reattach) => command.env("TF_REATTACH_PROVIDERS", reattach),
            None => command.env("SERVED_WANTS_TLS", "1"),
        };
        command.output().unwrap()
    }

    fn run(&self, args: &[&str]) -> String {
        self.expect(args, 0)
    }

    fn expect(&self, args: &[&str], code: i32) -> String {
        let output = self.command(args);
        let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(code), "{} {args:?}:\n{text}", self.program.display());
        text
    }

    fn output(&self, name: &str) -> String {
        self.run(&["output", "-raw", name])
    }
}

/// Everything that a configuration goes through in its life.
fn life(host: &Host) {
    host.run(&["import", "-no-color", "served_note.found", "note:p-elsewhere"]);
    let applied = host.run(&["apply", "-auto-approve", "-no-color"]);
    assert!(applied.contains("1 added, 0 changed, 0 destroyed"), "{applied}");
    assert_eq!(host.output("id"), "note:p-hello");
    assert_eq!(host.output("size"), "5");
    assert_eq!(host.output("echo"), "p-note:p-hello");
    assert_eq!(host.output("shout"), "HI!?");
    let state = fs::read_to_string(host.dir.path().join("terraform.tfstate")).unwrap();
    assert!(!state.contains("never stored"), "{state}");
    host.run(&["plan", "-detailed-exitcode", "-no-color"]);

    let changed = host.run(&["apply", "-auto-approve", "-no-color", "-var=text=longer text"]);
    assert!(changed.contains("0 added, 1 changed, 0 destroyed"), "{changed}");
    assert_eq!(host.output("size"), "11");
    let replaced = host.run(&["apply", "-auto-approve", "-no-color", "-var=text=longer text", "-var=kind=new"]);
    assert!(replaced.contains("1 added, 0 changed, 1 destroyed"), "{replaced}");
    let refused = host.expect(&["apply", "-auto-approve", "-no-color", "-var=text=refused", "-var=kind=new"], 1);
    assert!(refused.contains("Nothing was made."), "{refused}");
    assert_eq!(host.output("size"), "11");

    let destroyed = host.run(&["destroy", "-auto-approve", "-no-color"]);
    assert!(destroyed.contains("2 destroyed"), "{destroyed}");
}

fn installed(variable: &str, protocol: &'static str) {
    let host = Host::new(variable, protocol);
    host.run(&["init", "-no-color"]);
    life(&host);
}

#[test]
fn tofu_with_protocol_5() {
    installed("GROMA_TOFU", "5");
}

#[test]
fn tofu_with_protocol_6() {
    installed("GROMA_TOFU", "6");
}

#[test]
fn terraform_with_protocol_5() {
    installed("GROMA_TERRAFORM", "5");
}

#[test]
fn terraform_with_protocol_6() {
    installed("GROMA_TERRAFORM", "6");
}

/// A plugin that runs by itself.
struct ByItself(Child);

impl ByItself {
    /// Starts one; tells how hosts find it.
    fn start(protocol: &str, dir: &Path) -> (Self, String) {
        let mut child = Command::new(env!("CARGO_BIN_EXE_groma-served"))
            .arg("-debug")
            .env("SERVED_PROTOCOL", protocol)
            .env("TMPDIR", dir)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let reattach = lines.into_iter().find_map(|line| {
            let value = line.trim().strip_prefix("TF_REATTACH_PROVIDERS='")?.strip_suffix('\'')?;
            Some(value.to_owned())
        });
        (Self(child), reattach.expect("how to reach it"))
    }

    /// Interrupts it as a developer would.
    fn stop(mut self) {
        kill(Pid::from_raw(self.0.id().try_into().unwrap()), Signal::SIGINT).unwrap();
        assert!(self.0.wait().unwrap().success());
    }
}

impl Drop for ByItself {
    /// Whoever fails leaves nothing behind.
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn attached(variable: &str, protocol: &'static str) {
    let mut host = Host::new(variable, protocol);
    let (plugin, reattach) = ByItself::start(protocol, host.dir.path());
    host.reattach = Some(reattach);
    host.run(&["init", "-no-color"]);
    life(&host);
    plugin.stop();
}

#[test]
fn tofu_attached() {
    attached("GROMA_TOFU", "6");
}

#[test]
fn terraform_attached() {
    attached("GROMA_TERRAFORM", "5");
}
