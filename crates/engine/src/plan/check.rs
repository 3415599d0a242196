//! Whether a plan keeps its promises. Runs on every plan of a debug build, so that every test is a test of this, too.

use std::collections::BTreeSet;

use super::{Mode, Plan};
use crate::change::{Action, Change};
use crate::execution::Step;

/// What is wrong with a plan. Empty for a sound one.
pub fn problems(plan: &Plan) -> Vec<String> {
    let mut found = Vec::new();
    order(plan, &mut found);
    for change in &plan.changes {
        values(change, &mut found);
    }
    if plan.mode != Mode::RefreshOnly && !plan.errored {
        execution(plan, &mut found);
    }
    found
}

/// By address, each object once.
fn order(plan: &Plan, found: &mut Vec<String>) {
    for changes in [&plan.changes, &plan.drift] {
        for pair in changes.windows(2) {
            let place = |change: &Change| (change.address.clone(), change.deposed.clone());
            if place(&pair[0]) >= place(&pair[1]) {
                found.push(format!("{} comes before {}", pair[0].address, pair[1].address));
            }
        }
    }
}

/// What is there before and after an action is what the action says.
fn values(change: &Change, found: &mut Vec<String>) {
    let (before, after) = (!change.before.is_null(), !change.after.is_null());
    let expected = match change.action {
        Action::Create | Action::Read => (false, true),
        Action::Delete | Action::Forget => (true, false),
        // What had been put aside and is gone is told, and nothing is done about it.
        Action::NoOp if change.deposed.is_some() => (false, false),
        Action::NoOp | Action::Update => (true, true),
        Action::DeleteThenCreate | Action::CreateThenDelete | Action::ForgetThenCreate => (true, true),
    };
    let mut wrong = |what: &str| found.push(format!("{}: {what} ({:?})", change.address, change.action));
    if (before, after) != expected {
        wrong("the objects before and after do not fit the action");
    }
    if !change.before.is_wholly_known() {
        wrong("what there is is not known");
    }
    if change.action == Action::NoOp && change.before != change.after {
        wrong("nothing is done, and something changes");
    }
    if change.action == Action::Update && change.before == change.after {
        wrong("something is done, and nothing changes");
    }
    if change.deposed.is_some() && !matches!(change.action, Action::Delete | Action::Forget | Action::NoOp) {
        wrong("what was put aside is made again");
    }
    if !change.replace_paths.is_empty() && !change.action.is_replace() {
        wrong("attributes force a replacement that is not planned");
    }
}

/// Every change that does something has its steps, and all steps have an order.
fn execution(plan: &Plan, found: &mut Vec<String>) {
    let (mut made, mut removed) = (BTreeSet::new(), BTreeSet::new());
    for step in &plan.execution.steps {
        match step {
            Step::Make(at) => _ = made.insert(*at),
            Step::Remove(at) => _ = removed.insert(*at),
            Step::Declare(_) | Step::Gate => {}
        }
    }
    for (at, change) in plan.changes.iter().enumerate() {
        let makes = change.makes();
        let removes = change.action.deletes() || matches!(change.action, Action::Forget | Action::ForgetThenCreate);
        if makes != made.contains(&at) || removes != removed.contains(&at) {
            found.push(format!("{}: the steps do not fit the action {:?}", change.address, change.action));
        }
        if (change.action == Action::CreateThenDelete) != plan.execution.deposed_as.contains_key(&at) {
            found.push(format!("{}: no key to put the old object aside under", change.address));
        }
    }
    if !plan.execution.is_acyclic() {
        found.push("steps wait for each other".to_owned());
    }
}
