//! Orders of replacements at random: whatever users wish for, in whatever graph, the steps of the plan do not wait for each other, or it is
//! said which wishes exclude each other.
//!
//! `GROMA_PROPERTY_CASES` says how many random histories there are, `GROMA_PROPERTY_SEED` which one alone.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

mod common;

use common::{Given, Workspace};
use groma_engine::change::Action;
use groma_engine::plan::Plan;
use groma_model::address::AbsInstance;
use groma_rules::replace::rule::Order;
use groma_testkit::chance::Chance;
use groma_testkit::configuration::Configuration;
use groma_testkit::edit::{edit, grow};
use groma_testkit::workspace::Files;
use groma_testkit::writing::{Dialect, write};

/// How many random histories there are unless told otherwise.
const CASES: u64 = 150;

#[expect(clippy::disallowed_methods, reason = "wishes come in the environment")]
fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().expect("a number"))
}

fn place(workspace: &Workspace, old: &Files, new: &Files) {
    for path in old.0.keys() {
        std::fs::remove_file(workspace.dir.join(path)).unwrap();
    }
    for (path, text) in &new.0 {
        std::fs::create_dir_all(workspace.dir.join(path).parent().unwrap()).unwrap();
        std::fs::write(workspace.dir.join(path), text).unwrap();
    }
}

/// About half of all objects.
fn some_objects(workspace: &Workspace, chance: &mut Chance) -> Vec<AbsInstance> {
    let resources = workspace.state.resources.iter();
    let instances =
        resources.flat_map(|(address, state)| state.instances.keys().map(|key| address.instance(key.clone())));
    instances.filter(|_| chance.one_in(2)).collect()
}

/// A wish for about half of what is replaced.
fn wish(plan: &Plan, chance: &mut Chance, workspace: &mut Workspace) -> usize {
    let orders = &mut workspace.options.replacement.orders;
    orders.clear();
    let replaced = plan.changes.iter().filter(|change| {
        matches!(change.action, Action::DeleteThenCreate | Action::CreateThenDelete) && change.deposed.is_none()
    });
    for change in replaced {
        if chance.one_in(2) {
            let order = if chance.one_in(2) { Order::DeleteFirst } else { Order::CreateFirst };
            orders.insert(change.address.clone(), order);
        }
    }
    orders.len()
}

/// What came of a history.
#[derive(Default)]
struct Tally {
    wishes: usize,
    excluded: usize,
    applied: usize,
}

async fn history(seed: u64, tally: &mut Tally) -> Result<(), String> {
    let mut chance = Chance::new(seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(7));
    let dir = tempfile::tempdir().unwrap();
    let mut workspace = Workspace::new(dir.path(), Given::built_in(dir.path()));
    let mut configuration = Configuration::default();
    let mut files = Files::default();
    for at in 0..2 + chance.below(3) {
        configuration.moved.clear();
        for _ in 0..if at == 0 { 6 + chance.below(12) } else { 3 + chance.below(6) } {
            let seed = chance.number();
            if at == 0 { grow(&mut configuration, seed) } else { edit(&mut configuration, seed) }
        }
        let new = write(&configuration, Dialect::Data);
        place(&workspace, &files, &new);
        files = new;
        workspace.options.replacement.orders.clear();
        workspace.options.replace = some_objects(&workspace, &mut chance);
        let (plan, found) = workspace.try_plan().await;
        let Some(plan) = plan.filter(|_| !found.has_errors()) else { return Ok(()) };
        tally.wishes += wish(&plan, &mut chance, &mut workspace);
        let (_, found) = workspace.try_plan().await;
        if found.iter().any(|found| found.summary.contains("GR2001")) {
            tally.excluded += 1;
            workspace.options.replacement.orders.clear();
        } else if found.has_errors() {
            return Err(format!("{found:?}\n{:?}\n{:?}", workspace.options.replacement.orders, common::summary(&plan)));
        }
        workspace.apply().await;
        tally.applied += 1;
        workspace.options.replacement.orders.clear();
        workspace.options.replace.clear();
        let again = workspace.plan().await;
        if !again.is_empty() {
            return Err(format!("it is not done: {:?}", common::summary(&again)));
        }
    }
    Ok(())
}

#[test]
fn every_order_can_be_carried_out() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let mut tally = Tally::default();
    let seeds = match number("GROMA_PROPERTY_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("GROMA_PROPERTY_CASES").unwrap_or(CASES),
    };
    let all = seeds.end - seeds.start;
    for seed in seeds {
        let came = runtime.block_on(history(seed, &mut tally));
        came.unwrap_or_else(|problem| panic!("GROMA_PROPERTY_SEED={seed}: {problem}"));
    }
    println!("{} wishes, {} steps applied, {} excluded each other", tally.wishes, tally.applied, tally.excluded);
    assert!(all == 1 || (tally.wishes > 0 && tally.excluded > 0 && tally.applied > 0), "nothing was tried");
}
