//! What fails around the lake while it is being filled: the operator, other operators, and what is pushed.

use groma_testkit::servers::fakebyte::Kind;
use serde_json::{Value, json};

use crate::lake::{Lake, NAME, ROOT, planned};
use crate::stage::{condition, message};

/// How many objects there are of every name. None may be there twice.
#[track_caller]
fn nothing_is_there_twice(lake: &Lake) {
    for kind in Kind::ALL {
        let mut names: Vec<_> = lake.airbyte.objects(kind).iter().map(|object| object["name"].to_string()).collect();
        let all = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all, "{kind:?}: {names:?}");
    }
    assert_eq!(lake.counts(), [2, 1, 2]);
    let made = lake.airbyte.writes().into_iter().filter(|call| call.path.ends_with("/create") && call.status < 300);
    assert_eq!(made.count(), 5);
}

/// A lake whose sources are to be changed, which does not go for now, and an operator that tries.
fn in_the_middle(lease: bool) -> (Lake, u64) {
    let mut lake = Lake::idle(&[]);
    if lease {
        lake.stage.lease_in_own_namespace();
    }
    lake.stage.start();
    lake.write_stack(&json!({}));
    lake.stage.ready(NAME);
    lake.airbyte.fail("sources/update", 503, u32::MAX);
    let before = lake.push_edit(&format!("{ROOT}/sources.tf"), "2024-01-01", "2025-01-01");
    lake.stage.until("it is in the middle", || {
        (lake.airbyte.written().iter().filter(|path| *path == "sources/update").count() >= 2).then_some(())
    });
    (lake, before)
}

/// What was to be changed is, once, and nobody holds the state any more.
#[track_caller]
fn got_there(lake: &Lake) {
    nothing_is_there_twice(lake);
    let begins = |source: &Value| source["connectionConfiguration"]["start_date"].as_str().unwrap().starts_with("2025");
    assert!(lake.airbyte.objects(Kind::Source).iter().all(begins));
    let done = lake.airbyte.writes().into_iter().filter(|call| call.path == "sources/update" && call.status < 300);
    assert_eq!(done.count(), 2);
    let lock = lake.stage.at("coordination.k8s.io/v1", "leases", &format!("lock-tfstate-default-{NAME}"));
    let holder = lake.stage.api.find(&lock).map(|lease| lease["spec"]["holderIdentity"].clone()).unwrap_or_default();
    assert!(holder.is_null() || holder == "", "{holder}");
}

/// S-501: the operator is killed while it changes things. That run is over; the next one finds what was made, and nothing is made or done twice.
#[test]
fn s_501_killed_in_the_middle() {
    let (mut lake, before) = in_the_middle(false);
    lake.stage.kill();
    lake.airbyte.mend();
    lake.stage.start();
    lake.applied(before);
    got_there(&lake);
    let ended: Vec<_> = lake.stage.runs(NAME).iter().map(|run| run["status"]["failure"].clone()).collect();
    assert!(ended.contains(&json!("Interrupted")), "{ended:?}");
}

/// S-501: the operator is killed while it makes something, and nobody knows what came of that. It is said, by its address, and never made twice.
#[test]
fn s_501_killed_while_something_is_made() {
    let mut lake = Lake::idle(&[]);
    lake.airbyte.fail("connections/create", 503, u32::MAX);
    lake.stage.start();
    lake.write_stack(&json!({}));
    lake.stage.until("it is in the middle", || {
        let tried = lake.airbyte.written().iter().filter(|path| *path == "connections/create").count();
        (tried >= 2 && lake.counts() == [2, 1, 0]).then_some(())
    });
    lake.stage.kill();
    lake.airbyte.mend();
    lake.stage.start();
    // Either it can be found out that there is nothing, or somebody has to look.
    lake.stage.until("it is cleared up, or said", || {
        let ready = condition(&lake.stage.get(NAME), "Ready")?;
        let is_said = ready["message"].as_str()?.contains("rest_object.shopify_to_lake")
            || ready["message"].as_str()?.contains("rest_object.klaviyo_to_lake");
        (ready["status"] == "True" || is_said).then_some(())
    });
    let made = lake.airbyte.writes().into_iter().filter(|call| call.path == "sources/create" && call.status < 300);
    assert_eq!(made.count(), 2);
    assert!(lake.counts()[2] <= 2, "{:?}", lake.counts());
}

/// S-502: of two operators one works. It is asked to end in the middle, and the other one goes on where it was.
#[test]
fn s_502_handed_over_in_the_middle() {
    let (mut lake, before) = in_the_middle(true);
    let mut other = lake.stage.beside();
    other.start();
    lake.stage.until("the other one waits", || other.log().contains("another operator leads").then_some(()));
    assert_eq!(lake.stage.end(), 0);
    lake.airbyte.mend();
    lake.applied(before);
    got_there(&lake);
}

/// Broken text is pushed, then mended: it is said in which file and line, nothing is touched, and the next push goes through at once.
#[test]
fn what_cannot_be_read_is_said_and_mended_by_a_push() {
    let mut lake = Lake::given_with(&json!({"retry": {"interval": "1h"}}));
    let sources = format!("{ROOT}/sources.tf");
    let good = lake.file(&sources);
    lake.push(&[(&sources, &(good.clone() + "\nresource \"rest_object\" {\n"))]);
    let stack = lake.stage.until("it is said", || {
        let stack = lake.stage.get(NAME);
        (condition(&stack, "Ready")?["status"] == "False").then_some(stack)
    });
    let told = message(&stack) + &last_run(&lake).to_string();
    assert!(told.contains("sources.tf"), "{told}");
    assert!(lake.airbyte.written().is_empty());
    let before = lake.push(&[(&sources, &good.replace("\"Klaviyo\"", "\"Klaviyo of all\""))]);
    let run = lake.applied(before);
    assert_eq!(planned(&run), [0, 1, 0]);
    assert_eq!(lake.airbyte.written(), ["sources/update"]);
}

fn last_run(lake: &Lake) -> Value {
    lake.stage.runs(NAME).pop().unwrap_or_default()
}
