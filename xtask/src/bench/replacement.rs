//! What rules about the order of replacements cost. `tests/rulebench` plans with and without them in turns, and a bench of
//! `groma-rules` asks single predicates; both say what they found and what it may be at most. Only what is too much for certain is a miss.
//!
//! Where valgrind is there, the instructions of plans are what has to keep to the bars, as two machines agree on those; times are told beside.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::Args;
use super::report::{Bar, Table, note};
use crate::{process, workspace};

/// What all cases begin with.
const CASE: &str = "replacement";

/// Whether only these cases are wanted, so that nothing else has to be built.
pub(super) fn is_all(args: &Args) -> bool {
    args.filter.as_ref().is_some_and(|filter| filter.starts_with(CASE))
}

/// Measures what is wanted.
pub(super) fn measure(args: &Args, table: &mut Table) -> Result<()> {
    let filter = match args.filter.as_deref() {
        None => None,
        Some(filter) => match filter.strip_prefix(CASE) {
            Some(rest) => Some(rest.trim()).filter(|rest| !rest.is_empty()),
            None => return Ok(()),
        },
    };
    process::run(workspace::cargo().args(["build", "--release", "--locked", "--package=groma-rulebench"]))?;
    let programs = workspace::target_dir()?.join("release");
    let counts = match process::find_on_path("valgrind") {
        Some(valgrind) => {
            instructions(&valgrind, &programs.join("groma-rulebench-once"), filter, table)?;
            true
        }
        None => false,
    };
    for program in ["groma-rulebench", "groma-rulebench-memory"] {
        let judged = if counts { Judged::ButPlans } else { Judged::All };
        take(Command::new(programs.join(program)).arg("--json").args(filter), judged, table)?;
    }
    let mut predicates = workspace::cargo();
    predicates.args(["bench", "--quiet", "--locked", "--package=groma-rules", "--bench=percentiles", "--", "--json"]);
    take(predicates.args(filter), Judged::All, table)
}

/// How many times as many instructions a plan of 1,000 objects takes with rules as without, where one of 20 resources is replaced or all are.
fn instructions(valgrind: &Path, once: &Path, filter: Option<&str>, table: &mut Table) -> Result<()> {
    for (one_in, share, limit) in [(20, "p05", 1.02), (1, "p100", 1.05)] {
        let name = |variant: &str| format!("instructions/{variant}/1k/{share}");
        let variants = ["rules_1", "rules_8"];
        let wanted: Vec<&str> =
            variants.into_iter().filter(|variant| filter.is_none_or(|filter| name(variant).contains(filter))).collect();
        if wanted.is_empty() {
            continue;
        }
        let without = count(valgrind, once, "none", one_in)?;
        for variant in wanted {
            let ratio = count(valgrind, once, variant, one_in)? / without;
            let name = format!("{CASE} {}", name(variant));
            note(&format!("{name:<52} {ratio:>9.4}"));
            table.bar(Bar::at_most(&name, ratio, limit));
        }
    }
    Ok(())
}

/// The instructions of one plan: all of them, less those of everything that comes before. A second plan would find a heap with holes, as no
/// plan of a user does.
fn count(valgrind: &Path, once: &Path, variant: &str, one_in: usize) -> Result<f64> {
    let run = |times: &str| -> Result<f64> {
        let mut command = Command::new(valgrind);
        command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(once);
        command.args([variant, "1000", &one_in.to_string(), times]);
        let output = command.output().context("valgrind cannot be started")?;
        let said = String::from_utf8_lossy(&output.stderr);
        let collected = said.lines().find_map(|line| line.split_once("Collected :"));
        let (_, number) = collected.with_context(|| format!("valgrind counted nothing: {said}"))?;
        Ok(number.trim().parse()?)
    };
    Ok(run("1")? - run("0")?)
}

/// Which figures have to keep to their bars.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Judged {
    All,
    /// How long plans take is only told.
    ButPlans,
}

fn take(command: &mut Command, judged: Judged, table: &mut Table) -> Result<()> {
    let text = process::capture(command)?;
    for line in text.lines() {
        let figure: Value = serde_json::from_str(line).with_context(|| format!("{line:?} is no figure"))?;
        let what = figure["name"].as_str().context("a figure without a name")?;
        let name = format!("{CASE} {what}");
        let number = |key: &str| figure[key].as_f64().unwrap_or(f64::NAN);
        let (low, median, high) = (number("low"), number("median"), number("high"));
        note(&format!("{name:<52} {median:>9.4} ({low:.4} .. {high:.4})"));
        if judged == Judged::All || !what.starts_with("plan/") {
            table.bar(Bar::at_most(&name, low, number("limit")));
        }
    }
    Ok(())
}
