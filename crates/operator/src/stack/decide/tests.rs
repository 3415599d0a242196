//! Stories of Stacks, told in facts.

mod deletions;
mod sources;

use serde_json::json;

use super::*;
use crate::api::run::{PhaseTime, PlanRef, RunSpec, RunStatus};
use crate::api::upkeep::{DoubtReason, OrphanPolicy, OrphanReport, StateDoubt};

/// A Stack that goes through something: what is decided is done at once, and time passes when it is told to.
struct Story {
    stack: Stack,
    runs: Vec<Run>,
    wanted: Result<Wanted, Vec<String>>,
    waiting_for: Vec<String>,
    needed_by: Vec<ObjectRef>,
    kept_bundle: Option<&'static str>,
    now: i64,
    looked: Option<Looked>,
    source: SourceFacts,
    /// What was done, in words.
    done: Vec<String>,
    again_at: Option<Moment>,
}

fn moment(second: i64) -> Moment {
    Moment(jiff::Timestamp::from_second(second).unwrap())
}

fn about(source: &str, inputs: &str) -> Attempt {
    let text = str::to_owned;
    Attempt { spec_hash: text("spec"), source_hash: text(source), inputs_hash: text(inputs), revision: None }
}

impl Story {
    fn of(spec: serde_json::Value) -> Self {
        let mut stack = Stack::new("app", serde_json::from_value(with_source(spec)).unwrap());
        stack.metadata.namespace = Some("team".to_owned());
        stack.metadata.generation = Some(1);
        let wanted = Ok(Wanted { about: about("one", "one"), changed_keys: Vec::new() });
        Self {
            stack,
            runs: Vec::new(),
            wanted,
            waiting_for: Vec::new(),
            needed_by: Vec::new(),
            kept_bundle: None,
            now: 1_000,
            looked: None,
            source: SourceFacts::default(),
            done: Vec::new(),
            again_at: None,
        }
    }

