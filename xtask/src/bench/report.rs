//! The table of a benchmark run and the bars that it must clear.

use std::time::Duration;

use anyhow::{Result, bail};

use super::sample::Sample;

/// A ratio and the limit it is held against.
pub(super) struct Bar {
    name: String,
    value: f64,
    limit: f64,
    at_most: bool,
}

impl Bar {
    /// Holds when the value is not above the limit.
    pub(super) fn at_most(name: &str, value: f64, limit: f64) -> Self {
        Self { name: name.to_owned(), value, limit, at_most: true }
    }

    /// Holds when the value is not below the limit.
    pub(super) fn at_least(name: &str, value: f64, limit: f64) -> Self {
        Self { name: name.to_owned(), value, limit, at_most: false }
    }

    fn holds(&self) -> bool {
        // A comparison with NaN is false, so a measurement that went wrong never holds.
        if self.at_most { self.value <= self.limit } else { self.value >= self.limit }
    }
}

/// Rows are printed as they come; bars at the end.
#[derive(Default)]
pub(super) struct Table {
    started: bool,
    bars: Vec<Bar>,
    failures: usize,
}

impl Table {
    /// Prints one measurement.
    pub(super) fn row(&mut self, case: &str, tool: &str, sample: &Sample) {
        if !self.started {
            println!("\n{:<32} {:<10} {:>10} {:>22} {:>10}", "case", "tool", "median", "fastest .. slowest", "peak");
            self.started = true;
        }
        let spread = format!("{} .. {}", shown(sample.fastest()), shown(sample.slowest()));
        println!(
            "{case:<32} {tool:<10} {:>10} {spread:>22} {:>7.1} MB",
            shown(sample.median()),
            sample.peak_kib as f64 / 1024.0
        );
    }

    /// Notes that something could not be measured; the other cases still are.
    pub(super) fn failure(&mut self, why: &str) {
        self.failures += 1;
        println!("FAILED: {why}");
    }

    /// Remembers a bar for the end.
    pub(super) fn bar(&mut self, bar: Bar) {
        self.bars.push(bar);
    }

    /// Prints the bars and fails if one is missed, or if something or everything could not be measured.
    pub(super) fn finish(self) -> Result<()> {
        println!("\n{:<48} {:>9} {:>12}", "bar", "measured", "wanted");
        let mut missed = 0;
        for bar in &self.bars {
            let sign = if bar.at_most { "<=" } else { ">=" };
            let verdict = if bar.holds() { "ok" } else { "MISSED" };
            missed += usize::from(!bar.holds());
            println!("{:<48} {:>9.3} {:>12}  {verdict}", bar.name, bar.value, format!("{sign} {}", bar.limit));
        }
        match (self.bars.len(), self.failures, missed) {
            (_, 1.., _) => bail!("{} cases could not be measured, {missed} bars missed", self.failures),
            (0, 0, _) => bail!("nothing was measured"),
            (_, 0, 0) => Ok(()),
            (all, 0, missed) => bail!("{missed} of {all} bars missed"),
        }
    }
}

/// Prints what no row has room for.
pub(super) fn note(text: &str) {
    println!("{text}");
}

fn shown(duration: Duration) -> String {
    let milliseconds = duration.as_secs_f64() * 1000.0;
    if milliseconds < 1000.0 { format!("{milliseconds:.1} ms") } else { format!("{:.2} s", milliseconds / 1000.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_hold_up_to_their_limit_and_not_beyond() {
        assert!(Bar::at_most("x", 0.1, 0.1).holds());
        assert!(!Bar::at_most("x", 0.11, 0.1).holds());
        assert!(Bar::at_least("x", 10.0, 10.0).holds());
        assert!(!Bar::at_least("x", 9.9, 10.0).holds());
        assert!(!Bar::at_most("x", f64::NAN, 0.1).holds());
    }

    #[test]
    fn nothing_measured_is_a_failure() {
        assert!(Table::default().finish().is_err());
    }

    #[test]
    fn a_case_that_could_not_be_measured_is_a_failure() {
        let mut table = Table::default();
        table.bar(Bar::at_most("x", 0.1, 0.1));
        table.failure("it broke");
        assert!(table.finish().is_err());
    }
}
