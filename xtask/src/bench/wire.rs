//! What plugins cost beside a bare client on the same transport, and values beside go-cty. `tests/wirebench` does both
//! sides of the former in turns, so that what else the machine does hits them alike. The fastest run of each counts:
//! whatever disturbs a run only makes it slower.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::report::Bar;
use super::sample::{self, Job, Sample};
use super::{Bench, Tool};
use crate::{peers, process, workspace};

/// Starts per measurement.
const STARTS: &str = "30";

/// Calls in a row, and how often: ten times a hundred are the thousand, twice.
const CALLS: &str = "100";
const ROUNDS: &str = "20";

/// How often the large object goes through.
const OBJECTS: &str = "20";

impl Bench<'_> {
    /// Start to schema at most 1.1 times, and reading an object at most 1.2 times what a bare client takes.
    pub(super) fn plugins(&mut self) -> Result<()> {
        let start = "plugin, start to schema";
        let read = "plugin, 100 of 1,000 reads";
        let plugin = peers::find("provider-time")?;
        for (name, limit, arguments) in [(start, 1.1, &["start"][..]), (read, 1.2, &["read"][..])] {
            if !self.wanted(name) {
                continue;
            }
            let counts: &[&str] = if name == start { &[STARTS] } else { &[CALLS, ROUNDS] };
            let mut command = Command::new(wirebench()?);
            // Both sides alike: what plugins log about themselves costs more than the calls.
            command.args(arguments).arg(&plugin).args(counts).env("TF_LOG_SDK", "WARN");
            let times = measured(&mut command)?;
            let (ours, bare) = (times_of(&times, "ours")?, times_of(&times, "bare")?);
            self.table.row(name, "groma", &ours);
            self.table.row(name, "bare tonic", &bare);
            self.table.bar(Bar::at_most(&format!("{name}: groma / bare"), ours.fastest_over(&bare), limit));
        }
        Ok(())
    }

    /// A schema that is known costs next to nothing: at most a fifth of asking for it.
    pub(super) fn known_schemas(&mut self) -> Result<()> {
        let name = "plugin, known schema";
        if !self.wanted(name) {
            return Ok(());
        }
        let mut command = Command::new(wirebench()?);
        command.arg("warm").arg(peers::find("provider-time")?).arg(self.scratch.join("schemas")).arg(STARTS);
        let times = measured(command.env("TF_LOG_SDK", "WARN"))?;
        let (ours, bare) = (times_of(&times, "ours")?, times_of(&times, "bare")?);
        self.table.row(name, "groma", &ours);
        self.table.row(name, "bare tonic", &bare);
        self.table.bar(Bar::at_most(&format!("{name}: groma / bare"), ours.fastest_over(&bare), 0.2));
        Ok(())
    }

    /// Encoding and decoding an object of a megabyte: faster than go-cty.
    pub(super) fn values(&mut self) -> Result<()> {
        let name = "1 MB object";
        if !self.wanted(name) {
            return Ok(());
        }
        let dir = self.scratch.join("codec");
        let ours = measured(Command::new(wirebench()?).arg("codec").arg(&dir).arg(OBJECTS))?;
        let theirs = measured(Command::new(go_cty(&self.scratch)?).arg(&dir).arg(OBJECTS))?;
        for step in ["encode", "decode"] {
            let case = format!("{name}, {step}");
            let (groma, cty) = (times_of(&ours, step)?, times_of(&theirs, step)?);
            self.table.row(&case, "groma", &groma);
            self.table.row(&case, "go-cty", &cty);
            self.table.bar(Bar::at_least(&format!("{case}: go-cty / groma"), cty.fastest_over(&groma), 1.0));
        }
        Ok(())
    }
}

/// What `groma` is asked to do with many objects of a plugin, and what a bare client calls that.
const STAGES: [(&str, &str, &[&str]); 4] = [
    ("plan", "plan", &["plan", "-input=false"]),
    ("apply", "apply", &["apply", "-auto-approve", "-input=false"]),
    ("second plan", "second-plan", &["plan", "-input=false"]),
    ("destroy", "destroy", &["destroy", "-auto-approve", "-input=false"]),
];

/// How many objects those are.
const COUNT: usize = 500;

impl Bench<'_> {
    /// Whole operations over a real plugin take at most 1.25 times what the same calls take from a bare client that has as many under
    /// way. Both are whole processes, run in turns.
    pub(super) fn plugin_operations(&mut self) -> Result<()> {
        let name = format!("{COUNT} time_static");
        if !self.wanted(&name) {
            return Ok(());
        }
        let config = format!(
            "terraform {{\n  required_providers {{\n    time = {{ source = \"example.com/peers/time\" }}\n  }}\n}}\n\n\
             resource \"time_static\" \"many\" {{\n  count = {COUNT}\n}}\n"
        );
        let dir = self.initialised("plugin-operations", Tool::Groma, &config, &[("time", "provider-time")])?;
        let (plugin, bare, count) = (peers::find("provider-time")?, wirebench()?, COUNT.to_string());
        let plugin = plugin.to_string_lossy().into_owned();
        let mut samples: Vec<[Sample; 2]> = STAGES.map(|_| [Sample::of(Vec::new()), Sample::of(Vec::new())]).into();
        // The first of each warms up.
        for run in 0..=self.args.runs.max(5) {
            for (both, (_, stage, arguments)) in samples.iter_mut().zip(STAGES) {
                let ours = Job { program: &self.tools.groma, dir: &dir, arguments, input: "" };
                let theirs = ["operate", &plugin, &count, stage];
                let theirs = Job { program: &bare, dir: &dir, arguments: &theirs, input: "" };
                let taken = [sample::take(&ours, 1)?, sample::take(&theirs, 1)?];
                if run > 0 {
                    both.iter_mut().zip(taken).for_each(|(sample, taken)| sample.join(taken));
                }
            }
        }
        for ([ours, theirs], (stage, ..)) in samples.iter().zip(STAGES) {
            let case = format!("{stage}, {name}");
            self.table.row(&case, "groma", ours);
            self.table.row(&case, "bare tonic", theirs);
            self.table.bar(Bar::at_most(&format!("{case}: groma / bare"), ours.fastest_over(theirs), 1.25));
        }
        Ok(())
    }
}

/// Builds the program that measures.
fn wirebench() -> Result<std::path::PathBuf> {
    process::run(workspace::cargo().args(["build", "--release", "--locked", "--package=groma-wirebench"]))?;
    Ok(workspace::target_dir()?.join("release/groma-wirebench"))
}

/// Builds the program that does the same with go-cty.
fn go_cty(scratch: &Path) -> Result<std::path::PathBuf> {
    let program = scratch.join("codec-speed");
    let mut go = Command::new(process::find_on_path("go").context("`go` is not on PATH")?);
    go.current_dir(workspace::root().join("tests/oracles/codec")).env("GOWORK", "off");
    process::run(go.args(["build", "-mod=readonly", "-o"]).arg(&program).arg("./speed"))?;
    Ok(program)
}

fn measured(command: &mut Command) -> Result<Value> {
    let text = process::capture(command)?;
    serde_json::from_str(&text).with_context(|| format!("{text:?} is no result"))
}

fn times_of(times: &Value, key: &str) -> Result<Sample> {
    let times = times[key].as_array().with_context(|| format!("{key} was not measured"))?;
    Ok(Sample::of(times.iter().filter_map(Value::as_u64).map(Duration::from_nanos).collect()))
}
