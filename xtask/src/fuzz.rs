//! `cargo xtask fuzz`: coverage-guided fuzzing on the stable compiler. The targets and their seeds
//! live in `fuzz/`; how it works without nightly is in `docs/adr`.

pub(crate) mod compiler;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, bail};

use crate::ladder::Counts;
use crate::{process, workspace};

/// Fuzz one target or all of them; a crash is kept in `fuzz/artifacts` and fails.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The target (all of them if left out).
    target: Option<String>,
    /// Seconds per target.
    #[arg(long, default_value_t = 60)]
    seconds: u32,
    /// Start of the random numbers; the same seed and corpus give the same run.
    #[arg(long)]
    seed: Option<u32>,
}

/// A single input that takes longer than this many seconds is a failure: something is not linear.
const INPUT_SECONDS: u32 = 10;
/// More memory than this is a failure: a small input must not make a large value.
const MEMORY_MB: u32 = 2048;

/// Runs one target or all.
pub(crate) fn run(args: &Args) -> Result<()> {
    let binary = build()?;
    let mut targets = targets(&binary)?;
    if let Some(wanted) = &args.target {
        targets.retain(|target| target == wanted);
        if targets.is_empty() {
            bail!("there is no fuzz target `{wanted}`");
        }
    }
    let mut counts = Counts::default();
    fuzz(&binary, &targets, args.seconds, args.seed, &mut counts)?;
    println!("{} targets held, {} crashed", counts.passed, counts.failed);
    if counts.failed > 0 {
        bail!("fuzzing found crashes");
    }
    Ok(())
}

/// Runs every target for `seconds` and counts how many held.
pub(crate) fn run_all(counts: &mut Counts, seconds: u32) -> Result<()> {
    let binary = build()?;
    let targets = targets(&binary)?;
    fuzz(&binary, &targets, seconds, None, counts)
}

/// Builds the fuzzing binary with coverage, and with the checks that release builds leave out.
fn build() -> Result<PathBuf> {
    let target_dir = workspace::target_dir()?.join("fuzz");
    let triple = crate::product::host()?;
    let mut cargo = workspace::cargo();
    cargo.args(["build", "--release", "--locked", "--package=groma-fuzz", "--features=libfuzzer"]);
    cargo.args(["--bin=fuzz", "--target", &triple]);
    cargo.env("CARGO_TARGET_DIR", &target_dir);
    compiler::wrap(&mut cargo, &std::env::current_exe()?);
    for (setting, value) in [
        ("DEBUG_ASSERTIONS", "true"),
        ("OVERFLOW_CHECKS", "true"),
        ("LTO", "off"),
        ("DEBUG", "line-tables-only"),
        ("STRIP", "none"),
    ] {
        cargo.env(format!("CARGO_PROFILE_RELEASE_{setting}"), value);
    }
    process::run(&mut cargo)?;
    Ok(target_dir.join(triple).join("release/fuzz"))
}

/// The names that the binary knows.
fn targets(binary: &Path) -> Result<Vec<String>> {
    let list = process::capture(Command::new(binary).env("GROMA_FUZZ_TARGET", "list"))?;
    let targets: Vec<String> = list.lines().map(str::to_owned).collect();
    if targets.is_empty() {
        bail!("the fuzzing binary has no targets");
    }
    Ok(targets)
}

/// A target that is being fuzzed.
struct Running {
    target: String,
    child: Child,
    log: PathBuf,
}

/// Runs the targets, as many at a time as there are cores.
fn fuzz(binary: &Path, targets: &[String], seconds: u32, seed: Option<u32>, counts: &mut Counts) -> Result<()> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    for group in targets.chunks(cores) {
        println!("    fuzzing {} for {seconds} s ...", group.join(" and "));
        let running: Vec<Running> =
            group.iter().map(|target| start(binary, target, seconds, seed)).collect::<Result<_>>()?;
        for one in running {
            if finish(one)? {
                counts.passed += 1;
            } else {
                counts.failed += 1;
            }
        }
    }
    Ok(())
}

