//! Stacks whose configurations Flux has fetched: a source of Flux without its controller, which is the test, and archives that are served.

use groma_testkit::servers::artifacts::{Artifact, ArtifactServer};
use serde_json::{Value, json};

use crate::fetched::{self, FIRST, SECOND};
use crate::lake::{planned, state};
use crate::sources::{AT_ONCE, BROKEN, NAME, ONE, applied, cause};
use crate::stage::{Stage, message, now};

/// The source.
const SOURCE: &str = "lake";
/// The annotation that it is asked with to look for something newer.
const REQUESTED: &str = "reconcile.fluxcd.io/requestedAt";
/// What a digest looks like that nothing has.
const OF_NOTHING: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// An operator on a cluster that knows sources of Flux.
#[track_caller]
fn stage() -> Stage {
    let mut stage = Stage::idle(&[]);
    fetched::make_known(&stage);
    stage.start();
    stage
}

/// Where the source is.
fn at(stage: &Stage) -> String {
    fetched::at(stage, SOURCE)
}

/// Makes the source, which has not fetched anything yet.
#[track_caller]
fn make_source(stage: &Stage) {
    fetched::make_source(stage, SOURCE);
}

/// The source has fetched that.
#[track_caller]
fn has(stage: &Stage, artifact: &Artifact, revision: &str) {
    fetched::has(stage, SOURCE, artifact, revision);
}

/// Writes the Stack.
#[track_caller]
fn write(stage: &Stage, more: &Value) {
    let mut spec = json!({
        "source": {"flux": {"kind": "GitRepository", "name": SOURCE}},
        "interval": "1h", "retry": {"interval": "1h"}, "outputs": {"status": true},
    });
    spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    stage.stack(NAME, spec);
}

/// A configuration that gives this.
fn gives(text: &str) -> String {
    format!("{ONE}output \"it\" {{\n  value = \"{text}\"\n}}\n")
}

fn digest(stack: &Value) -> &str {
    stack["status"]["source"]["digest"].as_str().unwrap_or_default()
}

/// What Flux has fetched is carried out as soon as it has; until then it is said what is missing.
#[test]
fn an_artifact_is_applied() {
    let (stage, server) = (stage(), ArtifactServer::new());
    write(&stage, &json!({}));
    let stack = stage.says(NAME, "False", "SourceNotFound");
    assert!(message(&stack).contains(SOURCE), "{}", message(&stack));
    make_source(&stage);
    let stack = stage.says(NAME, "False", "SourceFailed");
    assert!(message(&stack).contains("has no artifact"), "{}", message(&stack));
    assert!(stage.runs(NAME).is_empty());

    let first = server.publish("first", &[("main.tf", &gives("one"))]);
    has(&stage, &first, FIRST);
    let stack = applied(&stage, FIRST);
    assert_eq!(stack["status"]["source"], json!({"revision": FIRST, "digest": first.digest}));
    assert_eq!(stack["status"]["outputs"]["it"], "one");
    assert_eq!((cause(&stage), planned(&stage.runs(NAME)[0])), (json!("Created"), [1, 0, 0]));

    let start = now();
    let second = server.publish("second", &[("main.tf", &gives("two"))]);
    has(&stage, &second, SECOND);
    let stack = applied(&stage, SECOND);
    assert!(start.elapsed() < AT_ONCE, "{:?}", start.elapsed());
    assert_eq!((digest(&stack), &stack["status"]["outputs"]["it"]), (second.digest.as_str(), &json!("two")));
    assert_eq!((stage.runs(NAME).len(), cause(&stage)), (2, json!("SourceChanged")));
    assert_eq!(server.asked(), ["/first.tar.gz", "/second.tar.gz"], "each is fetched once");
}

