//! Measuring one program: wall time and peak memory, several times. Each run goes through a small
//! process of ours (`xtask measure`), since the kernel reports peak memory only for waited children.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use nix::sys::resource::{UsageWho, getrusage};
use serde_json::json;

/// What to run.
pub(super) struct Job<'a> {
    pub(super) program: &'a Path,
    pub(super) dir: &'a Path,
    pub(super) arguments: &'a [&'a str],
    pub(super) input: &'a str,
}

/// What was measured.
pub(super) struct Sample {
    /// Sorted.
    times: Vec<Duration>,
    /// The largest of all runs, in KiB.
    pub(super) peak_kib: u64,
}

impl Sample {
    /// Times that somebody else took.
    pub(super) fn of(mut times: Vec<Duration>) -> Self {
        times.sort();
        Self { times, peak_kib: 0 }
    }

    /// Takes in what was measured on another occasion.
    pub(super) fn join(&mut self, other: Self) {
        self.times.extend(other.times);
        self.times.sort();
        self.peak_kib = self.peak_kib.max(other.peak_kib);
    }

    /// How many times as long as another, the fastest of each.
    pub(super) fn fastest_over(&self, other: &Self) -> f64 {
        self.fastest().as_secs_f64() / other.fastest().as_secs_f64().max(1e-9)
    }

    pub(super) fn median(&self) -> Duration {
        self.times.get(self.times.len() / 2).copied().unwrap_or_default()
    }

    pub(super) fn fastest(&self) -> Duration {
        self.times.first().copied().unwrap_or_default()
    }

    pub(super) fn slowest(&self) -> Duration {
        self.times.last().copied().unwrap_or_default()
    }

    /// How many times as long as another.
    pub(super) fn over(&self, other: &Self) -> f64 {
        self.median().as_secs_f64() / other.median().as_secs_f64().max(1e-9)
    }
}

/// Runs the job once to warm the caches (if it runs more than once), then `runs` times.
pub(super) fn take(job: &Job<'_>, runs: usize) -> Result<Sample> {
    if runs > 1 {
        once(job)?;
    }
    let mut times = Vec::new();
    let mut peak_kib = 0;
    for _ in 0..runs {
        let (time, peak) = once(job)?;
        times.push(time);
        peak_kib = peak_kib.max(peak);
    }
    times.sort();
    Ok(Sample { times, peak_kib })
}

/// One run, in a process of its own.
fn once(job: &Job<'_>) -> Result<(Duration, u64)> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("measure").arg(job.program).args(job.arguments).current_dir(job.dir);
    command.env("TF_CLI_CONFIG_FILE", "/dev/null").env("CHECKPOINT_DISABLE", "1");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().context("cannot start `xtask measure`")?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(job.input.as_bytes())?;
    }
    let output = child.wait_with_output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let result: serde_json::Value = serde_json::from_str(&text)
        .with_context(|| format!("{}: {}", job.program.display(), String::from_utf8_lossy(&output.stderr)))?;
    if result["success"] != true {
        let said: Vec<&str> = result["stderr"].as_str().unwrap_or_default().lines().take(12).collect();
        bail!("{} {:?} failed:\n{}", job.program.display(), job.arguments, said.join("\n"));
    }
    let seconds = result["seconds"].as_f64().context("no time")?;
    let peak = result["peak_kib"].as_u64().context("no peak memory")?;
    Ok((Duration::from_secs_f64(seconds), peak))
}

/// Arguments of the hidden task `measure`.
#[derive(clap::Args)]
pub(crate) struct MeasureArgs {
    program: std::path::PathBuf,
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<std::ffi::OsString>,
}

/// Runs one program with our standard input, throws its output away, and prints the figures.
pub(crate) fn measure(args: &MeasureArgs) -> Result<()> {
    let mut command = Command::new(&args.program);
    command.args(&args.arguments).stdout(Stdio::null()).stderr(Stdio::piped());
    let start = Instant::now();
    let output = command.spawn()?.wait_with_output()?;
    let took = start.elapsed();
    // On Linux the unit is KiB. This process has had one child, so the maximum is that child's.
    let peak = getrusage(UsageWho::RUSAGE_CHILDREN)?.max_rss();
    let result = json!({
        "success": output.status.success(),
        "seconds": took.as_secs_f64(),
        "peak_kib": peak,
        "stderr": String::from_utf8_lossy(&output.stderr),
    });
    println!("{result}");
    Ok(())
}
