//! A ladder of test steps: runs them in order, times them, and ends with one honest summary.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};

/// How many single tests passed and failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
}

impl Counts {
    /// One thing that held.
    pub(crate) const ONE: Self = Self { passed: 1, failed: 0 };

    /// Adds what `cargo test` reports in one of its result lines; other lines change nothing.
    pub(crate) fn read_line(&mut self, line: &str) {
        let Some(rest) = line.trim().strip_prefix("test result: ") else {
            return;
        };
        for part in rest.split([';', '.']) {
            let mut words = part.split_whitespace();
            let Some(Ok(number)) = words.next().map(str::parse::<usize>) else {
                continue;
            };
            match words.next() {
                Some("passed") => self.passed += number,
                Some("failed") => self.failed += number,
                _ => {}
            }
        }
    }
}

/// How a step ended.
enum Outcome {
    Passed,
    Failed(String),
    Skipped,
}

/// A finished step.
struct Step {
    name: &'static str,
    outcome: Outcome,
    counts: Counts,
    took: Duration,
}

/// Runs steps one after the other and remembers how they ended.
pub(crate) struct Ladder {
    total: usize,
    skip: Vec<String>,
    steps: Vec<Step>,
}

impl Ladder {
    /// A ladder of `total` steps; those named in `skip` are not run, and shown as skipped.
    pub(crate) fn new(total: usize, skip: &[String]) -> Self {
        Self { total, skip: skip.to_vec(), steps: Vec::new() }
    }

    /// Runs one step. A failure is remembered and does not stop the ladder: the later steps may
    /// tell more. The work may return counts together with an error.
    pub(crate) fn step(&mut self, name: &'static str, what: &str, work: impl FnOnce(&mut Counts) -> Result<()>) {
        let position = self.steps.len() + 1;
        println!("\n==> [{position}/{}] {name}: {what}", self.total);
        if self.skip.iter().any(|skipped| skipped == name) {
            println!("    skipped on request");
            self.steps.push(Step { name, outcome: Outcome::Skipped, counts: Counts::default(), took: Duration::ZERO });
            return;
        }
        let start = Instant::now();
        let mut counts = Counts::default();
        let outcome = match work(&mut counts) {
            Ok(()) if counts.failed == 0 => {
                if counts.passed == 0 {
                    counts = Counts::ONE;
                }
                Outcome::Passed
            }
            Ok(()) => Outcome::Failed(format!("{} failed", counts.failed)),
            Err(error) => {
                // A step that broke down before it could count a failure is itself one.
                counts.failed = counts.failed.max(1);
                Outcome::Failed(format!("{error:#}"))
            }
        };
        let took = start.elapsed();
        match &outcome {
            Outcome::Failed(why) => println!("    FAILED in {}: {why}", seconds(took)),
            _ => println!("    ok in {}", seconds(took)),
        }
        self.steps.push(Step { name, outcome, counts, took });
    }

    /// Prints the table and the line that counts, and fails if anything failed.
    pub(crate) fn finish(self) -> Result<()> {
        let mut sum = Counts::default();
        let mut time = Duration::ZERO;
        println!("\n{:<12} {:>8} {:>8} {:>9}  result", "step", "passed", "failed", "time");
        for step in &self.steps {
            let result = match &step.outcome {
                Outcome::Passed => "ok".to_owned(),
                Outcome::Skipped => "skipped on request".to_owned(),
                Outcome::Failed(why) => format!("FAILED: {}", first_line(why)),
            };
            let (name, counts) = (step.name, step.counts);
            println!("{name:<12} {:>8} {:>8} {:>9}  {result}", counts.passed, counts.failed, seconds(step.took));
            sum.passed += counts.passed;
            sum.failed += counts.failed;
            time += step.took;
        }
        println!("{:<12} {:>8} {:>8} {:>9}", "total", sum.passed, sum.failed, seconds(time));
        println!("\n{} passed, {} failed", sum.passed, sum.failed);
        if sum.failed > 0 {
            bail!("the tests did not pass");
        }
        Ok(())
    }
}

/// A duration as people read it.
pub(crate) fn seconds(duration: Duration) -> String {
    let whole = duration.as_secs();
    if whole >= 60 { format!("{}m{:02}s", whole / 60, whole % 60) } else { format!("{:.1}s", duration.as_secs_f64()) }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn result_lines_are_added_up() {
        let mut counts = Counts::default();
        counts.read_line("test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; finished in 0.1s");
        counts.read_line("test something ... ok");
        counts.read_line("test result: FAILED. 3 passed; 2 failed; 0 ignored; finished in 0.1s");
        assert_eq!(counts, Counts { passed: 15, failed: 2 });
    }

    #[test]
    fn a_failed_step_fails_the_ladder_and_the_next_step_still_runs() {
        let mut ladder = Ladder::new(2, &[]);
        let mut ran = false;
        ladder.step("one", "breaks", |_| bail!("no"));
        ladder.step("two", "holds", |_| {
            ran = true;
            Ok(())
        });
        assert!(ran);
        assert!(ladder.finish().is_err());
    }

    #[test]
    fn a_failed_test_fails_a_step_that_returned_ok() {
        let mut ladder = Ladder::new(1, &[]);
        ladder.step("one", "one test fails", |counts| {
            counts.failed = 1;
            Ok(())
        });
        assert!(ladder.finish().is_err());
    }

    #[test]
    fn a_skipped_step_does_not_run() {
        let mut ladder = Ladder::new(1, &["one".to_owned()]);
        ladder.step("one", "must not run", |_| bail!("it ran"));
        assert!(ladder.finish().is_ok());
    }
}
