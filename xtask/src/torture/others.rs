//! The same with the other tools, as far as they can be asked: killed at random times, and gone on with.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use serde_json::Value;

use super::arena::{Arena, OBJECTS, duration_of_run, ids};
use super::rand_free::Dice;
use super::{Report, kill_all};
use crate::peers;

/// OpenTofu, and Terraform if it is on this machine.
pub(super) fn programs() -> Result<Vec<(&'static str, PathBuf)>> {
    let environment = peers::environment(peers::Group::Test)?;
    let tofu = environment.into_iter().find(|(name, _)| *name == "GROMA_TOFU");
    let mut found: Vec<(&str, PathBuf)> = tofu.map(|(_, path)| ("OpenTofu", path)).into_iter().collect();
    let terraform = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
        .map(|dir| dir.join("terraform"))
        .find(|path| path.is_file());
    found.extend(terraform.map(|path| ("Terraform", path)));
    Ok(found)
}

pub(super) fn campaign(name: &str, program: &Path, fixture: &Path, runs: u32, seed: u64) -> Result<Report> {
    let (duration, mut dice) = (duration_of_run(program, fixture)?, Dice::new(seed));
    let times: Vec<Duration> = (0..runs).map(|_| dice.below(duration)).collect();
    kill_all(name, &times, |after, report| kill(program, fixture, *after, report))
}

fn kill(program: &Path, fixture: &Path, after: Duration, report: &mut Report) -> Result<()> {
    let arena = Arena::new(fixture)?;
    let mut apply = arena.command(program, &["apply", "-auto-approve"]);
    let mut child = apply.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn()?;
    std::thread::sleep(after);
    if child.try_wait()?.is_some() {
        report.survived += 1;
    } else {
        report.killed += 1;
    }
    child.kill()?;
    child.wait()?;
    // Their plugins live on until they notice.
    let _ = arena.settle();
    let (objects, _) = arena.objects()?;
    let text = std::fs::read(arena.path().join("terraform.tfstate")).unwrap_or_default();
    let state = serde_json::from_slice::<Value>(&text);
    if state.is_err() && !objects.is_empty() {
        report.unreadable += 1;
    }
    let known = state.as_ref().map(ids).unwrap_or_default();
    report.lost += u32::try_from(objects.values().filter(|id| !known.contains(*id)).count())?;
    let again = arena.run(program, &["apply", "-auto-approve"])?;
    if !again.status.success() {
        report.stuck += 1;
    }
    let (objects, duplicates) = arena.objects()?;
    report.duplicates += duplicates;
    if objects.len() < OBJECTS && again.status.success() {
        report.stuck += 1;
    }
    Ok(())
}
