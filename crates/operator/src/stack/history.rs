//! What is kept of runs that are over, and what is not.

use std::collections::BTreeSet;

use crate::api::run::{Action, Phase, Run};
use crate::api::stack::{History, StackStatus};

/// How many are kept of each kind, if nobody says otherwise.
const USUAL: u32 = 5;

/// Runs that nobody needs any more, oldest first. The last one is always needed: the status of its Stack follows from it.
pub fn surplus<'r>(runs: &'r [Run], history: &History, status: &StackStatus) -> Vec<&'r Run> {
    let Some((_, earlier)) = runs.split_last() else { return Vec::new() };
    let unfinished = unfinished(runs, status).map(|run| run.spec.number);
    let (mut succeeded, mut others) = (history.succeeded.unwrap_or(USUAL), history.failed.unwrap_or(USUAL));
    let mut found = Vec::new();
    for run in earlier.iter().rev().filter(|run| Some(run.spec.number) != unfinished) {
        let phase = run.status.as_ref().map(|status| status.phase).unwrap_or_default();
        let room = match phase {
            Phase::Succeeded => &mut succeeded,
            phase if phase.is_over() => &mut others,
            _ => continue,
        };
        match room.checked_sub(1) {
            Some(left) => *room = left,
            None => found.push(run),
        }
    }
    found.reverse();
    found
}

/// The newest run that began to carry something out and did not get to the end, if nothing was carried out since. Nobody else may know
/// what it has made.
pub fn unfinished<'r>(runs: &'r [Run], status: &StackStatus) -> Option<&'r Run> {
    let run = runs.iter().rev().find(|run| run.spec.action == Action::Apply && has_begun(run))?;
    let number = |name: &str| name.rsplit_once('-').and_then(|(_, number)| number.parse().ok());
    let applied = status.applied.as_ref().map_or(0, |applied| number(&applied.run).unwrap_or(u64::MAX));
    (run.spec.number > applied).then_some(run)
}

/// Whether a run has begun to carry its plan out.
pub fn has_begun(run: &Run) -> bool {
    let phases = run.status.as_ref().map(|status| status.phases.as_slice()).unwrap_or_default();
    phases.iter().any(|time| time.phase == Phase::Applying)
}

/// The bundles that somebody may still need: those of runs that are kept, and of what was carried out last.
pub fn needed_bundles(runs: &[Run], forgotten: &[&Run], status: &StackStatus) -> BTreeSet<String> {
    let is_forgotten = |run: &Run| forgotten.iter().any(|gone| gone.metadata.name == run.metadata.name);
    // A run that is over needs its bundle no more, but the last one may be tried again with it.
    let of_runs = runs.iter().enumerate().filter(|(at, run)| {
        let phase = run.status.as_ref().map(|status| status.phase).unwrap_or_default();
        !is_forgotten(run) && (!phase.is_over() || at + 1 == runs.len())
    });
    let of_runs = of_runs.map(|(_, run)| run).chain(unfinished(runs, status)).map(|run| run.spec.bundle.clone());
    of_runs.chain(status.applied.iter().map(|applied| applied.bundle.clone())).collect()
}

