//! How a run of this process ends: what came of it is written into its Run.

use super::{InProcess, TO_WRITE};
use crate::api::names;
use crate::api::run::{Action, FailureKind, Phase, Run};
use crate::api::stack::Stack;
use crate::objects::{StoreError, find};
use crate::outputs;
use crate::runs::progress::{Claimant, Kept, enter, forget_plan, lose, patiently, persist, write};
use crate::runs::{job, verify, versions};
use crate::work::{Ended, around};

impl InProcess {
    /// What came of it is written down. Until that has worked, nothing is forgotten.
    pub(super) async fn finish(&self, mut run: Run, ended: Ended, expired: bool) -> Result<(), StoreError> {
        let waits = run.status.as_ref().is_some_and(|status| status.phase == Phase::AwaitingApproval);
        if waits {
            return Ok(());
        }
        let namespace = run.metadata.namespace.clone().unwrap_or_default();
        let (store, of) = (&*self.store, run.spec.stack.clone());
        let stack = patiently(TO_WRITE, || find::<Stack>(store, &namespace, &of)).await?;
        let now = (self.clock)();
        let status = run.status.get_or_insert_default();
        status.diagnostics.clone_from(&ended.told);
        status.done = ended.done;
        status.resources = ended.resources;
        status.state.clone_from(&ended.state);
        let orphans = ended.orphans.as_ref().filter(|orphans| !orphans.is_empty());
        status.orphans = orphans.map(|orphans| around::report(orphans));
        status.outputs = ended.outputs.iter().map(|output| output.name.clone()).collect();
        if stack.as_ref().is_some_and(|stack| stack.spec.outputs.status) {
            status.values = outputs::shown(&ended.outputs);
        }
        if ended.was_asked && !expired {
            return patiently(TO_WRITE, || self.stopped(run.clone())).await;
        }
        if let Some(stack) = &stack {
            versions::keep(&*self.store, stack, &ended).await;
        }
        if let Some(job) = &self.job {
            patiently(TO_WRITE, || job::write_outputs(store, &run, job, &ended.outputs)).await?;
        }
        let status = run.status.get_or_insert_default();
        if expired {
            let message = format!("{:?} took longer than it may.", status.phase);
            status.failure = Some(FailureKind::Timeout);
            enter(status, Phase::Failed, message, now);
        } else if let Some(problem) = ended.problem {
            let is_cancelled = patiently(TO_WRITE, || self.is_cancelled(&run)).await?;
            let status = run.status.get_or_insert_default();
            if is_cancelled {
                enter(status, Phase::Cancelled, format!("Somebody cancelled it on its way: {}", problem.message), now);
            } else {
                status.failure = Some(if self.state().closed { FailureKind::Interrupted } else { problem.kind });
                enter(status, Phase::Failed, problem.message, now);
            }
        } else {
            let message = success(run.spec.action, &ended);
            if let Some(stack) = stack.filter(|_| run.spec.action != Action::Plan) {
                enter(status, Phase::Verifying, "Writing outputs, and looking whether all is well", now);
                // Without checks it takes no time that anybody could notice.
                if !stack.spec.health_checks.is_empty() {
                    run = self.persist(&run).await?;
                }
                let networks = self.workshop.premises.networks.as_ref();
                let verified = verify::verify(&*self.store, &stack, run.spec.action, &ended.outputs, networks).await;
                if let Err(problem) = verified {
                    let status = run.status.get_or_insert_default();
                    status.failure = Some(problem.kind);
                    enter(status, Phase::Failed, problem.message, (self.clock)());
                    self.persist(&run).await?;
                    return forget_plan(&*self.store, &run).await;
                }
            }
            enter(run.status.get_or_insert_default(), Phase::Succeeded, message, (self.clock)());
        }
        self.persist(&run).await?;
        forget_plan(&*self.store, &run).await
    }

    /// Writes down how far a run of ours is, however long that takes: what is known now nobody else knows.
    async fn persist(&self, run: &Run) -> Result<Run, StoreError> {
        let by = Claimant { holder: &self.holder, patience: TO_WRITE, heeds_cancel: false };
        match persist(&*self.store, run, &by).await? {
            Kept::Written(run) => Ok(*run),
            Kept::Cancelled => Ok(run.clone()),
        }
    }

    async fn is_cancelled(&self, run: &Run) -> Result<bool, StoreError> {
        let metadata = &run.metadata;
        let (namespace, name) = (metadata.namespace.as_deref(), metadata.name.as_deref());
        let newest = find::<Run>(&*self.store, namespace.unwrap_or_default(), name.unwrap_or_default()).await?;
        Ok(newest.is_some_and(|newest| newest.spec.cancel))
    }

    /// It was asked to stop, and has touched nothing.
    async fn stopped(&self, mut run: Run) -> Result<(), StoreError> {
        let now = (self.clock)();
        let closing = self.state().closed;
        let newest = find::<Run>(
            &*self.store,
            run.metadata.namespace.as_deref().unwrap_or_default(),
            run.metadata.name.as_deref().unwrap_or_default(),
        )
        .await?;
        let Some(newest) = newest else { return Ok(()) };
        let because = newest.metadata.annotations.as_ref().and_then(|notes| notes.get(names::SUPERSEDED).cloned());
        // Whoever asked has written, too.
        run.metadata.clone_from(&newest.metadata);
        run.spec.clone_from(&newest.spec);
        let status = run.status.get_or_insert_default();
        match (newest.spec.cancel, because) {
            (true, Some(because)) => enter(status, Phase::Superseded, because, now),
            (true, None) => enter(status, Phase::Cancelled, "Somebody cancelled it.", now),
            // A pod that is told to end again and again does no better than one that is killed.
            (false, _) if closing && self.job.is_some() => {
                lose(status, "its pod was told to end", now);
            }
            (false, _) if closing => {
                status.holder = None;
                enter(status, Phase::Queued, "It begins anew: the operator was stopped.", now);
            }
            (false, _) => enter(status, Phase::Cancelled, "It was stopped.", now),
        }
        write(&*self.store, &run).await.map(|_| ())
    }
}

/// What is said of a run that went well.
fn success(action: Action, ended: &Ended) -> String {
    let counts = ended.done.or_else(|| ended.left.as_ref().map(|plan| plan.counts)).unwrap_or_default();
    let numbers = format!("{} to add, {} to change, {} to destroy", counts.add, counts.change, counts.destroy);
    match (action, &ended.left) {
        (_, Some(plan)) if plan.is_empty => "No changes: all is as it should be.".to_owned(),
        (Action::Plan, _) => format!("Planned: {numbers}."),
        (Action::Destroy, _) => format!("Destroyed: {} objects.", counts.destroy),
        (Action::Apply, _) => {
            format!("Applied: {} added, {} changed, {} destroyed.", counts.add, counts.change, counts.destroy)
        }
    }
}
