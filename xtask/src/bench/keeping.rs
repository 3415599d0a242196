//! What keeping the state costs: how long an operation waits for its journal, which part of a run goes into the state, and how that grows
//! with the resources. Measured from inside the run (`GROMA_TIMINGS`), on the disk that `target` is on, with every sync that a user gets.
//!
//! The provider is a real plugin whose objects take a tenth of a second, which is fast for a cloud: beside calls that take no time
//! everything is expensive.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::report::{Bar, note};
use super::{Bench, Tool};
use crate::process;

/// How many objects are made. As many at once as users get who say nothing about it: with more, the plugin alone keeps two cores busy, and
/// whoever waits for anything waits for a turn.
const SIZES: [usize; 3] = [1_000, 10_000, 20_000];

/// The part of a run that may go into the state.
const SHARE: f64 = 0.1;

/// How many times the bytes for each resource may be when there are twice as many. It would be twice if they grew with the square.
const GROWTH: f64 = 1.5;

impl Bench<'_> {
    /// Keeping the state takes less than a tenth of a run, and what is written grows with the resources, not with their square.
    pub(super) fn keeping(&mut self) -> Result<()> {
        let case = "keeping the state";
        if !self.wanted(case) {
            return Ok(());
        }
        let mut bytes = Vec::new();
        for size in SIZES {
            let config = format!(
                "terraform {{\n  required_providers {{\n    fixfw = {{ source = \"example.com/peers/fixfw\" }}\n  }}\n}}\n\n\
                 resource \"fixfw_thing\" \"many\" {{\n  count = {size}\n  name  = \"thing ${{count.index}}\"\n  \
                 cues  = {{ create_delay = \"100ms\" }}\n}}\n"
            );
            let dir = self.initialised("keeping", Tool::Groma, &config, &[("fixfw", "fixture-framework")])?;
            let sheet = self.timed_apply(&dir)?;
            let cost = Cost::read(&sheet)?;
            note(&format!("{case}, {size}: {}", cost.told()));
            // The bar is for this size; for the others the part is told.
            if size == 10_000 {
                let name = format!("{case}, {size}: part of the run");
                self.table.bar(Bar::at_most(&name, cost.share(), SHARE));
            }
            bytes.push(cost.bytes / size as f64);
        }
        note(&format!("{case}: a bare append and sync takes {}", bare_sync(&self.scratch)?));
        if let [_, small, large] = bytes.as_slice() {
            let name = format!("{case}, bytes per resource: 20,000 / 10,000");
            self.table.bar(Bar::at_most(&name, large / small, GROWTH));
        }
        Ok(())
    }

    fn timed_apply(&self, dir: &Path) -> Result<Value> {
        let path = dir.join("timings.json");
        let mut apply = Command::new(self.program(Tool::Groma));
        apply.args(["apply", "-auto-approve", "-input=false", "-no-color"]).current_dir(dir);
        apply.env("TF_CLI_CONFIG_FILE", "/dev/null").env("GROMA_TIMINGS", &path);
        // What plugins log about themselves costs more than the calls.
        process::capture(apply.env("TF_LOG_SDK", "WARN").env_remove("FIXTURE_WORLD"))?;
        let text = std::fs::read_to_string(&path).context("the run has left no timings")?;
        Ok(serde_json::from_str(&text)?)
    }
}

/// What a sheet says, in seconds.
struct Cost {
    apply: f64,
    /// Of all calls together, and of all waits for the journal.
    calls: f64,
    waits: f64,
    /// Reading, handing over and storing, whether anybody waited for that or not.
    parts: f64,
    snapshots: f64,
    bytes: f64,
    intents: (f64, f64),
    outcomes: (f64, f64),
}

impl Cost {
    fn read(sheet: &Value) -> Result<Self> {
        let number = |path: &str| sheet.pointer(path).and_then(Value::as_f64).with_context(|| format!("no {path}"));
        let parts = ["opening", "handing_over", "storing", "closing"].map(|part| number(&format!("/parts/{part}")));
        let both = |of: &str| Ok::<_, anyhow::Error>((number(&format!("/{of}/p50"))?, number(&format!("/{of}/p99"))?));
        Ok(Self {
            apply: number("/apply")?,
            calls: number("/calls")?,
            waits: number("/intents/sum")? + number("/outcomes/sum")?,
            parts: parts.into_iter().sum::<Result<f64>>()?,
            snapshots: number("/snapshots")?,
            bytes: number("/written_bytes")?,
            intents: both("intents")?,
            outcomes: both("outcomes")?,
        })
    }

    /// The part of an operation's time in which it waits for its journal, and the part of the run's in which the state is dealt with
    /// otherwise. They may overlap each other and everything else; that is not taken off.
    fn share(&self) -> f64 {
        self.waits / (self.waits + self.calls) + self.parts / self.apply
    }

    fn told(&self) -> String {
        let ms = |(p50, p99): (f64, f64)| format!("{:.2}/{:.2} ms", p50 * 1000.0, p99 * 1000.0);
        format!(
            "apply {:.1} s; p50/p99 of an intent {}, of an outcome {}; waits {:.2} % of operations; else {:.2} s, {} snapshots, {:.1} MB",
            self.apply,
            ms(self.intents),
            ms(self.outcomes),
            100.0 * self.waits / (self.waits + self.calls),
            self.parts,
            self.snapshots,
            self.bytes / 1e6,
        )
    }
}

/// What the disk takes for one record, with nobody else there.
fn bare_sync(dir: &Path) -> Result<String> {
    let path = dir.join("bare-sync");
    let mut file = File::create(&path)?;
    let mut times: Vec<Duration> = Vec::new();
    for _ in 0..200 {
        let began = Instant::now();
        file.write_all(&[0; 700])?;
        file.sync_data()?;
        times.push(began.elapsed());
    }
    std::fs::remove_file(path)?;
    times.sort();
    let ms = |at: usize| times[at].as_secs_f64() * 1000.0;
    Ok(format!("{:.2}/{:.2} ms (p50/p99)", ms(100), ms(198)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn waits_and_all_else_count() {
        let wait = |sum: f64| json!({ "count": 2, "sum": sum, "p50": 0.001, "p99": 0.002 });
        let sheet = json!({
            "apply": 10.0, "calls": 95.0, "snapshots": 3, "written_bytes": 2_000_000,
            "parts": { "opening": 0.1, "handing_over": 0.1, "storing": 0.2, "closing": 0.1 },
            "intents": wait(3.0), "outcomes": wait(2.0),
        });
        let cost = Cost::read(&sheet).unwrap();
        assert!((cost.share() - 0.1).abs() < 1e-9, "{}", cost.share());
        assert!(Cost::read(&json!({})).is_err());
    }
}
