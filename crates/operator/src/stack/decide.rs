//! What to do next with a Stack: a function of what is known, and of nothing else. It is asked again after everything that it wished for
//! was done, so it never wishes for more than can be done in any order.

mod causes;
mod deletion;
pub mod source;
#[cfg(test)]
mod tests;
mod upkeep;

use std::collections::BTreeMap;
use std::time::Duration;

use crate::api::names;
use crate::api::run::{Action, Approved, Cause, CauseKind, FailureKind, Limits, Phase, Run};
use crate::api::shared::{Length, Moment, ObjectRef, Truth};
use crate::api::stack::{
    AppliedRun, Approval, ApprovalMode, Attempt, Drift, DriftPolicy, Failures, LastRun, PendingPlan, Retry, Stack,
    StackStatus,
};
use crate::api::upkeep::StateSeen;
use crate::runs::looks::{Around, Known, Looked};
use crate::stack::conditions::{Activity, Said, say};
use causes::{is_only_due, requests, told};
use source::SourceFacts;

/// How long it is waited after a first failure.
const RETRY: Length = Length::seconds(15);
/// And after one that was no fault of the run.
const AFTER_INTERRUPTION: Length = Length::seconds(1);
/// And at most.
const MOST_RETRY: Length = Length::seconds(3600);
/// After a failure that may pass by itself it is never waited longer than that many times the first pause.
const PASSING_DOUBLINGS: u32 = 4;

/// What is known.
#[derive(Debug)]
pub struct Facts<'a> {
    /// The Stack.
    pub stack: &'a Stack,
    /// What time it is.
    pub now: Moment,
    /// What it asks for; or what is wrong with that.
    pub wanted: &'a Result<Wanted, Vec<String>>,
    /// Its runs, in their order.
    pub runs: &'a [Run],
    /// Stacks that it needs and that are not ready, with why.
    pub waiting_for: &'a [String],
    /// Stacks that need it and are there.
    pub needed_by: &'a [ObjectRef],
    /// Objects that outputs were written to, and that are gone.
    pub outputs_gone: &'a [String],
    /// When its schedule says that it is time.
    pub scheduled: Option<Scheduled>,
    /// What is known from looks. None if it cannot be looked without a run.
    pub looked: Option<Looked>,
    /// The bundle of a run that may have made something, and that is not known otherwise.
    pub kept_bundle: Option<&'a str>,
    /// What is known of where its configuration comes from.
    pub source: &'a SourceFacts,
}

/// When a schedule says that it is time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scheduled {
    /// Seen from the last time that all was well.
    pub due: Moment,
    /// Seen from now.
    pub after: Moment,
}

/// What a Stack asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// What that is.
    pub about: Attempt,
    /// Which keys of Secrets and ConfigMaps have other values than in the last run.
    pub changed_keys: Vec<String>,
}

/// What to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The Stack stays until we let it go.
    Hold,
    /// It is looked whether all is as it should be, without a run.
    Look {
        /// What a run would do.
        action: Action,
        /// What is known already.
        known: Known,
        /// What the last run has left, and seen around it.
        around: Around,
    },
    /// The source is asked to look for something newer.
    RefreshSource {
        /// What it is asked with: since when it is time to try again.
        since: Moment,
    },
    /// A run begins.
    Start(NewRun),
    /// A run is not wanted any more, and has touched nothing.
    Supersede {
        /// Its name.
        run: String,
        /// Why, for people.
        because: String,
    },
    /// Somebody has agreed to the plan of a run.
    Approve {
        /// Its name.
        run: String,
        /// Who.
        approved: Approved,
    },
    /// Everything that is kept for the Stack goes; with its state, if nobody will need it any more.
    ClearUp {
        /// Whether the state goes, too.
        state: bool,
    },
    /// The Stack may go.
    LetGo,
}