/// Starts one target with its seeds, its grown corpus and its dictionary.
fn start(binary: &Path, target: &str, seconds: u32, seed: Option<u32>) -> Result<Running> {
    let home = workspace::root().join("fuzz");
    let grown = workspace::target_dir()?.join("fuzz/corpus").join(target);
    let artifacts = home.join("artifacts").join(target);
    std::fs::create_dir_all(&grown)?;
    std::fs::create_dir_all(&artifacts)?;
    let log = workspace::target_dir()?.join("fuzz").join(format!("{target}.log"));

    let mut command = Command::new(binary);
    command.env("GROMA_FUZZ_TARGET", target);
    command.arg(format!("-max_total_time={seconds}"));
    command.arg(format!("-timeout={INPUT_SECONDS}"));
    command.arg(format!("-rss_limit_mb={MEMORY_MB}"));
    command.args(["-max_len=16384", "-len_control=20", "-print_final_stats=1"]);
    command.arg(format!("-artifact_prefix={}/", artifacts.display()));
    if let Some(seed) = seed {
        command.arg(format!("-seed={seed}"));
    }
    let dictionary = home.join("dictionaries").join(format!("{target}.dict"));
    if dictionary.is_file() {
        command.arg(format!("-dict={}", dictionary.display()));
    }
    command.arg(&grown);
    let own = [home.join("seeds").join(target), home.join("regressions").join(target)];
    for seeds in own.into_iter().chain(borrowed_seeds(target)?) {
        if seeds.is_dir() {
            command.arg(seeds);
        }
    }
    let file = std::fs::File::create(&log)?;
    command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
    let child = command.spawn().context("cannot start the fuzzing binary")?;
    Ok(Running { target: target.to_owned(), child, log })
}

/// Seeds from the conformance corpora: they name every function and every construct.
fn borrowed_seeds(target: &str) -> Result<Vec<PathBuf>> {
    let corpora = workspace::root().join("tests/conformance");
    match target {
        "hcl" => Ok(vec![corpora.join("fmt"), corpora.join("validate")]),
        "json" => Ok(vec![corpora.join("validate")]),
        "expression" => {
            let dir = workspace::target_dir()?.join("fuzz/seeds").join(target);
            write_lines(&corpora.join("console"), &dir)?;
            Ok(vec![dir])
        }
        _ => Ok(Vec::new()),
    }
}

/// Writes every line of the files of one folder that is not a comment to a file of its own in another.
fn write_lines(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from).with_context(|| format!("{}", from.display()))? {
        let path = entry?.path();
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path)?;
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.starts_with('#')) {
            std::fs::write(to.join(format!("{stem}-{number}")), line)?;
        }
    }
    Ok(())
}

/// Waits for a target and says how it went.
fn finish(mut running: Running) -> Result<bool> {
    let status = running.child.wait()?;
    let log = String::from_utf8_lossy(&std::fs::read(&running.log)?).into_owned();
    let executed = statistic(&log, "stat::number_of_executed_units:");
    let peak = statistic(&log, "stat::peak_rss_mb:");
    let coverage = log.lines().rev().find_map(|line| {
        let mut words = line.split_whitespace().skip_while(|word| *word != "cov:");
        words.nth(1)
    });
    let target = &running.target;
    if status.success() {
        println!("    {target}: held, {executed} inputs, {} edges, {peak} MB", coverage.unwrap_or("?"));
        return Ok(true);
    }
    println!("    {target}: CRASHED ({status}); the end of {}:", running.log.display());
    let lines: Vec<&str> = log.lines().collect();
    for line in &lines[lines.len().saturating_sub(60)..] {
        println!("      {line}");
    }
    println!("    keep the input: move it from fuzz/artifacts/{target} to fuzz/regressions/{target}");
    Ok(false)
}

/// The figure after a label of libFuzzer's final statistics.
fn statistic(log: &str, label: &str) -> String {
    let found = log.lines().rev().find_map(|line| line.strip_prefix(label));
    found.map_or_else(|| "?".to_owned(), |value| value.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_becomes_a_seed() {
        let dir = tempfile::tempdir().unwrap();
        let (from, to) = (dir.path().join("from"), dir.path().join("to"));
        std::fs::create_dir(&from).unwrap();
        std::fs::write(from.join("a.txt"), "# comment\n1 + 1\nupper(\"x\")\n").unwrap();
        write_lines(&from, &to).unwrap();
        assert_eq!(std::fs::read_to_string(to.join("a-2")).unwrap(), "upper(\"x\")");
        assert_eq!(std::fs::read_dir(&to).unwrap().count(), 2);
    }

    #[test]
    fn statistics_are_read_from_the_log() {
        let log = "#2 INITED cov: 3\nstat::number_of_executed_units: 4123\nstat::peak_rss_mb:  45\n";
        assert_eq!(statistic(log, "stat::number_of_executed_units:"), "4123");
        assert_eq!(statistic(log, "stat::peak_rss_mb:"), "45");
        assert_eq!(statistic("", "stat::peak_rss_mb:"), "?");
    }
}
