//! What comes of a commit while another one is at work, and of one that cannot be carried out.

use std::collections::BTreeSet;
use std::process::Command;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::lake::{Lake, NAME, ROOT, planned};
use crate::sources::{BROKEN, MAIN, ONE, applied, given, revision};
use crate::stage::{Stage, message};

/// S-102: another commit comes while the one before is being planned. That one is superseded and has changed nothing; the other one is carried out, and
/// nobody holds the state.
#[test]
fn s_102_a_commit_comes_while_another_is_planned() {
    let mut lake = Lake::pushed(&json!({}));
    let sources = format!("{ROOT}/sources.tf");
    lake.airbyte.delay(Some("sources/get"), Duration::from_secs(15));
    let before = lake.push_edit(&sources, "2024-01-01", "2025-01-01");
    let newest = || lake.stage.runs(NAME).pop().unwrap();
    lake.stage.until("the first one is planned", || {
        let is_asked =
            lake.airbyte.log().iter().any(|call| !call.is_write()) || newest()["status"]["phase"] == "Planning";
        (newest()["spec"]["number"].as_u64()? > before && is_asked).then_some(())
    });
    let first = newest()["metadata"]["name"].clone();
    lake.push_edit(&sources, "2025-01-01", "2026-01-01");
    lake.stage.until("the first one makes room", || {
        let runs = lake.stage.runs(NAME);
        let first = runs.iter().find(|run| run["metadata"]["name"] == first)?;
        (first["status"]["phase"] == "Superseded").then_some(())
    });
    lake.airbyte.delay(Some("sources/get"), Duration::ZERO);
    let run = lake.applied(before);
    assert_eq!(planned(&run), [0, 2, 0]);
    let writes = lake.airbyte.writes();
    let paths: Vec<_> = writes.iter().map(|call| call.path.as_str()).collect();
    assert_eq!(paths, ["sources/update", "sources/update"]);
    for call in &writes {
        let begins = &call.body["connectionConfiguration"]["start_date"];
        assert!(begins.as_str().unwrap().starts_with("2026"), "{call:?}");
    }
    let lock = lake.stage.at("coordination.k8s.io/v1", "leases", &format!("lock-tfstate-default-{NAME}"));
    let holder = lake.stage.api.find(&lock).map(|lease| lease["spec"]["holderIdentity"].clone()).unwrap_or_default();
    assert!(holder.is_null() || holder == "", "{holder}");
}

fn time(value: &Value) -> Timestamp {
    value.as_str().unwrap().parse().unwrap()
}

/// When the last Run of a Stack was over.
fn ended(stage: &Stage) -> Timestamp {
    let run = stage.runs(crate::sources::NAME).pop().unwrap();
    let phases = run["status"]["phases"].as_array().unwrap();
    time(&phases.last().unwrap()["began"])
}

/// How many runs failed in a row, and how long it is waited then, in seconds.
#[track_caller]
fn pause(stage: &Stage, count: u64) -> i64 {
    let stack = stage.until(&format!("{count} failures"), || {
        let stack = stage.get(crate::sources::NAME);
        let failures = &stack["status"]["failures"];
        (failures["count"] == count && !failures["retryAt"].is_null()).then_some(stack)
    });
    let pause = time(&stack["status"]["failures"]["retryAt"]).duration_since(ended(stage));
    // Ends of runs are a few milliseconds away from their last phase.
    i64::try_from((pause.as_millis() + 500) / 1000).unwrap()
}

/// S-105: what gives the same again is tried ever less often. Something newer is tried at once, and is counted anew.
#[test]
fn s_105_what_fails_again_is_tried_ever_less_often() {
    let retry = json!({"retry": {"interval": "2s", "maxInterval": "10m"}});
    let (stage, _server, repository, first) = given(&[(MAIN, ONE)], &retry);
    repository.commit("main", "by mistake", &[(MAIN, BROKEN)]);
    let pauses: Vec<_> = (1..=3).map(|count| pause(&stage, count)).collect();
    assert_eq!(pauses, [2, 4, 8]);
    assert_eq!(stage.get(crate::sources::NAME)["status"]["applied"]["revision"], revision(&first));
    let begun = stage.runs(crate::sources::NAME);
    let reasons: Vec<_> = begun[1..].iter().map(|run| run["spec"]["causes"][0]["reason"].clone()).collect();
    assert_eq!(reasons[..3], ["SourceChanged", "Retry", "Retry"].map(Value::from));

    repository.commit("main", "another mistake", &[(MAIN, &BROKEN.replace("= =", "= = ="))]);
    assert_eq!(pause(&stage, 1), 2, "it begins anew");
    let mended = repository.commit("main", "mended", &[(MAIN, &ONE.replace("\"one\"\n", "\"two\"\n"))]);
    let stack = applied(&stage, &revision(&mended));
    assert_eq!(stack["status"]["failures"], Value::Null);
}

/// S-106: an argument that nobody knows is pushed. The Stack says what `groma validate` says where it was written, and nobody else was asked for that.
#[test]
fn s_106_what_is_wrong_is_told_as_validate_tells_it() {
    let mut lake = Lake::pushed(&json!({"retry": {"interval": "1h"}}));
    lake.push_edit(&format!("{ROOT}/sources.tf"), "id_member = ", "id_memebr = ");
    let stack = lake.stage.says(NAME, "False", "InvalidConfiguration");
    assert!(message(&stack).contains("sources.tf:") && message(&stack).contains("id_memebr"), "{}", message(&stack));
    assert!(lake.airbyte.log().is_empty(), "{:?}", lake.airbyte.log());

    let folder = lake.checkout();
    let root = folder.path().join(ROOT);
    let told =
        Command::new(env!("CARGO_BIN_EXE_groma")).args(["validate", "-json"]).current_dir(root).output().unwrap();
    let told: Value = serde_json::from_slice(&told.stdout).unwrap();
    assert_eq!(told["valid"], false, "{told}");
    let line = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let here = told["diagnostics"].as_array().unwrap().iter().map(|one| {
        let file = line(&one["range"]["filename"]);
        let name = file.rsplit('/').next().unwrap_or_default();
        (line(&one["summary"]), line(&one["detail"]), format!("{name}:{}", one["range"]["start"]["line"]))
    });
    let here: BTreeSet<_> = here.collect();
    let run = lake.stage.runs(NAME).pop().unwrap();
    let there = run["status"]["diagnostics"].as_array().unwrap().iter().map(|one| {
        let at = line(&one["at"]);
        let name = at.rsplit('/').next().unwrap_or_default().to_owned();
        (line(&one["summary"]), line(&one["detail"]), name)
    });
    let there: BTreeSet<_> = there.collect();
    assert_eq!(there, here);
    assert!(!here.is_empty());
}