/// A run that begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRun {
    /// Which one.
    pub number: u64,
    /// What it does.
    pub action: Action,
    /// Why.
    pub causes: Vec<Cause>,
    /// What it is about.
    pub about: Attempt,
    /// What somebody asked for it with.
    pub requested: Option<String>,
    /// The same, as Flux asks.
    pub requested_by_flux: Option<String>,
    /// With what an earlier one had, as what the Stack asks for cannot be had.
    pub kept_bundle: Option<String>,
    /// The state that it is to begin from.
    pub state: Option<StateSeen>,
    /// Objects that no state knows, and that it deletes: what somebody has agreed to.
    pub orphans: Option<String>,
}

/// What was decided.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// What to do, in this order.
    pub steps: Vec<Step>,
    /// What the status says.
    pub status: StackStatus,
    /// When to ask again, if nothing happens before.
    pub again_at: Option<Moment>,
}

/// Decides what to do next.
pub fn decide(facts: &Facts<'_>) -> Decision {
    let mut deciding = Deciding::new(facts);
    deciding.take_in_runs();
    if facts.stack.metadata.deletion_timestamp.is_some() {
        deciding.delete();
    } else {
        deciding.keep_up();
    }
    deciding.finish()
}

struct Deciding<'a> {
    facts: &'a Facts<'a>,
    status: StackStatus,
    steps: Vec<Step>,
    again_at: Option<Moment>,
    said: Option<Said>,
}

impl<'a> Deciding<'a> {
    fn new(facts: &'a Facts<'a>) -> Self {
        let status = facts.stack.status.clone().unwrap_or_default();
        Self { facts, status, steps: Vec::new(), again_at: None, said: None }
    }

    fn finish(mut self) -> Decision {
        let generation = self.facts.stack.metadata.generation;
        if let Some(said) = &self.said {
            self.status.observed_generation = generation;
            say(&mut self.status.conditions, said, generation, self.facts.now);
        }
        Decision { steps: self.steps, status: self.status, again_at: self.again_at }
    }

    fn say(&mut self, ready: Truth, reason: &'static str, message: impl Into<String>, activity: Activity) {
        self.said = Some(Said { ready, reason: reason.into(), message: message.into(), activity });
    }

    /// Asks again then, or earlier.
    fn again(&mut self, at: Moment) {
        self.again_at = Some(self.again_at.map_or(at, |known| known.min(at)));
    }

