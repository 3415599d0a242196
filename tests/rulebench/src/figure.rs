//! What was measured, beside what it may be at most.

use std::fmt;

use serde_json::{Value as Json, json};

/// How often a sample is drawn anew to see how sure its median is.
const DRAWS: usize = 2_000;

/// A median with the interval that it lies in, 19 times of 20.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Of what.
    pub name: String,
    /// The lower end.
    pub low: f64,
    /// In the middle.
    pub median: f64,
    /// The upper end.
    pub high: f64,
    /// What it may be at most.
    pub limit: f64,
    /// Of what kind.
    pub unit: Unit,
}

/// What a figure counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// How many times as much as without rules.
    Ratio,
    /// Thousandths of a second.
    Milliseconds,
}

impl Figure {
    /// The median of a sample.
    pub fn new(name: impl Into<String>, sample: &[f64], unit: Unit, limit: f64) -> Self {
        let (low, high) = interval(sample);
        Self { name: name.into(), low, median: median(sample.to_vec()), high, limit, unit }
    }

    /// Whether it may be so. Only what is too much for certain is.
    pub fn holds(&self) -> bool {
        // A comparison with NaN is false, so a measurement that went wrong never holds.
        self.low <= self.limit
    }

    /// For machines.
    pub fn to_json(&self) -> Json {
        let Self { name, low, median, high, limit, .. } = self;
        json!({ "name": name, "low": low, "median": median, "high": high, "limit": limit })
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, low, median, high, limit, unit } = self;
        let unit = if *unit == Unit::Ratio { "x " } else { "ms" };
        let verdict = if self.holds() { "ok" } else { "MISSED" };
        write!(f, "{name:<44} {median:>9.4} {unit} [{low:.4}, {high:.4}]  <= {limit}  {verdict}")
    }
}

fn median(mut sample: Vec<f64>) -> f64 {
    sample.sort_by(f64::total_cmp);
    sample.get(sample.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Where medians of samples like this one lie, without one in forty at either end.
fn interval(sample: &[f64]) -> (f64, f64) {
    let mut seed: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut draw = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        sample.get((seed >> 33) as usize % sample.len().max(1)).copied().unwrap_or(f64::NAN)
    };
    let mut medians: Vec<f64> = (0..DRAWS).map(|_| median((0..sample.len()).map(|_| draw()).collect())).collect();
    medians.sort_by(f64::total_cmp);
    (medians[DRAWS / 40], medians[DRAWS - 1 - DRAWS / 40])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_missed_when_even_its_lower_end_is_above_the_limit() {
        let sample: Vec<f64> = (0..30).map(|at| 1.0 + f64::from(at) / 1000.0).collect();
        assert!(Figure::new("x", &sample, Unit::Ratio, 1.02).holds());
        assert!(Figure::new("x", &sample, Unit::Ratio, 1.012).holds(), "it may be by chance");
        assert!(!Figure::new("x", &sample, Unit::Ratio, 1.005).holds());
        assert!(!Figure::new("x", &[], Unit::Ratio, 1.0).holds(), "nothing was measured");
    }

    #[test]
    fn the_interval_is_around_the_median() {
        let sample: Vec<f64> = (0..101).map(f64::from).collect();
        let figure = Figure::new("x", &sample, Unit::Ratio, 1.0);
        assert_eq!(figure.median, 50.0);
        assert!(figure.low > 30.0 && figure.low < 50.0 && figure.high > 50.0 && figure.high < 70.0, "{figure}");
    }
}