/// An archive is not what the source says that it is. That is said, and nothing is done with it, whether something was applied before or not.
#[test]
fn an_artifact_with_another_digest_is_refused() {
    let (stage, server) = (stage(), ArtifactServer::new());
    let right = server.publish("first", &[("main.tf", &gives("one"))]);
    let wrong = |artifact: &Artifact| Artifact { digest: format!("sha256:{OF_NOTHING}"), ..artifact.clone() };
    let is_said = |artifact: &Artifact| {
        let told = message(&stage.says(NAME, "False", "SourceFailed"));
        let actual = artifact.digest.trim_start_matches("sha256:");
        assert!(told.contains(actual) && told.contains(OF_NOTHING), "{told}");
    };
    make_source(&stage);
    has(&stage, &wrong(&right), FIRST);
    write(&stage, &json!({}));
    is_said(&right);
    assert!(stage.runs(NAME).is_empty());
    has(&stage, &right, FIRST);
    applied(&stage, FIRST);

    let before = state(&stage, NAME);
    let next = server.publish("second", &[("main.tf", &gives("two"))]);
    has(&stage, &wrong(&next), SECOND);
    is_said(&next);
    assert_eq!((stage.runs(NAME).len(), state(&stage, NAME)), (1, before));
    assert_eq!(stage.get(NAME)["status"]["applied"]["revision"], FIRST);
    has(&stage, &next, SECOND);
    assert_eq!(applied(&stage, SECOND)["status"]["outputs"]["it"], "two");
}

/// S-104: the revision is the same, and what is in it is not. That is something new.
#[test]
fn s_104_another_digest_is_something_new() {
    let (stage, server) = (stage(), ArtifactServer::new());
    make_source(&stage);
    let first = server.publish("it", &[("main.tf", &gives("one"))]);
    has(&stage, &first, FIRST);
    write(&stage, &json!({}));
    let stack = applied(&stage, FIRST);
    assert_eq!((digest(&stack), &stack["status"]["outputs"]["it"]), (first.digest.as_str(), &json!("one")));
    let second = server.publish("it", &[("main.tf", &gives("two"))]);
    assert_eq!(first.url, second.url);
    has(&stage, &second, FIRST);
    stage.until("the other one is applied", || (stage.get(NAME)["status"]["outputs"]["it"] == "two").then_some(()));
    let stack = stage.ready(NAME);
    assert_eq!(stack["status"]["source"], json!({"revision": FIRST, "digest": second.digest}));
    assert_eq!((stage.runs(NAME).len(), cause(&stage)), (2, json!("SourceChanged")));
}

/// What the source is asked with to look for something newer, if that is something else than before.
#[track_caller]
fn asked(stage: &Stage, before: Option<&str>) -> String {
    stage.until("the source is asked", || {
        let found = stage.api.get(&at(stage))["metadata"]["annotations"][REQUESTED].as_str()?.to_owned();
        (before != Some(found.as_str())).then_some(found)
    })
}

/// S-103: before a run is tried again, the source is asked for something newer, and it is waited until it has looked. So a source that looks by
/// itself once in an hour mends a Stack at the next try.
#[test]
fn s_103_the_source_is_asked_before_a_run_is_tried_again() {
    let (stage, server) = (stage(), ArtifactServer::new());
    make_source(&stage);
    has(&stage, &server.publish("first", &[("main.tf", BROKEN)]), FIRST);
    write(&stage, &json!({"refreshSourceOnRetry": true, "retry": {"interval": "300ms"}}));
    let first = asked(&stage, None);
    std::thread::sleep(std::time::Duration::from_secs(1));
    assert_eq!(stage.runs(NAME).len(), 1, "nothing is tried before the source has looked");
    // It has looked, and there is nothing newer: what there is is tried again.
    stage.api.set_status(&at(&stage), &json!({"lastHandledReconcileAt": first}));
    let second = asked(&stage, Some(&first));
    assert_eq!((stage.runs(NAME).len(), cause(&stage)), (2, json!("Retry")));
    let stack = stage.says(NAME, "False", "InvalidConfiguration");
    assert!(message(&stack).contains("main.tf:2"), "{}", message(&stack));
    // It has looked again, and there is.
    let mended = server.publish("second", &[("main.tf", &gives("mended"))]).as_status(SECOND);
    stage.api.set_status(&at(&stage), &json!({"artifact": mended, "lastHandledReconcileAt": second}));
    let stack = applied(&stage, SECOND);
    assert_eq!((&stack["status"]["outputs"]["it"], &stack["status"]["failures"]), (&json!("mended"), &Value::Null));
    assert_eq!((stage.runs(NAME).len(), cause(&stage)), (3, json!("SourceChanged")));
    assert_eq!(asked(&stage, None), second, "nobody asks when all is well");
}