    fn latest(&self) -> Option<&'a Run> {
        self.facts.runs.last()
    }

    /// The run that is not over. There is one at most.
    fn active(&self) -> Option<&'a Run> {
        self.latest().filter(|run| !phase(run).is_over())
    }

    /// Whatever runs have come to since we last looked.
    fn take_in_runs(&mut self) {
        let known = self.status.last_run.as_ref().map_or(0, |last| last.number);
        let was_over = self.status.last_run.as_ref().is_some_and(|last| last.phase.is_over());
        for run in self.facts.runs.iter().filter(|run| run.spec.number >= known) {
            let is_known = run.spec.number == known && was_over;
            if !is_known && phase(run).is_over() {
                self.take_in(run);
            }
            self.status.last_run =
                Some(LastRun { name: name(run).to_owned(), number: run.spec.number, phase: phase(run) });
        }
        if let Some(run) = self.latest() {
            // What was begun is in the Run, whatever we came to write down.
            let moved = self.status.attempted.take().filter(|known| known.is_same(&run.spec.about));
            self.status.attempted = moved.or_else(|| Some(run.spec.about.clone()));
            if run.spec.requested.is_some() {
                self.status.last_handled_request.clone_from(&run.spec.requested);
            }
            if run.spec.requested_by_flux.is_some() {
                self.status.last_handled_reconcile_at.clone_from(&run.spec.requested_by_flux);
            }
        }
        self.status.pending = self.active().and_then(pending);
    }

    fn take_in(&mut self, run: &Run) {
        let ended = ended_at(run).unwrap_or(self.facts.now);
        let status = run.status.clone().unwrap_or_default();
        self.take_in_state(&status);
        self.take_in_orphans(&status, ended);
        match status.phase {
            Phase::Succeeded => {
                self.status.failures = None;
                self.status.last_verified_at = Some(ended);
                self.status.resources = status.resources.or(self.status.resources);
                if run.spec.action != Action::Plan {
                    self.status.available_outputs.clone_from(&status.outputs);
                    self.status.outputs.clone_from(&status.values);
                    let plan = status.plan.as_ref().map(|plan| plan.id.clone());
                    self.status.applied = Some(AppliedRun {
                        run: name(run).to_owned(),
                        about: run.spec.about.clone(),
                        revision: run.spec.about.revision.clone(),
                        plan,
                        bundle: run.spec.bundle.clone(),
                        at: ended,
                    });
                }
                self.status.drift = self.still_drifted(run, &status.drifted, ended);
            }
            Phase::Failed => {
                // What is tried because something has changed is tried for the first time.
                let goes_on = run.spec.causes.iter().all(|cause| match cause.reason {
                    CauseKind::Retry | CauseKind::Due => true,
                    CauseKind::Deleted => self.was_deleted_before(run),
                    _ => false,
                });
                let before = self.status.failures.as_ref().filter(|_| goes_on);
                let count = before.map_or(0, |known| known.count) + 1;
                let kind = status.failure;
                let pause = pause(&self.facts.stack.spec.retry, count, kind);
                let retry_at = later(ended, pause);
                self.status.failures = Some(Failures { count, kind, retry_at: Some(retry_at) });
            }
            // Nothing was done, and nothing is wrong.
            _ => {}
        }
    }

    /// Whether the run before this one was to take the Stack down for good, too.
    fn was_deleted_before(&self, run: &Run) -> bool {
        let before = self.facts.runs.iter().rev().find(|known| known.spec.number < run.spec.number);
        before.is_some_and(|before| before.spec.is_deletion())
    }

    /// What others have changed stays changed if nobody has mended it.
    fn still_drifted(&self, run: &Run, addresses: &[String], at: Moment) -> Option<Drift> {
        let mended = run.spec.action != Action::Plan;
        if addresses.is_empty() || mended {
            return None;
        }
        let since = self.status.drift.as_ref().map_or(at, |known| known.since);
        Some(Drift { since, addresses: addresses.iter().take(100).cloned().collect() })
    }

    fn is_held(&self) -> bool {
        self.facts.stack.metadata.finalizers.iter().flatten().any(|held| held == names::FINALIZER)
    }

    /// A Stack that is to stay.
    fn keep_up(&mut self) {
        if !self.is_held() {
            self.steps.push(Step::Hold);
        }
        if let Some(seen) = &self.facts.source.seen {
            self.status.source = Some(seen.clone());
        }
        if let Some(lacking) = &self.facts.source.lacking {
            // A plan needs no source any more, unless something else is asked for by now.
            let is_same = self.status.observed_generation == self.facts.stack.metadata.generation;
            let waiting = self.active().filter(|run| is_same && phase(run) == Phase::AwaitingApproval);
            return match waiting.and_then(|run| Some((run, pending(run)?))) {
                Some((run, pending)) => self.heed_approval(run, &pending),
                None => self.lacks_source(lacking),
            };
        }
        let wanted = match self.facts.wanted {
            Ok(wanted) => wanted,
            Err(problems) => return self.stalled_by(problems),
        };
        self.take_in_source(wanted);
        if let Some(run) = self.active() {
            return self.follow(run, wanted);
        }
        if self.facts.stack.spec.suspend {
            return self.say_how_it_is("Suspended: no new runs begin until spec.suspend is false.");
        }
        let causes = self.causes(wanted);
        if !causes.is_empty() && !self.facts.waiting_for.is_empty() {
            let message = format!("Waiting for {}", self.facts.waiting_for.join(", "));
            return self.say(Truth::False, "DependencyNotReady", message, Activity::Reconciling);
        }
        if causes.is_empty() {
            self.say_how_it_is("");
            return self.say_what_is_failing();
        }
        if self.asks_source(&causes) {
            return;
        }
        let action = self.action(&causes);
        if let Some(known) = self.to_look_first(&causes) {
            return self.look(action, known);
        }
        self.start(action, causes, wanted.about.clone(), None);
    }

    fn action(&self, causes: &[Cause]) -> Action {
        let spec = &self.facts.stack.spec;
        let only_looks = spec.plan_only || (spec.drift == DriftPolicy::Report && is_only_due(causes));
        match (only_looks, spec.destroy) {
            (true, _) => Action::Plan,
            (false, true) => Action::Destroy,
            (false, false) => Action::Apply,
        }
    }

    /// What it asks for cannot even be tried.
    fn stalled_by(&mut self, problems: &[String]) {
        // What was under way was about something else.
        if let Some(run) = self.active().filter(|run| phase(run).may_be_superseded()) {
            let because = "what the Stack asks for cannot be had any more".to_owned();
            self.steps.push(Step::Supersede { run: name(run).to_owned(), because });
        }
        self.say(Truth::False, "InvalidSpec", problems.join("\n"), Activity::Stalled);
        // References are watched; but what is not seen must not be missed for ever.
        self.again(later(self.facts.now, MOST_RETRY.0));
    }

    /// A run is under way.
    fn follow(&mut self, run: &'a Run, wanted: &Wanted) {
        let phase = phase(run);
        let is_other = !run.spec.about.is_same(&wanted.about) || (self.requested() && phase == Phase::AwaitingApproval);
        if is_other && phase.may_be_superseded() && !run.spec.cancel && !self.facts.stack.spec.suspend {
            let because = "the Stack asks for something newer".to_owned();
            self.steps.push(Step::Supersede { run: name(run).to_owned(), because });
            return self.say(
                Truth::Unknown,
                "Progressing",
                "Something newer takes the place of the last run",
                Activity::Reconciling,
            );
        }
        if phase != Phase::AwaitingApproval {
            let message = match run.status.as_ref().map(|status| status.message.as_str()) {
                Some(message) if !message.is_empty() => format!("{}: {message}", name(run)),
                _ => format!("{}: {phase:?}", name(run)),
            };
            return self.say(Truth::Unknown, "Progressing", message, Activity::Reconciling);
        }
        self.await_approval(run);
    }

    fn await_approval(&mut self, run: &'a Run) {
        let Some(pending) = pending(run) else { return };
        self.heed_approval(run, &pending);
        if !self.steps.iter().any(|step| matches!(step, Step::Approve { .. })) {
            // It is looked again from time to time whether it is still the right plan.
            let due = self.due_at(ended_at(run).or_else(|| began_at(run)).unwrap_or(self.facts.now));
            if due <= self.facts.now && !self.facts.stack.spec.suspend {
                let because = "it is time to look whether the plan is still right".to_owned();
                self.steps.push(Step::Supersede { run: name(run).to_owned(), because });
            } else {
                self.again(due);
            }
        }
    }

    /// Somebody has agreed to a plan, or it is said what it waits for.
    fn heed_approval(&mut self, run: &'a Run, pending: &PendingPlan) {
        let counts = pending.changes;
        if let Some(by) = approver(self.facts.stack, run, &pending.plan) {
            let approved = Approved { plan: pending.plan.clone(), by, at: self.facts.now };
            self.steps.push(Step::Approve { run: name(run).to_owned(), approved });
            return self.say(
                Truth::Unknown,
                "Progressing",
                format!("Plan {} is approved", pending.plan),
                Activity::Reconciling,
            );
        }
        if let Some(doubt) = run.status.as_ref().and_then(|status| status.doubt.as_ref()) {
            return self.say_doubt(doubt, Some(pending));
        }
        let message = format!(
            "Plan {}: {} to add, {} to change, {} to destroy. Approve it with: groma stack approve {} {}",
            pending.plan,
            counts.add,
            counts.change,
            counts.destroy,
            self.full_name(),
            pending.plan
        );
        self.say(Truth::Unknown, "AwaitingApproval", message, Activity::Idle);
    }

    fn full_name(&self) -> String {
        let metadata = &self.facts.stack.metadata;
        format!(
            "{}/{}",
            metadata.namespace.as_deref().unwrap_or_default(),
            metadata.name.as_deref().unwrap_or_default()
        )
    }

    fn start(&mut self, action: Action, causes: Vec<Cause>, about: Attempt, kept_bundle: Option<String>) {
        let number = self.status.last_run.as_ref().map_or(0, |last| last.number) + 1;
        let why: Vec<String> = causes.iter().map(told).collect();
        let [requested, requested_by_flux] = requests(self.facts.stack).map(|asked| asked.map(str::to_owned));
        let (state, orphans) = (self.state_to_begin_from(), self.orphans_to_delete(action));
        self.steps.push(Step::Start(NewRun {
            number,
            action,
            causes,
            about,
            requested,
            requested_by_flux,
            kept_bundle,
            state,
            orphans,
        }));
        self.say(
            Truth::Unknown,
            "Progressing",
            format!("Run {number} begins: {}", why.join(", ")),
            Activity::Reconciling,
        );
    }

    /// Nothing begins: how it is follows from the last run.
    fn say_how_it_is(&mut self, remark: &str) {
        let remark = if remark.is_empty() { String::new() } else { format!(" {remark}") };
        let Some(run) = self.latest().filter(|_| self.status.attempted.is_some()) else {
            return self.say(Truth::Unknown, "Pending", format!("Nothing has run yet.{remark}"), Activity::Idle);
        };
        let status = run.status.clone().unwrap_or_default();
        match status.phase {
            Phase::Succeeded => self.say_success(run, &remark),
            Phase::Failed => {
                let reason = status.failure.map_or("RunFailed", failure_reason);
                let limit = self.facts.stack.spec.retry.limit;
                let count = self.status.failures.as_ref().map_or(0, |known| known.count);
                let gives_up = limit.is_some_and(|limit| count >= limit);
                let tail = if gives_up {
                    format!(" Tried {count} times; nothing more is tried until something changes.")
                } else {
                    String::new()
                };
                let activity = if gives_up { Activity::Stalled } else { Activity::Reconciling };
                let revision = run.spec.about.revision.as_ref().map(|known| format!(" ({known})")).unwrap_or_default();
                let message = format!("{}{revision}: {}{tail}{remark}", name(run), status.message);
                self.say(Truth::False, reason, message, activity);
            }
            other => {
                let message = format!("{}: {other:?}. {}{remark}", name(run), status.message);
                self.say(Truth::Unknown, "Pending", message, Activity::Idle);
            }
        }
    }

    fn say_success(&mut self, run: &Run, remark: &str) {
        let status = run.status.as_ref().filter(|_| run.spec.action == Action::Plan);
        if let Some(doubt) = status.and_then(|status| status.doubt.as_ref()) {
            return self.say_doubt(doubt, None);
        }
        let drifted = self.status.drift.as_ref().map(|drift| drift.addresses.join(", "));
        if let Some(addresses) = drifted.filter(|_| self.facts.stack.spec.drift == DriftPolicy::Report) {
            let message = format!("Changed by others, and left as it is: {addresses}.{remark}");
            return self.say(Truth::False, "DriftDetected", message, Activity::Idle);
        }
        let message = run.status.as_ref().map(|status| status.message.clone()).unwrap_or_default();
        let reason = match run.spec.action {
            Action::Plan => "Planned",
            Action::Apply => "Applied",
            Action::Destroy => "Destroyed",
        };
        let message = match &run.spec.about.revision {
            Some(revision) => format!("{reason} successfully: {revision}. {message}"),
            None => message,
        };
        self.say(Truth::True, reason, format!("{message}{remark}"), Activity::Idle);
    }
}

