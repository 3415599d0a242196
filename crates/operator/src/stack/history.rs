//! What is kept of runs that are over, and what is not.

use std::collections::BTreeSet;

use crate::api::run::{Phase, Run};
use crate::api::stack::{History, StackStatus};

/// How many are kept of each kind, if nobody says otherwise.
const USUAL: u32 = 5;

/// Runs that nobody needs any more, oldest first. The last one is always needed: the status of its Stack follows from it.
pub fn surplus<'r>(runs: &'r [Run], history: &History) -> Vec<&'r Run> {
    let Some((_, earlier)) = runs.split_last() else { return Vec::new() };
    let (mut succeeded, mut others) = (history.succeeded.unwrap_or(USUAL), history.failed.unwrap_or(USUAL));
    let mut found = Vec::new();
    for run in earlier.iter().rev() {
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

/// The bundles that somebody may still need: those of runs that are kept, and of what was carried out last.
pub fn needed_bundles(runs: &[Run], forgotten: &[&Run], status: &StackStatus) -> BTreeSet<String> {
    let is_forgotten = |run: &Run| forgotten.iter().any(|gone| gone.metadata.name == run.metadata.name);
    // A run that is over needs its bundle no more, but the last one may be tried again with it.
    let of_runs = runs.iter().enumerate().filter(|(at, run)| {
        let phase = run.status.as_ref().map(|status| status.phase).unwrap_or_default();
        !is_forgotten(run) && (!phase.is_over() || at + 1 == runs.len())
    });
    let of_runs = of_runs.map(|(_, run)| run.spec.bundle.clone());
    of_runs.chain(status.applied.iter().map(|applied| applied.bundle.clone())).collect()
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
        assert_eq!(numbers(&surplus(&runs, &history)), [1, 2, 3]);
        assert_eq!(numbers(&surplus(&runs, &History { succeeded: Some(0), failed: Some(0) })), [1, 2, 3, 4, 5]);
        assert!(surplus(&runs, &History::default()).is_empty());
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
}
