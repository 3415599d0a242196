//! Stories of Stacks whose configurations are elsewhere.

use super::*;
use crate::api::upkeep::SourceSeen;
use source::{Lacking, Refresh};

fn at(revision: &str, hash: &str) -> Attempt {
    Attempt { revision: Some(revision.to_owned()), ..about(hash, "one") }
}

impl Story {
    /// The source has this by now, and that of it matters.
    fn has(&mut self, revision: &str, hash: &str) -> &mut Self {
        let seen = SourceSeen { revision: revision.to_owned(), digest: format!("sha256:{revision}") };
        self.source = SourceFacts { seen: Some(seen), ..SourceFacts::default() };
        self.wants(at(revision, hash))
    }

    fn lacks(&mut self, lacking: Lacking) -> &mut Self {
        self.source = SourceFacts { lacking: Some(lacking), ..SourceFacts::default() };
        self.wanted = Err(vec!["spec.source: it has not been fetched".to_owned()]);
        self
    }

    fn revisions(&self) -> [Option<String>; 3] {
        let status = self.stack.status.clone().unwrap();
        let attempted = status.attempted.and_then(|attempted| attempted.revision);
        let applied = status.applied.and_then(|applied| applied.revision);
        [status.source.map(|source| source.revision), attempted, applied]
    }
}

fn some(revisions: [&str; 3]) -> [Option<String>; 3] {
    revisions.map(|revision| Some(revision.to_owned()))
}

#[test]
fn a_commit_with_nothing_that_matters_moves_names_and_begins_nothing() {
    let mut story = Story::of(json!({"approval": {"mode": "auto"}}));
    story.has("main@sha1:a", "one").settle().succeeds();
    assert_eq!(story.did(), ["Apply 1: Created"]);
    assert!(story.message().starts_with("Applied successfully: main@sha1:a."), "{}", story.message());
    story.has("main@sha1:b", "one").settle();
    assert_eq!(story.did(), Vec::<String>::new());
    assert_eq!(story.revisions(), some(["main@sha1:b", "main@sha1:b", "main@sha1:a"]));
    assert!(story.message().starts_with("Applied successfully: main@sha1:a."), "what was applied is what is said");
    // While something is fetched, nothing changes.
    let before = story.stack.status.clone();
    story.lacks(Lacking::Fetching).settle();
    assert_eq!(story.stack.status, before);
    story.has("main@sha1:c", "two").settle();
    assert_eq!(story.did(), ["Apply 2: SourceChanged"]);
}

#[test]
fn something_newer_beats_waiting_and_counts_anew() {
    let mut story = Story::of(json!({}));
    story.has("main@sha1:a", "one").settle().fails(FailureKind::Invalid);
    story.later(15).settle().fails(FailureKind::Invalid);
    assert_eq!(story.stack.status.as_ref().unwrap().failures.as_ref().unwrap().count, 2);
    story.did();
    story.later(1).has("main@sha1:b", "one").settle();
    assert_eq!(story.did(), ["Apply 3: SourceChanged"], "even if nobody can tell why it should go better");
    story.fails(FailureKind::Invalid);
    assert_eq!(story.stack.status.as_ref().unwrap().failures.as_ref().unwrap().count, 1);
    assert!(story.message().contains("(main@sha1:b)"), "{}", story.message());
}

#[test]
fn a_run_that_plans_makes_room_and_one_that_applies_is_finished() {
    let mut story = Story::of(json!({}));
    story.has("main@sha1:a", "one").settle().phase(Phase::Planning);
    story.has("main@sha1:b", "two").settle();
    let expected =
        ["Apply 1: Created", "supersede app-1: the Stack asks for something newer", "Apply 2: SourceChanged"];
    assert_eq!(story.did(), expected);
    story.phase(Phase::Applying).has("main@sha1:c", "three").settle();
    assert_eq!(story.did(), Vec::<String>::new());
    story.phase(Phase::Succeeded).settle();
    assert_eq!(story.did(), ["Apply 3: SourceChanged"]);
}

#[test]
fn the_source_is_asked_before_a_run_is_tried_again() {
    let mut story = Story::of(json!({"refreshSourceOnRetry": true}));
    story.has("main@sha1:a", "one").settle().fails(FailureKind::Transient);
    story.did();
    story.later(15);
    story.source.refresh = Refresh::Due;
    story.settle();
    assert_eq!(story.did(), ["ask the source"]);
    assert_eq!(story.again_at, Some(moment(1_000 + 15 + 30)));
    story.source.refresh = Refresh::Done;
    story.settle();
    assert_eq!(story.did(), ["Apply 2: Retry"]);
}

#[test]
fn what_is_wrong_with_a_source_is_said_and_passes() {
    let mut story = Story::of(json!({}));
    story.lacks(Lacking::Fetching).settle();
    assert_eq!(story.ready(), "Unknown SourceFetching Reconciling");
    story.lacks(Lacking::NotFound("no such branch".to_owned())).settle();
    assert_eq!(story.ready(), "False SourceNotFound Reconciling");
    story.lacks(Lacking::Denied("not yours".to_owned())).settle();
    assert_eq!(story.ready(), "False AccessDenied Stalled");
    story.has("main@sha1:a", "one").settle().succeeds();
    assert_eq!(story.ready(), "True Applied");
    story.did();
    story.source.failing = Some("it is away".to_owned());
    story.settle();
    assert_eq!(story.ready(), "False SourceFailed Reconciling");
    assert_eq!(story.message(), "Nothing newer than main@sha1:a can be had: it is away");
    story.later(600).settle();
    assert_eq!(story.did(), ["Apply 2: Due"], "what is known is kept up");
}

#[test]
fn deletion_needs_no_source() {
    let mut story = Story::of(json!({}));
    story.has("main@sha1:a", "one").settle().succeeds();
    story.did();
    story.lacks(Lacking::NotFound("gone".to_owned())).deleted().settle();
    assert_eq!(story.did(), ["Destroy 2: Deleted"]);
}

#[test]
fn a_plan_that_waits_needs_no_source_to_be_agreed_to() {
    let mut story = Story::of(json!({}));
    story.has("main@sha1:a", "one").settle().waits_with("plan-1").did();
    story.lacks(Lacking::Failed("it is away".to_owned())).settle();
    assert_eq!(story.ready(), "Unknown AwaitingApproval");
    // It stays, as no other one can be made.
    assert!(story.later(6_000).settle().did().is_empty());
    assert!(story.annotate(names::APPROVE, "plan-2").settle().did().is_empty());
    assert_eq!(story.annotate(names::APPROVE, "plan-1").settle().did(), ["approve app-1 by somebody"]);
    // Who agrees while asking for something else may mean that.
    let mut story = Story::of(json!({}));
    story.has("main@sha1:a", "one").settle().waits_with("plan-1").did();
    story.stack.metadata.generation = Some(2);
    story.lacks(Lacking::Fetching).annotate(names::APPROVE, "plan-1").settle();
    assert!(story.did().is_empty());
}
