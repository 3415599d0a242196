//! Plan, apply, plan again and destroy, side by side: instances that have nothing to do with each other, and chains where `b[i]`
//! refers to `a[i]`.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use super::report::Bar;
use super::sample::{Job, Sample, take};
use super::{Bench, Tool, inputs};
use crate::process;

/// What is measured, in this order.
const STAGES: [(&str, &[&str]); 4] = [
    ("plan", &["plan", "-input=false"]),
    ("apply", &["apply", "-auto-approve", "-input=false"]),
    ("second plan", &["plan", "-input=false"]),
    ("destroy", &["destroy", "-auto-approve", "-input=false"]),
];

/// A configuration that every tool carries out.
struct Case {
    name: &'static str,
    /// How many times faster a plan must be than OpenTofu's.
    plan: f64,
    /// How much of OpenTofu's memory a plan may take.
    memory: f64,
    config: fn(usize) -> String,
}

const CASES: [Case; 2] = [
    Case { name: "1,000 independent", plan: 5.0, memory: 1.0 / 3.0, config: inputs::independent },
    Case { name: "1,000 + 1,000 chained", plan: 20.0, memory: 0.2, config: inputs::chained },
];

/// The stages of one tool, in order.
type Stages = Vec<Sample>;

impl Bench<'_> {
    /// Both cases with every tool.
    pub(super) fn operations(&mut self) -> Result<()> {
        for case in CASES {
            if !self.wanted(case.name) {
                continue;
            }
            let config = (case.config)(1_000);
            let groma = self.stages(case.name, Tool::Groma, &config, self.args.runs)?;
            // The peers take seconds to minutes.
            let tofu = self.stages(case.name, Tool::Tofu, &config, 1)?;
            let terraform = self.stages(case.name, Tool::Terraform, &config, 1)?;
            for (at, (stage, _)) in STAGES.iter().enumerate() {
                let of = |peer: &Stages| peer[at].over(&groma[at]);
                let name = |peer: &str| format!("{stage}, {}: {peer} / groma", case.name);
                match *stage {
                    "plan" => {
                        self.table.bar(Bar::at_least(&name("tofu"), of(&tofu), case.plan));
                        let memory = groma[at].peak_kib as f64 / tofu[at].peak_kib as f64;
                        let name = format!("memory of a plan, {}: groma / tofu", case.name);
                        self.table.bar(Bar::at_most(&name, memory, case.memory));
                    }
                    "apply" | "destroy" => {
                        self.table.bar(Bar::at_least(&name("tofu"), of(&tofu), 10.0));
                        self.table.bar(Bar::at_least(&name("terraform"), of(&terraform), 10.0));
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Ten times as many instances cost at most twelve times as much, at every stage.
    pub(super) fn growth(&mut self) -> Result<()> {
        let case = "growth of chains";
        if !self.wanted(case) {
            return Ok(());
        }
        let small = self.stages("1,000 + 1,000 chained", Tool::Groma, &inputs::chained(1_000), self.args.runs)?;
        let large = self.stages("10,000 + 10,000 chained", Tool::Groma, &inputs::chained(10_000), 3)?;
        for (at, (stage, _)) in STAGES.iter().enumerate() {
            let name = format!("{case}, {stage}: 10,000 / 1,000");
            self.table.bar(Bar::at_most(&name, large[at].over(&small[at]), 12.0));
        }
        Ok(())
    }

    /// A plan of 100,000 resources fits in 1.5 GB.
    pub(super) fn many(&mut self) -> Result<()> {
        let case = "100,000 independent";
        if !self.wanted(case) {
            return Ok(());
        }
        let dir = inputs::write(&self.scratch, "many", &[("main.tf", inputs::independent(100_000))])?;
        let (stage, arguments) = STAGES[0];
        let sample = self.stage(&format!("{stage}, {case}"), Tool::Groma, &dir, arguments, 1)?;
        let gigabytes = sample.peak_kib as f64 / 1_000_000.0;
        self.table.bar(Bar::at_most("memory of a plan, 100,000 independent, in GB", gigabytes, 1.5));
        Ok(())
    }

    /// One tool through all stages, again and again from nothing.
    fn stages(&mut self, case: &str, tool: Tool, config: &str, runs: usize) -> Result<Stages> {
        let mut stages: Stages = STAGES.iter().map(|_| Sample::of(Vec::new())).collect();
        for _ in 0..runs {
            let dir =
                inputs::write(&self.scratch, &format!("operations-{}", tool.name()), &[("main.tf", config.into())])?;
            forget_states(&dir)?;
            if !matches!(tool, Tool::Groma) {
                let mut init = Command::new(self.program(tool));
                init.arg("init").current_dir(&dir).env("TF_CLI_CONFIG_FILE", "/dev/null");
                process::capture(&mut init)?;
            }
            for (stage, (_, arguments)) in stages.iter_mut().zip(STAGES) {
                let job = Job { program: self.program(tool), dir: &dir, arguments, input: "" };
                stage.join(take(&job, 1)?);
            }
        }
        for (sample, (stage, _)) in stages.iter().zip(STAGES) {
            self.table.row(&format!("{stage}, {case}"), tool.name(), sample);
        }
        Ok(stages)
    }

    fn stage(&mut self, name: &str, tool: Tool, dir: &Path, arguments: &[&str], runs: usize) -> Result<Sample> {
        let sample = take(&Job { program: self.program(tool), dir, arguments, input: "" }, runs)?;
        self.table.row(name, tool.name(), &sample);
        Ok(sample)
    }
}

/// What an earlier run left behind.
fn forget_states(dir: &Path) -> Result<()> {
    for name in ["terraform.tfstate", "terraform.tfstate.backup"] {
        let path: PathBuf = dir.join(name);
        if path.exists() {
            std::fs::remove_file(path)?;
        }
    }
    Ok(())
}
