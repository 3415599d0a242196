//! A Stack that is to go.

use std::time::Duration;

use super::{Deciding, Step, later, name, phase};
use crate::api::run::{Action, Cause, CauseKind, Phase, Run};
use crate::api::shared::{Moment, Truth};
use crate::api::stack::{AppliedRun, DeletionPolicy};
use crate::stack::conditions::Activity;

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
            let is_destroy = run.spec.action == Action::Destroy
                && run.spec.causes.iter().any(|cause| cause.reason == CauseKind::Deleted);
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
        let Some(applied) = self.status.applied.clone().or_else(|| self.begun()) else {
            // Nothing was ever made.
            return self.let_go(true);
        };
        let last = self.latest().filter(|run| run.spec.action == Action::Destroy);
        let is_gone = last.is_some_and(|run| phase(run) == Phase::Succeeded) && self.status.failures.is_none();
        if is_gone {
            return self.let_go(true);
        }
        let retry_at = self.status.failures.as_ref().and_then(|failures| failures.retry_at);
        if let (Some(run), Some(at)) = (last, retry_at)
            && at > self.facts.now
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
        let causes = vec![Cause { reason: CauseKind::Deleted, about: Vec::new() }];
        match self.facts.wanted {
            Ok(wanted) => self.start(Action::Destroy, causes, wanted.about.clone(), false),
            Err(_) => self.start(Action::Destroy, causes, applied.about, true),
        }
    }

    /// What a run that did not succeed may have made.
    fn begun(&self) -> Option<AppliedRun> {
        let began = |run: &&Run| {
            let phases = run.status.as_ref().map(|status| status.phases.as_slice()).unwrap_or_default();
            phases.iter().any(|time| time.phase == Phase::Applying)
        };
        let Some(run) = self.facts.runs.iter().rev().find(began) else {
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
