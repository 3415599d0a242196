//! What is known about the state of a Stack, and about objects that no state knows.

use super::{Deciding, approver_of};
use crate::api::run::{Action, Phase, Run, RunStatus};
use crate::api::shared::{Moment, Truth};
use crate::api::stack::PendingPlan;
use crate::api::upkeep::{OrphanPolicy, OrphanReport, StateDoubt, StateSeen};
use crate::stack::conditions::Activity;
use crate::stack::history::has_begun;

impl Deciding<'_> {
    /// The state that a run has left counts from now on; one that was only found, and that nobody trusts, does not.
    pub(super) fn take_in_state(&mut self, run: &RunStatus) {
        let is_trusted = run.doubt.is_none() || run.approval.is_some();
        if let Some(state) = run.state.clone().filter(|_| is_trusted) {
            self.status.state = Some(state);
        }
    }

    /// The state that the next run is to begin from. Runs that ended without a word may have written it.
    pub(super) fn state_to_begin_from(&self) -> Option<StateSeen> {
        let mut state = self.status.state.clone()?;
        let is_silent = |run: &&Run| run.status.as_ref().is_none_or(|status| status.state.is_none());
        state.unsure = self.facts.runs.iter().rev().take_while(is_silent).any(has_begun);
        Some(state)
    }

    /// A state that is not the one that was left. What would complete it is said, too.
    pub(super) fn say_doubt(&mut self, doubt: &StateDoubt, pending: Option<&PendingPlan>) {
        let name = self.full_name();
        let restore = if self.facts.stack.spec.backend.is_none() {
            format!(" Put the last state back that was kept with: groma stack restore-state {name}")
        } else {
            " Put the state back where its backend has it, and ask for a run.".to_owned()
        };
        let agree = pending.map(|pending| {
            let counts = pending.changes;
            format!(
                ". Or agree to go on with what is there ({} to add, {} to change, {} to destroy) with: groma stack approve {name} {}",
                counts.add, counts.change, counts.destroy, pending.plan
            )
        });
        let message = format!("{} Nothing is touched.{restore}{}", doubt.message, agree.unwrap_or_default());
        self.say(Truth::False, doubt.reason.word(), message, Activity::Stalled);
    }

    /// What was found that no state knows. What stays so is so since then.
    pub(super) fn take_in_orphans(&mut self, run: &RunStatus, at: Moment) {
        if self.facts.stack.spec.orphan_policy == OrphanPolicy::Ignore {
            self.status.orphans = None;
        } else if run.phase == Phase::Succeeded {
            let known = self.status.orphans.take();
            self.status.orphans = run.orphans.clone().map(|report| {
                let since = known.filter(|known| known.id == report.id).and_then(|known| known.since);
                OrphanReport { since: since.or(Some(at)), ..report }
            });
        }
    }

    /// Whether somebody has agreed to their deletion, and nobody has tried it yet.
    pub(super) fn orphans_were_agreed_to(&self) -> bool {
        let agreed = self.orphans_to_delete(Action::Apply);
        let tried = self.latest().and_then(|run| run.spec.orphans.clone());
        agreed.is_some() && agreed != tried && !self.facts.stack.spec.plan_only && !self.facts.stack.spec.destroy
    }

    /// The report of objects that no state knows, if somebody has agreed to their deletion.
    pub(super) fn orphans_to_delete(&self, action: Action) -> Option<String> {
        let stack = self.facts.stack;
        if action != Action::Apply || stack.spec.orphan_policy != OrphanPolicy::Delete {
            return None;
        }
        let report = self.status.orphans.as_ref()?;
        approver_of(stack.metadata.annotations.as_ref(), &report.id).map(|_| report.id.clone())
    }
}
