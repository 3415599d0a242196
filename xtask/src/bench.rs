//! `cargo xtask bench`: groma, OpenTofu and Terraform side by side in one run, on the same inputs,
//! with the bars that must hold. Ratios in one run mean the same on a slow and on a fast machine.

mod inputs;
mod keeping;
mod kubernetes;
mod operations;
mod operator;
mod replacement;
mod report;
mod sample;
mod warm;
mod wire;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use crate::{peers, process, product, workspace};
use report::{Bar, Table};
use sample::{Job, Sample};
pub(crate) use sample::{MeasureArgs, measure};

/// Compare speed and memory with OpenTofu and Terraform; fails when a bar is missed.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Runs per measurement; the median counts.
    #[arg(long, default_value_t = 7)]
    runs: usize,
    /// Only cases whose name contains this.
    #[arg(long)]
    filter: Option<String>,
    /// Use this binary instead of building the release.
    #[arg(long)]
    groma: Option<PathBuf>,
}

/// The three programs.
struct Tools {
    groma: PathBuf,
    tofu: PathBuf,
    terraform: PathBuf,
}

/// Runs every case and prints the table.
pub(crate) fn run(args: &Args) -> Result<()> {
    if args.runs == 0 {
        bail!("--runs must be at least 1");
    }
    let mut table = Table::default();
    if let Err(error) = replacement::measure(args, &mut table) {
        table.failure(&format!("{error:#}"));
    }
    if replacement::is_all(args) {
        return table.finish();
    }
    let tools = Tools {
        groma: match &args.groma {
            Some(path) => path.clone(),
            None => product::groma()?,
        },
        tofu: peers::tofu()?,
        terraform: peers::terraform()?,
    };
    let scratch = workspace::target_dir()?.join("bench");
    let mut bench = Bench { args, tools, scratch, table };
    for case in [
        Bench::start_up,
        Bench::large_module,
        Bench::for_expression,
        Bench::references,
        Bench::two_plugins,
        Bench::plugins,
        Bench::known_schemas,
        Bench::plugin_operations,
        Bench::values,
        Bench::operations,
        Bench::growth,
        Bench::many,
        Bench::keeping,
        Bench::kubernetes,
        Bench::operator,
    ] {
        if let Err(error) = case(&mut bench) {
            bench.table.failure(&format!("{error:#}"));
        }
    }
    bench.table.finish()
}

/// One run of all cases.
struct Bench<'a> {
    args: &'a Args,
    tools: Tools,
    scratch: PathBuf,
    table: Table,
}

