//! Killing groma, and going on as somebody would who was told what is in doubt.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::Report;
use super::arena::{Arena, OBJECTS, duration_of_run, ids};
use crate::workspace;

/// When a run is killed.
#[derive(Debug)]
pub(super) enum Blow {
    /// When it passes a point for that time.
    At(String, u64),
    /// After that time.
    After(Duration),
}

/// Who is killed.
pub(super) struct Victim<'a> {
    groma: &'a Path,
    fixture: &'a Path,
    /// How long a run takes that is left alone.
    duration: Duration,
}

/// The names of the points, as the product lists them.
pub(super) fn points() -> Result<Vec<String>> {
    let path = workspace::root().join("crates/state/src/crash.rs");
    let text = std::fs::read_to_string(&path).context("the list of points")?;
    let list = text.split_once("pub const POINTS").and_then(|(_, rest)| rest.split_once("= [")?.1.split_once(']'));
    let Some((list, _)) = list else { bail!("no list of points in {}", path.display()) };
    Ok(list.split('"').skip(1).step_by(2).map(str::to_owned).collect())
}

impl<'a> Victim<'a> {
    pub(super) fn new(groma: &'a Path, fixture: &'a Path) -> Result<Self> {
        Ok(Self { groma, fixture, duration: duration_of_run(groma, fixture)? })
    }

    pub(super) fn duration(&self) -> Duration {
        self.duration
    }

    /// The first, a middle and the last time that a run passes a point: as often as it can be killed there.
    pub(super) fn times(&self, point: &str) -> Result<Vec<u64>> {
        let mut times: Vec<u64> = vec![1];
        let (mut low, mut high) = (1, 64);
        if !self.dies_at(point, 1)? {
            bail!("no run passes {point}");
        }
        while high - low > 1 {
            let middle = u64::midpoint(low, high);
            if self.dies_at(point, middle)? { low = middle } else { high = middle }
        }
        times.extend([low.div_ceil(2), low]);
        times.dedup();
        Ok(times)
    }

    fn dies_at(&self, point: &str, time: u64) -> Result<bool> {
        let arena = Arena::new(self.fixture)?;
        let mut apply = self.apply(&arena);
        let ended = apply.env("GROMA_DIE_AT", format!("{point}#{time}")).output()?;
        Ok(!ended.status.success())
    }

    fn apply(&self, arena: &Arena) -> Command {
        arena.command(self.groma, &["apply", "-auto-approve"])
    }

    /// Kills one run, goes on, and counts.
    pub(super) fn kill(&self, blow: &Blow, report: &mut Report) -> Result<()> {
        let arena = Arena::new(self.fixture)?;
        let mut apply = self.apply(&arena);
        let died = match blow {
            Blow::At(point, time) => !apply.env("GROMA_DIE_AT", format!("{point}#{time}")).output()?.status.success(),
            Blow::After(time) => {
                let mut child =
                    apply.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn()?;
                std::thread::sleep(*time);
                let ended = child.try_wait()?.is_some();
                child.kill()?;
                child.wait()?;
                !ended
            }
        };
        arena.settle()?;
        if died {
            report.killed += 1;
        } else {
            report.survived += 1;
        }
        if let Err(problem) = self.go_on(&arena, report) {
            report.stuck += 1;
            report.problems.push(format!("{blow:?}: {problem:#}"));
        }
        Ok(())
    }

    fn go_on(&self, arena: &Arena, report: &mut Report) -> Result<()> {
        let (objects, _) = arena.objects()?;
        let state = self.state(arena, report)?;
        let known = state.as_ref().map(ids).unwrap_or_default();
        let in_doubt = self.in_doubt(arena)?;
        report.in_doubt += u32::try_from(in_doubt.len())?;
        for (name, id) in &objects {
            if !known.contains(id) && !in_doubt.contains_key(name) {
                report.lost += 1;
                report.problems.push(format!("{name} ({id}) exists and nobody knows it"));
            }
        }
        for (name, address) in &in_doubt {
            let answer = match objects.get(name) {
                Some(id) => arena.run(self.groma, &["import", address, id])?,
                None => arena.run(self.groma, &["doctor", &format!("-not-created={address}")])?,
            };
            // A doctor may have found something else; what counts is what comes of it.
            if objects.contains_key(name) && !answer.status.success() {
                bail!("import of {address}: {}", String::from_utf8_lossy(&answer.stderr));
            }
        }
        let applied = self.apply(arena).output()?;
        if !applied.status.success() {
            bail!("the next apply: {}", String::from_utf8_lossy(&applied.stderr));
        }
        let (objects, duplicates) = arena.objects()?;
        report.duplicates += duplicates;
        let state = self.state(arena, report)?.unwrap_or_default();
        let (made, known) = (objects.values().cloned().collect(), ids(&state));
        if objects.len() != OBJECTS || known != made {
            report.lost += 1;
            report.problems.push(format!("in the end there are {made:?}, and known are {known:?}"));
        }
        let plan = arena.run(self.groma, &["plan", "-detailed-exitcode"])?;
        if plan.status.code() != Some(0) {
            bail!("something is left to do: {}", String::from_utf8_lossy(&plan.stdout));
        }
        Ok(())
    }

    /// What is known of the objects now. None if nothing was stored yet.
    fn state(&self, arena: &Arena, report: &mut Report) -> Result<Option<Value>> {
        let pulled = arena.run(self.groma, &["state", "pull"])?;
        if !pulled.status.success() {
            report.unreadable += 1;
            bail!("the state cannot be read: {}", String::from_utf8_lossy(&pulled.stderr));
        }
        if pulled.stdout.iter().all(u8::is_ascii_whitespace) {
            return Ok(None);
        }
        Ok(Some(serde_json::from_slice(&pulled.stdout).context("a state")?))
    }

    /// Creations without an answer: their addresses, by the name that the object would have.
    fn in_doubt(&self, arena: &Arena) -> Result<BTreeMap<String, String>> {
        let examined = arena.run(self.groma, &["doctor", "-json"])?;
        let text = String::from_utf8(examined.stdout)?;
        let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let doubts = lines.filter(|line| line["kind"] == "possibly_created");
        let named = doubts.filter_map(|line| {
            let address = line["address"].as_str()?.to_owned();
            // fixfw_thing.a[3] makes a3.
            let name = address.strip_prefix("fixfw_thing.")?.replace(['[', ']'], "");
            Some((name, address))
        });
        Ok(named.collect())
    }
}