    /// Decides, and does it, until nothing is left to do.
    fn settle(&mut self) -> &mut Self {
        for _ in 0..10 {
            let facts = Facts {
                outputs_gone: &[],
                stack: &self.stack,
                now: moment(self.now),
                wanted: &self.wanted,
                runs: &self.runs,
                waiting_for: &self.waiting_for,
                needed_by: &self.needed_by,
                scheduled: None,
                looked: self.looked,
                kept_bundle: self.kept_bundle,
                source: &self.source,
            };
            let decision = decide(&facts);
            let settled = decision.steps.is_empty() && Some(&decision.status) == self.stack.status.as_ref();
            self.stack.status = Some(decision.status);
            self.again_at = decision.again_at;
            if settled {
                return self;
            }
            decision.steps.into_iter().for_each(|step| self.take(step));
        }
        panic!("it never ends: {:?}", self.done);
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Hold => self.stack.metadata.finalizers = Some(vec![names::FINALIZER.to_owned()]),
            Step::Look { action, known, .. } => {
                self.done.push(format!("look as {action:?}, {known:?}"));
                self.looked.get_or_insert_default().under_way = true;
            }
            Step::RefreshSource { .. } => {
                self.done.push("ask the source".to_owned());
                self.source.refresh = source::Refresh::Pending;
            }
            Step::Start(new) => {
                let causes: Vec<String> = new.causes.iter().map(|cause| format!("{:?}", cause.reason)).collect();
                self.done.push(format!("{:?} {}: {}", new.action, new.number, causes.join(" ")));
                self.runs.push(run(new));
            }
            Step::Supersede { run, because } => {
                self.done.push(format!("supersede {run}: {because}"));
                self.phase(Phase::Superseded);
            }
            Step::Approve { run, approved } => {
                self.done.push(format!("approve {run} by {}", approved.by));
                self.phase(Phase::Applying);
            }
            Step::ClearUp { state } => self.done.push(format!("clear up, state {state}")),
            Step::LetGo => {
                self.done.push("let go".to_owned());
                self.stack.metadata.finalizers = None;
            }
        }
    }

    /// It can be looked without a run.
    fn may_look(&mut self) -> &mut Self {
        self.looked = Some(Looked::default());
        self
    }

    /// The look is over.
    fn looked(&mut self, is_well: bool) -> &mut Self {
        self.looked = Some(Looked { under_way: false, last: Some((moment(self.now), is_well)) });
        self.settle()
    }

    /// The last run gets to this phase.
    fn phase(&mut self, phase: Phase) -> &mut Self {
        let status = self.runs.last_mut().unwrap().status.get_or_insert_default();
        status.phase = phase;
        status.phases.push(PhaseTime { phase, began: moment(self.now), took: None });
        self
    }

    fn fails(&mut self, kind: FailureKind) -> &mut Self {
        let status = self.runs.last_mut().unwrap().status.get_or_insert_default();
        status.failure = Some(kind);
        status.message = "it did not work".to_owned();
        self.phase(Phase::Failed).settle()
    }

    fn succeeds(&mut self) -> &mut Self {
        self.phase(Phase::Applying).phase(Phase::Succeeded).settle()
    }

    fn waits_with(&mut self, plan: &str) -> &mut Self {
        let status = self.runs.last_mut().unwrap().status.get_or_insert_default();
        status.plan = Some(PlanRef { id: plan.to_owned(), secret: None, text: String::new(), text_secret: None });
        self.phase(Phase::AwaitingApproval).settle()
    }

    fn annotate(&mut self, name: &str, value: &str) -> &mut Self {
        self.stack.metadata.annotations.get_or_insert_default().insert(name.to_owned(), value.to_owned());
        self
    }

    fn wants(&mut self, about: Attempt) -> &mut Self {
        self.wanted = Ok(Wanted { about, changed_keys: vec!["Secret db/password".to_owned()] });
        self
    }

    fn deleted(&mut self) -> &mut Self {
        self.stack.metadata.deletion_timestamp = serde_json::from_value(json!("2026-01-01T00:00:00Z")).unwrap();
        self
    }

    fn later(&mut self, seconds: i64) -> &mut Self {
        self.now += seconds;
        self
    }

    /// What was done since this was last asked.
    fn did(&mut self) -> Vec<String> {
        std::mem::take(&mut self.done)
    }

    /// `True Applied`, and what else is said.
    fn ready(&self) -> String {
        let conditions = &self.stack.status.as_ref().unwrap().conditions;
        let ready = conditions.iter().find(|known| known.kind == "Ready").unwrap();
        let others: Vec<&str> =
            conditions.iter().map(|known| known.kind.as_str()).filter(|kind| *kind != "Ready").collect();
        format!("{:?} {} {}", ready.status, ready.reason, others.join(" ")).trim_end().to_owned()
    }

    fn message(&self) -> String {
        self.stack
            .status
            .as_ref()
            .unwrap()
            .conditions
            .iter()
            .find(|known| known.kind == "Ready")
            .unwrap()
            .message
            .clone()
    }
}

fn with_source(mut spec: serde_json::Value) -> serde_json::Value {
    spec["source"] = json!({"inline": {"main.tf": ""}});
    spec
}

fn run(new: NewRun) -> Run {
    let stack = Stack::default();
    let mut run = Run::new(
        &format!("app-{}", new.number),
        RunSpec {
            stack: "app".to_owned(),
            number: new.number,
            action: new.action,
            causes: new.causes,
            bundle: new.kept_bundle.unwrap_or_else(|| format!("bundle-{}", new.number)),
            about: new.about,
            requested: new.requested,
            requested_by_flux: new.requested_by_flux,
            engine: crate::api::stack::Engine::Native,
            executor: crate::api::stack::Executor::InProcess,
            approval: Approval::default(),
            limits: limits(&stack, new.action),
            state: new.state,
            orphans: new.orphans,
            cancel: false,
        },
    );
    run.status = Some(RunStatus::default());
    run
}

#[test]
fn a_new_stack_is_held_and_run() {
    let mut story = Story::of(json!({}));
    assert_eq!(story.settle().did(), ["Apply 1: Created"]);
    assert_eq!(story.ready(), "Unknown Progressing Reconciling");
    story.succeeds();
    assert_eq!((story.ready(), story.did().len()), ("True Applied".to_owned(), 0));
    assert_eq!(story.again_at, Some(moment(1_600)));
    assert_eq!(story.stack.status.as_ref().unwrap().applied.as_ref().unwrap().run, "app-1");
}

#[test]
fn it_is_looked_again_after_the_interval() {
    let mut story = Story::of(json!({"interval": "1m"}));
    story.settle().succeeds().did();
    assert!(story.later(59).settle().did().is_empty());
    assert_eq!(story.later(1).settle().did(), ["Apply 2: Due"]);
}

