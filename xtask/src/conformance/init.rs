//! `init` of groma and of OpenTofu in the same directories, against a registry of our own on this machine: the lock file, the
//! record of modules and everything else that is left behind must be the same.

mod registry;
mod server;

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use super::program::Program;
use super::{Case, Outcome, Programs, corpus, scratch};
use registry::World;

/// Compares all directories whose id contains the filter.
pub(super) fn compare(programs: &Programs, filter: &str) -> Result<Vec<Case>> {
    let world = World::start()?;
    let mut cases = Vec::new();
    for case in corpus::entries("init")? {
        let id = format!("init/{}", corpus::name_of(&case));
        if !case.is_dir() || !id.contains(filter) {
            continue;
        }
        let tofu = outcome(&programs.tofu, &case, &world)?;
        let groma = outcome(&programs.groma, &case, &world)?;
        cases.push(Case { id, groma, tofu, terraform: None });
    }
    Ok(cases)
}

/// What a program leaves behind. A case is run as often as its file `runs.txt` has lines, which hold further arguments, or
/// another command.
fn outcome(program: &Program, case: &Path, world: &World) -> Result<Outcome> {
    let dir = scratch::copy(case, program.name, "init", &corpus::name_of(case))?;
    fill_in(&dir, world)?;
    let runs = fs::read_to_string(dir.join("runs.txt")).unwrap_or_else(|_| "\n".to_owned());
    let mut verdict = String::new();
    let mut detail = String::new();
    for line in runs.lines() {
        let line = line.replace("@PLATFORM@", &super::platform());
        let mut arguments: Vec<&str> = line.split_whitespace().collect();
        if arguments.first() != Some(&"providers") {
            arguments.splice(0..0, ["init", "-input=false", "-no-color"]);
        }
        let run = program.run_configured(&dir, &arguments, &world.config)?;
        let ended = if run.succeeded() { "succeeds".to_owned() } else { run.failure() };
        verdict.extend(["run ", &line, ": ", &ended, "\n"]);
        detail.push_str(&summaries(&run.text()));
        detail.push_str(&summaries(&run.stderr));
    }
    verdict.push_str(&left_behind(&dir).with_context(|| format!("after {}", dir.display()))?);
    Ok(Outcome { verdict: world.neutral(&verdict), detail: world.neutral(&detail) })
}

/// The summaries of errors and warnings.
fn summaries(text: &str) -> String {
    let lines = text.lines().filter(|line| line.starts_with("Error: ") || line.starts_with("Warning: "));
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// Addresses that are known only now are written into the configuration.
fn fill_in(dir: &Path, world: &World) -> Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            fill_in(&path, world)?;
        } else if let Ok(text) = fs::read_to_string(&path) {
            fs::write(&path, world.filled(&text))?;
        }
    }
    Ok(())
}

/// The lock file, the record of modules, and the names of all other files.
fn left_behind(dir: &Path) -> Result<String> {
    let mut text = String::new();
    for name in [".terraform.lock.hcl", ".terraform/modules/modules.json"] {
        let content = fs::read_to_string(dir.join(name)).unwrap_or_else(|_| "(none)".to_owned());
        text.extend([name, ":\n", &content, "\n"]);
    }
    let mut names = Vec::new();
    list(dir, "", &mut names)?;
    names.sort();
    // What `providers mirror` writes for web servers.
    let is_index =
        |name: &&String| name.starts_with("packages/") && Path::new(name).extension().is_some_and(|e| e == "json");
    for name in names.iter().filter(is_index) {
        text.extend([name.as_str(), ":\n", &fs::read_to_string(dir.join(name))?, "\n"]);
    }
    text.push_str(&names.join("\n"));
    Ok(text)
}

fn list(dir: &Path, prefix: &str, names: &mut Vec<String>) -> Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        // OpenTofu keeps the repositories that modules came from; we do not.
        if name.ends_with("/.git") {
            continue;
        }
        if entry.path().is_dir() {
            list(&entry.path(), &format!("{name}/"), names)?;
        }
        names.push(name);
    }
    Ok(())
}
