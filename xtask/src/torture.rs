//! `cargo xtask torture`: kills runs of groma at every named point of the write path and at random times, goes on, and counts:
//! objects that were made and that nobody knows, objects that were made twice, states that cannot be read. The same, at random times,
//! with OpenTofu and Terraform, to compare.

mod arena;
mod groma;
mod others;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Result, anyhow, bail};
use rand_free::Dice;

use crate::ladder::Counts;
use crate::{peers, product};

/// Kill runs at every point of the write path and at random times, and count what was lost.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// How many runs of groma are killed at random times.
    #[arg(long, default_value_t = 1000)]
    runs: u32,
    /// How many runs of each of the other tools.
    #[arg(long, default_value_t = 40)]
    others: u32,
    /// What the random times follow from.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// What came of many kills.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// Runs that were killed before their end.
    killed: u32,
    /// Runs that ended before that.
    survived: u32,
    /// Objects that exist and that neither the state nor anything else knows.
    lost: u32,
    /// Objects that exist twice after all was gone on with.
    duplicates: u32,
    /// States that could not be read, or were empty though something had been made.
    unreadable: u32,
    /// Creations that were in flight and were reported as such.
    in_doubt: u32,
    /// Runs that could not be gone on with.
    stuck: u32,
    /// What went wrong, in words.
    problems: Vec<String>,
}

impl Report {
    fn add(&mut self, other: Self) {
        self.killed += other.killed;
        self.survived += other.survived;
        self.lost += other.lost;
        self.duplicates += other.duplicates;
        self.unreadable += other.unreadable;
        self.in_doubt += other.in_doubt;
        self.stuck += other.stuck;
        self.problems.extend(other.problems);
    }

    fn is_clean(&self) -> bool {
        self.lost == 0 && self.duplicates == 0 && self.unreadable == 0 && self.stuck == 0
    }

    fn row(&self, name: &str) -> String {
        format!(
            "{name:<10} {:>6} {:>8} {:>6} {:>10} {:>10} {:>8} {:>6}",
            self.killed, self.survived, self.lost, self.duplicates, self.unreadable, self.in_doubt, self.stuck
        )
    }
}

/// How many runs go on at the same time: most of the time they wait.
const AT_ONCE: usize = 4;

/// Kills a run with every blow, several at a time, and adds up what came of it.
fn kill_all<Blow: Sync>(
    name: &str,
    blows: &[Blow],
    kill: impl Fn(&Blow, &mut Report) -> Result<()> + Sync,
) -> Result<Report> {
    let next = AtomicUsize::new(0);
    let work = || -> Result<Report> {
        let mut report = Report::default();
        while let Some((at, blow)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| Some((at, blows.get(at)?)))
        {
            if at % 50 == 0 {
                println!("    {name}: {at} of {}", blows.len());
            }
            kill(blow, &mut report)?;
        }
        Ok(report)
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(work)).collect();
        let mut sum = Report::default();
        for worker in workers {
            sum.add(worker.join().map_err(|_| anyhow!("{name}: a worker panicked"))??);
        }
        Ok(sum)
    })
}

/// Runs the campaign.
pub(crate) fn run(args: &Args) -> Result<()> {
    let fixture = fixture()?;
    let groma = product::groma_for_tests()?;
    let ours = kill_groma(&groma, &fixture, args.runs, args.seed)?;
    let mut rows = vec![ours.row("groma")];
    for (name, program) in others::programs()? {
        let report = others::campaign(name, &program, &fixture, args.others, args.seed)?;
        rows.push(report.row(name));
    }
    println!(
        "\n{:<10} {:>6} {:>8} {:>6} {:>10} {:>10} {:>8} {:>6}",
        "", "killed", "survived", "lost", "duplicates", "unreadable", "in doubt", "stuck"
    );
    for row in &rows {
        println!("{row}");
    }
    finish(&ours)
}

/// As a step of the tests: every point, and some random times.
pub(crate) fn step(counts: &mut Counts, runs: u32) -> Result<()> {
    let report = kill_groma(&product::groma_for_tests()?, &fixture()?, runs, 1)?;
    counts.passed += usize::try_from(report.killed + report.survived)?;
    finish(&report)
}

fn finish(report: &Report) -> Result<()> {
    for problem in report.problems.iter().take(20) {
        println!("    {problem}");
    }
    if !report.is_clean() {
        bail!("something was lost, doubled or unreadable");
    }
    Ok(())
}

/// The folder with the plugin.
fn fixture() -> Result<PathBuf> {
    let environment = peers::environment(peers::Group::Test)?;
    let plugin = environment.iter().find(|(name, _)| *name == "GROMA_FIXTURE_FRAMEWORK");
    let Some((_, plugin)) = plugin else { bail!("the fixture provider was not built") };
    Ok(plugin.parent().unwrap_or(Path::new(".")).to_owned())
}

fn kill_groma(groma: &Path, fixture: &Path, runs: u32, seed: u64) -> Result<Report> {
    let victim = groma::Victim::new(groma, fixture)?;
    let mut blows = Vec::new();
    for point in groma::points()? {
        blows.extend(victim.times(&point)?.into_iter().map(|time| groma::Blow::At(point.clone(), time)));
    }
    println!("    {} blows at the points of the write path: first, middle and last time each", blows.len());
    let mut dice = Dice::new(seed);
    blows.extend((0..runs).map(|_| groma::Blow::After(dice.below(victim.duration()))));
    kill_all("groma", &blows, |blow, report| victim.kill(blow, report))
}

/// Random numbers that are the same for the same seed.
mod rand_free {
    use std::time::Duration;

    pub(super) struct Dice(u64);

    impl Dice {
        pub(super) fn new(seed: u64) -> Self {
            Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
        }

        fn next(&mut self) -> u64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            self.0
        }

        pub(super) fn below(&mut self, most: Duration) -> Duration {
            let most = u64::try_from(most.as_micros()).unwrap_or(u64::MAX).max(1);
            Duration::from_micros(self.next() % most)
        }
    }
}
