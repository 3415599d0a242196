//! A ladder of test steps: runs them in order, times them, and ends with one honest summary. A step that mostly waits can have
//! another one beside it.

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

impl Step {
    /// A step whose work has panicked.
    fn broken(name: &'static str) -> Self {
        let counts = Counts { passed: 0, failed: 1 };
        Self { name, outcome: Outcome::Failed("it panicked".to_owned()), counts, took: Duration::ZERO }
    }
}

/// A step that is to be run: its name, what it is about, and its work. The work may return counts together with an error.
pub(crate) type ToDo<'a> = (&'static str, &'static str, &'a (dyn Fn(&mut Counts) -> Result<()> + Sync));

/// Runs steps one after the other and remembers how they ended.
pub(crate) struct Ladder {
    total: usize,
    skip: Vec<String>,
    steps: Vec<Step>,
    began: Instant,
}

impl Ladder {
    /// A ladder of `total` steps; those named in `skip` are not run, and shown as skipped.
    pub(crate) fn new(total: usize, skip: &[String]) -> Self {
        Self { total, skip: skip.to_vec(), steps: Vec::new(), began: Instant::now() }
    }

    /// Runs one step. A failure is remembered and does not stop the ladder: the later steps may
    /// tell more. The work may return counts together with an error.
    pub(crate) fn step(&mut self, name: &'static str, what: &str, work: impl FnOnce(&mut Counts) -> Result<()>) {
        self.announce(name, what, 1);
        let step = self.run(name, work);
        self.steps.push(step);
    }

    /// Runs two steps at the same time: one that mostly waits, and one that mostly computes.
    pub(crate) fn steps_together(&mut self, waiting: ToDo<'_>, computing: ToDo<'_>) {
        self.announce(waiting.0, waiting.1, 1);
        self.announce(computing.0, computing.1, 2);
        let (first, second) = std::thread::scope(|scope| {
            let computed = scope.spawn(|| self.run(computing.0, computing.2));
            let waited = self.run(waiting.0, waiting.2);
            (waited, computed.join())
        });
        self.steps.push(first);
        self.steps.push(second.unwrap_or_else(|_| Step::broken(computing.0)));
    }

    /// Says which step comes, as the `ahead`th of those that are not done.
    fn announce(&self, name: &str, what: &str, ahead: usize) {
        println!("\n==> [{}/{}] {name}: {what}", self.steps.len() + ahead, self.total);
    }

    /// Runs one step, unless it is to be skipped.
    fn run(&self, name: &'static str, work: impl FnOnce(&mut Counts) -> Result<()>) -> Step {
        let mut counts = Counts::default();
        if self.skip.iter().any(|skipped| skipped == name) {
            println!("    {name}: skipped on request");
            return Step { name, outcome: Outcome::Skipped, counts, took: Duration::ZERO };
        }
        let start = Instant::now();
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
            Outcome::Failed(why) => println!("    {name}: FAILED in {}: {why}", seconds(took)),
            _ => println!("    {name}: ok in {}", seconds(took)),
        }
        Step { name, outcome, counts, took }
    }

    /// Prints the table and the line that counts, and fails if anything failed.
    pub(crate) fn finish(self) -> Result<()> {
        let mut sum = Counts::default();
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
        }
        println!("{:<12} {:>8} {:>8} {:>9}", "total", sum.passed, sum.failed, seconds(self.began.elapsed()));
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
    fn of_two_steps_together_either_fails_the_ladder() {
        let holds = |_: &mut Counts| Ok(());
        let breaks = |_: &mut Counts| bail!("no");
        let panics = |_: &mut Counts| panic!("on purpose");
        let mut ladder = Ladder::new(2, &[]);
        ladder.steps_together(("one", "holds", &holds), ("two", "holds", &holds));
        assert!(ladder.finish().is_ok());
        let mut ladder = Ladder::new(2, &[]);
        ladder.steps_together(("one", "breaks", &breaks), ("two", "holds", &holds));
        assert!(ladder.finish().is_err());
        let mut ladder = Ladder::new(2, &[]);
        ladder.steps_together(("one", "holds", &holds), ("two", "panics", &panics));
        assert!(ladder.finish().is_err());
    }

    #[test]
    fn a_skipped_step_does_not_run() {
        let mut ladder = Ladder::new(1, &["one".to_owned()]);
        ladder.step("one", "must not run", |_| bail!("it ran"));
        assert!(ladder.finish().is_ok());
    }
}