#[test]
fn drift_that_is_only_reported_is_only_planned() {
    let mut story = Story::of(json!({"interval": "1m", "drift": "report"}));
    story.settle().succeeds().did();
    assert_eq!(story.later(60).settle().did(), ["Plan 2: Due"]);
    story.runs.last_mut().unwrap().status.as_mut().unwrap().drifted = vec!["a.b".to_owned()];
    story.phase(Phase::Succeeded).settle();
    assert_eq!(
        (story.ready(), story.message()),
        ("False DriftDetected".to_owned(), "Changed by others, and left as it is: a.b.".to_owned())
    );
    // It is not counted as a failure, and looked at again as usual.
    assert!(story.stack.status.as_ref().unwrap().failures.is_none());
    assert_eq!(story.later(60).settle().did(), ["Plan 3: Due"]);
    story.phase(Phase::Succeeded).settle();
    assert_eq!(story.ready(), "True Planned");
}

#[test]
fn what_others_changed_may_need_somebody_to_agree() {
    let story = Story::of(json!({"approval": {"mode": "auto"}, "drift": "approve"}));
    let due = [Cause { reason: CauseKind::Due, about: Vec::new() }];
    let new = [Cause { reason: CauseKind::Created, about: Vec::new() }];
    assert_eq!(approval(&story.stack, &due).mode, ApprovalMode::Manual);
    assert_eq!(approval(&story.stack, &new).mode, ApprovalMode::Auto);
}

#[test]
fn changed_inputs_are_run_at_once_and_named() {
    let mut story = Story::of(json!({}));
    story.settle().succeeds().did();
    assert_eq!(story.wants(about("one", "two")).settle().did(), ["Apply 2: InputsChanged"]);
    assert_eq!(told(&story.runs[1].spec.causes[0]), "inputs have changed (Secret db/password)");
}

#[test]
fn something_new_beats_the_pause_after_a_failure() {
    let mut story = Story::of(json!({}));
    story.settle().fails(FailureKind::Invalid).did();
    assert_eq!(story.ready(), "False InvalidConfiguration Reconciling");
    assert!(story.later(14).settle().did().is_empty());
    assert_eq!(story.wants(about("two", "one")).settle().did(), ["Apply 2: SourceChanged"]);
}

#[test]
fn what_gives_the_same_again_is_tried_ever_more_rarely() {
    let mut story = Story::of(json!({}));
    story.settle().did();
    let mut pauses = Vec::new();
    for _ in 0..10 {
        story.fails(FailureKind::Invalid);
        let at = story.again_at.unwrap().0.as_second();
        pauses.push(at - story.now);
        story.now = at;
        assert_eq!(story.settle().did().len(), 1);
    }
    assert_eq!(pauses, [15, 30, 60, 120, 240, 480, 960, 1920, 3600, 3600]);
}

#[test]
fn what_may_pass_by_itself_is_tried_again_soon() {
    let pauses: Vec<u64> =
        (1..8).map(|count| pause(&Retry::default(), count, Some(FailureKind::Transient)).as_secs()).collect();
    assert_eq!(pauses, [15, 30, 60, 120, 240, 240, 240]);
}

#[test]
fn after_the_limit_it_is_stalled_until_something_changes() {
    let mut story = Story::of(json!({"retry": {"limit": 2}}));
    story.settle().fails(FailureKind::Refused).later(15).settle().fails(FailureKind::Refused).did();
    assert_eq!(story.ready(), "False ProviderRefused Stalled");
    assert!(story.later(100_000).settle().did().is_empty());
    assert_eq!(story.annotate(names::REQUESTED_AT, "now").settle().did(), ["Apply 3: Requested"]);
    story.succeeds();
    assert_eq!(story.ready(), "True Applied");
}

#[test]
fn a_request_is_heeded_once() {
    let mut story = Story::of(json!({}));
    story.settle().succeeds().did();
    assert_eq!(story.annotate(names::FLUX_REQUESTED_AT, "a").settle().did(), ["Apply 2: Requested"]);
    story.succeeds();
    assert!(story.settle().did().is_empty());
    assert_eq!(story.annotate(names::FLUX_REQUESTED_AT, "b").settle().did(), ["Apply 3: Requested"]);
}

