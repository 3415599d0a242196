//! The page of the manual about what went wrong: each of its commands is run in the situation that its heading names.

use groma_testkit::servers::fakebyte::{Fakebyte, Kind};
use serde_json::json;

use crate::stage::Stage;
use crate::tickets::{body, does, listed_source, stack};
use crate::writers::{at_state, put_state, state};

const PAGE: &str = include_str!("../../../../docs/book/src/recovery.md");

/// The parts of the page: heading, and the lines of its commands.
fn parts() -> Vec<(&'static str, Vec<&'static str>)> {
    let parts = PAGE.split("\n## ").skip(1);
    let commands = |part: &'static str| -> Vec<&'static str> {
        let blocks = part.split("```sh\n").skip(1).filter_map(|block| block.split("\n```").next());
        blocks.flat_map(str::lines).collect()
    };
    parts.map(|part| (part.lines().next().unwrap_or_default(), commands(part))).collect()
}

/// Makes what a heading speaks about happen. What it is known by then.
fn happens(stage: &Stage, api: &Fakebyte, heading: &str) {
    let reconcile = || does(stage, &["stack", "reconcile", &format!("{}/app", stage.namespace)]);
    let change = |member: &str, value: serde_json::Value| {
        let mut wrong = state(stage, "app");
        wrong[member] = value;
        put_state(stage, "app", &wrong);
    };
    match heading.split(':').next().unwrap_or_default() {
        "StateLocked" => {
            let lease = stage.at("coordination.k8s.io/v1", "leases", "lock-tfstate-default-app");
            let held = json!({"spec": {"holderIdentity": "somebody-who-is-gone"}});
            stage.api.edit(&lease, &held);
        }
        "StateLost" => {
            stage.api.delete(&at_state(stage, "app"));
            stage.until("it is gone", || stage.api.find(&at_state(stage, "app")).is_none().then_some(()));
            reconcile();
            stage.says("app", "False", "StateLost");
        }
        "StateRegressed" => {
            change("serial", json!(0));
            reconcile();
            stage.says("app", "False", "StateRegressed");
        }
        "StateLineageMismatch" => {
            change("lineage", json!("11111111-2222-3333-4444-555555555555"));
            reconcile();
            stage.says("app", "False", "StateLineageMismatch");
        }
        "Orphans" => {
            api.create(Kind::Source, &body("by-hand"));
            reconcile();
            stage.until("a report", || stage.get("app")["status"]["orphans"]["id"].is_string().then_some(()));
        }
        _ => {}
    }
}

#[test]
fn what_the_manual_says_about_recovery_works() {
    let (stage, api) = (Stage::new(), Fakebyte::new());
    stack(&stage, &api, "app", &listed_source("it", "own"), json!({"orphanPolicy": "delete", "interval": "1h"}));
    stage.ready("app");
    let full = format!("{}/app", stage.namespace);
    let mut run = 0;
    for (heading, commands) in parts() {
        happens(&stage, &api, heading);
        for line in commands {
            let mut line = line.replace("team-a/app", &full).replace("LOCK-ID", "somebody-who-is-gone");
            if line.contains("orphans-…") {
                let report = stage.get("app")["status"]["orphans"]["id"].as_str().unwrap().to_owned();
                line = line.replace("orphans-…", &report);
            }
            let words: Vec<&str> = line.split_whitespace().collect();
            assert_eq!(words[0], "groma", "{heading}: {line}");
            does(&stage, &words[1..]);
            run += 1;
        }
        stage.until(&format!("{heading}: all is well again"), || {
            let stack = stage.ready("app");
            stack["status"]["pending"].is_null().then_some(())
        });
    }
    assert!(run >= 15, "{run}");
    stage.until("what was agreed to is gone", || (api.objects(Kind::Source).len() == 1).then_some(()));
    assert_eq!(api.written().iter().filter(|call| *call == "sources/create").count(), 1, "nothing was made twice");
}