/// Who has agreed to a plan: by its whole id, on the Stack or on the Run.
fn approver(stack: &Stack, run: &Run, plan: &str) -> Option<String> {
    let notes = [stack.metadata.annotations.as_ref(), run.metadata.annotations.as_ref()];
    notes.into_iter().find_map(|notes| approver_of(notes, plan))
}

/// Who has agreed to what has this id.
fn approver_of(notes: Option<&BTreeMap<String, String>>, id: &str) -> Option<String> {
    let agreed = notes?.get(names::APPROVE).is_some_and(|approved| approved == id);
    agreed.then(|| notes?.get(names::APPROVED_BY).cloned().or_else(|| Some("somebody".to_owned()))).flatten()
}

fn phase(run: &Run) -> Phase {
    run.status.as_ref().map(|status| status.phase).unwrap_or_default()
}

fn name(run: &Run) -> &str {
    run.metadata.name.as_deref().unwrap_or_default()
}

fn pending(run: &Run) -> Option<PendingPlan> {
    let status = run.status.as_ref().filter(|status| status.phase == Phase::AwaitingApproval)?;
    let plan = status.plan.as_ref()?.id.clone();
    Some(PendingPlan { plan, run: name(run).to_owned(), changes: status.planned.unwrap_or_default() })
}

