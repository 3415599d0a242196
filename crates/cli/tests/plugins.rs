//! The command line with the published `time` plugin: installed, asked, tampered with, and running by itself.
//!
//! `cargo xtask test` says where it is (`GROMA_PROVIDER_TIME`).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]
#![allow(clippy::needless_raw_string_hashes, reason = "the tool that updates snapshots writes hashes")]

#[allow(dead_code, reason = "the other tests use the rest")]
#[path = "cli/sandbox.rs"]
mod sandbox;

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use expect_test::expect;
use sandbox::Sandbox;

#[expect(clippy::disallowed_methods, reason = "the peers are named by the environment")]
fn program() -> PathBuf {
    let variable = "GROMA_PROVIDER_TIME";
    std::env::var_os(variable).unwrap_or_else(|| panic!("{variable} is not set; run `cargo xtask test`")).into()
}

const CONFIG: &str = "\
terraform {
  required_providers {
    time = {
      source = \"hashicorp/time\"
    }
  }
}

resource \"time_static\" \"wrong\" {
  rfc3339 = \"nonsense\"
}

resource \"time_rotating\" \"empty\" {
}

output \"year\" {
  value = provider::time::rfc3339_parse(\"x\").year
}
";

/// A directory with the plugin in a mirror.
fn sandbox() -> Sandbox {
    let address = "registry.opentofu.org/hashicorp/time";
    Sandbox::new().file("main.tf", CONFIG).mirror(&[(address, "0.14.2")]).program(address, "0.14.2", &program())
}

#[test]
fn a_plugin_is_asked_what_it_thinks() {
    let sandbox = sandbox();
    assert_eq!(sandbox.run(&["init", "-builtin=false"]).code, 0);
    let expected = expect![[r#"
        exit code 1
        ----- stderr

        Error: Invalid RFC3339 String Value

          with time_static.wrong,
          on main.tf line 10, in resource "time_static" "wrong":
          10:   rfc3339 = "nonsense"

        A string value was provided that is not valid RFC3339 string format.

        Given Value: nonsense
        Error: parsing time "nonsense" as "2006-01-02T15:04:05Z07:00": cannot parse
        "nonsense" as "2006"

        Error: Missing Attribute Configuration

          with time_rotating.empty,
          on main.tf line 13, in resource "time_rotating" "empty":
          13: resource "time_rotating" "empty" {

        At least one of these attributes must be configured:
        [rotation_minutes,rotation_hours,rotation_days,rotation_months,rotation_years,rotation_rfc3339]

        Error: Invalid function argument

          on main.tf line 17, in output "year":
          17:   value = provider::time::rfc3339_parse("x").year
            ├────────────────
            │ while calling provider::time::rfc3339_parse(timestamp)

        Invalid value for "timestamp" parameter: Error parsing RFC3339 timestamp:
        "x" is not a valid RFC3339 timestamp.
    "#]];
    sandbox.run(&["validate"]).is(expected);
    let plain = sandbox.run(&["validate"]).stderr;
    assert_eq!(sandbox.env("GROMA_PLUGIN_TLS", "1").run(&["validate"]).stderr, plain);
}

#[test]
fn expressions_call_its_functions() {
    let sandbox = sandbox().file("main.tf", CONFIG.split("\n\n").next().unwrap());
    assert_eq!(sandbox.run(&["init", "-builtin=false"]).code, 0);
    let outcome = sandbox.run_with(&["console"], "provider::time::rfc3339_parse(\"2020-02-03T00:00:00Z\").month\n");
    assert_eq!((outcome.stdout.as_str(), outcome.stderr.as_str()), ("2\n", ""));
    let outcome = sandbox.run_with(&["console"], "provider::time::nope(1)\n");
    assert!(outcome.stderr.contains("Error: Function not found in provider"), "{}", outcome.stderr);
}

#[test]
fn its_schema_is_kept() {
    let sandbox = sandbox();
    assert_eq!(sandbox.run(&["init", "-builtin=false"]).code, 0);
    let first = sandbox.run(&["providers", "schema", "-json"]);
    assert!(first.stdout.contains("\"time_static\""), "{}", first.stderr);
    assert!(sandbox.files().contains(".cache/groma/schemas/"), "{}", sandbox.files());
    assert_eq!(sandbox.run(&["providers", "schema", "-json"]).stdout, first.stdout);
}

#[test]
fn a_plugin_that_was_tampered_with_is_not_started() {
    let sandbox = sandbox();
    assert_eq!(sandbox.run(&["init", "-builtin=false"]).code, 0);
    let sandbox = sandbox.program("registry.opentofu.org/hashicorp/time", "0.14.2", std::path::Path::new("/bin/sh"));
    let outcome = sandbox.run(&["validate"]);
    assert!(outcome.stderr.contains("Error: Required plugins are not installed"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("the cached package does not match any"), "{}", outcome.stderr);
}

#[test]
fn a_plugin_that_is_being_developed_needs_no_lock() {
    let config =
        "provider_installation {\n  dev_overrides {\n    \"hashicorp/time\" = \"build\"\n  }\n  direct {}\n}\n";
    let sandbox = Sandbox::new()
        .file("main.tf", CONFIG)
        .file(".tofurc", config)
        .copy("build/terraform-provider-time", &program());
    let outcome = sandbox.run(&["validate"]);
    assert!(outcome.stderr.contains("Warning: Provider development overrides are in effect"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("Error: Invalid RFC3339 String Value"), "{}", outcome.stderr);
}

/// A plugin that runs by itself, until the test ends.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_plugin_that_runs_already_is_used() {
    let child = Command::new(program()).arg("-debug").stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut running = Running(child);
    // Kept open until the end: it would be the plugin's end, too, to write where nobody reads.
    let mut output = BufReader::new(running.0.stdout.take().unwrap()).lines().map_while(Result::ok);
    let line = output.find(|line| line.contains("TF_REATTACH_PROVIDERS=")).unwrap();
    let value = line.split_once('=').unwrap().1.trim_matches('\'').to_owned();
    // It names itself by its address in the other public registry, which means the same provider.
    assert!(value.contains("registry.terraform.io/hashicorp/time"), "{value}");
    let sandbox = Sandbox::new().file("main.tf", CONFIG).env("TF_REATTACH_PROVIDERS", &value);
    let outcome = sandbox.run(&["validate"]);
    assert!(outcome.stderr.contains("Error: Invalid RFC3339 String Value"), "{}", outcome.stderr);
    assert!(running.0.try_wait().unwrap().is_none(), "it is used, never ended");
    drop(output);
}