#[test]
fn who_asks_in_one_way_does_not_keep_others_from_asking_in_another() {
    let mut story = Story::of(json!({}));
    story.settle().succeeds().did();
    assert_eq!(story.annotate(names::REQUESTED_AT, "a").settle().did(), ["Apply 2: Requested"]);
    story.succeeds();
    let handled = |story: &Story| {
        let status = story.stack.status.clone().unwrap();
        [status.last_handled_request, status.last_handled_reconcile_at].map(Option::unwrap_or_default)
    };
    assert_eq!(handled(&story), ["a", ""]);
    assert_eq!(story.annotate(names::FLUX_REQUESTED_AT, "b").settle().did(), ["Apply 3: Requested"]);
    story.succeeds();
    assert_eq!(handled(&story), ["a", "b"]);
    assert_eq!(story.annotate(names::REQUESTED_AT, "c").settle().did(), ["Apply 4: Requested"]);
    story.succeeds();
    assert_eq!(handled(&story), ["c", "b"]);
    assert!(story.settle().did().is_empty());
}

#[test]
fn something_newer_takes_the_place_of_what_has_touched_nothing() {
    let mut story = Story::of(json!({}));
    story.settle().phase(Phase::Planning).did();
    let did = story.wants(about("two", "one")).settle().did();
    assert_eq!(did, ["supersede app-1: the Stack asks for something newer", "Apply 2: SourceChanged"]);
    // What is being carried out is finished first.
    story.phase(Phase::Applying).wants(about("three", "one"));
    assert!(story.settle().did().is_empty());
    story.phase(Phase::Succeeded);
    assert_eq!(story.settle().did(), ["Apply 3: SourceChanged"]);
}

#[test]
fn a_plan_is_carried_out_when_its_whole_id_is_agreed_to() {
    let mut story = Story::of(json!({}));
    story.settle().waits_with("plan-abc123").did();
    assert_eq!(story.ready(), "Unknown AwaitingApproval");
    assert!(story.message().contains("groma stack approve team/app plan-abc123"), "{}", story.message());
    for wrong in ["plan-abc", "plan-abc1234", "auto", ""] {
        assert!(story.annotate(names::APPROVE, wrong).settle().did().is_empty(), "{wrong}");
    }
    story.annotate(names::APPROVE, "plan-abc123").annotate(names::APPROVED_BY, "ana");
    assert_eq!(story.settle().did(), ["approve app-1 by ana"]);
}

#[test]
fn a_plan_that_waits_is_made_anew_after_the_interval() {
    let mut story = Story::of(json!({"interval": "1m"}));
    story.settle().waits_with("plan-1").did();
    assert_eq!(story.again_at, Some(moment(1_060)));
    let did = story.later(60).settle().did();
    assert_eq!(did, ["supersede app-1: it is time to look whether the plan is still right", "Apply 2: Retry"]);
}

#[test]
fn what_cannot_be_had_is_told_and_nothing_runs() {
    let mut story = Story::of(json!({}));
    story.wanted = Err(vec!["spec.inputs.varsFrom[0]: Secret \"db\" is not there".to_owned()]);
    assert!(story.settle().did().is_empty());
    assert_eq!(story.ready(), "False InvalidSpec Stalled");
    assert_eq!(story.wants(about("one", "one")).settle().did(), ["Apply 1: Created"]);
}

#[test]
fn it_waits_for_what_it_depends_on() {
    let mut story = Story::of(json!({}));
    story.waiting_for = vec!["team/network (not ready)".to_owned()];
    assert!(story.settle().did().is_empty());
    assert_eq!(story.ready(), "False DependencyNotReady Reconciling");
    story.waiting_for.clear();
    assert_eq!(story.settle().did(), ["Apply 1: Created"]);
}

#[test]
fn a_suspended_stack_starts_nothing() {
    let mut story = Story::of(json!({"suspend": true}));
    assert!(story.settle().did().is_empty());
    assert_eq!(story.ready(), "Unknown Pending");
    story.stack.spec.suspend = false;
    assert_eq!(story.settle().did(), ["Apply 1: Created"]);
}

