//! Why a run should begin, and when it is time for one; and when it is enough to look.

use super::{Deciding, Step, Wanted, ended_at, later, phase};
use crate::api::names;
use crate::api::run::{Action, Cause, CauseKind, Phase};
use crate::api::shared::{Length, Moment};
use crate::api::stack::{Failures, Stack};
use crate::runs::looks::{Around, Known, Looked};

/// How often it is looked whether all is as it should be, if nobody says otherwise.
const INTERVAL: Length = Length::seconds(600);

impl Deciding<'_> {
    /// What is known, if it is only time to look, and nobody has seen yet that something is not as it should be.
    pub(super) fn to_look_first(&self, causes: &[Cause]) -> Option<Known> {
        let looked = self.facts.looked.filter(|_| is_only_due(causes))?;
        let run = self.latest().filter(|run| phase(run) == Phase::Succeeded)?;
        if looked.found_since(self.status.last_verified_at?) {
            return None;
        }
        if run.spec.action != Action::Plan {
            return Some(Known::Nothing);
        }
        let plan = run.status.as_ref().and_then(|status| status.plan.as_ref())?;
        Some(Known::Plan(plan.id.clone()))
    }

    pub(super) fn look(&mut self, action: Action, known: Known) {
        let around = self.latest().and_then(|run| run.status.as_ref()).map(Around::of).unwrap_or_default();
        self.say_how_it_is("");
        if !self.facts.looked.is_some_and(|looked| looked.under_way) {
            self.steps.push(Step::Look { action, known, around });
        }
        // If all is well, nobody says so.
        let usual = later(self.facts.now, self.interval().0);
        self.again(self.facts.scheduled.map_or(usual, |scheduled| scheduled.after));
    }

    fn interval(&self) -> Length {
        self.facts.stack.spec.interval.unwrap_or(INTERVAL)
    }

    /// Whether somebody asks for a run that there was not yet.
    pub(super) fn requested(&self) -> bool {
        let handled = [&self.status.last_handled_request, &self.status.last_handled_reconcile_at];
        let asked = requests(self.facts.stack).into_iter().zip(handled);
        asked.into_iter().any(|(asked, handled)| asked.is_some() && asked != handled.as_deref())
    }

    /// Why a run should begin now.
    pub(super) fn causes(&mut self, wanted: &Wanted) -> Vec<Cause> {
        let mut causes = Vec::new();
        let mut add = |reason: CauseKind, about: &[String]| causes.push(Cause { reason, about: about.to_vec() });
        match &self.status.attempted {
            None => add(CauseKind::Created, &[]),
            Some(before) => {
                if before.spec_hash != wanted.about.spec_hash {
                    add(CauseKind::SpecChanged, &[]);
                }
                if before.source_hash != wanted.about.source_hash || self.is_newer_than_what_failed(wanted) {
                    add(CauseKind::SourceChanged, &[]);
                }
                if before.inputs_hash != wanted.about.inputs_hash {
                    add(CauseKind::InputsChanged, &wanted.changed_keys);
                }
            }
        }
        if self.requested() {
            add(CauseKind::Requested, &[]);
        }
        if self.orphans_were_agreed_to() {
            add(CauseKind::OrphansApproved, &[]);
        }
        if !self.facts.outputs_gone.is_empty() {
            add(CauseKind::OutputsGone, self.facts.outputs_gone);
        }
        if !causes.is_empty() {
            return causes;
        }
        if let Some(failures) = self.status.failures.clone() {
            return self.retry(&failures);
        }
        let cancelled = self.latest().filter(|run| phase(run) == Phase::Cancelled).and_then(ended_at);
        let well_at = self.facts.looked.and_then(Looked::well_at);
        let Some(verified) =
            cancelled.or(self.status.last_verified_at.map(|at| well_at.map_or(at, |well| well.max(at))))
        else {
            // The last one was not finished, for no fault of its own.
            return vec![Cause { reason: CauseKind::Retry, about: Vec::new() }];
        };
        let due = self.due_at(verified);
        if due <= self.facts.now {
            return vec![Cause { reason: CauseKind::Due, about: Vec::new() }];
        }
        self.again(due);
        Vec::new()
    }

    pub(super) fn due_at(&self, since: Moment) -> Moment {
        self.facts.scheduled.map_or_else(|| later(since, self.interval().0), |scheduled| scheduled.due)
    }

    fn retry(&mut self, failures: &Failures) -> Vec<Cause> {
        let limit = self.facts.stack.spec.retry.limit;
        if limit.is_some_and(|limit| failures.count >= limit) {
            return Vec::new();
        }
        match failures.retry_at {
            Some(at) if at > self.facts.now => {
                self.again(at);
                Vec::new()
            }
            _ => vec![Cause { reason: CauseKind::Retry, about: Vec::new() }],
        }
    }
}

/// What somebody asks for a run with; and the same, as Flux and its tools ask. One of them being heeded says nothing about the other.
pub(super) fn requests(stack: &Stack) -> [Option<&str>; 2] {
    let notes = stack.metadata.annotations.as_ref();
    [names::REQUESTED_AT, names::FLUX_REQUESTED_AT].map(|name| notes?.get(name).map(String::as_str))
}

/// A cause, for people.
pub(super) fn told(cause: &Cause) -> String {
    let what = match cause.reason {
        CauseKind::Created => "the Stack is new",
        CauseKind::Requested => "somebody asked for it",
        CauseKind::SpecChanged => "the Stack has changed",
        CauseKind::SourceChanged => "the configuration has changed",
        CauseKind::InputsChanged => "inputs have changed",
        CauseKind::OrphansApproved => "somebody agreed to delete objects that the state does not know",
        CauseKind::OutputsGone => "outputs are not where they were written to",
        CauseKind::Retry => "the last run did not succeed",
        CauseKind::Due => "it is time to look",
        CauseKind::Deleted => "the Stack is being deleted",
    };
    if cause.about.is_empty() { what.to_owned() } else { format!("{what} ({})", cause.about.join(", ")) }
}

/// Whether a run is there for no other reason than that it is time to look.
pub(super) fn is_only_due(causes: &[Cause]) -> bool {
    causes.iter().all(|cause| cause.reason == CauseKind::Due)
}