impl Bench<'_> {
    fn wanted(&self, case: &str) -> bool {
        self.args.filter.as_ref().is_none_or(|filter| case.contains(filter.as_str()))
    }

    /// `version` and `validate` of a small module: at most a tenth of each peer's wall time.
    fn start_up(&mut self) -> Result<()> {
        let dir = inputs::small_module(&self.scratch)?;
        for command in ["version", "validate"] {
            let work = Work { name: format!("{command}, small module"), dir: &dir, command, input: "" };
            if !self.wanted(&work.name) {
                continue;
            }
            let groma = self.sample(&work, Tool::Groma, self.args.runs)?;
            for peer in [Tool::Tofu, Tool::Terraform] {
                let sample = self.sample(&work, peer, self.args.runs)?;
                let name = format!("{}: groma / {}", work.name, peer.name());
                self.table.bar(Bar::at_most(&name, groma.over(&sample), 0.1));
            }
        }
        Ok(())
    }

    /// A module of 20,000 lines: at least ten times faster than OpenTofu.
    fn large_module(&mut self) -> Result<()> {
        let name = "validate, 20,000 lines";
        if !self.wanted(name) {
            return Ok(());
        }
        let dir = inputs::large_module(&self.scratch, 20_000)?;
        let work = Work { name: name.to_owned(), dir: &dir, command: "validate", input: "" };
        let groma = self.sample(&work, Tool::Groma, self.args.runs)?;
        let tofu = self.sample(&work, Tool::Tofu, self.args.runs.min(3))?;
        self.sample(&work, Tool::Terraform, self.args.runs.min(3))?;
        self.table.bar(Bar::at_least(&format!("{name}: tofu / groma"), tofu.over(&groma), 10.0));
        Ok(())
    }

    /// `for` over ten times as many elements costs at most eleven times as much.
    fn for_expression(&mut self) -> Result<()> {
        let case = "for over elements";
        if !self.wanted(case) {
            return Ok(());
        }
        let dir = inputs::small_module(&self.scratch)?;
        let mut samples = Vec::new();
        for size in [100_000_usize, 1_000_000] {
            // `range` gives at most 1,024 elements, so longer lists are joined from short ones.
            let input =
                format!("length([for x in flatten([for row in range({}) : range(1000)]) : x + 1])\n", size / 1000);
            let name = format!("{case}, {size}");
            let work = Work { name, dir: &dir, command: "console", input: &input };
            samples.push(self.sample(&work, Tool::Groma, self.args.runs)?);
            self.sample(&work, Tool::Tofu, 1)?;
            self.sample(&work, Tool::Terraform, 1)?;
        }
        if let [small, large] = samples.as_slice() {
            let name = format!("{case}: groma, 1,000,000 / 100,000");
            self.table.bar(Bar::at_most(&name, large.over(small), 11.0));
        }
        Ok(())
    }

    /// `b[i] = a[i].x`: ten times as many instances cost at most twelve times as much. The instances are module
    /// instances, because `console` evaluates those without a plan, and the peers are quadratic there too: for every
    /// instance of `b` they build the value of all of `a`. The peers stop at 1,000, where they already take seconds.
    fn references(&mut self) -> Result<()> {
        let case = "b[i] = a[i].x";
        if !self.wanted(case) {
            return Ok(());
        }
        let mut samples = Vec::new();
        for size in [500_usize, 1_000, 10_000] {
            let dir = inputs::instances(&self.scratch, size)?;
            let name = format!("{case}, {size}");
            let work = Work { name, dir: &dir, command: "console", input: "sum(module.b[*].x)\n" };
            samples.push(self.sample(&work, Tool::Groma, self.args.runs)?);
            if size <= 1_000 {
                process::capture(Command::new(&self.tools.tofu).arg("init").current_dir(&dir))?;
                self.sample(&work, Tool::Tofu, 1)?;
                self.sample(&work, Tool::Terraform, 1)?;
            }
        }
        if let [_, small, large] = samples.as_slice() {
            let name = format!("{case}: groma, 10,000 / 1,000");
            self.table.bar(Bar::at_most(&name, large.over(small), 12.0));
        }
        Ok(())
    }

    fn program(&self, tool: Tool) -> &Path {
        match tool {
            Tool::Groma => &self.tools.groma,
            Tool::Tofu => &self.tools.tofu,
            Tool::Terraform => &self.tools.terraform,
        }
    }

    /// Measures one tool on one piece of work and adds the row.
    fn sample(&mut self, work: &Work<'_>, tool: Tool, runs: usize) -> Result<Sample> {
        let job = Job { program: self.program(tool), dir: work.dir, arguments: &[work.command], input: work.input };
        let sample = sample::take(&job, runs)?;
        self.table.row(&work.name, tool.name(), &sample);
        Ok(sample)
    }
}

/// One piece of work that every tool does alike.
struct Work<'a> {
    name: String,
    dir: &'a Path,
    command: &'a str,
    /// What goes to standard input.
    input: &'a str,
}

/// Which program is measured.
#[derive(Clone, Copy)]
enum Tool {
    Groma,
    Tofu,
    Terraform,
}

impl Tool {
    fn name(self) -> &'static str {
        match self {
            Self::Groma => "groma",
            Self::Tofu => "tofu",
            Self::Terraform => "terraform",
        }
    }
}
