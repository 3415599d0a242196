//! Whether what the catalogue says about the order of replacements is true. Every scenario is carried out in both orders, in clouds that
//! refuse what real ones refuse; then it is planned with the catalogue, and the warnings are compared with what came of it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

mod layers;
mod report;
mod runner;
mod scenario;
mod trial;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{LazyLock, Mutex};

use groma_rules::replace::catalogue::Catalogue;

use report::{Report, Verdict, verdict};
use runner::Runner;
use scenario::Scenario;
use trial::{Rescue, Trial};

/// So many scenarios are tried at a time, each in a world of its own.
const WORKERS: usize = 3;

/// Everything is tried once, for all tests.
static TRIALS: LazyLock<Vec<Trial>> = LazyLock::new(|| {
    let all = scenario::all();
    let (next, done) = (Mutex::new(all.iter().enumerate()), Mutex::new(BTreeMap::new()));
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| work(&next, &done));
        }
    });
    done.into_inner().unwrap().into_values().collect()
});

fn work<'s>(next: &Mutex<impl Iterator<Item = (usize, &'s Scenario)>>, done: &Mutex<BTreeMap<usize, Trial>>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut runner = Runner::new();
        loop {
            let taken = next.lock().unwrap().next();
            let Some((at, scenario)) = taken else { break };
            let trial = trial::tried(&mut runner, scenario).await;
            done.lock().unwrap().insert(at, trial);
        }
        runner.finish().await;
    });
}

/// At least so many of all warnings must be right, in per cent.
const PRECISION: f64 = 80.0;

#[test]
fn warnings_are_right() {
    let report = Report::of(&TRIALS);
    println!("{}", report.text());
    assert!(report.overall.precision() >= PRECISION, "{}", report.text());
    assert!(report.held_out.precision() >= PRECISION, "{}", report.text());
}

#[test]
fn every_row_is_right_about_its_own_fixtures() {
    let report = Report::of(&TRIALS);
    let rows: BTreeSet<&str> = Catalogue::shared().entries().iter().map(|entry| entry.row.id).collect();
    let mut wrong = Vec::new();
    for row in rows {
        let tally = report.fixtures.get(row).copied().unwrap_or_default();
        if tally.wrongly_warned > 0 || tally.missed > 0 || tally.rightly_warned == 0 || tally.rightly_silent == 0 {
            wrong.push(format!("{row}: {tally:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}\n{}", report.text());
}

#[test]
fn what_fails_without_rules_works_with_them() {
    let mut unsaved = Vec::new();
    let mut saved: BTreeSet<&str> = BTreeSet::new();
    for trial in TRIALS.iter() {
        for planned in &trial.plans {
            let (Some(rescue), Verdict::RightlyWarned) = (&planned.rescue, verdict(trial, planned)) else { continue };
            match rescue {
                Rescue::Nobody(problem) => unsaved.push(format!("{}: {problem}", trial.scenario.name)),
                _ => saved.extend(trial.scenario.row.as_deref()),
            }
        }
    }
    assert!(unsaved.is_empty(), "{unsaved:#?}");
    for entry in Catalogue::shared().entries() {
        assert!(saved.contains(entry.row.id), "nothing was saved by {}", entry.row.id);
    }
}

#[test]
fn automatic_mode_breaks_nothing() {
    for trial in TRIALS.iter() {
        for planned in &trial.plans {
            let before = trial.outcome(planned.order);
            let after = trial.outcome(planned.automatic);
            assert!(before.is_err() || after.is_ok(), "{}: {after:?}", trial.scenario.name);
        }
    }
}

#[test]
fn clouds_have_what_the_tables_name() {
    let mut wrong = Vec::new();
    for provider in scenario::all().into_iter().map(|scenario| scenario.provider).collect::<BTreeSet<_>>() {
        let text = std::fs::read_to_string(runner::cloud_file(&provider)).unwrap();
        let schema = groma_simulated::description::Description::parse(&text).unwrap().schema();
        for (ty, schema) in &schema.resources {
            let found = Catalogue::shared().check_against(ty, schema.get().unwrap());
            wrong.extend(found.iter().map(|problem| format!("{ty}: {} {:?}", problem.detail, problem.address)));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn both_protocols_plan_the_same() {
    let disparities: Vec<&String> = TRIALS.iter().flat_map(|trial| &trial.disparities).collect();
    assert!(disparities.is_empty(), "{disparities:#?}");
}

/// The rules of the user in a scenario with boxes, with what came of them.
fn rules_of_boxes(name: &str) -> Vec<BTreeMap<String, String>> {
    let trial = TRIALS.iter().find(|trial| trial.scenario.name == name).unwrap();
    let mut all = Vec::new();
    for planned in &trial.plans {
        let shown: serde_json::Value = serde_json::from_str(&planned.shown).unwrap();
        for change in shown["resource_changes"].as_array().unwrap().iter().filter(|one| one["type"] == "sim_box") {
            let told = change["groma"].to_string();
            assert!(!told.contains("hunter2") && !told.contains("never stored"), "{told}");
            let rules = change["groma"]["replace_order"]["rules"].as_array().unwrap().iter();
            let text = |rule: &serde_json::Value, name: &str| rule[name].as_str().unwrap().to_owned();
            all.push(rules.map(|rule| (text(rule, "id"), text(rule, "result"))).collect());
        }
    }
    all
}

/// Without this, what the protocols agree about could be nothing.
#[test]
fn everything_that_a_box_can_have_is_judged_and_no_secret_is_told() {
    let expected = |results: &[(&str, &str)]| -> BTreeMap<String, String> {
        results.iter().map(|(rule, result)| ((*rule).to_owned(), (*result).to_owned())).collect()
    };
    let everything = expected(&[("box-everything", "true"), ("box-in-use", "true"), ("box-name", "true")]);
    assert_eq!(rules_of_boxes("sim-box-with-everything"), vec![everything; 4]);
    let not_known = expected(&[
        ("hidden", "true"),
        ("looks-at-what-is-hidden", "error"),
        ("name-again", "unknown"),
        ("not-known", "unknown"),
    ]);
    assert_eq!(rules_of_boxes("sim-box-not-known"), vec![not_known; 2]);
}