#[test]
fn plan_only_never_applies() {
    let mut story = Story::of(json!({"planOnly": true}));
    assert_eq!(story.settle().did(), ["Plan 1: Created"]);
    story.phase(Phase::Succeeded).settle();
    assert_eq!(story.ready(), "True Planned");
    assert!(story.stack.status.as_ref().unwrap().applied.is_none());
}

#[test]
fn a_deleted_stack_is_taken_down_and_let_go() {
    let mut story = Story::of(json!({}));
    story.settle().succeeds().did();
    assert_eq!(story.deleted().settle().did(), ["Destroy 2: Deleted"]);
    story.succeeds();
    assert_eq!(story.did(), ["clear up, state true", "let go"]);
}

#[test]
fn nothing_is_in_the_way_of_a_deletion() {
    // Suspended, with inputs that are gone: what was carried out last is known.
    let mut story = Story::of(json!({}));
    story.settle().succeeds().did();
    story.stack.spec.suspend = true;
    story.wanted = Err(vec!["gone".to_owned()]);
    story.deleted().settle();
    assert_eq!(story.did(), ["Destroy 2: Deleted"]);
    story.fails(FailureKind::Transient);
    assert_eq!(story.ready(), "False DestroyFailed Reconciling");
    assert_eq!(story.later(15).settle().did(), ["Destroy 3: Deleted"]);
    story.succeeds();
    assert_eq!(story.did(), ["clear up, state true", "let go"]);
}

#[test]
fn what_a_failed_run_may_have_made_is_taken_down() {
    let mut story = Story::of(json!({}));
    story.settle().phase(Phase::Applying).fails(FailureKind::Refused).did();
    assert_eq!(story.deleted().later(20).settle().did(), ["Destroy 2: Deleted"]);
}

#[test]
fn what_never_ran_is_let_go_at_once() {
    let mut story = Story::of(json!({}));
    story.wanted = Err(vec!["wrong".to_owned()]);
    story.settle();
    assert_eq!(story.deleted().settle().did(), ["clear up, state true", "let go"]);
}

#[test]
fn what_a_run_may_have_made_is_taken_down_when_the_run_is_gone() {
    let mut story = Story::of(json!({}));
    story.settle().phase(Phase::Applying).settle().did();
    // The namespace is being deleted, and its Runs with it.
    story.runs.clear();
    story.wanted = Err(vec!["gone".to_owned()]);
    story.kept_bundle = Some("app-bundle-1");
    assert_eq!(story.deleted().settle().did(), ["Destroy 2: Deleted"]);
    story.succeeds();
    assert_eq!(story.did(), ["clear up, state true", "let go"]);
    // Without a bundle nothing was made.
    let mut story = Story::of(json!({}));
    story.settle().did();
    story.runs.clear();
    assert_eq!(story.deleted().settle().did(), ["clear up, state true", "let go"]);
}

#[test]
fn policies_of_deletion() {
    for (policy, expected) in [("retain", "clear up, state false"), ("orphan", "clear up, state true")] {
        let mut story = Story::of(json!({"deletionPolicy": policy}));
        story.settle().succeeds().did();
        assert_eq!(story.deleted().settle().did(), [expected, "let go"]);
    }
}

#[test]
fn a_stack_stays_until_its_dependants_are_gone() {
    let mut story = Story::of(json!({}));
    story.settle().succeeds().did();
    story.needed_by = vec![ObjectRef { name: "web".to_owned(), namespace: None }];
    assert!(story.deleted().settle().did().is_empty());
    assert_eq!(story.ready(), "False DeletionBlockedByDependants Reconciling");
    story.needed_by.clear();
    assert_eq!(story.settle().did(), ["Destroy 2: Deleted"]);
}

#[test]
fn a_deletion_that_does_not_get_on_is_stalled_after_ten_minutes() {
    let mut story = Story::of(json!({}));
    story.settle().succeeds().did();
    story.needed_by = vec![ObjectRef { name: "web".to_owned(), namespace: None }];
    story.deleted();
    let now = jiff::Timestamp::from_second(story.now).unwrap().to_string();
    story.stack.metadata.deletion_timestamp = serde_json::from_value(json!(now)).unwrap();
    assert_eq!(story.settle().ready(), "False DeletionBlockedByDependants Reconciling");
    assert_eq!(story.again_at, Some(moment(story.now + 600)));
    assert_eq!(story.later(600).settle().ready(), "False DeletionBlockedByDependants Stalled");
    story.needed_by.clear();
    // What goes on is not stalled, unless it has failed before.
    assert_eq!(story.settle().did(), ["Destroy 2: Deleted"]);
    assert_eq!(story.ready(), "Unknown Deleting Reconciling");
    story.fails(FailureKind::Transient);
    assert_eq!(story.ready(), "False DestroyFailed Stalled");
    assert!(story.message().contains("spec.deletionPolicy"), "{}", story.message());
    assert_eq!(story.later(15).settle().did(), ["Destroy 3: Deleted"]);
    assert_eq!(story.ready(), "Unknown Deleting Stalled");
    story.succeeds();
    assert_eq!(story.did(), ["clear up, state true", "let go"]);
}

