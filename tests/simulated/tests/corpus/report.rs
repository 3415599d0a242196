//! How often warnings are right, for each row of the catalogue and for all of them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use groma_rules::replace::catalogue::Catalogue;
use groma_rules::replace::rule::Order;

use crate::trial::{Planned, Trial};

/// What a plan was, compared with what really happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// A warning, and right: what is planned does not work and what is recommended does, or neither does and that is what it says.
    RightlyWarned,
    /// A warning, and wrong.
    WronglyWarned,
    /// No warning, though what is planned does not work.
    Missed,
    /// No warning, and none is needed.
    RightlySilent,
}

/// How often there was what.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tally {
    pub(crate) rightly_warned: usize,
    pub(crate) wrongly_warned: usize,
    pub(crate) missed: usize,
    pub(crate) rightly_silent: usize,
}

impl Tally {
    fn count(&mut self, verdict: Verdict) {
        *match verdict {
            Verdict::RightlyWarned => &mut self.rightly_warned,
            Verdict::WronglyWarned => &mut self.wrongly_warned,
            Verdict::Missed => &mut self.missed,
            Verdict::RightlySilent => &mut self.rightly_silent,
        } += 1;
    }

    /// How many of the warnings are right, in per cent.
    pub(crate) fn precision(&self) -> f64 {
        percentage(self.rightly_warned, self.wrongly_warned)
    }

    /// How much of what does not work is warned of, in per cent.
    pub(crate) fn recall(&self) -> f64 {
        percentage(self.rightly_warned, self.missed)
    }

    fn line(&self, name: &str) -> String {
        format!(
            "{name:<45} {:>4} {:>4} {:>4} {:>4} {:>9.1} {:>7.1}",
            self.rightly_warned,
            self.wrongly_warned,
            self.missed,
            self.rightly_silent,
            self.precision(),
            self.recall()
        )
    }
}

fn percentage(good: usize, bad: usize) -> f64 {
    if good + bad == 0 { 100.0 } else { 100.0 * good as f64 / (good + bad) as f64 }
}

/// What a plan of a trial was.
pub(crate) fn verdict(trial: &Trial, planned: &Planned) -> Verdict {
    let works = trial.outcome(planned.order).is_ok();
    let neither = trial.delete_first.is_err() && trial.create_first.is_err();
    let right = |order: Option<Order>| match order {
        Some(order) => !works && order != planned.order && trial.outcome(order).is_ok(),
        None => neither,
    };
    match planned.warnings.as_slice() {
        [] if works => Verdict::RightlySilent,
        [] => Verdict::Missed,
        warnings if warnings.iter().all(|warning| right(warning.order)) => Verdict::RightlyWarned,
        _ => Verdict::WronglyWarned,
    }
}

/// The rows that a plan says something about: those that warn, or else all that could have.
fn rows(trial: &Trial, planned: &Planned) -> Vec<String> {
    let catalogue = Catalogue::shared();
    let warned = planned.warnings.iter().filter_map(|warning| catalogue.find(&warning.rule));
    let mut rows: Vec<String> = warned.map(|entry| entry.row.id.to_owned()).collect();
    if rows.is_empty() {
        rows.extend(trial.scenario.row.clone());
    }
    if rows.is_empty() {
        let types = trial.scenario.targets.iter().filter_map(|target| target.rsplit('.').nth(1));
        rows.extend(types.flat_map(|ty| catalogue.about(ty)).map(|entry| entry.row.id.to_owned()));
    }
    rows.sort();
    rows.dedup();
    if rows.is_empty() { vec!["(not in the catalogue)".to_owned()] } else { rows }
}

/// Everything that was found out.
#[derive(Default)]
pub(crate) struct Report {
    pub(crate) fixtures: BTreeMap<String, Tally>,
    pub(crate) rows: BTreeMap<String, Tally>,
    pub(crate) on_fixtures: Tally,
    pub(crate) held_out: Tally,
    pub(crate) overall: Tally,
    /// Everything that is not right, in words.
    pub(crate) wrong: Vec<String>,
}

impl Report {
    pub(crate) fn of(trials: &[Trial]) -> Self {
        let mut report = Self::default();
        // Where the user has rules, it is not the catalogue that speaks.
        let trials = trials.iter().filter(|trial| trial.scenario.rules.is_none());
        for (trial, planned) in trials.flat_map(|trial| trial.plans.iter().map(move |planned| (trial, planned))) {
            let verdict = verdict(trial, planned);
            report.overall.count(verdict);
            for row in rows(trial, planned) {
                report.rows.entry(row).or_default().count(verdict);
            }
            match &trial.scenario.row {
                Some(row) => {
                    report.on_fixtures.count(verdict);
                    report.fixtures.entry(row.clone()).or_default().count(verdict);
                }
                None => report.held_out.count(verdict),
            }
            if matches!(verdict, Verdict::WronglyWarned | Verdict::Missed) {
                report.wrong.push(format!(
                    "{verdict:?}: {}, planned {}; warnings {:?}; delete first: {:?}; create first: {:?}",
                    trial.scenario.name,
                    planned.order.name(),
                    planned.warnings,
                    trial.delete_first,
                    trial.create_first
                ));
            }
        }
        report
    }

    pub(crate) fn text(&self) -> String {
        let mut text = format!(
            "{:<45} {:>4} {:>4} {:>4} {:>4} {:>9} {:>7}\n",
            "row of the catalogue", "TP", "FP", "FN", "TN", "precision", "recall"
        );
        let totals =
            [("its own fixtures", &self.on_fixtures), ("held out", &self.held_out), ("overall", &self.overall)];
        let rows = self.rows.iter().map(|(name, tally)| (name.as_str(), tally));
        for (name, tally) in rows.chain(totals) {
            let _ = writeln!(text, "{}", tally.line(name));
        }
        for line in &self.wrong {
            let _ = writeln!(text, "{line}");
        }
        text
    }
}
