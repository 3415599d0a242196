//! Whoever has no rules, or rules that have nothing to say, or does not want to hear them, gets the plans that there always were: byte by byte, with
//! the same messages. What is shown of a plan is made of those two alone.
//!
//! `GROMA_PROPERTY_CASES` says how many random histories there are, `GROMA_PROPERTY_SEED` which one alone.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

mod common;

use common::{Given, Workspace};
use groma_engine::plan_file;
use groma_engine::replacement::{ReplaceOptions, Replacement};
use groma_model::address::AbsInstance;
use groma_rules::replace::rule::Mode;
use groma_testkit::chance::Chance;
use groma_testkit::configuration::Configuration;
use groma_testkit::edit::{edit, grow};
use groma_testkit::workspace::Files;
use groma_testkit::writing::{Dialect, write};

/// How many random histories there are unless told otherwise.
const CASES: u64 = 70;
/// How many plans are compared at least.
const PLANS: usize = 200;

/// Rules that are about other types, other objects, or other causes.
const SILENT: &str = r#"
replace_rule "others" {
  resource = "sim_box"
  behavior = "auto"
}

replace_rule "elsewhere" {
  resource = "terraform_data"
  target   = ["terraform_data.nobody_has_this_name"]
  order    = "create_first"
  behavior = "auto"
}

replace_rule "never" {
  resource = "terraform_data"
  provider = "hashicorp/other"
  behavior = "auto"
}
"#;

/// Without rules; with the catalogue, which knows nothing about these types; and with rules that have nothing to say.
const WAYS: [(Mode, &str); 5] =
    [(Mode::Off, ""), (Mode::Warn, ""), (Mode::Auto, ""), (Mode::Auto, SILENT), (Mode::Off, SILENT)];

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

fn some_objects(workspace: &Workspace, chance: &mut Chance) -> Vec<AbsInstance> {
    let resources = workspace.state.resources.iter();
    let instances =
        resources.flat_map(|(address, state)| state.instances.keys().map(|key| address.instance(key.clone())));
    instances.filter(|_| chance.one_in(3)).collect()
}

/// A plan as bytes and its messages, without what the user said and the note of which rules there were, which only those have who hear them.
async fn planned(workspace: &mut Workspace, (mode, rules): (Mode, &str)) -> Option<(Vec<u8>, String, usize)> {
    std::fs::write(workspace.dir.join("order.groma.hcl"), rules).unwrap();
    workspace.options.replacement.mode = mode;
    let (plan, found) = workspace.try_plan().await;
    let mut plan = plan?;
    assert!(plan.replacement.decisions.is_empty(), "{:?}", plan.replacement);
    if mode == Mode::Off {
        assert_eq!(plan.replacement, Replacement::default());
    } else {
        assert!(plan.replacement.rules.contains("\"catalogue\""), "{:?}", plan.replacement);
    }
    plan.replacement = Replacement::default();
    plan.options.replacement = ReplaceOptions::default();
    let replaced = plan.changes.iter().filter(|change| change.action.is_replace()).count();
    Some((plan_file::encode(&plan).unwrap(), format!("{found:?}"), replaced))
}

/// How many plans were compared, and how many replacements were in them.
#[derive(Default)]
struct Tally {
    plans: usize,
    replaced: usize,
}

async fn history(seed: u64, tally: &mut Tally) -> Result<(), String> {
    let mut chance = Chance::new(seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(74));
    let dir = tempfile::tempdir().unwrap();
    let mut workspace = Workspace::new(dir.path(), Given::built_in(dir.path()));
    let mut configuration = Configuration::default();
    let mut files = Files::default();
    for at in 0..3 {
        configuration.moved.clear();
        for _ in 0..if at == 0 { 6 + chance.below(8) } else { 3 + chance.below(6) } {
            let seed = chance.number();
            if at == 0 { grow(&mut configuration, seed) } else { edit(&mut configuration, seed) }
        }
        let new = write(&configuration, Dialect::Data);
        place(&workspace, &files, &new);
        files = new;
        workspace.options.replace = some_objects(&workspace, &mut chance);
        let Some(plain) = planned(&mut workspace, WAYS[0]).await else { return Ok(()) };
        for way in &WAYS[1..] {
            let Some(other) = planned(&mut workspace, *way).await else { return Err(format!("no plan with {way:?}")) };
            if other != plain {
                return Err(format!("another plan with {way:?}: {} and {}", plain.1, other.1));
            }
        }
        tally.plans += 1;
        tally.replaced += plain.2;
        workspace.apply().await;
        workspace.options.replace.clear();
    }
    Ok(())
}

#[test]
fn who_hears_no_rule_sees_no_difference() {
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
    println!("{} plans with {} replacements", tally.plans, tally.replaced);
    assert!(all < CASES || (tally.plans >= PLANS && tally.replaced > 0), "only {} plans", tally.plans);
}
