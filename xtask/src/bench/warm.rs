//! A configuration with two plugins that everybody has started before: what groma remembers of them must pay.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use super::report::Bar;
use super::{Bench, Tool, Work};
use crate::{conformance, peers, process};

/// Each uses a resource of both plugins, found in the directory that every tool looks into by itself.
const CONFIG: &str = r#"terraform {
  required_providers {
    time   = { source = "example.com/peers/time" }
    random = { source = "example.com/peers/random" }
  }
}

resource "time_static" "now" {}

resource "random_string" "name" {
  length = 8
}
"#;

impl Bench<'_> {
    /// `validate` with two plugins whose schemas are known: at least twice as fast as OpenTofu.
    pub(super) fn two_plugins(&mut self) -> Result<()> {
        let name = "validate, two plugins, warm";
        if !self.wanted(name) {
            return Ok(());
        }
        let mut samples = Vec::new();
        for tool in [Tool::Groma, Tool::Tofu, Tool::Terraform] {
            let plugins = [("time", "provider-time"), ("random", "provider-random-current")];
            let dir = self.initialised("two-plugins", tool, CONFIG, &plugins)?;
            let work = Work { name: name.to_owned(), dir: &dir, command: "validate", input: "" };
            samples.push(self.sample(&work, tool, self.args.runs)?);
        }
        if let [groma, tofu, _] = samples.as_slice() {
            self.table.bar(Bar::at_least(&format!("{name}: tofu / groma"), tofu.over(groma), 2.0));
        }
        Ok(())
    }

    /// A directory that a tool has initialised itself, with plugins beside the configuration.
    pub(super) fn initialised(
        &self,
        name: &str,
        tool: Tool,
        config: &str,
        plugins: &[(&str, &str)],
    ) -> Result<PathBuf> {
        let dir = self.scratch.join(name).join(tool.name());
        if dir.exists() {
            fs::remove_dir_all(&dir)?;
        }
        fs::create_dir_all(&dir)?;
        fs::write(dir.join("main.tf"), config)?;
        for (kind, peer) in plugins {
            place(&dir, kind, &peers::find(peer)?)?;
        }
        let mut init = Command::new(self.program(tool));
        init.args(["init", "-input=false", "-no-color"]).current_dir(&dir);
        init.env("TF_CLI_CONFIG_FILE", "/dev/null").env("CHECKPOINT_DISABLE", "1");
        process::capture(&mut init).with_context(|| format!("{} init", tool.name()))?;
        Ok(dir)
    }
}

fn place(dir: &Path, kind: &str, program: &Path) -> Result<()> {
    let package =
        dir.join("terraform.d/plugins/example.com/peers").join(kind).join("1.0.0").join(conformance::platform());
    fs::create_dir_all(&package)?;
    let target = package.join(format!("terraform-provider-{kind}_v1.0.0"));
    fs::copy(program, &target).with_context(|| format!("cannot copy {}", program.display()))?;
    Ok(())
}
