//! A working directory with a configuration, a plugin whose objects are files, and what there is of both.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use tempfile::TempDir;

/// How many objects the configuration has.
pub(super) const OBJECTS: usize = 12;

/// The state that there is before: with nothing in it that anybody could lose, but not nothing.
const STATE: &str = r#"{"version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": "7d0c4a5e-5b0c-4b0e-9d0c-0a1b2c3d4e5f",
  "outputs": {"before": {"value": "x", "type": "string"}}, "resources": [], "check_results": null}
"#;

/// A place for one run.
pub(super) struct Arena {
    dir: TempDir,
}

impl Arena {
    /// With nothing made yet.
    pub(super) fn new(fixture: &Path) -> Result<Self> {
        let dir = tempfile::tempdir()?;
        let world = dir.path().join("world");
        fs::create_dir(&world)?;
        fs::write(dir.path().join("main.tf"), configuration(&world))?;
        let overrides = format!(
            "provider_installation {{\n  dev_overrides {{\n    \"groma/fixfw\" = {:?}\n  }}\n  direct {{}}\n}}\n",
            fixture.to_string_lossy()
        );
        fs::write(dir.path().join("cli.tfrc"), overrides)?;
        fs::write(dir.path().join("terraform.tfstate"), STATE)?;
        Ok(Self { dir })
    }

    pub(super) fn path(&self) -> &Path {
        self.dir.path()
    }

    fn world(&self) -> PathBuf {
        self.path().join("world")
    }

    /// A command of a tool, to be run here.
    pub(super) fn command(&self, program: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.path());
        command.env("TF_CLI_CONFIG_FILE", self.path().join("cli.tfrc"));
        command.env("NO_COLOR", "1").env("CHECKPOINT_DISABLE", "1").env("HOME", self.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs one to its end.
    pub(super) fn run(&self, program: &Path, arguments: &[&str]) -> Result<Output> {
        self.command(program, arguments).output().with_context(|| format!("cannot run {}", program.display()))
    }

    /// The objects that exist: their ids by their names. A name that two have is a duplicate.
    pub(super) fn objects(&self) -> Result<(BTreeMap<String, String>, u32)> {
        let (mut found, mut duplicates) = (BTreeMap::new(), 0);
        for entry in fs::read_dir(self.world())? {
            let path = entry?.path();
            let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let Some(id) = file.strip_prefix("fixfw_thing.").and_then(|rest| rest.strip_suffix(".json")) else {
                continue;
            };
            let object: Value = serde_json::from_slice(&fs::read(&path)?).context("an object of the world")?;
            let name = object["attributes"]["name"].as_str().unwrap_or_default().to_owned();
            if found.insert(name, id.to_owned()).is_some() {
                duplicates += 1;
            }
        }
        Ok((found, duplicates))
    }

    /// Waits until the plugins of a run that was killed are gone, too.
    pub(super) fn settle(&self) -> Result<()> {
        let mark = self.path().to_string_lossy().into_owned();
        let until = Instant::now() + Duration::from_secs(20);
        while Instant::now() < until {
            if !plugins_in(&mark) {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        bail!("plugins of a run that was killed are still there after 20 s")
    }
}

/// How long a run takes that is left alone: the fastest of a few, since one that is killed after its end tells nothing.
pub(super) fn duration_of_run(program: &Path, fixture: &Path) -> Result<Duration> {
    let mut fastest = Duration::MAX;
    for _ in 0..5 {
        let arena = Arena::new(fixture)?;
        let began = Instant::now();
        let applied = arena.run(program, &["apply", "-auto-approve"])?;
        if !applied.status.success() {
            bail!("{} apply does not work at all: {}", program.display(), String::from_utf8_lossy(&applied.stderr));
        }
        fastest = fastest.min(began.elapsed());
    }
    Ok(fastest)
}

/// Whether a plugin runs that was started from a folder.
fn plugins_in(folder: &str) -> bool {
    let Ok(processes) = fs::read_dir("/proc") else { return false };
    processes.flatten().any(|process| {
        let is_plugin = fs::read(process.path().join("cmdline"))
            .is_ok_and(|line| String::from_utf8_lossy(&line).contains("terraform-provider-fixfw"));
        is_plugin
            && fs::read_link(process.path().join("cwd")).is_ok_and(|dir| dir.to_string_lossy().starts_with(folder))
    })
}

/// The ids in a state, by the address of their objects.
pub(super) fn ids(state: &Value) -> BTreeSet<String> {
    let resources = state["resources"].as_array().into_iter().flatten();
    let instances = resources.flat_map(|resource| resource["instances"].as_array().into_iter().flatten());
    instances.filter_map(|instance| instance["attributes"]["id"].as_str().map(str::to_owned)).collect()
}

/// Eight objects, and four that need one of them each.
fn configuration(world: &Path) -> String {
    format!(
        r#"terraform {{
  required_providers {{
    fixfw = {{ source = "groma/fixfw" }}
  }}
}}
provider "fixfw" {{
  world = {:?}
}}
resource "fixfw_thing" "a" {{
  count = 8
  name  = "a${{count.index}}"
  size  = 1
  cues  = {{ create_delay = "15ms" }}
}}
resource "fixfw_thing" "b" {{
  count = 4
  name  = "b${{count.index}}"
  size  = 2
  zone  = fixfw_thing.a[count.index].id
  cues  = {{ create_delay = "15ms" }}
}}
"#,
        world.to_string_lossy()
    )
}