fn began_at(run: &Run) -> Option<Moment> {
    run.status.as_ref()?.phases.last().map(|time| time.began)
}

fn ended_at(run: &Run) -> Option<Moment> {
    let status = run.status.as_ref().filter(|status| status.phase.is_over())?;
    let last = status.phases.last()?;
    Some(later(last.began, last.took.map(|took| took.0).unwrap_or_default()))
}

/// How long to wait after so many failures. What gives the same again is waited for ever longer; what may pass by itself is not.
fn pause(retry: &Retry, count: u32, kind: Option<FailureKind>) -> Duration {
    // Nothing is wrong with what was only interrupted.
    let is_passing = matches!(kind, Some(FailureKind::Interrupted | FailureKind::StateChanged));
    let usual = if is_passing { AFTER_INTERRUPTION } else { RETRY };
    let first = retry.interval.unwrap_or(usual).0;
    let most = retry.max_interval.unwrap_or(MOST_RETRY).0;
    let passes = matches!(
        kind,
        Some(
            FailureKind::Transient
                | FailureKind::NotReady
                | FailureKind::Locked
                | FailureKind::Interrupted
                | FailureKind::StateChanged
                | FailureKind::WebhookFailed
        )
    );
    let doublings = count.saturating_sub(1).min(if passes { PASSING_DOUBLINGS } else { 20 });
    first.saturating_mul(1 << doublings).min(most)
}