#[test]
fn a_run_that_plans_makes_room_for_a_deletion() {
    let mut story = Story::of(json!({}));
    story.settle().succeeds().later(600).settle().phase(Phase::Planning).did();
    let did = story.deleted().settle().did();
    assert_eq!(did, ["supersede app-2: the Stack is being deleted", "Destroy 3: Deleted"]);
}

#[test]
fn stable_means_quiet() {
    let mut story = Story::of(json!({}));
    story.settle().succeeds();
    let before = story.stack.clone();
    story.later(300).settle();
    assert_eq!(story.stack, before);
}

#[test]
fn while_all_is_well_it_is_looked_and_nothing_is_written() {
    let mut story = Story::of(json!({"interval": "1m"}));
    story.may_look().settle().succeeds();
    story.did();
    let status = story.stack.status.clone();
    for _ in 0..20 {
        assert_eq!(story.later(60).settle().did(), ["look as Apply, Nothing"]);
        // While somebody looks, nobody else does.
        assert_eq!(story.settle().did(), [""; 0]);
        assert_eq!(story.looked(true).did(), [""; 0]);
        assert_eq!(story.stack.status, status);
    }
    assert_eq!(story.again_at, Some(moment(story.now + 60)));
}

#[test]
fn what_is_seen_to_be_otherwise_is_run() {
    let mut story = Story::of(json!({"interval": "1m"}));
    story.may_look().settle().succeeds();
    story.later(60).settle();
    story.did();
    assert_eq!(story.looked(false).did(), ["Apply 2: Due"]);
    story.later(1).succeeds();
    assert_eq!(story.settle().did(), [""; 0], "what was seen before the run says nothing about what is after it");
    assert_eq!(story.later(60).settle().did(), ["look as Apply, Nothing"]);
}

#[test]
fn what_is_known_to_be_otherwise_is_compared() {
    let mut story = Story::of(json!({"interval": "1m", "drift": "report"}));
    story.may_look().settle().succeeds();
    story.later(60).settle();
    story.did();
    assert_eq!(story.looked(false).did(), ["Plan 2: Due"]);
    let status = story.runs.last_mut().unwrap().status.get_or_insert_default();
    status.plan = Some(PlanRef { id: "plan-1".to_owned(), secret: None, text: String::new(), text_secret: None });
    status.drifted = vec!["a.b".to_owned()];
    story.later(1).succeeds();
    assert_eq!(story.ready(), "False DriftDetected");
    assert_eq!(story.later(60).settle().did(), ["look as Plan, Plan(\"plan-1\")"]);
    assert_eq!(story.looked(true).did(), [""; 0]);
    assert_eq!(story.ready(), "False DriftDetected");
}

#[test]
fn something_new_does_not_wait_for_a_look() {
    let mut story = Story::of(json!({"interval": "1m"}));
    story.may_look().settle().succeeds();
    story.later(60).settle();
    story.did();
    assert_eq!(story.wants(about("two", "one")).settle().did(), ["Apply 2: SourceChanged"]);
}

fn left(lineage: &str, serial: u64) -> StateSeen {
    StateSeen { lineage: lineage.to_owned(), serial, resources: 2, unsure: false }
}

impl Story {
    /// What the last run says.
    fn says(&mut self, say: impl FnOnce(&mut RunStatus)) -> &mut Self {
        say(self.runs.last_mut().unwrap().status.get_or_insert_default());
        self
    }

    fn begins_from(&self) -> Option<StateSeen> {
        self.runs.last().unwrap().spec.state.clone()
    }
}

