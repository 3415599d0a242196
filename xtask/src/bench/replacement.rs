//! What rules about the order of replacements cost. `tests/rulebench` plans with and without them in turns, and a bench of
//! `groma-rules` asks single predicates; both say what they found and what it may be at most. Only what is too much for certain is a miss.

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
    for program in ["groma-rulebench", "groma-rulebench-memory"] {
        take(Command::new(programs.join(program)).arg("--json").args(filter), table)?;
    }
    let mut predicates = workspace::cargo();
    predicates.args(["bench", "--quiet", "--locked", "--package=groma-rules", "--bench=percentiles", "--", "--json"]);
    take(predicates.args(filter), table)
}

fn take(command: &mut Command, table: &mut Table) -> Result<()> {
    let text = process::capture(command)?;
    for line in text.lines() {
        let figure: Value = serde_json::from_str(line).with_context(|| format!("{line:?} is no figure"))?;
        let name = format!("{CASE} {}", figure["name"].as_str().context("a figure without a name")?);
        let number = |key: &str| figure[key].as_f64().unwrap_or(f64::NAN);
        let (low, median, high) = (number("low"), number("median"), number("high"));
        note(&format!("{name:<52} {median:>9.4} ({low:.4} .. {high:.4})"));
        table.bar(Bar::at_most(&name, low, number("limit")));
    }
    Ok(())
}
