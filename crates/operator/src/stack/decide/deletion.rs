//! A Stack that is to go.

use std::time::Duration;

use super::{Deciding, Step, Wanted, later, name, phase};
use crate::api::run::{Action, Cause, CauseKind, FailureKind, Phase, Run};
use crate::api::shared::{Moment, Truth};
use crate::api::stack::{AppliedRun, Attempt, DeletionPolicy};
use crate::stack::conditions::Activity;
use crate::stack::history::{has_begun, unfinished};

/// How long a deletion may be held up before that is told as something that does not end by itself.
const PATIENCE: Duration = Duration::from_mins(10);

impl Deciding<'_> {
    /// A Stack that is to go. Neither a missing source, nor missing inputs, nor that it is suspended is in the way.
    pub(super) fn delete(&mut self) {
        if !self.is_held() {
            return;
        }
        if !self.facts.needed_by.is_empty() {
            let names: Vec<&str> = self.facts.needed_by.iter().map(|needed| needed.name.as_str()).collect();
            let message = format!("It stays until those are gone that depend on it: {}", names.join(", "));
            let activity = self.held_up();
            return self.say(Truth::False, "DeletionBlockedByDependants", message, activity);
        }
        if let Some(run) = self.active() {
            let is_destroy = run.spec.is_deletion();
            if !is_destroy && phase(run).may_be_superseded() {
                let because = "the Stack is being deleted".to_owned();
                self.steps.push(Step::Supersede { run: name(run).to_owned(), because });
            }
            // Nobody has to agree to a deletion, unless nobody knows any more what is to be deleted.
            if is_destroy && phase(run) == Phase::AwaitingApproval {
                return self.await_approval(run);
            }
            let message = format!("Deleting: {} is {:?}", name(run), phase(run));
            // What goes on is not held up, unless it has failed before, or waits for somebody.
            let waits = phase(run) == Phase::AwaitingApproval || self.status.failures.is_some();
            let activity = if waits { self.held_up() } else { Activity::Reconciling };
            return self.say(Truth::Unknown, "Deleting", message, activity);
        }
        if self.facts.stack.spec.preview_of.is_some() {
            // What it has looked at belongs to another Stack.
            return self.let_go(false);
        }
        match self.facts.stack.spec.deletion_policy {
            DeletionPolicy::Retain => self.let_go(false),
            DeletionPolicy::Orphan => self.let_go(true),
            DeletionPolicy::Destroy => self.destroy(),
        }
    }

    /// Something keeps the Stack from going: for a while that is nothing special.
    fn held_up(&mut self) -> Activity {
        let since = self.facts.stack.metadata.deletion_timestamp.as_ref().map(|time| Moment(time.0));
        let until = since.map(|since| later(since, PATIENCE));
        match until {
            Some(until) if until > self.facts.now => {
                self.again(until);
                Activity::Reconciling
            }
            _ => Activity::Stalled,
        }
    }

    fn let_go(&mut self, state: bool) {
        self.steps.extend([Step::ClearUp { state }, Step::LetGo]);
    }

    fn destroy(&mut self) {
        let Some(made) = self.made() else {
            // Nothing was ever made.
            return self.let_go(true);
        };
        let last = self.latest().filter(|run| run.spec.action == Action::Destroy);
        if last.is_some_and(|run| self.is_all_gone(run)) {
            return self.let_go(true);
        }
        let retry_at = self.status.failures.as_ref().and_then(|failures| failures.retry_at);
        if let (Some(run), Some(at)) = (last, retry_at)
            && at > self.facts.now
            && !self.is_worth_another_try()
        {
            let message = run.status.as_ref().map(|status| status.message.clone()).unwrap_or_default();
            self.again(at);
            let activity = self.held_up();
            let advice = match activity {
                Activity::Stalled => {
                    "\nIt is tried again and again. With spec.deletionPolicy set to retain or orphan it goes without that."
                }
                _ => "",
            };
            return self.say(Truth::False, "DestroyFailed", format!("{}: {message}{advice}", name(run)), activity);
        }
        let asked = self.requested().then_some(CauseKind::Requested);
        let causes = [CauseKind::Deleted].into_iter().chain(asked);
        let causes = causes.map(|reason| Cause { reason, about: Vec::new() }).collect();
        match self.facts.wanted {
            Ok(wanted) if !self.is_broken(wanted, &made) => {
                self.start(Action::Destroy, causes, wanted.about.clone(), None);
            }
            _ => self.start(Action::Destroy, causes, made.about, Some(made.bundle)),
        }
    }

    /// Whether a run has taken everything down. One that was not there for a deletion may have been about some resources only.
    fn is_all_gone(&self, run: &Run) -> bool {
        let left = run.status.as_ref().and_then(|status| status.resources);
        let is_whole = left.map_or(self.facts.stack.spec.targets.is_empty(), |left| left == 0);
        phase(run) == Phase::Succeeded && self.status.failures.is_none() && (run.spec.is_deletion() || is_whole)
    }

    /// Whether it need not be waited after a failure: somebody asks for a run, or what the Stack asks for has not been tried yet.
    fn is_worth_another_try(&self) -> bool {
        let tried = |wanted: &Wanted| {
            self.facts.runs.iter().any(|run| run.spec.is_deletion() && run.spec.about.is_same(&wanted.about))
        };
        self.requested() || self.facts.wanted.as_ref().is_ok_and(|wanted| !tried(wanted))
    }

    /// Whether what the Stack asks for by now is in the way of its deletion. What made the objects can take them down, unless that is wrong, too.
    fn is_broken(&self, wanted: &Wanted, made: &AppliedRun) -> bool {
        let was_wrong = |run: &Run, about: &Attempt| {
            let failure = run.status.as_ref().and_then(|status| status.failure);
            run.spec.is_deletion() && failure == Some(FailureKind::Invalid) && run.spec.about.is_same(about)
        };
        let is_other = !made.about.is_same(&wanted.about);
        let is_better = !self.latest().is_some_and(|run| was_wrong(run, &made.about));
        is_other && is_better && self.facts.runs.iter().any(|run| was_wrong(run, &wanted.about))
    }

    /// What made what there is: what was carried out last; or what was begun later and not finished, as nobody else knows all of that.
    fn made(&self) -> Option<AppliedRun> {
        let unfinished = unfinished(self.facts.runs, &self.status);
        if unfinished.is_none() && self.status.applied.is_some() {
            return self.status.applied.clone();
        }
        // Whoever takes something down has found something.
        let told = || self.facts.runs.iter().rev().find(|run| has_begun(run) || run.spec.is_deletion());
        let Some(run) = unfinished.or_else(told) else {
            return self.facts.kept_bundle.map(|bundle| AppliedRun {
                run: String::new(),
                about: self.status.attempted.clone().unwrap_or_default(),
                revision: None,
                plan: None,
                bundle: bundle.to_owned(),
                at: self.facts.now,
            });
        };
        Some(AppliedRun {
            run: name(run).to_owned(),
            about: run.spec.about.clone(),
            revision: run.spec.about.revision.clone(),
            plan: None,
            bundle: run.spec.bundle.clone(),
            at: self.facts.now,
        })
    }
}