/// The bundle of what was carried out before, when its Run is forgotten already and something newer was carried out now.
pub fn replaced_bundle<'s>(
    runs: &[Run],
    forgotten: &[&Run],
    (before, now): (Option<&'s StackStatus>, &StackStatus),
) -> Option<&'s str> {
    let earlier = before?.applied.as_ref()?.bundle.as_str();
    let is_kept = |run: &Run| forgotten.iter().all(|gone| gone.metadata.name != run.metadata.name);
    let is_of_a_run = runs.iter().any(|run| is_kept(run) && run.spec.bundle == earlier);
    let is_replaced = now.applied.as_ref().is_some_and(|applied| applied.bundle != earlier);
    (is_replaced && !is_of_a_run).then_some(earlier)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn run(number: u64, phase: &str) -> Run {
        serde_json::from_value(json!({
            "apiVersion": "groma.dev/v1alpha1", "kind": "Run", "metadata": {"name": format!("app-{number}")},
            "spec": {
                "stack": "app", "number": number, "action": "apply", "bundle": format!("b{number}"), "about": {},
                "engine": "native", "executor": "inProcess", "approval": {},
                "limits": {"init": "1m", "plan": "1m", "apply": "1m"},
            },
            "status": {"phase": phase},
        }))
        .unwrap()
    }

    fn numbers(runs: &[&Run]) -> Vec<u64> {
        runs.iter().map(|run| run.spec.number).collect()
    }

    #[test]
    fn of_each_kind_the_newest_are_kept() {
        let runs = [
            run(1, "Succeeded"),
            run(2, "Failed"),
            run(3, "Succeeded"),
            run(4, "Superseded"),
            run(5, "Succeeded"),
            run(6, "Failed"),
        ];
        let history = History { succeeded: Some(1), failed: Some(1) };
        let status = StackStatus::default();
        assert_eq!(numbers(&surplus(&runs, &history, &status)), [1, 2, 3]);
        let none = History { succeeded: Some(0), failed: Some(0) };
        assert_eq!(numbers(&surplus(&runs, &none, &status)), [1, 2, 3, 4, 5]);
        assert!(surplus(&runs, &History::default(), &status).is_empty());
    }

    #[test]
    fn who_may_have_made_something_is_kept_until_something_is_carried_out() {
        let mut runs = [run(1, "Succeeded"), run(2, "Failed"), run(3, "Failed"), run(4, "Failed")];
        let phases = json!([{"phase": "Applying", "began": "2026-01-01T00:00:00Z"}]);
        runs[1].status.as_mut().unwrap().phases = serde_json::from_value(phases).unwrap();
        let applied = |number: u64| -> StackStatus {
            let bundle = format!("b{number}");
            serde_json::from_value(json!({
                "applied": {"run": format!("app-{number}"), "about": {}, "bundle": bundle, "at": "2026-01-01T00:00:00Z"},
            }))
            .unwrap()
        };
        let none = History { succeeded: Some(0), failed: Some(0) };
        let forgotten = surplus(&runs, &none, &applied(1));
        assert_eq!(numbers(&forgotten), [1, 3]);
        let needed: Vec<String> = needed_bundles(&runs, &forgotten, &applied(1)).into_iter().collect();
        assert_eq!(needed, ["b1", "b2", "b4"]);
        assert_eq!(numbers(&surplus(&runs, &none, &applied(3))), [1, 2, 3]);
    }

    #[test]
    fn bundles_are_kept_while_somebody_may_need_them() {
        let runs = [run(1, "Succeeded"), run(2, "Failed"), run(3, "Planning")];
        let status: StackStatus = serde_json::from_value(json!({
            "applied": {"run": "app-1", "about": {}, "bundle": "b1", "at": "2026-01-01T00:00:00Z"},
        }))
        .unwrap();
        let needed: Vec<String> = needed_bundles(&runs, &[], &status).into_iter().collect();
        assert_eq!(needed, ["b1", "b3"]);
    }

    #[test]
    fn the_bundle_of_what_was_carried_out_goes_when_its_run_is_gone_and_something_newer_was() {
        let applied = |bundle: &str| -> StackStatus {
            let applied = json!({"run": "app-1", "about": {}, "bundle": bundle, "at": "2026-01-01T00:00:00Z"});
            serde_json::from_value(json!({ "applied": applied })).unwrap()
        };
        let (before, now) = (applied("b1"), applied("b3"));
        let runs = [run(2, "Failed"), run(3, "Succeeded")];
        assert_eq!(replaced_bundle(&runs, &[], (Some(&before), &now)), Some("b1"));
        assert_eq!(replaced_bundle(&runs, &[], (Some(&before), &before)), None);
        assert_eq!(replaced_bundle(&runs, &[], (Some(&before), &StackStatus::default())), None);
        assert_eq!(replaced_bundle(&runs, &[], (None, &now)), None);
        // Its Run is still there, and takes it along later.
        let all = [run(1, "Succeeded"), run(3, "Succeeded")];
        assert_eq!(replaced_bundle(&all, &[], (Some(&before), &now)), None);
        assert_eq!(replaced_bundle(&all, &[&all[0]], (Some(&before), &now)), Some("b1"));
    }
}