#[test]
fn a_run_begins_from_what_the_last_one_has_left() {
    let mut story = Story::of(json!({"interval": "1m"}));
    story.settle();
    assert_eq!(story.begins_from(), None);
    story.says(|status| status.state = Some(left("a", 1))).succeeds();
    assert_eq!(story.stack.status.as_ref().unwrap().state, Some(left("a", 1)));
    story.later(60).settle();
    assert_eq!(story.begins_from(), Some(left("a", 1)));
    // What was interrupted may have written, whoever comes after it.
    story.phase(Phase::Applying).fails(FailureKind::Interrupted).later(1).settle();
    let unsure = StateSeen { unsure: true, ..left("a", 1) };
    assert_eq!(story.begins_from(), Some(unsure.clone()));
    story.fails(FailureKind::Locked).later(60).settle();
    assert_eq!(story.begins_from(), Some(unsure));
    story.says(|status| status.state = Some(left("a", 3))).succeeds().later(60).settle();
    assert_eq!(story.begins_from(), Some(left("a", 3)));
}

#[test]
fn a_state_that_is_lost_waits_for_somebody_and_says_what_completes_it() {
    let mut story = Story::of(json!({}));
    story.settle().says(|status| status.state = Some(left("a", 1))).succeeds();
    story.annotate(names::REQUESTED_AT, "now").settle().did();
    let doubt = StateDoubt { reason: DoubtReason::StateLost, message: "It is gone.".to_owned() };
    story.says(|status| status.doubt = Some(doubt)).waits_with("plan-1");
    assert_eq!(story.ready(), "False StateLost Stalled");
    for part in ["It is gone.", "groma stack restore-state team/app.", "groma stack approve team/app plan-1"] {
        assert!(story.message().contains(part), "{}", story.message());
    }
    story.annotate(names::APPROVE, "plan-1").settle();
    assert_eq!(story.did(), ["approve app-2 by somebody"]);
    let approved = Approved { plan: "plan-1".to_owned(), by: "somebody".to_owned(), at: moment(story.now) };
    story
        .says(|status| (status.approval, status.state) = (Some(approved), Some(left("b", 1))))
        .phase(Phase::Succeeded)
        .settle();
    assert_eq!(story.stack.status.as_ref().unwrap().state, Some(left("b", 1)));
}

#[test]
fn a_deletion_waits_if_nobody_knows_what_is_to_go() {
    let mut story = Story::of(json!({}));
    story.settle().says(|status| status.state = Some(left("a", 1))).succeeds().did();
    story.deleted().settle();
    let doubt = StateDoubt { reason: DoubtReason::StateLost, message: "It is gone.".to_owned() };
    story.says(|status| status.doubt = Some(doubt)).waits_with("plan-1");
    assert_eq!(story.ready(), "False StateLost Stalled");
    story.did();
    story.annotate(names::APPROVE, "plan-1").settle();
    assert_eq!(story.did(), ["approve app-2 by somebody"]);
}

#[test]
fn orphans_go_when_somebody_agrees_to_exactly_them_and_once() {
    let report = |id: &str| OrphanReport { id: id.to_owned(), count: 1, ..OrphanReport::default() };
    let mut story = Story::of(json!({"orphanPolicy": "delete"}));
    story.settle().says(|status| status.orphans = Some(report("orphans-1"))).succeeds().did();
    let known = |story: &Story| story.stack.status.as_ref().unwrap().orphans.clone();
    assert_eq!(known(&story).unwrap().since, Some(moment(1_000)));
    assert!(story.annotate(names::APPROVE, "orphans-2").settle().did().is_empty());
    assert_eq!(story.annotate(names::APPROVE, "orphans-1").settle().did(), ["Apply 2: OrphansApproved"]);
    assert_eq!(story.runs.last().unwrap().spec.orphans.as_deref(), Some("orphans-1"));
    // What could not be deleted is not tried for ever.
    story.later(5).says(|status| status.orphans = Some(report("orphans-1"))).succeeds();
    assert!(story.did().is_empty());
    assert_eq!(known(&story).unwrap().since, Some(moment(1_000)), "it is the same since then");
    let mut spec = story.stack.spec.clone();
    spec.orphan_policy = OrphanPolicy::Ignore;
    story.stack.spec = spec;
    story.annotate(names::REQUESTED_AT, "now").settle().succeeds();
    assert_eq!(known(&story), None);
}