fn failure_reason(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::Invalid => "InvalidConfiguration",
        FailureKind::Transient => "Transient",
        FailureKind::Refused => "ProviderRefused",
        FailureKind::NotReady => "NotReady",
        FailureKind::Timeout => "Timeout",
        FailureKind::Locked => "StateLocked",
        FailureKind::Interrupted => "Interrupted",
        FailureKind::WebhookDenied => "WebhookDenied",
        FailureKind::WebhookFailed => "WebhookFailed",
        FailureKind::StateChanged => "StateChangedExternally",
        FailureKind::PossibleOrphan => "PossibleOrphan",
    }
}

fn later(moment: Moment, by: Duration) -> Moment {
    let by = jiff::SignedDuration::try_from(by).unwrap_or(jiff::SignedDuration::MAX);
    Moment(moment.0.checked_add(by).unwrap_or(jiff::Timestamp::MAX))
}

/// Who agrees to the plan of a run. What others have changed may need somebody where nothing else does.
pub fn approval(stack: &Stack, causes: &[Cause]) -> Approval {
    let given = stack.spec.approval.clone();
    let deleted = causes.iter().any(|cause| cause.reason == CauseKind::Deleted);
    match stack.spec.drift {
        // Whoever deletes a Stack has agreed.
        _ if deleted => Approval { mode: ApprovalMode::Auto, rules: Vec::new() },
        DriftPolicy::Approve if is_only_due(causes) => Approval { mode: ApprovalMode::Manual, rules: Vec::new() },
        _ => given,
    }
}

/// How long the phases of a run may take.
pub fn limits(stack: &Stack, action: Action) -> Limits {
    let given = &stack.spec.timeouts;
    let of = |given: Option<Length>, usual: u64| given.unwrap_or(Length::seconds(usual));
    let apply = if action == Action::Destroy { given.destroy } else { given.apply };
    Limits { init: of(given.init, 600), plan: of(given.plan, 1_800), apply: of(apply, 7_200) }
}
