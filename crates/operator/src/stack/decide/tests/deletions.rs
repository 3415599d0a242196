//! Stories of Stacks that go: with what they are taken down, and when they are let go.

use super::*;

impl Story {
    /// What the last run works with.
    fn works_with(&self) -> &str {
        &self.runs.last().unwrap().spec.bundle
    }

    /// The last run is over, and this is how many resources are left.
    fn leaves(&mut self, resources: u32) -> &mut Self {
        self.runs.last_mut().unwrap().status.get_or_insert_default().resources = Some(resources);
        self.succeeds()
    }
}

const GONE: [&str; 2] = ["clear up, state true", "let go"];

#[test]
fn who_was_taken_down_in_part_is_taken_down_before_it_goes() {
    let mut story = Story::of(json!({"destroy": true, "targets": ["a.b"]}));
    story.settle().leaves(2).did();
    assert_eq!(story.deleted().settle().did(), ["Destroy 2: Deleted"]);
    assert_eq!(story.leaves(0).did(), GONE);
    // What is known to be empty need not be taken down again.
    let mut story = Story::of(json!({"destroy": true, "targets": ["a.b"]}));
    story.settle().leaves(0).did();
    assert_eq!(story.deleted().settle().did(), GONE);
}

#[test]
fn a_configuration_that_is_wrong_does_not_keep_a_stack_from_going() {
    let mut story = Story::of(json!({}));
    story.settle().succeeds().wants(about("broken", "one")).settle().fails(FailureKind::Invalid).deleted().settle();
    assert_eq!(story.did().last().unwrap(), "Destroy 3: Deleted");
    assert_eq!(story.works_with(), "bundle-3");
    story.fails(FailureKind::Invalid).later(15).settle();
    assert_eq!((story.did().len(), story.works_with()), (1, "bundle-1"));
    // It stays with that, as nothing is wrong with it.
    story.fails(FailureKind::Transient).later(30).settle();
    assert_eq!((story.did().len(), story.works_with()), (1, "bundle-1"));
    // If that is wrong, too, the other one is tried again.
    story.fails(FailureKind::Invalid).later(60).settle();
    assert_eq!((story.did().len(), story.works_with()), (1, "bundle-6"));
    story.fails(FailureKind::Invalid).later(120).settle();
    assert_eq!((story.did().len(), story.works_with()), (1, "bundle-1"));
    assert_eq!(story.succeeds().did(), GONE);
}

#[test]
fn what_was_begun_last_is_taken_down_with_what_began_it() {
    let mut story = Story::of(json!({}));
    story.settle().succeeds().wants(about("two", "one")).settle().phase(Phase::Applying).fails(FailureKind::Refused);
    story.wanted = Err(vec!["gone".to_owned()]);
    story.deleted().settle();
    assert_eq!(story.did().last().unwrap(), "Destroy 3: Deleted");
    assert_eq!(story.works_with(), "bundle-2");
    // What takes something down makes nothing.
    story.phase(Phase::Applying).fails(FailureKind::Refused).later(15).settle();
    assert_eq!(story.works_with(), "bundle-2");
    // What was carried out since then knows everything.
    let mut story = Story::of(json!({}));
    story.settle().phase(Phase::Applying).fails(FailureKind::Refused).later(15).settle().succeeds();
    story.wanted = Err(vec!["gone".to_owned()]);
    story.deleted().settle();
    assert_eq!(story.works_with(), "bundle-2");
}

#[test]
fn what_could_not_even_be_begun_to_be_taken_down_is_not_forgotten() {
    let mut story = Story::of(json!({}));
    story.settle().phase(Phase::Applying).settle().did();
    story.runs.clear();
    story.wanted = Err(vec!["gone".to_owned()]);
    story.kept_bundle = Some("app-bundle-1");
    assert_eq!(story.deleted().settle().did(), ["Destroy 2: Deleted"]);
    // Nobody looks for it any more when there are Runs.
    story.kept_bundle = None;
    assert!(story.fails(FailureKind::Transient).did().is_empty());
    assert_eq!(story.later(15).settle().did(), ["Destroy 3: Deleted"]);
    assert_eq!(story.works_with(), "app-bundle-1");
}

#[test]
fn a_deletion_is_tried_ever_more_rarely_until_something_changes() {
    let mut story = Story::of(json!({"retry": {"interval": "10s", "maxInterval": "1m"}}));
    story.settle().succeeds().wants(about("broken", "one")).settle().fails(FailureKind::Invalid).later(10).settle();
    story.fails(FailureKind::Invalid).deleted().later(20).settle().did();
    let mut pauses = Vec::new();
    for _ in 0..5 {
        story.fails(FailureKind::Refused);
        let at = story.again_at.unwrap().0.as_second();
        pauses.push(at - story.now);
        assert!(story.settle().did().is_empty());
        story.now = at;
        assert_eq!(story.settle().did().len(), 1);
    }
    assert_eq!(pauses, [10, 20, 40, 60, 60], "what failed before it was deleted does not count");
    story.fails(FailureKind::Refused).did();
    let did = story.annotate(names::REQUESTED_AT, "now").settle().did();
    assert_eq!(did.iter().map(|did| did.split_once(": ").unwrap().1).collect::<Vec<_>>(), ["Deleted Requested"]);
    story.fails(FailureKind::Refused).did();
    assert_eq!(story.again_at, Some(moment(story.now + 10)));
    assert_eq!(story.wants(about("mended", "one")).settle().did().len(), 1);
}
